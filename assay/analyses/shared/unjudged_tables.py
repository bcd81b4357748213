"""Tables and charts of the unjudged documents of a run."""

from __future__ import annotations

from assay.charts.points import DrawnInterval, interval_chart
from assay.charts.svg import Picture
from assay.comparison.unjudged_documents import NEGLIGIBLE_WIDTH
from assay.number_words import format_count
from assay.results import Values
from assay.tabular import Cell, Table

BOUNDS_CAVEAT = (
    "The score bounds hold as long as only this run's unjudged documents are judged. "
    "Unjudged documents of high grades also raise the ideal ranking, so a bound is not "
    "always reached with all of them at their highest grade."
)


def scores_table(result: Values) -> Table:
    total, per_topic = result["unjudged"]["total"], result["unjudged"]["per_topic"]
    reasons = result.get("undefined", {})
    rows: list[list[Cell]] = [
        [name, score, *result["bounds"][name], result["filled"][name], reasons.get(name, "")]
        for name, score in result["score"].items()
    ]
    return Table(
        "scores",
        f"Scores of {result['run']}",
        [
            "measure",
            "score, unjudged as 0",
            "lower bound",
            "upper bound",
            "imputed score",
            "why no bounds",
        ],
        rows,
        summarise_bounds(result)
        + (
            f" {format_count(total, 'unjudged document')} in the first {result['cutoff']} of "
            f"{format_count(len(per_topic), 'topic')}, at most "
            f"{max(per_topic.values(), default=0)} in one topic. {BOUNDS_CAVEAT}"
        ),
    )


def summarise_bounds(result: Values) -> str:
    """Summarise the unjudged documents of a run in one sentence: score bounds, and how much judging
    more documents would narrow them."""
    unjudged, n = result["unjudged"], max(len(result["unjudged"]["per_topic"]), 1)
    closed = f"Closed: {result['closed']}. " if result.get("closed") else ""
    name, score = next(iter(result["score"].items()))
    low, high = result["bounds"][name]
    if not unjudged["total"]:
        judged = f"{closed}Every result of {result['run']} down to rank {result['cutoff']} has been judged"
        if result["order"]:
            return f"{judged}, but not those of {result['against']['run']}; {_describe_weights(result)}."
        further = f". {name} reads deeper: its score bounds are {low:.3f} and {high:.3f}"
        return f"{judged}{further if round(low, 3) < round(high, 3) else ': the score is certain'}."
    expected = result["filled"][name]
    near = f", probably near {expected:.3f}" if expected is not None else ""
    return (
        f"{closed}{unjudged['total'] / n:.1f} of {result['cutoff']} results of this system have never been judged. "
        f"Its {name} is at least {low:.3f}, at most {high:.3f}{near} ("
        f"{score:.3f} if none of them is relevant); {_describe_weights(result)}."
    )


def _describe_weights(result: Values) -> str:
    """Describe how much judging would narrow the score bounds, by the documents' weights. Weights
    are not bounds, because a document that turns out relevant also changes the ideal ranking."""
    settles, by_weight = result["settles"], f"by their weights in nDCG@{result['cutoff']}"
    of_what = (
        f"the difference from {result['against']['run']}" if "against" in result else "the score"
    )
    judging = "judging this pair" if settles["n"] == 1 else f"judging these {settles['n']} pairs"
    if (left := settles["left"]) is None:
        return (
            f"{judging} settles, {by_weight}, nothing of {of_what}; the documents only affect "
            "the ideal ranking"
        )
    return f"{judging} settles, {by_weight}, {1 - left:.0%} of {of_what}"


def summarise_follow_up(result: Values) -> str:
    """Summarise a report on unjudged documents after a follow-up campaign: why no more judgements
    are needed or what is still open, and the first score bounds now and before."""
    left = result["unjudged"]["total"]
    why = str(result.get("closed") or f"{left:,} results are still unjudged")
    name, (low, high) = next(iter(result["bounds"].items()))
    now = (
        f"is {low:.3f}"
        if round(low, 3) == round(high, 3)
        else f"is at least {low:.3f} and at most {high:.3f}"
    )
    then_low, then_high = result["before"]["bounds"][name]
    return (
        f"{why[:1].upper()}{why[1:]}. {name} of {result['run']} {now}. Before the top-up, its "
        f"score bounds were {then_low:.3f} and {then_high:.3f}."
    )


def follow_up_table(result: Values) -> Table:
    """Return the table of score bounds before and after the judgements of follow-up campaigns."""
    before = result["before"]
    rows: list[list[Cell]] = [
        [
            name,
            *before["bounds"][name],
            *result["bounds"][name],
            before["bounds"][name][1] - before["bounds"][name][0],
            bounds[1] - bounds[0],
        ]
        for name, bounds in result["bounds"].items()
    ]
    filled = before["unjudged"] - result["unjudged"]["total"]
    note = (
        f"{filled:,} of {format_count(before['unjudged'], 'unjudged document')} have been judged since. "
        f"Both bounds are over all grades that unjudged documents may have."
    )
    columns = [
        "measure",
        "lower bound then",
        "upper bound then",
        "lower bound now",
        "upper bound now",
        "width then",
        "width now",
    ]
    return Table("before", "Effect of the top-up", columns, rows, note)


def judging_effect_table(result: Values) -> Table:
    settled = result["settles"]
    of_what = "the difference by " if "against" in result else ""
    rows: list[list[Cell]] = [
        [f"{float(share):.0%}", f"{left:.0%}"] for share, left in settled["by_share"].items()
    ]
    note = (
        f"Share of the score bounds of {of_what}nDCG@{result['cutoff']} that judging would "
        f"close, estimated by weight. Judging the first {settled['n']} closes "
        f"{1 - settled['left']:.0%}; judging {settled['enough']} leaves less than "
        f"{NEGLIGIBLE_WIDTH}. This is an estimate: a relevant document also changes the ideal "
        "ranking."
    )
    return Table("settles", "Effect of judging", ["documents judged", "still open"], rows, note)


def result_tables(result: Values) -> list[Table]:
    made = [scores_table(result)] + ([follow_up_table(result)] if "before" in result else [])
    if "against" in result:
        rows: list[list[Cell]] = [
            [name, one["difference"], *one["bounds"], "yes" if one["settled"] else "no"]
            for name, one in result["against"]["differences"].items()
        ]
        note = (
            "The sign of the difference is certain: it is the same for all possible grades "
            "of the unjudged documents of both runs."
        )
        made.append(
            Table(
                "against",
                f"Against {result['against']['run']}",
                ["measure", "score, unjudged as 0", "lower bound", "upper bound", "settled"],
                rows,
                note,
            )
        )
    if result["order"]:
        made += [judging_effect_table(result)] if result["settles"]["left"] is not None else []
        order: list[list[Cell]] = [
            [topic, document, weight] for topic, document, weight in result["order"]
        ]
        note = (
            "Most informative first. A follow-up campaign has them in this order; the command "
            "`unjudged --top-up` writes them as a pool."
        )
        made.append(Table("order", "Judge first", ["topic", "document", "weight"], order, note))
    return made


def result_charts(result: Values) -> list[Picture]:
    rows = []
    for name, score in result["score"].items():
        expected = result["filled"][name]
        rows.append(
            DrawnInterval(name, score if expected is None else expected, *result["bounds"][name])
        )
    caption = f"Score bounds of {result['run']}"
    return [interval_chart(rows, caption=caption, x_label="score", what="measure", low=0.0)]

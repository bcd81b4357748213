"""What is open about a run that did not contribute to the pool, and what judging would settle
(SAMPLING 6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.systems.kind import Files, NotPossible, ReportKind, Result
from analysis.systems.options import LEVEL, SCORES, Field, given_of, measures_field
from analysis.systems.topped_up import TOPPED_UP
from assay.charts.points import DrawnInterval, intervals
from assay.charts.svg import Picture
from assay.tabular import Cell, Table

FIELDS = (
    Field(
        "late",
        "The late run",
        "tag",
        "",
        (("", "the first that is chosen"),),
        hint="What only one of the others found tells what a hole is worth.",
    ),
    measures_field("nDCG@10 P@10 RBP(0.8)"),
    Field(
        "against",
        "Judge first what tells about the difference to",
        "tag",
        "",
        (("", "no run: what tells about its own score"),),
    ),
    Field(
        "judge",
        "Judge so many",
        "whole",
        "",
        least=1,
        hint="What that would settle. Empty: half of the holes.",
    ),
    Field(
        "scale",
        "Highest grade",
        "whole",
        "",
        least=1,
        hint="A hole may have any up to it. Empty: that of the qrels.",
    ),
    LEVEL,
    SCORES,
)
CERTAIN = (
    "Certain as far as only this run's holes are judged. A hole at its best also raises the "
    "ideal, so neither end need be all holes at their highest."
)


def given(files: Files, options: Mapping[str, Any]) -> dict[str, Any]:
    runs = dict(zip(files.tags, files.runs, strict=True))
    late, against = options.get("late") or next(iter(runs), ""), options.get("against", "")
    if late not in runs:
        raise NotPossible("the late run is not one of the runs that are chosen")
    if against and (against == late or against not in runs):
        raise NotPossible(f"{against} is not another one of the runs that are chosen")
    pool = [path for tag, path in runs.items() if tag != late]
    later = files.others.get(TOPPED_UP.name)
    return {
        "qrels": files.qrels[0][1],
        "run": runs[late],
        **given_of([one for one in FIELDS if one.name not in ("late", "against")], options),
        **({"topped_up": [later]} if later else {}),
        **({"pool": pool} if pool else {}),
        **({"against": runs[against]} if against else {}),
    }


def scores_table(result: Result) -> Table:
    total, per_topic = result["holes"]["total"], result["holes"]["per_topic"]
    reasons = result.get("undefined", {})
    rows: list[list[Cell]] = [
        [name, score, *result["bounds"][name], result["filled"][name], reasons.get(name, "")]
        for name, score in result["score"].items()
    ]
    return Table(
        "scores",
        f"Scores of {result['run']}",
        ["measure", "holes as 0", "at least", "at most", "expected", "why none"],
        rows,
        words(result)
        + (
            f" {total:,} holes in the first {result['cutoff']} of {len(per_topic)} topics, at "
            f"most {max(per_topic.values(), default=0)} in one. {CERTAIN}"
        ),
    )


def words(result: Result) -> str:
    """In the words of SAMPLING 6."""
    holes, n = result["holes"], max(len(result["holes"]["per_topic"]), 1)
    closed = f"Closed: {result['closed']}. " if result.get("closed") else ""
    name, score = next(iter(result["score"].items()))
    low, high = result["bounds"][name]
    if not holes["total"]:
        judged = f"{closed}Every result of {result['run']} down to rank {result['cutoff']} has been judged"
        if result["order"]:
            return f"{judged}, but not those of {result['against']['run']}; {_settled(result)}."
        further = f"; {name} reads further: it is at least {low:.3f}, at most {high:.3f}"
        return f"{judged}{further if round(low, 3) < round(high, 3) else ': nothing is open'}."
    expected = result["filled"][name]
    near = f", probably near {expected:.3f}" if expected is not None else ""
    return (
        f"{closed}{holes['total'] / n:.1f} of {result['cutoff']} results of this system have never been judged. "
        f"Its {name} is at least {low:.3f}, at most {high:.3f}{near} ("
        f"{score:.3f} if none of them is relevant); {_settled(result)}."
    )


def _settled(result: Result) -> str:
    """By weights, which are no bound: a hole that turns out relevant moves the ideal, too."""
    settles, by_weight = result["settles"], f"by their weights in nDCG@{result['cutoff']}"
    of_what = (
        f"the difference to {result['against']['run']}" if "against" in result else "what is open"
    )
    judging = "judging this pair" if settles["n"] == 1 else f"judging these {settles['n']} pairs"
    if (left := settles["left"]) is None:
        return (
            f"{judging} settles, {by_weight}, nothing of {of_what}, which they change only by "
            f"what they do to the ideal"
        )
    return f"{judging} settles, {by_weight}, {1 - left:.0%} of {of_what}"


def closing_words(result: Result) -> str:
    """Of the report that follows on a top-up: why nothing more needs to be judged, or what is open,
    and the first range now and then."""
    left = result["holes"]["total"]
    why = str(result.get("closed") or f"{left:,} results are left that nobody has judged")
    name, (low, high) = next(iter(result["bounds"].items()))
    now = (
        f"is {low:.3f}"
        if round(low, 3) == round(high, 3)
        else f"is at least {low:.3f} and at most {high:.3f}"
    )
    then_low, then_high = result["before"]["bounds"][name]
    return (
        f"{why[:1].upper()}{why[1:]}. {name} of {result['run']} {now}; before the top-up it was "
        f"somewhere from {then_low:.3f} to {then_high:.3f}."
    )


def before_table(result: Result) -> Table:
    """What the judgements of top-up campaigns have settled."""
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
    filled = before["holes"] - result["holes"]["total"]
    note = (
        f"{filled:,} of {before['holes']:,} holes have been judged since. Both ranges are over "
        f"all grades that holes may have."
    )
    columns = [
        "measure",
        "at least then",
        "at most then",
        "at least now",
        "at most now",
        "width then",
        "width now",
    ]
    return Table("before", "What the top-up has settled", columns, rows, note)


def settles_table(result: Result) -> Table:
    settled = result["settles"]
    rows: list[list[Cell]] = [
        [f"{float(share):.0%}", f"{left:.0%}"] for share, left in settled["by_share"].items()
    ]
    note = (
        f"Of what the holes leave open of nDCG@{result['cutoff']}, by their weights. Judging "
        f"{settled['enough']} pairs settles all but .01 of nDCG. "
        "No bound: a hole that turns out relevant moves the ideal, too."
    )
    return Table(
        "settles", "What judging settles", ["of the holes judged", "left open"], rows, note
    )


def tables(result: Result) -> list[Table]:
    made = [scores_table(result)] + ([before_table(result)] if "before" in result else [])
    if "against" in result:
        rows: list[list[Cell]] = [
            [name, one["difference"], *one["bounds"], "yes" if one["settled"] else "no"]
            for name, one in result["against"]["differences"].items()
        ]
        note = (
            "Settled: whatever the holes of both turn out to be, the sign of the difference stays."
        )
        made.append(
            Table(
                "against",
                f"Against {result['against']['run']}",
                ["measure", "holes as 0", "at least", "at most", "settled"],
                rows,
                note,
            )
        )
    if result["order"]:
        made += [settles_table(result)] if result["settles"]["left"] is not None else []
        order: list[list[Cell]] = [
            [topic, document, weight] for topic, document, weight in result["order"]
        ]
        note = (
            "By what each tells. A top-up campaign has them in this order; the command `holes "
            "--top-up` writes them as a pool."
        )
        made.append(Table("order", "Judge first", ["topic", "document", "weight"], order, note))
    return made


def pictures(result: Result) -> list[Picture]:
    rows = []
    for name, score in result["score"].items():
        expected = result["filled"][name]
        rows.append(
            DrawnInterval(name, score if expected is None else expected, *result["bounds"][name])
        )
    caption = (
        f"Scores of {result['run']}: the range whatever its holes turn out to be, and within it "
        f"what is expected, or holes as 0 where nothing is"
    )
    return [intervals(rows, caption=caption, x_label="score", what="measure", low=0.0)]


KIND = ReportKind(
    name="holes",
    place=130,
    title="A run that came late",
    sentence="How much of a run has never been judged, between which scores it lies, and which pairs to judge first?",
    fields=FIELDS,
    given=given,
    tables=tables,
    pictures=pictures,
    seeded=False,
    subject=lambda options: str(options.get("late") or ""),
    written=(TOPPED_UP,),
    topped_up=closing_words,
)

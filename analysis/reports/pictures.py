"""A command's answer as pictures of the page: SVG with a text alternative and its numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from itertools import combinations
from typing import Any

from analysis.charts.bars import bars, stacked
from analysis.charts.lines import Line, lines
from analysis.charts.matrices import matrix
from analysis.charts.points import Interval, Spot, intervals, radar, scatter
from analysis.reports.tables import Result, ranked, words

MOST_RUNS = 60
"""More rows than this make no picture; the tables have all."""


def pictures_of(kind: str, result: Result, *, kin: Sequence[Result] = ()) -> list[str]:
    """`<figure>` strings. kin: answers of the same kind on the same input (the other elements of stability)."""
    if kind == "stability":
        return stability(result, kin)
    return PICTURES[kind](result)


def _conditions(result: Result) -> dict[str, Any]:
    return {name: found for name, found in result.items() if isinstance(found, dict)}


def _percent(value: float) -> str:
    return f"{100 * value:.0f} %"


def evaluate(result: Result) -> list[str]:
    first = next(iter(result["qrels"].values()))
    tags = list(first)
    measures = list(first[tags[0]])
    found = []
    for measure in measures[:3]:
        rows = [
            Interval(numbered(tag, i, len(result["qrels"])), by_run[tag][measure], note="no topic of the run counts under these qrels")
            for tag in tags[:MOST_RUNS]
            for i, by_run in enumerate(result["qrels"].values(), 1)
        ]
        caption = f"Mean {measure} of the runs{key_of(list(result['qrels']))}"
        found.append(intervals(rows, caption=caption, x_label=f"mean {measure}", what="run", reason="No run has a defined score."))
    return found


def numbered(name: str, number: int, of: int) -> str:
    """A row's name where several rows have it: told apart by a number that the caption explains."""
    return name if of == 1 else f"{name[:20]} · {number}"


def key_of(names: Sequence[str]) -> str:
    return "" if len(names) == 1 else "; " + ", ".join(f"{i}: {name}" for i, name in enumerate(names, 1))


def compare_rankings(result: Result) -> list[str]:
    names = list(result["qrels"])
    found = []
    for a, b in list(combinations(names, 2))[:6]:
        rows = []
        for measure in result["tau"]:
            low, high = result["interval"][measure][a][b] or (None, None)
            rows.append(Interval(measure, result["tau"][measure][a][b], low, high, "undefined: all runs are tied"))
        found.append(
            intervals(
                rows,
                caption=f"Kendall's tau-b between the rankings under {a} and {b}, with the bootstrap interval over topics",
                x_label="tau-b",
                what="measure",
                high=1.0,
                reference=(0.9, "0.9"),
                reason="Tau is undefined: under one of the qrels all runs are tied.",
            )
        )
    a, b = names[0], names[1]
    measure = next(iter(result["tau"]))
    swapped = {tag for pair in result["swaps"][measure][a][b] for tag in pair}
    spots = [
        Spot(tag, result["qrels"][a][tag][measure], result["qrels"][b][tag][measure], int(tag in swapped))
        for tag in result["qrels"][a]
        if result["qrels"][a][tag][measure] is not None and result["qrels"][b][tag][measure] is not None
    ]
    found.append(
        scatter(
            spots,
            kinds=["run", "run in a swapped pair"],
            caption=f"{measure} of each run under {a} and {b}",
            x_label=a,
            y_label=b,
        )
    )
    return found


def label_overlap(result: Result) -> list[str]:
    """Figure 3 of TripJudge: a bar for relevant and irrelevant judgements under each click qrels."""
    labels: list[str] = []
    for found in result.values():
        labels += [label for label in found["relevant"] if label not in labels]
    rows = [(f"{name[:14]}: {kind}", found[kind], found["pairs"]) for name, found in result.items() for kind in ("relevant", "irrelevant")]
    series = [
        (
            "no click label" if label == "unlabelled" else f"click label {label}",
            [float((shares.get(label) or 0) * n) for _, shares, n in rows],
        )
        for label in labels
    ]
    series = [(name, [float(round(value)) for value in values]) for name, values in series]
    caption = "Click labels of the judged pairs, by what the judgement says"
    return [
        stacked(
            [name for name, _, _ in rows], series, caption=caption, what="judged pairs", reason="No judged pair is among those considered."
        )
    ]


def _outcome_bars(rows: Sequence[Result], caption: str) -> str:
    keys = [("neither", "answered by neither"), ("a_only", "A only"), ("b_only", "B only"), ("both", "both")]
    series = [(name, [float(row["outcome_topics"][key]) for row in rows]) for key, name in keys]
    return stacked(
        [f"{row['a'][:10]} – {row['b'][:10]}" for row in rows], series, caption=caption, what="A – B", reason="No topic to compare on."
    )


def compare_runs(result: Result) -> list[str]:
    return [_outcome_bars([result], f"Topics by outcome: A is {result['a']}, B is {result['b']}")]


def _day(text: str) -> float | None:
    try:
        return float(date.fromisoformat(text[:10]).toordinal())
    except ValueError:
        return None


def leaderboard(result: Result) -> list[str]:
    kinds = ["run", "state of the art", "baseline", "marked"]
    spots = []
    dated = all(run["date"] and _day(run["date"]) is not None for run in result["runs"])
    for number, run in enumerate(result["runs"], 1):
        kind = 1 if run["sota"] else 2 if run["baseline"] else 3 if run["highlighted"] else 0
        x = _day(run["date"]) if dated else float(number)
        if x is not None and run["score"] is not None:
            spots.append(Spot(run["tag"] + (", marked" if run["highlighted"] else ""), x, run["score"], kind))
    form: Callable[[float], str] = (lambda x: date.fromordinal(int(x)).isoformat()) if dated else (lambda x: f"{x:g}")
    found = [
        scatter(
            spots,
            kinds=kinds,
            caption="Score of each run over time, the state of the art marked"
            if dated
            else "Score of each run in the order given; no dates are known",
            x_label="submitted" if dated else "number",
            y_label="mean RR",
            x_form=form,
        )
    ]
    rows = result.get("vs_previous", [])
    if rows:
        found.append(_outcome_bars(rows, "Topics by outcome: each record (B) against the one before (A)"))
    return found


def bootstrap(result: Result) -> list[str]:
    found = []
    conditions = _conditions(result)
    for name, one in conditions.items():
        tags = ranked(one)[:MOST_RUNS]
        places = sorted(one["rank_share"][tags[0]], key=int)
        values = [[one["rank_share"][tag][place] for place in places] for tag in tags]
        found.append(
            matrix(
                tags,
                places,
                values,
                caption=f"Probability of each rank by {name}: {one['topics']} topics, {one['trials']:,} samples",
                row_label="run",
                column_label="rank",
                high=1.0,
                form=lambda v: f"{v:.2f}",
                written=len(tags) <= 14,
            )
        )
    if len(conditions) > 1:
        tags = ranked(next(iter(conditions.values())))[:30]
        rows = [
            Interval(numbered(tag, i, len(conditions)), one["expected_rank"].get(tag), *one["interval"].get(tag, (None, None)))
            for tag in tags
            for i, one in enumerate(conditions.values(), 1)
        ]
        caption = f"Expected rank with its 95 % interval, conditions side by side{key_of(list(conditions))}"
        found.insert(0, intervals(rows, caption=caption, x_label="rank (1 is the best)", what="run · condition"))
    return found


def split_half(result: Result) -> list[str]:
    found = []
    for measure, one in _conditions(result).items():
        tests = {f"{kind}, {test}": rates for kind in ("mean", "median") for test, rates in one[kind].items()}
        names = [name for name in next(iter(tests.values())) if name != "significant"]
        compared = one["splits"]
        series = [(name, [float((rates[name] or 0) * 100) for rates in tests.values()]) for name in names]
        found.append(
            stacked(
                list(tests),
                series,
                caption=f"How often the two halves agree by {measure}, percent of pairs of runs over {compared} splits",
                what="test",
                counts=[compared] * len(tests),
                reason="No pair is significant on any half, so there is no rate of agreement.",
            )
        )
    return found


def submissions(result: Result) -> list[str]:
    groups = _conditions(result)
    spots = [
        Spot(group, found["best_public_rank"], found["its_private_rank"], int(bool(found["breaches"])))
        for group, found in groups.items()
        if found["best_public_rank"] is not None and found["its_private_rank"] is not None
    ]
    caption = "The best run of each group: its public and its private rank"
    return [
        bars(
            list(groups),
            [found["submissions"] for found in groups.values()],
            caption="Submissions of each group",
            unit="submissions",
            what="group",
        ),
        scatter(spots, kinds=["group", "group over the limit"], caption=caption, x_label="public rank", y_label="private rank"),
    ]


def stability(result: Result, kin: Sequence[Result]) -> list[str]:
    levels = result["levels"]
    curves = [Line(name, list(zip(levels, values, strict=True)), marks=True) for name, values in result["probability"].items()]
    fits = []
    for name, fit in result["fit"].items():
        if fit["slope"] is not None:
            ends = (min(levels), max(levels))
            fits.append(Line(f"{name}, fitted", [(o, fit["slope"] * o + fit["intercept"]) for o in ends]))
    what = words(result["element"])
    common: dict[str, Any] = {"x_label": f"overlap of {what}", "x_form": _percent}
    found = [
        lines(
            curves,
            caption=f"Probability that two sub-collections rank the runs alike, by overlap of {what}",
            y_label="P(o)",
            y_low=0,
            y_high=1,
            **common,
        )
    ]
    if fits:
        found.append(lines(fits, caption="Lines fitted to the probabilities below full overlap", y_label="P(o)", **common))
    taus = [Line(name, list(zip(levels, values, strict=True)), marks=True) for name, values in result["mean_tau"].items()]
    threshold = [(result["threshold"], f"threshold {result['threshold']:g}")]
    reason = "Tau is undefined throughout: all runs are tied on the sub-collections."
    found.append(lines(taus, caption="Mean tau-b by overlap", y_label="tau-b", horizontal=threshold, reason=reason, **common))
    found.append(least_radar(result, kin))
    return found


def least_radar(result: Result, kin: Sequence[Result]) -> str:
    """Figure 2: over the elements where three or more have been computed on the same input, else over the measures; none is 100 %."""
    every = {one["element"]: one for one in [*kin, result]}
    measures = list(result["probability"])
    caption = "Least overlap from which the rankings always agree; 100 % where there is none below"

    def least(one: Result, measure: str) -> float:
        value = one["minimum_overlap"].get(measure)
        return 1.0 if value is None else float(value)

    if len(every) >= 3:
        elements = sorted(every)
        shared = [m for m in measures if all(m in one["probability"] for one in every.values())]
        series = [(measure, [least(every[element], measure) for element in elements]) for measure in shared]
        return radar([words(element) for element in elements], series, caption=caption, high=1.0, form=_percent)
    return radar(measures, [(words(result["element"]), [least(result, m) for m in measures])], caption=caption, high=1.0, form=_percent)


def reusability(result: Result) -> list[str]:
    depths = result["depth"]
    some = next(iter(depths.values()), None) or next(iter(result["leave_out"].values()))
    names = list(some["tau"])
    at = [float(depth) for depth in depths]
    curves = [Line(name, [(float(depth), found["tau"][name]) for depth, found in depths.items()], marks=True) for name in names]
    reason = result.get("undefined", "Tau is undefined: all runs are tied.")
    found = [
        lines(
            curves,
            caption="Tau-b with the full qrels, by depth of the pool",
            x_label="depth",
            y_label="tau-b",
            x_at=at,
            y_high=1.0,
            horizontal=[(0.9, "0.9")],
            reason=reason,
        )
    ]
    first = names[0]
    rows = []
    for unit, one in result["leave_out"].items():
        changes = [run["score_change"][first] for run in one["runs"].values() if run["score_change"][first] is not None]
        rows.append(Interval(unit, max(changes, key=abs) if changes else None, note="undefined"))
    caption = f"Largest change of {first} of any run when one is left out of the pool"
    found.append(intervals(rows[:MOST_RUNS], caption=caption, x_label=f"change of {first}", what="left out", reference=(0.0, "")))
    return found


PICTURES: dict[str, Callable[[Result], list[str]]] = {
    "evaluate": evaluate,
    "compare_rankings": compare_rankings,
    "label_overlap": label_overlap,
    "compare_runs": compare_runs,
    "leaderboard": leaderboard,
    "bootstrap": bootstrap,
    "split_half": split_half,
    "submissions": submissions,
    "reusability": reusability,
}

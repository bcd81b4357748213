"""Tables and charts of `plan study` on other pool depths and numbers of judgements per pair."""

from __future__ import annotations

from typing import Any

from assay.analyses.shared.comparison_tables import defined_plans, label_noise_by_measure
from assay.charts.lines import Line, line_chart
from assay.charts.svg import Picture
from assay.comparison.bootstrap_sentences import CAVEAT
from assay.results import Values
from assay.tabular import Cell, Table


def depths_by_measure(result: Values) -> dict[str, dict[str, Any]]:
    """Return the results of `plan study` for other pool depths by measure, empty if none were
    computed."""
    return {
        measure: one["depths"]
        for measure, one in defined_plans(result).items()
        if one.get("depths")
    }


def depths_table(key: str, result: Values) -> Table | None:
    """Return the cost and precision of the pool of each depth, or None if no depth was computed."""
    rows: list[list[Cell]] = []
    ruled = set()
    for measure, depths in depths_by_measure(result).items():
        ruled |= {len(rows)} if rows else set()
        for depth, one in depths.items():
            told = [
                one[name]
                for name in (
                    "pairs",
                    "judged",
                    "variance",
                    "topics_needed",
                    "pairs_needed",
                    "smallest_difference",
                    "tau",
                )
            ]
            rows.append([measure, int(depth), *told])
    if not rows:
        return None
    header = [
        "measure",
        "depth",
        "per topic",
        "judged",
        "variance",
        "topics",
        "pairs",
        "detectable here",
        "tau",
    ]
    note = (
        "Pools of these runs for the median pair of systems. Per topic: documents in the "
        "pool. Judged: the share of them with a grade. The others count as not relevant. If "
        "this share is far below 1, the row does not predict the results of a deeper pool. "
        "Needed: topics, and pairs to judge for them, without pairs of topics that do not "
        "count (–: more than a million topics, or undefined). Detectable here: the smallest "
        "difference that the current topics detect. Tau: correlation with the ranking under all qrels."
    )
    heads = (("", 2), ("pool", 2), ("", 1), ("needed", 2), ("", 2))
    digits = (None, None, 1, 2, 4, None, None, 4, 3)
    return Table(
        key,
        "Planning by pool depth",
        header,
        rows,
        note,
        heads=heads,
        digits=digits,
        ruled=frozenset(ruled),
    )


def depths_chart(result: Values) -> list[Picture]:
    """Return the chart of the number of pairs that the requested difference needs by pool depth."""
    by_measure = depths_by_measure(result)
    series = [
        Line(
            measure,
            [
                (float(depth), None if one["pairs_needed"] is None else float(one["pairs_needed"]))
                for depth, one in depths.items()
            ],
            marks=True,
        )
        for measure, depths in by_measure.items()
        if len(depths) > 1
    ]
    if not series:
        return []
    caption = "Pairs needed by pool depth"
    return [
        line_chart(
            series,
            caption=caption,
            x_label="depth of the pool",
            y_label="pairs",
            y_low=0.0,
            y_form=lambda v: f"{v:,.0f}",
            x_form=lambda v: f"{v:.0f}",
        )
    ]


def labels_table(key: str, result: Values) -> Table | None:
    """Return the number of topics needed by judgements per pair, or None without a file of
    judgements."""
    noise = {
        measure: one["topics_needed"]
        for measure, one in label_noise_by_measure(result).items()
        if one.get("topics_needed")
    }
    if not noise:
        return None
    numbers = list(next(iter(noise.values())))
    rows: list[list[Cell]] = [[measure, *needed.values()] for measure, needed in noise.items()]
    note = (
        "For the median pair of systems. The variance over topics includes label noise, which "
        "is replaced by the noise of other numbers of judgements (–: more than a million topics, or undefined). "
    ) + CAVEAT
    return Table(
        key,
        "Topics by judgements per pair",
        ["measure", *numbers],
        rows,
        note,
        heads=(("", 1), ("judgements per pair", len(numbers))),
    )

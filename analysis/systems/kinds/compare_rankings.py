"""Do two kinds of judgements rank systems alike?"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

from analysis.systems.kind import Files, ReportKind, Result, named_file
from analysis.systems.options import (
    MEASURES,
    RANKING_MEASURES,
    READING,
    fields_of,
    given_of,
    measures_field,
)
from assay.analyses.compare_rankings import Options
from assay.analyses.shared.score_tables import scores_table
from assay.charts.points import DrawnInterval, Spot, intervals, scatter
from assay.charts.svg import Picture
from assay.tabular import Cell, Table

FIELDS = (
    measures_field(MEASURES, begins=RANKING_MEASURES),
    *fields_of(Options, "bootstrap"),
    *READING,
)


def given(files: Files, options: Mapping[str, Any]) -> dict[str, Any]:
    qrels = [named_file(pair) for pair in files.qrels]
    return {"runs": files.runs, "qrels": qrels, **given_of(FIELDS, options)}


def tables(result: Result) -> list[Table]:
    names = list(result["qrels"])
    rows: list[list[Cell]] = []
    swaps: list[list[Cell]] = []
    open_pairs: list[list[Cell]] = []
    for measure in result["tau"]:
        for a, b in combinations(names, 2):
            low, high = result["interval"][measure][a][b] or (None, None)
            swapped = result["swaps"][measure][a][b]
            tied = [result["tied"][measure][name] for name in (a, b)]
            taus = [result[key][measure][a][b] for key in ("tau", "tau_a", "tau_ap")]
            variant = (
                result["tau_ap_variant"][measure][a][b] if "tau_ap_variant" in result else ""
            )  # a report of an older version
            rbo = result["rbo"][measure][a][b] if "rbo" in result else None
            why, undecided = (
                result.get(key, {}).get(measure, {}).get(a, {}).get(b)
                for key in ("interval_reason", "undecided")
            )
            open_pairs += [[measure, a, b, first, second] for first, second in undecided or []]
            rows.append(
                [
                    measure,
                    a,
                    b,
                    taus[0],
                    low,
                    high,
                    *taus[1:],
                    variant,
                    rbo,
                    len(swapped),
                    *tied,
                    result["topics"][a][b],
                    why or "",
                ]
            )
            swaps += [[measure, a, b, first, second] for first, second in swapped]
    header = [
        "measure",
        "qrels A",
        "qrels B",
        "tau-b",
        "2.5 %",
        "97.5 %",
        "tau-a",
        "tau-ap",
        "variant for ties",
        "RBO",
        "swapped pairs",
        "tied under A",
        "tied under B",
        "shared topics",
        "why no interval",
    ]
    note = (
        "Tau-ap: A is the reference. From 0.9 two qrels are read as equivalent (Voorhees)."
        " The interval is over the topics that both share; where none covers what it says the "
        "reason is given, and the table of undecided"
        " pairs tells which order of systems these topics leave open."
    )
    return [
        Table("correlations", "Correlation of the rankings", header, rows, note),
        scores_table(result["qrels"]),
        Table(
            "swaps",
            "Swapped pairs of runs",
            ["measure", "qrels A", "qrels B", "higher under A", "higher under B"],
            swaps,
        ),
        Table(
            "undecided",
            "Undecided pairs of runs",
            ["measure", "qrels A", "qrels B", "run", "run"],
            open_pairs,
        ),
    ]


def pictures(result: Result) -> list[Picture]:
    names = list(result["qrels"])
    drawn = []
    for a, b in list(combinations(names, 2))[:6]:
        rows = []
        for measure in result["tau"]:
            low, high = result["interval"][measure][a][b] or (None, None)
            rows.append(
                DrawnInterval(
                    measure, result["tau"][measure][a][b], low, high, "undefined: all runs are tied"
                )
            )
        drawn.append(
            intervals(
                rows,
                caption=(
                    f"Kendall's tau-b between the rankings under {a} and {b}, with its interval "
                    f"over topics where there is one"
                ),
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
        Spot(
            tag,
            result["qrels"][a][tag][measure],
            result["qrels"][b][tag][measure],
            int(tag in swapped),
        )
        for tag in result["qrels"][a]
        if result["qrels"][a][tag][measure] is not None
        and result["qrels"][b][tag][measure] is not None
    ]
    drawn.append(
        scatter(
            spots,
            kinds=["run", "run in a swapped pair"],
            caption=f"{measure} of each run under {a} and {b}",
            x_label=a,
            y_label=b,
        )
    )
    return drawn


KIND = ReportKind(
    name="compare_rankings",
    place=10,
    title="Rankings under several qrels",
    sentence="Do two kinds of judgements rank systems alike? Kendall's tau with its interval, swapped and tied pairs.",
    fields=FIELDS,
    given=given,
    tables=tables,
    pictures=pictures,
    qrels=(2, 0),
    least_runs=2,
)

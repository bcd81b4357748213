"""Is run B better than run A? (Lin et al. 2021)"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.systems.kind import Files, NotPossible, ReportKind, Result
from analysis.systems.options import FAMILY, READING, VERDICT, Field, given_of
from assay.analyses.shared.pictures import outcome_bars
from assay.analyses.shared.verdict_tables import comparisons
from assay.charts.svg import Picture
from assay.comparison.verdict_words import equal_runs_words
from assay.tabular import Table

FIELDS = (
    *VERDICT,
    Field(
        "correction",
        "Correction",
        "choice",
        "none",
        (("none", "none"), ("bonferroni", "Bonferroni")),
    ),
    FAMILY,
    *READING,
)


def given(files: Files, options: Mapping[str, Any]) -> dict[str, Any]:
    if len(files.runs) != 2:
        raise NotPossible("choose exactly two runs")
    run_a, run_b = files.runs
    return {
        "qrels": files.qrels[0][1],
        "run_a": run_a,
        "run_b": run_b,
        **given_of(FIELDS, options),
    }


def tables(result: Result) -> list[Table]:
    return comparisons([result], rates=equal_runs_words(result))


def pictures(result: Result) -> list[Picture]:
    return [outcome_bars([result], f"Topics by outcome: A is {result['a']}, B is {result['b']}")]


KIND = ReportKind(
    name="compare_runs",
    place=40,
    title="Two runs by outcome",
    sentence="Is run B better than run A? Topics answered by neither, one or both, with tests and a verdict.",
    fields=FIELDS,
    given=given,
    tables=tables,
    pictures=pictures,
    pair=True,
    least_runs=2,
)

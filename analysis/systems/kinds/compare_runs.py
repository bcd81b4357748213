"""Is run B better than run A? (Lin et al. 2021)"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.systems.kind import Files, NotPossible, ReportKind
from analysis.systems.options import READ, fields_of, given_of
from assay.analyses.compare_runs import Options, pictures, tables

FIELDS = fields_of(Options, "cutoff", "alpha", "decide", "correction", "family", *READ)


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

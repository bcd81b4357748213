"""Is run B better than run A? (Lin et al. 2021)"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.systems.kind import AnalysisFiles, NotComputable, ReportKind
from analysis.systems.options import EVALUATION_KEYS, changed_options, report_fields
from assay.analyses.compare_runs import Options, pictures, tables

FIELDS = report_fields(
    Options, "cutoff", "alpha", "decide", "correction", "family", *EVALUATION_KEYS
)


def call_arguments(files: AnalysisFiles, options: Mapping[str, Any]) -> dict[str, Any]:
    if len(files.runs) != 2:
        raise NotComputable("choose exactly two runs")
    run_a, run_b = files.runs
    return {
        "qrels": files.qrels[0][1],
        "run_a": run_a,
        "run_b": run_b,
        **changed_options(FIELDS, options),
    }


KIND = ReportKind(
    name="compare_runs",
    place=40,
    title="Two runs by outcome",
    sentence="Is run B better than run A? Topics answered by neither, one or both, with tests and a verdict.",
    fields=FIELDS,
    given=call_arguments,
    tables=tables,
    pictures=pictures,
    pair=True,
    least_runs=2,
)

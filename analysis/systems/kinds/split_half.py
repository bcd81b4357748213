"""Do two halves of the topics lead to the same conclusions? (Craswell et al. 2021, Table 4)"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.systems.kind import AnalysisFiles, ReportKind
from analysis.systems.options import (
    EVALUATION_KEYS,
    changed_options,
    report_fields,
)
from assay.analyses.split_half import Options, result_charts, result_tables
from assay.comparison.split_half import SplitHalfTally

FIELDS = (*report_fields(Options, "measures", "splits", "alpha", *EVALUATION_KEYS),)


def call_arguments(files: AnalysisFiles, options: Mapping[str, Any]) -> dict[str, Any]:
    return {"qrels": files.qrels[0][1], "runs": files.runs, **changed_options(FIELDS, options)}


KIND = ReportKind(
    name="split_half",
    place=70,
    title="Two halves of the topics",
    sentence="How often tests on two halves of the topics agree about pairs of runs.",
    fields=FIELDS,
    given=call_arguments,
    tables=result_tables,
    pictures=result_charts,
    least_runs=2,
    pieces=True,
    piece=SplitHalfTally,
)

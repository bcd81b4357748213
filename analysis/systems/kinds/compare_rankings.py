"""Do two kinds of judgements rank systems alike?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.systems.kind import AnalysisFiles, ReportKind, format_named_file
from analysis.systems.options import EVALUATION_KEYS, changed_options, report_fields
from assay.analyses.compare_rankings import Options, pictures, tables

FIELDS = report_fields(Options, "measures", "bootstrap", *EVALUATION_KEYS)


def call_arguments(files: AnalysisFiles, options: Mapping[str, Any]) -> dict[str, Any]:
    qrels = [format_named_file(pair) for pair in files.qrels]
    return {"runs": files.runs, "qrels": qrels, **changed_options(FIELDS, options)}


KIND = ReportKind(
    name="compare_rankings",
    place=10,
    title="Rankings under several qrels",
    sentence="Do two kinds of judgements rank systems alike? Kendall's tau with its interval, swapped and tied pairs.",
    fields=FIELDS,
    given=call_arguments,
    tables=tables,
    pictures=pictures,
    qrels=(2, 0),
    least_runs=2,
)

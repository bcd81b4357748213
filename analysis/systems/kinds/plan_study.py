"""How many topics does the next study need, and what would more judgements buy? (METHODS 14)"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.systems.kind import AnalysisFiles, ReportKind
from analysis.systems.options import EVALUATION_KEYS, ReportField, changed_options, report_fields
from analysis.systems.written_files import JUDGEMENTS, SINGLE_JUDGEMENTS
from assay.analyses.plan_study import Options, pictures, tables

FIELDS = (
    *report_fields(Options, "measures", "difference", "width", "power", "alpha"),
    ReportField(
        "judgements",
        "Label noise",
        "yes",
        False,
        hint="Resamples the campaign's judgements within their pairs, for the current and other "
        "numbers of judgements per pair.",
    ),
    *report_fields(Options, "scale", "label_trials", "depths", *EVALUATION_KEYS),
)


def call_arguments(files: AnalysisFiles, options: Mapping[str, Any]) -> dict[str, Any]:
    judged = {"judgements": files.others[JUDGEMENTS]} if JUDGEMENTS in files.others else {}
    rest = changed_options([one for one in FIELDS if one.name != "judgements"], options)
    return {"qrels": files.qrels[0][1], "runs": files.runs, **judged, **rest}


KIND = ReportKind(
    name="plan_study",
    place=48,
    title="Planning the next study",
    sentence=(
        "How many topics a difference needs, from the variances at hand, and what more judgements "
        "a pair or deeper pools would buy."
    ),
    fields=FIELDS,
    given=call_arguments,
    tables=tables,
    pictures=pictures,
    least_runs=2,
    written=(SINGLE_JUDGEMENTS,),
)

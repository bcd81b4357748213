"""How many topics does the next study need, and what would more judgements buy? (METHODS 14)"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.systems.kind import Files, ReportKind
from analysis.systems.options import READ, Field, fields_of, given_of
from analysis.systems.written_files import JUDGEMENTS, SINGLE_JUDGEMENTS
from assay.analyses.plan_study import Options, pictures, tables

FIELDS = (
    *fields_of(Options, "measures", "difference", "width", "power", "alpha"),
    Field(
        "judgements",
        "Label noise",
        "yes",
        False,
        hint="Resamples the campaign's judgements within their pairs, for the current and other "
        "numbers of judgements per pair.",
    ),
    *fields_of(Options, "scale", "label_trials", "depths", *READ),
)


def given(files: Files, options: Mapping[str, Any]) -> dict[str, Any]:
    judged = {"judgements": files.others[JUDGEMENTS]} if JUDGEMENTS in files.others else {}
    rest = given_of([one for one in FIELDS if one.name != "judgements"], options)
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
    given=given,
    tables=tables,
    pictures=pictures,
    least_runs=2,
    written=(SINGLE_JUDGEMENTS,),
)

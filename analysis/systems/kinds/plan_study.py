"""How many topics does the next study need, and what would more judgements buy? (METHODS 14)"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.systems.kind import Files, ReportKind, Result
from analysis.systems.options import (
    READING,
    Field,
    fields_of,
    given_of,
)
from analysis.systems.written_files import JUDGEMENTS, SINGLE_JUDGEMENTS
from assay.analyses.plan_study import Options
from assay.analyses.shared.comparison_tables import (
    noise_picture,
    noise_table,
    planning_picture,
    planning_table,
)
from assay.analyses.shared.planning_tables import depths_picture, depths_table, labels_table
from assay.charts.svg import Picture
from assay.tabular import Table

FIELDS = (
    *fields_of(Options, "measures", "difference", "width", "power", "alpha"),
    Field(
        "judgements",
        "With the noise of labels",
        "yes",
        False,
        hint=(
            "Of a campaign's own labels: its judgements are drawn anew within their pairs, as "
            "many as there are and other numbers of them."
        ),
    ),
    Field("scale", "Grades of these judgements", "scale", 4, least=2, most=100),
    *fields_of(Options, "label_trials"),
    Field(
        "depths",
        "Depths of pools",
        "text",
        "",
        hint="With commas between; what a shallower or deeper pool would buy. Empty: 1,2,3,5,10,20,50,100.",
    ),
    *READING,
)


def given(files: Files, options: Mapping[str, Any]) -> dict[str, Any]:
    judged = {"judgements": files.others[JUDGEMENTS]} if JUDGEMENTS in files.others else {}
    rest = given_of([one for one in FIELDS if one.name != "judgements"], options)
    return {"qrels": files.qrels[0][1], "runs": files.runs, **judged, **rest}


def tables(result: Result) -> list[Table]:
    further = (
        noise_table("noise", result),
        labels_table("judgements", result),
        depths_table("depths", result),
    )
    return [planning_table("planning", result), *(table for table in further if table is not None)]


def pictures(result: Result) -> list[Picture]:
    return [*planning_picture(result), *noise_picture(result), *depths_picture(result)]


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

"""Which systems are really better, on any measure, every pair tested? (METHODS 14)"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.systems.inputs import PREL_SUFFIX
from analysis.systems.kind import AnalysisFiles, ReportKind, refuse_rank_model
from analysis.systems.options import (
    EVALUATION_KEYS,
    ReportField,
    changed_options,
    report_fields,
    sampled_options,
)
from assay.analyses.compare_systems import Options, pictures, tables

GROUPS = "topic_groups.txt"
FIELDS = (
    *report_fields(Options, "measures", "against", "family", "trials", "alpha"),
    ReportField(
        "topic_groups",
        "Groups of topics",
        "rows",
        "",
        hint="A file of topic and group, tab-separated. Each group is compared separately too.",
    ),
    *report_fields(Options, *EVALUATION_KEYS, "rank_model"),
)


def call_arguments(files: AnalysisFiles, options: Mapping[str, Any]) -> dict[str, Any]:
    given: dict[str, Any] = {"qrels": files.qrels[0][1], "runs": files.runs}
    if GROUPS in files.others:
        given["topic_groups"] = files.others[GROUPS]
    chosen = [one for one in FIELDS if not one.uploaded]
    if files.qrels[0][1].endswith(PREL_SUFFIX):
        return {
            **given,
            "sampled": True,
            **changed_options(chosen, sampled_options(options, FIELDS[0])),
        }
    refuse_rank_model(options)
    return {**given, **changed_options(chosen, options)}


KIND = ReportKind(
    name="compare_systems",
    place=45,
    title="Systems compared by any measure",
    sentence=(
        "Which systems are really better? Every pair tested, with intervals, effects, corrected "
        "p-values and letters."
    ),
    fields=FIELDS,
    given=call_arguments,
    tables=tables,
    pictures=pictures,
    least_runs=2,
    estimates=True,
)

"""Which systems are really better, on any measure, every pair tested? (METHODS 14)"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.systems.inputs import PREL
from analysis.systems.kind import Files, ReportKind, refuse_rank_model
from analysis.systems.options import READ, Field, fields_of, given_of, sampled_options
from assay.analyses.compare_systems import Options, pictures, tables

GROUPS = "topic_groups.txt"
FIELDS = (
    *fields_of(Options, "measures", "against", "family", "trials", "alpha"),
    Field(
        "topic_groups",
        "Groups of topics",
        "rows",
        "",
        hint="A file of topic and group, tab-separated. Each group is compared separately too.",
    ),
    *fields_of(Options, *READ, "rank_model"),
)


def given(files: Files, options: Mapping[str, Any]) -> dict[str, Any]:
    given: dict[str, Any] = {"qrels": files.qrels[0][1], "runs": files.runs}
    if GROUPS in files.others:
        given["topic_groups"] = files.others[GROUPS]
    chosen = [one for one in FIELDS if not one.uploaded]
    if files.qrels[0][1].endswith(PREL):
        return {
            **given,
            "sampled": True,
            **given_of(chosen, sampled_options(options, FIELDS[0])),
        }
    refuse_rank_model(options)
    return {**given, **given_of(chosen, options)}


KIND = ReportKind(
    name="compare_systems",
    place=45,
    title="Systems compared by any measure",
    sentence=(
        "Which systems are really better? Every pair tested, with intervals, effects, corrected "
        "p-values and letters."
    ),
    fields=FIELDS,
    given=given,
    tables=tables,
    pictures=pictures,
    least_runs=2,
    estimates=True,
)

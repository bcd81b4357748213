"""What is open about a run that did not contribute to the pool, and what judging would settle
(SAMPLING 6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.systems.kind import AnalysisFiles, NotComputable, ReportKind
from analysis.systems.options import ReportField, changed_options, report_fields
from analysis.systems.topped_up import TOP_UP_FILE
from assay.analyses.shared.unjudged_tables import closing_words, pictures, tables
from assay.analyses.unjudged import Options

FIELDS = (
    ReportField(
        "late",
        "The unpooled run",
        "tag",
        "",
        (("", "the first that is chosen"),),
        hint="The other runs are those of the pool. Scores are imputed from documents that only one of them found.",
    ),
    *report_fields(Options, "measures"),
    ReportField(
        "against",
        "Judge for the difference to",
        "tag",
        "",
        (("", "no run, for its own score"),),
    ),
    *report_fields(Options, "judge", "scale", "level", "scores"),
)


def call_arguments(files: AnalysisFiles, options: Mapping[str, Any]) -> dict[str, Any]:
    runs = dict(zip(files.tags, files.runs, strict=True))
    late, against = options.get("late") or next(iter(runs), ""), options.get("against", "")
    if late not in runs:
        raise NotComputable("the late run is not one of the runs that are chosen")
    if against and (against == late or against not in runs):
        raise NotComputable(f"{against} is not another one of the runs that are chosen")
    pool = [path for tag, path in runs.items() if tag != late]
    later = files.others.get(TOP_UP_FILE.name)
    return {
        "qrels": files.qrels[0][1],
        "run": runs[late],
        **changed_options([one for one in FIELDS if one.name not in ("late", "against")], options),
        **({"topped_up": [later]} if later else {}),
        **({"pool": pool} if pool else {}),
        **({"against": runs[against]} if against else {}),
    }


KIND = ReportKind(
    name="unjudged",
    place=130,
    title="A run that came late",
    sentence="How much of a run has never been judged, between which scores it lies, and which pairs to judge first?",
    fields=FIELDS,
    given=call_arguments,
    tables=tables,
    pictures=pictures,
    seeded=False,
    subject=lambda options: str(options.get("late") or ""),
    written=(TOP_UP_FILE,),
    topped_up=closing_words,
)

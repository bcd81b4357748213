"""Does the ranking of systems survive a change of the collection?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.models import Report
from analysis.systems.kind import AnalysisFiles, NotComputable, ReportKind
from analysis.systems.options import EVALUATION_KEYS, ReportField, changed_options, report_fields
from analysis.systems.written_files import WrittenFile
from annotation.models import Campaign
from assay.analyses.shared.stability_tables import pictures, tables, words
from assay.analyses.stability import Options
from pooling.models import Run
from pooling.platform.jobs import ClaimedJob

FIELDS = (
    *report_fields(Options, "element", "measures", "overlaps", "pairs", "threshold"),
    ReportField(
        "documents",
        "Documents",
        "choice",
        "",
        (
            ("", "those of runs and qrels"),
            ("imported", "those imported into the collection"),
            ("list", "those of the list below"),
        ),
        hint="What is drawn from when documents vary.",
    ),
    ReportField(
        "docids",
        "List of the collection's documents",
        "list",
        "",
        implies=("documents", "list"),
        hint="A file with one document id a line.",
    ),
    *report_fields(Options, "per_topic_quota", *EVALUATION_KEYS),
)


def call_arguments(files: AnalysisFiles, options: Mapping[str, Any]) -> dict[str, Any]:
    given: dict[str, Any] = {"qrels": files.qrels[0][1], "runs": files.runs}
    if options.get("element"):  # always given: the command has no default for it
        given["element"] = options["element"]
    given |= changed_options(
        [one for one in FIELDS if one.name not in ("element", "documents", "docids")], options
    )
    if options.get("documents"):
        if "docids.txt" not in files.others:
            raise NotComputable("choose the file with the list of the collection's documents")
        if "documents" not in str(options.get("element")).split("+"):
            raise NotComputable(
                "the collection's documents are drawn from only when documents vary"
            )
        given["docids"] = files.others["docids.txt"]
    return given


def report_subject(options: Mapping[str, Any]) -> str:
    return words(str(options.get("element", "")))


def needs_documents(
    parameters: Mapping[str, Any], runs: Sequence[Run], campaign: Campaign | None
) -> bool:
    return parameters.get("options", {}).get(
        "documents"
    ) == "imported" and "docids.txt" not in parameters.get("lists", [])


def document_list(report: Report, work: ClaimedJob) -> str:
    ids = report.collection.documents.order_by("docno").values_list("docno", flat=True)
    return "".join(f"{docno}\n" for docno in ids.iterator())


KIND = ReportKind(
    name="stability",
    place=90,
    title="Stability of the collection",
    sentence=(
        "Does the ranking survive when documents, topics or assessments change? Overlap curves "
        "and the least overlap needed."
    ),
    fields=FIELDS,
    given=call_arguments,
    tables=tables,
    pictures=pictures,
    least_runs=2,
    pieces=True,
    beside_others=True,
    subject=report_subject,
    written=(WrittenFile("docids.txt", needs_documents, document_list),),
)

"""Does the ranking of systems survive a change of the collection?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.models import Report
from analysis.systems.kind import Files, NotPossible, ReportKind
from analysis.systems.options import READ, Field, fields_of, given_of
from analysis.systems.written_files import WrittenFile
from annotation.models import Campaign
from assay.analyses.shared.stability_tables import pictures, tables, words
from assay.analyses.stability import Options
from pooling.models import Run
from pooling.platform.jobs import Work

FIELDS = (
    *fields_of(Options, "element", "measures", "overlaps", "pairs", "threshold"),
    Field(
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
    Field(
        "docids",
        "List of the collection's documents",
        "list",
        "",
        implies=("documents", "list"),
        hint="A file with one document id a line.",
    ),
    *fields_of(Options, "per_topic_quota", *READ),
)


def given(files: Files, options: Mapping[str, Any]) -> dict[str, Any]:
    given: dict[str, Any] = {"qrels": files.qrels[0][1], "runs": files.runs}
    if options.get("element"):  # always given: the command has no default for it
        given["element"] = options["element"]
    given |= given_of(
        [one for one in FIELDS if one.name not in ("element", "documents", "docids")], options
    )
    if options.get("documents"):
        if "docids.txt" not in files.others:
            raise NotPossible("choose the file with the list of the collection's documents")
        if "documents" not in str(options.get("element")).split("+"):
            raise NotPossible("the collection's documents are drawn from only when documents vary")
        given["docids"] = files.others["docids.txt"]
    return given


def subject(options: Mapping[str, Any]) -> str:
    return words(str(options.get("element", "")))


def documents_are_wanted(
    parameters: Mapping[str, Any], runs: Sequence[Run], campaign: Campaign | None
) -> bool:
    return parameters.get("options", {}).get(
        "documents"
    ) == "imported" and "docids.txt" not in parameters.get("lists", [])


def document_list(report: Report, work: Work) -> str:
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
    given=given,
    tables=tables,
    pictures=pictures,
    least_runs=2,
    pieces=True,
    beside_others=True,
    subject=subject,
    written=(WrittenFile("docids.txt", documents_are_wanted, document_list),),
)

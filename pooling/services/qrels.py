"""Qrels that others have made: imported as columns in the project's storage, deleted."""

from __future__ import annotations

from typing import Any

import numpy as np
from django.core.files.storage import default_storage
from django.db import IntegrityError, transaction

from pooling import jobs
from pooling.core.columns import Qrels as Grades
from pooling.formats.opening import Peeked, bare_name
from pooling.formats.qrels import load_qrels, read_qrels, save_qrels
from pooling.formats.quepid import names_queries, read_ratings
from pooling.jobs import Refused, Work
from pooling.models import Collection, Qrels
from pooling.services import uploads
from pooling.services.matching import by_query_text, match
from pooling.services.runs import store_columns


@jobs.kind("import qrels")
@uploads.importing
def import_qrels(work: Work) -> dict[str, Any]:
    """Inspect or import uploaded qrels. Options: name (else the file's), kind (judged or clicks), lenient.
    -> report: facts, grades, warnings, stored"""
    upload = uploads.upload_of(work)
    options = work.parameters["options"]
    collection = upload.collection
    name = (options.get("name") or bare_name(upload.name)).strip()[:200]
    by_text = names_queries(Peeked(upload.file.path, name=upload.name).head) == "ratings"
    with uploads.reading(upload, work) as feed:
        grades = read_ratings(feed, name=name) if by_text else read_qrels(feed, name=name, lenient=bool(options.get("lenient")))
    found: dict[str, int] = {}
    left_out: list[str] = []
    if by_text:
        grades, found, left_out = by_query_text(grades, collection)
    histogram, matched, warnings = described(grades, collection)
    matched, warnings = found | matched, left_out + warnings
    facts: dict[str, Any] = {"name": name, "rows": len(grades), "topics": len(grades.topics)}
    report: dict[str, Any] = {"file": upload.name, "facts": facts | matched, "grades": histogram, "warnings": grades.warnings + warnings}
    there = collection.qrels.filter(name=name).first()
    if there is not None:
        raise Refused(f"qrels with the name {name} are there already, from {there.source_name}; choose another name or delete those")
    if not uploads.decide(work, report, hold=warnings):
        return report
    work.progress(len(grades), message="storing", now=True)
    stored, digest = store_columns("qrels", lambda path: save_qrels(grades, path))
    try:
        same = collection.qrels.filter(digest=digest).first()
        if same is not None:
            raise Refused(f"exactly these qrels are there already, as {same.name}")
        with work.finishing() as final:
            row = row_of(collection, grades, file=upload.name, columns=stored, digest=digest, grades=histogram, warnings=report["warnings"])
            row.kind = options.get("kind") or Qrels.Kind.JUDGED
            row.save(force_insert=True)
            uploads.forget(upload, keep_file=False)
            final.update(report, qrels=row.pk, digest=digest)
    except IntegrityError:
        default_storage.delete(stored)
        raise Refused(f"qrels with the name {name} have just been imported by somebody else") from None
    except BaseException:
        default_storage.delete(stored)
        raise
    return final


def described(grades: Grades, collection: Collection, **coming: Any) -> tuple[dict[str, int], dict[str, int], list[str]]:
    """How many pairs each grade has, and what a person should know. coming: as `match` takes it. -> (histogram, facts, warnings)"""
    values, counts = np.unique(grades.grades, return_counts=True)
    histogram = {str(value): int(count) for value, count in zip(values.tolist(), counts.tolist(), strict=True)}
    facts, warnings = match(grades, collection, documents=np.unique(grades.documents), what="documents", **coming)
    if 0 not in values:
        warnings.append("no pair has grade 0: every pair is relevant from grade 1; if the lowest grade is 1, choose a threshold to fit")
    if values.size and values[0] < 0:
        warnings.append(f"{int(counts[values < 0].sum()):,} pairs have a negative grade: in the pool, but unjudged")
    return histogram, facts, warnings


def row_of(
    collection: Collection, found: Grades, *, file: str, columns: str, digest: str, grades: dict[str, int], warnings: list[str]
) -> Qrels:
    """The collection's row of stored qrels, not saved yet. grades: grade -> pairs."""
    return Qrels(
        collection=collection,
        name=found.name,
        source_name=file,
        columns=columns,
        digest=digest,
        n_rows=len(found),
        n_topics=len(found.topics),
        grades=grades,
        warnings=warnings,
    )


def grades_of(qrels: Qrels) -> Grades:
    """The qrels' columns under their name in the collection."""
    stored = load_qrels(qrels.columns.path)
    return Grades(
        name=qrels.name, topics=stored.topics, offsets=stored.offsets, documents=stored.documents, grades=stored.grades, warnings=stored.warnings
    )


def delete_qrels(qrels: Qrels) -> None:
    with transaction.atomic():
        name = qrels.columns.name
        qrels.delete()
        transaction.on_commit(lambda: default_storage.delete(name))

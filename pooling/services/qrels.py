"""Import existing qrels as columns in the project's storage, and delete them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from django.conf import settings
from django.core.files.storage import default_storage
from django.db import transaction
from django.utils.translation import gettext as _

from assay.column_types import QrelsColumns
from assay.formats.clicks import ClickCounts, find_packed_clicks, read_clicks, read_packed_clicks
from assay.formats.detect import FileKind, detect_kind
from assay.formats.qrels import load_qrels, read_qrels, save_qrels
from assay.formats.quepid import detect_query_form, read_ratings
from assay.formats.streams import PeekableStream, strip_suffixes
from assay.formats.ubi import detect_ubi, find_packed_ubi, read_packed_ubi, read_ubi
from assay.labels.clicks import make_click_labels
from assay.number_words import format_count
from pooling.models import Collection, Qrels, Upload
from pooling.platform import jobs
from pooling.platform.jobs import ClaimedJob, Refused
from pooling.services import uploads
from pooling.services.matching import check_ids, map_query_texts
from pooling.services.stored_columns import store_columns_for_row


@jobs.register_job_kind("import qrels")
@uploads.import_job
def import_qrels(work: ClaimedJob) -> dict[str, Any]:
    """Inspect or import uploaded qrels.

    Options: name (default: the file's), kind (judged or clicks), lenient. For a click log, which is
    converted to labels: click_model (a name of CLICK_MODEL_CHOICES) and thresholds (ascending,
    except for raw).
    Returns the report: facts, grades, warnings, notes, stored.
    """
    upload = uploads.get_upload(work)
    options = work.parameters["options"]
    collection = upload.collection
    name = (options.get("name") or strip_suffixes(upload.name)).strip()[:200]
    grades, log, by_text = _read_grades(upload, work, name, options)
    translated: dict[str, int] = {}
    left_out: list[str] = []
    if by_text:
        grades, translated, left_out = map_query_texts(grades, collection)
    histogram, unmatched, warnings = describe_grades(grades, collection)
    warnings = left_out + warnings
    facts = (
        {"name": name, "rows": len(grades), "topics": len(grades.topics)} | translated | unmatched
    )
    report: dict[str, Any] = {
        "file": upload.name,
        "facts": facts,
        "grades": histogram,
        "warnings": grades.warnings + warnings,
        "notes": grades.notes,
    }
    other = collection.qrels.filter(name=name).first()
    if other is not None:
        says = _(
            "Qrels named %(name)s already exist (from %(source_name)s). Choose another name, or "
            "delete the existing qrels."
        )
        raise Refused(says % {"name": name, "source_name": other.source_name})
    if not uploads.can_proceed(work, report, hold=warnings):
        return report
    work.progress(len(grades), message="storing", now=True)
    taken = f"Another user has just imported qrels with the name {name}."
    with store_columns_for_row("qrels", lambda path: save_qrels(grades, path), taken=taken) as (
        stored,
        digest,
    ):
        same = collection.qrels.filter(digest=digest).first()
        if same is not None:
            raise Refused(
                _("These qrels have already been imported as %(name)s.") % {"name": same.name}
            )
        with work.completion_transaction() as final:
            row = make_qrels_row(
                collection,
                grades,
                file=upload.name,
                columns=stored,
                digest=digest,
                grades=histogram,
                warnings=report["warnings"],
            )
            row.kind = Qrels.Kind.CLICKS if log else options.get("kind") or Qrels.Kind.JUDGED
            row.save(force_insert=True)
            uploads.delete_upload(upload, keep_file=False)
            final.update(report, qrels=row.pk, digest=digest)
    return final


def _read_grades(
    upload: Upload, work: ClaimedJob, name: str, options: dict[str, Any]
) -> tuple[QrelsColumns, bool, bool]:
    """Read an uploaded qrels file or click log. Returns (grades, whether they are from a click log,
    whether their topics are query texts)."""
    path, most = upload.file.path, settings.MAX_UNPACKED_BYTES
    dwell = float(options.get("min_dwell") or 0)
    if find_packed_clicks(path):
        _refuse_dwell(dwell)
        counts = read_packed_clicks(path, max_bytes=most)
        return _make_click_labels(counts, name, options), True, False
    if find_packed_ubi(path):
        counts = read_packed_ubi(path, min_dwell=dwell, max_bytes=most)
        return _make_click_labels(counts, name, options), True, True
    head = PeekableStream(path, name=upload.name).head
    is_ubi = bool(detect_ubi(head.decode("utf-8", "replace")))
    is_log = is_ubi or detect_kind(path, name=upload.name, max_bytes=most) == FileKind.CLICKS
    if not is_ubi:
        _refuse_dwell(dwell)
    with uploads.open_upload(upload, work) as feed:
        if is_log:
            counts = (
                read_ubi(feed, min_dwell=dwell, name=upload.name, max_bytes=most)
                if is_ubi
                else read_clicks(feed, name=upload.name, max_bytes=most)
            )
            return _make_click_labels(counts, name, options), True, is_ubi
        if detect_query_form(head) == "ratings":
            return read_ratings(feed, name=name), False, True
        return read_qrels(feed, name=name, lenient=bool(options.get("lenient"))), False, False


def _refuse_dwell(min_dwell: float) -> None:
    if min_dwell:
        raise Refused(
            _(
                "The file does not contain UBI events, so it has no dwell times. Leave the minimum dwell "
                "time empty."
            )
        )


def _make_click_labels(counts: ClickCounts, name: str, options: dict[str, Any]) -> QrelsColumns:
    """Convert a click log to labels by the selected rule."""
    model = options.get("click_model") or "dctr"
    try:
        grades = make_click_labels(
            counts, model, thresholds=options.get("thresholds") or None, name=name
        )
    except ValueError as error:
        raise Refused(str(error)) from None
    warnings = [
        *counts.warnings,
        (
            f"labels from clicks by {model}: {format_count(counts.n_sessions, 'session')}, "
            f"{format_count(int(counts.clicks.sum()), 'click')}"
        ),
    ]
    return replace(grades, warnings=[*grades.warnings, *warnings])


def describe_grades(
    grades: QrelsColumns, collection: Collection, **coming: Any
) -> tuple[dict[str, int], dict[str, int], list[str]]:
    """Describe the grades of qrels for the report. Returns (pairs per grade, facts, warnings).
    coming: as for `check_ids`."""
    values, counts = np.unique(grades.grades, return_counts=True)
    histogram = {
        str(value): int(count)
        for value, count in zip(values.tolist(), counts.tolist(), strict=True)
    }
    facts, warnings = check_ids(
        grades, collection, documents=np.unique(grades.documents), what="documents", **coming
    )
    if 0 not in values:
        warnings.append(
            "no pair has grade 0, so every pair is relevant from grade 1; if the lowest grade is 1, "
            "choose a higher minimum relevant grade"
        )
    if values.size and values[0] < 0:
        warnings.append(
            f"{format_count(int(counts[values < 0].sum()), 'pair', 'has', 'have')} a negative grade: "
            f"pooled but unjudged"
        )
    return histogram, facts, warnings


def make_qrels_row(
    collection: Collection,
    grades_read: QrelsColumns,
    *,
    file: str,
    columns: str,
    digest: str,
    grades: dict[str, int],
    warnings: list[str],
) -> Qrels:
    """Return the unsaved row of stored qrels. grades: grade -> number of pairs."""
    return Qrels(
        collection=collection,
        name=grades_read.name,
        source_name=file,
        columns=columns,
        digest=digest,
        n_rows=len(grades_read),
        n_topics=len(grades_read.topics),
        grades=grades,
        warnings=warnings,
    )


def load_grades(qrels: Qrels) -> QrelsColumns:
    """Load the grades of stored qrels, named as in the collection."""
    return replace(load_qrels(qrels.columns.path), name=qrels.name)


def delete_qrels(qrels: Qrels) -> None:
    with transaction.atomic():
        name = qrels.columns.name
        qrels.delete()
        transaction.on_commit(lambda: default_storage.delete(name))

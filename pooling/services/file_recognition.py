"""Recognise uploaded files by content, and ask the user if the kind is uncertain."""

from __future__ import annotations

from typing import Any, NamedTuple

from django.conf import settings
from django.core.files.base import File
from django.utils.translation import gettext as _

from assay.formats.detect import FileKind, guess_kind
from assay.formats.errors import FormatError
from pooling.models import Collection, Upload
from pooling.platform.jobs import Refused
from pooling.services import uploads

RECOGNISE_KIND = "recognise"
"""Value of the kind for a file that is to be recognised."""
UPLOAD_KINDS = {FileKind.CLICKS: Upload.Kind.QRELS, FileKind.POOL: Upload.Kind.SET} | {
    FileKind(kind): kind
    for kind in (
        Upload.Kind.TOPICS,
        Upload.Kind.DOCUMENTS,
        Upload.Kind.RUN,
        Upload.Kind.QRELS,
        Upload.Kind.SET,
    )
}
"""Kind of a file -> kind of upload that imports it. Judgements are used in reports and not listed.
"""
IMPORT_ORDER: list[str] = [
    Upload.Kind.TOPICS,
    Upload.Kind.DOCUMENTS,
    Upload.Kind.SET,
    Upload.Kind.RUN,
    Upload.Kind.QRELS,
]
"""Order of import. Files that refer to others come later: IDs of runs and qrels are searched in
topics and documents."""


class RecognisedUpload(NamedTuple):
    """An upload whose kind was recognised.

    sure: no other kind is possible. Otherwise a person must confirm the kind after an inspection.
    others: other possible kinds.
    """

    upload: Upload
    sure: bool
    others: list[str]


def receive_recognised(
    collection: Collection, *, file: File, name: str, user: Any
) -> RecognisedUpload:
    """Store an uploaded file under its recognised kind. Raises Refused with a hint if its content
    is of no kind that a collection imports."""
    kept = uploads.store_upload(
        collection, kind=Upload.Kind.TOPICS, file=file, name=name, user=user
    )
    try:
        kind, sure, others = _recognise_kind(kept)
    except Refused:
        uploads.delete_upload(kept, keep_file=False)
        raise
    if kind != kept.kind:
        kept.kind = kind
        kept.save(update_fields=["kind"])
    return RecognisedUpload(kept, sure, others)


def _recognise_kind(upload: Upload) -> tuple[str, bool, list[str]]:
    try:
        guessed = guess_kind(
            upload.file.path, name=upload.name, max_bytes=settings.MAX_UNPACKED_BYTES
        )
    except FormatError as error:
        first = error.problems[0]
        raise Refused(
            _("%(upload)s is %(problem)s. Upload %(expected)s.")
            % {"upload": upload.name, "problem": first.problem, "expected": first.expected}
        ) from None
    taken = list(
        dict.fromkeys(UPLOAD_KINDS[kind] for kind in guessed.kinds if kind in UPLOAD_KINDS)
    )
    if not guessed.kinds:
        says = _(
            "Assay could not recognise the type of %(upload)s. Choose topics, documents, run, "
            "qrels, clicks or set under “File type”, or convert the file to one of the formats "
            "listed there."
        )
        raise Refused(says % {"upload": upload.name})
    if not taken:
        says = _(
            "%(upload)s looks like %(kind)s. %(elsewhere)s If it is something else, choose its "
            "type under “File type”, or convert it to one of the formats listed there."
        )
        kind = guessed.kinds[0]
        raise Refused(
            says
            % {
                "upload": upload.name,
                "kind": uploads.KIND_DESCRIPTIONS.get(kind, kind),
                "elsewhere": uploads.OTHER_KIND_HINTS[kind],
            }
        )
    # A click log is imported as qrels only, so two kinds with the same import leave no doubt.
    return taken[0], guessed.sure and len(taken) == 1, [str(kind) for kind in taken[1:]]

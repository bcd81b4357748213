"""Files that come without a word of what they are: recognised by their content, and asked about
where that leaves a doubt."""

from __future__ import annotations

from typing import Any, NamedTuple

from django.conf import settings
from django.core.files.base import File
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from assay.formats.detect import FileKind, guess_kind
from assay.formats.errors import FormatError
from pooling.models import Collection, Upload
from pooling.platform.jobs import Refused
from pooling.services import uploads

RECOGNISE_KIND = "recognise"
"""In place of a kind: look into the file."""
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
"""Kind of a file -> the kind of upload that takes it in. Judgements are for reports, so they are
not here."""
IMPORT_ORDER: list[str] = [
    Upload.Kind.TOPICS,
    Upload.Kind.DOCUMENTS,
    Upload.Kind.SET,
    Upload.Kind.RUN,
    Upload.Kind.QRELS,
]
"""What refers to other files comes behind them: ids of runs and qrels are looked for in topics and
documents."""
CHOOSE_KIND_HINT = gettext_lazy(
    "choose its type under “File type”, or convert it to one of the formats listed there"
)


class RecognisedUpload(NamedTuple):
    """sure: its content can be nothing else; if not, it should be inspected and shown to a person.
    others: kinds that it may be, too."""

    upload: Upload
    sure: bool
    others: list[str]


def receive_recognised(
    collection: Collection, *, file: File, name: str, user: Any
) -> RecognisedUpload:
    """Keep an uploaded file under the kind that its content shows. Refused with the way out where
    it shows none that a collection takes."""
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
            _("%(upload)s is %(problem)s; upload %(expected)s")
            % {"upload": upload.name, "problem": first.problem, "expected": first.expected}
        ) from None
    taken = list(
        dict.fromkeys(UPLOAD_KINDS[kind] for kind in guessed.kinds if kind in UPLOAD_KINDS)
    )
    if not guessed.kinds:
        says = _(
            "the type of %(upload)s was not recognised (topics, documents, run, qrels, "
            "clicks or set): %(way_out)s"
        )
        raise Refused(says % {"upload": upload.name, "way_out": CHOOSE_KIND_HINT})
    if not taken:
        says = _("%(upload)s looks like %(kind)s: %(elsewhere)s; or %(way_out)s")
        kind = guessed.kinds[0]
        raise Refused(
            says
            % {
                "upload": upload.name,
                "kind": uploads.KIND_DESCRIPTIONS.get(kind, kind),
                "elsewhere": uploads.OTHER_KIND_HINTS[kind],
                "way_out": CHOOSE_KIND_HINT,
            }
        )
    # A log of clicks is taken as qrels and as nothing else, so two names of one kind leave no
    # doubt.
    return taken[0], guessed.sure and len(taken) == 1, [str(kind) for kind in taken[1:]]

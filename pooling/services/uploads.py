"""Uploaded files before import: received in bounded memory, then inspected, imported or discarded
by a job."""

from __future__ import annotations

import io
import shutil
import unicodedata
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import wraps
from pathlib import PurePosixPath
from typing import Any, BinaryIO, NamedTuple

from django.conf import settings
from django.core.files.base import File
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import QuerySet, Sum
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from assay.formats.detect import FileKind, conflicting_kind
from assay.formats.errors import FormatError
from assay.formats.runs import add_line_texts
from assay.formats.streams import iterate_pieces
from pooling.models import Collection, DocumentFile, Job, Upload
from pooling.platform import jobs
from pooling.platform.jobs import ClaimedJob, MalformedRequest, Refused

SUFFIXES = {
    *[".gz", ".bz2", ".xz", ".zst", ".zip", ".tar", ".tgz"],
    *[
        ".tsv",
        ".txt",
        ".csv",
        ".json",
        ".jsonl",
        ".xml",
        ".trec",
        ".run",
        ".qrels",
        ".qrel",
        ".sgml",
    ],
}
KEPT_FOR = timedelta(days=14)
"""How long an uploaded file is kept without being imported."""
MODES = ("inspect", "careful", "import")
"""inspect: report only. careful: import unless a person should decide first. import: import."""


def safe_name(name: str) -> str:
    """Return the file's name without folders, control and direction characters, at most 200
    characters long and never empty."""
    last = unicodedata.normalize("NFC", name).replace("\\", "/").rsplit("/", 1)[-1]
    clean = (
        "".join(c for c in last if c.isprintable() and unicodedata.category(c) != "Cf")
        .strip()
        .strip(".")
    )
    if len(clean) > 200:
        clean = clean[:180] + clean[-20:]
    return clean or "file"


def check_upload_size(n_bytes: int, user: Any) -> None:
    """Refuse an upload before it is received if it exceeds a limit of the installation, its disk or
    the user."""
    if n_bytes > settings.MAX_UPLOAD_BYTES:
        says = _(
            "The file has %(n_bytes)s bytes, but this installation accepts at most %(most)s "
            "(ASSAY_MAX_UPLOAD_MB)."
        )
        raise Refused(says % {"n_bytes": f"{n_bytes:,}", "most": f"{settings.MAX_UPLOAD_BYTES:,}"})
    settings.MEDIA_ROOT.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(settings.MEDIA_ROOT).free
    if n_bytes + 100_000_000 > free:
        raise Refused(
            _("The server does not have enough disk space for this file. Ask an administrator.")
        )
    if user is not None and user.is_authenticated and settings.WAITING_BYTES_PER_PERSON:
        waiting = Upload.objects.filter(created_by=user).aggregate(n=Sum("n_bytes"))["n"] or 0
        if waiting + n_bytes > settings.WAITING_BYTES_PER_PERSON:
            says = _(
                "Your uploads waiting for a decision take up %(waiting)s bytes, or %(whole)s with this "
                "file. The maximum per user is %(most)s bytes (ASSAY_MAX_WAITING_MB). Import or discard "
                "some of them first."
            )
            figures = {
                "waiting": waiting,
                "whole": waiting + n_bytes,
                "most": settings.WAITING_BYTES_PER_PERSON,
            }
            raise Refused(says % {name: f"{n:,}" for name, n in figures.items()})


def store_upload(collection: Collection, *, kind: str, file: File, name: str, user: Any) -> Upload:
    """Store an uploaded file until a job has read it. The stored name is generated and never the
    user's."""
    if kind not in Upload.Kind.values:
        raise MalformedRequest(
            _("Unknown file type %(kind)s. Choose one of %(values)s.")
            % {"kind": repr(kind), "values": ", ".join(Upload.Kind.values)}
        )
    shown = safe_name(name)
    if not file.size:
        raise MalformedRequest(_("%(file)s is empty.") % {"file": shown})
    check_upload_size(file.size, user)
    discard_old_uploads(collection)
    endings = [s for s in PurePosixPath(shown.lower()).suffixes[-2:] if s in SUFFIXES]
    upload = Upload(collection=collection, kind=kind, name=shown, n_bytes=file.size)
    upload.created_by = user if user is not None and user.is_authenticated else None
    upload.file.save(uuid.uuid4().hex + "".join(endings), file, save=False)
    try:
        upload.save()
    except BaseException:
        default_storage.delete(upload.file.name)
        raise
    return upload


def discard_upload(upload: Upload) -> None:
    """Discard a waiting file. Raises Refused while a job reads it."""
    if Job.objects.filter(
        collection=upload.collection, parameters__upload=upload.pk, state=Job.State.RUNNING
    ).exists():
        raise Refused(
            _("%(upload)s is being read. Cancel the job first.") % {"upload": upload.name}
        )
    delete_upload(upload, keep_file=False)


def dismiss_refused(collection: Collection, pk: int | None = None) -> int:
    """Hide refused files of a collection, or one of them. Their jobs stay in the list of background
    work. Returns the number hidden."""
    rows = get_refused_jobs(collection)
    chosen = list(rows if pk is None else rows.filter(pk=pk))
    for job in chosen:
        job.report = {**job.report, "dismissed": True}
        job.save(update_fields=["report"])
    return len(chosen)


def get_refused_jobs(collection: Collection) -> QuerySet[Job]:
    """Return failed imports of the last days that are not hidden, newest first."""
    imports = collection.jobs.filter(
        kind__startswith="import ",
        state=Job.State.FAILED,
        created_at__gte=timezone.now() - KEPT_FOR,
    )
    return imports.exclude(report__has_key="dismissed").order_by("-created_at")


def discard_old_uploads(collection: Collection) -> None:
    for upload in collection.uploads.filter(created_at__lt=timezone.now() - KEPT_FOR):
        delete_upload(upload, keep_file=False)


def delete_upload(upload: Upload, *, keep_file: bool) -> None:
    """Delete the row and, after commit, the file, unless the collection keeps it under another row."""
    name = upload.file.name
    Upload.objects.filter(pk=upload.pk).delete()
    if not keep_file:
        transaction.on_commit(lambda: default_storage.delete(name))


def request_import(upload: Upload, *, mode: str, options: dict[str, Any], user: Any) -> Job:
    """Queue the job that inspects or imports the file. Raises Refused while another job has it."""
    if mode not in MODES:
        raise MalformedRequest(
            _("Unknown import mode %(mode)s. Choose one of %(modes)s.")
            % {"mode": repr(mode), "modes": ", ".join(MODES)}
        )
    busy = Job.objects.filter(
        collection=upload.collection, parameters__upload=upload.pk, state__in=Job.ACTIVE
    )
    if busy.exists():
        raise Refused(
            _("%(upload)s is already being read. Wait until the job has finished.")
            % {"upload": upload.name}
        )
    words = "Inspect" if mode == "inspect" else "Import"
    return jobs.enqueue(
        f"import {upload.kind}",
        {
            "upload": upload.pk,
            "mode": mode,
            "size": upload.n_bytes,
            "file": upload.name,
            "options": options,
        },
        label=f"{words} the {KIND_WORDS[upload.kind]} {upload.name}",
        user=user,
        collection=upload.collection,
    )


KIND_WORDS = {
    "topics": "topics of",
    "documents": "documents of",
    "run": "run",
    "qrels": "qrels",
    "set": "set",
}
KIND_DESCRIPTIONS = {
    FileKind.RUN: "a run",
    FileKind.SET: "a set",
    FileKind.POOL: "a pool of pairs",
    FileKind.CLICKS: "a click log",
    FileKind.LEADERBOARD: "a leaderboard",
    FileKind.NUGGETS: "a file of nuggets",
    FileKind.RUBRICS: "a file of rubrics",
    FileKind.ANSWERS: "a file of answers",
} | {FileKind.LLM_LABELS: "LLM labels"}
"""Descriptions of kinds of files in sentences, if different from their names."""
OTHER_KIND_HINTS = {
    FileKind.JUDGEMENTS: gettext_lazy(
        "Judgement files can be used in reports and on the command line, but not in a collection."
    ),
    FileKind.POOL: "Import a list of pairs as a set.",
    FileKind.CLICKS: "Import it as qrels, with labels made from the clicks?",
    FileKind.LLM_LABELS: gettext_lazy("Import LLM labels on a campaign's LLM judges page."),
    FileKind.LEADERBOARD: gettext_lazy("Upload the runs, and Assay computes their scores."),
    FileKind.NUGGETS: gettext_lazy("Assay can't import this type of file yet."),
    FileKind.RUBRICS: gettext_lazy("Assay can't import this type of file yet."),
    FileKind.ANSWERS: gettext_lazy("Assay can't import this type of file yet."),
}
"""Hints for files that a collection does not import."""
IMPORT_COMMANDS = {
    "topics": "import_topics",
    "documents": "import_documents",
    "run": "import_run",
    "qrels": "import_qrels",
    "set": "import_set",
}


def import_decided_upload(upload: Upload, *, user: Any, kind: str = "", tag: str = "") -> Job:
    """Import a waiting file as decided: unchanged, as another kind, or under another tag. Returns
    the queued job."""
    options = get_last_options(upload)
    if kind and kind != upload.kind:
        if kind not in Upload.Kind.values:
            raise MalformedRequest(
                _("Unknown file type %(kind)s. Choose one of %(values)s.")
                % {"kind": repr(kind), "values": ", ".join(Upload.Kind.values)}
            )
        if Job.objects.filter(
            collection=upload.collection, parameters__upload=upload.pk, state__in=Job.ACTIVE
        ).exists():
            raise Refused(
                _("%(upload)s is already being read. Wait until the job has finished.")
                % {"upload": upload.name}
            )
        upload.kind = kind
        upload.save(update_fields=["kind"])
        return request_import(upload, mode="careful", options={"kind_confirmed": True}, user=user)
    options |= {"kind_confirmed": True} | ({"tag": tag.strip()} if tag.strip() else {})
    return request_import(
        upload, mode="careful" if tag.strip() else "import", options=options, user=user
    )


def make_doubt_report(upload: Upload) -> dict[str, Any] | None:
    """Return the report of a file that is surely of another kind than stated and waits for a
    decision, otherwise None."""
    try:
        other = conflicting_kind(
            upload.file.path, upload.kind, name=upload.name, max_bytes=settings.MAX_UNPACKED_BYTES
        )
    except FormatError:
        return None  # the reader reports the problem and its line
    if other is None or (other, upload.kind) == (
        FileKind.POOL,
        FileKind.SET,
    ):  # a list of pairs is a set, too
        return None
    taken = FileKind.QRELS if other == FileKind.CLICKS else other
    looks = f"This looks like {KIND_DESCRIPTIONS.get(other, other)}, not {KIND_DESCRIPTIONS.get(FileKind(upload.kind), upload.kind)}"
    way = OTHER_KIND_HINTS.get(other, f"Import it as {other}?")
    sentence = f"{looks}. {way}"
    return {
        "file": upload.name,
        "facts": {},
        "warnings": [sentence],
        "hold": [sentence],
        "stored": False,
        "upload": upload.pk,
        "looks_like": taken if taken in Upload.Kind.values else "",
        "brought_as": upload.kind,
    }


def get_upload(work: ClaimedJob) -> Upload:
    """Return the uploaded file that the job reads."""
    upload = (
        Upload.objects.select_related("collection").filter(pk=work.parameters["upload"]).first()
    )
    if upload is None:
        raise Refused(_("The file has already been imported or discarded."))
    return upload


def import_job(
    function: Callable[[ClaimedJob], dict[str, Any]],
) -> Callable[[ClaimedJob], dict[str, Any]]:
    """Wrap the function of an import job, so that it asks about a file of another kind, and deletes
    the upload if the file is refused."""

    @wraps(function)
    def import_or_forget(work: ClaimedJob) -> dict[str, Any]:
        try:
            asked = (
                None
                if work.parameters["options"].get("kind_confirmed")
                else make_doubt_report(get_upload(work))
            )
            return asked or function(work)
        except (FormatError, Refused):
            work.progress(now=True)  # not if another worker has taken the job over
            for upload in Upload.objects.filter(pk=work.parameters["upload"]):
                delete_upload(upload, keep_file=False)
            raise

    return import_or_forget


def can_proceed(
    work: ClaimedJob, report: dict[str, Any], *, hold: list[str], settled: bool = True
) -> bool:
    """Return whether the job may store what it has read, and record it in the report.

    hold: warnings that require a decision. settled: False if the content cannot be stored before a
    person changes something, whatever the mode.
    """
    mode = work.parameters["mode"]
    stored = settled and (mode == "import" or (mode == "careful" and not hold))
    report.update(stored=stored, hold=hold, upload=None if stored else work.parameters["upload"])
    return stored


class ProgressReader(io.RawIOBase):
    """A reader of the unpacked bytes of a file, which counts them as progress of a job: rows, and
    bytes of the uploaded file."""

    def __init__(self, path: str, *, name: str, work: ClaimedJob, counts_rows: bool) -> None:
        self.packed: BinaryIO = open(path, "rb", buffering=0)  # type: ignore[assignment]  # noqa: SIM115  closed by close()
        self.unpacked: Iterator[bytes] = iterate_pieces(
            self.packed, name=name, max_bytes=settings.MAX_UNPACKED_BYTES
        )
        self.name, self.work, self.counts_rows, self.rows, self.rest = (
            name,
            work,
            counts_rows,
            0,
            b"",
        )

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        piece = self.rest or next(self.unpacked, b"")
        if 0 <= size < len(piece):
            piece, self.rest = piece[:size], piece[size:]
        else:
            self.rest = b""
        if self.counts_rows:
            self.rows += piece.count(b"\n")
        self.work.progress(self.rows if self.counts_rows else None, n_bytes=self.packed.tell())
        return piece

    def close(self) -> None:
        self.packed.close()
        super().close()


class UnpackedPart(NamedTuple):
    """A file of a set, unpacked under an internal name. name: shown in messages."""

    path: str
    name: str


@contextmanager
def open_upload(
    source: Upload | DocumentFile | UnpackedPart,
    work: ClaimedJob,
    *,
    archives: bool = False,
    counts_rows: bool = True,
) -> Iterator[Any]:
    """Open the file's content. FormatErrors raised in the block get the text of the lines that they
    name.

    archives: pass the path of a zip archive, which cannot be read sequentially. counts_rows: count its
    lines as the job's progress.
    """
    path = source.path if isinstance(source, UnpackedPart) else source.file.path
    with open(path, "rb") as begin:
        zipped = archives and begin.read(4) == b"PK\x03\x04"
    feed = (
        None
        if zipped
        else ProgressReader(path, name=source.name, work=work, counts_rows=counts_rows)
    )
    try:
        yield path if feed is None else feed
    except FormatError as error:
        try:
            problems = error.problems if zipped else add_line_texts(error.problems, path)
        except FormatError:
            problems = error.problems
        raise FormatError(source.name, problems, error.count) from None
    finally:
        if feed is not None:
            feed.close()


def get_last_options(upload: Upload) -> dict[str, Any]:
    """Return the import options of the uploaded file's last inspection."""
    last = (
        Job.objects.filter(collection=upload.collection_id, parameters__upload=upload.pk)
        .order_by("-created_at")
        .first()
    )
    return dict(last.parameters.get("options", {})) if last else {}


def list_waiting_uploads(collection: Collection) -> list[Upload]:
    """Return uploads that no job is processing."""
    states = Job.ACTIVE
    busy = set(
        Job.objects.filter(collection=collection, state__in=states).values_list(
            "parameters__upload", flat=True
        )
    )
    return [upload for upload in collection.uploads.all() if upload.pk not in busy]

"""Protection of annotators from large imports on SQLite, which has a single writer: during a large
transaction every judgement waits.

A large import is therefore refused while annotators judge, unless the user overrides this. On
PostgreSQL judgements do not wait.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from typing import BinaryIO

from django.db import connection
from django.db.models import Exists, OuterRef
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import Campaign, Judgement, Membership
from assay.formats.archives import ARCHIVE_ERRORS
from assay.formats.errors import FormatError
from assay.formats.streams import PIECE_BYTES, iterate_pieces
from pooling.platform.jobs import Refused

RECENT_PERIOD = timedelta(minutes=2)
"""Judging counts as active for this time after a judgement."""
LARGE_LINES, LARGE_BYTES = 4_000, 4_000_000
"""Size of an uncompressed file from which an import blocks the writer for longer than annotators
should wait (docs/evidence/reliability.md)."""
UNREADABLE_ERRORS = (FormatError, OSError, *ARCHIVE_ERRORS)
FORCE_HELP = "import into SQLite even during judging; judgements wait until the import has finished"
FORCE_OPTION_HINT = "To import it now, add --force."
FORCE_CHECKBOX_HINT = gettext_lazy(
    "To import it now, select “Import while annotators are judging”."
)


def has_one_writer() -> bool:
    """Return whether judgements wait for the large transactions of others."""
    return connection.vendor == "sqlite"


def is_judging_active() -> bool:
    """Return whether an open campaign has received a judgement recently."""
    lately = Judgement.objects.filter(
        membership=OuterRef("pk"), judged_at__gte=timezone.now() - RECENT_PERIOD
    )
    return Membership.objects.filter(Exists(lately), campaign__state=Campaign.State.OPEN).exists()


def check_import(source: str | BinaryIO, *, name: str, anyway: bool, way: str) -> None:
    """Raise Refused if the import of this file would block annotators. source: a path, or an open
    file, which is rewound. way: the sentence that says how to override the check."""
    if anyway or not has_one_writer() or not is_judging_active() or not is_large_file(source):
        return
    says = _(
        "Annotators are judging, and with an SQLite database their judgements would have to "
        "wait while %(name)s is imported. Import it after %(minutes)s minutes without judgements."
    )
    raise Refused(f"{says % {'name': name, 'minutes': RECENT_PERIOD.seconds // 60}} {way}")


def is_large_file(source: str | BinaryIO) -> bool:
    """Return whether the file is large by its lines and uncompressed bytes. Reads no more than
    necessary. An unreadable file counts as small, and its reader reports the error."""
    if source == "-":  # can be read only once
        return True
    lines = n_bytes = 0
    try:
        with ExitStack() as open_files:
            for piece in _iterate_unpacked(source, open_files):
                lines, n_bytes = lines + piece.count(b"\n"), n_bytes + len(piece)
                if lines >= LARGE_LINES or n_bytes >= LARGE_BYTES:
                    return True
    except UNREADABLE_ERRORS:
        return False
    finally:
        if not isinstance(source, str):
            source.seek(0)
    return False


def _iterate_unpacked(source: str | BinaryIO, open_files: ExitStack) -> Iterator[bytes]:
    if not zipfile.is_zipfile(source):
        if not isinstance(source, str):
            source.seek(0)
        yield from iterate_pieces(source)
        return
    archive = open_files.enter_context(zipfile.ZipFile(source))
    for info in archive.infolist():
        part = open_files.enter_context(archive.open(info))
        while block := part.read(PIECE_BYTES):
            yield block

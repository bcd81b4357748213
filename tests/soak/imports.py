"""A fault in which a release is imported while people judge."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from tests.soak.place import N_RELEASE, Place
from tests.soak.trouble import Trouble

RELEASE = frozenset({"release"})


@contextmanager
def release_imported(place: Place) -> Iterator[str]:
    """Import a release. On SQLite the import is refused with the reason."""
    status, text = place.manage("import_campaign", str(place.release))
    if place.vendor == "sqlite":
        if status != 2 or "annotators are judging" not in text or "--force" not in text:
            raise AssertionError(
                f"a large release was not refused while people judge: {status} {text}"
            )
        yield "refused with the reason"
        return
    if status:
        raise AssertionError(text)
    yield f"{N_RELEASE:,} judgements imported"


@contextmanager
def release_imported_anyway(place: Place) -> Iterator[str]:
    began = time.monotonic()
    status, text = place.manage("import_campaign", str(place.release), "--force")
    if status:
        raise AssertionError(text)
    yield f"{N_RELEASE:,} judgements imported by a command of {time.monotonic() - began:.0f} s"


TROUBLES = [
    Trouble("release-imported", release_imported, (1, 1), needs=RELEASE, unnoticed=True),
    Trouble("release-imported-anyway", release_imported_anyway, (1, 1), ("sqlite",), needs=RELEASE),
]

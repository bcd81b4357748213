"""A stand-in for the printing of pictures, which takes matplotlib half a second each.

Tests get it unless their module has `PRINTS_PICTURES = True` or they use the fixture
`real_pictures` (tests/conftest.py)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from assay.charts.printed import parts_of, printed, title_of

USED_BY = ("assay.charts.printed", "analysis.systems.figures", "analysis.studies.folder")
"""Modules in which the function is looked up by its name."""
UNIQUE = re.compile(r"\bp\d+[a-z]\b")
"""Ids of a picture's parts, which no other picture of a page has."""
BEGINNINGS = {"pdf": "%PDF-", "svg": "<?xml", "png": "\x89PNG"}


@contextmanager
def real_pictures() -> Iterator[None]:
    """Pictures are printed as in production."""
    with pytest.MonkeyPatch.context() as patch:
        for name in USED_BY:
            patch.setattr(f"{name}.printed", printed)
        yield


def sketched(figure: str, *, titled: bool = True) -> dict[str, bytes]:
    """The files that `assay.charts.printed.printed` makes, holding the description of the picture.
    Raises Nothing for a figure without a picture."""
    parts_of(figure)
    description = UNIQUE.sub("", figure)
    content = f"{title_of(figure) if titled else ''}\n{description}"
    return {
        kind: beginning.encode("latin-1") + content.encode()
        for kind, beginning in BEGINNINGS.items()
    }

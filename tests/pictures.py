"""A stand-in for the printing of pictures, which takes matplotlib half a second each.

Tests get it unless their module has `PRINTS_PICTURES = True` or they use the fixture
`real_pictures` (tests/conftest.py)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

import pytest

from assay.charts.print_files import figure_parts, figure_title, render_files

USED_BY = ("assay.charts.print_files", "analysis.systems.figures", "analysis.studies.folder")
"""Modules in which the function is looked up by its name."""
UNIQUE = re.compile(r"\bp\d+[a-z]\b")
"""Ids of a picture's parts, which no other picture of a page has."""
BEGINNINGS = {"pdf": "%PDF-", "svg": "<?xml", "png": "\x89PNG"}


def real_pictures() -> AbstractContextManager[None]:
    """Pictures are printed as in production."""
    return _printed_by(render_files)


def sketched_pictures() -> AbstractContextManager[None]:
    return _printed_by(sketched)


@contextmanager
def _printed_by(render: Callable[..., dict[str, bytes]]) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in USED_BY:
            patch.setattr(f"{name}.render_files", render)
        yield


def sketched(
    figure: str,
    *,
    titled: bool = True,
    inches: float | None = None,
    kinds: Sequence[str] = ("pdf", "svg", "png"),
    font: str | None = None,
) -> dict[str, bytes]:
    """The files that `assay.charts.print_files.render_files` makes, holding the description of the picture.
    Raises Nothing for a figure without a picture."""
    figure_parts(figure)
    description = UNIQUE.sub("", figure)
    content = f"{figure_title(figure) if titled else ''}\n{inches} {font}\n{description}"
    return {kind: BEGINNINGS[kind].encode("latin-1") + content.encode() for kind in kinds}

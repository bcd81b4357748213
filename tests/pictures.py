"""A replacement for the rendering of charts for print, which takes matplotlib half a second each.

Tests use it unless their module has `PRINTS_PICTURES = True` or they use the fixture
`real_pictures` (tests/conftest.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

import pytest

from assay.charts.print_files import figure_parts, figure_title, render_files

USED_BY = ("assay.charts.print_files", "analysis.systems.figures", "analysis.studies.folder")
"""Modules in which the replaced function is looked up by name."""
UNIQUE = re.compile(r"\bp\d+[a-z]\b")
"""IDs of a chart's elements, which are unique on a page."""
BEGINNINGS = {"pdf": "%PDF-", "svg": "<?xml", "png": "\x89PNG"}


def real_pictures() -> AbstractContextManager[None]:
    """Render charts for print as in production, for the duration of the context."""
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
    """Return files with the names that `assay.charts.print_files.render_files` would give, each
    containing the chart's description. Raises EmptyFigure for a figure without a chart."""
    figure_parts(figure)
    description = UNIQUE.sub("", figure)
    content = f"{figure_title(figure) if titled else ''}\n{inches} {font}\n{description}"
    return {kind: BEGINNINGS[kind].encode("latin-1") + content.encode() for kind in kinds}

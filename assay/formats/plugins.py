"""Find file formats added by other packages through entry points of the group `assay.formats`.

An entry point is called `KIND.SUFFIX`, where KIND is runs, qrels or judgements. It is a function
that takes a path and returns RunColumns, QrelsColumns or JudgementColumns. It reads every file of
this kind whose name ends in .SUFFIX, instead of the reader of text files.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

ENTRY_POINT_GROUP = "assay.formats"
TEXT_SUFFIXES = frozenset(
    {"", ".run", ".qrels", ".txt", ".tsv", ".csv", ".trec", ".gz", ".json", ".jsonl"}
)
"""Suffixes for which no entry point is searched."""


def find_plugin_reader(kind: str, path: Any) -> Callable[[str], Any] | None:
    """Return another package's reader for this file, or None."""
    if not isinstance(path, (str, os.PathLike)):
        return None
    suffix = Path(path).suffix.lower()
    return None if suffix in TEXT_SUFFIXES else _plugin_readers().get(f"{kind}{suffix}")


@cache
def _plugin_readers() -> dict[str, Callable[[str], Any]]:
    from importlib.metadata import (
        entry_points,
    )  # importing this is slow, and most files do not need it

    return {one.name.lower(): one.load() for one in entry_points(group=ENTRY_POINT_GROUP)}

"""Reading of lists uploaded with a report: a collection's document IDs, topic subsets, groups of
topics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.systems.kinds import ReportKind
from assay.file_paths import make_path
from assay.formats.errors import FormatError
from assay.formats.streams import iterate_lines, strip_suffixes

MAX_BYTES = 500_000_000
"""Maximum unpacked bytes of a list."""


def read_lists(kind: ReportKind, files: Mapping[str, Sequence[Any]]) -> dict[str, str]:
    """Read the files uploaded for each field of a kind of report. Files are binary, named, and
    possibly compressed.

    Returns text by path with one ID per line. Rows of a table are unchanged. Raises FormatError
    with file and line.
    """
    lists: dict[str, str] = {}
    taken: set[str] = set()
    for one in kind.fields:
        if one.kind == "list":
            for file in files.get(one.name, [])[:1]:
                lists[f"{one.name}.txt"] = read_ids(file, one_word=True)
        elif one.kind == "rows":
            for file in files.get(one.name, [])[:1]:
                lists[f"{one.name}.txt"] = read_rows(file)
        elif one.kind == "lists":
            for file in files.get(one.name, []):
                path = make_path("topics", strip_suffixes(file.name), ".txt", taken)
                lists[path] = read_ids(file, one_word=False)
    return lists


def read_rows(file: Any) -> str:
    texts = [
        text for _, text in iterate_lines(file, name=file.name, max_bytes=MAX_BYTES) if text.strip()
    ]
    if not texts:
        raise FormatError.single(file.name, None, "no rows", "one row per line")
    return "".join(f"{text}\n" for text in texts)


def read_ids(file: Any, *, one_word: bool) -> str:
    """Read the first word of each line of an uploaded list. one_word: refuse lines with several
    words."""
    first_words = []
    for number, text in iterate_lines(file, name=file.name, max_bytes=MAX_BYTES):
        words = text.split()
        if one_word and len(words) > 1:
            raise FormatError.single(
                file.name, number, f"{len(words)} words", "one document ID per line", text
            )
        first_words += words[:1]
    if not first_words:
        raise FormatError.single(file.name, None, "no IDs", "one ID per line")
    return "".join(f"{word}\n" for word in first_words)

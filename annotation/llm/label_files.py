"""Label files of LLM judges: qrels, TREC's six columns, or umbrela's lines with one judged passage
each.

    for label in read_label_file(path): ...
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

from assay.formats.llm_labels import has_six_columns, iterate_umbrela, list_llm_labels
from assay.formats.qrels import read_qrels
from assay.formats.streams import Source, display_name, iterate_lines


class FileLabel(NamedTuple):
    """A label read from a file. topic, document: IDs or, if `by_text`, the texts of query and
    passage.
    line: line number, None for qrels, whose pairs are identified by their IDs."""

    topic: str
    document: str
    grade: int
    reason: str
    line: int | None
    by_text: bool

    @property
    def where(self) -> str:
        """The label's line number or IDs, as text that follows the file name in messages."""
        return (
            f", topic {self.topic}, document {self.document}"
            if self.line is None
            else f":{self.line}"
        )


def read_label_file(path: Source, *, name: str | None = None) -> Iterator[FileLabel]:
    """Yield the labels of a file. Raises FormatError with line and reason if the file has neither
    format."""
    called = display_name(path, name)
    again = 0 if isinstance(path, (str, os.PathLike)) else path.tell()
    first = next(
        (
            text
            for _, text in iterate_lines(path, name=called)
            if text.strip() and not text.lstrip().startswith("#")
        ),
        "",
    )
    if not isinstance(path, (str, os.PathLike)):
        path.seek(again)
    if first.lstrip().startswith("{"):
        yield from _read_umbrela(path, called)
        return
    if has_six_columns(first):
        for one in list_llm_labels(path, name=called):
            yield FileLabel(
                one.topic, one.document, one.grade, f"confidence {one.confidence}", one.line, False
            )
        return
    qrels = read_qrels(path, name=called)
    for index, topic in enumerate(qrels.topics):
        rows = qrels.rows(index)
        for row in range(rows.start, rows.stop):
            yield FileLabel(
                topic, qrels.documents[row].decode("utf-8"), int(qrels.grades[row]), "", None, False
            )


def _read_umbrela(path: Source, name: str) -> Iterator[FileLabel]:
    for one in iterate_umbrela(path, name=name):
        if one.topic or one.document:
            yield FileLabel(one.topic, one.document, one.grade, one.reason, one.line, False)
        else:
            query, passage = _normalise_blanks(one.query), _normalise_blanks(one.passage)
            yield FileLabel(query, passage, one.grade, one.reason, one.line, True)


def _normalise_blanks(text: str) -> str:
    """Normalise white space, which prompts may change in a passage."""
    return " ".join(text.split())

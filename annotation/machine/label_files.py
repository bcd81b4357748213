"""Label files of LLM judges: qrels, TREC's six columns, or umbrela's lines with one judged passage
each.

    for label in read_label_file(path): ...
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import NamedTuple

from assay.formats.errors import FormatError
from assay.formats.machine_labels import has_six_columns, list_llm_labels
from assay.formats.qrels import read_qrels
from assay.formats.streams import Source, display_name, iterate_lines

EXPECTED_FORMS = 'qrels, six columns with a confidence, or lines such as {"query": "...", "passage": "...", "judgment": 2}'


class FileLabel(NamedTuple):
    """A label in a file. topic, document: IDs or, if `by_text`, the texts of query and passage.
    line: line number, None for qrels, whose pairs are identified by their IDs."""

    topic: str
    document: str
    grade: int
    reason: str
    line: int | None
    by_text: bool

    @property
    def where(self) -> str:
        """Position of the label, to follow the file name in messages."""
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
    for number, text in iterate_lines(path, name=name):
        if not text.strip():
            continue
        try:
            row = json.loads(text)
            grade, reason = (
                row["judgment"],
                str(row.get("reasoning") or row.get("prediction") or ""),
            )
            if isinstance(grade, bool) or not isinstance(grade, int):
                raise TypeError
            ids = [row.get(key) for key in ("qid", "docid")]
            if all(isinstance(one, (str, int)) for one in ids):
                yield FileLabel(str(ids[0]), str(ids[1]), grade, reason, number, False)
            else:
                yield FileLabel(
                    _normalise_blanks(row["query"]),
                    _normalise_blanks(row["passage"]),
                    grade,
                    reason,
                    number,
                    True,
                )
        except (ValueError, KeyError, TypeError, AttributeError):
            raise FormatError.single(
                name, number, "no labelled passage", EXPECTED_FORMS, text[:200]
            ) from None


def _normalise_blanks(text: str) -> str:
    """Normalise white space, which prompts may change in a passage."""
    return " ".join(text.split())

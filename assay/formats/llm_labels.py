"""Read labels of an LLM judge: TREC's six columns, `topic Q0 document grade confidence runid`, or
umbrela's JSON lines.

list_llm_labels(path) -> list[SixColumnLabel]          six columns
iterate_umbrela(path) -> Iterator[UmbrelaLabel]
read_llm_qrels(path) -> QrelsColumns             both, and plain qrels
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from assay.column_types import QrelsColumns
from assay.formats.delimited import FileProblems
from assay.formats.errors import FormatError
from assay.formats.prel import MAX_GRADE, WHOLE_PATTERN
from assay.formats.qrels import make_qrels, read_qrels
from assay.formats.streams import (
    PeekableStream,
    Source,
    display_name,
    is_valid_id,
    iterate_lines,
    strip_suffixes,
)

SIX_COLUMNS = "6 columns: topic Q0 document grade confidence runid"
UMBRELA_LINE = 'lines such as {"query": "...", "passage": "...", "judgment": 2}'
MIN_RANKS = 4
"""Minimum number of labels of a topic for which consecutive grades are considered the ranks of a
run."""


class SixColumnLabel(NamedTuple):
    """A line of TREC's six columns of an LLM judge's labels. run: the name of the LLM judge."""

    line: int
    topic: str
    document: str
    grade: int
    confidence: str
    run: str


class UmbrelaLabel(NamedTuple):
    """A labelled passage. topic, document: IDs, empty if the line has only the texts. reason: the
    LLM judge's explanation or answer."""

    line: int
    topic: str
    document: str
    query: str
    passage: str
    grade: int
    reason: str


def has_six_columns(first: str) -> bool:
    """Return whether the first line with content has the six columns, in contrast to plain
    qrels."""
    return len(first.split()) == 6


def list_llm_labels(path: Source, *, name: str | None = None) -> list[SixColumnLabel]:
    """Return the labels in file order. Blank lines and lines that begin with # are skipped. A grade
    of 2.0 is read as 2.

    Raises FormatError with all problems: another number of columns, a grade that is not a whole
    number, a confidence that is not a finite number, a repeated pair, labels of two LLM judges, the
    ranks of a run instead of grades, no lines.
    """
    file_name = display_name(path, name)
    mistakes = FileProblems(file_name)
    read: dict[tuple[str, str], SixColumnLabel] = {}
    for number, text in iterate_lines(path, name=file_name):
        cells = text.split()
        if not cells or cells[0].startswith("#"):
            continue
        if len(cells) != 6:
            mistakes.add(number, f"{len(cells)} columns", SIX_COLUMNS, text)
            continue
        topic, _, document, grade, confidence, run = cells
        whole = WHOLE_PATTERN.fullmatch(grade)
        if whole is None or abs(int(whole[1])) > MAX_GRADE:
            mistakes.add(number, f"{grade!r} is not a grade", "a whole number", text)
        elif not _is_finite_number(confidence):
            mistakes.add(
                number, f"{confidence!r} is not a confidence", "a number such as 0.9", text
            )
        elif (first := read.get((topic, document))) is not None:
            mistakes.add(
                number,
                f"duplicate document {document} for topic {topic} (first in line {first.line})",
                "each pair once",
                text,
            )
        elif read and run != next(iter(read.values())).run:
            mistakes.add(
                number, f"a second LLM judge, {run}", "labels of one LLM judge per file", text
            )
        else:
            read[topic, document] = SixColumnLabel(
                number, topic, document, int(whole[1]), confidence, run
            )
    if not mistakes.count and not read:
        mistakes.add(None, "no lines with labels", f"at least one line of {SIX_COLUMNS}")
    if not mistakes.count and _look_like_ranks(list(read.values())):
        mistakes.add(
            1,
            "the fourth column counts up within each topic, like the ranks of a run",
            SIX_COLUMNS,
        )
    mistakes.raise_if_any()
    return list(read.values())


def iterate_umbrela(path: Source, *, name: str | None = None) -> Iterator[UmbrelaLabel]:
    """Yield umbrela's results in file order. Raises FormatError for a line without `judgment`, or
    with neither IDs (`qid` and `docid`) nor texts (`query` and `passage`)."""
    file_name = display_name(path, name)
    for number, text in iterate_lines(path, name=file_name):
        if not text.strip():
            continue
        try:
            row = json.loads(text)
            grade = row["judgment"]
            if isinstance(grade, float) and grade.is_integer():
                grade = int(grade)
            if isinstance(grade, bool) or not isinstance(grade, int) or abs(grade) > MAX_GRADE:
                raise TypeError
            ids = [row.get(key) for key in ("qid", "docid")]
            if not all(map(is_valid_id, ids)):
                ids = ["", ""]
            query, passage = (row.get(key) for key in ("query", "passage"))
            if ids == ["", ""] and not (isinstance(query, str) and isinstance(passage, str)):
                raise TypeError
            reason = str(row.get("reasoning") or row.get("prediction") or "")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise FormatError.single(
                file_name, number, "no labelled passage", UMBRELA_LINE, text[:200]
            ) from None
        yield UmbrelaLabel(
            number, str(ids[0]), str(ids[1]), str(query or ""), str(passage or ""), grade, reason
        )


def read_llm_qrels(path: Source, *, name: str | None = None) -> QrelsColumns:
    """Return an LLM judge's labels as qrels, from TREC's six columns (without the confidence), from
    umbrela's lines with IDs, or from plain qrels."""
    file_name = display_name(path)
    again = isinstance(path, (str, os.PathLike)) and os.fspath(path) != "-"
    peeked = PeekableStream(path, name=file_name)
    head = peeked.head.decode("utf-8", "replace").splitlines()
    first = next((line for line in head if line.strip() and not line.lstrip().startswith("#")), "")
    source = path if again else peeked
    name = strip_suffixes(file_name) if name is None else name
    if first.lstrip().startswith("{") and '"judgment"' in first:
        return make_qrels(name, _list_umbrela_grades(source, file_name))
    if not has_six_columns(first):
        return read_qrels(source, name=name)
    labels = list_llm_labels(source)
    qrels = make_qrels(name, ((one.topic, one.document, one.grade) for one in labels))
    qrels.notes.append("six columns (LLM labels): the confidences were left out")
    return qrels


def _list_umbrela_grades(path: Source, file_name: str) -> list[tuple[str, str, int]]:
    mistakes = FileProblems(file_name)
    first: dict[tuple[str, str], int] = {}
    grades = []
    for one in iterate_umbrela(path, name=file_name):
        pair = (one.topic, one.document)
        if pair == ("", ""):
            mistakes.add(
                one.line,
                "a passage without IDs",
                "qid and docid, or import the file into a campaign",
            )
        elif first.setdefault(pair, one.line) != one.line:
            mistakes.add(
                one.line,
                f"duplicate document {one.document} for topic {one.topic} (first in line {first[pair]})",
                "each pair once",
            )
        grades.append((*pair, one.grade))
    mistakes.raise_if_any()
    return grades


def _is_finite_number(text: str) -> bool:
    try:
        return math.isfinite(float(text)) and "_" not in text
    except ValueError:
        return False


def _look_like_ranks(labels: list[SixColumnLabel]) -> bool:
    """Return whether every topic's grades count up from 0 or 1 in file order and some topic has at
    least MIN_RANKS labels."""
    longest = 0
    for _, group in groupby(labels, key=lambda one: one.topic):
        grades = [one.grade for one in group]
        if grades[0] not in (0, 1) or grades != list(range(grades[0], grades[0] + len(grades))):
            return False
        longest = max(longest, len(grades))
    return longest >= MIN_RANKS

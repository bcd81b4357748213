"""Read and write qrels: `topic Q0 document grade` (TREC), or `query-id corpus-id score` with a
header (BEIR).

`save_qrels` and `load_qrels` use the project's columnar storage.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import IO

import numpy as np
from numpy.typing import NDArray

from assay.column_types import QrelsColumns
from assay.formats import cells, numerals
from assay.formats.errors import FormatError
from assay.formats.growable_array import GrowableArray
from assay.formats.hints import add_hints
from assay.formats.packaged import dataset_id, iterate_dataset
from assay.formats.plugins import find_plugin_reader
from assay.formats.runs import add_line_texts
from assay.formats.storage import load_columns, save_columns
from assay.formats.streams import Source, display_name, iterate_blocks, strip_suffixes
from assay.formats.topic_column import TopicColumn
from assay.formats.unsupported import refuse_unsupported
from assay.number_words import format_count
from assay.ranking import expand_offsets, find_duplicates, group_rows, ids_to_words, to_big_endian

FOUR_COLUMNS = "4 columns: topic Q0 document grade"
FIVE_COLUMNS = f"{FOUR_COLUMNS}; five with a stratum are a sampled pool, which needs --sampled"
BEIR_COLUMNS = "3 columns: query-id corpus-id score"
SAMPLED_MARK = "# SAMPLED"
"""Start of the head line of qrels that contain the sampled pairs of a pool."""
SAMPLED_PATTERN = re.compile(rb"^[^\S\n]*+" + SAMPLED_MARK.encode(), re.MULTILINE)
SAMPLED_MESSAGE = "labels of a sampled pool: a measure would treat unsampled pairs as not relevant"
BEIR_HEADER = [b"query-id", b"corpus-id", b"score"]


def read_qrels(
    path: Source, *, name: str | None = None, lenient: bool = False, max_bytes: int | None = None
) -> QrelsColumns:
    """Read the grades of pairs. Documents of a topic are sorted by the bytes of their IDs, topics
    keep the order of first appearance.

    path: a file, or `irds:ID` for a data set of ir_datasets. name: name of the qrels, by default
    the file name without extensions. lenient: ignore additional columns. Any white space separates
    columns. The second TREC column may have any content. Blank lines and lines that begin with #
    are skipped. Negative grades are kept (in the pool, unjudged). 2.0 is read as 2.

    Raises FormatError with all problems of the file: a wrong number of columns, a grade that is not
    a 32-bit whole number, a pair with two different grades, an empty file, and what `streams`
    refuses. Warnings: a pair repeated with the same grade, and `lone_grade_warning`. Notes: comment
    lines and grades such as 2.0.
    """
    if identifier := dataset_id(path):
        rows = iterate_dataset(identifier, "qrels")
        return make_qrels(
            name or identifier, ((row.query_id, row.doc_id, row.relevance) for row in rows)
        )
    if reader := find_plugin_reader("qrels", path):
        added: QrelsColumns = reader(os.fspath(path))  # type: ignore[arg-type]
        return added if name is None else replace(added, name=name)
    file_name = display_name(path)
    reading = _QrelsBuilder(file_name, lenient=lenient)
    for first_line, n_lines, block in iterate_blocks(path, name=file_name, max_bytes=max_bytes):
        reading.add(first_line, n_lines, block)
    qrels = reading.finish(strip_suffixes(file_name) if name is None else name)
    if reading.problems.count:
        raise FormatError(
            file_name,
            add_hints(add_line_texts(reading.problems.first, path), lenient=lenient, of_run=False),
            reading.problems.count,
        )
    return qrels


class _QrelsBuilder:
    """Builder of the columns of one qrels file while it is read."""

    def __init__(self, file_name: str, *, lenient: bool) -> None:
        self.file_name, self.lenient = file_name, lenient
        self.problems = cells.ProblemList()
        self.n_columns = 0
        self.of_a_sample = self.five = self.six = False
        self.n_comments = self.n_decimals = 0
        self.topics = TopicColumn()
        self.words = GrowableArray(np.uint64)
        self.grades = GrowableArray(np.int32)
        self.lines = GrowableArray(np.int64)

    def skip_to_content(
        self, first_line: int, n_lines: int, block: bytes
    ) -> tuple[int, int, bytes]:
        """Skip blank lines, comments and a header, and set the number of columns from the first
        line with content. Returns (first_line, n_lines, block) of what remains. The block is empty
        if no line is left."""
        at, n_blank, n_comments = cells.find_first_content(block)
        n_marks = len(SAMPLED_PATTERN.findall(block, 0, at)) if n_comments else 0
        self.of_a_sample |= n_marks > 0
        self.n_comments += n_comments - n_marks
        block, first_line, n_lines = (
            block[at:],
            first_line + n_blank + n_comments,
            n_lines - n_blank - n_comments,
        )
        if not block:
            return first_line, n_lines, b""
        refuse_unsupported(block, self.file_name, "qrels")
        line, _, rest = block.partition(b"\n")
        if [token.lower() for token in line.split()][:3] != BEIR_HEADER:
            self.n_columns, self.five, self.six = 4, len(line.split()) == 5, len(line.split()) == 6
            return first_line, n_lines, block
        self.n_columns = 3
        return first_line + 1, n_lines - 1, rest

    def add(self, first_line: int, n_lines: int, block: bytes) -> None:
        if not self.n_columns:
            first_line, n_lines, block = self.skip_to_content(first_line, n_lines, block)
        if not block:
            return
        beir = self.n_columns == 3
        rows, _, n_comments = cells.find_rows(
            block,
            first_line,
            self.n_columns,
            self.problems,
            expected=BEIR_COLUMNS if beir else FIVE_COLUMNS if self.five else FOUR_COLUMNS,
            n_lines=n_lines,
            more_columns=self.lenient,
            comments=True,
        )
        self.n_comments += n_comments
        if not len(rows):
            return
        document, grade = (1, 2) if beir else (2, 3)
        grades, readable, n_decimals = numerals.parse_whole_numbers(rows, grade)
        self.n_decimals += n_decimals
        bad = ~readable
        self.problems.refuse(bad, rows, grade, "is not a grade", "a whole number")
        for column, what in ((0, "topic"), (document, "document")):
            long = rows.find_longer_tokens(column, cells.MAX_ID_BYTES)
            self.problems.refuse(
                long & ~bad,
                rows,
                column,
                f"is too long for a {what} ID",
                f"at most {cells.MAX_ID_BYTES} bytes",
            )
            bad |= long
        if bad.any():
            rows, grades = rows.exclude_rows(bad), grades[~bad]
            if not len(rows):
                return
        self.words.extend(cells.take_column(rows, document))
        self.grades.extend(grades)
        self.lines.extend(np.asarray(rows.lines, np.int64))
        self.topics.add(cells.take_column(rows, 0))

    def finish(self, name: str) -> QrelsColumns:
        n_rows = len(self.words)
        if not n_rows:
            if not self.problems.count:
                self.problems.add(
                    None, "no lines with grades", "at least one line `topic Q0 document grade`"
                )
            return make_empty_qrels(name)
        words, grades, lines = self.words.take(), self.grades.take()[:, 0], self.lines.take()[:, 0]
        topics = self.topics.ids
        offsets, grouping = self.topics.group_rows()
        if grouping is not None:
            words, grades, lines = words[grouping], grades[grouping], lines[grouping]
        warnings = [SAMPLED_MESSAGE] if self.of_a_sample else []
        notes = cells.skipped_comments_note(self.n_comments)
        if self.n_decimals:
            notes.append(
                f"grades written as decimals, such as 2.0, were read as whole numbers in "
                f"{format_count(self.n_decimals, 'line')}"
            )
        if self.six and self.lenient:
            warnings.append(
                "the lines have six columns, like those of a run; the fourth, the rank in a run, was read as the grade"
            )
        if repeated := find_duplicates(words, offsets):
            extra = np.array([row for row, _ in repeated])
            first = np.array([row for _, row in repeated])
            other = grades[extra] != grades[first]
            for row, before in sorted(
                zip(extra[other].tolist(), first[other].tolist(), strict=True),
                key=lambda pair: lines[pair[0]],
            ):
                document = words[row].tobytes().rstrip(b"\0").decode("utf-8")
                topic = topics[int(np.searchsorted(offsets, row, side="right")) - 1]
                text = (
                    f"document {document} of topic {topic} has grade {grades[row]} here and "
                    f"{grades[before]} in line {lines[before]}"
                )
                self.problems.add(int(lines[row]), text, "one grade per pair")
            if n_same := int((~other).sum()):
                warnings.append(
                    f"{n_same} pair{'s appear' if n_same > 1 else ' appears'} more than once with the same grade"
                )
            keep = np.ones(n_rows, bool)
            keep[extra] = False
            sizes = np.bincount(expand_offsets(offsets)[keep], minlength=len(topics))
            words, grades, offsets = (
                words[keep],
                grades[keep],
                np.concatenate(([0], np.cumsum(sizes))),
            )
            lines = lines[keep]
        qrels = replace(_sort_columns(name, topics, offsets, words, grades, warnings), notes=notes)
        if lone := lone_grade_warning(qrels):
            qrels.warnings.append(f"line {lines[grades.argmax()]}: {lone}")
        return qrels


def lone_grade_warning(qrels: QrelsColumns) -> str:
    """Return a warning if the highest grade occurs once and is at least two above all others, for
    example a 1 and a 0 typed together. Otherwise return an empty string."""
    if len(qrels) < 2:
        return ""
    second, highest = np.partition(qrels.grades, -2)[-2:].tolist()
    if highest < max(second, 0) + 2:
        return ""
    row = int(qrels.grades.argmax())
    topic = qrels.topics[int(np.searchsorted(qrels.offsets, row, side="right")) - 1]
    pair = f"document {qrels.documents[row].decode('utf-8')} of topic {topic}"
    return (
        f"only {pair} has grade {highest}; every other grade is at most {second}. If this is "
        "a typing error, ERR and nDCG are wrong"
    )


def make_empty_qrels(name: str) -> QrelsColumns:
    return QrelsColumns(
        name=name,
        topics=[],
        offsets=np.zeros(1, np.int64),
        documents=np.empty(0, "S8"),
        grades=np.empty(0, np.int32),
    )


def _sort_columns(
    name: str,
    topics: list[str],
    offsets: NDArray[np.int64],
    words: NDArray[np.uint64],
    grades: NDArray[np.int32],
    warnings: list[str],
) -> QrelsColumns:
    keys = to_big_endian(words)
    order = np.lexsort(
        (*(keys[:, k] for k in range(keys.shape[1] - 1, -1, -1)), expand_offsets(offsets))
    )
    return QrelsColumns(
        name=name,
        topics=topics,
        offsets=offsets,
        documents=cells.to_byte_strings(words[order]),
        grades=grades[order],
        warnings=warnings,
    )


def make_qrels(name: str, rows: Iterable[tuple[str, str, int]]) -> QrelsColumns:
    """Make qrels from (topic, document, grade), with topics in order of first appearance. Raises
    ValueError for a repeated pair."""
    topics: dict[str, int] = {}
    of, documents, grades = [], [], []
    for topic, document, grade in rows:
        of.append(topics.setdefault(topic, len(topics)))
        documents.append(document.encode("utf-8"))
        grades.append(grade)
    if not of:
        return make_empty_qrels(name)
    offsets, grouping = group_rows(np.array(of), np.ones(len(of), np.int64), len(topics))
    words, values = ids_to_words(np.array(documents)), np.array(grades, np.int32)
    if grouping is not None:
        words, values = words[grouping], values[grouping]
    if repeated := find_duplicates(words, offsets):
        raise ValueError(
            f"{format_count(len(repeated), 'pair', 'appears', 'appear')} more than once, expected each pair once"
        )
    return _sort_columns(name, list(topics), offsets, words, values, [])


def write_qrels(qrels: QrelsColumns, out: IO[str], *, second: str = "0") -> None:
    """Write `topic 0 document grade`, sorted by the bytes of topic and document, so that equal
    grades give equal bytes. Labels of a sample keep their head line.

    Raises ValueError for an ID with white space, because no reader could separate its columns.
    """
    if SAMPLED_MESSAGE in qrels.warnings:
        out.write(
            f"{SAMPLED_MARK}: pairs were drawn with unequal probabilities; scores are estimated "
            f"from the five-column file, which has the strata\n"
        )
    for index in sorted(range(len(qrels.topics)), key=lambda i: qrels.topics[i].encode("utf-8")):
        rows = qrels.rows(index)
        topic, documents = qrels.topics[index], qrels.documents[rows].tolist()
        for identifier in (topic.encode("utf-8"), *documents):
            if (
                len(identifier.split(None, 1)) != 1
                or identifier[-1:].isspace()
                or identifier[:1].isspace()
            ):
                raise ValueError(
                    f"the ID {identifier.decode('utf-8')!r} contains white space, which TREC qrels do not allow"
                )
        pairs = zip(documents, qrels.grades[rows].tolist(), strict=True)
        out.writelines(
            f"{topic} {second} {document.decode('utf-8')} {grade}\n" for document, grade in pairs
        )


def save_qrels(qrels: QrelsColumns, path: Source) -> str:
    """Save the qrels as a columnar file. Returns its digest."""
    return save_columns(
        path,
        kind="qrels",
        about={
            "topics": qrels.topics,
            "warnings": qrels.warnings,
            "name": qrels.name,
            "notes": qrels.notes,
        },
        columns={
            "offsets": qrels.offsets,
            "documents": ids_to_words(qrels.documents),
            "grades": qrels.grades,
        },
    )


def load_qrels(path: Source) -> QrelsColumns:
    """Load qrels written by `save_qrels`."""
    about, columns = load_columns(path, kind="qrels", names=("offsets", "documents", "grades"))
    return QrelsColumns(
        name=about["name"],
        topics=about["topics"],
        offsets=columns["offsets"],
        documents=cells.to_byte_strings(columns["documents"]),
        grades=columns["grades"],
        warnings=about["warnings"],
        notes=about.get("notes", []),
    )

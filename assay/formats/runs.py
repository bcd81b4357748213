"""Read and write runs in the TREC format `topic Q0 document rank score tag`, and read those with
three (MS MARCO) or four columns.

`save_run` and `load_run` use the project's columnar storage.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import IO, Literal

import numpy as np
from numpy.typing import NDArray

from assay.column_types import RunColumns
from assay.formats import cells, numerals
from assay.formats.errors import FormatError
from assay.formats.growable_array import GrowableArray
from assay.formats.hints import add_hints
from assay.formats.ir_metadata import MAX_HEAD_BYTES, extract_metadata, format_head
from assay.formats.packaged import dataset_id, iterate_dataset
from assay.formats.plugins import find_plugin_reader
from assay.formats.storage import load_columns, save_columns
from assay.formats.streams import (
    Source,
    display_name,
    get_stored_size,
    iterate_blocks,
    iterate_lines,
    strip_suffixes,
)
from assay.formats.topic_column import TopicColumn
from assay.formats.unsupported import refuse_unsupported
from assay.number_words import format_count, format_part
from assay.precision import to_single_precision
from assay.ranking import (
    BATCH_ROWS,
    find_duplicates,
    group_rows,
    ids_to_words,
    iterate_topic_batches,
    rank_order,
    trec_order,
)

SIX_COLUMNS = "6 columns: topic Q0 document rank score tag"
EXPECTED_COLUMNS = {
    6: SIX_COLUMNS,
    4: "4 columns: topic document rank score",
    3: "3 columns: topic document rank",
}
MAX_WIDE_BYTES = 1 << 31
"""Maximum size in bytes of document IDs at fixed width. Files with IDs of very different lengths
that exceed it are refused."""


def read_run(
    path: Source,
    *,
    name: str | None = None,
    lenient: bool = False,
    order: Literal["score", "rank"] = "score",
    scores: Literal["float64", "float32"] = "float64",
    max_bytes: int | None = None,
) -> RunColumns:
    """Read the rankings of one system in trec_eval's order: descending score, ties by descending
    bytes of the document ID.

    path: a file, or `irds:ID` for the scored documents of a data set of ir_datasets. name: the
    file's name in messages. max_bytes: limit on the unpacked size. lenient: ignore
    columns beyond the sixth, skip a header line, and read three columns as topic, document, rank
    (score = -rank) and four as topic, document, rank, score, with the file name as the tag.
    order="rank": use the rank column as the order (equal ranks in trec_eval's order). Scores are
    kept but need not descend. scores="float32": round scores to single precision before comparing
    them, as trec_eval 9 and pytrec_eval do. `RunColumns.scores` then contains the rounded values.

    Raises FormatError with all problems of the file: a wrong number of columns, a score that is not
    a finite decimal number, a repeated document in a topic, an empty file, and what `streams`
    refuses. Blank lines and lines that begin with # are skipped. `warnings` reports several tags
    (the first names the system), rank columns that contradict the order by score, scores that are
    equal only in single precision, blank lines and a skipped header. `notes` reports comment lines
    and ties that the rank column orders differently. An ir_metadata head becomes `description`.
    """
    added: RunColumns | None = None
    if identifier := dataset_id(path):
        rows = iterate_dataset(identifier, "scoreddocs")
        added = make_run(identifier, ((row.query_id, row.doc_id, row.score) for row in rows))
    elif reader := find_plugin_reader("runs", path):
        added = reader(os.fspath(path))  # type: ignore[arg-type]
    if added is not None:
        return to_single_precision(added) if scores == "float32" else added
    file_name = display_name(path, name)
    reading = _RunBuilder(
        file_name, lenient=lenient, needs_rank=order == "rank", n_bytes=get_stored_size(path)
    )
    for first_line, n_lines, block in iterate_blocks(path, name=file_name, max_bytes=max_bytes):
        reading.add(first_line, n_lines, block)
    run = reading.finish(order=order, single=scores == "float32")
    if reading.problems.count:
        problems = reading.problems
        raise FormatError(
            file_name,
            add_hints(add_line_texts(problems.first, path), lenient=lenient, of_run=True),
            problems.count,
        )
    return run


class _RunBuilder:
    """Builder of the columns of one run file while it is read."""

    def __init__(self, file_name: str, *, lenient: bool, needs_rank: bool, n_bytes: int) -> None:
        self.n_bytes_expected = n_bytes
        self.file_name, self.lenient, self.needs_rank = file_name, lenient, needs_rank
        self.problems = cells.ProblemList()
        self.n_columns = 0
        self.n_blank = 0
        self.n_comments = 0
        self.head = b""
        self.n_header = 0
        self.n_unranked = 0
        self.n_bytes = 0
        self.topics = TopicColumn()
        self.words = GrowableArray(np.uint64)
        self.scores = GrowableArray(np.float64)
        self.ranks = GrowableArray(np.int32)
        self.lines: list[NDArray[np.int64] | range] = []
        self.tags: dict[bytes, None] = {}

    def add(self, first_line: int, n_lines: int, block: bytes) -> None:
        if not self.n_columns:
            first_line, n_lines, block = self.skip_to_content(first_line, n_lines, block)
        if not block:
            return
        rows, n_blank, n_comments = cells.find_rows(
            block,
            first_line,
            self.n_columns,
            self.problems,
            expected=EXPECTED_COLUMNS[self.n_columns],
            n_lines=n_lines,
            more_columns=self.lenient and self.n_columns == 6,
            comments=True,
        )
        self.n_blank += n_blank
        self.n_comments += n_comments
        if len(rows):
            rows, ranks, scores = self.select_valid_rows(rows)
        if len(rows):
            self.n_bytes += len(block)
            self.store(rows, ranks, scores, n_bytes=len(block), first_line=first_line)

    def skip_to_content(
        self, first_line: int, n_lines: int, block: bytes
    ) -> tuple[int, int, bytes]:
        """Skip blank lines, comments and a header, and set the number of columns from the first
        line with content. Returns (first_line, n_lines, block) of what remains. The block is empty
        if no line is left."""
        at, n_blank, n_comments = cells.find_first_content(block)
        if len(self.head) + at <= MAX_HEAD_BYTES:
            self.head += block[:at]
        self.n_blank, self.n_comments = self.n_blank + n_blank, self.n_comments + n_comments
        block, first_line, n_lines = (
            block[at:],
            first_line + n_blank + n_comments,
            n_lines - n_blank - n_comments,
        )
        if not block:
            return first_line, n_lines, b""
        refuse_unsupported(block, self.file_name, "a run")
        line, _, rest = block.partition(b"\n")
        first = line.split()
        self.n_columns = len(first) if self.lenient and len(first) in (3, 4) else 6
        if not (self.lenient and _is_header_line(first)):
            return first_line, n_lines, block
        self.n_header = 1
        return first_line + 1, n_lines - 1, rest

    @property
    def document_column(self) -> int:
        return 2 if self.n_columns == 6 else 1

    def select_valid_rows(
        self, rows: cells.TokenRows
    ) -> tuple[cells.TokenRows, NDArray[np.int64], NDArray[np.float64]]:
        """Return the rows with a valid rank, score and IDs, their ranks (-1 if missing and not
        required) and their scores."""
        bad = np.zeros(len(rows), bool)
        rank = self.document_column + 1
        ranks, ranked = numerals.parse_integers(rows, rank)
        if self.n_columns == 3 or self.needs_rank:
            self.problems.refuse(~ranked, rows, rank, "is not a rank", "a whole number")
            bad |= ~ranked
        elif not ranked.all():
            self.n_unranked += int((~ranked).sum())
            ranks[~ranked] = -1
        if self.n_columns == 3:
            scores = -ranks.astype(np.float64)
        else:
            scores, readable = numerals.parse_numbers(rows, rank + 1)
            self.problems.refuse(
                ~readable, rows, rank + 1, "is not a finite number", "a score such as 12.5 or 3e-2"
            )
            bad |= ~readable
        tag = [(5, "run tag")] if self.n_columns == 6 else []
        for column, what in [
            (0, "topic ID"),
            (self.document_column, "document ID"),
            *tag,
        ]:
            long = rows.find_longer_tokens(column, cells.MAX_ID_BYTES)
            self.problems.refuse(
                long,
                rows,
                column,
                f"is too long for a {what}",
                f"at most {cells.MAX_ID_BYTES} bytes",
            )
            bad |= long
        if not bad.any():
            return rows, ranks, scores
        return rows.exclude_rows(bad), ranks[~bad], scores[~bad]

    def store(
        self,
        rows: cells.TokenRows,
        ranks: NDArray[np.int64],
        scores: NDArray[np.float64],
        *,
        n_bytes: int,
        first_line: int,
    ) -> None:
        """Store the content of these rows.

        n_bytes, first_line: size and first line of the block that contains them. Raises FormatError
        if IDs of very different lengths would fill the memory.
        """
        document_words = cells.take_column(rows, self.document_column)
        width = 8 * max(document_words.shape[1], self.words.width)
        if (len(self.words) + len(rows)) * width > max(MAX_WIDE_BYTES, 4 * self.n_bytes):
            text = f"document IDs of up to {width} bytes in a file of more than {len(self.words)} lines"
            raise FormatError.single(self.file_name, first_line, text, "IDs of similar length")
        if not len(self.words):
            expected = int(1.01 * len(rows) * max(self.n_bytes_expected / n_bytes, 1))
            self.words.expected = self.scores.expected = self.ranks.expected = expected
        self.words.extend(document_words)
        self.scores.extend(scores)
        self.ranks.extend(ranks)
        begin_line, last_line = int(rows.lines[0]), int(rows.lines[-1])
        whole = last_line - begin_line + 1 == len(rows)
        self.lines.append(range(begin_line, last_line + 1) if whole else np.asarray(rows.lines))
        self.topics.add(cells.take_column(rows, 0))
        if self.n_columns == 6:
            self.note_tags(rows)

    def note_tags(self, rows: cells.TokenRows) -> None:
        tag = cells.find_constant(rows, 5)
        if tag is not None:
            self.tags.setdefault(tag)
            return
        tags = cells.take_column(rows, 5)
        for tag in cells.to_byte_strings(tags[cells.find_changes(tags)]).tolist():
            self.tags.setdefault(tag)

    def find_lines(self, wanted: list[int]) -> list[int]:
        """Return the line numbers of rows in file order."""
        ends = np.cumsum([len(part) for part in self.lines])
        numbers = []
        for row in wanted:
            at = int(np.searchsorted(ends, row, side="right"))
            numbers.append(int(self.lines[at][row - (int(ends[at - 1]) if at else 0)]))
        return numbers

    def finish(self, *, order: str, single: bool) -> RunColumns:
        n_rows = len(self.scores)
        if not n_rows:
            if not self.problems.count:
                self.problems.add(
                    None,
                    "no lines with results",
                    "at least one line `topic Q0 document rank score tag`",
                )
            return RunColumns(
                tag="",
                topics=[],
                offsets=np.zeros(1, np.int64),
                documents=np.empty(0, "S8"),
                scores=np.empty(0),
                ranks=np.empty(0, np.int32),
            )
        words, scores, ranks = self.words.take(), self.scores.take()[:, 0], self.ranks.take()[:, 0]
        topics = self.topics.ids
        offsets, grouping = self.topics.group_rows()
        if grouping is not None:
            words = words[grouping]
            scores = scores[grouping]
            ranks = ranks[grouping]
        self.note_duplicates(words, offsets, grouping)
        n_single = n_contradicting = n_tied = 0
        for topic, last in iterate_topic_batches(offsets, BATCH_ROWS):
            part = slice(int(offsets[topic]), int(offsets[last]))
            own = offsets[topic : last + 1] - offsets[topic]
            n_single += _order_by_score(words[part], scores[part], ranks[part], own, single=single)
            if self.n_columns != 3:
                contradicting, tied = _order_by_rank(
                    words[part], scores[part], ranks[part], own, move=order == "rank"
                )
                n_contradicting, n_tied = n_contradicting + contradicting, n_tied + tied
        description, n_kept = extract_metadata(self.head.decode("utf-8"))
        warnings, notes = self.warnings(), cells.skipped_comments_note(self.n_comments - n_kept)
        if description:
            notes.insert(0, "the ir_metadata head was kept as the description of the run")
        if n_single:
            note = "treated as equal" if single else "treated as different"
            warnings.append(
                f"{n_single} neighbouring scores are equal only in single precision (float32); {note}"
            )
        if n_contradicting:
            used = "ranks" if order == "rank" else "scores"
            warnings.append(
                "the rank column contradicts the order by score in "
                f"{format_part(n_contradicting, n_rows, 'line')}; the {used} were used"
            )
        if n_tied and order != "rank":
            notes.append(
                "ties are ordered by document ID, as in trec_eval: the rank column orders "
                f"them differently in {format_part(n_tied, n_rows, 'line')}"
            )
        tag = (
            next(iter(self.tags)).decode("utf-8")
            if self.tags
            else "_".join(strip_suffixes(self.file_name).split())
        )
        return RunColumns(
            tag=tag,
            topics=topics,
            offsets=offsets,
            documents=cells.to_byte_strings(words),
            scores=scores,
            ranks=ranks,
            warnings=warnings,
            name=self.file_name,
            notes=notes,
            description=description,
        )

    def note_duplicates(
        self,
        words: NDArray[np.uint64],
        offsets: NDArray[np.int64],
        grouping: NDArray[np.int64] | None,
    ) -> None:
        repeated = find_duplicates(words, offsets)
        if not repeated:
            return
        if grouping is not None:
            repeated = sorted((int(grouping[row]), int(grouping[first])) for row, first in repeated)
            at = np.argsort(grouping, kind="stable")
        topics = self.topics.ids
        shown = repeated[: max(cells.MAX_SHOWN - len(self.problems.first), 0)]
        numbers = self.find_lines([row for pair in shown for row in pair])
        for k, (row, _) in enumerate(shown):
            place = row if grouping is None else int(at[row])
            document = words[place].tobytes().rstrip(b"\0").decode("utf-8")
            topic = topics[int(np.searchsorted(offsets, place, side="right")) - 1]
            self.problems.add(
                numbers[2 * k],
                f"duplicate document {document} for topic {topic} (first in line {numbers[2 * k + 1]})",
                "each document once",
            )
        self.problems.count_more(len(repeated) - len(shown))

    def warnings(self) -> list[str]:
        warnings = []
        if len(self.tags) > 1:
            shown = ", ".join(tag.decode("utf-8") for tag in list(self.tags)[:5]) + (
                ", ..." if len(self.tags) > 5 else ""
            )
            warnings.append(
                f"{len(self.tags)} tags in one file ({shown}); the first is used as the run tag"
            )
        if self.n_header:
            warnings.append("the first line is a header and was skipped")
        if self.n_blank:
            warnings.append(
                f"{self.n_blank} blank line{'s were' if self.n_blank > 1 else ' was'} skipped"
            )
        if self.n_unranked:
            warnings.append(
                f"the rank is not a whole number in {format_count(self.n_unranked, 'line')}"
            )
        return warnings


def _is_header_line(first: list[bytes]) -> bool:
    named = [token.lower() for token in first]
    if len(first) in (3, 4):
        return named[2:] in ([b"rank"], [b"rank", b"score"])
    return len(first) >= 6 and named[3] == b"rank" and named[4] == b"score"


def add_line_texts(problems: list[cells.FileProblem], path: Source) -> list[cells.FileProblem]:
    """Return problems ordered by line, with the text of lines that had to be read again."""
    problems = sorted(problems, key=lambda problem: problem.line or 0)
    wanted = {problem.line for problem in problems if problem.line and not problem.text}
    if (
        not wanted
        or (not isinstance(path, str | bytes) and not hasattr(path, "__fspath__"))
        or path == "-"
    ):
        return problems
    texts: dict[int, str] = {}
    last = max(wanted)
    for number, text in iterate_lines(path):  # type: ignore[arg-type]
        if number in wanted:
            texts[number] = text
        if number >= last:
            break
    return [
        p if p.text or p.line is None else p._replace(text=texts.get(p.line, "")) for p in problems
    ]


def _order_by_score(
    words: NDArray[np.uint64],
    scores: NDArray[np.float64],
    ranks: NDArray[np.int32],
    offsets: NDArray[np.int64],
    *,
    single: bool,
) -> int:
    """Sort the rows into trec_eval's order, in place. Returns the number of neighbours whose scores
    are equal only in single precision."""
    with np.errstate(over="ignore"):
        rounded = scores.astype(np.float32)
    exact = scores.copy() if single else scores
    if single:
        scores[:] = rounded
    order = trec_order(scores, words, offsets)
    if order is not None:
        words[:], scores[:], ranks[:], rounded = (
            words[order],
            scores[order],
            ranks[order],
            rounded[order],
        )
        if single:
            exact = exact[order]
    equal = (rounded[1:] == rounded[:-1]) & (exact[1:] != exact[:-1])
    equal[offsets[1:-1] - 1] = False
    return int(np.count_nonzero(equal))


def _order_by_rank(
    words: NDArray[np.uint64],
    scores: NDArray[np.float64],
    ranks: NDArray[np.int32],
    offsets: NDArray[np.int64],
    *,
    move: bool,
) -> tuple[int, int]:
    """Return the numbers of positions at which the rank column has another document, with a
    different score and with the same score.

    With `move`, the rows are sorted by the rank column in place.
    """
    order = rank_order(ranks, offsets)
    if order is None:
        return 0, 0
    contradicting = scores[order] != scores
    tied = ~contradicting & (order != np.arange(len(order)))
    if move:
        words[:], scores[:], ranks[:] = words[order], scores[order], ranks[order]
    return int(np.count_nonzero(contradicting)), int(np.count_nonzero(tied))


def write_run(
    run: RunColumns,
    out: IO[str],
    *,
    tag: str | None = None,
    second: str = "Q0",
    with_description: bool = False,
) -> None:
    """Write the run in the TREC format in the run's order, with ranks from 1 and scores formatted
    by repr(). Spaces in the tag become underscores.

    with_description: begin with the run's description as an ir_metadata head, if it has one.
    """
    tag = "_".join((tag or run.tag).split())
    if with_description and run.description:
        out.write(format_head(run.description))
    for index, topic in enumerate(run.topics):
        rows = run.rows(index)
        pairs = zip(run.documents[rows].tolist(), run.scores[rows].tolist(), strict=True)
        out.writelines(
            f"{topic} {second} {document.decode('utf-8')} {rank} {score!r} {tag}\n"
            for rank, (document, score) in enumerate(pairs, 1)
        )


def save_run(run: RunColumns, path: Source) -> str:
    """Save the run as a columnar file. Returns its digest (sha256 of the columns)."""
    return save_columns(
        path,
        kind="run",
        about={
            "tag": run.tag,
            "topics": run.topics,
            "warnings": run.warnings,
            "name": run.name,
            "notes": run.notes,
            "description": run.description,
        },
        columns={
            "offsets": run.offsets,
            "documents": ids_to_words(run.documents),
            "scores": run.scores,
            "ranks": run.ranks,
        },
    )


def load_run(path: Source) -> RunColumns:
    """Load a run written by `save_run`."""
    about, columns = load_columns(
        path, kind="run", names=("offsets", "documents", "scores", "ranks")
    )
    return RunColumns(
        tag=about["tag"],
        topics=about["topics"],
        offsets=columns["offsets"],
        documents=cells.to_byte_strings(columns["documents"]),
        scores=columns["scores"],
        ranks=columns["ranks"],
        warnings=about["warnings"],
        name=about["name"],
        notes=about.get("notes", []),
        description=about.get("description", ""),
    )


def make_run(tag: str, rows: Iterable[tuple[str, str, float]], *, name: str = "") -> RunColumns:
    """Make a run from (topic, document, score), in trec_eval's order. Raises ValueError for a
    repeated document in a topic."""
    topics: dict[str, int] = {}
    of, documents, scores = [], [], []
    for topic, document, score in rows:
        of.append(topics.setdefault(topic, len(topics)))
        documents.append(document.encode("utf-8"))
        scores.append(score)
    if not of:
        return RunColumns(
            tag=tag,
            topics=[],
            offsets=np.zeros(1, np.int64),
            documents=np.empty(0, "S8"),
            scores=np.empty(0),
            ranks=np.empty(0, np.int32),
            name=name,
        )
    offsets, grouping = group_rows(np.array(of), np.ones(len(of), np.int64), len(topics))
    words, values = ids_to_words(np.array(documents)), np.array(scores, np.float64)
    if grouping is not None:
        words, values = words[grouping], values[grouping]
    if repeated := find_duplicates(words, offsets):
        raise ValueError(
            f"{format_count(len(repeated), 'document', 'appears', 'appear')} more than once for a topic"
        )
    order = trec_order(values, words, offsets)
    if order is not None:
        words, values = words[order], values[order]
    ranks = (np.arange(len(values)) - np.repeat(offsets[:-1], np.diff(offsets)) + 1).astype(
        np.int32
    )
    return RunColumns(
        tag=tag,
        topics=list(topics),
        offsets=offsets,
        documents=cells.to_byte_strings(words),
        scores=values,
        ranks=ranks,
        name=name,
    )

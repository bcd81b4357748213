"""Runs in the TREC format: `topic Q0 document rank score tag`, and the three-column form of MS MARCO.

read_run(path) -> Run       write_run(run, out)       save_run, load_run: the project's own columnar storage
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO, Literal

import numpy as np
from numpy.typing import NDArray

from pooling.core.columns import Run
from pooling.core.ranking import BATCH, duplicates, group_rows, rank_order, topic_batches, trec_order, words_of
from pooling.formats import cells, numerals
from pooling.formats.errors import FormatError
from pooling.formats.growing import Growing
from pooling.formats.opening import Source, bare_name, blocks, lines, plain_size, source_name
from pooling.formats.storage import load_columns, save_columns

SIX = "6 columns: topic Q0 document rank score tag"
THREE = "3 columns: topic document rank"
WIDE = 1 << 31
"""Bytes of document ids in fixed width beyond which a file of very unequal ids is refused."""


def read_run(
    path: Source,
    *,
    name: str | None = None,
    lenient: bool = False,
    order: Literal["score", "rank"] = "score",
    scores: Literal["float64", "float32"] = "float64",
    max_bytes: int | None = None,
) -> Run:
    """One system's rankings, each topic in trec_eval's order: score descending, ties by document id descending as bytes.

    name: what messages call the file. max_bytes: bound on the unpacked size.
    lenient: columns beyond the sixth are ignored, a header line is skipped, and three columns are read as topic, document, rank
    (score = -rank, the tag is the file's name).
    order="rank": the rank column gives the order (equal ranks as in trec_eval's order); the scores are kept but need not descend.
    scores="float32": scores are rounded to single precision before they are compared, as trec_eval 9 and pytrec_eval do;
    `Run.scores` then holds the rounded values.

    Refused (FormatError, all problems of the file at once): another number of columns, a score that is not a finite decimal number,
    a document twice for one topic, an empty file, and what `opening` refuses. Lines of white space only are skipped.
    Warned about in `Run.warnings`: several tags (the first names the system), the rank column disagreeing, scores equal only in
    single precision, blank lines, a header skipped.
    """
    called = source_name(path, name)
    reading = _Reading(called, lenient=lenient, needs_rank=order == "rank", n_bytes=plain_size(path))
    for first_line, n_lines, block in blocks(path, name=called, max_bytes=max_bytes):
        reading.add(first_line, n_lines, block)
    run = reading.finish(order=order, single=scores == "float32")
    if reading.problems.count:
        problems = reading.problems
        raise FormatError(called, with_lines(problems.first, path), problems.count)
    return run


class _Reading:
    """The columns of one file while it is read."""

    def __init__(self, called: str, *, lenient: bool, needs_rank: bool, n_bytes: int) -> None:
        self.n_bytes_expected = n_bytes
        self.called, self.lenient, self.needs_rank = called, lenient, needs_rank
        self.problems = cells.Problems()
        self.n_columns = 0
        self.n_blank = 0
        self.n_header = 0
        self.n_unranked = 0
        self.n_bytes = 0
        self.topics: dict[bytes, int] = {}
        self.segment_topics: list[NDArray[np.int64]] = []
        self.segment_rows: list[NDArray[np.int64]] = []
        self.words = Growing(np.uint64)
        self.scores = Growing(np.float64)
        self.ranks = Growing(np.int32)
        self.lines: list[NDArray[np.int64] | range] = []
        self.tags: dict[bytes, None] = {}

    def add(self, first_line: int, n_lines: int, block: bytes) -> None:
        if not self.n_columns:
            begin = block.lstrip()
            if not begin:
                self.n_blank += block.count(b"\n")
                return
            first = begin.split(b"\n", 1)[0].split()
            self.n_columns = 3 if self.lenient and len(first) == 3 else 6
            if self.lenient and _is_header(first):
                skipped = block.count(b"\n", 0, len(block) - len(begin)) + 1
                self.n_header, first_line, n_lines = 1, first_line + skipped, n_lines - skipped
                block = begin.partition(b"\n")[2]
                if not block:
                    return
        three = self.n_columns == 3
        rows, n_blank = cells.rows(
            block, first_line, self.n_columns, self.problems,
            expected=THREE if three else SIX, n_lines=n_lines, more_columns=self.lenient and not three,
        )  # fmt: skip
        self.n_blank += n_blank
        if not len(rows):
            return
        document, rank = (1, 2) if three else (2, 3)
        bad = None
        ranks, ranked = numerals.integers(rows, rank)
        if three or self.needs_rank:
            if not ranked.all():
                bad = self.refuse(~ranked, rows, rank, "is not a rank", "a whole number")
        elif not ranked.all():
            self.n_unranked += int((~ranked).sum())
            ranks[~ranked] = -1
        if three:
            scores = -ranks.astype(np.float64)
        else:
            scores, readable = numerals.numbers(rows, 4)
            if not readable.all():
                bad = self.refuse(~readable, rows, 4, "is not a finite number", "a score such as 12.5 or 3e-2", bad)
        for column, what in ((0, "topic"), (document, "document")):
            long = rows.longer_than(column, cells.LONGEST_ID)
            if long.any():
                bad = self.refuse(long, rows, column, f"is a {what} id of more than {cells.LONGEST_ID} bytes", "a shorter id", bad)
        if bad is not None:
            good = ~bad
            rows, scores, ranks = rows.without(bad), scores[good], ranks[good]
            if not len(rows):
                return
        document_words = cells.strings(rows, document)
        self.n_bytes += len(block)
        width = 8 * max(document_words.shape[1], self.words.width)
        if (len(self.words) + len(rows)) * width > max(WIDE, 4 * self.n_bytes):
            text = f"document ids of up to {width} bytes in a file of more than {len(self.words)} lines"
            raise FormatError.single(self.called, first_line, text, "ids of similar length")
        if not len(self.words):
            expected = int(1.01 * len(rows) * max(self.n_bytes_expected / len(block), 1))
            self.words.expected = self.scores.expected = self.ranks.expected = expected
        self.words.extend(document_words)
        self.scores.extend(scores)
        self.ranks.extend(ranks)
        begin_line, last_line = int(rows.lines[0]), int(rows.lines[-1])
        whole = last_line - begin_line + 1 == len(rows)
        self.lines.append(range(begin_line, last_line + 1) if whole else np.asarray(rows.lines))
        self.note_topics(cells.strings(rows, 0))
        if not three:
            tag = cells.one_string(rows, 5)
            if tag is not None:
                self.tags.setdefault(tag)
            else:
                tags = cells.strings(rows, 5)
                for tag in cells.as_bytes(tags[cells.changes(tags)]).tolist():
                    self.tags.setdefault(tag)

    def note_topics(self, words: NDArray[np.uint64]) -> None:
        starts = cells.changes(words)
        index = self.topics
        found = [index.setdefault(topic, len(index)) for topic in cells.as_bytes(words[starts]).tolist()]
        self.segment_topics.append(np.array(found, np.int64))
        self.segment_rows.append(np.diff(starts, append=len(words)))

    def refuse(
        self, wrong: NDArray[np.bool_], rows: cells.Rows, column: int, problem: str, expected: str, bad: NDArray[np.bool_] | None = None
    ) -> NDArray[np.bool_]:
        places = np.flatnonzero(wrong)
        shown = places[: max(cells.SHOWN - len(self.problems.first), 0)]
        for row in shown.tolist():
            token = rows.token(row, column)[:80].decode("utf-8", "replace")
            self.problems.add(int(rows.lines[row]), f"{token!r} {problem}", expected, rows.line_text(row))
        self.problems.more(len(places) - len(shown))
        return wrong if bad is None else bad | wrong

    def line_of_rows(self, wanted: list[int]) -> list[int]:
        """Line numbers of rows in file order."""
        ends = np.cumsum([len(part) for part in self.lines])
        numbers = []
        for row in wanted:
            at = int(np.searchsorted(ends, row, side="right"))
            numbers.append(int(self.lines[at][row - (int(ends[at - 1]) if at else 0)]))
        return numbers

    def finish(self, *, order: str, single: bool) -> Run:
        n_rows = len(self.scores)
        if not n_rows:
            if not self.problems.count:
                self.problems.add(None, "no line with a result", "at least one line `topic Q0 document rank score tag`")
            return Run(
                tag="",
                topics=[],
                offsets=np.zeros(1, np.int64),
                documents=np.empty(0, "S8"),
                scores=np.empty(0),
                ranks=np.empty(0, np.int32),
            )
        words, scores, ranks = self.words.take(), self.scores.take()[:, 0], self.ranks.take()[:, 0]
        topics = [topic.decode("utf-8") for topic in self.topics]
        offsets, grouping = group_rows(np.concatenate(self.segment_topics), np.concatenate(self.segment_rows), len(topics))
        if grouping is not None:
            words = words[grouping]
            scores = scores[grouping]
            ranks = ranks[grouping]
        self.note_duplicates(words, offsets, grouping)
        n_single = n_moved = 0
        for topic, last in topic_batches(offsets, BATCH):
            part = slice(int(offsets[topic]), int(offsets[last]))
            own = offsets[topic : last + 1] - offsets[topic]
            n_single += _order_by_score(words[part], scores[part], ranks[part], own, single=single)
            if self.n_columns == 6:
                n_moved += _order_by_rank(words[part], scores[part], ranks[part], own, move=order == "rank")
        warnings = self.warnings()
        if n_single:
            note = "treated as equal" if single else "treated as different"
            warnings.append(f"{n_single} neighbouring scores are equal only in single precision (float32); {note}")
        if n_moved:
            used = "ranks" if order == "rank" else "scores"
            warnings.append(f"the rank column disagrees with the order by score in {n_moved} of {n_rows} lines; the {used} were used")
        tag = next(iter(self.tags)).decode("utf-8") if self.tags else "_".join(bare_name(self.called).split())
        return Run(
            tag=tag, topics=topics, offsets=offsets, documents=cells.as_bytes(words), scores=scores, ranks=ranks,
            warnings=warnings, name=self.called,
        )  # fmt: skip

    def note_duplicates(self, words: NDArray[np.uint64], offsets: NDArray[np.int64], grouping: NDArray[np.int64] | None) -> None:
        repeated = duplicates(words, offsets)
        if not repeated:
            return
        if grouping is not None:
            repeated = sorted((int(grouping[row]), int(grouping[first])) for row, first in repeated)
            at = np.argsort(grouping, kind="stable")
        names = list(self.topics)
        shown = repeated[: max(cells.SHOWN - len(self.problems.first), 0)]
        numbers = self.line_of_rows([row for pair in shown for row in pair])
        for k, (row, _) in enumerate(shown):
            place = row if grouping is None else int(at[row])
            document = words[place].tobytes().rstrip(b"\0").decode("utf-8")
            topic = names[int(np.searchsorted(offsets, place, side="right")) - 1].decode("utf-8")
            self.problems.add(
                numbers[2 * k],
                f"document {document} is there twice for topic {topic} (first in line {numbers[2 * k + 1]})",
                "each document once",
            )
        self.problems.more(len(repeated) - len(shown))

    def warnings(self) -> list[str]:
        found = []
        if len(self.tags) > 1:
            shown = ", ".join(tag.decode("utf-8") for tag in list(self.tags)[:5]) + (", ..." if len(self.tags) > 5 else "")
            found.append(f"{len(self.tags)} tags in one file ({shown}); the first names the system")
        if self.n_header:
            found.append("the first line is a header and was skipped")
        if self.n_blank:
            found.append(f"{self.n_blank} blank line{'s were' if self.n_blank > 1 else ' was'} skipped")
        if self.n_unranked:
            found.append(f"the rank is not a whole number in {self.n_unranked} lines")
        return found


def _is_header(first: list[bytes]) -> bool:
    named = [token.lower() for token in first]
    if len(first) == 3:
        return named[2] == b"rank"
    return len(first) >= 6 and named[3] == b"rank" and named[4] == b"score"


def with_lines(problems: list[cells.Problem], path: Source) -> list[cells.Problem]:
    """Problems in order of lines, with the lines' text where it was not at hand and the file can be read again."""
    problems = sorted(problems, key=lambda problem: problem.line or 0)
    wanted = {problem.line for problem in problems if problem.line and not problem.text}
    if not wanted or (not isinstance(path, str | bytes) and not hasattr(path, "__fspath__")) or path == "-":
        return problems
    texts: dict[int, str] = {}
    last = max(wanted)
    for number, text in lines(path):  # type: ignore[arg-type]
        if number in wanted:
            texts[number] = text
        if number >= last:
            break
    return [p if p.text or p.line is None else p._replace(text=texts.get(p.line, "")) for p in problems]


def _order_by_score(
    words: NDArray[np.uint64], scores: NDArray[np.float64], ranks: NDArray[np.int32], offsets: NDArray[np.int64], *, single: bool
) -> int:
    """Bring the rows into trec_eval's order, in place. -> how many neighbours' scores are equal in single precision only"""
    with np.errstate(over="ignore"):
        rounded = scores.astype(np.float32)
    exact = scores.copy() if single else scores
    if single:
        scores[:] = rounded
    order = trec_order(scores, words, offsets)
    if order is not None:
        words[:], scores[:], ranks[:], rounded = words[order], scores[order], ranks[order], rounded[order]
        if single:
            exact = exact[order]
    equal = (rounded[1:] == rounded[:-1]) & (exact[1:] != exact[:-1])
    equal[offsets[1:-1] - 1] = False
    return int(np.count_nonzero(equal))


def _order_by_rank(
    words: NDArray[np.uint64], scores: NDArray[np.float64], ranks: NDArray[np.int32], offsets: NDArray[np.int64], *, move: bool
) -> int:
    """How many rows the rank column puts elsewhere; with `move` they are put there, in place."""
    order = rank_order(ranks, offsets)
    if order is None:
        return 0
    if move:
        words[:], scores[:], ranks[:] = words[order], scores[order], ranks[order]
    return int(np.count_nonzero(order != np.arange(len(order))))


def write_run(run: Run, out: IO[str], *, tag: str | None = None, second: str = "Q0") -> None:
    """The run in the TREC format, topics and documents in the run's order, ranks from 1, scores as repr() writes them."""
    tag = tag or run.tag
    for index, topic in enumerate(run.topics):
        rows = run.rows(index)
        pairs = zip(run.documents[rows].tolist(), run.scores[rows].tolist(), strict=True)
        out.writelines(
            f"{topic} {second} {document.decode('utf-8')} {rank} {score!r} {tag}\n" for rank, (document, score) in enumerate(pairs, 1)
        )


def save_run(run: Run, path: Source) -> str:
    """The run as a columnar file of the project's storage. -> its digest (sha256 of the columns)"""
    return save_columns(
        path,
        kind="run",
        about={"tag": run.tag, "topics": run.topics, "warnings": run.warnings, "name": run.name},
        columns={"offsets": run.offsets, "documents": words_of(run.documents), "scores": run.scores, "ranks": run.ranks},
    )


def load_run(path: Source) -> Run:
    """A run that `save_run` wrote."""
    about, columns = load_columns(path, kind="run", names=("offsets", "documents", "scores", "ranks"))
    return Run(
        tag=about["tag"], topics=about["topics"], offsets=columns["offsets"], documents=cells.as_bytes(columns["documents"]),
        scores=columns["scores"], ranks=columns["ranks"], warnings=about["warnings"], name=about["name"],
    )  # fmt: skip


def run_of_rows(tag: str, rows: Iterable[tuple[str, str, float]], *, name: str = "") -> Run:
    """A run from (topic, document, score), in trec_eval's order. A document twice for one topic is a ValueError."""
    topics: dict[str, int] = {}
    of, documents, scores = [], [], []
    for topic, document, score in rows:
        of.append(topics.setdefault(topic, len(topics)))
        documents.append(document.encode("utf-8"))
        scores.append(score)
    if not of:
        return Run(
            tag=tag,
            topics=[],
            offsets=np.zeros(1, np.int64),
            documents=np.empty(0, "S8"),
            scores=np.empty(0),
            ranks=np.empty(0, np.int32),
            name=name,
        )
    offsets, grouping = group_rows(np.array(of), np.ones(len(of), np.int64), len(topics))
    words, values = words_of(np.array(documents)), np.array(scores, np.float64)
    if grouping is not None:
        words, values = words[grouping], values[grouping]
    if repeated := duplicates(words, offsets):
        raise ValueError(f"{len(repeated)} documents are there twice for a topic")
    order = trec_order(values, words, offsets)
    if order is not None:
        words, values = words[order], values[order]
    ranks = (np.arange(len(values)) - np.repeat(offsets[:-1], np.diff(offsets)) + 1).astype(np.int32)
    return Run(tag=tag, topics=list(topics), offsets=offsets, documents=cells.as_bytes(words), scores=values, ranks=ranks, name=name)

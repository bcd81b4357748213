"""Judgements of annotators, one row each: our own columns, and the exports of other tools, recognised by their header.

read_judgements(path, scale=4) -> Judgements
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np

from pooling.core.columns import JudgementColumns
from pooling.core.counts import counted
from pooling.formats.delimited import DOCUMENT_NAMES, TOPIC_NAMES, DelimitedTable, FileMistakes, Row, column_names, find_column
from pooling.formats.errors import FormatError
from pooling.formats.opening import LONGEST_DOCUMENT, Peeked, Source, source_name

ANNOTATOR_NAMES = ("annotator", "annotator_id", "worker", "worker_id", "user", "user_id", "userid", "judge", "assessor")
GRADE_NAMES = ("grade", "judgement", "judgment", "rating", "relevance", "label")
TRUE, FALSE = ("1", "true", "yes"), ("", "0", "false", "no")
FIRA_GRADES = {
    "0_NOT_RELEVANT": 0,
    "1_TOPIC_RELEVANT_DOES_NOT_ANSWER": 1,
    "2_GOOD_ANSWER": 2,
    "3_PERFECT_ANSWER": 3,
    "-1_MISLEADING_ANSWER": 0,
}
LARGEST_JSON = 4 * LONGEST_DOCUMENT
MISLEADING = "-1_MISLEADING_ANSWER"


class _Judgement(NamedTuple):
    line: int
    topic: str
    document: str
    annotator: str
    grade: int
    seconds: float = math.nan
    judged_at: float = math.nan
    excluded: bool = False
    gold: bool = False


class Invalid(ValueError):
    """A cell that cannot be read: (what is wrong, what was expected)."""

    def __init__(self, problem: str, expected: str) -> None:
        super().__init__(problem)
        self.problem, self.expected = problem, expected


def read_judgements(path: Source, *, scale: int | None = None, name: str | None = None, max_bytes: int | None = None) -> JudgementColumns:
    """The judgements of a file, in its order.

    scale: number of grades; a grade outside 0..scale-1 is refused. None: any grade from 0 to 32767 is taken.
    Forms, told by content: CSV or TSV with columns topic, document, annotator, grade and optionally seconds (or active_ms), judged_at
    (ISO 8601, without an offset taken as UTC; or seconds since 1970), excluded, gold (0/1); FiRA's export; HiCAL's CSV; crowd-kit's
    task, worker, label (the task is the topic's id, a space, and the document's); Quepid's book as CSV (one column a judge) and as JSON;
    Label Studio's JSON export; Potato's table.
    Refused (FormatError, all problems at once): missing columns, an empty id, a grade that is no whole number or outside the scale,
    seconds that are negative or no number, a time that is none, no row at all.
    Warned about: FiRA's misleading answers (they count as grade 0), rows without a grade or id (skipped), times without offset,
    grades that never use 0.
    """
    called = source_name(path, name)
    stream = Peeked(path, name=called, max_bytes=max_bytes)
    if stream.head.lstrip()[:1] == b"[":
        from pooling.formats.labelling_tools import label_studio  # here: it reads cells as this module does

        return _columns(called, *label_studio(stream, called), scale)
    if stream.head.lstrip()[:1] == b"{":
        return _columns(called, *_quepid_book_json(stream, called), scale)
    table = DelimitedTable(stream, name=called)
    mistakes, warnings = FileMistakes(called), Warnings()
    return _columns(called, _delimited(table, mistakes, warnings), mistakes, warnings, scale)


class Warnings:
    """Warnings with how often."""

    def __init__(self) -> None:
        self.said: dict[str, None] = {}
        self.counts: dict[tuple[str, str, str, str], int] = {}

    def add(self, noun: str, one: str, many: str, what: str) -> None:
        """As `1 row has …`, `2 rows have …`: the noun, its verb in both forms, and what is the same for both."""
        self.counts[noun, one, many, what] = self.counts.get((noun, one, many, what), 0) + 1

    def say(self, text: str) -> None:
        """Once, however often it happens."""
        self.said[text] = None

    def texts(self) -> list[str]:
        return [*self.said] + [f"{counted(n, noun, one, many)} {what}" for (noun, one, many, what), n in self.counts.items()]


def _delimited(table: DelimitedTable, mistakes: FileMistakes, warnings: Warnings) -> Iterator[_Judgement]:
    names = column_names(table.first.cells)
    known = set(names)
    if {"relevancelevel", "documentid", "queryid", "userid"} <= known:
        return _rows(table, mistakes, _fira(names, warnings))
    if {"task", "worker", "label"} <= known:
        return _rows(table, mistakes, _crowdkit(names))
    if names[0] == "query" and len(names) > 2 and names[1] in ("docid", "doc_id") and find_column(names, ANNOTATOR_NAMES) is None:
        return _quepid_book_csv(table, mistakes, warnings)
    from pooling.formats.labelling_tools import is_potato, potato  # here: it reads cells as this module does

    if is_potato(names, table.first.cells):
        return _rows(table, mistakes, potato(table))
    return _rows(table, mistakes, _plain(table, names, warnings))


def _rows(table: DelimitedTable, mistakes: FileMistakes, read: Callable[[Row], _Judgement | None]) -> Iterator[_Judgement]:
    n_columns = len(table.first.cells)
    for row in table:
        text = table.delimiter.join(row.cells)
        if len(row.cells) != n_columns:
            mistakes.add(row.line, f"{len(row.cells)} columns", f"{n_columns} columns as in the header", text)
            continue
        try:
            judgement = read(row)
        except Invalid as error:
            mistakes.add(row.line, error.problem, error.expected, text)
            continue
        if judgement is not None:
            yield judgement


def _plain(table: DelimitedTable, names: list[str], warnings: Warnings) -> Callable[[Row], _Judgement | None]:
    places = {
        "topic": find_column(names, TOPIC_NAMES),
        "document": find_column(names, DOCUMENT_NAMES),
        "annotator": find_column(names, ANNOTATOR_NAMES),
        "grade": find_column(names, GRADE_NAMES),
    }
    missing = [column for column, place in places.items() if place is None]
    if missing:
        header = table.delimiter.join(table.first.cells)
        raise FormatError.single(
            table.name, table.first.line, f"no column {', '.join(missing)}", "a header with topic, document, annotator, grade", header
        )
    topic, document, annotator, grade = (int(place) for place in places.values() if place is not None)
    seconds, milliseconds = find_column(names, ("seconds", "time_to_judge")), find_column(names, ("active_ms",))
    judged_at, reason = find_column(names, ("judged_at", "timestamp")), find_column(names, ("cannot_judge_reason",))
    excluded, gold = find_column(names, ("excluded",)), find_column(names, ("gold",))

    def read(row: Row) -> _Judgement | None:
        cells = row.cells
        if not cells[grade].strip() and reason is not None and cells[reason].strip():
            warnings.add("row", "says", "say", "that the pair cannot be judged; skipped")
            return None
        time = math.nan
        if seconds is not None:
            time = _seconds(cells[seconds])
        elif milliseconds is not None:
            time = _seconds(cells[milliseconds]) / 1000
        return _Judgement(
            row.line,
            _id(cells[topic], "topic"),
            _id(cells[document], "document"),
            _id(cells[annotator], "annotator"),
            _grade(cells[grade]),
            time,
            math.nan if judged_at is None else _time(cells[judged_at], warnings),
            excluded is not None and _flag(cells[excluded], "excluded"),
            gold is not None and _flag(cells[gold], "gold"),
        )

    return read


def _fira(names: list[str], warnings: Warnings) -> Callable[[Row], _Judgement | None]:
    level, document, topic, user = (names.index(n) for n in ("relevancelevel", "documentid", "queryid", "userid"))
    duration, at = find_column(names, ("durationusedtojudgems",)), find_column(names, ("judgedatunixts",))

    def read(row: Row) -> _Judgement | None:
        cells = [cell.strip() for cell in row.cells]
        if not (cells[document] and cells[topic] and cells[user]):
            warnings.add("row", "has", "have", "an empty id; skipped")
            return None
        grade = FIRA_GRADES.get(cells[level])
        if grade is None:
            raise Invalid(f"{cells[level]!r} is not one of FiRA's relevance levels", " or ".join(FIRA_GRADES))
        if cells[level] == MISLEADING:
            warnings.add("judgement", "is", "are", f"{MISLEADING}; counted as grade 0")
        seconds = math.nan if duration is None else _seconds(cells[duration]) / 1000
        judged_at = math.nan if at is None else _moment(cells[at])
        return _Judgement(row.line, cells[topic], cells[document], cells[user], grade, seconds, judged_at)

    return read


def _crowdkit(names: list[str]) -> Callable[[Row], _Judgement | None]:
    task, worker, label = (names.index(n) for n in ("task", "worker", "label"))

    def read(row: Row) -> _Judgement:
        parts = row.cells[task].split()
        if len(parts) != 2:
            raise Invalid(f"task {row.cells[task]!r} does not name a topic and a document", "`topic document` with one space between")
        return _Judgement(row.line, parts[0], parts[1], _id(row.cells[worker], "annotator"), _grade(row.cells[label]))

    return read


def _quepid_book_csv(table: DelimitedTable, mistakes: FileMistakes, warnings: Warnings) -> Iterator[_Judgement]:
    judges: dict[str, int] = {}  # name -> the number to try next for one of the same name
    for cell in table.first.cells[2:]:
        name = judge = cell.strip() or "Anonymous"
        while judge in judges:
            judges[name] += 1
            judge = f"{name}#{judges[name]}"
        if judge != name:
            warnings.say(f"two judges are called {name}; the later one is called {judge}")
        judges[judge] = 1
    for row in table:
        text = table.delimiter.join(row.cells)
        if len(row.cells) != len(judges) + 2:
            mistakes.add(row.line, f"{len(row.cells)} columns", f"{len(judges) + 2} columns as in the header", text)
            continue
        try:
            topic, document = _id(row.cells[0], "query"), row.cells[1].strip()
            if not document:
                warnings.add("row", "has", "have", "an empty id; skipped")
                continue
            for judge, cell in zip(judges, row.cells[2:], strict=True):
                if cell.strip():
                    yield _Judgement(row.line, topic, document, judge, _grade(cell))
        except Invalid as error:
            mistakes.add(row.line, error.problem, error.expected, text)


def read_json(stream: Peeked, called: str) -> Any:
    """A JSON file as a whole (at most `LARGEST_JSON` bytes), errors as FormatError."""
    raw = stream.exactly(LARGEST_JSON + 1)
    if len(raw) > LARGEST_JSON:
        raise FormatError.single(called, None, f"JSON of more than {LARGEST_JSON} bytes", "a smaller file")
    try:
        return json.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise FormatError.single(called, raw.count(b"\n", 0, error.start) + 1, "a byte that is not UTF-8", "UTF-8") from None
    except json.JSONDecodeError as error:
        raise FormatError.single(called, error.lineno, f"not JSON ({error.msg})", "JSON") from None
    except (RecursionError, ValueError):
        raise FormatError.single(called, 1, "JSON nested too deeply or with too long a number", "plain JSON") from None


def _quepid_book_json(stream: Peeked, called: str) -> tuple[Iterator[_Judgement], FileMistakes, Warnings]:
    book = read_json(stream, called)
    mistakes, warnings = FileMistakes(called), Warnings()
    pairs = book.get("query_doc_pairs") if isinstance(book, dict) else None
    if not isinstance(pairs, list):
        raise FormatError.single(called, 1, "JSON without a list query_doc_pairs", "a Quepid book")

    def judgements() -> Iterator[_Judgement]:
        for number, pair in enumerate(pairs, 1):
            place = f"query_doc_pairs[{number - 1}]"
            if not isinstance(pair, dict) or not isinstance(pair.get("judgements", []), list):
                mistakes.add(None, f"{place} is not a pair", "an object with query_text, doc_id, judgements")
                continue
            for judgement in pair.get("judgements", []):
                try:
                    if not isinstance(judgement, dict):
                        raise Invalid("a judgement that is no object", "an object with rating and user_email")
                    if judgement.get("unrateable") or judgement.get("judge_later") or judgement.get("rating") is None:
                        warnings.add("judgement", "is", "are", "unrateable, put off or empty; skipped")
                        continue
                    yield _Judgement(
                        1,
                        _id(str(pair.get("query_text") or ""), "query_text"),
                        _id(str(pair.get("doc_id") or ""), "doc_id"),
                        str(judgement.get("user_email") or "Anonymous"),
                        _grade(str(judgement["rating"])),
                    )
                except Invalid as error:
                    mistakes.add(None, f"{place}: {error.problem}", error.expected)

    return judgements(), mistakes, warnings


def _id(cell: str, what: str) -> str:
    cell = cell.strip()
    if not cell:
        raise Invalid(f"no {what}", f"a {what}")
    return cell


def _grade(cell: str) -> int:
    """2.0 is 2: Quepid and pandas write grades so."""
    text = cell.strip().removesuffix(".0")
    if not (text.removeprefix("-").isascii() and text.removeprefix("-").isdigit() and len(text) < 9):
        raise Invalid(f"grade {cell!r}" if cell.strip() else "no grade", "a whole number")
    return int(text)


def _seconds(cell: str) -> float:
    text = cell.strip()
    if not text:
        return math.nan
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value < 0 or "_" in text:
        raise Invalid(f"{cell!r} is not a time", "a number of at least 0, or nothing")
    return value


LATEST_MOMENT = 1e11
"""Seconds since 1970 that reach into the year 5138: beyond them a column holds milliseconds, of which ours makes a campaign of fifty thousand years."""


def _moment(cell: str) -> float:
    """Seconds since 1970; NaN for nothing."""
    value = _seconds(cell)
    if value >= LATEST_MOMENT:
        raise Invalid(f"{cell.strip()} is no time in seconds since 1970, but perhaps one in milliseconds", "seconds, or ISO 8601 such as 2021-03-04T10:30:00Z")
    return value


def _time(cell: str, warnings: Warnings) -> float:
    text = cell.strip()
    if not text:
        return math.nan
    if text.replace(".", "", 1).isdigit() and len(text.partition(".")[0]) != 8:
        return _moment(text)
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            warnings.add("time", "has", "have", "no offset; taken as UTC")
            moment = moment.replace(tzinfo=UTC)
        return moment.timestamp()
    except (ValueError, OverflowError):
        raise Invalid(f"{cell!r} is not a date and time", "ISO 8601 such as 2021-03-04T10:30:00Z") from None


def _flag(cell: str, what: str) -> bool:
    text = cell.strip().lower()
    if text in TRUE:
        return True
    if text in FALSE:
        return False
    raise Invalid(f"{what} {cell!r}", "0 or 1")


def _columns(called: str, judgements: Iterator[_Judgement], mistakes: FileMistakes, warnings: Warnings, scale: int | None) -> JudgementColumns:
    topics: dict[str, int] = {}
    documents: dict[str, int] = {}
    annotators: dict[str, int] = {}
    columns: list[list[Any]] = [[] for _ in range(9)]
    top = 32767 if scale is None else scale - 1
    for j in judgements:
        if not 0 <= j.grade <= top:
            expected = "a whole number from 0" if scale is None else f"one of 0 to {top}"
            mistakes.add(j.line, f"grade {j.grade} of topic {j.topic}, document {j.document} is outside the scale", expected)
            continue
        values = (
            topics.setdefault(j.topic, len(topics)),
            documents.setdefault(j.document, len(documents)),
            annotators.setdefault(j.annotator, len(annotators)),
            j.grade, j.seconds, j.judged_at, j.excluded, j.gold, j.line,
        )  # fmt: skip
        for column, value in zip(columns, values, strict=True):
            column.append(value)
    if not columns[0] and not mistakes.count:
        mistakes.add(None, "no judgement", "at least one row below the header")
    mistakes.raise_any()
    texts = warnings.texts()
    if 0 not in columns[3]:
        texts.append("no judgement has grade 0; if the scale of the file counts from 1, every pair is relevant at level 1")
    kinds = (np.int32, np.int32, np.int32, np.int16, np.float64, np.float64, np.bool_, np.bool_, np.int64)
    arrays: Any = [np.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    topic, document, annotator, grade, seconds, judged_at, excluded, gold, rows = arrays
    return JudgementColumns(
        list(topics), list(documents), list(annotators), topic, document, annotator, grade, seconds, judged_at, excluded, gold, rows,
        warnings=texts, name=called,
    )  # fmt: skip

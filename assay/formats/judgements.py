"""Read annotators' judgements, one per row, in Assay's own columns or as exported by other tools.
The format is detected from the header.

    read_judgements(path, scale=4) -> JudgementColumns
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from assay.column_types import JudgementColumns
from assay.formats.delimited import (
    DOCUMENT_NAMES,
    TOPIC_NAMES,
    DelimitedRow,
    DelimitedTable,
    FileProblems,
    find_column,
    normalise_names,
)
from assay.formats.errors import FormatError
from assay.formats.judgement_cells import (
    ANNOTATOR_NAMES,
    GRADE_NAMES,
    FileJudgement,
    InvalidCell,
    WarningCounter,
    parse_flag,
    parse_grade,
    parse_id,
    parse_moment,
    parse_seconds,
    parse_time,
)
from assay.formats.labelling_tools import is_potato, load_label_studio, make_potato_reader
from assay.formats.plugins import find_plugin_reader
from assay.formats.streams import PeekableStream, Source, display_name, read_json

FIRA_GRADES = {
    "0_NOT_RELEVANT": 0,
    "1_TOPIC_RELEVANT_DOES_NOT_ANSWER": 1,
    "2_GOOD_ANSWER": 2,
    "3_PERFECT_ANSWER": 3,
    "-1_MISLEADING_ANSWER": 0,
}
MISLEADING_LEVEL = "-1_MISLEADING_ANSWER"


def read_judgements(
    path: Source, *, scale: int | None = None, name: str | None = None, max_bytes: int | None = None
) -> JudgementColumns:
    """Read the judgements of a file, in file order.

    scale: number of grades. Grades outside 0..scale-1 are refused. None accepts any grade from 0 to
    32767.

    Formats, detected by content: CSV or TSV with the columns topic, document, annotator, grade and
    optionally seconds (or active_ms), judged_at (ISO 8601, UTC if without offset, or seconds since
    1970), excluded, gold (0/1). FiRA's export. HiCAL's CSV. crowd-kit's task, worker, label (the
    task is topic ID, space, document ID). Quepid's book as CSV (one column per judge) or JSON.
    Label Studio's JSON export. Potato's table.

    Raises FormatError with all problems: missing columns, an empty ID, a grade that is not a whole
    number or outside the scale, seconds that are negative or not a number, an invalid time, no
    rows. Warns about FiRA's misleading answers (counted as grade 0), rows without a grade or ID
    (skipped), times without offset, and grades that never use 0.
    """
    if reader := find_plugin_reader("judgements", path):
        added: JudgementColumns = reader(os.fspath(path))  # type: ignore[arg-type]
        return added
    file_name = display_name(path, name)
    stream = PeekableStream(path, name=file_name, max_bytes=max_bytes)
    if stream.head.lstrip()[:1] == b"[":
        return _to_columns(file_name, *load_label_studio(stream, file_name), scale)
    if stream.head.lstrip()[:1] == b"{":
        return _to_columns(file_name, *_read_quepid_json(stream, file_name), scale)
    table = DelimitedTable(stream, name=file_name)
    mistakes, warnings = FileProblems(file_name), WarningCounter()
    return _to_columns(
        file_name, _read_delimited(table, mistakes, warnings), mistakes, warnings, scale
    )


def _read_delimited(
    table: DelimitedTable, mistakes: FileProblems, warnings: WarningCounter
) -> Iterator[FileJudgement]:
    names = normalise_names(table.first.cells)
    known = set(names)
    if {"relevancelevel", "documentid", "queryid", "userid"} <= known:
        return _read_rows(table, mistakes, _make_fira_reader(names, warnings))
    if {"task", "worker", "label"} <= known:
        return _read_rows(table, mistakes, _make_crowdkit_reader(names))
    if (
        names[0] == "query"
        and len(names) > 2
        and names[1] in ("docid", "doc_id")
        and find_column(names, ANNOTATOR_NAMES) is None
    ):
        return _read_quepid_csv(table, mistakes, warnings)
    if is_potato(names, table.first.cells):
        return _read_rows(table, mistakes, make_potato_reader(table))
    return _read_rows(table, mistakes, _make_plain_reader(table, names, warnings))


def _read_rows(
    table: DelimitedTable,
    mistakes: FileProblems,
    read: Callable[[DelimitedRow], FileJudgement | None],
) -> Iterator[FileJudgement]:
    n_columns = len(table.first.cells)
    for row in table:
        text = table.delimiter.join(row.cells)
        if len(row.cells) != n_columns:
            mistakes.add(
                row.line, f"{len(row.cells)} columns", f"{n_columns} columns as in the header", text
            )
            continue
        try:
            judgement = read(row)
        except InvalidCell as error:
            mistakes.add(row.line, error.problem, error.expected, text)
            continue
        if judgement is not None:
            yield judgement


def _make_plain_reader(
    table: DelimitedTable, names: list[str], warnings: WarningCounter
) -> Callable[[DelimitedRow], FileJudgement | None]:
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
            table.name,
            table.first.line,
            f"no column {', '.join(missing)}",
            "a header with topic, document, annotator, grade",
            header,
        )
    topic, document, annotator, grade = (
        int(place) for place in places.values() if place is not None
    )
    seconds, milliseconds = (
        find_column(names, ("seconds", "time_to_judge")),
        find_column(names, ("active_ms",)),
    )
    judged_at, reason = (
        find_column(names, ("judged_at", "timestamp")),
        find_column(names, ("cannot_judge_reason",)),
    )
    excluded, gold = find_column(names, ("excluded",)), find_column(names, ("gold",))

    def read(row: DelimitedRow) -> FileJudgement | None:
        cells = row.cells
        if not cells[grade].strip() and reason is not None and cells[reason].strip():
            warnings.add("row", "marks", "mark", "the pair as impossible to judge; skipped")
            return None
        time = math.nan
        if seconds is not None:
            time = parse_seconds(cells[seconds])
        elif milliseconds is not None:
            time = parse_seconds(cells[milliseconds]) / 1000
        return FileJudgement(
            row.line,
            parse_id(cells[topic], "topic"),
            parse_id(cells[document], "document"),
            parse_id(cells[annotator], "annotator"),
            parse_grade(cells[grade]),
            time,
            math.nan if judged_at is None else parse_time(cells[judged_at], warnings),
            excluded is not None and parse_flag(cells[excluded], "excluded"),
            gold is not None and parse_flag(cells[gold], "gold"),
        )

    return read


def _make_fira_reader(
    names: list[str], warnings: WarningCounter
) -> Callable[[DelimitedRow], FileJudgement | None]:
    level, document, topic, user = (
        names.index(n) for n in ("relevancelevel", "documentid", "queryid", "userid")
    )
    duration, at = (
        find_column(names, ("durationusedtojudgems",)),
        find_column(names, ("judgedatunixts",)),
    )

    def read(row: DelimitedRow) -> FileJudgement | None:
        cells = [cell.strip() for cell in row.cells]
        if not (cells[document] and cells[topic] and cells[user]):
            warnings.add("row", "has", "have", "an empty ID; skipped")
            return None
        grade = FIRA_GRADES.get(cells[level])
        if grade is None:
            raise InvalidCell(
                f"{cells[level]!r} is not one of FiRA's relevance levels", " or ".join(FIRA_GRADES)
            )
        if cells[level] == MISLEADING_LEVEL:
            warnings.add("judgement", "is", "are", f"{MISLEADING_LEVEL}; counted as grade 0")
        seconds = math.nan if duration is None else parse_seconds(cells[duration]) / 1000
        judged_at = math.nan if at is None else parse_moment(cells[at])
        return FileJudgement(
            row.line, cells[topic], cells[document], cells[user], grade, seconds, judged_at
        )

    return read


def _make_crowdkit_reader(names: list[str]) -> Callable[[DelimitedRow], FileJudgement | None]:
    task, worker, label = (names.index(n) for n in ("task", "worker", "label"))

    def read(row: DelimitedRow) -> FileJudgement:
        parts = row.cells[task].split()
        if len(parts) != 2:
            raise InvalidCell(
                f"task {row.cells[task]!r} does not name a topic and a document",
                "`topic document` separated by one space",
            )
        return FileJudgement(
            row.line,
            parts[0],
            parts[1],
            parse_id(row.cells[worker], "annotator"),
            parse_grade(row.cells[label]),
        )

    return read


def _read_quepid_csv(
    table: DelimitedTable, mistakes: FileProblems, warnings: WarningCounter
) -> Iterator[FileJudgement]:
    judges: dict[str, int] = {}  # name -> next number to try for another column with this name
    for cell in table.first.cells[2:]:
        name = judge = cell.strip() or "Anonymous"
        while judge in judges:
            judges[name] += 1
            judge = f"{name}#{judges[name]}"
        if judge != name:
            warnings.add_once(f"two judges are called {name}; the second is called {judge}")
        judges[judge] = 1
    for row in table:
        text = table.delimiter.join(row.cells)
        if len(row.cells) != len(judges) + 2:
            mistakes.add(
                row.line,
                f"{len(row.cells)} columns",
                f"{len(judges) + 2} columns as in the header",
                text,
            )
            continue
        try:
            topic, document = parse_id(row.cells[0], "query"), row.cells[1].strip()
            if not document:
                warnings.add("row", "has", "have", "an empty ID; skipped")
                continue
            for judge, cell in zip(judges, row.cells[2:], strict=True):
                if cell.strip():
                    yield FileJudgement(row.line, topic, document, judge, parse_grade(cell))
        except InvalidCell as error:
            mistakes.add(row.line, error.problem, error.expected, text)


def _read_quepid_json(
    stream: PeekableStream, file_name: str
) -> tuple[Iterator[FileJudgement], FileProblems, WarningCounter]:
    book = read_json(stream, file_name)
    mistakes, warnings = FileProblems(file_name), WarningCounter()
    pairs = book.get("query_doc_pairs") if isinstance(book, dict) else None
    if not isinstance(pairs, list):
        raise FormatError.single(
            file_name, 1, "JSON without a query_doc_pairs list", "a Quepid book"
        )

    def judgements() -> Iterator[FileJudgement]:
        for number, pair in enumerate(pairs, 1):
            place = f"query_doc_pairs[{number - 1}]"
            if not isinstance(pair, dict) or not isinstance(pair.get("judgements", []), list):
                mistakes.add(
                    None, f"{place} is not a pair", "an object with query_text, doc_id, judgements"
                )
                continue
            for judgement in pair.get("judgements", []):
                try:
                    if not isinstance(judgement, dict):
                        raise InvalidCell(
                            "the judgement is not a JSON object",
                            "an object with rating and user_email",
                        )
                    if (
                        judgement.get("unrateable")
                        or judgement.get("judge_later")
                        or judgement.get("rating") is None
                    ):
                        warnings.add(
                            "judgement", "is", "are", "unrateable, postponed or empty; skipped"
                        )
                        continue
                    yield FileJudgement(
                        1,
                        parse_id(str(pair.get("query_text") or ""), "query_text"),
                        parse_id(str(pair.get("doc_id") or ""), "doc_id"),
                        str(judgement.get("user_email") or "Anonymous"),
                        parse_grade(str(judgement["rating"])),
                    )
                except InvalidCell as error:
                    mistakes.add(None, f"{place}: {error.problem}", error.expected)

    return judgements(), mistakes, warnings


def _to_columns(
    file_name: str,
    judgements: Iterator[FileJudgement],
    mistakes: FileProblems,
    warnings: WarningCounter,
    scale: int | None,
) -> JudgementColumns:
    topics: dict[str, int] = {}
    documents: dict[str, int] = {}
    annotators: dict[str, int] = {}
    columns: list[list[Any]] = [[] for _ in range(9)]
    top = 32767 if scale is None else scale - 1
    for j in judgements:
        if not 0 <= j.grade <= top:
            expected = "a whole number of at least 0" if scale is None else f"one of 0 to {top}"
            mistakes.add(
                j.line,
                f"grade {j.grade} of topic {j.topic}, document {j.document} is not on the scale",
                expected,
            )
            continue
        values = (
            topics.setdefault(j.topic, len(topics)),
            documents.setdefault(j.document, len(documents)),
            annotators.setdefault(j.annotator, len(annotators)),
            j.grade,
            j.seconds,
            j.judged_at,
            j.excluded,
            j.gold,
            j.line,
        )
        for column, value in zip(columns, values, strict=True):
            column.append(value)
    if not columns[0] and not mistakes.count:
        mistakes.add(None, "no judgements", "at least one row below the header")
    mistakes.raise_if_any()
    texts = warnings.list_texts()
    if 0 not in columns[3]:
        texts.append(
            "no judgement has grade 0; if the scale of the file begins at 1, every pair counts as relevant with a minimum relevant grade of 1"
        )
    kinds = (
        np.int32,
        np.int32,
        np.int32,
        np.int16,
        np.float64,
        np.float64,
        np.bool_,
        np.bool_,
        np.int64,
    )
    arrays: Any = [np.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    topic, document, annotator, grade, seconds, judged_at, excluded, gold, rows = arrays
    return JudgementColumns(
        list(topics),
        list(documents),
        list(annotators),
        topic,
        document,
        annotator,
        grade,
        seconds,
        judged_at,
        excluded,
        gold,
        rows,
        warnings=texts,
        name=file_name,
    )

"""Detect the kind of a file by its content. The result is a suggestion that a person confirms,
never a reason to refuse a file.

    detect_kind(path)              the most likely kind
    guess_kind(path)               all kinds that the file may be
    conflicting_kind(path, kind)   the kind to ask the person about
"""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from assay.formats.archives import ARCHIVE_ERRORS, is_tar, open_zip
from assay.formats.clicks import find_packed_clicks
from assay.formats.delimited import DOCUMENT_NAMES, TOPIC_NAMES, find_column, normalise_names
from assay.formats.documents import ID_NAMES as DOCUMENT_IDS
from assay.formats.documents import TEXT_NAMES
from assay.formats.errors import FormatError
from assay.formats.judgement_cells import ANNOTATOR_NAMES, GRADE_NAMES
from assay.formats.quepid import detect_query_form
from assay.formats.sets import find_role
from assay.formats.streams import PeekableStream, Source, display_name
from assay.formats.topic_scores import ALL_TOPICS
from assay.formats.topics import ID_NAMES, QUERY_SET
from assay.formats.topics import TEXT_NAMES as QUERY_NAMES
from assay.formats.ubi import detect_ubi, find_packed_ubi
from assay.formats.unsupported import detect_unsupported

N_LINES = 200
"""Number of lines inspected at the start of a file."""
HEAD_BYTES = 1 << 16
"""Number of bytes inspected at the start of a file."""
MIN_SHARE = 0.9
"""Minimum share of lines that must have the form of a kind. A few broken lines do not change the
kind."""
MIN_ROWS = 5
"""Minimum number of texts for a decision by their lengths."""
QUERY_WORDS, DOCUMENT_WORDS = 15, 60
"""Mean number of words up to which texts are surely queries, and from which they are surely
documents."""
HIGHEST_GRADE = 10
"""A larger number is a rank, not a grade."""
INFORMATION_NEED_COLUMNS = (
    "description",
    "desc",
    "narrative",
    "narr",
    "query",
    "question",
    "information_need",
    "query_text",
)
"""Fields that only topics have."""


class FileKind(StrEnum):
    """A kind of file that users upload."""

    RUN = "run"
    QRELS = "qrels"
    TOPICS = "topics"
    DOCUMENTS = "documents"
    JUDGEMENTS = "judgements"
    CLICKS = "clicks"
    POOL = "pool"
    SET = "set"
    LLM_LABELS = "LLM labels"
    LEADERBOARD = "leaderboard"
    NUGGETS = "nuggets"
    RUBRICS = "rubrics"
    ANSWERS = "answers"
    UNKNOWN = "unknown"


class DetectedKind(NamedTuple):
    """The kinds that a file may be of.

    kinds: all kinds that are possible, the most likely first. sure: no other kind is possible.
    """

    kinds: tuple[FileKind, ...]
    sure: bool = True


UNKNOWN_KIND = DetectedKind((), sure=False)


def detect_kind(path: Source, *, name: str | None = None, max_bytes: int | None = None) -> FileKind:
    """Return the most likely kind of a file, judged by its first 64 kB.

    Text of no known kind is `unknown`. Raises FormatError only if the file cannot be opened in its
    apparent format, for example because an archive is damaged.
    """
    kinds = guess_kind(path, name=name, max_bytes=max_bytes).kinds
    return kinds[0] if kinds else FileKind.UNKNOWN


def conflicting_kind(
    path: Source, kind: str, *, name: str | None = None, max_bytes: int | None = None
) -> FileKind | None:
    """Return the kind that the file surely is if it differs from `kind`, so that the person can be
    asked. Otherwise return None."""
    guessed = guess_kind(path, name=name, max_bytes=max_bytes)
    return (
        guessed.kinds[0] if guessed.sure and guessed.kinds and kind not in guessed.kinds else None
    )


def guess_kind(
    path: Source, *, name: str | None = None, max_bytes: int | None = None
) -> DetectedKind:
    """Return all kinds that the start of a file allows. Raises FormatError as `detect_kind`
    does."""
    if (
        isinstance(path, (str, os.PathLike))
        and os.fspath(path) != "-"
        and _read_head(path) == b"PK\x03\x04"
    ):
        return _guess_archive(path)
    peeked = PeekableStream(path, name=name, max_bytes=max_bytes)
    head = peeked.head
    if head[:4] == b"PK\x03\x04" or is_tar(head):
        return DetectedKind((FileKind.DOCUMENTS, FileKind.SET))
    if b"\0" in head:
        return UNKNOWN_KIND
    text = head.decode("utf-8", "replace").lstrip()
    if not text:
        return UNKNOWN_KIND
    if text[0] == "<":
        return _guess_markup(text)
    if export_kind := {"ratings": FileKind.QRELS, "snapshot": FileKind.RUN}.get(
        detect_query_form(head)
    ):
        return DetectedKind(
            (FileKind.JUDGEMENTS, export_kind) if export_kind == FileKind.QRELS else (export_kind,)
        )
    if detect_ubi(text):
        return DetectedKind((FileKind.CLICKS, FileKind.QRELS))
    if text[0] in "{[":
        unread = detect_unsupported(text)
        return DetectedKind((FileKind(unread),)) if unread else _guess_json(text)
    if re.match(r"\.I\s+\S+\s", text):
        return DetectedKind(
            (FileKind.DOCUMENTS, FileKind.TOPICS)
            if len(text) > 20_000
            else (FileKind.TOPICS, FileKind.DOCUMENTS)
        )
    whole = text.split("\n") if len(head) < HEAD_BYTES else text.split("\n")[:-1] or [text]
    content = [line for line in whole if line.strip()]
    return _guess_table(
        [line for line in content if not line.lstrip().startswith("#")][:N_LINES]
        or content[:N_LINES]
    )


def _read_head(path: str | os.PathLike[str]) -> bytes:
    with open(path, "rb") as file:
        return file.read(4)


def _guess_archive(path: str | os.PathLike[str]) -> DetectedKind:
    """Guess the kind of an archive: a set of files, runs (by the first member), a click log with
    its rankings, or documents."""
    if find_packed_clicks(path) or find_packed_ubi(path):
        return DetectedKind((FileKind.CLICKS, FileKind.QRELS))
    try:
        with open_zip(path, display_name(path)) as archive:
            files = [info for info in archive.infolist() if not info.is_dir()]
            if any(find_role(info.filename) for info in files):
                return DetectedKind((FileKind.SET,))
            with archive.open(files[0]) as first:
                guessed = guess_kind(io.BytesIO(first.read(HEAD_BYTES)))
    except (*ARCHIVE_ERRORS, FormatError, OSError, ValueError, IndexError):
        return UNKNOWN_KIND
    return (
        guessed
        if guessed.sure and guessed.kinds[0] in (FileKind.RUN, FileKind.QRELS)
        else DetectedKind((FileKind.DOCUMENTS, FileKind.SET))
    )


def _guess_markup(text: str) -> DetectedKind:
    begin = text[:4000]
    if re.search(r"<(topics?|top|query|queries)\b", begin, re.IGNORECASE):
        return DetectedKind((FileKind.TOPICS,))
    sure = re.search(r"<(docno|docid|html|body)\b|<!doctype\s+html", begin, re.IGNORECASE)
    return DetectedKind((FileKind.DOCUMENTS,) if sure else (FileKind.DOCUMENTS, FileKind.TOPICS))


def _guess_json(text: str) -> DetectedKind:
    if QUERY_SET in text or '"queryText"' in text:
        return DetectedKind((FileKind.TOPICS,))
    if '"query_doc_pairs"' in text:
        return DetectedKind((FileKind.JUDGEMENTS, FileKind.SET))
    if re.search(r'"(candidates|passage)"\s*:', text[:20_000]) and '"query"' in text:
        return DetectedKind((FileKind.SET, FileKind.JUDGEMENTS, FileKind.DOCUMENTS))
    records = []
    for line in text.split("\n")[:N_LINES]:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            records.append({str(key).lower(): cell for key, cell in value.items()})
    if not records:
        return UNKNOWN_KIND
    keys = {key for record in records for key in record}
    if keys & set(INFORMATION_NEED_COLUMNS):
        return DetectedKind(
            (FileKind.TOPICS,)
            if not keys & {"contents", "body", "abstract"}
            else (FileKind.TOPICS, FileKind.DOCUMENTS)
        )
    if keys & {"contents", "body", "abstract", "url", "docno", "doc_id", "docid", "document_id"}:
        return DetectedKind((FileKind.DOCUMENTS,))
    if "text" in keys:
        texts = [str(record.get("text", "")) for record in records]
        return (
            DetectedKind((FileKind.DOCUMENTS,))
            if any(record.get("title") for record in records)
            else guess_by_length(texts)
        )
    return (
        DetectedKind((FileKind.TOPICS, FileKind.DOCUMENTS))
        if keys & set(QUERY_NAMES)
        else UNKNOWN_KIND
    )


def guess_by_length(texts: Sequence[str]) -> DetectedKind:
    """Guess queries or documents by the length of the texts. Between the bounds, and with few
    texts, both are possible."""
    words = sum(len(text.split()) for text in texts) / len(texts)
    length = sum(map(len, texts)) / len(texts)
    if len(texts) >= MIN_ROWS and words <= QUERY_WORDS and length <= 10 * QUERY_WORDS:
        return DetectedKind((FileKind.TOPICS,))
    if words >= DOCUMENT_WORDS or length > 10 * DOCUMENT_WORDS:
        return DetectedKind((FileKind.DOCUMENTS,))
    return DetectedKind(
        (FileKind.DOCUMENTS, FileKind.TOPICS)
        if length > 300
        else (FileKind.TOPICS, FileKind.DOCUMENTS)
    )


def _guess_table(lines: list[str]) -> DetectedKind:
    first = lines[0]
    delimiter = max("\t,;", key=first.count)
    names = normalise_names(first.rstrip("\r").replace('"', "").split(delimiter))
    header_kind = _kind_of_header(names)
    if header_kind is not None:
        return _guess_kind_by_text_length(header_kind, names, lines[1:], delimiter)
    rows = [line.split() for line in lines]
    columns = _guess_columns(rows) or _guess_damaged_columns(rows)
    if columns is not None:
        return columns
    cells = [line.split("\t") for line in lines]
    if len(cells[0]) == 2:
        return guess_by_length([row[-1] for row in cells])
    if len(cells[0]) > 2:
        return DetectedKind((FileKind.DOCUMENTS, FileKind.TOPICS), sure=False)
    alone = all(len(row) > 1 for row in rows) and "," not in first
    return DetectedKind((FileKind.TOPICS,), sure=False) if alone else UNKNOWN_KIND


def _guess_columns(rows: list[list[str]]) -> DetectedKind | None:
    """Guess runs and qrels by the content of their columns."""
    below = rows[1:] or rows

    def holds_for_most(fits: Callable[[list[str]], Any]) -> bool:
        return bool(below) and sum(bool(fits(row)) for row in below) >= MIN_SHARE * len(below)

    if holds_for_most(lambda row: len(row) >= 6 and _is_number(row[4])):
        trectools = rows[0][3:5] == ["0", "0"] and rows[0][5] == "trectools"
        if _are_llm_labels(rows if len(rows[0]) == 6 and _is_number(rows[0][4]) else below):
            return DetectedKind((FileKind.LLM_LABELS,))
        return DetectedKind((FileKind.POOL, FileKind.RUN) if trectools else (FileKind.RUN,))
    if holds_for_most(lambda row: len(row) == 4 and _is_number(row[3])):
        zeros = holds_for_most(lambda row: len(row) == 4 and row[1].lower() in ("0", "q0"))
        whole = holds_for_most(lambda row: len(row) == 4 and _is_whole(row[3]))
        if not zeros and _are_topic_scores(rows, whole=whole):
            return DetectedKind((FileKind.LEADERBOARD,))
        if not zeros and holds_for_most(lambda row: len(row) == 4 and row[2].isdigit()):
            return DetectedKind((FileKind.RUN,) if not whole else (FileKind.RUN, FileKind.QRELS))
        return (
            DetectedKind((FileKind.QRELS,) if zeros else (FileKind.QRELS, FileKind.RUN))
            if whole
            else None
        )
    if holds_for_most(lambda row: len(row) == 3 and row[2].isdigit()):
        return DetectedKind((FileKind.RUN, FileKind.QRELS), sure=len(rows) >= MIN_ROWS)
    return None


def _are_topic_scores(rows: list[list[str]], *, whole: bool) -> bool:
    """Return whether rows of four columns are scores (run, measure, topic, value): a row has the
    topic `all`, or the values are fractions and each run and measure has two rows on average.

    whole: whether the values are whole numbers.
    """
    scores = [row for row in rows if len(row) == 4]
    return any(row[2] == ALL_TOPICS for row in scores) or (
        not whole and 2 * len({(row[0], row[1]) for row in scores}) <= len(scores)
    )


def _are_llm_labels(rows: list[list[str]]) -> bool:
    """Return whether six columns are grades with a confidence from 0 to 1 instead of ranks with a
    score: few distinct grades, which repeat within a topic."""
    if not all(
        len(row) == 6 and _is_whole(row[3]) and _is_number(row[4]) and 0 <= float(row[4]) <= 1
        for row in rows
    ):
        return False
    grades = {int(float(row[3])) for row in rows}
    return (
        len(grades) > 1
        and max(grades) <= HIGHEST_GRADE
        and len({(row[0], row[3]) for row in rows}) < len(rows)
    )


def _guess_damaged_columns(rows: list[list[str]]) -> DetectedKind | None:
    """Guess a run or qrels file with many problems.

    A complete line with Q0 or 0 in its place is not a coincidence. If half of the lines are
    complete, the others are reported one by one.
    """
    run = sum(
        len(row) == 6 and row[1].lower() in ("q0", "0") and row[3].isdigit() and _is_number(row[4])
        for row in rows
    )
    qrels = sum(
        len(row) == 4 and row[1].lower() in ("q0", "0") and _is_whole(row[3]) for row in rows
    )
    if 2 * max(run, qrels) < len(rows) or not rows:
        return None
    return (
        DetectedKind((FileKind.RUN,))
        if run > qrels
        else DetectedKind((FileKind.QRELS,), sure=qrels > 1)
    )


def _guess_kind_by_text_length(
    header_kind: FileKind, names: list[str], lines: list[str], delimiter: str
) -> DetectedKind:
    """Decide by the length of the texts, also if the header is `id text`."""
    either = (
        header_kind == FileKind.TOPICS
        and len(names) == 2
        and find_column(names, ("_id", "id", "number", "num")) == 0
    )
    if either and lines:
        return guess_by_length([line.split(delimiter, 1)[-1] for line in lines])
    if header_kind == FileKind.CLICKS:
        return DetectedKind((FileKind.CLICKS, FileKind.QRELS))
    if header_kind == FileKind.TOPICS and {"title", "text"} <= set(names):
        return DetectedKind((FileKind.DOCUMENTS, FileKind.TOPICS))
    return DetectedKind(
        (header_kind,),
        sure=header_kind != FileKind.JUDGEMENTS or find_column(names, ANNOTATOR_NAMES) is not None,
    )


def _kind_of_header(names: list[str]) -> FileKind | None:
    known = set(names)
    topic, document = (
        find_column(names, TOPIC_NAMES) is not None,
        find_column(names, DOCUMENT_NAMES) is not None,
    )
    if known >= {"query_id", "corpus_id", "score"}:
        return FileKind.QRELS
    if known >= {"relevancelevel", "documentid"} or known >= {"task", "worker", "label"}:
        return FileKind.JUDGEMENTS
    if (
        topic
        and document
        and find_column(names, ANNOTATOR_NAMES) is not None
        and find_column(names, GRADE_NAMES) is not None
    ):
        return FileKind.JUDGEMENTS
    if topic and document and known & {"session", "session_id", "clicked"}:
        return FileKind.CLICKS
    if topic and document and known & {"best_rank", "priority"}:
        return FileKind.POOL
    if names[:2] in (["query", "docid"], ["query", "doc_id"]) and len(names) > 2:
        return FileKind.JUDGEMENTS
    if document and known & {*TEXT_NAMES, "title"}:
        return FileKind.DOCUMENTS
    if find_column(names, ID_NAMES) is not None and known & set(QUERY_NAMES) and len(names) > 1:
        return FileKind.TOPICS
    return (
        FileKind.DOCUMENTS
        if find_column(names, DOCUMENT_IDS) is not None
        and known & set(TEXT_NAMES)
        and len(names) > 1
        else None
    )


def _is_whole(cell: str) -> bool:
    return re.fullmatch(r"[+-]?\d+(\.00?)?", cell) is not None


def _is_number(cell: str) -> bool:
    return re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", cell) is not None

"""What kind of file somebody has given us, by its content: a guess for a person to confirm, never a
reason to refuse.

detect(path) -> the best guess      guess(path) -> every kind that it may be      mistaken(path,
kind) -> the kind to ask about
"""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from assay.formats.archives import DAMAGED, is_tar, opened_zip
from assay.formats.clicks import packed_clicks
from assay.formats.delimited import DOCUMENT_NAMES, TOPIC_NAMES, column_names, find_column
from assay.formats.documents import ID_NAMES as DOCUMENT_IDS
from assay.formats.documents import TEXT_NAMES
from assay.formats.errors import FormatError
from assay.formats.judgement_cells import ANNOTATOR_NAMES, GRADE_NAMES
from assay.formats.opening import Peeked, Source, source_name
from assay.formats.quepid import names_queries
from assay.formats.sets import role_of
from assay.formats.topics import ID_NAMES
from assay.formats.topics import TEXT_NAMES as QUERY_NAMES
from assay.formats.unread import unread_content

LOOKED_AT = 200
"""Lines of a file's head that are looked at."""
HEAD = 1 << 16
"""Bytes of it."""
MOSTLY = 0.9
"""Share of the lines that must have the form of a kind: a few broken ones do not make another kind
of it."""
ENOUGH = 5
"""Texts from which on their length says something."""
QUERY_WORDS, DOCUMENT_WORDS = 15, 60
"""Mean words of a text up to which it is surely a query, and from which on surely a document."""
HIGHEST_GRADE = 10
"""Above it a number is a rank."""
NEEDS = (
    "description",
    "desc",
    "narrative",
    "narr",
    "query",
    "question",
    "information_need",
    "query_text",
)
"""Fields that topics have and documents have not."""


class FileKind(StrEnum):
    RUN = "run"
    QRELS = "qrels"
    TOPICS = "topics"
    DOCUMENTS = "documents"
    JUDGEMENTS = "judgements"
    CLICKS = "clicks"
    POOL = "pool"
    SET = "set"
    MACHINE_LABELS = "machine labels"
    NUGGETS = "nuggets"
    ANSWERS = "answers"
    UNKNOWN = "unknown"


class Guess(NamedTuple):
    """kinds: all that the file may be, the likeliest first. sure: it can be nothing else."""

    kinds: tuple[FileKind, ...]
    sure: bool = True


NOTHING = Guess((), sure=False)


def detect(path: Source, *, name: str | None = None, max_bytes: int | None = None) -> FileKind:
    """The kind of file that the first 64 kB look like most.

    FormatError only where the file cannot be opened as what it claims to be (a damaged archive);
    text that is none is `unknown`."""
    kinds = guess(path, name=name, max_bytes=max_bytes).kinds
    return kinds[0] if kinds else FileKind.UNKNOWN


def mistaken(
    path: Source, kind: str, *, name: str | None = None, max_bytes: int | None = None
) -> FileKind | None:
    """The kind that the file surely is where that is not `kind`, so that a person should be asked;
    None where it may be that."""
    guessed = guess(path, name=name, max_bytes=max_bytes)
    return (
        guessed.kinds[0] if guessed.sure and guessed.kinds and kind not in guessed.kinds else None
    )


def guess(path: Source, *, name: str | None = None, max_bytes: int | None = None) -> Guess:
    """What the begin of a file may be. FormatError as from `detect`."""
    if (
        isinstance(path, (str, os.PathLike))
        and os.fspath(path) != "-"
        and _starts(path) == b"PK\x03\x04"
    ):
        return _zip(path)
    peeked = Peeked(path, name=name, max_bytes=max_bytes)
    head = peeked.head
    if head[:4] == b"PK\x03\x04" or is_tar(head):
        return Guess((FileKind.DOCUMENTS, FileKind.SET))
    if b"\0" in head:
        return NOTHING
    text = head.decode("utf-8", "replace").lstrip()
    if not text:
        return NOTHING
    if text[0] == "<":
        return _markup(text)
    if export_kind := {"ratings": FileKind.QRELS, "snapshot": FileKind.RUN}.get(
        names_queries(head)
    ):
        return Guess(
            (FileKind.JUDGEMENTS, export_kind) if export_kind == FileKind.QRELS else (export_kind,)
        )
    if text[0] in "{[":
        unread = unread_content(text)
        return Guess((FileKind(unread),)) if unread else _json(text)
    if re.match(r"\.I\s+\S+\s", text):
        return Guess(
            (FileKind.DOCUMENTS, FileKind.TOPICS)
            if len(text) > 20_000
            else (FileKind.TOPICS, FileKind.DOCUMENTS)
        )
    whole = text.split("\n") if len(head) < HEAD else text.split("\n")[:-1] or [text]
    content = [line for line in whole if line.strip()]
    return _table(
        [line for line in content if not line.lstrip().startswith("#")][:LOOKED_AT]
        or content[:LOOKED_AT]
    )


def _starts(path: str | os.PathLike[str]) -> bytes:
    with open(path, "rb") as file:
        return file.read(4)


def _zip(path: str | os.PathLike[str]) -> Guess:
    """An archive whose files are those of a set is one, and one of runs is told by its first;
    clicks beside the rankings that were shown are a log; else its pages are documents."""
    if packed_clicks(path):
        return Guess((FileKind.CLICKS, FileKind.QRELS))
    try:
        with opened_zip(path, source_name(path)) as archive:
            files = [info for info in archive.infolist() if not info.is_dir()]
            if any(role_of(info.filename) for info in files):
                return Guess((FileKind.SET,))
            with archive.open(files[0]) as first:
                guessed = guess(io.BytesIO(first.read(HEAD)))
    except (*DAMAGED, FormatError, OSError, ValueError, IndexError):
        return NOTHING
    return (
        guessed
        if guessed.sure and guessed.kinds[0] in (FileKind.RUN, FileKind.QRELS)
        else Guess((FileKind.DOCUMENTS, FileKind.SET))
    )


def _markup(text: str) -> Guess:
    begin = text[:4000]
    if re.search(r"<(topics?|top|query|queries)\b", begin, re.IGNORECASE):
        return Guess((FileKind.TOPICS,))
    sure = re.search(r"<(docno|docid|html|body)\b|<!doctype\s+html", begin, re.IGNORECASE)
    return Guess((FileKind.DOCUMENTS,) if sure else (FileKind.DOCUMENTS, FileKind.TOPICS))


def _json(text: str) -> Guess:
    if '"query_doc_pairs"' in text:
        return Guess((FileKind.JUDGEMENTS, FileKind.SET))
    if re.search(r'"(candidates|passage)"\s*:', text[:20_000]) and '"query"' in text:
        return Guess((FileKind.SET, FileKind.JUDGEMENTS, FileKind.DOCUMENTS))
    records = []
    for line in text.split("\n")[:LOOKED_AT]:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            records.append({str(key).lower(): cell for key, cell in value.items()})
    if not records:
        return NOTHING
    keys = {key for record in records for key in record}
    if keys & set(NEEDS):
        return Guess(
            (FileKind.TOPICS,)
            if not keys & {"contents", "body", "abstract"}
            else (FileKind.TOPICS, FileKind.DOCUMENTS)
        )
    if keys & {"contents", "body", "abstract", "url", "docno", "doc_id", "docid", "document_id"}:
        return Guess((FileKind.DOCUMENTS,))
    if "text" in keys:
        texts = [str(record.get("text", "")) for record in records]
        return (
            Guess((FileKind.DOCUMENTS,))
            if any(record.get("title") for record in records)
            else by_length(texts)
        )
    return Guess((FileKind.TOPICS, FileKind.DOCUMENTS)) if keys & set(QUERY_NAMES) else NOTHING


def by_length(texts: Sequence[str]) -> Guess:
    """Queries are short and documents long; in between, and where there are few, a text may be
    either."""
    words = sum(len(text.split()) for text in texts) / len(texts)
    length = sum(map(len, texts)) / len(texts)
    if len(texts) >= ENOUGH and words <= QUERY_WORDS and length <= 10 * QUERY_WORDS:
        return Guess((FileKind.TOPICS,))
    if words >= DOCUMENT_WORDS or length > 10 * DOCUMENT_WORDS:
        return Guess((FileKind.DOCUMENTS,))
    return Guess(
        (FileKind.DOCUMENTS, FileKind.TOPICS)
        if length > 300
        else (FileKind.TOPICS, FileKind.DOCUMENTS)
    )


def _table(lines: list[str]) -> Guess:
    first = lines[0]
    delimiter = max("\t,;", key=first.count)
    names = column_names(first.rstrip("\r").replace('"', "").split(delimiter))
    headed = _header(names)
    if headed is not None:
        return _texts_below(headed, names, lines[1:], delimiter)
    rows = [line.split() for line in lines]
    columns = _columns(rows) or _broken_columns(rows)
    if columns is not None:
        return columns
    cells = [line.split("\t") for line in lines]
    if len(cells[0]) == 2:
        return by_length([row[-1] for row in cells])
    if len(cells[0]) > 2:
        return Guess((FileKind.DOCUMENTS, FileKind.TOPICS), sure=False)
    alone = all(len(row) > 1 for row in rows) and "," not in first
    return Guess((FileKind.TOPICS,), sure=False) if alone else NOTHING


def _columns(rows: list[list[str]]) -> Guess | None:
    """Runs and qrels, told by what stands in which column."""
    below = rows[1:] or rows

    def mostly(fits: Callable[[list[str]], Any]) -> bool:
        return bool(below) and sum(bool(fits(row)) for row in below) >= MOSTLY * len(below)

    if mostly(lambda row: len(row) >= 6 and _is_number(row[4])):
        trectools = rows[0][3:5] == ["0", "0"] and rows[0][5] == "trectools"
        if _labelled_by_machine(rows if len(rows[0]) == 6 and _is_number(rows[0][4]) else below):
            return Guess((FileKind.MACHINE_LABELS,))
        return Guess((FileKind.POOL, FileKind.RUN) if trectools else (FileKind.RUN,))
    if mostly(lambda row: len(row) == 4 and _is_number(row[3])):
        zeros = mostly(lambda row: row[1].lower() in ("0", "q0"))
        whole = mostly(lambda row: _is_whole(row[3]))
        if not zeros and mostly(lambda row: row[2].isdigit()):
            return Guess((FileKind.RUN,) if not whole else (FileKind.RUN, FileKind.QRELS))
        return (
            Guess((FileKind.QRELS,) if zeros else (FileKind.QRELS, FileKind.RUN)) if whole else None
        )
    if mostly(lambda row: len(row) == 3 and row[2].isdigit()):
        return Guess((FileKind.RUN, FileKind.QRELS), sure=len(rows) >= ENOUGH)
    return None


def _labelled_by_machine(rows: list[list[str]]) -> bool:
    """Whether six columns are grades with a confidence from 0 to 1, not ranks with a score: a few
    grades, which repeat within a topic."""
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


def _broken_columns(rows: list[list[str]]) -> Guess | None:
    """A run or qrels with many mistakes: a line of the whole form, Q0 or 0 in its place, is nothing
    else by chance, so where half of them are, the others are to be told one by one."""
    run = sum(
        len(row) == 6 and row[1].lower() in ("q0", "0") and row[3].isdigit() and _is_number(row[4])
        for row in rows
    )
    qrels = sum(
        len(row) == 4 and row[1].lower() in ("q0", "0") and _is_whole(row[3]) for row in rows
    )
    if 2 * max(run, qrels) < len(rows) or not rows:
        return None
    return Guess((FileKind.RUN,)) if run > qrels else Guess((FileKind.QRELS,), sure=qrels > 1)


def _texts_below(headed: FileKind, names: list[str], lines: list[str], delimiter: str) -> Guess:
    """With a header `id text` the length of the texts decides, as without one."""
    either = (
        headed == FileKind.TOPICS
        and len(names) == 2
        and find_column(names, ("_id", "id", "number", "num")) == 0
    )
    if either and lines:
        return by_length([line.split(delimiter, 1)[-1] for line in lines])
    if headed == FileKind.CLICKS:
        return Guess((FileKind.CLICKS, FileKind.QRELS))
    if headed == FileKind.TOPICS and {"title", "text"} <= set(names):
        return Guess((FileKind.DOCUMENTS, FileKind.TOPICS))
    return Guess(
        (headed,),
        sure=headed != FileKind.JUDGEMENTS or find_column(names, ANNOTATOR_NAMES) is not None,
    )


def _header(names: list[str]) -> FileKind | None:
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

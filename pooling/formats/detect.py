"""What kind of file somebody has given us, by its content: a guess for a person to confirm, never a reason to refuse."""

from __future__ import annotations

import json
import re
from enum import StrEnum

from pooling.formats.archives import is_tar
from pooling.formats.delimited import DOCUMENT_NAMES, TOPIC_NAMES, column_names, find_column
from pooling.formats.documents import TEXT_NAMES
from pooling.formats.judgements import ANNOTATOR_NAMES, GRADE_NAMES
from pooling.formats.opening import Peeked, Source
from pooling.formats.topics import ID_NAMES
from pooling.formats.topics import TEXT_NAMES as QUERY_NAMES

LOOKED_AT = 200
"""Lines of a file's head that are looked at."""


class Kind(StrEnum):
    RUN = "run"
    QRELS = "qrels"
    TOPICS = "topics"
    DOCUMENTS = "documents"
    JUDGEMENTS = "judgements"
    CLICKS = "clicks"
    POOL = "pool"
    UNKNOWN = "unknown"


def detect(path: Source, *, name: str | None = None, max_bytes: int | None = None) -> Kind:
    """The kind of file that the first 64 kB look like.

    FormatError only where the file cannot be opened as what it claims to be (a damaged archive); text that is none is `unknown`.
    """
    head = Peeked(path, name=name, max_bytes=max_bytes).head
    if head[:4] == b"PK\x03\x04" or is_tar(head):
        return Kind.DOCUMENTS
    if b"\0" in head:
        return Kind.UNKNOWN
    text = head.decode("utf-8", "replace").lstrip()
    if not text:
        return Kind.UNKNOWN
    if text[0] == "<":
        return _markup(text)
    if text[0] == "{":
        return _json(text)
    if re.match(r"\.I\s+\S+\s", text):
        return Kind.DOCUMENTS if len(text) > 20_000 else Kind.TOPICS
    return _table([line for line in text.split("\n")[:LOOKED_AT] if line.strip()])


def _markup(text: str) -> Kind:
    if re.search(r"<(topics?|top|query)\b", text[:4000], re.IGNORECASE):
        return Kind.TOPICS
    return Kind.DOCUMENTS


def _json(text: str) -> Kind:
    try:
        value = json.loads(text.split("\n", 1)[0])
    except (ValueError, RecursionError):
        return Kind.JUDGEMENTS if '"query_doc_pairs"' in text else Kind.UNKNOWN
    keys = {str(key).lower() for key in value} if isinstance(value, dict) else set()
    if "query_doc_pairs" in keys:
        return Kind.JUDGEMENTS
    if keys & {"title", "contents", "body", "abstract", "url", "docno", "doc_id"} or len(str(value.get("text", ""))) > 400:
        return Kind.DOCUMENTS
    return Kind.TOPICS if keys & set(QUERY_NAMES) else Kind.UNKNOWN


def _table(lines: list[str]) -> Kind:
    first = lines[0]
    delimiter = max("\t,;", key=first.count)
    headed = _header(column_names(first.rstrip("\r").replace('"', "").split(delimiter)))
    if headed is not None:
        return headed
    rows = [line.split() for line in lines if not line.startswith("#")]
    if rows and all(len(row) >= 6 and _is_number(row[4]) for row in rows[1:] or rows):
        return Kind.POOL if rows[0][3:5] == ["0", "0"] and rows[0][5] == "trectools" else Kind.RUN
    if rows and all(len(row) == 4 and re.fullmatch(r"-?\d+", row[3]) for row in rows):
        return Kind.QRELS
    if rows and all(len(row) == 3 and row[2].isdigit() for row in rows):
        return Kind.RUN
    cells = [line.split("\t") for line in lines]
    if len(cells[0]) > 1:
        longest = sum(len(row[-1]) for row in cells) / len(cells)
        return Kind.DOCUMENTS if longest > 300 or len(cells[0]) > 2 else Kind.TOPICS
    return Kind.TOPICS if all(len(row) > 1 for row in rows) and "," not in first else Kind.UNKNOWN


def _header(names: list[str]) -> Kind | None:
    known = set(names)
    topic, document = find_column(names, TOPIC_NAMES) is not None, find_column(names, DOCUMENT_NAMES) is not None
    if known >= {"query_id", "corpus_id", "score"}:
        return Kind.QRELS
    if known >= {"relevancelevel", "documentid"} or known >= {"task", "worker", "label"}:
        return Kind.JUDGEMENTS
    if topic and document and find_column(names, ANNOTATOR_NAMES) is not None and find_column(names, GRADE_NAMES) is not None:
        return Kind.JUDGEMENTS
    if topic and document and known & {"session", "session_id", "clicked"}:
        return Kind.CLICKS
    if topic and document and known & {"best_rank", "priority"}:
        return Kind.POOL
    if names[:2] in (["query", "docid"], ["query", "doc_id"]) and len(names) > 2:
        return Kind.JUDGEMENTS
    if document and known & {*TEXT_NAMES, "title"}:
        return Kind.DOCUMENTS
    if find_column(names, ID_NAMES) is not None and known & set(QUERY_NAMES) and len(names) > 1:
        return Kind.TOPICS
    return None


def _is_number(cell: str) -> bool:
    return re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", cell) is not None

"""The tables of a release that data set catalogues describe: their files, columns and types."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from analysis.publishing.exports import LABEL_COLUMNS
from assay.formats.exports import RAW_COLUMNS


class ColumnType(Enum):
    TEXT = "text"
    WHOLE = "whole number"
    OPTIONAL_WHOLE = "whole number, or empty"
    TIME = "ISO 8601 time, or empty"


@dataclass(frozen=True)
class ReleaseTable:
    """A table of a release. part: its file. key: the columns that identify a row. quoted: whether
    cells are quoted as in CSV. has_header: whether the first line of a delimited file names the
    columns. Objects of JSON Lines may have further keys."""

    name: str
    part: str
    words: str
    key: tuple[str, ...]
    columns: dict[str, ColumnType]
    quoted: bool = False
    has_header: bool = True

    @property
    def is_delimited(self) -> bool:
        return self.part.endswith(".tsv")


_TYPES = {
    **dict.fromkeys(
        (
            *("position", "binary", "judgements", "revision", "guideline_version"),
            *("excluded", "gold", "late", "after_deadline"),
        ),
        ColumnType.WHOLE,
    ),
    **dict.fromkeys(
        ("active_ms", "idle_ms", "hidden_ms", "total_ms", "server_ms"), ColumnType.OPTIONAL_WHOLE
    ),
    **dict.fromkeys(("served_at", "judged_at"), ColumnType.TIME),
}


def _columns(*names: str, grade: ColumnType = ColumnType.WHOLE) -> dict[str, ColumnType]:
    types = {**_TYPES, "grade": grade}
    return {name: types.get(name, ColumnType.TEXT) for name in names}


RELEASE_TABLES = (
    ReleaseTable(
        "labels",
        "labels.tsv",
        "One label per pair of topic and document, on all grades and on two.",
        ("topic", "document"),
        _columns(*LABEL_COLUMNS),
    ),
    ReleaseTable(
        "judgements",
        "judgements.tsv",
        "Every revision of every judgement. Rows with excluded = 1 do not enter labels.",
        ("qid", "docid", "annotator", "revision"),
        _columns(*RAW_COLUMNS, grade=ColumnType.OPTIONAL_WHOLE),
        quoted=True,
    ),
    ReleaseTable(
        "topics",
        "topics.tsv",
        "The topics that were kept.",
        ("id",),
        _columns("id", "text"),
        has_header=False,
    ),
    ReleaseTable(
        "all-topics",
        "topics.jsonl",
        "All topics with all their texts. Topics with a removed_reason were not kept.",
        ("id",),
        _columns(
            *("id", "text", "description", "narrative", "position"),
            *("proposal", "same_as", "removed_reason"),
        ),
    ),
    ReleaseTable(
        "documents",
        "documents.jsonl",
        "Texts of the documents in the pool.",
        ("_id",),
        _columns("_id", "title", "text"),
    ),
)

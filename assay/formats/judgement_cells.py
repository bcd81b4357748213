"""One judgement, and parsers of its cells, which all readers of judgements share."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import NamedTuple

from assay.number_words import format_count

ANNOTATOR_NAMES = (
    "annotator",
    "annotator_id",
    "worker",
    "worker_id",
    "user",
    "user_id",
    "userid",
    "judge",
    "assessor",
)
GRADE_NAMES = ("grade", "judgement", "judgment", "rating", "relevance", "label")
TRUE, FALSE = ("1", "true", "yes"), ("", "0", "false", "no")


class FileJudgement(NamedTuple):
    """One judgement as read from a file. seconds, judged_at: NaN if unknown."""

    line: int
    topic: str
    document: str
    annotator: str
    grade: int
    seconds: float = math.nan
    judged_at: float = math.nan
    excluded: bool = False
    gold: bool = False


class InvalidCell(ValueError):
    """Error for a cell that cannot be read, with the problem and what was expected."""

    def __init__(self, problem: str, expected: str) -> None:
        super().__init__(problem)
        self.problem, self.expected = problem, expected


class WarningCounter:
    """Collector of warnings, with the number of rows that each concerns."""

    def __init__(self) -> None:
        self.said: dict[str, None] = {}
        self.counts: dict[tuple[str, str, str, str], int] = {}

    def add(self, noun: str, one: str, many: str, what: str) -> None:
        """Count a row for a warning such as `1 row has …` or `2 rows have …`. noun: singular noun.
        one, many: the verb in singular and plural. what: the rest of the sentence."""
        self.counts[noun, one, many, what] = self.counts.get((noun, one, many, what), 0) + 1

    def add_once(self, text: str) -> None:
        """Add a warning that is shown once, however often its cause occurs."""
        self.said[text] = None

    def list_texts(self) -> list[str]:
        return [*self.said] + [
            f"{format_count(n, noun, one, many)} {what}"
            for (noun, one, many, what), n in self.counts.items()
        ]


def parse_id(cell: str, what: str) -> str:
    cell = cell.strip()
    if not cell:
        raise InvalidCell(f"missing {what}", f"a {what}")
    return cell


def parse_grade(cell: str) -> int:
    """Parse a whole number. 2.0 is read as 2, because Quepid and pandas write grades this way."""
    text = cell.strip().removesuffix(".0")
    if not (
        text.removeprefix("-").isascii() and text.removeprefix("-").isdigit() and len(text) < 9
    ):
        raise InvalidCell(
            f"invalid grade {cell!r}" if cell.strip() else "the grade is missing", "a whole number"
        )
    return int(text)


def parse_seconds(cell: str) -> float:
    text = cell.strip()
    if not text:
        return math.nan
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value < 0 or "_" in text:
        raise InvalidCell(f"{cell!r} is not a time", "a number of at least 0, or empty")
    return value


MAX_MOMENT = 1e11
"""Upper limit of seconds since 1970, in the year 5138. Larger numbers are milliseconds."""


def parse_moment(cell: str) -> float:
    """Return seconds since 1970, or NaN for an empty cell. Raises InvalidCell, also for
    milliseconds."""
    value = parse_seconds(cell)
    if value >= MAX_MOMENT:
        raise InvalidCell(
            f"{cell.strip()} is not a time in seconds since 1970 (it may be in milliseconds)",
            "seconds, or ISO 8601 such as 2021-03-04T10:30:00Z",
        )
    return value


def parse_time(cell: str, warnings: WarningCounter) -> float:
    text = cell.strip()
    if not text:
        return math.nan
    if text.replace(".", "", 1).isdigit() and len(text.partition(".")[0]) != 8:
        return parse_moment(text)
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            warnings.add("time", "has", "have", "no UTC offset; read as UTC")
            moment = moment.replace(tzinfo=UTC)
        return moment.timestamp()
    except (ValueError, OverflowError):
        raise InvalidCell(
            f"{cell!r} is not a date and time", "ISO 8601 such as 2021-03-04T10:30:00Z"
        ) from None


def parse_flag(cell: str, what: str) -> bool:
    text = cell.strip().lower()
    if text in TRUE:
        return True
    if text in FALSE:
        return False
    raise InvalidCell(f"invalid {what} {cell!r}", "0 or 1")

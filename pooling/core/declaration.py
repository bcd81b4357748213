"""Read documents that declare a desired state, report their mistakes, and compare them with the
current state.

    values, mistakes = read_table(said, KEYS, ("campaign",))
    list_changes({"name": "A"}, {"name": "B"}, KEYS, "campaign")    -> [Change("campaign", "name", "A",
    "B", "name: “A” → “B”")]
    find_line(text, ("campaign", "people", 2, "role"))              -> the line of a TOML file
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from difflib import get_close_matches
from typing import Any, NamedTuple

Path = tuple[str | int, ...]
"""Keys and row numbers (from 0) that lead to a value."""
MAX_WORDS = 60
"""Maximum length of a text in the description of a change, in characters."""


@dataclass(frozen=True)
class Key:
    """The definition of one key of a declared table.

    kind: text, whole, number, flag, moment, day, texts, numbers, file, files, rows, table. none: the value
    written for an absent value (0 or ""). row: the keys of a row or table, of which `identity` identifies
    it. whole: delete rows that the document lacks. ordered: whether the order of rows matters.
    """

    name: str
    kind: str
    help: str
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    none: int | str | None = None
    default: Any = None
    required: bool = False
    row: tuple[Key, ...] = ()
    identity: tuple[str, ...] = ()
    whole: bool = False
    ordered: bool = False


class Mistake(NamedTuple):
    path: Path
    problem: str
    expected: str


class Change(NamedTuple):
    """A difference between the current and the declared state.

    table: collection, pool or campaign. before: None for a new value. after: None for a removed
    one. words: description for display.
    """

    table: str
    name: str
    before: Any
    after: Any
    words: str


def read_table(
    table_values: Any, keys: Sequence[Key], path: Path, *, with_defaults: bool = False
) -> tuple[dict[str, Any], list[Mistake]]:
    """Read the values of a declared table. Returns (values of the keys that it contains or,
    `with_defaults`, of all keys; mistakes)."""
    if not isinstance(table_values, Mapping):
        return {}, [Mistake(path, f"{path[-1]} is not a table", "key = value")]
    known = {key.name: key for key in keys}
    values: dict[str, Any] = {key.name: key.default for key in keys} if with_defaults else {}
    mistakes: list[Mistake] = []
    for name, value in table_values.items():
        if name not in known:
            near = get_close_matches(str(name), known, 1)
            mistakes.append(
                Mistake(
                    (*path, name),
                    f"unknown key {str(name)[:60]!r}",
                    f"{near[0]!r}" if near else f"one of {', '.join(known)}",
                )
            )
            continue
        try:
            values[name] = parse_value(known[name], value, (*path, name))
        except InvalidValue as error:
            mistakes += error.mistakes
    mistakes += [
        Mistake(path, f"missing key {key.name}", f"{key.name} = ...")
        for key in keys
        if key.required and key.name not in table_values
    ]
    return values, mistakes


class InvalidValue(Exception):
    def __init__(self, mistakes: list[Mistake]) -> None:
        super().__init__(mistakes)
        self.mistakes = mistakes


def parse_value(key: Key, value: Any, path: Path) -> Any:
    """Convert a declared value to its Python type, or to None if it stands for an absent value.
    Raises InvalidValue."""
    if key.none is not None and (
        value is None or (type(value) is type(key.none) and value == key.none)
    ):
        return None
    expected = EXPECTED_VALUES[key.kind]
    if key.kind == "rows":
        return parse_rows(key, value, path)
    if key.kind == "table":
        table, mistakes = read_table(value, key.row, path, with_defaults=True)
        if mistakes:
            raise InvalidValue(mistakes)
        return table
    if key.kind in ("texts", "files"):
        if not isinstance(value, list) or not all(
            isinstance(one, str) and one and "\0" not in one for one in value
        ):
            raise InvalidValue([Mistake(path, f"{key.name} is not a list of texts", expected)])
        return list(value)
    if key.kind == "numbers":
        numbers = [parse_number(one) for one in value] if isinstance(value, list) else [None]
        if None in numbers:
            raise InvalidValue([Mistake(path, f"{key.name} is not a list of numbers", expected)])
        return numbers
    converted = PARSERS[key.kind](value)
    if converted is None or (isinstance(converted, str) and "\0" in converted):
        raise InvalidValue([Mistake(path, f"{key.name} = {str(value)[:60]!r}", expected)])
    if key.required and converted == "":
        raise InvalidValue([Mistake(path, f"{key.name} is empty", expected)])
    if key.choices and converted not in key.choices:
        raise InvalidValue(
            [Mistake(path, f"{key.name} = {converted!r}", f"one of {', '.join(key.choices)}")]
        )
    if isinstance(converted, (int, float)) and (
        (key.least is not None and converted < key.least)
        or (key.most is not None and converted > key.most)
    ):
        raise InvalidValue([Mistake(path, f"{key.name} = {converted}", format_bounds(key))])
    return converted


def format_bounds(key: Key) -> str:
    limits = (("at least", key.least), ("at most", key.most))
    return " and ".join(
        f"{word} {int(value) if value == int(value) else value:,}"
        for word, value in limits
        if value is not None
    )


def parse_rows(key: Key, value: Any, path: Path) -> list[dict[str, Any]]:
    if not isinstance(value, list):
        raise InvalidValue(
            [Mistake(path, f"{key.name} is not a list of tables", EXPECTED_VALUES["rows"])]
        )
    rows, mistakes = [], []
    first: dict[tuple[Any, ...], int] = {}
    for number, row in enumerate(value):
        values, wrong = read_table(row, key.row, (*path, number), with_defaults=True)
        mistakes += wrong
        rows.append(values)
        if wrong:
            continue  # only tables have an identity
        identity = row_identity(key, values)
        if identity in first and key.identity:
            mistakes.append(
                Mistake((*path, number), f"duplicate {format_row(key, values)}", "each row once")
            )
        first.setdefault(identity, number)
    if mistakes:
        raise InvalidValue(mistakes)
    return rows


def row_identity(key: Key, row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in key.identity)


def format_row(key: Key, row: Mapping[str, Any]) -> str:
    return " ".join(
        str(row[name])
        for name in (key.identity or (key.row[0].name,))
        if row[name] not in (None, "")
    )


def parse_moment(value: Any) -> datetime | None:
    """Parse a time, given as a datetime or as ISO 8601 text, and return it in UTC. None if it is
    not a time with a time zone."""
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else value
        return (
            moment.astimezone(UTC)
            if isinstance(moment, datetime) and moment.tzinfo is not None
            else None
        )
    except (ValueError, OverflowError):
        return None


def parse_day(value: Any) -> date | None:
    try:
        day = date.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        return None
    return day if isinstance(day, date) and not isinstance(day, datetime) else None


def parse_integer(value: Any) -> int | None:
    return (
        value
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63
        else None
    )


def parse_number(value: Any) -> float | None:
    right = isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e15
    return float(value) if right else None


def parse_text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


PARSERS = {
    "text": parse_text,
    "file": parse_text,
    "whole": parse_integer,
    "number": parse_number,
    "moment": parse_moment,
    "day": parse_day,
    "flag": lambda value: value if isinstance(value, bool) else None,
}
EXPECTED_VALUES = {
    "text": "text in quotation marks",
    "file": "the path of a file",
    "whole": "a whole number",
    "number": "a number",
    "flag": "true or false",
    "moment": "a date and time with time zone, such as 2026-12-01T18:00:00+01:00",
    "day": "a date, such as 2026-12-01",
    "texts": '["one", "two"]',
    "numbers": "[0.1, 0.2]",
    "files": '["a.jsonl", "b.jsonl"]',
    "table": "a table of keys",
    "rows": "[[...]] tables, or a list of { key = value }",
}


def plain_table(
    values: Mapping[str, Any], keys: Sequence[Key], *, as_text: bool = False
) -> dict[str, Any]:
    """Convert values to those of a declaration file, in the order of the keys, without None and
    without defaults in rows.

    as_text: for JSON, with times and days as ISO 8601 and null for absent values.
    """
    written: dict[str, Any] = {}
    for key in keys:
        if key.name not in values:
            continue
        value = values[key.name]
        if key.kind == "rows":
            rows = [
                {
                    k.name: row[k.name]
                    for k in key.row
                    if k.name in row and (k.required or row[k.name] != k.default)
                }
                for row in value
            ]
            written[key.name] = [plain_table(row, key.row, as_text=as_text) for row in rows]
        elif key.kind == "table":
            given = {k.name: value[k.name] for k in key.row if value[k.name] != k.default}
            if given:
                written[key.name] = plain_table(given, key.row, as_text=as_text)
        elif value is None:
            if key.none is not None:
                written[key.name] = None if as_text else key.none
        elif isinstance(value, date) and as_text:  # a datetime is a date, too
            written[key.name] = value.isoformat().replace("+00:00", "Z")
        else:
            written[key.name] = value
    return written


def list_changes(
    stored: Mapping[str, Any], declared: Mapping[str, Any], keys: Iterable[Key], table: str
) -> list[Change]:
    """List the changes that turn the stored values into `declared`, in the order of the keys. Keys
    that `declared` lacks keep their values."""
    changes: list[Change] = []
    for key in keys:
        if key.name not in declared or stored.get(key.name) == declared[key.name]:
            continue
        if key.name not in stored and declared[key.name] in (None, "", []):
            continue
        if key.kind == "rows" and key.identity:
            changes += list_row_changes(key, stored.get(key.name) or [], declared[key.name], table)
        elif key.kind == "table":
            was = stored.get(key.name) or {k.name: k.default for k in key.row}
            told = [one.words for one in list_changes(was, declared[key.name], key.row, table)]
            words = f"{key.name}: {'; '.join(told)}"
            if told:
                changes.append(Change(table, key.name, was, declared[key.name], words))
        else:
            was, now = stored.get(key.name), declared[key.name]
            changes.append(
                Change(
                    table,
                    key.name,
                    was,
                    now,
                    f"{key.name}: {format_value(was)} → {format_value(now)}",
                )
            )
    return changes


def list_row_changes(
    key: Key, stored: Sequence[Mapping[str, Any]], declared: Sequence[Mapping[str, Any]], table: str
) -> list[Change]:
    """List the added, removed and changed rows of a table. A different order of rows is a change
    only if the key is ordered."""
    row_of = {row_identity(key, row): row for row in stored}
    changes = []
    for row in declared:
        old = row_of.get(row_identity(key, row))
        if old == row:
            continue
        called = f"{key.name}: {format_row(key, row)}"
        if old is None:
            told = [
                f"{k.name} {format_value(row[k.name])}"
                for k in key.row
                if k.name not in key.identity and row[k.name] != k.default
            ]
            words = f"{called}: new" + (f" ({', '.join(told)})" if told else "")
        else:
            words = (
                called
                + ": "
                + ", ".join(
                    f"{name} {format_value(old.get(name))} → {format_value(row[name])}"
                    for name in row
                    if old.get(name) != row[name]
                )
            )
        changes.append(Change(table, key.name, old, row, words))
    if key.whole:
        kept = {row_identity(key, row) for row in declared}
        changes += [
            Change(
                table, key.name, row, None, f"{key.name}: {format_row(key, row)}: no longer listed"
            )
            for identity, row in row_of.items()
            if identity not in kept
        ]
    if key.ordered and not changes and list(stored) != list(declared):
        orders = [", ".join(format_row(key, row) for row in rows) for rows in (stored, declared)]
        words = f"{key.name}: order {orders[0]} → {orders[1]}"
        changes.append(Change(table, key.name, list(stored), list(declared), words))
    return changes


def format_value(value: Any) -> str:
    """Format a declared value for display."""
    if value in (None, "", []):
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        first, _, rest = value.partition("\n")
        lines = f" ({1 + value.count(chr(10))} lines)" if rest else ""
        return f"“{first[:MAX_WORDS]}{'…' if rest or len(first) > MAX_WORDS else ''}”{lines}"
    if isinstance(value, list):
        names = [
            str(one.get("name", one)) if isinstance(one, Mapping) else str(one) for one in value
        ]
        return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    return (
        value.isoformat()
        if isinstance(value, date)
        else f"{value:g}"
        if isinstance(value, float)
        else str(value)
    )


HEADER_PATTERN = re.compile(r"^\s*(\[\[?)([^\]]+)\]\]?\s*(?:#.*)?$")


def find_line(text: str, path: Path) -> int | None:
    """Return the number of the line of a TOML file that has the value at a path, or the nearest
    line that leads to it, or None."""
    best: tuple[int, int] | None = None
    place: list[str | int] = []
    counts: dict[tuple[str | int, ...], int] = {}
    inside, row = (
        "",
        -1,
    )  # for texts of several lines, and lists with rows on separate lines
    listed: tuple[str | int, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        if inside:
            inside = "" if inside in line else inside
            continue
        header = HEADER_PATTERN.match(line)
        key = re.match(r"""^\s*(?:"([^"]*)"|'([^']*)'|([\w-]+))\s*=""", line)
        here: tuple[str | int, ...] = ()
        if header and not (listed and line.lstrip().startswith('["')):
            place = [part.strip().strip("\"'") for part in header[2].split(".")]
            listed = ()
            if header[1] == "[[":
                counts[tuple(place)] = counts.get(tuple(place), -1) + 1
            here = tuple(expand_path(place, counts))
        elif key:
            here = (
                *expand_path(place, counts),
                next(part for part in key.groups() if part is not None),
            )
            listed, row = (here, -1) if line.rstrip().endswith("[") else ((), -1)
            opened = line.partition("=")[2].lstrip()[:3]
            inside = opened if opened in ('"""', "'''") and line.count(opened) == 1 else ""
        elif listed and line.lstrip().startswith("{"):
            row += 1
            here = (*listed, row)
        if here and here == path[: len(here)] and (best is None or len(here) > best[0]):
            best = (len(here), number)
    return best[1] if best else None


def expand_path(
    place: Sequence[str | int], counts: Mapping[tuple[str | int, ...], int]
) -> list[str | int]:
    named: list[str | int] = []
    for end in range(1, len(place) + 1):
        named.append(place[end - 1])
        if tuple(place[:end]) in counts:
            named.append(counts[tuple(place[:end])])
    return named

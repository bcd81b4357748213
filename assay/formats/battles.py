"""Read battles: which of two systems gave the better answer to a topic, or which documents are to
be compared.

A delimited file with a header: `topic`, `system_a`, `system_b` and `winner` (`a`, `b`, `tie` or
`bad`, or the name of a system), and optionally `shown_left` (`a` or `b`), `annotator`, `tokens_a`,
`tokens_b`, `citations_a` and `citations_b`. Or rows of four columns `topic a b winner` without a
header, separated by white space.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from assay.column_types import A_WINS, B_WINS, BOTH_BAD, TIE, BattleColumns
from assay.formats.delimited import (
    TOPIC_NAMES,
    DelimitedRow,
    DelimitedTable,
    FileProblems,
    find_column,
    normalise_names,
)
from assay.formats.errors import FormatError
from assay.formats.judgement_cells import ANNOTATOR_NAMES, InvalidCell
from assay.formats.streams import Source, display_name, is_valid_id
from assay.number_words import format_count
from assay.pools.battles import DocumentBattle

A_NAMES = ("system_a", "a", "run_a", "model_a", "left")
B_NAMES = ("system_b", "b", "run_b", "model_b", "right")
WINNER_NAMES = ("winner", "preferred", "outcome", "preference")
WINNERS = {
    **dict.fromkeys(("a", "system_a", "model_a"), A_WINS),
    **dict.fromkeys(("b", "system_b", "model_b"), B_WINS),
    **dict.fromkeys(("tie", "equal", "same"), TIE),
    **dict.fromkeys(("bad", "both_bad", "both bad", "tie (bothbad)", "neither"), BOTH_BAD),
}
LEFT_NAMES = ("shown_left", "left_side")
NUMBERS = ("tokens_a", "tokens_b", "citations_a", "citations_b")
PLAIN_ORDER = ("topic", "a", "b", "winner")
HEADER = "columns topic, system_a, system_b and winner"


class Battle(NamedTuple):
    """One battle as read from a file. outcome: A_WINS, B_WINS, TIE or BOTH_BAD. left: 0 if a was
    shown on the left, 1 if b, -1 if unknown. numbers: by the names in NUMBERS, NaN if unknown."""

    line: int
    topic: str
    a: str
    b: str
    outcome: int
    left: int = -1
    annotator: str = ""
    numbers: tuple[float, ...] = (math.nan,) * len(NUMBERS)


def read_battles(source: Source, *, name: str | None = None) -> BattleColumns:
    """Read a file of battles.

    Raises FormatError for a missing column, a row with another number of columns, an invalid name,
    two equal systems, an unknown winner, an invalid number, or no rows."""
    name = display_name(source, name)
    rows = _iterate_battles(source, name)
    return make_battles(rows, name)


def make_battles(rows: Iterable[Battle], name: str = "") -> BattleColumns:
    """Return rows as columns. Raises FormatError if there are none."""
    kept = list(rows)
    if not kept:
        raise FormatError.single(name, None, "no battles", HEADER)
    systems = sorted({system for row in kept for system in (row.a, row.b)})
    topics = list(dict.fromkeys(row.topic for row in kept))
    annotators = list(dict.fromkeys(row.annotator for row in kept if row.annotator))
    place = {system: i for i, system in enumerate(systems)}
    number = {topic: i for i, topic in enumerate(topics)}
    person = {annotator: i for i, annotator in enumerate(annotators)}
    numbers = np.array([row.numbers for row in kept], dtype=np.float64)
    return BattleColumns(
        systems,
        topics,
        annotators,
        np.array([number[row.topic] for row in kept], dtype=np.int32),
        np.array([place[row.a] for row in kept], dtype=np.int32),
        np.array([place[row.b] for row in kept], dtype=np.int32),
        np.array([row.outcome for row in kept], dtype=np.int8),
        np.array([row.left for row in kept], dtype=np.int8),
        np.array([person.get(row.annotator, -1) for row in kept], dtype=np.int32),
        numbers[:, :2],
        numbers[:, 2:],
        name,
    )


def _iterate_battles(source: Source, name: str) -> Iterator[Battle]:
    table = DelimitedTable(source, name=name)
    problems = FileProblems(name)
    head = table.first
    rows: Iterator[DelimitedRow] = iter(table)
    if len(head.cells) == 1:  # no tab, comma or semicolon: white space
        head = _split_row(head)
        rows = map(_split_row, rows)
    places = _find_columns(normalise_names(head.cells))
    if places is None:
        if len(head.cells) != len(PLAIN_ORDER):
            raise FormatError.single(
                name, head.line, f"no header and {len(head.cells)} columns", HEADER
            )
        places = {column: i for i, column in enumerate(PLAIN_ORDER)}
        rows = chain([head], rows)
    n_columns = len(head.cells)
    for row in rows:
        text = table.delimiter.join(row.cells)
        if len(row.cells) != n_columns:
            columns = format_count(len(row.cells), "column")
            problems.add(row.line, columns, f"{n_columns}, as in the first row", text)
            continue
        cells = {column: row.cells[i].strip() for column, i in places.items()}
        try:
            battle = _parse_row(row.line, cells)
        except InvalidCell as error:
            problems.add(row.line, error.problem, error.expected, text)
            continue
        yield battle
    problems.raise_if_any()


def read_document_battles(source: Source, *, name: str | None = None) -> list[DocumentBattle]:
    """Read pairs of documents to compare: rows `topic a b`, separated by white space, optionally
    followed by the systems of a and of b. A first row that begins with `topic` is a header. Rows
    of the same pair with other systems are one battle.

    Raises FormatError for another number of columns, an invalid name, two equal documents, a
    duplicate row, or no rows."""
    name = display_name(source, name)
    problems = FileProblems(name)
    battles: dict[tuple[str, ...], DocumentBattle] = {}
    table = DelimitedTable(source, name=name)
    for row in chain([table.first], table):
        cells = row.cells if len(row.cells) > 1 else row.cells[0].split()
        if row is table.first and cells[0].lower() == "topic":
            continue
        text, key = " ".join(cells), tuple(cells[:3])
        if len(cells) not in (3, 5):
            problems.add(row.line, format_count(len(cells), "column"), "topic a b", text)
        elif invalid := [cell for cell in cells if not is_valid_id(cell)]:
            problems.add(row.line, f"{invalid[0]!r} is not an ID", "text without spaces", text)
        elif cells[1] == cells[2]:
            problems.add(row.line, f"{cells[1]} against itself", "two different documents", text)
        else:
            systems = {(cells[3], cells[4])} if len(cells) == 5 else set()
            known = battles.get(key, DocumentBattle(cells[0], cells[1], cells[2]))
            if key in battles and systems <= set(known.systems):
                problems.add(row.line, "duplicate row", "each pair once per order", text)
            battles[key] = known._replace(systems=(*known.systems, *systems))
    problems.raise_if_any()
    if not battles:
        raise FormatError.single(name, None, "no pairs", "rows topic a b")
    return list(battles.values())


def _split_row(row: DelimitedRow) -> DelimitedRow:
    return DelimitedRow(row.line, row.cells[0].split())


def _find_columns(names: Sequence[str]) -> dict[str, int] | None:
    """Return the place of each known column, or None if this row is not a header."""
    wanted = {
        "topic": TOPIC_NAMES,
        "a": A_NAMES,
        "b": B_NAMES,
        "winner": WINNER_NAMES,
        "left": LEFT_NAMES,
        "annotator": ANNOTATOR_NAMES,
        **{column: (column,) for column in NUMBERS},
    }
    places = {
        column: place
        for column, known in wanted.items()
        if (place := find_column(names, known)) is not None
    }
    return places if all(column in places for column in PLAIN_ORDER) else None


def _parse_row(line: int, cells: Mapping[str, str]) -> Battle:
    topic, a, b = (cells[column] for column in ("topic", "a", "b"))
    for column, value in (("topic", topic), ("system", a), ("system", b)):
        if not is_valid_id(value):
            raise InvalidCell(f"{value!r} is not the name of a {column}", "text without spaces")
    if a == b:
        raise InvalidCell(f"a battle of {a} against itself", "two different systems")
    names = {a: A_WINS, b: B_WINS}
    winner = names.get(cells["winner"], WINNERS.get(cells["winner"].lower()))
    if winner is None:
        raise InvalidCell(
            f"{cells['winner']!r} is not a winner", "a, b, tie, bad, or the name of a system"
        )
    left = {a: 0, b: 1, "a": 0, "b": 1, "": -1}.get(cells.get("left", ""))
    if left is None:
        raise InvalidCell(f"{cells['left']!r} is not a side", "a or b, whichever was on the left")
    numbers = tuple(_parse_number(cells.get(column, ""), column) for column in NUMBERS)
    return Battle(line, topic, a, b, winner, left, cells.get("annotator", ""), numbers)


def _parse_number(text: str, column: str) -> float:
    if not text:
        return math.nan
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not (math.isfinite(value) and value >= 0):
        raise InvalidCell(f"{column} is {text!r}", "a number of at least 0, or empty")
    return value

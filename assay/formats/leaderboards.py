"""Read tables of leaderboard submissions: one run per row, columns separated by tabs, commas or
white space.

Columns are found by the header, and other columns are ignored. Without a header they are read in
the order of `columns`. Names are compared without case, spaces and punctuation, so that `MRR@100
(Eval)` is a score.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import chain
from typing import NamedTuple

from assay.formats.errors import FileProblem, FormatError
from assay.formats.streams import Source, display_name, iterate_lines

COLUMN_NAMES = {
    "tag": ("tag", "id", "run", "runid", "system"),
    "date": ("date", "submitted", "submissiondate"),
    "group": ("group", "team", "institution"),
    "baseline": ("baseline", "isbaseline"),
    "description": ("description", "title", "model"),
    "score": ("score", "publicscore", "public", "eval", "mrr100eval", "mrr10eval"),
    "private_score": ("privatescore", "private"),
    "private_rank": ("privaterank",),
    "expected_private_rank": ("expectedprivaterank", "expectedrank"),
}
NUMBER_COLUMNS = ("score", "private_score", "private_rank", "expected_private_rank")
MARK_COLUMN = "mark"
"""The column without a name on the MS MARCO leaderboards. Only BASELINE_MARK is read from it."""
BASELINE_MARK = "\N{CLASSICAL BUILDING}"
ORDER_COLUMNS = ("tag", "date", "group", "baseline", "description")
"""Columns of a file with the submission dates of runs."""
SCORE_COLUMNS = ("tag", "date", "group", "score", "baseline", "description")
SUBMISSION_COLUMNS = (
    "tag",
    "date",
    "group",
    "score",
    "private_score",
    "private_rank",
    "expected_private_rank",
)


class BoardRow(NamedTuple):
    """One run of a leaderboard file. date: ISO 8601. numbers: values by column name, NaN for an
    empty cell or a missing column."""

    tag: str
    date: str
    group: str
    is_baseline: bool
    description: str
    numbers: dict[str, float]


def read_leaderboard(
    source: Source,
    *,
    columns: Sequence[str] = SCORE_COLUMNS,
    required: Sequence[str] = ("tag", "date"),
    score_column: str | None = None,
) -> list[BoardRow]:
    """Return the rows in file order. A row without a tag gets its description as its tag.

    required: columns that must exist and have a value in every row. score_column: header of the
    column that is the score. Raises FormatError for a missing column, an invalid date, a score that
    is not a number, a row of another length, or no rows.
    """
    name = display_name(source)
    records = _iterate_records(source, name)
    number, first = next(records, (1, []))
    if not first:
        raise FormatError.single(name, None, "no rows", "one row per run")
    places = _find_columns(first, score_column)
    if not places:
        places = {column: i for i, column in enumerate(columns) if i < len(first)}
        records, n_columns = chain([(number, first)], records), None
    else:
        n_columns = len(first)
    if score_column is not None and "score" not in places:
        raise FormatError.single(
            name, number, f"no column {score_column}", "a header that names it"
        )
    missing = [
        column
        for column in required
        if column not in places and not (column == "tag" and "description" in places)
    ]
    if missing:
        raise FormatError.single(
            name, number, f"no column {', '.join(missing)}", f"a header with {', '.join(required)}"
        )
    problems: list[FileProblem] = []
    rows = []
    for number, cells in records:
        if n_columns is not None and len(cells) != n_columns:
            problems.append(
                FileProblem(
                    number,
                    f"{len(cells)} columns",
                    f"{n_columns}, as in the header",
                    ",".join(cells),
                )
            )
            continue
        row, wrong = _read_row(
            {column: cells[i].strip() for column, i in places.items() if i < len(cells)}, required
        )
        problems.extend(
            FileProblem(number, problem, expected, ",".join(cells)) for problem, expected in wrong
        )
        rows.append(row)
    if problems:
        raise FormatError(name, problems)
    if not rows:
        raise FormatError.single(name, number, "no rows below the header", "one row per run")
    return rows


def _iterate_records(source: Source, name: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, cells) of each row that is not blank."""
    texts = (text for _, text in iterate_lines(source, name=name))
    first = next(texts, "")
    whole = (text + "\n" for text in chain([first], texts))
    if "\t" not in first and "," not in first:
        for number, text in enumerate(whole, start=1):
            if cells := text.split():
                yield number, cells
        return
    reader = csv.reader(whole, delimiter="\t" if "\t" in first else ",")
    before = 0
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield before + 1, cells
            before = reader.line_num
    except csv.Error as error:
        raise FormatError.single(
            name, before + 1, f"the row cannot be read ({error})", "cells with closed quotes"
        ) from None


def _normalise_name(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())


def _find_columns(cells: list[str], score_column: str | None) -> dict[str, int]:
    """Return the index of each known column, or an empty dictionary if this row is not a header."""
    plain = [_normalise_name(cell) for cell in cells]
    places: dict[str, int] = {MARK_COLUMN: plain.index("")} if "" in plain else {}
    for column, names in COLUMN_NAMES.items():
        wanted = (
            (_normalise_name(score_column),)
            if column == "score" and score_column is not None
            else names
        )
        for wanted_name in wanted:
            if wanted_name in plain:
                places[column] = plain.index(wanted_name)
                break
    return places if {"tag", "date", "description"} & set(places) else {}


def _read_row(
    cells: dict[str, str], required: Sequence[str]
) -> tuple[BoardRow, list[tuple[str, str]]]:
    wrong = []
    tag = cells.get("tag") or cells.get("description", "")
    if not tag:
        wrong.append(("the tag is missing", "the name of the run"))
    date = _parse_date(cells.get("date", ""))
    if date is None or (not date and "date" in required):
        wrong.append(
            (f"{cells.get('date', '')!r} is not a date", "a date such as 2021-04-30 or 2021/04/30")
        )
    baseline = cells.get("baseline", "").casefold()
    if baseline not in ("", "0", "1", "true", "false", "yes", "no"):
        wrong.append((f"{baseline!r} is not a baseline mark", "0 or 1"))
    is_baseline = baseline in ("1", "true", "yes") or BASELINE_MARK in cells.get(MARK_COLUMN, "")
    numbers = {}
    for column in NUMBER_COLUMNS:
        text = cells.get(column, "")
        value = _parse_number(text)
        if value is None or (not text and column in required):
            wrong.append((f"{column} {text!r} is not a finite number", "a number such as 0.25"))
        numbers[column] = float("nan") if value is None else value
    row = BoardRow(
        tag, date or "", cells.get("group", ""), is_baseline, cells.get("description", ""), numbers
    )
    return row, wrong


def _parse_date(text: str) -> str | None:
    """Return the date in ISO 8601, an empty string for empty text, or None if it is not a date."""
    if not text:
        return ""
    try:
        moment = datetime.fromisoformat(text.replace("/", "-"))
    except ValueError:
        return None
    return moment.date().isoformat() if len(text) <= 10 else moment.isoformat()


def _parse_number(text: str) -> float | None:
    """Return the number, NaN for empty text, or None if it is not a finite number."""
    if not text:
        return float("nan")
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) != float("inf") and value == value else None

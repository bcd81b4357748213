"""Write the tables that Quepid exports for a case with its exact headers: ratings (Basic), Detailed
and General.

`safe` is applied to every cell: `escape_formula` for spreadsheets, `str` otherwise.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable
from typing import IO, NamedTuple

RATINGS_COLUMNS = ("query", "docid", "rating")
DETAILED_COLUMNS = (
    "Team Name",
    "Case Name",
    "Case ID",
    "Query Text",
    "Doc ID",
    "Doc Position",
    "Title",
    "Rating",
)
GENERAL_COLUMNS = (
    *(
        "Team Name",
        "Case Name",
        "Case ID",
        "Query Text",
        "Score",
        "Date Last Scored",
        "Count",
        "Information Need",
        "Notes",
        "Options",
    ),
)


class RatedPair(NamedTuple):
    """A query and document of a Quepid case. position: from 1 within its query. rating: None
    without a label."""

    query: str
    document: str
    position: int
    title: str = ""
    rating: int | None = None


class CaseQuery(NamedTuple):
    """A query of a Quepid case and its number of documents."""

    query: str
    n_documents: int
    information_need: str = ""


def write_ratings(
    pairs: Iterable[RatedPair], out: IO[str], *, safe: Callable[[str], str] = str
) -> None:
    """Write `query,docid,rating`, one row per pair. The rating of a pair without a label is
    empty."""
    _write_csv(
        RATINGS_COLUMNS,
        ((pair.query, pair.document, _format_cell(pair.rating)) for pair in pairs),
        out,
        safe,
    )


def write_detailed(
    pairs: Iterable[RatedPair],
    out: IO[str],
    *,
    case: str,
    case_id: int = 1,
    safe: Callable[[str], str] = str,
) -> None:
    """Write one row per pair with its position and title. The team column is empty."""
    rows = (
        (
            "",
            case,
            str(case_id),
            pair.query,
            pair.document,
            str(pair.position),
            pair.title,
            _format_cell(pair.rating),
        )
        for pair in pairs
    )
    _write_csv(DETAILED_COLUMNS, rows, out, safe)


def write_general(
    queries: Iterable[CaseQuery],
    out: IO[str],
    *,
    case: str,
    case_id: int = 1,
    safe: Callable[[str], str] = str,
) -> None:
    """Write one row per query. A pool has no score, so score and its date are empty, never 0."""
    rows = (
        (
            "",
            case,
            str(case_id),
            query.query,
            "",
            "",
            str(query.n_documents),
            query.information_need,
            "",
            "",
        )
        for query in queries
    )
    _write_csv(GENERAL_COLUMNS, rows, out, safe)


def _write_csv(
    header: tuple[str, ...],
    rows: Iterable[tuple[str, ...]],
    out: IO[str],
    safe: Callable[[str], str],
) -> None:
    table = csv.writer(out, lineterminator="\n")
    table.writerow(header)
    table.writerows([safe(cell) for cell in row] for row in rows)


def _format_cell(value: int | None) -> str:
    return "" if value is None else str(value)

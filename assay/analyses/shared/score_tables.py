"""Tables of scores that several analyses share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assay.results import Values
from assay.tabular import Cell, Table


def result_conditions(result: Values) -> dict[str, Any]:
    return {name: condition for name, condition in result.items() if isinstance(condition, dict)}


def scores_table(
    means: dict[str, dict[str, dict[str, float | None]]], key: str = "scores"
) -> Table:
    names = list(means)
    tags = list(means[names[0]])
    columns = (
        [(name, measure) for name in names for measure in means[name][tags[0]]] if tags else []
    )
    header = [
        "run",
        *(f"{measure}" if len(names) == 1 else f"{measure} ({name})" for name, measure in columns),
    ]
    return Table(
        key,
        "Scores of runs",
        header,
        [[tag, *(means[name][tag][measure] for name, measure in columns)] for tag in tags],
    )


def best_cells(
    rows: Sequence[Sequence[Cell]], columns: Sequence[int], within: Sequence[int] | None = None
) -> frozenset[tuple[int, int]]:
    """Return the cells with the maximum of each column, including ties. within: consider only these
    rows."""
    best = set()
    chosen = range(len(rows)) if within is None else within
    for column in columns:
        values = {
            row: value for row in chosen if isinstance(value := rows[row][column], (int, float))
        }
        if values:
            best |= {
                (row, column) for row, value in values.items() if value == max(values.values())
            }
    return frozenset(best)

"""Tables that answers of several kinds of reports have."""

from __future__ import annotations

from typing import Any

from analysis.systems.kind import Result
from analysis.systems.tabular import Table


def conditions_of(result: Result) -> dict[str, Any]:
    return {name: found for name, found in result.items() if isinstance(found, dict)}


def scores_table(means: dict[str, dict[str, dict[str, float | None]]], key: str = "scores") -> Table:
    names = list(means)
    tags = list(means[names[0]])
    columns = [(name, measure) for name in names for measure in means[name][tags[0]]] if tags else []
    header = ["run", *(f"{measure}" if len(names) == 1 else f"{measure} ({name})" for name, measure in columns)]
    return Table(key, "Scores of runs", header, [[tag, *(means[name][tag][measure] for name, measure in columns)] for tag in tags])

"""The result of an analysis."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.charts.svg import Picture
    from assay.tabular import Table

Values = dict[str, Any]
"""The JSON object of an analysis (docs/reference/commands.md)."""


def undefined_reasons(result: Values) -> list[str]:
    """Return the reasons why values of an analysis are undefined, one per entry."""
    own = {
        name: one["undefined"]
        for name, one in result.items()
        if isinstance(one, dict) and isinstance(one.get("undefined"), str)
    }
    return [*_collect_reasons(own), *_collect_reasons(result.get("undefined", {}))]


def _collect_reasons(said: Any, *names: str) -> list[str]:
    if isinstance(said, dict):
        return [
            reason for name, one in said.items() for reason in _collect_reasons(one, *names, name)
        ]
    if not isinstance(said, str):
        return []
    return [f"{', '.join(names)}: {said}" if names else said]


class Result(Values):
    """The values of an analysis as printed by the command with --json, and its tables and charts.

    Undefined values are None, with the reason next to them.
    """

    def __init__(
        self,
        values: Values,
        tables: Callable[[Values], list[Table]] | None = None,
        charts: Callable[[Values], list[Picture]] | None = None,
    ):
        super().__init__(values)
        self._tables, self._charts = tables, charts

    def tables(self) -> list[Table]:
        """Return the tables of the command and of the web pages, the most important first."""
        return [] if self._tables is None else self._tables(self)

    def charts(self) -> list[Picture]:
        """Return the charts of the web pages as HTML figures, the most important first."""
        return [] if self._charts is None else self._charts(self)

    def to_dict(self) -> Values:
        """Return a plain dictionary, ready for `json.dumps`."""
        return dict(self)

    def to_frame(self, key: str = "") -> Any:
        """Return one of the tables as a pandas DataFrame, by default the first.

        Raises KeyError if there is no table `key`, and ImportError without pandas.
        """
        from assay.tables import columns_as_frame

        tables = {table.key: table for table in self.tables()}
        if not tables or (key and key not in tables):
            known = ", ".join(tables) or "none"
            raise KeyError(f"unknown table {key!r}; choose from {known}")
        table = tables[key] if key else next(iter(tables.values()))
        return columns_as_frame(
            {name: [row[i] for row in table.rows] for i, name in enumerate(table.columns)}
        )

    def _repr_html_(self) -> str:
        """Return the tables and the reasons for undefined values as HTML for notebooks."""
        tables = "".join(_table_to_html(table) for table in self.tables())
        reasons = "".join(f"<p>{escape(reason)}</p>" for reason in undefined_reasons(self))
        return tables + reasons if tables else f"<pre>{escape(repr(self))}</pre>"


def _table_to_html(table: Table) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in table.columns)
    rows = "".join(
        "<tr>"
        + "".join(f"<td>{escape(table.shown(row, i))}</td>" for i in range(len(table.header)))
        + "</tr>"
        for row in range(len(table.rows))
    )
    return (
        f"<table><caption>{escape(table.title)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table><p>{escape(table.note)}</p>"
    )

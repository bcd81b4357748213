"""Charts of runs that several analyses share."""

from __future__ import annotations

from collections.abc import Sequence

from assay.charts.bars import stacked_bar_chart
from assay.charts.svg import Picture
from assay.results import Values

MAX_RUNS = 60
"""Maximum number of rows of a chart. The tables have all."""


def format_numbered_name(name: str, number: int, of: int) -> str:
    """Format a row's name, with a number if several rows have it. The caption explains the numbers.
    of: number of rows with the name."""
    return name if of == 1 else f"{name} · {number}"


def numbering_note(names: Sequence[str]) -> str:
    return (
        ""
        if len(names) == 1
        else "; " + ", ".join(f"{i}: {name}" for i, name in enumerate(names, 1))
    )


def outcome_bar_chart(rows: Sequence[Values], caption: str) -> Picture:
    keys = [
        ("neither", "answered by neither"),
        ("a_only", "A only"),
        ("b_only", "B only"),
        ("both", "both"),
    ]
    series = [(name, [float(row["outcome_topics"][key]) for row in rows]) for key, name in keys]
    return stacked_bar_chart(
        [f"{row['a']} – {row['b']}" for row in rows],
        series,
        caption=caption,
        what="A – B",
        reason="There are no topics to compare on.",
    )

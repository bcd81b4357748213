"""What figures for print of several kinds of reports are drawn with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from analysis.systems.kind import Drawing, Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKS = "osD^vP*X"
HATCHES = ["", "///", "...", "xxx", "\\\\\\", "++", "oo"]
MOST = 80
"""Rows of a picture; more are unreadable on paper."""


def plain(text: str) -> str:
    """Names are shown as they are: a dollar sign is no formula."""
    return text.replace("$", r"\$")


def points(
    figure: Figure, rows: Sequence[tuple[str, float | None, float | None, float | None]], label: str, *, reference: float | None = None
) -> None:
    """A point and its interval in each row."""
    figure.set_size_inches(6, 0.8 + 0.2 * len(rows))
    axes = figure.add_subplot()
    for place, (_, value, low, high) in enumerate(rows):
        if value is None:
            axes.annotate("undefined", (0.01, place), xycoords=("axes fraction", "data"), va="center", color="0.4")
            continue
        if low is not None and high is not None:
            axes.plot([low, high], [place, place], color="C0", linewidth=1)
        axes.plot([value], [place], "o", color="C0", markersize=4)
    if reference is not None:
        axes.axvline(reference, color="0.6", linestyle=":", linewidth=1)
    axes.set_yticks(range(len(rows)), [plain(name) for name, *_ in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlabel(label)


def lying_bars(figure: Figure, names: Sequence[str], series: Sequence[tuple[str, Sequence[float]]], label: str) -> None:
    """Lying stacked bars of shares."""
    figure.set_size_inches(6, 1.1 + 0.3 * len(names))
    axes = figure.add_subplot()
    left = [0.0] * len(names)
    for number, (name, values) in enumerate(series):
        axes.barh(
            range(len(names)),
            values,
            left=left,
            label=plain(name),
            color=f"C{number % 7}",
            hatch=HATCHES[number % 7],
            edgecolor="white",
            height=0.7,
        )
        left = [a + b for a, b in zip(left, values, strict=True)]
    axes.set_yticks(range(len(names)), [plain(name) for name in names])
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.set_xlabel(label)
    figure.legend(loc="outside upper center", ncols=min(4, len(series)))


def outcomes(rows: Sequence[Result]) -> Drawing:
    series = [
        (name, [row["outcomes"][key] for row in rows])
        for key, name in (("neither", "neither"), ("a_only", "A only"), ("b_only", "B only"), ("both", "both"))
    ]
    names = [f"{row['a']} – {row['b']}" for row in rows]
    return "outcomes", lambda figure: lying_bars(figure, names, series, "share of the topics, by who answers")


def curves(axes: Axes, x: Sequence[float], by_name: dict[str, Sequence[float | None]]) -> None:
    for number, (name, values) in enumerate(by_name.items()):
        defined = [math.nan if value is None else value for value in values]
        axes.plot(x, defined, marker=MARKS[number % len(MARKS)], markersize=4, linewidth=1, label=name)

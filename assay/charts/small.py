"""Pictures of one cell of a table: no axes, the numbers stand in words for those who hear the page,
and beside or below it."""

from __future__ import annotations

from collections.abc import Sequence

from assay.charts.svg import Linear, element, number

HEIGHT = 28.0
BAR = 12.0
"""Width of a bar with its gap, in pixels."""
KAPPA_WIDTH = 92.0


def small_bars(
    values: Sequence[float | None], names: Sequence[str], *, highest: float, unit: str
) -> str:
    """One bar for each name, to `highest` (that of all rows, so that rows compare); nothing where a
    value is undefined."""
    if not any(value is not None for value in values):
        return ""
    said = ", ".join(
        f"{name} {number(value, 0)} {unit}"
        for name, value in zip(names, values, strict=True)
        if value is not None
    )
    height = Linear(0.0, max(highest, 1e-9), 0.0, HEIGHT - 2)
    bars = [
        element(
            "rect",
            x=BAR * i + 1,
            y=HEIGHT - 1 - (tall := max(min(height(value), HEIGHT - 2), 1.0)),
            width=BAR - 3,
            height=tall,
            class_="s1",
        )
        for i, value in enumerate(values)
        if value is not None
    ]
    floor = element(
        "line", x1=0.0, x2=BAR * len(values), y1=HEIGHT - 0.5, y2=HEIGHT - 0.5, class_="axis"
    )
    return _drawing(BAR * len(values), said, floor, *bars)


def small_interval(value: float, low: float | None, high: float | None, *, what: str) -> str:
    """A dot on a line from -1 to 1 with a mark at 0, and its interval if there is one."""
    at = Linear(-1.0, 1.0, 6.0, KAPPA_WIDTH - 6)
    middle = 8.0
    said = f"{what} {number(value)}" + (
        f", 95 % interval {number(low)} to {number(high)}"
        if low is not None and high is not None
        else ""
    )
    parts = [
        element("line", x1=at(-1.0), x2=at(1.0), y1=middle, y2=middle, class_="grid"),
        element("line", x1=at(0.0), x2=at(0.0), y1=2.0, y2=14.0, class_="reference"),
    ]
    if low is not None and high is not None:
        parts.append(
            element(
                "line",
                x1=at(max(low, -1.0)),
                x2=at(min(high, 1.0)),
                y1=middle,
                y2=middle,
                class_="l1 small-interval",
            )
        )
    parts.append(element("circle", cx=at(value), cy=middle, r=4.0, class_="s1"))
    return _drawing(KAPPA_WIDTH, said, *parts, height=16.0)


def _drawing(width: float, said: str, *parts: str, height: float = HEIGHT) -> str:
    tip = element("title", text=said)
    return element(
        "svg",
        tip,
        *parts,
        viewBox=f"0 0 {width:g} {height:g}",
        width=width,
        height=height,
        role="img",
        aria_label=said,
        class_="small-picture",
    )

"""Charts that fit into a table cell: no axes. Screen readers and the cells next to them give the
numbers as text."""

from __future__ import annotations

from collections.abc import Sequence

from assay.charts.svg import LinearScale, format_number, svg_element

CELL_HEIGHT = 28.0
BAR_WIDTH = 12.0
"""Width of a bar and its gap in pixels."""
KAPPA_WIDTH = 92.0


def inline_bars(
    values: Sequence[float | None], names: Sequence[str], *, highest: float, unit: str
) -> str:
    """Draw one bar per name, scaled to `highest`, which is the maximum of all rows so that rows are
    comparable. Undefined values have no bar."""
    if not any(value is not None for value in values):
        return ""
    said = ", ".join(
        f"{name} {format_number(value, 0)} {unit}"
        for name, value in zip(names, values, strict=True)
        if value is not None
    )
    height = LinearScale(0.0, max(highest, 1e-9), 0.0, CELL_HEIGHT - 2)
    bars = [
        svg_element(
            "rect",
            x=BAR_WIDTH * i + 1,
            y=CELL_HEIGHT - 1 - (tall := max(min(height(value), CELL_HEIGHT - 2), 1.0)),
            width=BAR_WIDTH - 3,
            height=tall,
            class_="s1",
        )
        for i, value in enumerate(values)
        if value is not None
    ]
    floor = svg_element(
        "line",
        x1=0.0,
        x2=BAR_WIDTH * len(values),
        y1=CELL_HEIGHT - 0.5,
        y2=CELL_HEIGHT - 0.5,
        class_="axis",
    )
    return _inline_svg(BAR_WIDTH * len(values), said, floor, *bars)


def inline_interval(value: float, low: float | None, high: float | None, *, what: str) -> str:
    """Draw a dot on a line from -1 to 1 with a mark at 0, and the interval, if there is one."""
    at = LinearScale(-1.0, 1.0, 6.0, KAPPA_WIDTH - 6)
    middle = 8.0
    said = f"{what} {format_number(value)}" + (
        f", 95% CI {format_number(low)} to {format_number(high)}"
        if low is not None and high is not None
        else ""
    )
    parts = [
        svg_element("line", x1=at(-1.0), x2=at(1.0), y1=middle, y2=middle, class_="grid"),
        svg_element("line", x1=at(0.0), x2=at(0.0), y1=2.0, y2=14.0, class_="reference"),
    ]
    if low is not None and high is not None:
        parts.append(
            svg_element(
                "line",
                x1=at(max(low, -1.0)),
                x2=at(min(high, 1.0)),
                y1=middle,
                y2=middle,
                class_="l1 small-interval",
            )
        )
    parts.append(svg_element("circle", cx=at(value), cy=middle, r=4.0, class_="s1"))
    return _inline_svg(KAPPA_WIDTH, said, *parts, height=16.0)


def _inline_svg(width: float, said: str, *parts: str, height: float = CELL_HEIGHT) -> str:
    tip = svg_element("title", text=said)
    return svg_element(
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

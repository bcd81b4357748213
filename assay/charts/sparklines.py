"""Charts without axes that fit into a table cell. The numbers are available as text for screen
readers and in the adjacent cells."""

from __future__ import annotations

from assay.charts.svg import LinearScale, format_number, svg_element

WIDTH, HEIGHT = 92.0, 16.0


def inline_interval(value: float, low: float | None, high: float | None, *, what: str) -> str:
    """Draw a dot on a line from -1 to 1 with a mark at 0, and the interval, if there is one."""
    at = LinearScale(-1.0, 1.0, 6.0, WIDTH - 6)
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
    return svg_element(
        "svg",
        svg_element("title", text=said),
        *parts,
        viewBox=f"0 0 {WIDTH:g} {HEIGHT:g}",
        width=WIDTH,
        height=HEIGHT,
        role="img",
        aria_label=said,
        class_="small-picture",
    )

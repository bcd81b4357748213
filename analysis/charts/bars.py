"""Bars: simple, stacked, and small histograms."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from analysis.charts.svg import Linear, axis_left, drawing, element, figure, legend, number, room_for, undefined

WIDTH, LEFT, RIGHT, TOP = 640.0, 48.0, 12.0, 24.0


def bars(
    labels: Sequence[str],
    values: Sequence[float | None],
    *,
    caption: str,
    unit: str,
    what: str = "",
    reason: str = "There is nothing to show yet.",
    height: float = 240.0,
    form: Callable[[float], str] = number,
) -> str:
    """Upright bars, one a label; None is a gap, not a zero. `what` names the labels' column."""
    defined = [v for v in values if v is not None]
    if not defined:
        return undefined(reason, caption=caption)
    bottom = height - 36
    scale = Linear(0, max(*defined, 0) or 1, bottom, TOP)
    step = (WIDTH - LEFT - RIGHT) / len(labels)
    every = -(-len(labels) // 14)
    parts = [axis_left(scale, left=LEFT, right=WIDTH - RIGHT, label=unit, form=form)]
    for i, (label, value) in enumerate(zip(labels, values, strict=True)):
        x = LEFT + i * step
        if value is not None:
            tip = element("title", text=f"{label}: {form(value)} {unit}")
            parts.append(
                element(
                    "rect",
                    tip,
                    x=x + step * 0.12,
                    width=max(step * 0.76, 1),
                    y=scale(value),
                    height=max(bottom - scale(value), 0.5),
                    class_="s1",
                )
            )
        if i % every == 0:
            parts.append(element("text", text=label, x=x + step / 2, y=bottom + 16, text_anchor="middle", class_="label"))
    parts.append(element("line", x1=LEFT, x2=WIDTH - RIGHT, y1=bottom, y2=bottom, class_="axis"))
    described = f"{len(labels)} bars from {form(min(defined))} to {form(max(defined))} {unit}."
    picture = drawing(WIDTH, height, *parts, title=caption, description=described)
    return figure(picture, caption=caption, header=[what, unit], rows=list(zip(labels, values, strict=True)))


def stacked(
    labels: Sequence[str],
    series: Sequence[tuple[str, Sequence[float]]],
    *,
    caption: str,
    what: str = "",
    shares: bool = True,
    counts: Sequence[int] | None = None,
    reason: str = "There is nothing to show yet.",
    prefix: str = "s",
) -> str:
    """Lying stacked bars, one a label, one colour a series. shares: each bar is scaled to its sum (written beside it as n)."""
    totals = [sum(values[i] for _, values in series) for i in range(len(labels))]
    if not any(totals):
        return undefined(reason, caption=caption)
    left, row = room_for(labels, 99, 150.0), 30.0
    right = WIDTH - 72
    height = TOP + row * len(labels) + 8
    widest = max(totals)
    parts = []
    for i, label in enumerate(labels):
        y = TOP + i * row
        x = left
        whole = totals[i] if shares else widest
        parts.append(element("text", text=label, x=left - 8, y=y + 16, text_anchor="end", class_="label"))
        for k, (name, values) in enumerate(series, start=1):
            width = values[i] / whole * (right - left) if whole else 0.0
            if width > 0:
                share = f"{100 * values[i] / totals[i]:.0f} %" if totals[i] else ""
                tip = element("title", text=f"{label}, {name}: {number(values[i])} ({share})")
                parts.append(element("rect", tip, x=x, y=y, width=width, height=row - 10, class_=f"{prefix}{k} bar"))
                x += width
        n = counts[i] if counts is not None else totals[i]
        parts.append(element("text", text=f"n = {number(n, 0)}", x=right + 6, y=y + 16, class_="label"))
    described = f"{len(labels)} bars, each divided into {', '.join(name for name, _ in series)}."
    picture = drawing(WIDTH, height, *parts, title=caption, description=described)
    rows = [[label, *(values[i] for _, values in series), totals[i]] for i, label in enumerate(labels)]
    return figure(
        picture, caption=caption, header=[what, *(name for name, _ in series), "all"], rows=rows, key=legend([n for n, _ in series], prefix)
    )

r"""Charts of the web pages as TikZ pictures, whose text is set in the fonts of the paper.

render_pgf(figure, inches=3.33)  # for \input, with \usepackage{tikz} \usetikzlibrary{patterns}
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

from assay.charts.print_files import (
    INK,
    SOFT,
    PrintedStyle,
    iterate_elements,
    lay_out_figure,
    parse_points,
    style_for_classes,
)
from assay.charts.svg import LINE_HEIGHT
from assay.tabular import escape_latex, letter_requirements

TEX_POINTS = 72.27
"""TeX's points per inch."""
TEXT_SIZE = r"\fontsize{8}{9.6}\selectfont"
PATTERNS = {
    "////": "north east lines",
    "....": "dots",
    "xxxx": "crosshatch",
    "\\\\\\\\": "north west lines",
    "++++": "grid",
}
"""Patterns of TikZ for the hatches of bars."""
ANCHORS = {"start": "base west", "middle": "base", "end": "base east"}


def render_pgf(figure: str, *, inches: float) -> bytes:
    """Return the figure without its caption as a TikZ picture of at most this width, with text of 8
    points. Raises EmptyFigure if the figure has no picture."""
    layout = lay_out_figure(figure, inches)
    parts = [line for one in iterate_elements(layout.picture) for line in _draw(one, 0.0, 0.0)]
    for row, top in layout.placed_rows():
        for x, key in row.keys:
            for place, swatch in enumerate(key.swatches):
                for one in iterate_elements(swatch):
                    parts += _draw(one, x + key.start + 16 * place, top)
            if key.before:
                parts.append(_draw_text(key.before, x, top + 12, "start", SOFT))
            for number, line in enumerate(key.lines(layout.width)):
                y = top + 12 + LINE_HEIGHT * number
                parts.append(_draw_text(line, x + key.words_start, y, "start", SOFT))
    scale = TEX_POINTS / layout.pixels_per_inch
    lines = [
        r"% needs \usepackage{tikz} \usetikzlibrary{patterns}",
        *letter_requirements("\n".join(parts)),
        rf"\begin{{tikzpicture}}[x={scale:.4f}pt,y=-{scale:.4f}pt,inner sep=0pt,outer sep=0pt]",
        rf"\path[use as bounding box] (0,0) rectangle ({layout.width:.1f},{layout.height:.1f});",
        *parts,
        r"\end{tikzpicture}",
    ]
    return ("\n".join(lines) + "\n").encode()


def _draw(one: ElementTree.Element, dx: float, dy: float) -> list[str]:
    if one.tag in ("text", "tspan"):
        words = (one.text or "").strip()
        fill = style_for_classes(one.get("class", "label")).fill
        colour = INK if fill == "none" else fill
        at = (float(one.get("x", 0)), float(one.get("y", 0)))
        return [_draw_text(words, *at, one.get("text-anchor", "start"), colour)] if words else []
    printed_style = style_for_classes(one.get("class", ""))
    path = _draw_path(one, dx, dy)
    lines = []
    if one.tag not in ("line", "polyline") and printed_style.fill != "none":
        opacity = f",fill opacity={printed_style.opacity:g}" if printed_style.opacity < 1 else ""
        lines.append(rf"\fill[fill={_colour(printed_style.fill)}{opacity}] {path};")
        if printed_style.hatch in PATTERNS:
            pattern = f"pattern={PATTERNS[printed_style.hatch]},pattern color=white"
            lines.append(rf"\path[{pattern}] {path};")
    if printed_style.stroke != "none":
        lines.append(rf"\draw[{_line_style(printed_style)}] {path};")
    return lines


def _line_style(printed_style: PrintedStyle) -> str:
    style = f"draw={_colour(printed_style.stroke)},line width={0.72 * printed_style.width:.2f}pt"
    if printed_style.dashes:
        on = [
            f"{'off' if k % 2 else 'on'} {0.72 * step:.2f}pt"
            for k, step in enumerate(printed_style.dashes)
        ]
        style += f",dash pattern={' '.join(on)}"
    return style


def _draw_path(one: ElementTree.Element, dx: float, dy: float) -> str:
    def at(x: str, y: str) -> str:
        return f"({float(one.get(x, 0)) + dx:.2f},{float(one.get(y, 0)) + dy:.2f})"

    if one.tag == "line":
        return f"{at('x1', 'y1')} -- {at('x2', 'y2')}"
    if one.tag == "rect":
        width, height = float(one.get("width", 0)), float(one.get("height", 0))
        return f"{at('x', 'y')} rectangle ++({width:.2f},{height:.2f})"
    if one.tag == "circle":
        return f"{at('cx', 'cy')} circle[radius={float(one.get('r', 0)):.2f}]"
    corners = [f"({x + dx:.2f},{y + dy:.2f})" for x, y in parse_points(one)]
    return " -- ".join(corners) + (" -- cycle" if one.tag == "polygon" else "")


def _draw_text(words: str, x: float, y: float, anchor: str, colour: str) -> str:
    style = f"anchor={ANCHORS[anchor]},font={{{TEXT_SIZE}}},text={_colour(colour)}"
    return rf"\node[{style}] at ({x:.2f},{y:.2f}) {{{escape_latex(words)}}};"


def _colour(code: str) -> str:
    red, green, blue = (int(code[k : k + 2], 16) for k in (1, 3, 5))
    return f"{{rgb,255:red,{red};green,{green};blue,{blue}}}"

"""Figures with several panels: side by side in the wide form, below each other in the narrow form,
each with its name."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from dataclasses import dataclass

from assay.charts.svg import (
    CHARACTER_WIDTH,
    LINE_HEIGHT,
    NARROW,
    Picture,
    figure_html,
    svg_drawing,
    text_lines,
    wrap_label,
)

SVG_NAMESPACE = "http://www.w3.org/2000/svg"
X_ATTRIBUTES, Y_ATTRIBUTES = ("x", "x1", "x2", "cx"), ("y", "y1", "y2", "cy")
EMPTY_WIDTH = 320.0
"""Width of panels in pixels if none has a picture."""


@dataclass(frozen=True)
class Panel:
    """One panel of a figure. name: its caption with its letter. root: its `<figure>`. picture: the
    SVG of the form to draw, or None if the figure states why it has none."""

    name: str
    root: ElementTree.Element
    picture: ElementTree.Element | None

    @property
    def width(self) -> float:
        return 0.0 if self.picture is None else _picture_size(self.picture)[0]

    def wrap_texts(self, width: float) -> tuple[list[str], list[str]]:
        """Return (the lines of the name, the lines of the text shown instead of a picture)."""
        reason, most = self.root.find("p"), int((width - 16) / CHARACTER_WIDTH)
        said = (
            ""
            if self.picture is not None
            else ("" if reason is None else reason.text or "") or "undefined"
        )
        return wrap_label(self.name, most), wrap_label(said, most) if said else []

    def compute_heights(self, width: float) -> tuple[float, float]:
        """Return (the height of the name, the height of what is below it)."""
        name, said = self.wrap_texts(width)
        below = (
            LINE_HEIGHT * len(said) + 12 if self.picture is None else _picture_size(self.picture)[1]
        )
        return LINE_HEIGHT * len(name) + 10, below

    def draw(self, x: float, y: float, width: float) -> list[str]:
        name, said = self.wrap_texts(width)
        head = self.compute_heights(width)[0]
        parts = [text_lines(name, x=x + 8, first=y + 16, anchor="start", class_="value")]
        if self.picture is None:
            return [*parts, text_lines(said, x=x + 8, first=y + head + LINE_HEIGHT, anchor="start")]
        return parts + [
            _translate(one, x, y + head)
            for one in self.picture
            if one.tag not in (f"{{{SVG_NAMESPACE}}}title", f"{{{SVG_NAMESPACE}}}desc")
        ]


def panel_chart(
    named_figures: Sequence[tuple[str, str]], *, caption: str, columns: int = 2
) -> Picture:
    """Combine figures into one with several panels.

    named_figures: (name, `<figure>` of this package). A figure without a picture shows its reason
    in its panel. The legend is that of the first picture.
    """
    ElementTree.register_namespace("", SVG_NAMESPACE)
    roots = [(name, ElementTree.fromstring(one)) for name, one in named_figures]
    words = [
        f"{name}: {said}"
        for name, root in roots
        if (said := root.findtext(f".//{{{SVG_NAMESPACE}}}desc"))
    ]
    usual, narrow = (
        [
            Panel(f"({chr(97 + k)}) {name}", root, _select_form(root, k_form))
            for k, (name, root) in enumerate(roots)
        ]
        for k_form in (0, 1)
    )
    picture = _place_panels(
        usual,
        columns,
        max((one.width for one in usual), default=0.0) or EMPTY_WIDTH,
        caption,
        words,
    ) + _place_panels(narrow, 1, NARROW, caption, words)
    key = next(
        (
            ElementTree.tostring(k, encoding="unicode")
            for _, root in roots
            if (k := root.find("./ul")) is not None
        ),
        "",
    )
    header = [
        "panel",
        *next(
            (
                _read_cells(root, ".//thead/tr/th")
                for _, root in roots
                if root.find(".//thead") is not None
            ),
            [],
        ),
    ]
    rows = [
        [name, *numbers][: len(header)] for name, root in roots for numbers in _read_numbers(root)
    ]
    return figure_html(picture, caption=caption, header=header, rows=rows, key=key)


def _select_form(root: ElementTree.Element, number: int) -> ElementTree.Element | None:
    """Return form `number` of a figure's picture (0: wide, 1: narrow), or None without a
    picture."""
    forms = root.findall(f".//div[@class='picture']/{{{SVG_NAMESPACE}}}svg")
    return forms[number] if forms else None


def _place_panels(
    all_panels: Sequence[Panel], columns: int, wide: float, caption: str, words: Sequence[str]
) -> str:
    """Place `columns` panels per row, with equal heights within a row."""
    parts, y = [], 0.0
    for first in range(0, len(all_panels), columns):
        row = all_panels[first : first + columns]
        for number, panel in enumerate(row):
            parts += panel.draw(number * wide, y, wide)
        y += max(sum(panel.compute_heights(wide)) for panel in row)
    return svg_drawing(
        wide * min(columns, len(all_panels)), y, *parts, title=caption, description="; ".join(words)
    )


def _picture_size(picture: ElementTree.Element) -> tuple[float, float]:
    _, _, width, height = (float(value) for value in picture.attrib["viewBox"].split())
    return width, height


def _translate(one: ElementTree.Element, dx: float, dy: float) -> str:
    for part in one.iter():
        for names, by in ((X_ATTRIBUTES, dx), (Y_ATTRIBUTES, dy)):
            for name in names:
                if name in part.attrib:
                    part.attrib[name] = f"{float(part.attrib[name]) + by:.2f}"
        if "points" in part.attrib:
            pairs = (pair.split(",") for pair in part.attrib["points"].split())
            part.attrib["points"] = " ".join(
                f"{float(x) + dx:.1f},{float(y) + dy:.1f}" for x, y in pairs
            )
    return re.sub(rf' xmlns="{SVG_NAMESPACE}"', "", ElementTree.tostring(one, encoding="unicode"))


def _read_numbers(root: ElementTree.Element) -> list[list[str]]:
    return [_read_cells(row, "*") for row in root.findall(".//tbody/tr")]


def _read_cells(of: ElementTree.Element, path: str) -> list[str]:
    return ["".join(cell.itertext()) for cell in of.findall(path)]

"""Several pictures as one: panels beside each other, each under its name."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence

from analysis.charts.svg import Cell, drawing, element, figure

SVG = "http://www.w3.org/2000/svg"
ACROSS, DOWN = ("x", "x1", "x2", "cx"), ("y", "y1", "y2", "cy")
HEAD = 24.0
"""Room for a panel's name."""


def panels(named: Sequence[tuple[str, str]], *, caption: str, columns: int = 2) -> str:
    """named: (name, `<figure>` of this package). Those without a picture say why in their panel. The legend is the first picture's."""
    ElementTree.register_namespace("", SVG)
    roots = [(name, ElementTree.fromstring(one)) for name, one in named]
    pictures = [(name, root.find(f".//div[@class='picture']/{{{SVG}}}svg"), root) for name, root in roots]
    sizes = [(0.0, 0.0) if one is None else _size(one) for _, one, _ in pictures]
    wide, tall = max((w for w, _ in sizes), default=0.0) or 320.0, (max((h for _, h in sizes), default=0.0) or 100.0) + HEAD
    parts, words, rows = [], [], []
    for number, (name, picture, root) in enumerate(pictures):
        x, y = number % columns * wide, number // columns * tall
        letter = chr(97 + number)
        parts.append(element("text", text=f"({letter}) {name}", x=x + 8, y=y + 16, class_="value"))
        if picture is None:
            said = root.find("p")
            parts.append(element("text", text=(said.text if said is not None else "") or "undefined", x=x + 8, y=y + 40, class_="label"))
            continue
        described = picture.find(f"{{{SVG}}}desc")
        words.append(f"{name}: {described.text if described is not None else ''}")
        parts += [_moved(one, x, y + HEAD) for one in picture if one.tag not in (f"{{{SVG}}}title", f"{{{SVG}}}desc")]
        rows += [[name, *row] for row in _numbers(root)]
    lines = -(-len(pictures) // columns)
    picture_text = drawing(wide * min(columns, len(pictures)), tall * lines, *parts, title=caption, description="; ".join(words))
    key = next((ElementTree.tostring(k, encoding="unicode") for _, _, root in pictures if (k := root.find("./ul")) is not None), "")
    header = ["panel", *_header(pictures)]
    return figure(picture_text, caption=caption, header=header, rows=[row[: len(header)] for row in rows], key=key)


def _size(picture: ElementTree.Element) -> tuple[float, float]:
    _, _, width, height = (float(value) for value in picture.attrib["viewBox"].split())
    return width, height


def _moved(one: ElementTree.Element, dx: float, dy: float) -> str:
    for part in one.iter():
        for names, by in ((ACROSS, dx), (DOWN, dy)):
            for name in names:
                if name in part.attrib:
                    part.attrib[name] = f"{float(part.attrib[name]) + by:.2f}"
        if "points" in part.attrib:
            pairs = (pair.split(",") for pair in part.attrib["points"].split())
            part.attrib["points"] = " ".join(f"{float(x) + dx:.1f},{float(y) + dy:.1f}" for x, y in pairs)
    return re.sub(rf' xmlns="{SVG}"', "", ElementTree.tostring(one, encoding="unicode"))


def _numbers(root: ElementTree.Element) -> list[list[Cell]]:
    return [["".join(cell.itertext()) for cell in row] for row in root.findall(".//tbody/tr")]


def _header(pictures: Sequence[tuple[str, ElementTree.Element | None, ElementTree.Element]]) -> list[str]:
    for _, picture, root in pictures:
        if picture is not None:
            return ["".join(cell.itertext()) for cell in root.findall(".//thead/tr/th")]
    return []

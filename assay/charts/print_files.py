"""Charts of the web pages as PDF, SVG and PNG files for print.

    render_files(figure) -> {"pdf": bytes, "svg": bytes, "png": bytes}

figure: the HTML of an `assay.charts` figure. Its elements (few types, no style attributes) are
drawn in the colours of the light theme, with the title above and the legend below, so that the file
is understandable alone. The same figure gives the same bytes with the same version of matplotlib.
Only this module imports matplotlib.
"""

from __future__ import annotations

import io
import re
import textwrap
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from assay.charts.svg import CHARACTER_WIDTH, text_width, wrap_label
from assay.charts.svg import LINE_HEIGHT as WORDS_LINE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, SOFT, LINE, STRONG, PAPER = "#182130", "#465166", "#dce1e8", "#818c9f", "#ffffff"
SERIES = ("#0067a5", "#c05400", "#00785a", "#a84d86", "#8a6d00", "#3d4d66")
STEPS = (
    "#e9eef5",
    "#cfdff1",
    "#adcbe8",
    "#85b3dc",
    "#5b98cc",
    "#387cb8",
    "#1f61a0",
    "#124882",
    "#0b3161",
)
DASHES = ((), (6, 3), (2, 3), (9, 3, 2, 3), (12, 4), (1, 4))
HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\", "++++")
"""Hatches of stacked bars, which distinguish them when printed without colours."""
AGREE = ("#9fd3c4", "#5fb59d", "#2a9377", "#00785a")
DISAGREE = ("#f1c6a2", "#e29a61", "#d17629", "#c05400")
"""Colours of labels that agree and that contradict: four shades each, from light to dark."""
PIXELS_PER_INCH = 100.0
POINTS = 72 / PIXELS_PER_INCH
FONT = 11 * POINTS
"""Font size in points. It is smaller than the web pages' 12 pixels because the print font is wider.
"""
ROW_HEIGHT = 20.0
"""Height of a row of the legend in pixels."""
TITLE_LINE = 19.0
BOLD_FACTOR = 1.2
"""Width of a bold letter relative to a regular one."""
NARROW_INCHES = 4.0
"""Maximum width at which the narrow form of a chart is drawn."""
MAX_INCHES = 8.5
"""Maximum height of a figure, where closer rows can achieve it. With its caption it fits a page."""
DPI = 300
EMPTY_METADATA: dict[str, dict[str, Any]] = {
    "pdf": {"CreationDate": None, "ModDate": None, "Creator": "Assay", "Producer": None},
    "svg": {"Date": None, "Creator": "Assay"},
    "png": {"Software": "Assay"},
}
"""File metadata without dates, so that the same picture always gives the same file."""
SETTINGS: dict[str, Any] = {
    "svg.hashsalt": "assay",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "hatch.linewidth": 0.4,
    "font.size": FONT,
}

FONTS = {
    "libertine": ("Linux Libertine", "Libertinus Serif"),
    "times": (
        "Times New Roman",
        "Nimbus Roman",
        "TeX Gyre Termes",
        "Liberation Serif",
        "STIXGeneral",
    ),
    "helvetica": ("Helvetica", "Nimbus Sans", "TeX Gyre Heros", "Arial", "Liberation Sans"),
    "computer-modern": ("CMU Serif", "Latin Modern Roman"),
}
"""Families by the name of a paper's font, the preferred one first. STIXGeneral is matplotlib's own."""
FALLBACK_FONT = "DejaVu Sans"

LAYOUT_TABLES = ("GDEF", "GPOS", "GSUB")
"""Font tables used to lay out text."""


class EmptyFigure(ValueError):
    """Error for a figure without a picture. Contains the text shown instead."""


class LegendKey(NamedTuple):
    """One entry of a legend: text before its swatches, the swatches, and text after them."""

    before: str
    swatches: list[ElementTree.Element]
    words: str

    @property
    def start(self) -> float:
        """Return the x offset of the first swatch."""
        return CHARACTER_WIDTH * len(self.before) + (4 if self.before else 0)

    @property
    def words_start(self) -> float:
        return self.start + 16 * len(self.swatches) + 4

    @property
    def room(self) -> float:
        return self.words_start + text_width(self.words) + 14

    def lines(self, width: float) -> list[str]:
        """Return the text in lines that fit next to the swatches in a legend of this width."""
        return wrap_label(self.words, int((width - 16 - self.words_start) / CHARACTER_WIDTH)) or [
            ""
        ]


def render_files(
    figure: str,
    *,
    titled: bool = True,
    inches: float | None = None,
    kinds: Sequence[str] = ("pdf", "svg", "png"),
    font: str | None = None,
) -> dict[str, bytes]:
    """Return the figure as {"pdf": bytes, "svg": bytes, "png": bytes}.

    titled: draw the figure's caption above it. Papers have captions of their own. inches: as in
    `lay_out_figure`. kinds: the files to draw. font: a name in FONTS; characters that it lacks, or
    all if it is not installed, are drawn in FALLBACK_FONT. Raises EmptyFigure if the figure has no
    picture.
    """
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    _embed_glyphs_only()
    layout = lay_out_figure(figure, inches)
    width, whole, pixels = layout.width, layout.height, layout.pixels_per_inch
    title = figure_title(figure)
    lines = (
        textwrap.wrap(title, int((width - 16) / (CHARACTER_WIDTH * BOLD_FACTOR))) if titled else []
    )
    head = TITLE_LINE * len(lines) + (6 if lines else 0)
    family = find_font_family(font) if font else None
    settings = SETTINGS | {"font.family": [family, FALLBACK_FONT] if family else [FALLBACK_FONT]}
    with matplotlib.rc_context(settings):  # type: ignore[arg-type]  # its keys are literals
        paper = Figure(figsize=(width / pixels, (head + whole) / pixels), facecolor=PAPER)
        FigureCanvasAgg(paper)
        axes = paper.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set_xlim(0, width)
        axes.set_ylim(whole, -head)
        axes.set_axis_off()
        for number, line in enumerate(lines):
            axes.text(
                8,
                TITLE_LINE * (number + 0.8) - head,
                line,
                color=INK,
                fontsize=FONT,
                weight="bold",
                parse_math=False,
            )
        for one in iterate_elements(layout.picture):
            _draw_element(axes, one, 0.0, 0.0)
        for row, top in layout.placed_rows():
            for x, key in row.keys:
                _draw_legend_entry(axes, key, x, top, key.lines(width))
        drawn = {}
        _keep_inside(paper, axes, pixels / paper.dpi)
        for kind in kinds:
            out = io.BytesIO()
            metadata = {"Title": title, **EMPTY_METADATA[kind]}
            paper.savefig(out, format=kind, dpi=DPI, metadata=metadata)
            drawn[kind] = out.getvalue()
        return drawn


@dataclass(frozen=True)
class FigureLayout:
    """A figure laid out for print, with its legend below. width, height: of both in pixels. rows:
    of the legend."""

    picture: ElementTree.Element
    rows: list[LegendRow]
    width: float
    height: float
    pixels_per_inch: float

    def placed_rows(self) -> Iterator[tuple[LegendRow, float]]:
        """Yield each row of the legend with its y."""
        top = self.height - sum(row.height for row in self.rows)
        for row in self.rows:
            yield row, top
            top += row.height

    @property
    def height_inches(self) -> float:
        return self.height / self.pixels_per_inch


def lay_out_figure(figure: str, inches: float | None) -> FigureLayout:
    """Lay out a figure for print.

    inches: width. Text has the same size at all widths; up to NARROW_INCHES, the narrow form is
    used. A figure that would be higher than MAX_INCHES is set closer, and so becomes narrower.
    Raises EmptyFigure if the figure has no picture.
    """
    picture, keys = figure_parts(figure, narrow=inches is not None and inches <= NARROW_INCHES)
    width, height = (float(value) for value in picture.attrib["viewBox"].split()[2:])
    rows = _legend_rows(_match_legend(keys, picture), width)
    whole = height + sum(row.height for row in rows) + (8 if rows else 0)
    pixels = PIXELS_PER_INCH
    if inches is not None:
        pixels = max(width / inches, min(whole / MAX_INCHES, PIXELS_PER_INCH))
    return FigureLayout(picture, rows, width, whole, pixels)


@cache
def find_font_family(font: str) -> str | None:
    """Return the first installed family of this name in FONTS, or None. Only TrueType files count,
    because PDF files cannot hold others in the same way."""
    from matplotlib import font_manager

    installed = {
        one.name for one in font_manager.fontManager.ttflist if one.fname.lower().endswith(".ttf")
    }
    return next((family for family in FONTS[font] if family in installed), None)


@cache
def _embed_glyphs_only() -> None:
    """Drop layout tables from fonts embedded in PDF files, which store positioned glyphs.
    Subsetting these tables took half of the rendering time of a figure."""
    from fontTools.subset import Options

    Options._drop_tables_default = [*Options._drop_tables_default, *LAYOUT_TABLES]


def _keep_inside(paper: Figure, axes: Axes, scale: float) -> None:
    """Draw elements in the order of the description, and move text that crosses an edge inside.
    scale: pixels of the description per pixel of the paper."""
    renderer = paper.canvas.get_renderer()  # type: ignore[attr-defined]  # of the Agg canvas
    edge = paper.bbox.width
    for order, artist in enumerate(axes.get_children()):
        if artist is not axes.patch:
            artist.set_zorder(order)
    for text in axes.texts:
        box = text.get_window_extent(renderer)
        over = min(0.0, box.x0) if box.x0 < 0 else max(0.0, box.x1 - edge)
        if over:
            text.set_x(float(text.get_position()[0]) - (over + (-1 if over < 0 else 1)) * scale)


def figure_title(figure: str) -> str:
    """Return the caption of a `<figure>`."""
    return " ".join(
        "".join(one.itertext())
        for one in ElementTree.fromstring(figure).iter()
        if one.tag.rpartition("}")[2] == "figcaption"
    ).strip()


def figure_parts(
    figure: str, *, narrow: bool = False
) -> tuple[ElementTree.Element, list[LegendKey]]:
    """Return (the SVG of a `<figure>`, its legend entries). narrow: the narrow form if there is
    one. Raises EmptyFigure."""
    root = ElementTree.fromstring(figure)  # written by this package, so well-formed
    for one in root.iter():
        one.tag = one.tag.rpartition("}")[2]
    for text in root.iter("text"):
        for span in text.iter("tspan"):
            span.attrib |= {
                name: text.attrib[name] for name in ("class", "text-anchor") if name in text.attrib
            }
    picture = root.find(".//div[@class='picture']/svg")
    if narrow and (other := root.find(".//div[@class='picture']/svg[@class='narrow']")) is not None:
        picture = other
    if picture is None:
        said = root.find("p")
        raise EmptyFigure("" if said is None else said.text or "")
    keys = []
    for item in root.findall("./ul[@class='legend']/li"):
        keys.append(
            LegendKey(
                (item.text or "").strip(),
                item.findall("svg"),
                " ".join("".join(one.tail or "" for one in item).split()),
            )
        )
    return picture, keys


SERIES_CLASS = re.compile(r"[sl][1-9]\d*|(?:dis)?agree\d")
"""Classes of the elements that a legend explains."""


def _match_legend(keys: list[LegendKey], picture: ElementTree.Element) -> list[LegendKey]:
    """Return the entries of series that occur in the picture, with the hatches of its bars."""
    drawn = [one.get("class", "").split() for one in iterate_elements(picture)]
    occurring = {name for names in drawn for name in names}
    bars = {name for names in drawn if "bar" in names for name in names}
    kept = []
    for key in keys:
        elements = [one for swatch in key.swatches for one in iterate_elements(swatch)]
        names = set(SERIES_CLASS.findall(" ".join(one.get("class", "") for one in elements)))
        if names and not names & occurring:
            continue
        for one in elements:
            if one.tag == "rect" and bars & set(one.get("class", "").split()) & names:
                one.set("class", f"{one.get('class')} bar")
        kept.append(key)
    return kept


class LegendRow(NamedTuple):
    """One row of a legend. keys: (x, entry). height: that of its highest entry. An entry with
    several lines has a row of its own."""

    keys: list[tuple[float, LegendKey]]
    height: float


def _legend_rows(keys: list[LegendKey], width: float) -> list[LegendRow]:
    """Wrap the legend at the picture's width."""
    rows: list[LegendRow] = []
    x = width
    for key in keys:
        if x + key.room > width or not rows:
            rows.append(LegendRow([], ROW_HEIGHT + WORDS_LINE * (len(key.lines(width)) - 1)))
            x = 8.0
        rows[-1].keys.append((x, key))
        x += key.room
    return rows


def _draw_legend_entry(axes: Axes, key: LegendKey, x: float, y: float, lines: list[str]) -> None:
    for place, swatch in enumerate(key.swatches):
        for one in iterate_elements(swatch):
            _draw_element(axes, one, x + key.start + 16 * place, y)
    for words, dx, dy in (
        (key.before, 0.0, 0.0),
        *((line, key.words_start, WORDS_LINE * n) for n, line in enumerate(lines)),
    ):
        axes.text(x + dx, y + 12 + dy, words, color=SOFT, fontsize=FONT, parse_math=False)


def iterate_elements(of: ElementTree.Element) -> Iterator[ElementTree.Element]:
    return (one for one in of.iter() if one.tag in DRAWN_ELEMENTS)


class PrintedStyle(NamedTuple):
    fill: str = "none"
    stroke: str = "none"
    width: float = 1.0
    dashes: tuple[int, ...] = ()
    opacity: float = 1.0
    hatch: str = ""


def style_for_classes(classes: str) -> PrintedStyle:
    """Return the style that the web pages' light theme gives these classes."""
    printed_style = PrintedStyle()
    for name in classes.split():
        letter, number = name[:1], int(name[1:]) if name[1:].isdigit() else -1
        if letter == "s" and number > 0:
            printed_style = printed_style._replace(
                fill=SERIES[(number - 1) % 6], hatch=HATCHES[(number - 1) % 6]
            )
        elif letter == "l" and number > 0:
            printed_style = printed_style._replace(
                stroke=SERIES[(number - 1) % 6], width=2.0, dashes=DASHES[(number - 1) % 6]
            )
        elif letter == "g" and number >= 0:
            printed_style = printed_style._replace(fill=STEPS[number % len(STEPS)])
        elif name.startswith(("agree", "disagree")):
            steps = AGREE if name.startswith("agree") else DISAGREE
            printed_style = printed_style._replace(
                fill=steps[int(name[-1]) % 4], hatch="" if steps is AGREE else "////"
            )
        elif name in STYLES:
            printed_style = printed_style._replace(**STYLES[name])
    return printed_style if "bar" in classes.split() else printed_style._replace(hatch="")


STYLES: dict[str, dict[str, Any]] = {
    "axis": {"stroke": STRONG},
    "grid": {"stroke": LINE},
    "label": {"fill": SOFT},
    "value": {"fill": INK},
    "apart": {"fill": "#c9d1db"},
    "plate": {"fill": PAPER, "opacity": 0.82},
    "solid": {"opacity": 1.0},
    "thin": {"width": 1.0, "dashes": (2, 3)},
    "reference": {"stroke": SOFT, "dashes": (4, 3)},
    "band": {"opacity": 0.18},
    "bar": {"stroke": PAPER},
    "median": {"stroke": INK, "width": 2.5},
    "empty-cell": {"stroke": LINE, "dashes": (2, 2)},
    "on-light": {"fill": INK},
    "on-dark": {"fill": PAPER},
}


def _draw_element(axes: Axes, one: ElementTree.Element, dx: float, dy: float) -> None:
    if one.tag in ("text", "tspan"):
        _draw_text(axes, one)
    else:
        _draw_shape(axes, one, style_for_classes(one.get("class", "")), dx, dy)


def _draw_shape(
    axes: Axes, one: ElementTree.Element, printed_style: PrintedStyle, dx: float, dy: float
) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Circle, Polygon, Rectangle

    def at(name: str) -> float:
        return float(one.get(name, 0)) + (dx if "x" in name else dy)

    stroke: dict[str, Any] = {
        "linewidth": printed_style.width * POINTS,
        "alpha": printed_style.opacity,
    }
    if printed_style.dashes:
        stroke["linestyle"] = (
            0,
            tuple(step / printed_style.width for step in printed_style.dashes),
        )
    if one.tag == "line":
        axes.add_line(
            Line2D(
                [at("x1"), at("x2")],
                [at("y1"), at("y2")],
                color=printed_style.stroke,
                solid_capstyle="butt",
                **stroke,
            )
        )
        return
    if one.tag == "polyline":
        xs, ys = zip(*parse_points(one), strict=True)
        axes.add_line(Line2D(xs, ys, color=printed_style.stroke, **stroke))
        return
    fill: dict[str, Any] = {
        "facecolor": printed_style.fill,
        "edgecolor": printed_style.stroke,
        **stroke,
    }
    if printed_style.hatch:
        fill |= {"hatch": printed_style.hatch, "edgecolor": PAPER}
    if one.tag == "rect":
        axes.add_patch(
            Rectangle(
                (at("x"), at("y")), float(one.get("width", 0)), float(one.get("height", 0)), **fill
            )
        )
    elif one.tag == "circle":
        axes.add_patch(Circle((at("cx"), at("cy")), float(one.get("r", 0)), **fill))
    elif one.tag == "polygon":
        corners = [(x + dx, y + dy) for x, y in parse_points(one)]
        axes.add_patch(Polygon(corners, closed=True, **fill))


DRAWN_ELEMENTS = {"line", "polyline", "rect", "circle", "polygon", "text", "tspan"}


def parse_points(one: ElementTree.Element) -> list[tuple[float, float]]:
    return [
        (float(x), float(y)) for x, y in (pair.split(",") for pair in one.get("points", "").split())
    ]


def _draw_text(axes: Axes, one: ElementTree.Element) -> None:
    words = one.text or ""
    if not words.strip():
        return
    anchor = one.get("text-anchor", "start")
    across: Any = {"start": "left", "middle": "center", "end": "right"}[anchor]
    colour = style_for_classes(one.get("class", "label")).fill
    axes.text(
        float(one.get("x", 0)),
        float(one.get("y", 0)),
        words,
        color=INK if colour == "none" else colour,
        fontsize=FONT,
        horizontalalignment=across,
        verticalalignment="baseline",
        parse_math=False,
    )


def render_css() -> str:
    """Return the print styles as CSS rules, for HTML files outside the application."""
    names = [f"{letter}{k}" for letter in "sl" for k in range(1, 7)] + [
        f"g{k}" for k in range(len(STEPS))
    ]
    names += [f"{word}{k}" for word in ("agree", "disagree") for k in range(4)]
    rules = [f"svg .{name} {{ {_css_rule(style_for_classes(name))} }}" for name in names]
    for name, said in STYLES.items():  # partial rules, combined with a series' class
        words = {"fill": "fill", "stroke": "stroke", "width": "stroke-width", "opacity": "opacity"}
        parts = [f"{words[key]}: {value};" for key, value in said.items() if key in words]
        parts += (
            [f"stroke-dasharray: {' '.join(map(str, said['dashes']))};"] if "dashes" in said else []
        )
        rules.append(f"svg .{name} {{ {' '.join(parts)} }}")
    return "\n".join(rules)


def _css_rule(printed_style: PrintedStyle) -> str:
    dashes = (
        f" stroke-dasharray: {' '.join(map(str, printed_style.dashes))};"
        if printed_style.dashes
        else ""
    )
    return f"fill: {printed_style.fill}; stroke: {printed_style.stroke};" + (
        f" stroke-width: {printed_style.width:g};{dashes}" if printed_style.stroke != "none" else ""
    )

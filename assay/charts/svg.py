"""The pieces that all pictures share: elements, scales, ticks, and the figure around them."""

from __future__ import annotations

import calendar
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from itertools import count

from assay.number_words import format_minus
from assay.tabular import Cell, Table

CHARACTER_WIDTH = 7.2
"""Width of a character of a label, in the picture's pixels, with some to spare: fonts differ."""
LINE_HEIGHT = 14.0
"""Height of a line of text in a picture, in its pixels."""
WIDTH, NARROW = 560.0, 280.0
"""Of a picture, whose words are 11 pixels high in one of two columns of a window of 1,280, and of
the form of it that a narrow window shows: there, 560 pixels would be scrolled or their words be too
small to read."""
LABEL_OFFSET = 11
"""Characters of a row's name that still stands beside its row in the narrow form; longer ones stand
above it."""
PART_PATTERN = re.compile(r"[^\s_./:-]+[\s_./:-]*|[\s_./:-]+")
COUNTED_PATTERN = re.compile(rf"\d+|\b(?:{'|'.join(calendar.month_abbr[1:])})\b")
INVALID_XML_PATTERN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Signs that no XML may hold, and so no file of a picture."""
SHORT_LABEL = 18
"""Characters of a label that may stand for those beside it, which are left out."""
MAX_HEADER_LINES = 3
"""Lines of a column's name in the usual form; the narrow one has room for one."""
_id_counter = count(1)


def svg_element(name: str, *children: str, text: str = "", **attributes: object) -> str:
    """`<name …>`; a trailing underscore of an attribute is dropped, other underscores become
    hyphens; None is left out."""
    given = "".join(
        [
            f'{_attribute_name(key)}"{_quote_value(value)}"'
            for key, value in attributes.items()
            if value is not None
        ]
    )
    inside = escape(text) + "".join(children)
    return f"<{name}{given}>{inside}</{name}>" if inside else f"<{name}{given}/>"


@cache
def _attribute_name(key: str) -> str:
    """A page has thousands of elements with the same few attributes."""
    return f" {key.rstrip('_').replace('_', '-')}="


def _quote_value(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return str(value) if type(value) is int else escape(str(value))


def format_number(value: float | None, digits: int = 2) -> str:
    """For people: thousands separated, undefined as a dash."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "–"
    if isinstance(value, int) or abs(value - round(value)) <= 1e-9 * max(1.0, abs(value)):
        return format_minus(f"{round(value):,}")  # 97.00000000000001 is a count after a division
    return format_minus(f"{value:,.{digits}f}")


@dataclass(frozen=True)
class LinearScale:
    """A linear scale from data `low`..`high` to pixels `start`..`end`."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        span = self.high - self.low
        return (
            self.start + (value - self.low) / span * (self.end - self.start)
            if span
            else (self.start + self.end) / 2
        )


def are_whole(values: Iterable[float]) -> bool:
    """Whether all are whole numbers, as counts are: then their axis has no others."""
    return all(float(value).is_integer() for value in values)


def choose_ticks(low: float, high: float, wanted: int = 5, *, whole: bool = False) -> list[float]:
    """Round numbers (1, 2 or 5 times a power of ten apart) that cover low..high from the inside.
    whole: whole numbers only."""
    if not high > low:
        return [low]
    rough = (high - low) / max(wanted, 1)
    if whole:
        rough = max(rough, 1.0)
    power = 10 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(i * step, 12) for i in range(first, last + 1)]


def tick_labels(values: Sequence[float], form: Callable[[float], str]) -> list[str]:
    """Labels of an axis. Each states its tick's value: numbers get the decimals that the step
    needs, and of equal dates or percentages only the first is kept (the others are empty)."""
    labels = [format_minus(form(value)) for value in values]
    written = [_parse_label(label) for label in labels]
    if all(
        math.isclose(one, value, rel_tol=1e-9, abs_tol=1e-12)
        for one, value in zip(written, values, strict=True)
    ):
        return labels
    if not any(map(math.isnan, written)):
        decimals = next(
            (
                d
                for d in range(1, 12)
                if all(math.isclose(round(v, d), v, rel_tol=1e-9, abs_tol=1e-12) for v in values)
            ),
            12,
        )
        return [format_minus(f"{value:,.{decimals}f}") for value in values]
    return [label if label not in labels[:k] else "" for k, label in enumerate(labels)]


def _parse_label(label: str) -> float:
    """The number that a label states, NaN for dates, percentages and other words."""
    try:
        return float(label.replace(",", "").replace("\u2212", "-"))
    except ValueError:
        return math.nan


def wrap_label(name: str, most: int) -> list[str]:
    """The name in lines of `most` usual characters, fewer where they are wide, broken after a space
    or sign where there is one, and whole."""
    lines = [""]
    for part in PART_PATTERN.findall(name):
        if lines[-1] and not _does_fit(lines[-1] + part.rstrip(), most):
            lines.append("")
        lines[-1] += part
        while not _does_fit(lines[-1].rstrip(), most):
            at = next((n for n in range(most, 1, -1) if _does_fit(lines[-1][:n], most)), 1)
            lines[-1:] = [lines[-1][:at], lines[-1][at:]]
    return [line.strip() for line in lines if line.strip()]


def _does_fit(words: str, most: int) -> bool:
    return len(words) < 2 or text_width(words) < CHARACTER_WIDTH * (most + 0.1)


def label_margin(names: Iterable[str], most: int, widest: float) -> float:
    """The space at the left that the names of rows need, in lines of at most `most` characters:
    short names leave it to the picture."""
    longest = max(
        (text_width(line) for name in names for line in wrap_label(name, most)), default=0.0
    )
    return min(widest, 14 + max(longest, CHARACTER_WIDTH * 4))


def text_width(words: str) -> float:
    """Of a label, in the picture's pixels; capitals take more than small letters, and nDCG@10 is
    hardly anything else."""
    return (
        CHARACTER_WIDTH * len(words)
        + 2 * sum(letter.isupper() for letter in words)
        + 4 * sum(words.count(sign) for sign in "@%MWmw")
    )


def wrap_headers(names: Sequence[str], room: float, most: int) -> list[list[str]] | None:
    """Names of columns or bars in at most so many lines, each within `room` and no word broken;
    None where that cannot be."""
    if all(text_width(name) <= room for name in names):
        return [[name] for name in names]
    letters = int(room / CHARACTER_WIDTH)
    if most < 2 or not all(
        _does_fit(part.rstrip(), letters) for name in names for part in PART_PATTERN.findall(name)
    ):
        return None
    lines = [wrap_label(name, letters) for name in names]
    return lines if max(map(len, lines)) <= most else None


def is_counting_sequence(names: Sequence[str]) -> bool:
    """Whether short names differ by numbers or months alone, as ranks and hours do: between two of
    them the others are clear."""
    return (
        max(map(len, names)) <= SHORT_LABEL
        and len({COUNTED_PATTERN.sub("", name) for name in names}) == 1
    )


def clamp_centre(x: float, words: str, width: float) -> float:
    """Where words centred on x are centred so that they stay within a picture of this width."""
    half = text_width(words) / 2
    return min(max(x, half), max(width - half, half))


@dataclass(frozen=True)
class RowNameLayout:
    """Where the names of rows stand. left: where the rows begin. most: characters of a line of a
    name. above: over the row instead of beside it."""

    left: float
    most: int
    above: bool = False

    def head(self, name: str) -> float:
        """The height that a name takes above its row."""
        return LINE_HEIGHT * len(wrap_label(name, self.most)) + 2 if self.above else 0.0

    def height(self, name: str, least: float) -> float:
        """Of a row with its name; least: of what is drawn in it."""
        return (
            self.head(name) + least
            if self.above
            else max(least, LINE_HEIGHT * len(wrap_label(name, self.most)) + 6)
        )

    def drawn(self, name: str, *, top: float, height: float, gap: float = 10.0) -> str:
        """The name of the row that begins at `top`. gap: to what stands beside it."""
        if self.above:
            return text_lines(
                wrap_label(name, self.most),
                x=2.0,
                first=top + LINE_HEIGHT - 2,
                anchor="start",
                tip=name,
            )
        return draw_row_name(name, x=self.left - gap, y=top + height / 2, most=self.most)


def layout_row_names(
    names: Sequence[str], *, width: float, most: int, widest: float
) -> RowNameLayout:
    """most, widest: of a name's line beside its row in the usual form, in characters and in
    pixels."""
    if width > NARROW:
        return RowNameLayout(label_margin(names, most, widest), most)
    if all(len(wrap_label(name, LABEL_OFFSET)) < 2 for name in names):
        return RowNameLayout(
            label_margin(names, LABEL_OFFSET, 14 + CHARACTER_WIDTH * (LABEL_OFFSET + 1)),
            LABEL_OFFSET,
        )
    return RowNameLayout(8.0, int((width - 4) / CHARACTER_WIDTH), above=True)


def draw_both_widths(draw: Callable[[float], str], usual: float = WIDTH) -> str:
    """draw: width -> `<svg>`. The usual form first, which is the one for print, then the narrow
    one: the style sheet shows one of them."""
    return draw(usual) + draw(NARROW)


def numbered_key(names: Sequence[str], *, y: float, width: float) -> tuple[str, float]:
    """Lines "1: name" from y downwards, for labels that are numbers because they had no room, and
    the height of all. Two columns in the usual form."""
    across = 2 if width > NARROW and len(names) > 3 else 1
    parts, most, down = [], int((width / across - 4) / CHARACTER_WIDTH), -(-len(names) // across)
    ends = [y]
    for number_of, name in enumerate(names, 1):
        column, first = divmod(number_of - 1, down)
        at = y if first == 0 else ends[-1]
        lines = wrap_label(f"{number_of}: {name}", most)
        parts.append(
            text_lines(
                lines, x=2.0 + column * width / across, first=at + LINE_HEIGHT - 2, anchor="start"
            )
        )
        ends.append(at + LINE_HEIGHT * len(lines) + 2)
    return "".join(parts), max(ends) - y


def text_lines(
    lines: Sequence[str],
    *,
    x: float,
    first: float,
    anchor: str,
    tip: str = "",
    class_: str = "label",
) -> str:
    """first: y of the first line. tip: its tooltip, which tells a name's row from other words,
    too."""
    title = svg_element("title", text=tip) if tip else ""
    if len(lines) == 1:
        return svg_element(
            "text", title, text=lines[0], x=x, y=first, text_anchor=anchor, class_=class_
        )
    spans = [
        svg_element("tspan", text=line, x=x, y=first + LINE_HEIGHT * i)
        for i, line in enumerate(lines)
    ]
    return svg_element("text", title, *spans, text_anchor=anchor, class_=class_)


def draw_row_name(name: str, *, x: float, y: float, most: int) -> str:
    """A row's name, ending at x and centred on y: in lines of `most` characters."""
    lines = wrap_label(name, most)
    return text_lines(
        lines, x=x, first=y + 4 - LINE_HEIGHT * (len(lines) - 1) / 2, anchor="end", tip=name
    )


def axis_margin(
    scale: LinearScale, form: Callable[[float], str], *, least: float = 56.0, whole: bool = False
) -> float:
    """The space at the left that the values of an upright axis need."""
    values = choose_ticks(min(scale.low, scale.high), max(scale.low, scale.high), whole=whole)
    return max(least, 10 + CHARACTER_WIDTH * max(map(len, tick_labels(values, form))))


def draw_reference_label(name: str, *, x: float, last: float, width: float, most: int = 30) -> str:
    """The name of an upright reference line at x, on the side that has more room, in lines that end
    at y = `last`. most: characters of a line."""
    left, lines = x > width / 2, wrap_reference_label(name, x=x, width=width, most=most)
    return text_lines(
        lines,
        x=x + (-4 if left else 4),
        first=last - LINE_HEIGHT * (len(lines) - 1),
        anchor="end" if left else "start",
    )


def wrap_reference_label(name: str, *, x: float, width: float, most: int = 30) -> list[str]:
    """The lines of `draw_reference_label`."""
    room = min(most, int((max(x, width - x) - 4) / CHARACTER_WIDTH))
    return wrap_label(name, max(room, 1))


def wrap_axis_label(label: str, width: float) -> list[str]:
    """An axis' label in lines that fit into a picture of this width."""
    return wrap_label(label, int((width - 4) / CHARACTER_WIDTH))


def extra_label_height(label: str, width: float) -> float:
    """The height that a label takes beyond one line."""
    return LINE_HEIGHT * max(len(wrap_axis_label(label, width)) - 1, 0)


def extra_axis_label_height(label: str, right: float) -> float:
    """The height that the label of an upright axis takes beyond one line. right: where the grid
    ends."""
    return extra_label_height(label, _axis_label_width(right))


def _axis_label_width(right: float) -> float:
    return right - 80.0 if right > NARROW else right


def draw_left_axis(
    scale: LinearScale,
    *,
    left: float,
    right: float,
    label: str = "",
    form: Callable[[float], str] = lambda v: format_number(v),
    whole: bool = False,
) -> str:
    """Horizontal grid lines with their values at the left."""
    parts = []
    at = choose_ticks(min(scale.low, scale.high), max(scale.low, scale.high), whole=whole)
    for tick, words in zip(at, tick_labels(at, form), strict=True):
        y = scale(tick)
        parts.append(svg_element("line", x1=left, x2=right, y1=y, y2=y, class_="grid"))
        parts.append(
            svg_element("text", text=words, x=left - 6, y=y + 4, text_anchor="end", class_="label")
        )
    if label:
        said = wrap_axis_label(label, _axis_label_width(right))
        first = min(scale.start, scale.end) - 10 - LINE_HEIGHT * (len(said) - 1)
        parts.append(
            text_lines(
                said, x=min(left, 80.0) if right > NARROW else 2.0, first=first, anchor="start"
            )
        )
    return "".join(parts)


def draw_bottom_axis(
    scale: LinearScale,
    *,
    top: float,
    bottom: float,
    label: str = "",
    at: Sequence[float] | None = None,
    form: Callable[[float], str] = lambda v: format_number(v),
    width: float = WIDTH,
    whole: bool = False,
) -> str:
    """A line with its values below; of labels that would meet, the later one is left out. width: of
    the picture."""
    parts = [
        svg_element(
            "line", x1=scale.start - 8, x2=scale.end + 8, y1=bottom, y2=bottom, class_="axis"
        )
    ]
    free = -math.inf
    at = (
        choose_ticks(min(scale.low, scale.high), max(scale.low, scale.high), whole=whole)
        if at is None
        else at
    )
    for tick, words in zip(at, tick_labels(at, form), strict=True):
        x = scale(tick)
        parts.append(svg_element("line", x1=x, x2=x, y1=bottom, y2=bottom + 4, class_="axis"))
        centre, half = clamp_centre(x, words, width), CHARACTER_WIDTH * len(words) / 2
        if not words or centre - half < free:
            continue
        free = centre + half + 4
        parts.append(
            svg_element(
                "text", text=words, x=centre, y=bottom + 20, text_anchor="middle", class_="label"
            )
        )
    if label:
        said = wrap_axis_label(label, width)
        middle = clamp_centre((scale.start + scale.end) / 2, max(said, key=text_width), width)
        parts.append(text_lines(said, x=middle, first=bottom + 36, anchor="middle"))
    return "".join(parts)


def svg_drawing(width: float, height: float, *parts: str, title: str, description: str) -> str:
    """An SVG that screen readers announce by title and description."""
    key = f"p{next(_id_counter)}"
    head = svg_element("title", text=title, id=f"{key}t") + svg_element(
        "desc", text=description, id=f"{key}d"
    )
    return svg_element(
        "svg",
        head,
        *parts,
        viewBox=f"0 0 {_quote_value(float(width))} {_quote_value(float(height))}",
        width=round(width),
        role="img",
        class_="narrow" if width == NARROW else None,
        aria_labelledby=f"{key}t {key}d",
        xmlns="http://www.w3.org/2000/svg",
    )


def data_table(header: Sequence[str], rows: Sequence[Sequence[Cell]], *, caption: str) -> str:
    """The numbers behind a picture."""

    def cell(value: Cell) -> str:
        if isinstance(value, str):
            return svg_element("td", text=value)
        return svg_element("td", text=format_number(value, 3), class_="number")

    head = svg_element(
        "thead", svg_element("tr", *(svg_element("th", text=name, scope="col") for name in header))
    )
    body = svg_element(
        "tbody",
        *(
            svg_element("tr", svg_element("th", text=str(row[0]), scope="row"), *map(cell, row[1:]))
            for row in rows
        ),
    )
    return svg_element(
        "table",
        svg_element("caption", text=caption, class_="visually-hidden"),
        head,
        body,
        class_="table compact",
    )


def series_legend(names: Sequence[str], prefix: str = "s", classes: Sequence[str] = ()) -> str:
    """Names beside swatches of the classes s1, s2, … or of those given."""
    items = []
    for i, name in enumerate(names, start=1):
        shape = (
            svg_element(
                "rect",
                x=1,
                y=3,
                width=14,
                height=10,
                class_=classes[i - 1] if classes else f"{prefix}{i}",
            )
            if prefix != "l"
            else svg_element("line", x1=0, x2=16, y1=8, y2=8, class_=f"l{i}")
        )
        items.append(
            svg_element(
                "li",
                svg_element("svg", shape, viewBox="0 0 16 16", aria_hidden="true"),
                " " + escape(name),
            )
        )
    return svg_element("ul", *items, class_="legend", role="list")


def steps_legend(low: str, high: str, *, steps: int, empty: bool) -> str:
    """What the colours of a heat map mean: from `low` to `high`. empty: a hatched cell is
    explained, too."""

    def swatch(of: str) -> str:
        return svg_element(
            "svg",
            svg_element("rect", x=1, y=3, width=14, height=10, class_=of),
            viewBox="0 0 16 16",
            aria_hidden="true",
        )

    scale = "".join(swatch(f"g{step}") for step in range(steps))
    items = [svg_element("li", escape(f"{low} "), scale, escape(f" {high}"))]
    if empty:
        items.append(svg_element("li", swatch("empty-cell"), " none"))
    return svg_element("ul", *items, class_="legend", role="list")


class Picture(str):
    """The HTML of a figure, with the values that it shows. A figure that only says why it has
    nothing to show has no rows."""

    def __new__(
        cls,
        html: str,
        caption: str,
        header: Sequence[str] = (),
        rows: Sequence[Sequence[Cell]] = (),
    ) -> Picture:
        picture = super().__new__(cls, html)
        picture.caption, picture.header, picture.rows = caption, header, rows
        return picture

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]

    def table(self, key: str) -> Table:
        return Table(key, self.caption, list(self.header), [list(row) for row in self.rows])

    def __html__(self) -> Picture:
        """Return the figure itself: templates write it as it is."""
        return self


def figure_html(
    picture: str,
    *,
    caption: str,
    header: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    key: str = "",
) -> Picture:
    """A picture with its caption, legend and the table behind it."""
    data = svg_element(
        "details",
        svg_element("summary", text="The numbers"),
        svg_element(
            "div",
            data_table(header, rows, caption=caption),
            class_="table-wrap",
            tabindex="0",
            role="region",
            aria_label=f"Numbers: {caption}",
        ),
    )
    frame = svg_element(
        "div",
        picture,
        class_="picture",
        tabindex="0",
        role="group",
        aria_label=f"Picture: {caption}",
    )
    whole = svg_element(
        "figure", svg_element("figcaption", text=caption), frame, key, data, class_="figure"
    )
    return Picture(INVALID_XML_PATTERN.sub("\ufffd", whole), caption, header, rows)


def undefined_figure(reason: str, *, caption: str) -> Picture:
    """In place of a picture that has nothing to show: why."""
    said = svg_element("figcaption", text=caption) + svg_element(
        "p", text=reason, class_="callout info"
    )
    return Picture(
        INVALID_XML_PATTERN.sub("\ufffd", svg_element("figure", said, class_="figure")), caption
    )

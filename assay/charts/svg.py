"""Elements shared by all charts: SVG elements, scales, ticks, labels, legends, and the figure with
its data table."""

from __future__ import annotations

import calendar
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from html import escape
from itertools import count

from assay.number_words import format_minus
from assay.tabular import Cell, Table

CHARACTER_WIDTH = 7.2
"""Estimated width of a label's character in pixels, with a margin because fonts differ."""
LINE_HEIGHT = 14.0
"""Height of a line of text in pixels."""
WIDTH, NARROW = 560.0, 280.0
"""Widths in pixels of the two forms of a chart. The wide form has 11-pixel text in one of two
columns of a 1,280-pixel window. In a narrow window it would need scrolling or have text too small
to read, so the narrow form is shown."""
LABEL_OFFSET = 11
"""Maximum number of characters of a row's name next to its row in the narrow form. Longer names are
placed above the row."""
PART_PATTERN = re.compile(r"[^\s_./:-]+[\s_./:-]*|[\s_./:-]+")
COUNTED_PATTERN = re.compile(rf"\d+|\b(?:{'|'.join(calendar.month_abbr[1:])})\b")
INVALID_XML_PATTERN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that XML does not allow."""
SHORT_LABEL = 18
"""Maximum number of characters of labels some of which may be left out if they do not fit."""
MIN_MONTH_DAYS = 75
"""Days from which an axis of dates has months rather than days."""
MAX_HEADER_LINES = 3
"""Maximum number of lines of a column's name in the wide form. The narrow form has room for one."""
_id_counter = count(1)


def svg_element(name: str, *children: str, text: str = "", **attributes: object) -> str:
    """Return the element `<name …>`. In attribute names, a trailing underscore is dropped and other
    underscores become hyphens. Attributes that are None are left out."""
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
    """Return the attribute's name in SVG. Cached, because a page has thousands of elements with the
    same few attributes."""
    return f" {key.rstrip('_').replace('_', '-')}="


def _quote_value(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return str(value) if type(value) is int else escape(str(value))


def format_number(value: float | None, digits: int = 2) -> str:
    """Format a number with thousands separators, or as a dash if undefined."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "–"
    if isinstance(value, int) or abs(value - round(value)) <= 1e-9 * max(1.0, abs(value)):
        # a whole number with a rounding error, such as 97.00000000000001
        return format_minus(f"{round(value):,}")
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


def are_whole_numbers(values: Iterable[float]) -> bool:
    """Return whether all values are whole numbers. Their axis then has only whole numbers."""
    return all(float(value).is_integer() for value in values)


def choose_ticks(low: float, high: float, n_ticks: int = 5, *, whole: bool = False) -> list[float]:
    """Return round numbers (1, 2 or 5 times a power of ten apart) within low..high. whole: whole
    numbers only."""
    if not high > low:
        return [low]
    rough = (high - low) / max(n_ticks, 1)
    if whole:
        rough = max(rough, 1.0)
    power = 10 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(i * step, 12) for i in range(first, last + 1)]


def choose_date_ticks(low: float, high: float, n_ticks: int = 6) -> dict[float, str]:
    """Return days (`date.toordinal`) with their labels: beginnings of months or years, or of days
    in less than three months."""
    if high - low < MIN_MONTH_DAYS:
        step = next((s for s in (1, 2, 7, 14) if (high - low) / s <= n_ticks), 28)
        days = range(math.ceil(low), math.floor(high) + 1, step)
        return {float(day): date.fromordinal(day).isoformat() for day in days}
    first, last = (date.fromordinal(int(day)) for day in (low, high))
    months = range(first.year * 12 + first.month - 1, last.year * 12 + last.month)
    step = next((s for s in (1, 2, 3, 6, 12, 24, 60) if len(months) / s <= n_ticks), 120)
    ticks = {}
    for month in months:
        begin = date(month // 12, month % 12 + 1, 1)
        if month % step == 0 and low <= begin.toordinal() <= high:
            ticks[float(begin.toordinal())] = f"{begin:%Y}" if step >= 12 else f"{begin:%Y-%m}"
    return ticks


def format_day(day: float) -> str:
    return date.fromordinal(int(day)).isoformat()


def tick_labels(values: Sequence[float], form: Callable[[float], str]) -> list[str]:
    """Return the labels of an axis. Numbers have the decimals that the step needs. Of equal dates
    or percentages only the first is kept, and the others are empty."""
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
    """Return the number that a label states, or NaN for dates, percentages and other text."""
    try:
        return float(label.replace(",", "").replace("\u2212", "-"))
    except ValueError:
        return math.nan


def wrap_label(name: str, most: int) -> list[str]:
    """Wrap a name into lines of about `most` characters of usual width, after a space or
    punctuation if possible. Nothing is cut off."""
    lines = [""]
    for part in PART_PATTERN.findall(name):
        if lines[-1] and not _fits_on_lines(lines[-1] + part.rstrip(), most):
            lines.append("")
        lines[-1] += part
        while not _fits_on_lines(lines[-1].rstrip(), most):
            at = next((n for n in range(most, 1, -1) if _fits_on_lines(lines[-1][:n], most)), 1)
            lines[-1:] = [lines[-1][:at], lines[-1][at:]]
    return [line.strip() for line in lines if line.strip()]


def _fits_on_lines(words: str, most: int) -> bool:
    return len(words) < 2 or text_width(words) < CHARACTER_WIDTH * (most + 0.1)


def label_margin(names: Iterable[str], most: int, widest: float) -> float:
    """Return the width in pixels that rows' names need at the left, in lines of at most `most`
    characters and at most `widest` pixels."""
    longest = max(
        (text_width(line) for name in names for line in wrap_label(name, most)), default=0.0
    )
    return min(widest, 14 + max(longest, CHARACTER_WIDTH * 4))


def text_width(words: str) -> float:
    """Return the estimated width of a label in pixels. Capitals are wider than small letters, which
    matters for labels such as nDCG@10."""
    return (
        CHARACTER_WIDTH * len(words)
        + 2 * sum(letter.isupper() for letter in words)
        + 4 * sum(words.count(sign) for sign in "@%MWmw")
    )


def wrap_headers(names: Sequence[str], room: float, most: int) -> list[list[str]] | None:
    """Wrap names of columns or bars into at most `most` lines within `room` pixels each, without
    breaking words. Return None if that is not possible."""
    if all(text_width(name) <= room for name in names):
        return [[name] for name in names]
    letters = int(room / CHARACTER_WIDTH)
    if most < 2 or not all(
        _fits_on_lines(part.rstrip(), letters)
        for name in names
        for part in PART_PATTERN.findall(name)
    ):
        return None
    lines = [wrap_label(name, letters) for name in names]
    return lines if max(map(len, lines)) <= most else None


def is_counting_sequence(names: Sequence[str]) -> bool:
    """Return whether short labels differ only in numbers or months, as ranks and hours do. Labels
    between two of them can then be left out."""
    return (
        max(map(len, names)) <= SHORT_LABEL
        and len({COUNTED_PATTERN.sub("", name) for name in names}) == 1
    )


def clamp_centre(x: float, words: str, width: float) -> float:
    """Return the x closest to `x` at which centred text stays within a picture of this width."""
    half = text_width(words) / 2
    return min(max(x, half), max(width - half, half))


@dataclass(frozen=True)
class RowNameLayout:
    """The placement of the names of a chart's rows. left: x at which rows begin. most: maximum
    number of characters per line of a name. above: names are above their rows, not next to them."""

    left: float
    most: int
    above: bool = False

    def head_height(self, name: str) -> float:
        """Return the height that a name takes above its row."""
        return LINE_HEIGHT * len(wrap_label(name, self.most)) + 2 if self.above else 0.0

    def height(self, name: str, least: float) -> float:
        """Return the height of a row with its name. least: height of the row's drawing."""
        return (
            self.head_height(name) + least
            if self.above
            else max(least, LINE_HEIGHT * len(wrap_label(name, self.most)) + 6)
        )

    def draw(self, name: str, *, top: float, height: float, gap: float = 10.0) -> str:
        """Draw the name of the row that begins at `top`. gap: distance to the row's drawing."""
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
    """Choose where rows' names are placed. most, widest: maximum width of a line next to its row in
    the wide form, in characters and in pixels."""
    if width > NARROW:
        return RowNameLayout(label_margin(names, most, widest), most)
    if all(len(wrap_label(name, LABEL_OFFSET)) < 2 for name in names):
        return RowNameLayout(
            label_margin(names, LABEL_OFFSET, 14 + CHARACTER_WIDTH * (LABEL_OFFSET + 1)),
            LABEL_OFFSET,
        )
    return RowNameLayout(8.0, int((width - 4) / CHARACTER_WIDTH), above=True)


def draw_both_widths(draw: Callable[[float], str], usual: float = WIDTH) -> str:
    """Draw the wide form, which is also used for print, and the narrow form. The style sheet shows
    one of them. draw: width -> `<svg>`."""
    return draw(usual) + draw(NARROW)


def numbered_key(names: Sequence[str], *, y: float, width: float) -> tuple[str, float]:
    """Return (lines "1: name" from y downwards, their height), the key of labels replaced by
    numbers. The wide form has two columns."""
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
    """Draw lines of text. first: y of the first line. tip: tooltip, which also marks the text as
    the name of a row."""
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
    """Draw a row's name in lines of `most` characters, ending at x and centred on y."""
    lines = wrap_label(name, most)
    return text_lines(
        lines, x=x, first=y + 4 - LINE_HEIGHT * (len(lines) - 1) / 2, anchor="end", tip=name
    )


def axis_margin(
    scale: LinearScale, form: Callable[[float], str], *, least: float = 56.0, whole: bool = False
) -> float:
    """Return the width in pixels that the values of a vertical axis need at the left."""
    values = choose_ticks(min(scale.low, scale.high), max(scale.low, scale.high), whole=whole)
    return max(least, 10 + CHARACTER_WIDTH * max(map(len, tick_labels(values, form))))


def draw_reference_label(name: str, *, x: float, last: float, width: float, most: int = 30) -> str:
    """Draw the name of a vertical reference line at x, on the side with more room, in lines that
    end at y = `last`. most: maximum number of characters per line."""
    left, lines = x > width / 2, wrap_reference_label(name, x=x, width=width, most=most)
    return text_lines(
        lines,
        x=x + (-4 if left else 4),
        first=last - LINE_HEIGHT * (len(lines) - 1),
        anchor="end" if left else "start",
    )


def wrap_reference_label(name: str, *, x: float, width: float, most: int = 30) -> list[str]:
    """Return the lines of `draw_reference_label`."""
    room = min(most, int((max(x, width - x) - 4) / CHARACTER_WIDTH))
    return wrap_label(name, max(room, 1))


def wrap_axis_label(label: str, width: float) -> list[str]:
    """Wrap an axis' label into lines that fit into a picture of this width."""
    return wrap_label(label, int((width - 4) / CHARACTER_WIDTH))


def extra_label_height(label: str, width: float) -> float:
    """Return the height that a label takes beyond one line."""
    return LINE_HEIGHT * max(len(wrap_axis_label(label, width)) - 1, 0)


def extra_axis_label_height(label: str, right: float) -> float:
    """Return the height that the label of a vertical axis takes beyond one line. right: x at which
    the grid ends."""
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
    """Draw horizontal grid lines with their values at the left."""
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
    ticks: Mapping[float, str] | None = None,
    width: float = WIDTH,
    whole: bool = False,
) -> str:
    """Draw a horizontal axis with its values below. Of labels that would overlap, the later one is
    left out. ticks: labels by value, as they are. width: width of the picture."""
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
    labels = ticks or dict(zip(at, tick_labels(at, form), strict=True))
    for tick, words in labels.items():
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
    """Return an SVG whose title and description are announced by screen readers."""
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
    """Return the chart's data as an HTML table."""

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
    """Return a legend of names with swatches of the classes s1, s2, …, or of the classes given."""
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
    """Return the legend of a heat map's colours, from `low` to `high`. empty: explain hatched cells
    as well."""

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
    """The HTML of a chart with the values that it shows. A chart that only states why it is
    undefined has no rows."""

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
        """Return the figure itself, so that templates do not escape it."""
        return self


def figure_html(
    picture: str,
    *,
    caption: str,
    header: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    key: str = "",
) -> Picture:
    """Return the HTML of a figure: a picture with its caption, legend and data table."""
    data = svg_element(
        "details",
        svg_element("summary", text="Data"),
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
    """Return a figure that states why it shows no picture."""
    said = svg_element("figcaption", text=caption) + svg_element(
        "p", text=reason, class_="callout info"
    )
    return Picture(
        INVALID_XML_PATTERN.sub("\ufffd", svg_element("figure", said, class_="figure")), caption
    )

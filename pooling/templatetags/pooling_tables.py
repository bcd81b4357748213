"""Tables of pages: labels for cards on phones, and the values behind the cells for downloads.

    {% table _("Runs") "card-rows" %}
      <thead><tr>{% head _("Tag") %}{% head _("Rows") "number" %}</tr></thead>
      <tbody>
        <tr{% row %}>
          <th scope="row"{% cell run.tag %}><a href="…">{{ run.tag }}</a></th>
          <td class="number"{% cell run.n_rows %}>{{ run.n_rows|intcomma }}</td>
        </tr>
      </tbody>
    {% endtable %}

With `card-rows`, each row is a card in a narrow window (components.css); `cell` then says which
column the cell belongs to. A page rendered by `pooling.platform.page_files` gets a download menu
above the table, made from the values given to `cell`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from django import template
from django.template.base import FilterExpression, NodeList, Parser, Token, token_kwargs
from django.template.context import Context
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from assay.charts.svg import Picture
from assay.tabular import Cell, Table
from pooling.platform.listing import ListPage

register = template.Library()
NUMBER_PATTERN = re.compile(r"[\d,.]+")


@dataclass
class PageTable:
    """The state of a table while its page is rendered.

    names, labels: of the page's columns in order, empty for a column of controls. A hidden heading
    has a label too. columns: of the file, to which `also` adds columns that the page lacks.
    """

    cards: bool
    names: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)
    rows: list[dict[str, Cell]] = field(default_factory=list)
    digits: dict[str, int] = field(default_factory=dict)
    column: int = 0
    is_titled: bool = False

    def add_column(self, name: str, label: str) -> None:
        if name in self.columns:
            name = f"{name} ({len(self.names)})"
        self.names.append(name)
        self.labels.append(label)
        if name:
            self.columns.append(name)

    def begin_row(self) -> None:
        self.rows.append({})
        self.column, self.is_titled = 0, False

    def add_cell(self, value: Cell, *, is_control: bool, digits: int | None, span: int) -> str:
        """Return the cell's role in a card: `title`, `none`, or the label as `=name`."""
        if self.column >= len(self.names):
            raise template.TemplateSyntaxError(
                "A cell without a column, or a row without {% row %}."
            )
        name, label = self.names[self.column], self.labels[self.column]
        self.column += span
        if is_control:
            return ""
        self.keep(name, value, digits)
        if value == "":
            return "none"
        if not self.is_titled:
            self.is_titled = True
            if isinstance(value, str) and not NUMBER_PATTERN.fullmatch(value):
                return "title"
        return f"={label}" if label and span == 1 else ""

    def keep(self, name: str, value: Cell, digits: int | None = None) -> None:
        if name:
            self.rows[-1][name] = value
        if digits is not None:
            self.digits[name] = digits

    def as_table(self, title: str) -> Table:
        used = [name for name in self.columns if any(name in row for row in self.rows)]
        rows = [[row.get(name) for name in used] for row in self.rows if row]
        return Table("table", title, used, rows, digits=[self.digits.get(name) for name in used])


class TableNode(template.Node):
    def __init__(
        self,
        nodelist: NodeList,
        title: FilterExpression,
        css: FilterExpression | None,
        options: dict[str, FilterExpression],
    ) -> None:
        self.nodelist, self.title, self.css, self.options = nodelist, title, css, options

    def render(self, context: Context) -> SafeString:
        title = str(self.title.resolve(context))
        css = str(self.css.resolve(context)) if self.css else ""
        options = {name: value.resolve(context) for name, value in self.options.items()}
        table = PageTable(cards="card-rows" in css.split())
        with context.push(page_table=table):
            content = self.nodelist.render(context)
        return format_html(
            '{}<div class="table-wrap" tabindex="0" role="region" aria-label="{}">'
            '<table class="{}"{}>{}</table></div>',
            files(context, table.as_table(title)) if options.get("files", True) else "",
            title,
            f"table {css}".strip(),
            mark_safe(" data-sortable" if options.get("sortable") else ""),
            content,
        )


@register.tag("table")
def do_table(parser: Parser, token: Token) -> TableNode:
    """{% table TITLE [CSS] [files=False] [sortable=True] %} … {% endtable %}"""
    bits = token.split_contents()[1:]
    given = [bit for bit in bits if not re.match(r"\w+=", bit)]
    options = token_kwargs(bits[len(given) :], parser)
    nodelist = parser.parse(("endtable",))
    parser.delete_first_token()
    title, *css = [parser.compile_filter(bit) for bit in given]
    return TableNode(nodelist, title, css[0] if css else None, options)


@register.simple_tag(takes_context=True)
def head(
    context: Context, name: str = "", css: str = "", *, hidden: bool = False, written: bool = False
) -> str:
    """Return the heading of a column. hidden: visible to screen readers only. written: return
    nothing, because the template writes the heading itself or the table has none."""
    context["page_table"].add_column(str(name), "" if hidden else str(name))
    if written:
        return ""
    shown = format_html('<span class="visually-hidden">{}</span>', name) if hidden else name
    css_class = format_html(' class="{}"', css) if css else ""
    return format_html('<th scope="col"{}>{}</th>', css_class, shown)


@register.simple_tag(takes_context=True)
def column(context: Context, shown: ListPage, key: str, heading: str, css: str = "") -> str:
    """Return the heading of a column of a list: a link that sorts by it, or reverses the order."""
    context["page_table"].add_column(str(heading), str(heading))
    state = {key: "ascending", f"-{key}": "descending"}.get(shown.sorted_by, "")
    mark = format_html(' aria-sort="{}"', state) if state else ""
    css_class = format_html(' class="{}"', css) if css else ""
    # Numbers are sorted from the largest first.
    down = state == "ascending" or (not state and "number" in css)
    return format_html(
        '<th scope="col"{}{}><a class="sort" href="{}">{}</a></th>',
        css_class,
        mark,
        shown.address(sort=f"-{key}" if down else key),
        heading,
    )


@register.simple_tag(takes_context=True)
def row(context: Context) -> str:
    """Begin a table row. Used inside the tag `<tr>`."""
    context["page_table"].begin_row()
    return ""


@register.simple_tag(takes_context=True)
def cell(
    context: Context,
    *values: Any,
    digits: int | None = None,
    span: int = 1,
    choose: bool = False,
) -> str:
    """Record the value of a cell and return the attributes of its role in a card, inside `<td>`.

    values: none for controls, several for words of which some may be missing. digits: decimals in
    LaTeX. choose: the cell holds the row's checkbox.
    """
    table: PageTable = context["page_table"]
    part = table.add_cell(_cell_value(values), is_control=not values, digits=digits, span=span)
    if not table.cards:
        return ""
    if choose or not values:
        return format_html(' data-card="{}"', "choose" if choose else "control")
    if part.startswith("="):
        return format_html(' data-label="{}"', part[1:])
    return format_html(' data-card="{}"', part) if part else ""


@register.simple_tag(takes_context=True)
def also(context: Context, name: str, value: Any, *, digits: int | None = None) -> str:
    """Record another value of the row in a column that only files have."""
    table: PageTable = context["page_table"]
    if name not in table.columns:
        shown = [name for name in table.names[: table.column] if name in table.columns]
        place = table.columns.index(shown[-1]) + 1 if shown else 0
        while place < len(table.columns) and table.columns[place] not in table.names:
            place += 1
        table.columns.insert(place, str(name))
    table.keep(str(name), _cell_value((value,)), digits)
    return ""


@register.simple_tag(takes_context=True)
def files(context: Context, part: Table | Picture) -> str:
    """Return the download menu of a table or chart, on pages that offer it."""
    page_files = context.get("page_files")
    return page_files.offer(part) if page_files else ""


@register.simple_tag(takes_context=True)
def picture(context: Context, drawn: Picture) -> str:
    """Return a chart with its download menu."""
    end = "</figcaption>"
    return mark_safe(drawn.replace(end, end + files(context, drawn), 1))


def _cell_value(values: Iterable[Any]) -> Cell:
    plain = [_parse_plain_value(value) for value in values]
    if len(plain) == 1:
        return plain[0]
    return " ".join(str(value) for value in plain if value not in (None, ""))


def _parse_plain_value(value: Any) -> Cell:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, int | float):
        return value
    if isinstance(value, datetime):
        return timezone.localtime(value).isoformat(timespec="seconds")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return ", ".join(
            ": ".join(str(_parse_plain_value(part)) for part in one)
            if isinstance(one, tuple)
            else str(_parse_plain_value(one))
            for one in value
        )
    return str(value)

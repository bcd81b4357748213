"""Template tags for cells of report tables."""

from __future__ import annotations

from django import template
from django.urls import reverse
from django.utils.safestring import SafeString

from analysis.models import Report
from assay.number_words import format_minus
from assay.tabular import Cell, Table, format_short
from pooling.platform.page_files import download_menu

register = template.Library()


@register.filter
def is_text(cell: Cell) -> bool:
    return isinstance(cell, str)


@register.filter
def exact(cell: Cell) -> str:
    return repr(cell)


@register.filter
def shown(cell: Cell) -> str:
    return format_minus(format_short(cell) if isinstance(cell, float) else f"{cell:,}")


register.filter("with_minus", format_minus)


@register.simple_tag
def report_table_files(report: Report, table: Table) -> SafeString:
    """Return the menu for downloading a table of a report with all of its rows."""
    formats = {"CSV": "csv", "LaTeX": "tex", "JSON": "json"}
    return download_menu(
        table.title,
        (
            (name, reverse("report-table", args=[report.pk, table.key, extension]))
            for name, extension in formats.items()
        ),
    )

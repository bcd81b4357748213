"""Template tags for cells of report tables."""

from __future__ import annotations

from django import template

from assay.number_words import format_minus
from assay.tabular import Cell, format_short

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

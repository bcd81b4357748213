"""Cells of a report's tables."""

from __future__ import annotations

from django import template

from assay.counts import with_minus
from assay.tabular import Cell, short

register = template.Library()


@register.filter
def is_text(cell: Cell) -> bool:
    return isinstance(cell, str)


@register.filter
def exact(cell: Cell) -> str:
    return repr(cell)


@register.filter
def shown(cell: Cell) -> str:
    return with_minus(short(cell) if isinstance(cell, float) else f"{cell:,}")


register.filter("with_minus", with_minus)

"""Cells of a report's tables."""

from __future__ import annotations

from django import template

from analysis.systems.tabular import Cell, short

register = template.Library()


@register.filter
def is_text(cell: Cell) -> bool:
    return isinstance(cell, str)


@register.filter
def exact(cell: Cell) -> str:
    return repr(cell)


@register.filter
def shown(cell: Cell) -> str:
    return short(cell) if isinstance(cell, float) else f"{cell:,}"

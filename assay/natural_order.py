"""The order in which people read names: numbers in them by their value."""

from __future__ import annotations

import re

NUMBER_PATTERN = re.compile(r"([0-9]+)")


def natural_sort_key(name: str) -> tuple[tuple[tuple[int, int, str], ...], str]:
    """A key for sorting: 1, 2, 10 and t1, t2, t10. Names that differ in leading zeros alone follow
    each other by code point."""
    parts = [part for part in NUMBER_PATTERN.split(name) if part]
    return tuple(
        (0, int(part), "") if part[0] in "0123456789" else (1, 0, part) for part in parts
    ), name

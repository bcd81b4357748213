"""Natural sort order of names, with numbers in them ordered by value."""

from __future__ import annotations

import re

NUMBER_PATTERN = re.compile(r"([0-9]+)")


def natural_sort_key(name: str) -> tuple[tuple[tuple[int, int, str], ...], str]:
    """Return a sort key that gives 1, 2, 10 and t1, t2, t10. Names that differ only in leading
    zeros are ordered by code point."""
    parts = [part for part in NUMBER_PATTERN.split(name) if part]
    return tuple(
        (0, int(part), "") if part[0] in "0123456789" else (1, 0, part) for part in parts
    ), name

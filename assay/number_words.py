"""Numbers in sentences, with the right plural and a minus sign."""

from __future__ import annotations

import re

HYPHEN_PATTERN = re.compile(r"(?<![^\s(\[])-(?=\.?\d)")


def format_minus(text: str) -> str:
    """Replace the hyphen of negative numbers by a minus sign, which is as wide as a plus sign and
    is read by screen readers. Not for files, whose numbers have hyphens."""
    return HYPHEN_PATTERN.sub("−", text)


def format_count(n: int, noun: str, one: str = "", many: str = "", *, plural: str = "") -> str:
    """Return `1 run`, `1,200 runs`, or with a verb in both forms `1 run is`, `2 runs are`. plural:
    plural form of a noun, unless it is formed with an s."""
    return _format_sentence(n, n, f"{n:,}", noun, one, many, plural)


def format_part(
    n: int, whole: int, noun: str, one: str = "", many: str = "", *, plural: str = ""
) -> str:
    """Return `1 of 3 runs is`, `0 of 1 run are`, `2 of 3 runs are`. The noun agrees with the total,
    the verb with the part."""
    return _format_sentence(n, whole, f"{n:,} of {whole:,}", noun, one, many, plural)


def format_count_of_total(n: int, whole: int) -> str:
    """Return `50 of 112`, or just `112` for all of them, for a cell or tile whose label has the
    noun."""
    return f"{n:,}" if n == whole else f"{n:,} of {whole:,}"


def _format_sentence(
    n: int, of: int, figures: str, noun: str, one: str, many: str, plural: str
) -> str:
    verb = one if n == 1 else many
    return f"{figures} {noun if of == 1 else plural or noun + 's'}" + (f" {verb}" if verb else "")

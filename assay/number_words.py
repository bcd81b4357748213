"""Numbers in sentences: one is not many, and below zero stands a minus."""

from __future__ import annotations

import re

HYPHEN_PATTERN = re.compile(r"(?<![^\s(\[])-(?=\.?\d)")


def format_minus(text: str) -> str:
    """Numbers below zero as people read them, with the sign that is as wide as a plus and that is
    read aloud. Never for files: their numbers have a hyphen."""
    return HYPHEN_PATTERN.sub("−", text)


def format_count(n: int, noun: str, one: str = "", many: str = "", *, plural: str = "") -> str:
    """`1 run`, `1,200 runs`; with a verb in both forms `1 run is`, `2 runs are`. plural: of a noun
    that takes more than an s."""
    return _format_sentence(n, n, f"{n:,}", noun, one, many, plural)


def format_part(
    n: int, whole: int, noun: str, one: str = "", many: str = "", *, plural: str = ""
) -> str:
    """`1 of 3 runs is`, `0 of 1 run are`, `2 of 3 runs are`: the noun follows the whole, the verb
    the part."""
    return _format_sentence(n, whole, f"{n:,} of {whole:,}", noun, one, many, plural)


def format_count_of_total(n: int, whole: int) -> str:
    """`50 of 112`, for a cell or a tile whose name has the noun; all of them are just `112`."""
    return f"{n:,}" if n == whole else f"{n:,} of {whole:,}"


def _format_sentence(
    n: int, of: int, figures: str, noun: str, one: str, many: str, plural: str
) -> str:
    verb = one if n == 1 else many
    return f"{figures} {noun if of == 1 else plural or noun + 's'}" + (f" {verb}" if verb else "")

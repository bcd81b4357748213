"""How alike two texts are (Broder 1997, On the resemblance and containment of documents).

resemblance(shingles(one), shingles(other)) -> from 0 to 1
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from math import nan

from assay.pools.topic_checks import normalise_text
from assay.word_count import FOUR_CHARACTER_SCRIPTS, TWO_CHARACTER_SCRIPTS

WORDS_PER_SHINGLE = 5
NEAR_DUPLICATE_THRESHOLD = 0.5
"""From this resemblance on texts are near-duplicates (ours); Broder et al. 1997 took the same for
clusters of the Web, with shingles of ten words."""
LAST_MARK_CODE_POINT = 0x1FFFF

Shingles = frozenset[tuple[str, ...]]


@cache
def _word_pattern() -> re.Pattern[str]:
    """A run of letters and digits with their combining marks; of scripts written without spaces
    each character is one."""
    marks = "".join(
        c for c in map(chr, range(0x300, LAST_MARK_CODE_POINT)) if unicodedata.category(c)[0] == "M"
    )
    letter = rf"[^\W_{TWO_CHARACTER_SCRIPTS}{FOUR_CHARACTER_SCRIPTS}]"
    return re.compile(
        rf"(?=\w)[{TWO_CHARACTER_SCRIPTS}{FOUR_CHARACTER_SCRIPTS}][{marks}]*|{letter}+(?:[{marks}]+{letter}*)*"
    )


def make_shingles(text: str) -> Shingles:
    """Every five words that follow each other, as a set; of a shorter text all of its words as one.
    Case, punctuation and spaces do not matter."""
    words = _word_pattern().findall(normalise_text(text))
    width = min(WORDS_PER_SHINGLE, len(words))
    return frozenset(zip(*(words[first:] for first in range(width)), strict=False))


def compute_resemblance(one: Shingles, other: Shingles) -> float:
    """Shingles that both have by those that either has (Jaccard); NaN where neither text has a
    word."""
    n_shared = len(one & other)
    n_all = len(one) + len(other) - n_shared
    return n_shared / n_all if n_all else nan

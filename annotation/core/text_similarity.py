"""Similarity of texts by shingles (Broder 1997, On the resemblance and containment of documents).

compute_resemblance(make_shingles(one), make_shingles(other))     from 0 to 1
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
"""Minimum resemblance of near-duplicates. Broder et al. 1997 use the same value to cluster web
pages, with shingles of ten words."""
LAST_MARK_CODE_POINT = 0x1FFFF

Shingles = frozenset[tuple[str, ...]]


@cache
def _word_pattern() -> re.Pattern[str]:
    """Return the pattern of a word: a run of letters and digits with combining marks. In scripts
    without spaces, each character is a word."""
    marks = "".join(
        c for c in map(chr, range(0x300, LAST_MARK_CODE_POINT)) if unicodedata.category(c)[0] == "M"
    )
    letter = rf"[^\W_{TWO_CHARACTER_SCRIPTS}{FOUR_CHARACTER_SCRIPTS}]"
    return re.compile(
        rf"(?=\w)[{TWO_CHARACTER_SCRIPTS}{FOUR_CHARACTER_SCRIPTS}][{marks}]*|{letter}+(?:[{marks}]+{letter}*)*"
    )


def make_shingles(text: str) -> Shingles:
    """Return the set of sequences of five consecutive words, or all words of a shorter text as one
    shingle. Ignores case, punctuation and spaces."""
    words = _word_pattern().findall(normalise_text(text))
    width = min(WORDS_PER_SHINGLE, len(words))
    return frozenset(zip(*(words[first:] for first in range(width)), strict=False))


def compute_resemblance(one: Shingles, other: Shingles) -> float:
    """Return the Jaccard coefficient of two sets of shingles, NaN if both are empty."""
    n_shared = len(one & other)
    n_all = len(one) + len(other) - n_shared
    return n_shared / n_all if n_all else nan

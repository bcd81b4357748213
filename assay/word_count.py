"""Count words, for the lengths of documents, the truncation of long ones and the inactivity
timeout.

    count_words(text) -> number of words
    find_word_end(text, n) -> code point
"""

from __future__ import annotations

import re
from itertools import islice

SPACE_CHARACTERS = r"\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
"""White space as in JavaScript, which differs slightly from Python's."""
TWO_CHARACTER_SCRIPTS = r"\u3001-\u312f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff01-\uff9f\U00020000-\U0003ffff"
"""Chinese and Japanese characters with their punctuation. About two make a word."""
FOUR_CHARACTER_SCRIPTS = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
"""Thai, Lao, Burmese and Khmer letters and marks. About four make a word."""
MARK_CHARACTERS = r"\u3099\u309a\ufe00-\ufe0f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u17b4-\u17d3"
"""Marks that belong to the letter before them."""
WORD_PATTERN = re.compile(
    f"[{TWO_CHARACTER_SCRIPTS}]{{1,2}}[{MARK_CHARACTERS}]*|[{FOUR_CHARACTER_SCRIPTS}]{{1,4}}[{MARK_CHARACTERS}]*|[^{SPACE_CHARACTERS}{TWO_CHARACTER_SCRIPTS}{FOUR_CHARACTER_SCRIPTS}]+"
)


def count_words(text: str) -> int:
    """Return the number of words between white space. In scripts written without spaces, two
    (Chinese, Japanese) or four characters (Thai and related scripts) count as a word
    (Assay-specific)."""
    if text.isascii():
        return len(text.split())
    return sum(1 for _ in WORD_PATTERN.finditer(text))


def find_word_end(text: str, n: int) -> int:
    """Return the code point after the n-th word (from 1), or the text's length if it has fewer
    words."""
    last = next(islice(WORD_PATTERN.finditer(text), n - 1, None), None)
    return last.end() if last else len(text)

"""What one word of a text is: for the lengths of documents, the cut of long ones and the time until
a reader counts as away.

count_words(text) -> int, end_of_word(text, n) -> code point.
"""

from __future__ import annotations

import re
from itertools import islice

SPACE_CHARACTERS = r"\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
"""What JavaScript calls white space, which is not quite what Python calls so."""
TWO_CHARACTER_SCRIPTS = r"\u3001-\u312f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff01-\uff9f\U00020000-\U0003ffff"
"""Chinese and Japanese characters with their punctuation: about two make a word."""
FOUR_CHARACTER_SCRIPTS = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
"""Thai, Lao, Burmese and Khmer letters and signs: about four make a word."""
MARK_CHARACTERS = r"\u3099\u309a\ufe00-\ufe0f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u17b4-\u17d3"
"""Signs that stay with the letter before them."""
WORD_PATTERN = re.compile(
    f"[{TWO_CHARACTER_SCRIPTS}]{{1,2}}[{MARK_CHARACTERS}]*|[{FOUR_CHARACTER_SCRIPTS}]{{1,4}}[{MARK_CHARACTERS}]*|[^{SPACE_CHARACTERS}{TWO_CHARACTER_SCRIPTS}{FOUR_CHARACTER_SCRIPTS}]+"
)


def count_words(text: str) -> int:
    """Words between white space; in scripts written without spaces two (Chinese, Japanese) or four
    characters (Thai and its kin) (ours)."""
    if text.isascii():
        return len(text.split())
    return sum(1 for _ in WORD_PATTERN.finditer(text))


def find_word_end(text: str, n: int) -> int:
    """The code point after the n-th word (from 1); the text's length when it has fewer."""
    last = next(islice(WORD_PATTERN.finditer(text), n - 1, None), None)
    return last.end() if last else len(text)

"""Propose topics for removal before pooling, with a reason for each (Althammer et al. 2022, section
2.1, with match levels added).

    check_topics(topics, match=...) -> list[ProposedRemoval]
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

SET_REFERENCE_PATTERN = re.compile(r"#\s*\d+")
UNSPACED_SCRIPTS = (
    "CJK ",
    "HIRAGANA ",
    "KATAKANA ",
    "THAI ",
    "LAO ",
    "KHMER ",
    "MYANMAR ",
    "TIBETAN ",
    "HANGUL SYLLABLE ",
)
"""Unicode name prefixes of scripts in which one character can be a word: scripts written without
spaces, and syllables of several letters."""
DAMAGED_PATTERN = re.compile("[\x80-\x9f\ufffd]")
"""Characters that occur only in damaged text: UTF-8 decoded as Latin-1, or replacement characters.
"""
BOOLEAN_OPERATORS = frozenset(("and", "or", "not"))


class MatchLevel(StrEnum):
    """Required similarity of two texts for the later one to be proposed for removal."""

    EXACT = "exact"
    PUNCTUATION = "punctuation"
    SUSPECT = "suspect"


class ProposedRemoval(NamedTuple):
    """A topic proposed for removal. reason: `duplicate`, `no text` or `suspect`. same_as: the kept
    topic that it repeats, or an empty string."""

    topic: str
    text: str
    reason: str
    same_as: str


def normalise_text(text: str) -> str:
    """Return the text in Unicode NFKC, case-folded, trimmed and with white space collapsed."""
    return " ".join(
        unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).split()
    )


def strip_punctuation(text: str) -> str:
    """Return normalised text with punctuation and symbols replaced by spaces. Apostrophes are
    removed."""
    text = re.sub(r"(?<=\w)['’](?=\w)", "", normalise_text(text))
    return " ".join("".join(" " if unicodedata.category(c)[0] in "PS" else c for c in text).split())


def join_information_need(description: str, narrative: str) -> str:
    """Return description and narrative, the information need besides the query, or an empty string
    without either."""
    return f"{description}\n{narrative}".strip()


def has_text(text: str) -> bool:
    """Return whether a word is left after removing set references (`#1`) and operators (and, or,
    not).

    A word is a run of digits and letters with their combining marks (vowel signs, accents). It has
    at least two characters, or one of a script without spaces between words.
    """
    return any(
        _is_real_word(word)
        for word in "".join(
            c if _is_word_character(c) else " "
            for c in SET_REFERENCE_PATTERN.sub(" ", normalise_text(text))
        ).split()
    )


def _is_word_character(character: str) -> bool:
    return unicodedata.category(character)[0] in "LM" or character.isdecimal()


def _is_real_word(run: str) -> bool:
    if run in BOOLEAN_OPERATORS or all(unicodedata.category(c)[0] == "M" for c in run):
        return False
    return len(run) > 1 or unicodedata.name(run, "").startswith(UNSPACED_SCRIPTS)


def check_topics(
    topics: Iterable[tuple[str, str]],
    *,
    match: MatchLevel | str = MatchLevel.EXACT,
    needs: Mapping[str, str] | None = None,
) -> list[ProposedRemoval]:
    """Propose removals among (ID, text), in file order. The first of several equal topics is kept.

    exact: texts are equal after `normalise_text`. punctuation: also equal after
    `strip_punctuation`. suspect: also, with the reason `suspect` for confirmation by a person, the
    same words in another order or with other word boundaries, singular and plural, one-letter
    typing errors (same_as names the other topic), and damaged characters. needs: topic ID ->
    description and narrative that annotators read. Topics with one text and different needs are not
    duplicates, but `suspect` proposes them.
    """
    match = MatchLevel(match)
    removed: list[ProposedRemoval] = []
    kept: list[tuple[str, str]] = []
    for topic, text in topics:
        if has_text(text):
            kept.append((topic, text))
        else:
            removed.append(ProposedRemoval(topic, text, "no text", ""))
    order = (
        {topic: place for place, (topic, _) in enumerate(topics)}
        if isinstance(topics, Sequence)
        else {}
    )
    levels: list[tuple[str, Callable[[str], str]]] = [("duplicate", normalise_text)]
    if match is not MatchLevel.EXACT:
        levels.append(("duplicate", strip_punctuation))
    for reason, form in levels:
        kept, removals = _find_equal_topics(kept, form, reason, needs or {})
        removed += removals
    if match is MatchLevel.SUSPECT:
        kept, removals = _find_similar_topics(kept)
        removed += removals
    removed = _resolve_originals(removed)
    return sorted(removed, key=lambda r: order[r.topic]) if order else removed


def _find_equal_topics(
    topics: list[tuple[str, str]], form: Callable[[str], str], reason: str, needs: Mapping[str, str]
) -> tuple[list[tuple[str, str]], list[ProposedRemoval]]:
    first: dict[tuple[str, str], str] = {}
    kept, removed = [], []
    for topic, text in topics:
        key = form(text) or normalise_text(text), form(needs.get(topic, ""))
        if key in first:
            removed.append(ProposedRemoval(topic, text, reason, first[key]))
        else:
            first[key] = topic
            kept.append((topic, text))
    return kept, removed


def _to_singular(word: str) -> str:
    """Return the word without an English plural ending. Words of up to three letters are
    unchanged."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _find_similar_topics(
    topics: list[tuple[str, str]],
) -> tuple[list[tuple[str, str]], list[ProposedRemoval]]:
    first_bag: dict[tuple[str, ...], str] = {}
    first_text: dict[str, str] = {}
    holes: dict[str, list[str]] = {}
    kept, removed = [], []
    for topic, text in topics:
        if DAMAGED_PATTERN.search(text):
            removed.append(ProposedRemoval(topic, text, "suspect", ""))
            continue
        words = [_to_singular(word) for word in strip_punctuation(text).split()]
        bag, joined = tuple(sorted(words)), " ".join(words)
        same = first_bag.get(bag) or first_text.get(joined.replace(" ", ""))
        if same is None:
            same = next(
                (
                    first_text[other]
                    for hole in _deletion_variants(joined)
                    for other in holes.get(hole, ())
                    if _differ_by_one_letter(joined, other)
                ),
                None,
            )
        if same is not None:
            removed.append(ProposedRemoval(topic, text, "suspect", same))
            continue
        kept.append((topic, text))
        first_bag.setdefault(bag, topic)
        first_text.setdefault(joined, topic)
        first_text.setdefault(joined.replace(" ", ""), topic)
        for hole in _deletion_variants(joined):
            holes.setdefault(hole, []).append(joined)
    return kept, removed


MIN_TEXT_LETTERS, MIN_WORD_LETTERS = 6, 5
"""Minimum letters of a text and of a word for typing errors. In shorter ones a different letter
makes a different word (vitamin c, vitamin d)."""


def _deletion_variants(text: str) -> set[str]:
    """Return the text and its variants with one character deleted. Two texts one error apart share
    at least one variant."""
    if len(text) < MIN_TEXT_LETTERS:
        return set()
    return {text, *(text[:k] + text[k + 1 :] for k in range(len(text)))}


def _differ_by_one_letter(a: str, b: str) -> bool:
    """Return whether the texts differ by one inserted, deleted or replaced letter or by two swapped
    neighbours. Differences in digits never count."""
    if a == b:
        return True
    begin = 0
    while begin < min(len(a), len(b)) and a[begin] == b[begin]:
        begin += 1
    end = 0
    while end < min(len(a), len(b)) - begin and a[-1 - end] == b[-1 - end]:
        end += 1
    left, right = a[begin : len(a) - end], b[begin : len(b) - end]
    if (
        any(not c.isalpha() for c in left + right)
        or min(_word_length(a, begin), _word_length(b, begin)) < MIN_WORD_LETTERS
    ):
        return False
    if len(left) <= 1 and len(right) <= 1:
        return True
    return len(left) == len(right) == 2 and left == right[::-1]


def _word_length(text: str, place: int) -> int:
    """Return the number of letters of the word at, or ending at, a position."""
    return len(text[:place].rpartition(" ")[2]) + len(text[place:].partition(" ")[0])


def _resolve_originals(removed: list[ProposedRemoval]) -> list[ProposedRemoval]:
    """Return the removals with `same_as` changed to the topic that is kept, if it named another
    removed topic."""
    target = {r.topic: r.same_as for r in removed if r.same_as}

    def find_kept_topic(topic: str) -> str:
        while topic in target:
            topic = target[topic]
        return topic

    return [r._replace(same_as=find_kept_topic(r.same_as)) if r.same_as else r for r in removed]

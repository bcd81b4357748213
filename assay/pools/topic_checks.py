"""Topics to remove before pooling, with the reason for each (TripJudge, Althammer et al. 2022,
section 2.1; levels ours).

check_topics(topics, match) -> [Removal]
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
"""Names of characters of which one alone can be a word: scripts written without spaces, and
syllables of several letters."""
DAMAGED_PATTERN = re.compile("[\x80-\x9f\ufffd]")
"""Characters that only damaged text has: UTF-8 read as Latin-1, or replaced."""
BOOLEAN_OPERATORS = frozenset(("and", "or", "not"))


class MatchLevel(StrEnum):
    """How alike two texts must be for the later one to be proposed."""

    EXACT = "exact"
    PUNCTUATION = "punctuation"
    SUSPECT = "suspect"


class ProposedRemoval(NamedTuple):
    """A topic proposed for removal. reason: `duplicate`, `no text` or `suspect`; same_as: the kept
    topic that it repeats, or ``."""

    topic: str
    text: str
    reason: str
    same_as: str


def normalise_text(text: str) -> str:
    """Unicode NFKC, case folded, trimmed, white space collapsed."""
    return " ".join(
        unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).split()
    )


def strip_punctuation(text: str) -> str:
    """`normal` text with every character of the categories punctuation and symbol as a space;
    apostrophes vanish without one."""
    text = re.sub(r"(?<=\w)['’](?=\w)", "", normalise_text(text))
    return " ".join("".join(" " if unicodedata.category(c)[0] in "PS" else c for c in text).split())


def join_need(description: str, narrative: str) -> str:
    """What is said of the information need besides the query; empty where nothing is."""
    return f"{description}\n{narrative}".strip()


def has_text(text: str) -> bool:
    """Whether a word is left after set references (`#1`) and operators (and, or, not).

    A word is a run of letters with their combining marks (vowel signs, accents) and of digits: two
    characters at least, or one of a script that does not part words by spaces (ours)."""
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
    """Proposals for removal among (id, text), in file order; the first of equal topics is the one
    that is kept.

    exact: texts equal after `normal`. punctuation: equal after `strip_punctuation` too. suspect:
    also, as reason `suspect` for a person to confirm, the same words in another order or parted
    otherwise, singular against plural, one-letter typing errors (same_as says of what), and text
    with damaged characters. needs: topic id -> what else annotators read of the information need
    (description, narrative). Topics of one text that state different needs are no duplicates;
    `suspect` proposes them."""
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
        kept, removals = _find_equal(kept, form, reason, needs or {})
        removed += removals
    if match is MatchLevel.SUSPECT:
        kept, removals = _find_similar(kept)
        removed += removals
    removed = _resolve_originals(removed)
    return sorted(removed, key=lambda r: order[r.topic]) if order else removed


def _find_equal(
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
    """The word without an English plural ending; words of up to three letters stay."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _find_similar(
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


SHORTEST, SHORTEST_WORD = 6, 5
"""Letters of a text and of a word below which one letter makes another word (vitamin c, vitamin d),
not an error."""


def _deletion_variants(text: str) -> set[str]:
    """The text, and the text with each one character left out: two texts one error apart share one
    of these."""
    if len(text) < SHORTEST:
        return set()
    return {text, *(text[:k] + text[k + 1 :] for k in range(len(text)))}


def _differ_by_one_letter(a: str, b: str) -> bool:
    """Whether one letter added, left out, changed, or two neighbours exchanged turn one text into
    the other; digits never do."""
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
        or min(_word_length(a, begin), _word_length(b, begin)) < SHORTEST_WORD
    ):
        return False
    if len(left) <= 1 and len(right) <= 1:
        return True
    return len(left) == len(right) == 2 and left == right[::-1]


def _word_length(text: str, place: int) -> int:
    """Letters of the word at a place, or that ends there."""
    return len(text[:place].rpartition(" ")[2]) + len(text[place:].partition(" ")[0])


def _resolve_originals(removed: list[ProposedRemoval]) -> list[ProposedRemoval]:
    """`same_as` followed to a topic that is kept."""
    target = {r.topic: r.same_as for r in removed if r.same_as}

    def kept(topic: str) -> str:
        while topic in target:
            topic = target[topic]
        return topic

    return [r._replace(same_as=kept(r.same_as)) if r.same_as else r for r in removed]

"""Resemblance of texts, by counting shingles."""

from __future__ import annotations

from fractions import Fraction
from math import isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.core.text_similarity import compute_resemblance, make_shingles


def alike(one: str, other: str) -> float:
    return compute_resemblance(make_shingles(one), make_shingles(other))


def test_shingles_are_every_five_words_that_follow_each_other() -> None:
    expected = {
        ("the", "cat", "sat", "on", "a"),
        ("cat", "sat", "on", "a", "mat"),
        ("sat", "on", "a", "mat", "today"),
    }
    assert make_shingles("The cat sat on a mat today.") == expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("a b c d e f", "a b c d e f", Fraction(1)),
        ("a b c d e f", "a b c d e g", Fraction(1, 3)),  # abcde of abcde, bcdef, bcdeg
        (
            "a b c d e f g h i j",
            "z b c d e f g h i j",
            Fraction(5, 7),
        ),  # six shingles each; the first alone has the other word
        ("a b c d e f g h i j", "a b c d z f g h i j", Fraction(1, 11)),  # five of six have it
        (
            "a b c d e f g h i j",
            "j i h g f e d c b a",
            Fraction(0),
        ),  # the same words, another order
        ("a a a a a a a", "a a a a a", Fraction(1)),  # a set: the one shingle once
        (
            "query unclear",
            "Query: unclear!",
            Fraction(1),
        ),  # shorter than a shingle: all of its words are one
        ("query unclear", "query", Fraction(0)),
        ("", "a b c d e f", Fraction(0)),
        (
            "Walking, after MEALS — lowers the\n\nsugar.",
            "walking after meals lowers the sugar",
            Fraction(1),
        ),
        (
            "血糖在饭后下降",
            "血糖在饭后下。落",
            Fraction(1, 2),
        ),  # seven characters: three shingles each, of which two are shared
    ],
    ids=[
        "same",
        "last-word",
        "first-word",
        "middle-word",
        "order",
        "repeated",
        "short",
        "shorter",
        "empty",
        "signs",
        "chinese",
    ],
)
def test_resemblance_is_what_both_share_by_what_either_has(
    one: str, other: str, expected: Fraction
) -> None:
    assert alike(one, other) == pytest.approx(float(expected))
    assert alike(other, one) == pytest.approx(float(expected))


def test_two_texts_without_a_word_have_no_resemblance() -> None:
    assert isnan(alike("", " … "))


def test_vowel_signs_stay_in_their_words() -> None:
    assert make_shingles("हिन्दी में लिखा गया पाठ") == {("हिन्दी", "में", "लिखा", "गया", "पाठ")}


WORDS = st.lists(st.sampled_from(["ab", "b", "cd"]), min_size=5, max_size=30)


@given(WORDS, WORDS)
def test_it_is_what_counting_in_lists_gives(one: list[str], other: list[str]) -> None:
    runs = [
        [" ".join(words[first : first + 5]) for first in range(len(words) - 4)]
        for words in (one, other)
    ]
    every = sorted(set(runs[0] + runs[1]))
    n_shared = sum(run in runs[0] and run in runs[1] for run in every)
    assert alike(" ".join(one), " ".join(other)) == pytest.approx(n_shared / len(every))

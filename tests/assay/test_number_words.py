"""Sentences about one thing and about many."""

from __future__ import annotations

import pytest

from assay.number_words import format_count, format_count_of_total, format_minus, format_part


@pytest.mark.parametrize(
    ("n", "said"),
    [(0, "0 topics are"), (1, "1 topic is"), (2, "2 topics are"), (1200, "1,200 topics are")],
)
def test_one_is_not_many(n, said):
    assert format_count(n, "topic", "is", "are") == said
    assert format_count(n, "topic") == said.rpartition(" ")[0]


@pytest.mark.parametrize(
    ("n", "whole", "said"),
    [
        (1, 1, "1 of 1 query has"),
        (1, 5, "1 of 5 queries has"),
        (2, 5, "2 of 5 queries have"),
        (0, 1, "0 of 1 query have"),
    ],
)
def test_the_noun_follows_the_whole_and_the_verb_the_part(n, whole, said):
    assert format_part(n, whole, "query", "has", "have", plural="queries") == said


@pytest.mark.parametrize(
    ("n", "whole", "said"),
    [(50, 112, "50 of 112"), (112, 112, "112"), (0, 1200, "0 of 1,200"), (0, 0, "0")],
)
def test_what_counts_is_said_beside_the_whole(n, whole, said):
    assert format_count_of_total(n, whole) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("-0.25", "−0.25"),
        ("-.5 to -1,200 (-3 %)", "−.5 to −1,200 (−3 %)"),
        ("2026-11-24", "2026-11-24"),
        ("run-2 - 5", "run-2 - 5"),
        ("1.20e-05", "1.20e-05"),
    ],
)
def test_a_number_below_zero_has_a_minus_and_a_name_its_hyphen(text, said):
    assert format_minus(text) == said

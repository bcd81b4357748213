"""What is shown of a document, and marked text."""

from __future__ import annotations

import pytest

from annotation.core import display


def test_the_idle_limit_grows_by_a_minute_for_each_minute_of_reading():
    assert display.idle_limit_s(60, 100) == 60
    assert display.idle_limit_s(60, 240) == 60
    assert display.idle_limit_s(60, 480) == 120
    assert display.idle_limit_s(60, 1_000_000) == 300


def test_only_a_longer_document_is_cut():
    assert display.shown_words(300, 200) == 200
    assert display.shown_words(200, 200) is None
    assert display.shown_words(300, None) is None


def test_a_rotated_text_begins_at_a_sentence_and_loses_nothing():
    text = "One sentence. Another one! “A third?” The last 🦄 one.\n\nA new paragraph"
    starts = {display.rotation(text, seed) for seed in range(200)}
    assert starts == {0, 14, 27, 38, 55}
    for start in starts:
        assert sorted(text[start:] + text[:start]) == sorted(text)
    assert display.rotation("Only one sentence", 5) == 0


def test_marked_text_is_sorted_and_joined_where_it_touches():
    assert display.merged_spans([(5, 9), (0, 2), (8, 12), (12, 13)], length=20) == [[0, 2], [5, 13]]


@pytest.mark.parametrize("span", [(3, 3), (5, 2), (0, 21), (-1, 2)])
def test_marked_text_outside_the_document_is_refused(span):
    with pytest.raises(ValueError, match="not a part"):
        display.merged_spans([span], length=20)

"""What is shown of a document, and marked text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.core import document_display
from assay.word_count import count_words


def test_the_idle_limit_grows_by_a_minute_for_each_minute_of_reading():
    assert document_display.idle_limit_seconds(60, 100) == 60
    assert document_display.idle_limit_seconds(60, 240) == 60
    assert document_display.idle_limit_seconds(60, 480) == 120
    assert document_display.idle_limit_seconds(60, 1_000_000) == 300


def test_a_chinese_text_is_cut_and_has_the_limit_of_its_length():
    text = (
        "血糖在饭后散步时下降。" * 100
    )  # 11 characters: 1100 characters are 550 words, read in 2.3 minutes
    assert count_words(text) == 550
    assert document_display.n_shown_words(550, 200) == 200
    assert document_display.shown_end(text, 200) == 400
    assert document_display.idle_limit_seconds(60, 550) == 138


def test_only_a_longer_document_is_cut():
    assert document_display.n_shown_words(300, 200) == 200
    assert document_display.n_shown_words(200, 200) is None
    assert document_display.n_shown_words(300, None) is None


def test_a_rotated_text_begins_at_a_sentence_and_loses_nothing():
    text = "One sentence. Another one! “A third?” The last 🦄 one.\n\nA new paragraph"
    starts = {document_display.rotation_start(text, seed) for seed in range(200)}
    assert starts == {0, 14, 27, 38, 55}
    for start in starts:
        assert sorted(text[start:] + text[:start]) == sorted(text)
    assert document_display.rotation_start("Only one sentence", 5) == 0


def test_a_rotated_text_never_begins_inside_of_code():
    text = (
        "Call it once. Then look.\n\n```python\nx = 1. + 2\n\nrun(x)  # done. Again\n```\n\nIt prints. The end.\n\n"
        "    y = 2. - 1  # no. No\n\nLast words.\n\n>>> help. me()\n\n~~~\nNever. Closed\n\nat all"
    )
    begun = {text[document_display.rotation_start(text, seed) :][:8] for seed in range(300)}
    assert begun == {"Call it ", "Then loo", "It print", "The end.", "Last wor"}
    assert {document_display.rotation_start(text, seed, words=9) for seed in range(200)} == {
        0,
        14,
    }, "cut before the fence that closes"


def test_a_cut_text_is_rotated_within_what_is_shown():
    text = "One two. Three four. Five six. Seven eight."
    assert {document_display.rotation_start(text, seed, words=5) for seed in range(200)} == {
        0,
        9,
        21,
    }  # text[:25] is shown, to “Five”
    assert {document_display.rotation_start(text, seed, words=4) for seed in range(200)} == {
        0,
        9,
    }  # nothing is left of “Five six.”
    assert {document_display.rotation_start(text, seed, words=100) for seed in range(200)} == {
        0,
        9,
        21,
        31,
    }


SENTENCES = st.lists(
    st.text(alphabet="ab🦄é.!? \n\u00a0\ufeff\x1f”", max_size=12), max_size=12
).map(" ".join)


@given(text=SENTENCES, seed=st.integers(0, 2**32), words=st.one_of(st.none(), st.integers(1, 20)))
def test_every_position_of_a_rotated_cut_text_maps_back_to_one_of_the_stored_text(
    text, seed, words
):
    end, start = (
        document_display.shown_end(text, words),
        document_display.rotation_start(text, seed, words=words),
    )
    assert 0 <= start <= end <= len(text)
    assert start < end or start == 0  # something is always shown first
    shown = [
        *range(start, end),
        *range(start),
    ]  # the place in the stored text of each place on the page
    assert sorted(shown) == list(range(end))
    assert "".join(text[i] for i in shown) == text[:end][start:] + text[:end][:start]
    if start:
        assert text[:start].rstrip()[-1:] in {*".!?”", "\n"} or "\n" in text[:start]
        assert not text[start].isspace()


def test_marked_text_is_sorted_and_joined_where_it_touches():
    assert document_display.merge_spans([(5, 9), (0, 2), (8, 12), (12, 13)], length=20) == [
        [0, 2],
        [5, 13],
    ]


@pytest.mark.parametrize("span", [(3, 3), (5, 2), (0, 21), (-1, 2)])
def test_marked_text_outside_the_document_is_refused(span):
    with pytest.raises(ValueError, match="not a part"):
        document_display.merge_spans([span], length=20)


@pytest.mark.parametrize(
    ("fields", "lang", "direction"),
    [
        ({}, "", "auto"),
        ({"lang": "de"}, "de", "auto"),
        ({"language": "pt-BR"}, "pt-BR", "auto"),
        ({"language": "German"}, "", "auto"),
        ({"lang": "ar-EG"}, "ar-EG", "rtl"),
        ({"lang": "ar", "dir": "LTR"}, "ar", "ltr"),
        ({"dir": "sideways", "lang": 7}, "", "auto"),
        ({"lang": None, "language": "he"}, "he", "rtl"),
    ],
)
def test_language_and_direction_are_told_by_the_documents_fields(fields, lang, direction):
    assert (document_display.get_language(fields), document_display.get_direction(fields)) == (
        lang,
        direction,
    )

"""What one word is. The counts are by hand."""

from __future__ import annotations

import pytest

from assay.word_count import count_words, find_word_end


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("", 0),
        (" two  words\n", 2),
        ("naïve café", 2),
        ("糖尿病的运动疗法", 4),  # 8 characters, two to a word
        ("糖尿病的运动疗法。", 5),
        ("血糖 walking 血糖", 3),
        ("ウォーキングで血糖値が下がる", 7),  # 14 characters
        ("การเดินลดน้ำตาล", 4),  # 15 code points: 4, 4, 4 and the rest, signs with their letters
        ("걷기는 혈당을 낮춘다", 3),  # Korean has spaces
    ],
)
def test_words_of_scripts_with_and_without_spaces(text: str, n: int) -> None:
    assert count_words(text) == n


def test_a_cut_never_parts_a_letter_from_its_signs() -> None:
    assert find_word_end("กขคง้จ", 1) == 5  # the tone mark stays with the fourth letter
    assert find_word_end("糖尿病", 1) == 2
    assert find_word_end("one two", 9) == 7

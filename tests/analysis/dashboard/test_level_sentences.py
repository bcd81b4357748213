"""Sentences about the levels of a pool name the kind of level and its number."""

from __future__ import annotations

import pytest

from analysis.dashboard import level_sentences


@pytest.mark.parametrize(
    ("word", "sentences"),
    [
        ("rank", ("Complete to rank 1,200.", "The first rank is not complete.")),
        ("batch", ("Complete to batch 1,200.", "The first batch is not complete.")),
        ("stage", ("Complete to stage 1,200.", "The first stage is not complete.")),
        ("priority", ("Complete to priority 1,200.", "The first priority is not complete.")),
        ("level", ("Complete to level 1,200.", "The first level is not complete.")),
    ],
)
def test_the_complete_levels_are_named_by_the_pools_word(
    word: str, sentences: tuple[str, str]
) -> None:
    assert level_sentences.describe_complete_levels(word, 1200) == sentences[0]
    assert level_sentences.describe_complete_levels(word, 0) == sentences[1]


@pytest.mark.parametrize("word", ["rank", "batch", "stage", "priority", "level"])
def test_every_sentence_names_the_word_and_the_number(word: str) -> None:
    for describe in (
        level_sentences.describe_complete_levels,
        level_sentences.describe_levels_by_deadline,
        level_sentences.describe_last_level,
        level_sentences.describe_changed_last_level,
        level_sentences.name_stop,
    ):
        assert f"{word} 7" in describe(word, 7)
    assert word in level_sentences.name_heat_map(word)
    assert level_sentences.describe_level_order(word, 0).endswith("always judged first.")
    assert level_sentences.describe_level_order(word, 12).startswith("In 12% of judgements")
    assert word in level_sentences.describe_level_order(word, 12)

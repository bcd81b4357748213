"""Error messages of commands and readers become sentences on pages."""

from __future__ import annotations

import pytest

from pooling.platform.sentences import as_sentence


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ("no run has a topic", "No run has a topic."),
        ("a document ID is too long: d1…", "a document ID is too long: d1…"),
        ("bm25 has already been built. Extend it instead.",) * 2,
        ("import it as runs?",) * 2,
        ("", ""),
    ],
)
def test_a_message_gets_a_capital_and_a_full_stop_unless_it_has_punctuation(
    message: str, sentence: str
) -> None:
    assert as_sentence(message) == sentence

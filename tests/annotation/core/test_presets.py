"""Presets as data, and guidelines made from a scale."""

from __future__ import annotations

import pytest

from annotation.core import limits, scale
from annotation.core.presets import PRESETS, TREC_GRADES, guidelines_text


@pytest.mark.parametrize("key", PRESETS)
def test_a_preset_is_a_campaign_that_may_be(key: str) -> None:
    settings = PRESETS[key].settings
    assert (
        scale.find_scale_problems(list(settings["scale"]), min_relevant=settings["min_relevant"])
        == []
    )
    assert limits.find_problems(settings) == []


def test_what_the_papers_say() -> None:
    """TripJudge: four grades, three judgements, no passages. FiRA: passages; no preset
    rotates texts, because readers lose the thread of short ones. TREC: one judgement per pair."""
    names = {
        key: [grade["name"] for grade in preset.settings["scale"]]
        for key, preset in PRESETS.items()
    }
    assert names["tripjudge"] == [
        "Not relevant",
        "Related",
        "Partly answers",
        "Fully answers",
    ]
    assert names["fira"] == ["Wrong", "Topic", "Partial", "Perfect"]
    assert names["trec"] == ["Irrelevant", "Related", "Highly relevant", "Perfectly relevant"]
    assert names["binary"] == ["Not relevant", "Relevant"]
    assert [
        PRESETS[key].settings["judgements_per_pair"] for key in ("tripjudge", "fira", "trec")
    ] == [3, 3, 1]
    assert PRESETS["fira"].settings["spans"] == "required"
    assert not any("rotate_text" in preset.settings for preset in PRESETS.values())


def test_guidelines_explain_every_grade_highest_first_with_its_example() -> None:
    text = guidelines_text(TREC_GRADES)
    places = [
        text.index(f"- **{name}**: ")
        for name in ("Perfectly relevant", "Highly relevant", "Related", "Irrelevant")
    ]
    assert places == sorted(places)
    assert "    - For “how long do cats live”: the weather in Rome." in text
    assert "Passages" not in text


def test_guidelines_say_which_grades_need_a_passage() -> None:
    assert "For “Highly relevant”, “Perfectly relevant” mark the words" in guidelines_text(
        TREC_GRADES, spans="required", spans_from=2
    )
    assert "You may mark the words" in guidelines_text(TREC_GRADES, spans="optional", spans_from=2)


def test_a_grade_without_words_asks_for_them() -> None:
    assert "- **No**: say here when to give it." in guidelines_text(
        [{"value": 0, "name": "No"}, {"value": 1, "name": "Yes", "explanation": "Yes."}]
    )

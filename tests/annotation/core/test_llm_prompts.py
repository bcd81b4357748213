"""What an LLM judge is asked, and what its answers mean."""

from __future__ import annotations

import pytest

from annotation.core.llm_prompts import (
    MAX_TEXT,
    TEMPLATES,
    Grade,
    Outcome,
    PromptInput,
    aggregate_grades,
    make_template,
    parse_reply,
)

SCALE = [Grade(0, "No"), Grade(1, "Yes", "It answers.")]


@pytest.mark.parametrize(
    ("answer", "grade"),
    [
        ("Grade: 2", 2),
        ("2", 2),
        (" 3.\n", 3),
        ("**Grade: 1**", 1),
        ("grade 0 would be harsh. Grade: 2", 2),
        ("Of 10 claims it has 3.\nGrade = 1", 1),
        ("Grade: 2.0", 2),
        ("Grade - 2", 2),
    ],
)
def test_the_last_stated_grade_counts(answer: str, grade: int) -> None:
    assert parse_reply(answer, range(4)) == (Outcome.GRADED, grade)


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("", Outcome.MALFORMED),
        ("Grade: 4", Outcome.MALFORMED),
        ("Grade: -1", Outcome.MALFORMED),
        ("Grade: 1.5", Outcome.MALFORMED),
        ("It answers 2 of 3 questions.", Outcome.MALFORMED),
        ("I'm sorry, but no.", Outcome.REFUSED),
        ("I cannot judge this text.", Outcome.REFUSED),
    ],
)
def test_what_is_no_grade_makes_no_label(answer: str, outcome: Outcome) -> None:
    assert parse_reply(answer, range(4)) == (outcome, None)


def test_the_most_frequent_grade_is_the_label_and_the_lowest_of_several() -> None:
    assert aggregate_grades([2, 1, 2]) == 2
    assert aggregate_grades([3, 1, 0, 3, 0]) == 0
    assert aggregate_grades([]) is None


def test_a_document_cannot_fill_placeholders_and_a_long_one_is_cut_aloud() -> None:
    asked = PromptInput("q $scale", "", "", "$query " + "x" * MAX_TEXT)
    prompt = TEMPLATES["grade"].messages(asked, SCALE, "Be fair.")[1]["content"]
    assert "A person asked: q $scale" in prompt
    assert "$query xxx" in prompt
    assert "[the rest of the document is cut]" in prompt
    assert "1: Yes. It answers." in prompt
    assert "Guidelines:\nBe fair." in prompt


def test_a_template_of_ones_own_needs_what_the_judge_must_see() -> None:
    assert (
        make_template("$query $scale $document costs $$5", "mine")
        .messages(PromptInput("a", "", "", "b"), SCALE)[1]["content"]
        .endswith("costs $5")
    )
    assert (
        make_template("$query $scale $document", "a").digest
        != make_template("$query $scale  $document", "a").digest
    )
    for text, problem in (
        ("$query $scale", "document missing"),
        ("$query $scale $document $rank", r"unknown placeholder \$rank"),
        ("$query $", "is not part of a placeholder"),
    ):
        with pytest.raises(ValueError, match=problem):
            make_template(text, "mine")

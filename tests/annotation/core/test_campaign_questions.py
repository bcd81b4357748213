"""Which further questions a campaign can have, and which answers to them are valid."""

from __future__ import annotations

from typing import Any

import pytest

from annotation.core.campaign_questions import (
    find_answer_problem,
    find_question_problems,
    read_questions,
)
from annotation.core.scale import Scale
from annotation.models import default_scale

PRIMARY = Scale(default_scale(), 2)


def make_grades(*values: int) -> list[dict[str, Any]]:
    return [{"value": value, "name": f"grade {value}", "shape": "disc"} for value in values]


def make_question(key: str = "understandability", **changes: Any) -> dict[str, Any]:
    return {
        "key": key,
        "title": key.title(),
        "prompt": "How easily would a layperson understand it?",
        "scale": make_grades(0, 1, 2),
        "min_relevant": 1,
        **changes,
    }


def test_four_further_questions_are_valid_and_five_are_too_many() -> None:
    four = [make_question(f"q{n}") for n in range(4)]
    assert find_question_problems(four, primary=PRIMARY) == []
    [problem] = find_question_problems([*four, make_question("q4")], primary=PRIMARY)
    assert problem == ((), "5 further questions", "at most 4")


@pytest.mark.parametrize(
    ("changes", "path", "said"),
    [
        ({"key": "Has Space"}, (0, "key"), "key 'Has Space'"),
        ({"key": "relevance"}, (0, "key"), "duplicate key relevance"),
        ({"title": " "}, (0, "title"), "title ' '"),
        ({"prompt": "x" * 201}, (0, "prompt"), "prompt 'xxx"),
        ({"prompt": 3}, (0, "prompt"), "prompt = '3'"),
        ({"required": 1}, (0, "required"), "required = '1'"),
        ({"scale": make_grades(*range(10))}, (0, "scale"), "2 to 9 grades"),
        ({"scale": ["a"]}, (0, "scale"), "not a list of grades"),
        ({"min_relevant": 0}, (0, "scale"), "minimum relevant grade"),
        ({"asked_from": 0}, (0, "asked_from"), "asked_from = 0"),
        ({"asked_from": 9}, (0, "asked_from"), "asked_from = 9"),
        ({"required": False, "scale": make_grades(*range(9))}, (0, "scale"), "9 grades"),
        ({"sign": "x"}, (0,), "missing or unknown keys"),
    ],
)
def test_each_problem_has_a_place(changes: dict[str, Any], path: Any, said: str) -> None:
    [(place, problem, expected)] = find_question_problems(
        [make_question(**changes)], primary=PRIMARY
    )
    assert (place, bool(expected)) == (path, True)
    assert said in problem


def test_a_key_is_used_once() -> None:
    [problem] = find_question_problems([make_question("a"), make_question("a")], primary=PRIMARY)
    assert problem == ((1, "key"), "duplicate key a", "a key of its own")


@pytest.mark.parametrize("stored", [None, {}, "text", [1], [{}], [[]]])
def test_anything_else_is_refused_with_a_problem(stored: Any) -> None:
    assert find_question_problems(stored, primary=PRIMARY)


QUESTIONS = read_questions(
    [
        make_question("understandability", asked_from=1),
        make_question("layout", title="Layout", required=False),
    ]
)


@pytest.mark.parametrize(
    ("grade", "answers", "code"),
    [
        (0, {}, None),
        (0, {"layout": 2}, None),
        (1, {"understandability": 0}, None),
        (1, {"understandability": None, "layout": None}, None),
        (None, {}, None),
        (1, {}, "answer_missing"),
        (0, {"understandability": 0}, "not_asked"),
        (None, {"layout": 0}, "not_asked"),
        (1, {"understandability": 3}, "answer_outside_scale"),
        (1, {"understandability": 0, "layout": -1}, "answer_outside_scale"),
        (1, {"understandability": 0, "trust": 1}, "unknown_question"),
    ],
)
def test_answers_must_fit_the_questions_that_are_asked(
    grade: int | None, answers: dict[str, int | None], code: str | None
) -> None:
    problem = find_answer_problem(QUESTIONS, grade, answers)
    assert (problem and problem.code) == code


def test_a_campaign_without_further_questions_takes_no_answers() -> None:
    assert find_answer_problem((), 1, {}) is None
    assert find_answer_problem((), 1, {"a": 1}) == ("unknown_question", "a")

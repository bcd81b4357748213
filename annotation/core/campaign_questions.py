"""The questions of a campaign about a document. The first is the primary question, answered with a
grade of the campaign's scale. Up to four further questions each have a scale of their own.

    find_question_problems(stored, primary=scale)     errors in further questions that a user entered
    read_questions(stored)                            the further questions
    find_answer_problem(questions, grade, answers)    why an annotator's answers are invalid, or None

Answers to further questions are stored by key: a value of the question's scale, or None for "cannot
judge". Questions that were not asked, or not answered because they are optional, have no entry.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, NamedTuple

from annotation.core.scale import MOST_GRADES, Scale, find_scale_problems

PRIMARY_KEY = "relevance"
"""Key of the primary question in exports and options."""
MOST_FURTHER_QUESTIONS = 4
MAX_TITLE, MAX_PROMPT = 40, 200
KEY_PATTERN = re.compile(r"[a-z][a-z0-9_]{0,29}")
TYPES: dict[str, tuple[type, str]] = {
    "key": (str, "text"),
    "title": (str, "text"),
    "prompt": (str, "text"),
    "scale": (list, "a list of grades"),
    "min_relevant": (int, "a whole number"),
    "required": (bool, "true or false"),
    "asked_from": (int, "a whole number"),
}
Problem = tuple[tuple[str | int, ...], str, str]
"""(path of the value, problem, expected value)"""


@dataclass(frozen=True)
class CampaignQuestion:
    """A question that is asked after the grade.

    scale: grades, lowest first, as in a campaign. min_relevant: lowest value that counts as 1 in
    binary labels. required: whether annotators must answer it when it is asked. asked_from: lowest
    grade of the primary question at which it is asked, None for always.
    """

    key: str
    title: str
    prompt: str
    scale: Sequence[Mapping[str, Any]]
    min_relevant: int
    required: bool = True
    asked_from: int | None = None

    @cached_property
    def grades(self) -> Scale:
        return Scale(self.scale, self.min_relevant)

    def is_asked(self, grade: int | None) -> bool:
        """Return whether the question is asked after this grade (None for "cannot judge")."""
        return grade is not None and (self.asked_from is None or grade >= self.asked_from)

    @property
    def fixed_by_judgements(self) -> tuple[Any, ...]:
        """Return the properties that must not change once the campaign has judgements."""
        return self.key, self.grades.values, self.required, self.asked_from


FIELD_NAMES = tuple(f.name for f in fields(CampaignQuestion))


def read_questions(stored: Sequence[Mapping[str, Any]]) -> tuple[CampaignQuestion, ...]:
    """Return the questions of valid stored values."""
    return tuple(CampaignQuestion(**question) for question in stored)


def find_question_problems(stored: Any, *, primary: Scale) -> list[Problem]:
    """Check stored values of any type and return their problems, empty if they are valid. primary:
    the scale of the primary question."""
    if not isinstance(stored, list):
        return [((), "not a list of questions", "a list of questions")]
    problems: list[Problem] = []
    if len(stored) > MOST_FURTHER_QUESTIONS:
        expected = f"at most {MOST_FURTHER_QUESTIONS}"
        problems.append(((), f"{len(stored)} further questions", expected))
    seen = {PRIMARY_KEY}
    for number, values in enumerate(stored):
        wrong = list(_find_type_problems(values, number))
        if not wrong:
            wrong = list(_find_value_problems(CampaignQuestion(**values), number, seen, primary))
            seen.add(values["key"])
        problems += wrong
    return problems


def _find_type_problems(values: Any, number: int) -> Iterator[Problem]:
    needed = FIELD_NAMES[:5]
    if not isinstance(values, dict) or not set(needed) <= set(values) <= set(FIELD_NAMES):
        yield (number,), "missing or unknown keys", f"the keys {', '.join(FIELD_NAMES)}"
        return
    for name, value in values.items():
        if name == "asked_from" and value is None:
            continue
        kind, expected = TYPES[name]
        if type(value) is not kind:
            yield (number, name), f"{name} = {str(value)[:60]!r}", expected
    if isinstance(values["scale"], list) and not all(isinstance(v, dict) for v in values["scale"]):
        yield (number, "scale"), "not a list of grades", "a list of grades"


def _find_value_problems(
    question: CampaignQuestion, number: int, seen: set[str], primary: Scale
) -> Iterator[Problem]:
    """Yield the problems of one question. seen: keys of the questions before it."""
    if not KEY_PATTERN.fullmatch(question.key):
        expected = "at most 30 lower-case letters, digits and underscores, a letter first"
        yield (number, "key"), f"key {question.key[:60]!r}", expected
    elif question.key in seen:
        yield (number, "key"), f"duplicate key {question.key}", "a key of its own"
    for name, most in (("title", MAX_TITLE), ("prompt", MAX_PROMPT)):
        if not 0 < len(getattr(question, name).strip()) <= most:
            expected = f"1 to {most} characters"
            yield (number, name), f"{name} {getattr(question, name)[:60]!r}", expected
    mistakes = find_scale_problems(question.scale, min_relevant=question.min_relevant)
    for mistake in mistakes:
        yield (number, "scale"), mistake.rstrip("."), "a valid scale"
    if not question.required and len(question.scale) == MOST_GRADES:
        expected = f"at most {MOST_GRADES - 1}, because “No answer” needs a digit"
        yield (number, "scale"), f"{MOST_GRADES} grades of an optional question", expected
    if question.asked_from is not None and question.asked_from not in primary.values[1:]:
        values = ", ".join(map(str, primary.values[1:]))
        yield (number, "asked_from"), f"asked_from = {question.asked_from}", f"one of {values}"


class AnswerProblem(NamedTuple):
    """The reason why answers to further questions are invalid. code: unknown_question, not_asked,
    answer_missing or answer_outside_scale. question: its title, or the unknown key."""

    code: str
    question: str


def find_answer_problem(
    questions: Sequence[CampaignQuestion], grade: int | None, answers: Mapping[str, int | None]
) -> AnswerProblem | None:
    """Return the first reason why the answers to further questions are invalid, or None. grade: the
    primary answer, None for "cannot judge"."""
    if unknown := sorted(set(answers) - {question.key for question in questions}):
        return AnswerProblem("unknown_question", unknown[0])
    for question in questions:
        given = question.key in answers
        if given and not question.is_asked(grade):
            return AnswerProblem("not_asked", question.title)
        if not given and question.required and question.is_asked(grade):
            return AnswerProblem("answer_missing", question.title)
        if given and answers[question.key] not in (None, *question.grades.values):
            return AnswerProblem("answer_outside_scale", question.title)
    return None

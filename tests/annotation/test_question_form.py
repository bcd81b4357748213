"""Managers edit further questions below the scale."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from annotation.forms_questions import format_values, make_key, read_values
from annotation.models import Campaign
from annotation.services.campaigns.campaign_creation import duplicate_campaign
from tests.annotation.core.test_campaign_questions import make_question
from tests.builders import judge, make_annotator, make_campaign

EASE = {
    "questions-0-title": "Understandability",
    "questions-0-prompt": "How easily would a layperson understand it?",
    "questions-0-values": "Hard: A reader would give up.\nWith effort\nEasy: At once.",
    "questions-0-min_relevant": "2",
    "questions-0-asked_from": "1",
    "questions-0-required": "on",
}


def post(campaign: Campaign, questions: dict[str, str], **kwargs: Any) -> Any:
    client = Client()
    client.force_login(campaign.created_by)
    scale = {f"form-{n}-name": str(grade["name"]) for n, grade in enumerate(campaign.scale)}
    totals = {
        f"{prefix}-{which}_FORMS": str(n)
        for prefix, n in (("form", 9), ("questions", 4))
        for which in ("TOTAL", "INITIAL")
    }
    if not questions:
        totals = {name: n for name, n in totals.items() if name.startswith("form")}
    return client.post(
        f"/campaigns/{campaign.slug}/settings/scale/", {**totals, **scale, **questions}, **kwargs
    )


@pytest.mark.django_db
def test_a_question_is_added_changed_and_removed() -> None:
    campaign = make_campaign(state="draft")
    assert post(campaign, EASE).status_code == 302
    campaign.refresh_from_db()
    [question] = campaign.questions_after_grade
    assert (question.key, question.asked_from, question.required, question.min_relevant) == (
        "understandability",
        1,
        True,
        2,
    )
    assert [(v["value"], v["name"], v["explanation"], v["shape"]) for v in question.scale] == [
        (0, "Hard", "A reader would give up.", "cross"),
        (1, "With effort", "", "half"),
        (2, "Easy", "At once.", "disc"),
    ]
    assert post(campaign, {}).status_code == 302  # a form without questions keeps them
    campaign.refresh_from_db()
    assert campaign.questions_after_grade == (question,)
    assert post(campaign, {**EASE, "questions-0-title": ""}).status_code == 302
    campaign.refresh_from_db()
    assert campaign.further_questions == []


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"questions-0-prompt": ""}, "This field is required."),
        ({"questions-0-key": "Two Words"}, "Enter a key of lower-case letters"),
        ({"questions-0-values": "Only one"}, "A scale must have 2 to 9 grades"),
        ({"questions-0-min_relevant": "9"}, "must be on the scale"),
    ],
)
def test_errors_are_shown_with_the_form(changes: dict[str, str], said: str) -> None:
    campaign = make_campaign(state="draft")
    answer = post(campaign, EASE | changes)
    assert answer.status_code == 400
    assert said in answer.content.decode()
    campaign.refresh_from_db()
    assert campaign.further_questions == []


@pytest.mark.django_db
def test_the_form_shows_what_is_stored() -> None:
    campaign = make_campaign(state="draft", further_questions=[make_question(asked_from=2)])
    client = Client()
    client.force_login(campaign.created_by)
    page = client.get(f"/campaigns/{campaign.slug}/settings/scale/").content.decode()
    assert 'value="understandability"' in page
    assert '<option value="2" selected>only if the grade is at least Partly answers' in page
    assert page.count(" checked") == 4  # an answer is required by default, also in empty forms


@pytest.mark.django_db
@pytest.mark.parametrize("questions", [[], [make_question(asked_from=2)]])
def test_a_duplicate_asks_the_same_questions(questions: list[dict[str, Any]]) -> None:
    campaign = make_campaign(state="draft", further_questions=questions)
    made = duplicate_campaign(campaign, name="Again", actor=campaign.created_by)
    assert [question.key for question in made.questions_after_grade] == [
        question["key"] for question in questions
    ]


@pytest.mark.django_db
def test_values_cannot_change_after_a_judgement_and_explanations_can() -> None:
    campaign = make_campaign(further_questions=[make_question()], min_active_seconds=0)
    judge(make_annotator(campaign), 1, answers={"understandability": 1})
    words = {**EASE, "questions-0-asked_from": "", "questions-0-values": "a: One\nb: Two\nc: Three"}
    assert post(campaign, words).status_code == 302
    campaign.refresh_from_db()
    assert [v["explanation"] for v in campaign.further_questions[0]["scale"]] == [
        "One",
        "Two",
        "Three",
    ]
    fewer = post(campaign, {**words, "questions-0-values": "a\nb", "questions-0-min_relevant": "1"})
    assert "already has judgements" in fewer.content.decode()


def test_lines_keep_values_and_signs_that_they_do_not_show() -> None:
    stored = [
        {"value": 0, "name": "No", "explanation": "x: y", "example": "e", "shape": "star"},
        {"value": 4, "name": "Yes", "explanation": "", "example": "", "shape": "plus"},
    ]
    assert format_values(stored) == "No: x: y\nYes"
    assert read_values(format_values(stored), stored) == stored
    assert [v["value"] for v in read_values("a\nb\nc", stored)] == [0, 1, 2]


@pytest.mark.parametrize(
    ("title", "key"),
    [("Understandability", "understandability"), ("Is it new?", "is_it_new"), ("الثقة", "")],
)
def test_keys_come_from_titles(title: str, key: str) -> None:
    assert make_key(title) == key

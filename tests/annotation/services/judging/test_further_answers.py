"""Answers to further questions are stored with the judgement, and invalid ones are refused."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from annotation.models import Campaign, Judgement, Membership
from annotation.services.campaigns import lifecycle
from annotation.services.errors import CampaignError
from annotation.services.judging import submission
from annotation.services.judging.submission import Answer
from tests.annotation.api.test_judging import Page
from tests.annotation.core.test_campaign_questions import make_grades, make_question
from tests.builders import judge, make_annotator, make_campaign

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign() -> Campaign:
    questions = [make_question(asked_from=1), make_question("layout", required=False)]
    return make_campaign(further_questions=questions, min_active_seconds=0)


@pytest.fixture
def ada(campaign: Campaign) -> Membership:
    return make_annotator(campaign)


def test_one_judgement_stores_all_answers(ada: Membership) -> None:
    answers = {"understandability": 2, "layout": None}
    judge(ada, 1, answers=answers)
    stored = Judgement.objects.get()
    assert (stored.grade, stored.answers, stored.presentation) == (1, answers, {})


def test_a_revision_replaces_all_answers(ada: Membership) -> None:
    first = judge(ada, 1, answers={"understandability": 2, "layout": 1})
    submission.revise_judgement(ada, first.pk, key=uuid.uuid4(), answer=Answer(grade=0))
    assert list(Judgement.objects.order_by("revision").values_list("grade", "answers")) == [
        (1, {"understandability": 2, "layout": 1}),
        (0, {}),
    ]


@pytest.mark.parametrize(
    ("grade", "answers", "code", "detail"),
    [
        (1, {}, "answer_missing", "Answer the question “Understandability”."),
        (0, {"understandability": 1}, "not_asked", "The question “Understandability” is not asked"),
        (1, {"understandability": 7}, "answer_outside_scale", "not an answer to the question"),
        (1, {"trust": 1}, "unknown_question", "This campaign has no question “trust”."),
    ],
)
def test_invalid_answers_are_refused_with_the_reason(
    ada: Membership, grade: int, answers: dict[str, Any], code: str, detail: str
) -> None:
    page = Page(ada)
    lease = page.pairs()["pairs"][0]["lease"]
    refused = page.judge(lease, grade, answers=answers)
    said = refused.json()
    assert (refused.status_code, said["code"]) == (400, code)
    assert refused.headers["Content-Type"] == "application/problem+json"
    assert detail in said["detail"]
    assert not Judgement.objects.exists()


@pytest.mark.parametrize("answers", [[1], {"understandability": "much"}, {"layout": [1]}, "x"])
def test_answers_of_another_shape_are_refused(ada: Membership, answers: Any) -> None:
    page = Page(ada)
    refused = page.judge(page.pairs()["pairs"][0]["lease"], 1, answers=answers)
    assert refused.status_code == 400
    assert "answers" in refused.content.decode()


def test_the_page_gets_the_questions_and_the_history_the_answers(ada: Membership) -> None:
    page = Page(ada)
    setup = page.get("setup").json()
    assert [q["key"] for q in setup["further_questions"]] == ["understandability", "layout"]
    page.judge(page.pairs()["pairs"][0]["lease"], 1, answers={"understandability": 2})
    [item] = page.get("history").json()["items"]
    assert item["answers"] == item["revisions"][0]["answers"] == {"understandability": 2}


def test_after_a_judgement_only_words_and_the_minimum_can_change(
    campaign: Campaign, ada: Membership
) -> None:
    judge(ada, 1, answers={"understandability": 2})
    first, second = campaign.further_questions

    def change(**values: Any) -> None:
        lifecycle.update_campaign(
            campaign, actor=None, further_questions=[{**first, **values}, second]
        )

    change(title="Readability", prompt="Easy to read?", min_relevant=2)
    for values in ({"key": "other"}, {"scale": make_grades(0, 1)}, {"asked_from": 2}):
        with pytest.raises(CampaignError, match="already has judgements"):
            change(**values)
    campaign.refresh_from_db()
    assert campaign.questions_after_grade[0].title == "Readability"


def test_a_campaign_refuses_invalid_questions() -> None:
    with pytest.raises(CampaignError, match="asked_from = 8, expected one of 1, 2, 3"):
        make_campaign(further_questions=[make_question(asked_from=8)])

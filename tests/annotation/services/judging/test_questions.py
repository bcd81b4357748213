"""Questions of annotators: asked, answered, told, published as an example of the guidelines."""

from __future__ import annotations

import uuid

import pytest
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from annotation.models import AuditEvent, Membership, Pair, Question
from annotation.selectors.judging import get_situation
from annotation.services.campaigns import lifecycle
from annotation.services.errors import AnswerRefused, CampaignError
from annotation.services.judging import questions, scheduling
from annotation.services.people import exclusion, participation
from tests.builders import make_annotator, make_campaign

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> Membership:
    return make_annotator(
        make_campaign(n_topics=1, n_documents=3, guideline="# Read\n\nAll of it.")
    )


def asked(member: Membership, text: str = "Is a trial of mice a trial?") -> Question:
    lease = scheduling.claim_pair(member)
    assert lease
    return questions.ask_question(member, pair_id=lease.pair_id, key=uuid.uuid4(), text=text)


def test_a_question_sent_again_is_the_same_question(ada):
    lease = scheduling.claim_pair(ada)
    key = uuid.uuid4()
    first = questions.ask_question(ada, pair_id=lease.pair_id, key=key, text="Why?")
    assert questions.ask_question(ada, pair_id=lease.pair_id, key=key, text="Why?") == first
    assert Question.objects.count() == 1


@pytest.mark.parametrize("text", ["", "  \n", "x" * 2001])
def test_a_question_without_words_or_with_too_many_is_refused(ada, text):
    with pytest.raises(AnswerRefused):
        asked(ada, text)


def test_only_about_a_pair_that_was_given_and_not_by_who_is_excluded(ada):
    other = Pair.objects.filter(campaign=ada.campaign).last()
    with pytest.raises(AnswerRefused, match="not assigned to you"):
        questions.ask_question(ada, pair_id=other.pk, key=uuid.uuid4(), text="What is it?")
    lease = scheduling.claim_pair(ada)
    exclusion.exclude_annotator(ada, reason="random", actor=None)
    ada.refresh_from_db()
    with pytest.raises(AnswerRefused, match="no longer take part"):
        questions.ask_question(ada, pair_id=lease.pair_id, key=uuid.uuid4(), text="Why?")


def test_an_answer_is_told_until_it_is_opened_and_told_again_when_it_changes(ada):
    question = asked(ada)
    assert ada.unread_answers == 0
    questions.answer_question(question, "Yes.", actor=ada.campaign.created_by)
    ada.refresh_from_db()
    assert get_situation(ada, now=timezone.now()).progress.unread_answers == 1
    questions.mark_answer_read(ada, question.pk)
    assert ada.unread_answers == 0
    questions.answer_question(question, "No: of people only.", actor=ada.campaign.created_by)
    ada.refresh_from_db()
    assert ada.unread_answers == 1
    assert (
        AuditEvent.objects.filter(campaign=ada.campaign, action="answered a question").count() == 2
    )


def test_another_annotator_can_neither_see_nor_open_the_answer(ada):
    question = questions.answer_question(asked(ada), "Yes.", actor=None)
    bob = make_annotator(ada.campaign)
    with pytest.raises(AnswerRefused):
        questions.mark_answer_read(bob, question.pk)
    client = APIClient()
    client.force_authenticate(bob.user)
    assert client.get(f"/api/v1/judging/{ada.campaign.slug}/questions").json()["items"] == []


def test_publishing_an_answer_notifies_annotators_without_requiring_them_to_read_it(
    ada,
):
    participation.acknowledge_guideline(ada, 1)
    question = asked(ada)
    with pytest.raises(CampaignError, match="Answer the question first"):
        questions.publish_example(question, actor=None)
    questions.answer_question(question, "Yes,\nif there\n# are two groups.", actor=None)
    version = questions.publish_example(question, actor=None)
    assert version.number == 2
    assert version.text.startswith("# Read\n\nAll of it.\n\n## Examples from questions\n\n")
    assert version.text.endswith(
        "Is a trial of mice a trial?  \n*Answer:* Yes, if there # are two groups.\n"
    )  # a line: no heading of its own
    assert ada.pseudonym not in version.text
    now = get_situation(ada, now=timezone.now())
    assert now.state == "judging"
    assert now.details["guideline"]["number"] == 2
    with pytest.raises(CampaignError, match="since version 2"):
        questions.publish_example(question, actor=None)
    second = asked(ada, "And of rats?")
    questions.answer_question(second, "Yes.", actor=None)
    assert (
        questions.publish_example(second, actor=None).text.count("## Examples from questions") == 1
    )


def test_who_has_read_nothing_or_missed_a_change_reads_all_of_it(ada):
    question = questions.answer_question(asked(ada), "Yes.", actor=None)
    bob = make_annotator(ada.campaign)
    participation.acknowledge_guideline(bob, 1)
    lifecycle.save_guideline(ada.campaign, "# Read\n\nTwice.", note="twice")
    questions.publish_example(question, actor=None)
    new = make_annotator(ada.campaign, guideline_read=0)
    for member in (bob, new):
        member.refresh_from_db()
        assert get_situation(member, now=timezone.now()).state == "guideline_changed"


def test_the_manager_answers_on_the_page_and_by_the_api(ada):
    first, second = asked(ada, "First?"), asked(ada, "Second?")
    manager = ada.campaign.created_by
    client = Client()
    client.force_login(manager)
    address = f"/campaigns/{ada.campaign.slug}/questions/"
    page = client.get(address).content.decode()
    assert page.index("First?") < page.index("Second?")
    assert '<span class="badge warn" title="Unanswered questions">2</span>' in page
    refused = client.post(address, {"question": first.pk, "action": "answer", "answer": " "})
    assert refused.status_code == 400
    assert "Enter an answer." in refused.content.decode()
    client.post(
        address, {"question": first.pk, "action": "answer", "answer": "One.", "publish": "on"}
    )
    first.refresh_from_db()
    assert (first.answer, first.answered_by, first.example_in) == ("One.", manager, 2)
    api = APIClient()
    api.force_authenticate(manager)
    root = f"/api/v1/campaigns/{ada.campaign.slug}/questions/"
    assert [(row["text"], row["annotator"]) for row in api.get(root).json()] == [
        ("Second?", ada.pseudonym),
        ("First?", ada.pseudonym),
    ]
    assert (
        api.post(
            f"{root}{second.pk}/answer", {"answer": "Two.", "publish": True}, format="json"
        ).json()["example_in"]
        == 3
    )
    assert api.post(f"{root}{second.pk}/answer", {"answer": ""}, format="json").status_code == 400


def test_a_question_is_taken_back_as_long_as_nobody_has_answered(ada):
    question = asked(ada)
    bob = make_annotator(ada.campaign)
    questions.withdraw_question(bob, question.pk)
    assert Question.objects.count() == 1, "only one's own"
    questions.withdraw_question(ada, question.pk)
    questions.withdraw_question(ada, question.pk)  # the answer to the first was lost
    assert Question.objects.count() == 0
    answered = asked(ada)
    questions.answer_question(answered, "Yes.", actor=None)
    with pytest.raises(AnswerRefused, match="already answered it") as refused:
        questions.withdraw_question(ada, answered.pk)
    assert (refused.value.code, refused.value.status) == ("question_answered", 409)
    assert Question.objects.count() == 1


def test_the_api_takes_a_question_back_and_tells_those_that_are_left(ada):
    first, second = asked(ada, "One?"), asked(ada, "Two?")
    client = Client()
    client.force_login(ada.user)
    answer = client.post(f"/api/v1/judging/{ada.campaign.slug}/questions/{first.pk}/withdraw")
    assert [item["id"] for item in answer.json()["items"]] == [second.pk]

"""The answers of the judging API are what its document says: in a short run of a campaign that
comes by every operation and state. (The fixture `answers` holds every answer of every test in this
folder to the document.)"""

from __future__ import annotations

import json
import uuid
from datetime import timedelta

import pytest
from django.http import JsonResponse
from django.utils import timezone

from annotation.api import judging_schema
from annotation.models import Membership, Message, Pair, Question
from annotation.services.campaigns import lifecycle
from annotation.services.judging import questions
from annotation.services.people import exclusion
from tests import openapi
from tests.annotation.api.test_judging import Page
from tests.builders import make_annotator, make_campaign

pytestmark = pytest.mark.django_db


def judged_by(page, *, want=1, **more):
    """The first pair that is served, judged. -> its answer"""
    [first, *_] = page.pairs(want=want)["pairs"]
    return page.judge(first["lease"], 1, want=0, **more).json()


def write(page, pair):
    """What an annotator does beside judging: feedback, a question, answered and opened, one taken
    back, and a look for near-duplicates."""
    page.get(f"pairs/{pair}/near-duplicates")
    page.post("feedback", score="VERY_GOOD", text="nice")
    page.get("questions")
    [asked] = page.post("questions", key=str(uuid.uuid4()), pair=pair, text="How?").json()["items"]
    questions.publish_example(
        questions.answer_question(Question.objects.get(pk=asked["id"]), "So.", actor=None),
        actor=None,
    )
    page.post(f"questions/{asked['id']}/read")
    hasty = page.post("questions", key=str(uuid.uuid4()), pair=pair, text="Whe").json()["items"][0]
    page.post(f"questions/{hasty['id']}/withdraw")
    page.get("questions")


def short_run():
    """From the draft to the end, by every operation and every state."""
    draft = Page(make_annotator(make_campaign(state="draft")))
    draft.post("leases")
    campaign = make_campaign(
        n_topics=1,
        n_documents=5,
        judgements_per_pair=1,
        guideline="one",
        consent_text="Agree?",
        target_per_annotator=1,
        thanks_text="*Bye*",
        min_active_seconds=0,
        truncate_words=3,
        spans="optional",
        rotate_text=True,
        show_near_duplicates=True,
    )
    test = Pair.objects.filter(campaign=campaign).order_by("position").last()
    lifecycle.set_pair_kind(test, Pair.Kind.QUALIFICATION, gold_grade=1, explanation="because")
    lifecycle.update_campaign(campaign, actor=None, qualification_pass=0.5)
    page = Page(make_annotator(campaign, guideline_read=0))
    page.get("setup")
    page.post("consent")
    page.get("setup")
    page.post("guideline/acknowledge", number=1)
    assert judged_by(page)["feedback"]["right"]
    page.get("history")
    first = page.pairs(want=2)["pairs"]
    page.post("leases/renew", leases=[first[0]["lease"], str(uuid.uuid4())])
    page.post("skip", lease=first[0]["lease"], want=0)
    page.get("skipped")
    page.post(f"skipped/{first[0]['pair']}/resume")
    number = page.judge(first[0]["lease"], 2, spans=[[0, 4]], note="see", want=0).json()[
        "judgement"
    ]["id"]
    page.post(
        f"judgements/{number}/revise",
        key=str(uuid.uuid4()),
        grade=None,
        cannot_reason="query",
        want=0,
    )
    page.get("history")
    page.get(f"history/{number}")
    message = Message.objects.create(membership=page.member, text="Well done")
    page.get("setup")
    page.post(f"messages/{message.pk}/read")
    page.client.put(page.address + "profile", {"theme": "dark"}, format="json")
    write(page, first[0]["pair"])
    other = Page(make_annotator(campaign, consented_at=timezone.now(), target=0))
    lifecycle.update_campaign(campaign, actor=None, qualification_pass=0)
    page.post("leases", want=1)
    while other.pairs(want=3)["pairs"]:
        pass
    every = Membership.objects.filter(pk=page.member.pk)
    every.update(target=0, n_judged=0)
    page.post("leases/release", leases=[])
    third = Page(make_annotator(campaign, consented_at=timezone.now(), target=0))
    third.post("leases", want=1)
    other.post("leases/release", leases=other.held)
    while (found := third.pairs(want=1))["pairs"]:
        third.judge(found["pairs"][0]["lease"], 1, want=0)
    every.update(daily_limit=0)
    page.get("setup")
    exclusion.pause_annotator(page.member, reason="wait", actor=None)
    page.get("setup")
    exclusion.resume_annotator(page.member, actor=None)
    lifecycle.pause_campaign(campaign, reason="lunch")
    page.get("setup")
    lifecycle.resume_campaign(campaign)
    lifecycle.update_campaign(campaign, actor=None, deadline=timezone.now() - timedelta(minutes=1))
    page.get("setup")
    lifecycle.update_campaign(campaign, actor=None, deadline=None)
    exclusion.exclude_annotator(page.member, reason="random", actor=None)
    page.get("setup")
    lifecycle.close_campaign(campaign)
    third.get("setup")


def test_every_operation_and_every_state_of_a_short_run_answers_as_documented(answers):
    short_run()
    good = [(name, answer.json()) for name, answer in answers if answer.status_code == 200]
    operations = {
        one["operationId"]
        for path, all_of_it in openapi.document()["paths"].items()
        for one in all_of_it.values()
        if "/judging/" in path
    }
    assert {name for name, _ in good} == operations
    assert {found["state"] for _, found in good} == {
        state for state, _ in judging_schema.STATE_CHOICES
    }
    assert {answer.status_code for _, answer in answers} == {200}


def test_no_operation_of_the_judging_api_answers_just_any_object():
    for path, operations in openapi.document()["paths"].items():
        for one in operations.values():
            if "/judging/" in path:
                reference = one["responses"]["200"]["content"]["application/json"]["schema"]["$ref"]
                properties = openapi.document()["components"]["schemas"][
                    reference.rpartition("/")[2]
                ]["properties"]
                assert {"state", "message", "progress", "server_time"} <= set(properties)


class Answer(JsonResponse):
    """With `json`, as a test's client gives it."""

    def json(self):
        return json.loads(self.content)


def test_an_answer_that_is_not_as_documented_is_found():
    good = {
        "state": "judging",
        "message": "",
        "server_time": "2026-01-02T03:04:05Z",
        "progress": {
            "judged": 1,
            "target": None,
            "today": 0,
            "daily_limit": None,
            "unread_answers": 0,
        },
        "released": 2,
    }
    path = "/api/v1/judging/any/leases/release"
    assert openapi.faults("POST", path, Answer(good)) == []
    wrong = [{"state": "asleep"}, {"released": "two"}, {"more": 1}, {"progress": {"judged": 1}}]
    for change in wrong:
        assert openapi.faults("POST", path, Answer({**good, **change})), change
    del good["released"]
    assert openapi.faults("POST", path, Answer(good))
    assert openapi.faults("POST", path, Answer(good, status=418)) == [
        "judging_release 418: this status is not declared"
    ]

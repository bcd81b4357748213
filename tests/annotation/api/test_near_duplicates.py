"""Near-duplicates: own grades of documents very like the one on the page, where the campaign allows
it, and nothing else.

Texts of 16 words have twelve shingles of five words. With the last n words changed 12 - n are
shared, of 12 + n that either has."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import AuditEvent, Judgement, Lease, Membership, Pair
from annotation.selectors import near_duplicates
from annotation.services.campaigns import lifecycle
from tests.annotation.api.test_judging import Page
from tests.builders import lease_of, make_annotator, make_campaign, make_collection, submit

pytestmark = pytest.mark.django_db


def text(n_changed: int = 0, mark: str = "other") -> str:
    words = [f"word{n}" for n in range(16)]
    return " ".join(words[: 16 - n_changed] + [f"{mark}{n}" for n in range(n_changed)])


def campaign_of(*texts, **settings):
    settings.setdefault("show_near_duplicates", True)
    collection = make_collection(n_topics=2, n_documents=len(texts), texts=texts)
    return make_campaign(collection=collection, min_active_seconds=1, **settings)


def pair_of(campaign, docno, topic="t1"):
    return Pair.objects.get(campaign=campaign, entry__docno=docno, entry__topic__topic_id=topic)


def given(member: Membership, pair: Pair) -> Lease:
    """The pair is on the annotator's page."""
    return Lease.objects.filter(membership=member, pair=pair, state="live").first() or lease_of(
        member, pair, now=timezone.now()
    )


def graded(
    member: Membership, docno: str, grade: int | None, topic: str = "t1", active_ms: int = 5000
) -> Judgement:
    lease = given(member, pair_of(member.campaign, docno, topic))
    return submit(
        member, lease, grade, now=lease.served_at + timedelta(seconds=10), active_ms=active_ms
    ).judgement


def asked(member: Membership, docno: str, topic: str = "t1"):
    """The answer about a pair that the annotator has on the page."""
    pair = pair_of(member.campaign, docno, topic)
    given(member, pair)
    return Page(member).get(f"pairs/{pair.pk}/near-duplicates")


def found(member: Membership, docno: str, topic: str = "t1"):
    answer = asked(member, docno, topic)
    assert answer.status_code == 200, answer.content
    return [
        (item["document"]["id"], item["judgement"]["grade"], round(item["resemblance"], 4))
        for item in answer.json()["items"]
    ]


def test_it_is_off_unless_the_campaign_says_otherwise_and_then_refused():
    assert make_campaign().show_near_duplicates is False
    ada = make_annotator(campaign_of(text(), text(1), show_near_duplicates=False))
    graded(ada, "d1", 2)
    answer = asked(ada, "d2")
    assert (answer.status_code, answer.json()["code"]) == (404, "near_duplicates_off")
    assert Page(ada).get("setup").json()["campaign"]["show_near_duplicates"] is False


def test_a_document_very_like_one_that_was_graded_comes_with_that_grade():
    ada = make_annotator(campaign_of(text(), text(1)))
    graded(ada, "d1", 2)
    assert found(ada, "d2") == [("d1", 2, round(11 / 13, 4))]
    assert Page(ada).get("setup").json()["campaign"]["show_near_duplicates"] is True


def test_half_of_the_shingles_is_enough_and_less_is_not():
    ada = make_annotator(campaign_of(text(), text(4), text(5)))
    graded(ada, "d1", 2)
    assert found(ada, "d2") == [("d1", 2, 0.5)]  # 8 of 16
    assert found(ada, "d3") == []  # 7 of 17


def test_at_most_three_are_told_the_most_alike_first_and_of_equals_the_last_one():
    ada = make_annotator(
        campaign_of(text(2, "a"), text(1, "b"), text(3, "c"), text(1, "d"), text())
    )
    for docno, grade in (("d1", 0), ("d2", 1), ("d3", 2), ("d4", 3)):
        graded(ada, docno, grade)
    assert found(ada, "d5") == [
        ("d4", 3, round(11 / 13, 4)),
        ("d2", 1, round(11 / 13, 4)),
        ("d1", 0, round(10 / 14, 4)),
    ]


def test_nothing_is_told_of_others_of_other_topics_or_of_what_waits():
    campaign = campaign_of(text(), text(1), text(2), text(3))
    ada, bob = make_annotator(campaign), make_annotator(campaign)
    graded(bob, "d1", 3)
    graded(ada, "d2", 2, topic="t2")
    given(ada, pair_of(campaign, "d3"))
    assert found(ada, "d4") == []


def test_neither_practice_nor_what_was_too_fast_nor_what_has_no_grade_is_compared():
    campaign = campaign_of(text(), text(1, "b"), text(1, "c"), text(1, "d"), qualification_pass=0.5)
    ada = make_annotator(campaign)
    lifecycle.set_pair_kind(pair_of(campaign, "d1"), Pair.Kind.QUALIFICATION, gold_grade=3)
    graded(ada, "d1", 3)
    graded(ada, "d2", 2, active_ms=100)
    graded(ada, "d3", None)
    assert found(ada, "d4") == []
    graded(ada, "d4", 1)
    answer = Page(ada).get(
        f"pairs/{pair_of(campaign, 'd1').pk}/near-duplicates"
    )  # like d4, and practice
    assert answer.json()["items"] == []


def test_the_grade_is_that_of_the_last_revision():
    ada = make_annotator(campaign_of(text(), text(1)))
    first = graded(ada, "d1", 2)
    answer = Page(ada).post(
        f"judgements/{first.pk}/revise", key="5a0a3c1e-97c5-4a4b-8d3e-111111111111", grade=0, want=0
    )
    assert answer.status_code == 200
    assert found(ada, "d2") == [("d1", 0, round(11 / 13, 4))]


def test_a_pair_that_was_never_given_is_refused():
    campaign = campaign_of(text(), text(1))
    ada = make_annotator(campaign)
    graded(ada, "d1", 2)
    for number in (pair_of(campaign, "d2").pk, 10**12):
        answer = Page(ada).get(f"pairs/{number}/near-duplicates")
        assert (answer.status_code, answer.json()["code"]) == (404, "pair_unknown")


def test_where_the_campaign_cuts_documents_what_is_shown_is_compared():
    ada = make_annotator(campaign_of(text(13, "a"), text(13, "b"), truncate_words=3))
    graded(ada, "d1", 2)
    assert found(ada, "d2") == [("d1", 2, 1.0)]


def test_a_document_without_a_stored_text_is_like_no_other():
    campaign = campaign_of(text(), text())
    ada = make_annotator(campaign)
    graded(ada, "d1", 2)
    pair = pair_of(campaign, "d2")
    pair.entry.document = None
    pair.entry.save()
    assert found(ada, "d2") == []


def test_only_the_beginning_of_long_documents_is_compared():
    """6,000 characters: of words with seven characters and a space 750."""
    words = [f"w{n:06}" for n in range(2000)]
    ada = make_annotator(campaign_of(" ".join(words), " ".join(words[:750] + ["end"] * 1250)))
    graded(ada, "d1", 2)
    assert found(ada, "d2") == [("d1", 2, 1.0)]


def test_gold_is_not_given_away():
    """An answer about a gold pair, and one with a graded gold pair in it, have the same keys as
    others, and no known grade."""
    campaign = campaign_of(text(), text(1), text(2))
    ada = make_annotator(campaign)
    for docno in ("d1", "d2"):
        lifecycle.set_pair_kind(
            pair_of(campaign, docno), Pair.Kind.GOLD, gold_grade=3, explanation="because"
        )
    graded(ada, "d1", 1)
    gold = asked(ada, "d2").json()
    lifecycle.set_pair_kind(pair_of(campaign, "d1"), Pair.Kind.NORMAL)
    plain = asked(ada, "d3").json()
    assert (
        [set(item) for item in gold["items"]]
        == [set(item) for item in plain["items"]]
        == [{"resemblance", "document", "judgement"}]
    )
    assert set(gold["items"][0]["judgement"]) == set(plain["items"][0]["judgement"])
    assert "gold" not in json.dumps(gold)
    assert "because" not in json.dumps(gold)
    assert gold["items"][0]["judgement"]["grade"] == 1


def n_statements(n_documents: int) -> int:
    ada = make_annotator(campaign_of(*[text(1, f"m{n}") for n in range(n_documents)]))
    for number in range(1, n_documents):
        graded(ada, f"d{number}", 1)
    pair = pair_of(ada.campaign, f"d{n_documents}")
    given(ada, pair)
    page = Page(ada)
    with CaptureQueriesContext(connection) as queries:
        assert len(page.get(f"pairs/{pair.pk}/near-duplicates").json()["items"]) == min(
            3, n_documents - 1
        )
    return len(queries)


def test_it_costs_as_many_statements_for_many_documents_as_for_few():
    assert n_statements(3) == n_statements(12)


def test_no_more_than_the_latest_are_compared(monkeypatch):
    ada = make_annotator(campaign_of(text(), text(16, "b"), text(16, "c"), text(1)))
    for docno in ("d1", "d2", "d3"):
        graded(ada, docno, 1)
    for most, expected in ((2, []), (3, ["d1"])):
        monkeypatch.setattr(near_duplicates, "MAX_COMPARED", most)
        assert [docno for docno, *_ in found(ada, "d4")] == expected


def test_a_change_of_the_setting_is_in_the_audit_trail():
    campaign = campaign_of(text(), text(1))
    lifecycle.update_campaign(campaign, actor=campaign.created_by, show_near_duplicates=False)
    event = AuditEvent.objects.filter(campaign=campaign, action="changed settings").first()
    assert (event.actor, event.details["changes"]) == (
        campaign.created_by,
        {"show_near_duplicates": [True, False]},
    )

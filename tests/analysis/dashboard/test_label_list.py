"""Labels as a list: searched, filtered, sorted, and gone through pair by pair."""

from __future__ import annotations

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from analysis.dashboard.label_list import list_labels
from analysis.judgements.live import get_snapshot
from annotation.models import Campaign, Pair
from annotation.services.campaigns.pairs import set_pair_kind
from annotation.services.judging import submission
from tests.builders import judge_pair, judged_campaign, make_annotator

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("rows_read_anew")]


def pair(campaign: Campaign, topic: str, docno: str) -> Pair:
    return campaign.pairs.get(entry__topic__topic_id=topic, entry__docno=docno)


def campaign_of_every_status(n_documents: int = 3) -> Campaign:
    """Two judgements a pair: t1 d1 2 2, t1 d2 0 3, t1 d3 1 alone, t2 d1 3 3 but for the manager 1;
    t2 d2 was known to be 3; t2 d3 nothing."""
    grades = {("t1", "d1"): (2, 2), ("t1", "d2"): (0, 3), ("t1", "d3"): (1,), ("t2", "d1"): (3, 3)}
    campaign = judged_campaign(grades, n_documents=n_documents, min_active_seconds=0)
    manager = campaign.memberships.get(role="manager").user
    submission.adjudicate_pair(pair(campaign, "t2", "d1"), 1, reason="outdated", actor=manager)
    set_pair_kind(pair(campaign, "t2", "d2"), "qualification", gold_grade=3, actor=manager)
    return campaign


def manager_of(campaign: Campaign) -> Client:
    client = Client()
    client.force_login(campaign.memberships.get(role="manager").user)
    return client


def listed(campaign: Campaign, query: str = "") -> list[str]:
    """Topic and document of the rows shown, in their order."""
    answer = manager_of(campaign).get(f"/campaigns/{campaign.slug}/labels/list/{query}")
    assert answer.status_code == 200
    return [f"{row.label.topic} {row.label.document}" for row in answer.context["rows"]]


def test_each_pair_with_a_label_or_a_judgement_is_a_row_and_no_other() -> None:
    campaign = campaign_of_every_status()
    rows = {
        f"{row.topic} {row.document}": row for row in list_labels(campaign, get_snapshot(campaign))
    }
    told = {
        name: (row.grade, row.decision, row.n, row.spread, row.disputed, row.waiting)
        for name, row in rows.items()
    }
    assert told == {
        "t1 d1": (2, "unanimous", 2, 0.0, False, False),
        "t1 d2": (0, "lowest_grade", 2, 2.25, True, False),  # 0 and 3: mean 1.5, each 1.5 away
        "t1 d3": (None, "", 1, 0.0, False, True),
        "t2 d1": (1, "adjudicated", 2, 0.0, False, False),
        "t2 d2": (3, "known_grade", 0, 0.0, False, False),
    }


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("", ["t1 d1", "t1 d2", "t1 d3", "t2 d1", "t2 d2"]),
        ("?q=t2", ["t2 d1", "t2 d2"]),
        ("?q=D3", ["t1 d3"]),
        ("?topic=t1&state=undecided", ["t1 d3"]),
        ("?grade=2", ["t1 d1"]),
        ("?decision=lowest_grade", ["t1 d2"]),
        ("?decision=known_grade", ["t2 d2"]),
        ("?state=disputed", ["t1 d2"]),
        ("?state=differ", ["t1 d2"]),
        ("?state=waiting", ["t1 d3"]),
        ("?state=ruled", ["t2 d1"]),
        (
            "?sort=-grade",
            ["t2 d2", "t1 d1", "t2 d1", "t1 d2", "t1 d3"],
        ),  # 3 2 1 0, and without a label last
        ("?sort=-spread&topic=t1", ["t1 d2", "t1 d1", "t1 d3"]),
        ("?state=nonsense&grade=77", ["t1 d1", "t1 d2", "t1 d3", "t2 d1", "t2 d2"]),
    ],
)
def test_the_list_is_searched_filtered_and_sorted(query: str, rows: list[str]) -> None:
    assert listed(campaign_of_every_status(), query) == rows


def test_relevant_labels_are_counted_by_topic() -> None:
    campaign = campaign_of_every_status()
    page = manager_of(campaign).get(f"/campaigns/{campaign.slug}/labels/list/")
    assert [tuple(row) for row in page.context["topics"]] == [
        ("t1", 2, 1, 1, 1),
        ("t2", 2, 1, 0, 0),
    ]  # minimum relevant grade 2 on


def test_one_goes_on_through_the_list_as_it_was_asked_for_and_a_pair_just_decided_keeps_its_place() -> (
    None
):
    campaign = campaign_of_every_status()
    client, t1d2 = manager_of(campaign), pair(campaign, "t1", "d2")
    page = client.get(
        f"/campaigns/{campaign.slug}/labels/list/?topic=t1&sort=-grade"
    ).content.decode()
    [link] = [
        link.replace("&amp;", "&")
        for link in re.findall(r'href="([^"]+)"', page)
        if f"/pairs/{t1d2.pk}/" in link
    ]
    opened = client.get(link)
    turn = opened.context["turn"]
    assert (turn.place, turn.of) == (2, 3)
    assert (turn.before, turn.after) == (
        pair(campaign, "t1", "d1").pk,
        pair(campaign, "t1", "d3").pk,
    )
    assert f"/labels/list/?{link.split('?')[1].replace('&', '&amp;')}" in opened.content.decode()
    disputed = f"/campaigns/{campaign.slug}/pairs/{t1d2.pk}/?of=labels&state=disputed"
    assert client.post(disputed, {"grade": "3"}).headers["Location"] == disputed
    assert (client.get(disputed).context["turn"].place, listed(campaign, "?state=disputed")) == (
        1,
        [],
    )


def test_a_decision_shows_at_once_and_its_withdrawal_too() -> None:
    campaign = campaign_of_every_status()
    client, one = manager_of(campaign), pair(campaign, "t1", "d1")
    for grade in ("0", "3"):
        client.post(f"/campaigns/{campaign.slug}/pairs/{one.pk}/", {"grade": grade})
        assert listed(campaign, f"?decision=adjudicated&grade={grade}") == ["t1 d1"]
    client.post(f"/campaigns/{campaign.slug}/pairs/{one.pk}/", {"withdraw": "1"})
    assert listed(campaign, "?decision=unanimous&grade=2") == ["t1 d1"]


def test_statements_do_not_grow_with_the_pairs() -> None:
    campaign = campaign_of_every_status(30)
    client, address = manager_of(campaign), f"/campaigns/{campaign.slug}/labels/list/"

    def statements() -> int:
        client.get(address)
        with CaptureQueriesContext(connection) as captured:
            assert client.get(address).status_code == 200
        return len(captured)

    few, cleo = statements(), make_annotator(campaign, "cleo")
    for other in campaign.pairs.filter(kind="normal", counted=0):
        judge_pair(cleo, other, 1, now=timezone.now())
    assert len(listed(campaign)) == 50
    assert statements() == few

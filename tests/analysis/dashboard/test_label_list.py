"""The list of pairs: views, search, filters, order, and the queue through it."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from analysis.dashboard.label_list import add_texts, list_pairs
from analysis.judgements import live
from analysis.judgements.live import get_snapshot
from annotation.models import Campaign, Judgement, Pair
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
    answer = manager_of(campaign).get(f"/campaigns/{campaign.slug}/judgements/{query}")
    assert answer.status_code == 200
    return [f"{row.label.topic} {row.label.document}" for row in answer.context["rows"]]


def test_each_pair_is_a_row_with_its_label_and_the_distance_of_its_grades() -> None:
    campaign = campaign_of_every_status()
    rows = {
        f"{row.topic} {row.document}": row for row in list_pairs(campaign, get_snapshot(campaign))
    }
    told = {
        name: (row.grade, row.decision, row.n, row.apart, row.disputed, row.waiting)
        for name, row in rows.items()
    }
    assert told == {
        "t1 d1": (2, "unanimous", 2, 0, False, False),
        "t1 d2": (0, "lowest_grade", 2, 3, True, False),
        "t1 d3": (None, "", 1, 0, False, True),
        "t2 d1": (1, "adjudicated", 2, 0, False, False),
        "t2 d2": (3, "known_grade", 0, 0, False, False),
        "t2 d3": (None, "", 0, 0, False, True),
    }
    assert [name for name, row in rows.items() if row.known is not None] == ["t2 d2"]


def test_grades_two_apart_or_tied_are_disputed_unless_a_judgement_is_expected() -> None:
    grades = {
        ("t1", "d1"): (0, 1, 1),  # a majority, one apart
        ("t1", "d2"): (0, 2, 2),  # a majority, two apart
        ("t1", "d3"): (0, 1),  # waits for a third
        ("t1", "d4"): (1, 1, 1),
    }
    campaign = judged_campaign(
        grades, names=("ada", "bob", "eve"), judgements_per_pair=3, min_active_seconds=0
    )

    def disputed() -> list[str]:
        rows = list_pairs(campaign, get_snapshot(campaign))
        return [row.document for row in rows if row.disputed]

    assert disputed() == ["d2"]
    campaign.state = Campaign.State.CLOSED
    assert disputed() == ["d2", "d3"]  # the third judgement of d3 will not come: 0 and 1 tie


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("", ["t1 d2"]),  # disputed pairs, as there are any
        ("?view=all", ["t1 d1", "t1 d2", "t1 d3", "t2 d1", "t2 d2", "t2 d3"]),
        ("?view=all&q=t2", ["t2 d1", "t2 d2", "t2 d3"]),
        ("?view=all&q=D3", ["t1 d3", "t2 d3"]),
        ("?view=few&q=query+number", ["t1 d3"]),  # words of the query
        ("?view=all&q=A002+t1", ["t1 d1", "t1 d2"]),  # bob has not judged d3
        ("?view=few&topic=t1", ["t1 d3"]),
        ("?view=all&grade=2", ["t1 d1"]),
        ("?view=gold", ["t2 d2"]),
        ("?view=disputed", ["t1 d2"]),
        ("?view=adjudicated", ["t2 d1"]),
        ("?view=stalled", []),
        ("?view=requested", []),
        (
            "?view=all&sort=-grade",
            ["t2 d2", "t1 d1", "t2 d1", "t1 d2", "t1 d3", "t2 d3"],
        ),  # 3 2 1 0, and without a label last
        ("?view=all&sort=-apart&topic=t1", ["t1 d2", "t1 d1", "t1 d3"]),
        ("?view=all&grade=77", ["t1 d1", "t1 d2", "t1 d3", "t2 d1", "t2 d2", "t2 d3"]),
        ("?view=nonsense", ["t1 d2"]),
    ],
)
def test_the_list_is_searched_filtered_and_sorted(query: str, rows: list[str]) -> None:
    assert listed(campaign_of_every_status(), query) == rows


def test_views_say_how_many_pairs_they_have_and_empty_ones_why() -> None:
    campaign = campaign_of_every_status()
    client, address = manager_of(campaign), f"/campaigns/{campaign.slug}/judgements/"
    page = client.get(address)
    assert {view.key: view.n for view in page.context["views"]} == {
        "disputed": 1,
        "few": 1,
        "stalled": 0,
        "gold": 1,
        "adjudicated": 1,
        "all": 6,
    }
    assert page.context["first_disputed"].document == "d2"
    submission.adjudicate_pair(pair(campaign, "t1", "d2"), 1, reason="", actor=None)
    assert client.get(address).context["view"] == "all"
    assert "No disputed pairs." in client.get(f"{address}?view=disputed").content.decode()


def test_a_stalled_pair_is_in_its_view_after_a_day() -> None:
    campaign = campaign_of_every_status()
    assert listed(campaign, "?view=stalled") == []
    Judgement.objects.update(judged_at=timezone.now() - timedelta(hours=30))
    live._snapshots.clear()  # the past does not change in earnest
    assert listed(campaign, "?view=stalled") == ["t1 d3"]


def test_grades_of_annotators_who_look_random_are_marked() -> None:
    campaign = campaign_of_every_status()
    snapshot = get_snapshot(campaign)
    rows = [row for row in list_pairs(campaign, snapshot) if row.document == "d2"]
    shown = add_texts(campaign, snapshot, rows, doubtful=["A002"])
    votes = [[(one.name, one.grade["value"], one.doubtful) for one in row.votes] for row in shown]
    assert votes == [[("A001", 0, False), ("A002", 3, True)], []]


@pytest.mark.parametrize("old", ["labels/", "labels/list/"])
def test_old_addresses_lead_to_the_page(old: str) -> None:
    campaign = campaign_of_every_status()
    answer = manager_of(campaign).get(f"/campaigns/{campaign.slug}/{old}?topic=t1")
    assert answer.status_code == 301
    assert answer.headers["Location"] == f"/campaigns/{campaign.slug}/judgements/?topic=t1"


def test_relevant_labels_are_counted_by_topic() -> None:
    campaign = campaign_of_every_status()
    page = manager_of(campaign).get(f"/campaigns/{campaign.slug}/judgements/")
    assert [tuple(row) for row in page.context["topics"]] == [
        ("t1", 2, 1, 1, 1),
        ("t2", 2, 1, 0, 1),
    ]  # minimum relevant grade 2 on


def test_the_queue_follows_the_list_and_never_shows_a_pair_again_after_saving() -> None:
    campaign = campaign_of_every_status()
    client, t1d2 = manager_of(campaign), pair(campaign, "t1", "d2")
    page = client.get(
        f"/campaigns/{campaign.slug}/judgements/?view=all&topic=t1&sort=-grade"
    ).content.decode()
    link = next(
        link.replace("&amp;", "&")
        for link in re.findall(r'href="([^"]+)"', page)
        if f"/pairs/{t1d2.pk}/" in link and "topic=" in link
    )
    assert set(link.split("?")[1].split("&")) == {"view=all", "topic=t1", "sort=-grade"}
    queue = client.get(link).context["queue"]
    assert (queue.place, queue.n) == (2, 3)
    assert (queue.before, queue.after) == (
        pair(campaign, "t1", "d1").pk,
        pair(campaign, "t1", "d3").pk,
    )
    saved = client.post(link, {"grade": "3"}).headers["Location"]
    assert saved.startswith(
        f"/campaigns/{campaign.slug}/pairs/{pair(campaign, 't1', 'd1').pk}/?"
    ), "t1 d2 now has the highest label and is first"


def test_after_the_last_disputed_pair_the_list_says_so() -> None:
    campaign = campaign_of_every_status()
    client, t1d2 = manager_of(campaign), pair(campaign, "t1", "d2")
    address = f"/campaigns/{campaign.slug}/pairs/{t1d2.pk}/"
    end = client.post(address, {"grade": "3"}).headers["Location"]
    assert end == f"/campaigns/{campaign.slug}/judgements/?view=disputed"
    page = client.get(end)
    assert page.context["saved"]["pair"] == t1d2
    assert "1 is already adjudicated." in " ".join(page.content.decode().split())
    queue = client.get(address).context["queue"]
    assert (queue.place, queue.n, queue.n_adjudicated, queue.following) == (1, 1, 1, None)


def test_a_pair_outside_the_queue_returns_to_the_list() -> None:
    campaign = campaign_of_every_status()
    address = f"/campaigns/{campaign.slug}/pairs/{pair(campaign, 't1', 'd1').pk}/"
    end = manager_of(campaign).post(address, {"grade": "3"}).headers["Location"]
    assert end == f"/campaigns/{campaign.slug}/judgements/?view=adjudicated"


def test_a_decision_shows_at_once_and_its_withdrawal_too() -> None:
    campaign = campaign_of_every_status()
    client, one = manager_of(campaign), pair(campaign, "t1", "d1")
    for grade in ("0", "3"):
        client.post(f"/campaigns/{campaign.slug}/pairs/{one.pk}/", {"grade": grade})
        assert listed(campaign, f"?view=adjudicated&grade={grade}") == ["t1 d1"]
    client.post(f"/campaigns/{campaign.slug}/pairs/{one.pk}/", {"withdraw": "1"})
    assert listed(campaign, "?view=all&grade=2") == ["t1 d1"]


def test_statements_do_not_grow_with_the_pairs() -> None:
    campaign = campaign_of_every_status(30)
    client, address = manager_of(campaign), f"/campaigns/{campaign.slug}/judgements/?view=all"

    def statements() -> int:
        client.get(address)
        with CaptureQueriesContext(connection) as captured:
            assert client.get(address).status_code == 200
        return len(captured)

    few, cleo = statements(), make_annotator(campaign, "cleo")
    for other in campaign.pairs.filter(kind="normal", counted=0):
        judge_pair(cleo, other, 1, now=timezone.now())
    assert len(listed(campaign, "?view=all")) == 12
    assert statements() == few

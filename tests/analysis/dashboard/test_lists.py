"""The further lists of managers' pages: what their words, choices and headings leave, and how it is
ordered."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from analysis.models import Report
from annotation.models import Campaign, Invitation, Membership
from annotation.services.people import tokens
from tests.analysis.dashboard.test_pages import client_of, manager_of
from tests.builders import judged_campaign, make_user

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("rows_read_anew")]
GRADES = {
    ("t1", "d1"): (0, 3),
    ("t2", "d1"): (0, 2),
    ("t1", "d2"): (1, 1),
    ("t2", "d2"): (1, 3),
    ("t1", "d3"): (2, 3),
    ("t2", "d3"): (3, 3),
}
"""Of two annotators."""


@pytest.fixture
def campaign() -> Campaign:
    return judged_campaign(GRADES)


def further(campaign: Campaign, n: int, *, first: int = 0) -> None:
    users = User.objects.bulk_create(User(username=f"guest{first + i}") for i in range(n))
    rows = [
        Membership(campaign=campaign, user=user, role="annotator", pseudonym=f"B{i:03}")
        for i, user in enumerate(users, first)
    ]
    Membership.objects.bulk_create(rows)


def listed(campaign: Campaign, address: str, name: str) -> list:
    return list(manager_of(campaign).get(f"/campaigns/{campaign.slug}/{address}").context[name])


def test_differences_of_an_annotator_are_found_by_words_and_by_own_grade(campaign):
    name = campaign.memberships.filter(role="annotator").order_by("pk").first().pseudonym

    def pairs(query: str) -> list[str]:
        return [
            f"{d.topic} {d.docno}"
            for d in listed(campaign, f"people/{name}/{query}", "differences")
        ]

    assert pairs("")[0] == "t1 d1"
    assert pairs("?sort=-topic")[:2] == ["t2 d1", "t2 d2"]
    assert pairs("?own=2") == ["t1 d3"]
    assert sorted(pairs("?q=number+2")) == ["t2 d1", "t2 d2"]


def test_known_pairs_and_answers_to_them_are_lists(campaign):
    for pair, kind in zip(
        campaign.pairs.order_by("entry__topic__topic_id", "entry__docno"),
        ["gold", "gold", "gold", "everyone"],
        strict=False,
    ):
        type(pair).objects.filter(pk=pair.pk).update(kind=kind, gold_grade=1)

    def known(query: str) -> list[str]:
        return [
            f"{pair.entry.topic.topic_id} {pair.entry.docno}"
            for pair in listed(campaign, f"gold/{query}", "known")
        ]

    assert known("?known-sort=-right")[0] == "t1 d2"  # both said 1
    assert known("?known-kind=everyone") == ["t2 d1"]
    assert known("?known-q=t1+d3") == ["t1 d3"]
    assert known("?known-sort=document") == ["t1 d1", "t2 d1", "t1 d2", "t1 d3"]
    first, second = (
        m.pseudonym for m in campaign.memberships.filter(role="annotator").order_by("pseudonym")
    )
    assert [row[0].pseudonym for row in listed(campaign, "gold/?result-sort=-name", "results")] == [
        second,
        first,
    ]
    assert [
        row[0].pseudonym for row in listed(campaign, f"gold/?result-q={second}", "results")
    ] == [second]


def test_the_gold_page_of_many_annotators_asks_no_more_of_the_database(campaign):
    client = manager_of(campaign)

    def statements(query: str) -> int:
        with CaptureQueriesContext(connection) as asked:
            assert client.get(f"/campaigns/{campaign.slug}/{query}").status_code == 200
        return len(asked)

    addresses = (
        "gold/",
        "gold/?known-sort=judged",
        "invitations/",
        "invitations/?member-q=B00",
        "judgements/?q=d1",
    )
    further(campaign, 3)
    Invitation.objects.create(
        campaign=campaign, role="annotator", name="guest", token="t", code="c"
    )
    for query in addresses:
        statements(query)  # what is remembered is made
    few = {query: statements(query) for query in addresses}
    further(campaign, 300, first=3)
    Invitation.objects.bulk_create(
        Invitation(
            campaign=campaign, role="annotator", name=f"guest {i:03}", token=f"t{i}", code=f"c{i}"
        )
        for i in range(300)
    )
    assert {query: statements(query) for query in addresses} == few


def test_invitations_and_members_are_lists_of_fifty(campaign):
    further(campaign, 60)
    Invitation.objects.bulk_create(
        Invitation(
            campaign=campaign,
            role="annotator",
            name=f"guest {i:02}",
            token=f"t{i}",
            code=f"c{i}",
            n_uses=i,
        )
        for i in range(60)
    )
    page = "invitations/"
    assert len(listed(campaign, page, "invitations")) == 50
    assert [i.name for i in listed(campaign, page + "?invited-sort=-used", "invitations")][:2] == [
        "guest 59",
        "guest 58",
    ]
    assert [i.name for i in listed(campaign, page + "?invited-q=guest+07", "invitations")] == [
        "guest 07"
    ]
    assert [m.role for m in listed(campaign, page + "?member-role=manager", "members")] == [
        "manager"
    ]
    assert [
        m.pseudonym
        for m in listed(campaign, page + "?member-sort=account&member-q=guest1", "members")
    ][:2] == ["B001", "B010"]


def test_used_invitations_are_listed_as_accepted_and_the_settings_lead_to_them(campaign):
    common = {"campaign": campaign, "role": "annotator", "max_uses": 1}
    Invitation.objects.create(name="Ada", token="a", code="a", n_uses=1, **common)
    Invitation.objects.create(name="Bob", token="b", code="b", n_uses=0, **common)
    assert [i.name for i in listed(campaign, "invitations/", "invitations")] == ["Bob"]
    assert [i.name for i in listed(campaign, "invitations/", "accepted")] == ["Ada"]
    old = manager_of(campaign).get(f"/campaigns/{campaign.slug}/settings/people/")
    assert old.headers["Location"] == f"/campaigns/{campaign.slug}/invitations/"


def test_reports_are_found_by_title_kind_and_state(campaign):
    for i in range(7):
        done = timezone.now() if i else None
        Report.objects.create(
            collection=campaign.collection,
            campaign=campaign,
            kind="unjudged" if i == 3 else "evaluate",
            title=f"Scores {i}",
            seed=i,
            finished_at=done,
        )

    def titles(query: str) -> list[str]:
        return [report.title[-1] for report in listed(campaign, f"systems/{query}", "reports")]

    assert titles("") == list("6543210")
    assert titles("?sort=title&state=done") == list("123456")
    assert titles("?kind=unjudged") == ["3"]
    assert titles("?q=scores+5&measure=AP") == ["5"]


def test_administrators_find_people_by_right_and_tokens_by_status():
    root, ada = make_user("root", superuser=True), make_user("ada", may_create=True)
    make_user("bob")
    tokens.create_api_token(user=ada, name="old", days=-1)
    tokens.create_api_token(user=ada, name="good")
    client = client_of(root)
    assert [
        user.username for user in client.get("/accounts?who=creators&sort=-name").context["people"]
    ] == ["root", "ada"]
    assert [user.username for user in client.get("/accounts?q=B").context["people"]] == ["bob"]
    assert "No matches." in client.get("/accounts?q=zz").content.decode()
    sessions = "/installation/sessions"
    assert [
        token.name
        for token in client.get(f"{sessions}?name=ada&token-status=over").context["tokens"]
    ] == ["old"]
    assert [
        token.name
        for token in client.get(f"{sessions}?token-q=good&token-sort=user").context["tokens"]
    ] == ["good"]
    assert (
        client.post(
            f"{sessions}?name=ada&token-status=over", {"action": "token", "number": "0"}
        ).url
        == f"{sessions}?name=ada&token-status=over"
    )

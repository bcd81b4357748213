"""Pages of managers where thousands annotate: what is sent and what is asked of the database is
bounded by the page, not by how many there are."""

from __future__ import annotations

import uuid

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.models import F
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import Campaign, Judgement, Membership
from annotation.selectors.judging import check_invariants
from tests.analysis.dashboard.test_pages import manager_of
from tests.builders import make_campaign

pytestmark = pytest.mark.django_db
MOST_BYTES = 300_000
PAGES = [
    "/",
    "",
    "live",
    "people/",
    "gold/",
    "agreement/",
    "judgements/",
    "feedback/",
    "audit/",
    "questions/",
    "readers/",
]
"""The first is Home, all others are the campaign's."""


def with_judging(n: int) -> tuple[Campaign, Client]:
    """A campaign in which so many have judged two pairs each."""
    campaign = make_campaign(
        n_topics=n // 75, n_documents=50, judgements_per_pair=3, target_per_annotator=20
    )  # 2 n / 3 pairs
    users = User.objects.bulk_create(
        User(username=f"annotator{i}-of-{n}", email=f"annotator{i}@example.org") for i in range(n)
    )
    members = Membership.objects.bulk_create(
        Membership(
            campaign=campaign, user=user, role="annotator", pseudonym=f"A{i + 1:04}", n_judged=2
        )
        for i, user in enumerate(users)
    )
    pairs, now = list(campaign.pairs.order_by("pk")), timezone.now()
    Judgement.objects.bulk_create(
        Judgement(
            key=uuid.uuid4(),
            pair=pairs[(2 * i + k) % len(pairs)],
            membership=member,
            grade=(i + k) % 3,
            active_ms=9000 + i,
            judged_at=now,
        )
        for i, member in enumerate(members)
        for k in range(2)
    )
    campaign.pairs.update(counted=F("needed"), open_slots=0, started=True)
    assert check_invariants(campaign) == []
    return campaign, manager_of(campaign)


def looked(campaign: Campaign, client: Client) -> dict[str, tuple[int, int]]:
    """(bytes, statements) of each page, once it has been opened."""
    figures = {}
    for page in PAGES:
        address = page if page == "/" else f"/campaigns/{campaign.slug}/{page}"
        assert client.get(address).status_code == 200, address
        with CaptureQueriesContext(connection) as asked:
            answer = client.get(address)
        assert answer.status_code == 200, address
        figures[page] = len(answer.content), len(asked)
    return figures


@pytest.mark.slow
def test_pages_for_thousands_are_as_small_as_for_hundreds_and_ask_as_much():
    few, most = (
        looked(*with_judging(n)) for n in (900, 2700)
    )  # each with the ten topics from which on stopping is advised
    assert {page: n_bytes for page, (n_bytes, _) in most.items() if n_bytes > MOST_BYTES} == {}
    # Where many judge one statement more asks what a manager did last.
    assert {page: n for page, (_, n) in most.items() if n > few[page][1] + 2} == {}


def test_of_the_overlap_the_least_connected_are_listed_first_fifty_on_a_page():
    campaign, client = with_judging(150)
    page = client.get(f"/campaigns/{campaign.slug}/agreement/").content.decode()
    listed = page[
        page.index('aria-label="Overlap"') : page.index('aria-label="Pages of annotators"')
    ]
    assert listed.count('<th scope="row"') == 50
    assert "1 to 50 of 150" in " ".join(page.split())

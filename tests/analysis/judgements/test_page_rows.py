"""Of a large campaign managers see the same rows for some seconds, and what they have done
themselves at once."""

from __future__ import annotations

import pytest

from analysis.dashboard.annotators import list_annotators
from analysis.judgements import live as kept
from analysis.judgements import page_rows as pages
from analysis.judgements.live import get_snapshot
from analysis.judgements.page_rows import figures_as_of, get_page_snapshot
from annotation.services.people import exclusion
from annotation.services.people.accounts import add_member
from tests.analysis.dashboard.test_pages import manager_of, text_of
from tests.builders import judge, make_annotator, make_campaign, make_user

pytestmark = pytest.mark.django_db


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(kept, "clock", clock)
    monkeypatch.setattr(kept, "FRESH_SECONDS", 0.0)
    kept._snapshots.clear()
    yield clock
    kept._snapshots.clear()


@pytest.fixture
def large(monkeypatch):
    """Two annotators are many."""
    monkeypatch.setattr(pages, "LARGE_PEOPLE", 2)


def judged():
    campaign = make_campaign(n_topics=3, n_documents=4)
    ada, bob = make_annotator(campaign), make_annotator(campaign)
    for grade in (0, 1):
        judge(ada, grade)
        judge(bob, grade)
    for _ in range(
        2
    ):  # with the first it is known how large it is, with the second what a manager did last
        get_page_snapshot(campaign)
    return campaign, ada, bob


def test_the_rows_of_a_small_campaign_are_those_of_now():
    campaign, ada, _ = judged()
    judge(ada, 2)
    assert len(get_page_snapshot(campaign).rows) == 5
    assert figures_as_of(get_page_snapshot(campaign)) is None


def test_the_rows_of_a_large_one_stay_for_some_seconds_and_what_is_computed_of_them_is_computed_once(
    large, clock
):
    campaign, ada, _ = judged()
    computed = []
    for _ in range(3):
        judge(ada, 2)
        clock.now += 3.0
        shown = get_page_snapshot(campaign)
        shown.derived("n", lambda shown=shown: computed.append(len(shown.rows)))
    assert computed == [4]
    clock.now += pages.PAGE_CACHE_SECONDS
    assert len(get_page_snapshot(campaign).rows) == 7


def test_rows_that_are_shown_do_not_change_when_others_read_newer_ones(large):
    campaign, ada, _ = judged()
    shown = get_page_snapshot(campaign)
    judge(ada, 2)
    assert len(get_snapshot(campaign).rows) == 5
    assert len(shown.rows) == len(get_page_snapshot(campaign).rows) == 4


def test_what_a_manager_has_done_is_seen_at_once(large):
    campaign, ada, bob = judged()
    boss = campaign.memberships.get(role="manager").user
    assert [person.n for person in list_annotators(campaign)] == [2, 2]
    exclusion.exclude_annotator(bob, actor=boss, reason="careless")
    assert [(person.n, person.membership.standing) for person in list_annotators(campaign)] == [
        (2, "active"),
        (0, "excluded"),
    ]
    judge(ada, 2)
    assert [person.n for person in list_annotators(campaign)] == [2, 0]


def test_who_joins_changes_nothing_of_what_is_shown(large):
    campaign, *_ = judged()
    shown = get_page_snapshot(campaign)
    add_member(campaign=campaign, user=make_user(), role="annotator")
    assert get_page_snapshot(campaign) is shown


def test_a_page_says_of_when_its_figures_are_once_that_is_a_few_seconds_ago(large, clock):
    campaign, *_ = judged()
    client = manager_of(campaign)
    for page in ("", "people/", "agreement/", "time/", "labels/"):
        address = f"/campaigns/{campaign.slug}/{page}"
        kept._snapshots.clear()
        assert "Figures as of" not in text_of(client.get(address))
        assert "Figures as of" not in text_of(client.get(address))
        clock.now += pages.AGE_SHOWN_AFTER_SECONDS
        assert "Figures as of" in text_of(client.get(address))

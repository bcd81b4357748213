"""Of a large campaign managers see the same rows for some seconds, and what they have done
themselves at once."""

from __future__ import annotations

import threading

import pytest

from analysis.dashboard.annotators import list_annotators
from analysis.judgements import live as kept
from analysis.judgements.live import get_snapshot
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
    monkeypatch.setattr(kept, "LARGE_PEOPLE", 2)


def judged():
    campaign = make_campaign(n_topics=3, n_documents=4)
    ada, bob = make_annotator(campaign), make_annotator(campaign)
    for grade in (0, 1):
        judge(ada, grade)
        judge(bob, grade)
    get_snapshot(campaign)
    return campaign, ada, bob


def test_the_rows_of_a_small_campaign_are_those_of_now():
    campaign, ada, _ = judged()
    judge(ada, 2)
    assert len(get_snapshot(campaign).rows) == 5
    assert get_snapshot(campaign).as_of is None


def test_the_rows_of_a_large_one_stay_for_some_seconds_and_what_is_computed_of_them_is_computed_once(
    large, clock
):
    campaign, ada, _ = judged()
    computed = []
    for _ in range(3):
        judge(ada, 2)
        clock.now += 2.0
        shown = get_snapshot(campaign)
        shown.derived("n", lambda shown=shown: computed.append(len(shown.rows)))
    assert computed == [4]
    clock.now += kept.FRESH_SECONDS_LARGE
    assert len(get_snapshot(campaign).rows) == 7


def test_rows_that_are_shown_do_not_change_when_others_read_newer_ones(large):
    campaign, ada, _ = judged()
    shown = get_snapshot(campaign)
    judge(ada, 2)
    assert len(get_snapshot(campaign).rows) == 4
    assert len(get_snapshot(campaign, fresh=0.0).rows) == 5
    assert len(shown.rows) == 4


def test_what_a_manager_has_done_is_seen_at_once(large):
    campaign, ada, bob = judged()
    boss = campaign.memberships.get(role="manager").user
    assert [person.n for person in list_annotators(campaign)] == [2, 2]
    exclusion.exclude_annotator(bob, actor=boss, reason="careless")
    assert [(person.n, person.membership.status) for person in list_annotators(campaign)] == [
        (2, "active"),
        (0, "excluded"),
    ]
    judge(ada, 2)
    assert [person.n for person in list_annotators(campaign)] == [2, 0]


def test_what_a_manager_has_done_is_seen_at_once_of_small_ones_too(monkeypatch):
    monkeypatch.setattr(kept, "FRESH_SECONDS", 60.0)
    campaign, _, bob = judged()
    exclusion.exclude_annotator(bob, actor=None, reason="careless")
    assert get_snapshot(campaign).rows.counts.sum() == 2


def test_figures_are_at_most_five_seconds_old_and_of_large_campaigns_ten():
    """On a page that asks again every REFRESH seconds, and waits 0.2 s for the answer."""
    assert kept.REFRESH + 1.5 + 0.2 <= 5.0
    assert kept.REFRESH + kept.FRESH_SECONDS_LARGE + 0.2 <= 10.0


def test_one_thread_reads_while_the_others_wait_for_it(monkeypatch):
    campaign, *_ = judged()
    calls, begun, end = [], threading.Event(), threading.Event()
    known = get_snapshot(campaign)

    def read(*_):
        calls.append(1)
        begun.set()
        assert end.wait(10)
        return known

    monkeypatch.setattr(kept, "_count_audit_events", lambda _: known.audit)
    monkeypatch.setattr(kept, "_read_new_rows", read)
    threads = [
        threading.Thread(target=get_snapshot, args=(campaign,), kwargs={"fresh": 0.5})
        for _ in range(5)
    ]
    kept.clock.now += 1.0
    threads[0].start()
    assert begun.wait(10)
    for thread in threads[1:]:
        thread.start()
    threads[1].join(0.2)
    assert threads[1].is_alive()
    end.set()
    for thread in threads:
        thread.join(10)
    assert not any(thread.is_alive() for thread in threads)


def test_campaigns_used_longest_ago_make_room(monkeypatch):
    first, *_ = judged()
    second, *_ = judged()
    assert len(kept._snapshots) == 2
    monkeypatch.setattr(kept, "MAX_ROWS", 20)
    get_snapshot(first)
    assert [campaign for _, campaign in kept._snapshots] == [first.pk]
    get_snapshot(second)
    get_snapshot(second)
    assert [campaign for _, campaign in kept._snapshots] == [second.pk]


def test_who_joins_changes_nothing_of_what_is_shown(large):
    campaign, *_ = judged()
    shown = get_snapshot(campaign)
    add_member(campaign=campaign, user=make_user(), role="annotator")
    assert get_snapshot(campaign) is shown


def test_a_page_says_of_when_its_figures_are_once_that_is_a_few_seconds_ago(large, clock):
    campaign, *_ = judged()
    client = manager_of(campaign)
    for page in ("", "people/", "agreement/", "judgements/"):
        address = f"/campaigns/{campaign.slug}/{page}"
        kept._snapshots.clear()
        assert "these numbers are updated every few seconds" not in text_of(client.get(address))
        assert "these numbers are updated every few seconds" not in text_of(client.get(address))
        clock.now += kept.AGE_SHOWN_AFTER_SECONDS
        assert "these numbers are updated every few seconds" in text_of(client.get(address))

"""The claim in one statement beside the claim statement by statement: the same pair, the same rows, the same reason.

Run by tests/annotation/test_on_postgresql.py; the statement exists on PostgreSQL only.
"""

from __future__ import annotations

import random
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from annotation.models import Lease, Membership, Pair, Skip
from annotation.selectors.judging import audit_invariants
from annotation.services import campaigns, scheduling
from annotation.services.claim_at_once import claim_at_once
from tests.builders import judge, make_annotator, make_campaign, make_manager, submit

pytestmark = pytest.mark.django_db


def rows_after(claim, member):
    """What a claim by a fresh copy of the membership leaves behind, which is undone: (lease, pair, membership), None without a lease."""
    member = Membership.objects.select_related("campaign").get(pk=member.pk)
    with transaction.atomic():
        lease = claim(member)
        found = None
        if lease is not None:
            stored = Lease.objects.filter(pk=lease.pk).values().get()
            assert stored["why"] == lease.why
            assert stored["token"] == lease.token
            told = (lease.pair_id, lease.takes_slot, lease.served_at, lease.expires_at, lease.state, lease.membership_id)
            del stored["token"], stored["id"]
            own = Membership.objects.filter(pk=member.pk).values().get()
            assert (own["n_served"], own["current_topic_id"], own["block_served"]) == (
                member.n_served,
                member.current_topic_id,
                member.block_served,
            )
            found = (told, stored, Pair.objects.filter(pk=lease.pair_id).values().get(), own)
        transaction.set_rollback(True)
    return found


def by_statements(member, now, at_most=None):
    return scheduling._claim(member, now, at_most=at_most, reap=True, wait=False)


@pytest.mark.parametrize("seed", range(12))
def test_both_ways_take_the_same_pair_for_the_same_reason(seed):
    draw = random.Random(seed)
    campaign = make_campaign(
        n_topics=draw.randint(2, 6),
        n_documents=draw.randint(4, 8),
        judgements_per_pair=draw.randint(1, 3),
        block_length=draw.choice([1, 2, 3, 50]),
        target_per_annotator=draw.choice([0, 10]),
        lease_minutes=600,
        gold_every=4,
    )
    for pair in draw.sample(list(campaign.pairs.order_by("pk")), k=draw.choice([0, 2])):
        campaigns.set_kind(pair, Pair.Kind.EVERYONE)
    campaign.refresh_from_db()
    members = [make_annotator(campaign, seed=100 * seed + i) for i in range(4)]
    now, ordinary, seen = timezone.now(), 0, set()
    for _ in range(60):
        member = Membership.objects.select_related("campaign").get(pk=draw.choice(members).pk)
        at_once = rows_after(lambda m, now=now: claim_at_once(m, now, at_most=None), member)
        slowly = rows_after(lambda m, now=now: by_statements(m, now), member)
        if at_once is not None:
            ordinary += 1
            assert at_once == slowly
            seen.add(at_once[1]["why"]["rule"])
        elif slowly is not None:
            why = slowly[1]["why"]["rule"]  # a pair of everybody's or one put aside; or the turn of the former, of which none is left
            assert campaign.n_everyone or "highest priority" not in why
        lease = scheduling.claim(member, now=now)
        if lease is not None and (act := draw.random()) < 0.6:
            submit(member, lease, 1, now=now)
        elif lease is not None and act < 0.7:
            Skip.objects.get_or_create(pair_id=lease.pair_id, membership=member)
        now += timedelta(seconds=20)
    assert ordinary > 5
    assert seen
    assert audit_invariants(campaign) == []


def test_both_ways_finish_started_pairs_and_open_new_ones_alike():
    campaign = make_campaign(n_topics=3, n_documents=2, judgements_per_pair=2, block_length=2)
    ada, bob, now = make_annotator(campaign), make_annotator(campaign), timezone.now()
    rules = []
    for member in (ada, ada, ada, bob, bob, bob):
        fresh = Membership.objects.select_related("campaign").get(pk=member.pk)
        assert rows_after(lambda m: claim_at_once(m, now, at_most=None), fresh) == rows_after(lambda m: by_statements(m, now), fresh)
        lease = claim_at_once(fresh, now, at_most=None)
        rules.append((Pair.objects.get(pk=lease.pair_id).entry.topic.topic_id, lease.why["rule"]))
    new, started = "highest priority, open a new pair", "highest priority, finish started pairs"
    assert rules[:3] == [
        ("t1", f"{new}, then the pool's order"),
        ("t2", f"{new}, then the pool's order"),
        ("t3", f"{new}, then the pool's order"),
    ]
    assert [rule for _, rule in rules[3:]] == [f"{started}, then the pool's order"] * 3


def test_a_block_is_kept_and_left_in_one_statement_too():
    campaign = make_campaign(n_topics=2, n_documents=4, judgements_per_pair=1, block_length=2)
    Pair.objects.filter(campaign=campaign).update(priority=1)
    ada, rules = make_annotator(campaign), []
    for _ in range(4):
        lease = claim_at_once(ada, timezone.now(), at_most=None)
        rules.append((Pair.objects.get(pk=lease.pair_id).entry.topic.topic_id, lease.why["rule"].rpartition(", ")[2]))
    assert rules == [
        ("t1", "then the pool's order"),
        ("t1", "stay with the topic"),
        ("t2", "then the pool's order"),
        ("t2", "then the pool's order"),  # of its own topic, and the first of all
    ]
    [first, *_] = Pair.objects.filter(campaign=campaign, open_slots=1).order_by("position")
    bob = make_annotator(campaign, current_topic_id=first.topic_row, block_served=2)
    lease = claim_at_once(bob, timezone.now(), at_most=None)
    assert lease.why["rule"] == "highest priority, open a new pair, the topic's block is full"
    assert Pair.objects.get(pk=lease.pair_id).topic_row != first.topic_row
    assert bob.block_served == 1


def test_an_ordinary_claim_is_one_statement(monkeypatch):
    monkeypatch.setattr(scheduling, "_claim", lambda *a, **k: pytest.fail("the claim was made statement by statement"))
    campaign = make_campaign(n_topics=2, n_documents=5, judgements_per_pair=1)
    ada = make_annotator(campaign)
    assert len({scheduling.claim(ada).pair_id for _ in range(4)}) == 4
    assert ada.n_served == Membership.objects.get(pk=ada.pk).n_served == 4


def test_behind_a_pooler_it_is_the_same_statement_unprepared(monkeypatch):
    monkeypatch.setitem(connection.settings_dict, "DISABLE_SERVER_SIDE_CURSORS", True)
    ada, now = make_annotator(make_campaign(n_topics=2, n_documents=5)), timezone.now()
    for _ in range(3):
        assert rows_after(lambda m: claim_at_once(m, now, at_most=4), ada) == rows_after(lambda m: by_statements(m, now), ada)
        assert scheduling.claim(ada, now=now) is not None


def takes_nothing(member, now=None, at_most=None):
    before = (
        list(Pair.objects.order_by("pk").values()),
        list(Lease.objects.order_by("pk").values()),
        Membership.objects.filter(pk=member.pk).values().get(),
    )
    assert claim_at_once(member, now or timezone.now(), at_most=at_most) is None
    assert (
        list(Pair.objects.order_by("pk").values()),
        list(Lease.objects.order_by("pk").values()),
        Membership.objects.filter(pk=member.pk).values().get(),
    ) == before


@pytest.mark.parametrize(
    "change",
    [
        {"standing": "paused"},
        {"standing": "excluded"},
        {"n_served": 7},
        {"block_served": 3},
        {"current_topic_id": 1},
        {"topic_ids": [1]},
    ],
)
def test_nothing_is_taken_where_the_membership_has_changed_since(change):
    ada = make_annotator(make_campaign())
    Membership.objects.filter(pk=ada.pk).update(**change)
    takes_nothing(ada)


def test_nothing_is_taken_while_a_lease_has_expired_which_the_claim_then_gives_back():
    campaign = make_campaign(n_topics=1, n_documents=1, judgements_per_pair=1, lease_minutes=10)
    ada, bob, now = make_annotator(campaign), make_annotator(campaign), timezone.now()
    first = scheduling.claim(ada, now=now)
    later = now + timedelta(minutes=10)
    takes_nothing(bob, later)
    assert scheduling.claim(bob, now=later).pair_id == first.pair_id


def test_nothing_is_taken_past_the_leases_one_may_hold():
    ada = make_annotator(make_campaign())
    for _ in range(2):
        assert claim_at_once(ada, timezone.now(), at_most=2) is not None
    takes_nothing(ada, at_most=2)
    assert scheduling.claim(ada, at_most=2) is None
    assert scheduling.claim(ada, at_most=3) is not None


def test_nothing_is_taken_where_the_rule_needs_more_than_one_look():
    now = timezone.now()
    restricted = make_campaign()
    takes_nothing(make_annotator(restricted, topic_ids=[restricted.collection.topics.first().pk]))
    takes_nothing(make_annotator(make_campaign(deadline=now + timedelta(hours=2), closing_hours=24)))
    takes_nothing(make_annotator(make_campaign(min_common=3, min_partners=1)))


def test_nothing_is_taken_in_a_transaction_that_is_broken():
    ada = make_annotator(make_campaign())
    with transaction.atomic():
        transaction.set_rollback(True)
        with pytest.raises(transaction.TransactionManagementError):
            claim_at_once(ada, timezone.now(), at_most=None)
        transaction.set_rollback(False)


def test_what_another_claim_has_put_aside_or_judged_is_not_taken():
    campaign = make_campaign(n_topics=1, n_documents=3, judgements_per_pair=2)
    ada, pairs = make_annotator(campaign), list(campaign.pairs.order_by("position"))
    judge(ada, 1)
    Skip.objects.create(pair=pairs[1], membership=ada)
    ada.refresh_from_db()
    lease = claim_at_once(ada, timezone.now(), at_most=None)
    assert lease.pair_id == pairs[2].pk
    takes_nothing(ada)
    assert scheduling.claim(ada).why["rule"] == "put aside earlier, nothing else is left"
    assert connection.vendor == "postgresql"
    assert make_manager(campaign).role == "manager"

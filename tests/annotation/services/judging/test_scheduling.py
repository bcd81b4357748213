"""Who gets what next. Campaigns of the builder: document di has rank i, so priority 10 - i; topics
t1, t2, … in their order."""

from __future__ import annotations

import random
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from annotation.core import rank_windows
from annotation.models import Lease, Pair, Skip
from annotation.selectors.judging import check_invariants
from annotation.services.campaigns import lifecycle
from annotation.services.judging import assignment, leases, scheduling, submission
from tests.builders import judge, judge_pair, make_annotator, make_campaign, submit

pytestmark = pytest.mark.django_db


def names(lease):
    entry = lease.pair.entry
    return f"{entry.topic.topic_id} {entry.docno}"


def served(member, n, grade=1):
    """The pairs that the annotator gets when judging n of them one after the other."""
    found = []
    for _ in range(n):
        lease = scheduling.claim_pair(member)
        found.append(names(lease))
        submit(member, lease, grade)
    return found


def test_pairs_come_by_priority_and_then_in_the_pools_order():
    campaign = make_campaign(n_topics=2, n_documents=3, judgements_per_pair=1, block_length=1)
    assert served(make_annotator(campaign), 6) == [
        "t1 d1",
        "t2 d1",
        "t1 d2",
        "t2 d2",
        "t1 d3",
        "t2 d3",
    ]


def test_a_started_pair_is_finished_before_one_of_the_same_priority_is_opened():
    campaign = make_campaign(n_topics=4, n_documents=1, judgements_per_pair=2)
    ada, bob = make_annotator(campaign), make_annotator(campaign)
    third = Pair.objects.get(entry__topic__topic_id="t3")
    judge_pair(ada, third, 1, now=timezone.now())
    assert served(bob, 4) == ["t3 d1", "t1 d1", "t2 d1", "t4 d1"]


def test_a_higher_priority_comes_before_a_started_pair():
    campaign = make_campaign(n_topics=1, n_documents=2, judgements_per_pair=2, band=1)
    ada, bob = make_annotator(campaign), make_annotator(campaign)
    judge_pair(ada, Pair.objects.get(entry__docno="d2"), 1, now=timezone.now())
    assert served(bob, 2) == ["t1 d1", "t1 d2"]


def test_nobody_gets_a_pair_twice_and_a_pair_no_more_than_it_needs():
    campaign = make_campaign(n_topics=2, n_documents=2, judgements_per_pair=2)
    members = [make_annotator(campaign) for _ in range(3)]
    given = [
        names(lease)
        for member in members
        for lease in iter(lambda m=member: scheduling.claim_pair(m), None)
    ]
    assert len(given) == 8
    assert all(given.count(pair) == 2 for pair in given)
    assert check_invariants(campaign) == []


def test_live_leases_count_as_judgements_to_come():
    campaign = make_campaign(n_topics=1, n_documents=1, judgements_per_pair=1)
    ada, bob = make_annotator(campaign), make_annotator(campaign)
    assert scheduling.claim_pair(ada) is not None
    assert scheduling.claim_pair(bob) is None


def test_the_slot_of_an_expired_lease_is_given_to_the_next_who_asks():
    campaign = make_campaign(n_topics=1, n_documents=1, judgements_per_pair=1, lease_minutes=10)
    ada, bob = make_annotator(campaign), make_annotator(campaign)
    now = timezone.now()
    first = scheduling.claim_pair(ada, now=now)
    assert scheduling.claim_pair(bob, now=now + timedelta(minutes=9, seconds=59)) is None
    second = scheduling.claim_pair(bob, now=now + timedelta(minutes=10))
    assert second.pair_id == first.pair_id
    first.refresh_from_db()
    assert first.state == Lease.State.EXPIRED
    assert check_invariants(campaign) == []


def test_a_renewed_lease_lasts_longer_and_a_released_one_ends():
    campaign = make_campaign(n_topics=1, n_documents=2, judgements_per_pair=1, lease_minutes=10)
    ada, bob = make_annotator(campaign), make_annotator(campaign)
    now = timezone.now()
    kept, dropped = scheduling.claim_pair(ada, now=now), scheduling.claim_pair(ada, now=now)
    known = leases.renew_leases(ada, [kept.token], now=now + timedelta(minutes=9))
    assert known[str(kept.token)].expires_at == now + timedelta(minutes=19)
    assert leases.release_leases(ada, [dropped.token]) == 1
    assert scheduling.claim_pair(bob, now=now + timedelta(minutes=12)).pair_id == dropped.pair_id
    assert scheduling.claim_pair(bob, now=now + timedelta(minutes=12)) is None
    assert check_invariants(campaign) == []


def test_an_annotator_stays_with_a_topic_until_its_block_is_full():
    # Four documents of equal rank, so every pair has the same priority and nothing is started.
    campaign = make_campaign(
        n_topics=2, n_documents=4, judgements_per_pair=1, ranks=[1, 1, 1, 1], block_length=3
    )
    # The pool's order alternates between the topics here.
    assert served(make_annotator(campaign), 8) == [
        "t1 d1",
        "t1 d2",
        "t1 d3",
        "t2 d1",
        "t2 d2",
        "t2 d3",
        "t1 d4",
        "t2 d4",
    ]


def test_without_blocks_the_pools_order_is_followed():
    campaign = make_campaign(
        n_topics=2, n_documents=2, judgements_per_pair=1, ranks=[1, 1], block_length=1
    )
    assert served(make_annotator(campaign), 4) == ["t1 d1", "t2 d1", "t1 d2", "t2 d2"]


def test_with_bands_of_one_priority_a_block_never_overrides_priority():
    campaign = make_campaign(
        n_topics=2, n_documents=2, judgements_per_pair=1, block_length=10, band=1
    )
    assert served(make_annotator(campaign), 4) == ["t1 d1", "t2 d1", "t2 d2", "t1 d2"]


def test_near_the_deadline_pairs_with_judgements_come_first():
    now = timezone.now()
    campaign = make_campaign(
        n_topics=1,
        n_documents=3,
        judgements_per_pair=2,
        deadline=now + timedelta(hours=30),
        closing_hours=24,
        band=1,
    )
    ada, bob = make_annotator(campaign), make_annotator(campaign)
    judge_pair(ada, Pair.objects.get(entry__docno="d3"), 1, now=now)
    assert names(scheduling.claim_pair(bob, now=now)) == "t1 d1"
    late = scheduling.claim_pair(bob, now=now + timedelta(hours=7))
    assert names(late) == "t1 d3"
    assert late.why["rule"] == "the deadline is near: finish what has judgements"


def test_a_pair_put_aside_comes_back_when_nothing_else_is_left():
    campaign = make_campaign(n_topics=1, n_documents=3, judgements_per_pair=1, block_length=1)
    ada = make_annotator(campaign)
    first = scheduling.claim_pair(ada)
    submission.skip_pair(ada, lease=first.token)
    second = scheduling.claim_pair(ada)
    submission.skip_pair(ada, lease=second.token)
    assert served(ada, 3) == ["t1 d3", "t1 d1", "t1 d2"]
    assert scheduling.claim_pair(ada) is None
    assert not Skip.objects.exists()
    assert check_invariants(campaign) == []


def test_an_annotator_restricted_to_topics_gets_only_these_in_their_order():
    campaign = make_campaign(n_topics=4, n_documents=2, judgements_per_pair=1, block_length=1)
    topics = list(
        campaign.collection.topics.filter(topic_id__in=["t2", "t4"]).values_list("pk", flat=True)
    )
    assert served(make_annotator(campaign, topic_rows=topics), 4) == [
        "t2 d1",
        "t4 d1",
        "t2 d2",
        "t4 d2",
    ]


def test_a_restricted_annotator_also_finishes_started_pairs_first():
    campaign = make_campaign(n_topics=4, n_documents=1, judgements_per_pair=2, block_length=1)
    topics = list(
        campaign.collection.topics.filter(topic_id__in=["t2", "t4"]).values_list("pk", flat=True)
    )
    judge_pair(
        make_annotator(campaign),
        Pair.objects.get(entry__topic__topic_id="t4"),
        1,
        now=timezone.now(),
    )
    assert served(make_annotator(campaign, topic_rows=topics), 2) == ["t4 d1", "t2 d1"]


def test_gold_pairs_are_spread_over_the_sequence_and_take_no_slot():
    campaign = make_campaign(
        n_topics=4, n_documents=15, judgements_per_pair=1, gold_every=10, target_per_annotator=40
    )
    for pair in Pair.objects.order_by("-position")[:6]:
        lifecycle.set_pair_kind(pair, Pair.Kind.GOLD, gold_grade=3, explanation="known")
    campaign.refresh_from_db()
    assert campaign.n_gold == 6
    ada = make_annotator(campaign)
    kinds = []
    for _ in range(40):
        lease = scheduling.claim_pair(ada)
        kinds.append(lease.pair.kind)
        assert lease.takes_slot == (lease.pair.kind == Pair.Kind.NORMAL)
        submit(ada, lease, 1)
    places = [place for place, kind in enumerate(kinds) if kind == Pair.Kind.GOLD]
    assert [place // 10 for place in places] == [0, 1, 2, 3]
    assert check_invariants(campaign) == []


def test_everyone_pairs_are_judged_by_every_annotator_though_the_pair_needs_one():
    campaign = make_campaign(
        n_topics=2, n_documents=10, judgements_per_pair=1, target_per_annotator=8
    )
    special = list(Pair.objects.order_by("-position")[:2])
    for pair in special:
        lifecycle.set_pair_kind(pair, Pair.Kind.EVERYONE)
    campaign.refresh_from_db()
    for _ in range(2):
        member = make_annotator(campaign)
        for _ in range(8):
            judge(member, 2)
    for pair in special:
        assert pair.judgements.filter(status="counted").count() == 2
    assert check_invariants(campaign) == []


def test_two_annotators_meet_the_gold_pairs_in_different_orders():
    campaign = make_campaign(n_topics=1, n_documents=8, judgements_per_pair=1)
    for pair in Pair.objects.all():
        lifecycle.set_pair_kind(pair, Pair.Kind.EVERYONE)
    campaign.refresh_from_db()
    orders = {tuple(served(make_annotator(campaign, seed=seed), 8)) for seed in range(5)}
    assert len(orders) == 5


def test_what_was_served_says_why():
    campaign = make_campaign(n_topics=2, n_documents=1, judgements_per_pair=2)
    ada, bob = make_annotator(campaign), make_annotator(campaign)
    assert (
        scheduling.claim_pair(ada).why["rule"]
        == "highest band, open a new pair, then the pool's order"
    )
    why = scheduling.claim_pair(bob).why
    assert why["rule"] == "highest band, finish started pairs, then the pool's order"
    expected = {
        "turn": 0,
        "priority": 9,
        "position": 0,
        "needed": 2,
        "counted": 0,
        "held_by_others": 1,
        "topic_in_a_row": 1,
    }
    assert {key: why[key] for key in expected} == expected


def test_planned_overlap_prefers_pairs_that_the_partner_has_judged():
    campaign = make_campaign(
        n_topics=4, n_documents=1, judgements_per_pair=3, min_common=3, min_partners=1
    )
    ada, bob, cyd = (make_annotator(campaign) for _ in range(3))
    pairs = list(Pair.objects.order_by("position"))
    now = timezone.now()
    judge_pair(ada, pairs[0], 1, now=now)
    judge_pair(bob, pairs[1], 1, now=now)
    judge_pair(bob, pairs[2], 1, now=now)
    judge_pair(cyd, pairs[1], 1, now=now)  # shares one pair with bob
    lease = scheduling.claim_pair(cyd)
    assert lease.pair_id == pairs[2].pk  # the pool's order alone would say the first
    assert lease.why["rule"] == "highest band, planned overlap with a partner"


def test_nobody_is_leased_past_the_target_or_the_daily_limit():
    campaign = make_campaign(
        n_topics=2, n_documents=5, judgements_per_pair=1, target_per_annotator=2
    )
    ada = make_annotator(campaign)
    first = assignment.refill_leases(ada, want=3)
    assert len(first.leases) == 2
    for lease in first.leases:
        submit(ada, lease, 1)
    after = assignment.refill_leases(ada, want=3)
    assert (after.situation.state, after.situation.details["may_continue"], after.leases) == (
        "target_reached",
        True,
        [],
    )
    assert len(assignment.refill_leases(ada, want=3, continue_after_target=True).leases) == 3
    bob = make_annotator(campaign, daily_limit=1)
    assert len(assignment.refill_leases(bob, want=3).leases) == 1


def test_topping_up_again_sends_the_leases_that_the_page_has_lost():
    campaign = make_campaign(n_topics=2, n_documents=5, judgements_per_pair=1)
    ada = make_annotator(campaign)
    first = assignment.refill_leases(ada, want=3).leases
    assert [lease.token for lease in assignment.refill_leases(ada, want=3).leases] == [
        lease.token for lease in first
    ]
    held = [lease.token for lease in first[:2]]
    assert [lease.token for lease in assignment.refill_leases(ada, want=3, held=held).leases] == [
        first[2].token
    ]
    assert (
        len(assignment.refill_leases(ada, want=50, held=[lease.token for lease in first]).leases)
        == 1
    )  # the window and one
    assert check_invariants(campaign) == []


def test_topping_up_renews_what_the_page_holds_so_that_it_needs_no_renewals_of_its_own():
    campaign = make_campaign(n_topics=1, n_documents=5, lease_minutes=8)
    ada, now = make_annotator(campaign), timezone.now()
    held = [lease.token for lease in assignment.refill_leases(ada, want=3, now=now).leases]
    for minute in (6, 12, 18):
        assert (
            assignment.refill_leases(
                ada, want=3, held=held, now=now + timedelta(minutes=minute)
            ).leases
            == []
        )
    assert {lease.state for lease in Lease.objects.filter(membership=ada)} == {"live"}


def test_nothing_now_says_when_pairs_may_return_and_done_when_none_can():
    campaign = make_campaign(n_topics=1, n_documents=1, judgements_per_pair=1, lease_minutes=6)
    ada, bob = make_annotator(campaign), make_annotator(campaign)
    now = timezone.now()
    lease = scheduling.claim_pair(ada, now=now)
    waiting = assignment.refill_leases(bob, want=3, now=now).situation
    assert (waiting.state, waiting.details["may_return"], waiting.details["next_return_at"]) == (
        "nothing_now",
        1,
        now + timedelta(minutes=6),
    )
    assert "6 min" in waiting.message
    submit(ada, lease, 1)
    assert assignment.refill_leases(bob, want=3, now=now).situation.state == "done"


def test_a_paused_or_excluded_annotator_claims_nothing():
    campaign = make_campaign()
    assert scheduling.claim_pair(make_annotator(campaign, status="paused")) is None
    assert scheduling.claim_pair(make_annotator(campaign, status="excluded")) is None


def test_the_number_of_queries_of_a_claim_does_not_depend_on_the_pool(
    django_assert_max_num_queries,
):
    small, large = (
        make_campaign(n_topics=2, n_documents=2),
        make_campaign(n_topics=20, n_documents=20),
    )
    for campaign in (small, large):
        ada = make_annotator(campaign)
        judge(ada, 1)
        with django_assert_max_num_queries(8):
            scheduling.claim_pair(ada)


def test_near_the_deadline_half_judged_pairs_of_other_topics_do_not_hold_up_whoever_is_restricted(
    monkeypatch,
):
    now = timezone.now()
    campaign = make_campaign(
        n_topics=2,
        n_documents=2,
        judgements_per_pair=2,
        deadline=now + timedelta(hours=2),
        closing_hours=24,
    )
    first, second = campaign.collection.topics.order_by("position").values_list("pk", flat=True)
    judge(make_annotator(campaign, topic_rows=[second]), 1)
    monkeypatch.setattr(
        scheduling.time, "sleep", lambda seconds: pytest.fail("the claim was tried again")
    )
    assert names(scheduling.claim_pair(make_annotator(campaign, topic_rows=[first]))) == "t1 d1"


@pytest.mark.parametrize("band", [1, 2, 4])
def test_claims_follow_the_order_that_the_preview_plays_through(band):
    """The same annotators in the same turns, once by claims of the database and once by the pure
    rule."""
    campaign = make_campaign(
        n_topics=3, n_documents=6, judgements_per_pair=2, block_length=3, band=band
    )
    entries = list(campaign.pairs.order_by("position").values_list("pk", "topic_row", "priority"))
    slots = rank_windows.WindowSlots(
        [rank_windows.WindowEntry(topic, priority) for _, topic, priority in entries], 2, band
    )
    members, draw = [make_annotator(campaign) for _ in range(3)], random.Random(band)
    mine, blocks = [set() for _ in members], [(None, 0) for _ in members]
    for _ in range(30):
        who = draw.randrange(3)
        topic, in_block = blocks[who]
        place = rank_windows.next_position(slots, mine[who], topic, in_block, 3)
        lease = scheduling.claim_pair(members[who])
        assert (None if lease is None else lease.pair_id) == (
            None if place is None else entries[place][0]
        )
        if lease is None:
            continue
        stays = topic == entries[place][1] and in_block < 3
        blocks[who] = (entries[place][1], in_block + 1 if stays else 1)
        assert lease.why["topic_in_a_row"] == blocks[who][1]
        mine[who].add(place)
        slots.take(place)
        submit(members[who], lease, 1)
    assert check_invariants(campaign) == []


def test_an_annotator_stays_on_a_topic_while_another_has_started_pairs_and_then_finishes_those():
    campaign = make_campaign(n_topics=3, n_documents=3, judgements_per_pair=2, band=3)
    ada, bob = make_annotator(campaign), make_annotator(campaign)
    judge_pair(
        ada, Pair.objects.get(entry__topic__topic_id="t3", entry__docno="d2"), 1, now=timezone.now()
    )
    assert served(bob, 9) == [
        f"{topic} {docno}"
        for topic, docno in (
            ("t3", "d2"),
            ("t3", "d1"),
            ("t3", "d3"),
            ("t1", "d1"),
            ("t1", "d2"),
            ("t1", "d3"),
            ("t2", "d1"),
            ("t2", "d2"),
            ("t2", "d3"),
        )
    ]


def test_each_lease_tells_how_many_of_its_topic_follow_in_the_block():
    campaign = make_campaign(
        n_topics=2, n_documents=5, judgements_per_pair=1, band=3, block_length=10, lease_window=3
    )
    ada = make_annotator(campaign)
    first = assignment.refill_leases(ada, want=2).leases
    # t1 has three pairs in the band of ranks 1 to 3
    assert [(lease.shown.topic, lease.left_in_topic) for lease in first] == [("t1", 2), ("t1", 1)]
    then = assignment.refill_leases(ada, want=4, held=[lease.token for lease in first]).leases
    assert [(lease.shown.topic, lease.left_in_topic) for lease in then] == [("t1", 0), ("t2", 2)]
    short = make_annotator(
        make_campaign(
            n_topics=1, n_documents=5, judgements_per_pair=1, ranks=[1] * 5, block_length=2
        )
    )
    assert [lease.left_in_topic for lease in assignment.refill_leases(short, want=1).leases] == [1]


def test_a_gold_pair_leaves_the_block_as_it_is():
    campaign = make_campaign(
        n_topics=2,
        n_documents=6,
        judgements_per_pair=1,
        ranks=[1] * 6,
        gold_every=4,
        target_per_annotator=8,
    )
    gold = Pair.objects.filter(entry__topic__topic_id="t2").order_by("-position").first()
    lifecycle.set_pair_kind(gold, Pair.Kind.GOLD, gold_grade=1, explanation="known")
    campaign.refresh_from_db()
    topics = [name.split()[0] for name in served(make_annotator(campaign), 7)]
    assert sorted(topics) == ["t1"] * 6 + [
        "t2"
    ]  # the gold pair is of t2; the block of t1 went on after it


def test_sqlite_takes_no_more_steps_for_a_claim_of_a_larger_pool():
    if connection.vendor != "sqlite":
        pytest.skip("counts steps of SQLite's machine")
    steps = []
    for n_topics in (3, 60):
        campaign = make_campaign(
            n_topics=n_topics, n_documents=6, judgements_per_pair=1, ranks=[1] * 6
        )
        ada = make_annotator(campaign)
        scheduling.claim_pair(ada)  # of the topic with which the counted claim stays
        counted = []
        connection.connection.set_progress_handler(
            lambda counted=counted: counted.append(1) and 0, 10
        )
        try:
            assert scheduling.claim_pair(ada).why["topic_in_a_row"] == 2
        finally:
            connection.connection.set_progress_handler(None, 0)
        steps.append(len(counted))
    assert steps[1] < 1.5 * steps[0], steps

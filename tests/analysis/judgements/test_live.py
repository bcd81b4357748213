"""Kept judgement columns, topped up, equal a fresh read after everything that can happen."""

from __future__ import annotations

import random
import uuid
from dataclasses import fields

import numpy as np
import pytest
from django.utils import timezone

from analysis.dashboard import annotators
from analysis.dashboard.progress import compute_progress
from analysis.dashboard.views.labels import get_campaign_statistics
from analysis.judgements import live as kept
from analysis.judgements.rows import (
    read_counted_table,
    read_pool_ranks,
    read_rows,
    rows_to_label_table,
)
from annotation.models import Judgement, Pair
from annotation.services.campaigns import lifecycle
from annotation.services.errors import CampaignError
from annotation.services.judging import scheduling, submission
from annotation.services.judging.submission import Answer
from annotation.services.people import exclusion
from assay.campaigns.statistics import compute_campaign_statistics
from tests.builders import judge, judge_pair, make_annotator, make_campaign, submit

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _always_stale(monkeypatch):
    monkeypatch.setattr(kept, "FRESH_SECONDS", 0.0)
    kept._snapshots.clear()
    yield
    kept._snapshots.clear()


def assert_same(campaign) -> None:
    """Row by row, whatever the order in which ids were first seen."""
    topped, fresh = kept.get_snapshot(campaign).rows, read_rows(campaign)
    assert len(topped) == len(fresh)
    for name, index in (
        ("topics", "topic"),
        ("documents", "document"),
        ("annotators", "annotator"),
    ):
        ours = [getattr(topped, name)[i] for i in getattr(topped, index)]
        theirs = [getattr(fresh, name)[i] for i in getattr(fresh, index)]
        assert ours == theirs
    for field in fields(topped):
        if field.name not in (
            "topics",
            "documents",
            "annotators",
            "topic",
            "document",
            "annotator",
        ):
            np.testing.assert_array_equal(
                getattr(topped, field.name), getattr(fresh, field.name), err_msg=field.name
            )


def test_new_judgements_are_appended():
    campaign = make_campaign(n_topics=3, n_documents=4)
    ada, bob = make_annotator(campaign), make_annotator(campaign)
    assert_same(campaign)
    for grade in (0, 1, 2, 3):
        judge(ada, grade, active_ms=5000, wall_ms=6000)
        assert_same(campaign)
    judge(bob, 2)
    judge(bob, None)
    assert_same(campaign)


def test_a_revision_takes_the_place_of_what_it_revises():
    campaign = make_campaign()
    ada = make_annotator(campaign)
    first = judge(ada, 1)
    judge(ada, 2)
    assert_same(campaign)
    submission.revise_judgement(
        ada, judgement_id=first.pk, key=uuid.uuid4(), answer=Answer(grade=3)
    )
    assert_same(campaign)
    assert sorted(kept.get_snapshot(campaign).rows.grade.tolist()) == [2, 3]


def test_an_exclusion_and_its_reversal_are_seen():
    campaign = make_campaign()
    ada, bob = make_annotator(campaign), make_annotator(campaign)
    for _ in range(3):
        judge(ada, 1)
        judge(bob, 2)
    assert kept.get_snapshot(campaign).rows.counts.sum() == 6
    exclusion.exclude_annotator(ada, reason="clicks at random", actor=None)
    assert_same(campaign)
    assert kept.get_snapshot(campaign).rows.counts.sum() == 3
    exclusion.include_annotator(ada, actor=None)
    assert_same(campaign)
    assert kept.get_snapshot(campaign).rows.counts.sum() == 6


def test_gold_is_seen():
    campaign = make_campaign()
    ada = make_annotator(campaign)
    pair = campaign.pairs.first()
    judge_pair(ada, pair, 2, now=timezone.now())
    assert_same(campaign)
    lifecycle.set_pair_kind(
        Pair.objects.select_related("campaign", "entry").get(pk=pair.pk),
        Pair.Kind.GOLD,
        gold_grade=2,
    )
    assert_same(campaign)
    assert kept.get_snapshot(campaign).rows.gold.tolist() == [2]


def test_fresh_figures_cost_one_query_or_none(django_assert_num_queries, monkeypatch):
    campaign = make_campaign()
    judge(make_annotator(campaign), 1)
    kept.get_snapshot(campaign)
    monkeypatch.setattr(kept, "FRESH_SECONDS", 60.0)
    with django_assert_num_queries(1):  # has a manager changed something?
        kept.get_snapshot(campaign)
    with django_assert_num_queries(0):
        kept.get_snapshot(campaign, fresh=60.0)


def test_a_derived_value_is_computed_once_for_the_same_rows():
    campaign = make_campaign()
    ada = make_annotator(campaign)
    judge(ada, 1)
    calls: list[int] = []
    for _ in range(2):
        kept.get_snapshot(campaign).derived("n", lambda: calls.append(1))
    assert len(calls) == 1
    judge(ada, 2)
    kept.get_snapshot(campaign).derived("n", lambda: calls.append(1))
    assert len(calls) == 2


def test_the_table_is_that_of_the_rows():
    """Beside the general way over ids: the same table in every column, and the pairs behind it."""
    campaign = make_campaign(n_topics=3, n_documents=4, judgements_per_pair=3)
    people = [make_annotator(campaign) for _ in range(4)]
    for turn in range(28):
        judge(
            people[turn % 4],
            turn % 4,
            **({"active_ms": 300, "wall_ms": 6000} if turn % 9 == 0 else {}),
        )
    live = kept.get_snapshot(campaign)
    ours, theirs = live.table(4), rows_to_label_table(read_rows(campaign), n_grades=4)
    assert len(theirs) > 10
    for field in fields(theirs):
        np.testing.assert_array_equal(
            getattr(ours, field.name), getattr(theirs, field.name), err_msg=field.name
        )
        if hasattr(getattr(theirs, field.name), "dtype"):
            assert getattr(ours, field.name).dtype == getattr(theirs, field.name).dtype
    ids = live.pairs.ids[live.table_pairs].tolist()
    pairs = Pair.objects.select_related("entry__topic").in_bulk(ids)
    assert [(pairs[pk].entry.topic.topic_id, pairs[pk].entry.docno) for pk in ids] == [
        theirs.pair_ids(i) for i in range(theirs.n_pairs)
    ]


def test_a_judgement_that_is_committed_after_a_later_one_is_not_missed():
    campaign = make_campaign()
    ada, bob = make_annotator(campaign), make_annotator(campaign)
    first = judge(ada, 1)
    late = judge(bob, 2)
    judge(ada, 3)
    type(late).objects.filter(pk=late.pk).update(
        current=False
    )  # as if its transaction had not ended yet
    kept.get_snapshot(campaign)
    type(late).objects.filter(pk=late.pk).update(current=True)
    assert_same(campaign)
    assert kept.get_snapshot(campaign).rows.judgement.tolist()[:2] == [first.pk, late.pk]


def test_pairs_added_to_a_running_campaign_are_known():
    campaign = make_campaign(n_topics=2, n_documents=2)
    ada = make_annotator(campaign)
    judge(ada, 1)
    assert len(kept.get_snapshot(campaign).pairs) == 4
    entry = campaign.pairs.first().entry
    other = make_campaign(n_topics=1, n_documents=1).pairs.first().entry
    other.pk, other.pool_id, other.topic_id, other.docno = (
        None,
        entry.pool_id,
        entry.topic_id,
        "new",
    )
    other.save()
    fresh = Pair.objects.create(
        campaign=campaign,
        entry=other,
        topic_row=other.topic_id,
        priority=0,
        position=9,
        needed=3,
        counted=0,
        held=0,
        open_slots=3,
    )
    judge_pair(ada, fresh, 2, now=timezone.now())
    assert_same(campaign)
    assert len(kept.get_snapshot(campaign).pairs) == 5


def test_table_1_of_the_page_is_that_of_the_command():
    campaign = make_campaign(n_topics=2, n_documents=3, judgements_per_pair=2)
    people = [make_annotator(campaign) for _ in range(2)]
    for turn in range(9):
        judge(people[turn % 2], turn % 4)
    ours = get_campaign_statistics(campaign, kept.get_snapshot(campaign))
    theirs = compute_campaign_statistics(
        read_counted_table(campaign),
        min_relevant=campaign.min_relevant,
        documents=campaign.collection.n_documents,
        pool=read_pool_ranks(campaign),
    )
    assert ours.coverage == theirs.coverage
    assert ours.complete_depth == theirs.complete_depth
    for name in ("pairs", "labelled_pairs", "judgements", "warnings"):
        assert getattr(ours, name) == getattr(theirs, name)


def test_what_is_kept_of_a_person_follows_their_judgements_and_those_of_others():
    campaign = make_campaign(n_topics=1, n_documents=4)
    ada, bob = make_annotator(campaign), make_annotator(campaign)
    for grade in (0, 1, 2):
        judge(ada, grade)
    assert [person.n for person in annotators.list_annotators(campaign)] == [3, 0]
    for grade in (0, 1, 2):
        judge(bob, grade)
    first, second = annotators.list_annotators(campaign)
    assert (first.n, second.n, first.agreement.n) == (3, 3, 3)
    assert first.agreement.kappa == second.agreement.kappa == 1.0
    exclusion.exclude_annotator(bob, reason="wanted to leave", actor=None)
    first, second = annotators.list_annotators(campaign)
    assert (first.n, second.n, first.agreement.n) == (3, 0, 0)
    assert (
        second.agreement.n == 3
    )  # the evidence of an exclusion stays, as of the judgements made until then


@pytest.mark.parametrize(
    ("n", "said"), [(1, "1 shared pair; needs 10"), (9, "9 shared pairs; needs 10"), (10, None)]
)
def test_agreement_on_fewer_than_ten_shared_pairs_is_not_shown_as_a_kappa(n, said):
    campaign = make_campaign(n_topics=1, n_documents=n)
    for _ in range(2):
        ada = make_annotator(campaign)
        for grade in range(n):
            judge(ada, grade % 4)
    for person in annotators.list_annotators(campaign):
        assert person.agreement.n == n
        assert (person.kappa, person.kappa is None and person.kappa_reason) == (
            (None, said) if said else (1.0, False)
        )


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_topped_up_figures_are_those_computed_from_scratch(seed):
    """Seventy random events; after each the kept columns, or those of a new process, beside a new
    reading."""
    rng = random.Random(seed)
    campaign = make_campaign(n_topics=5, n_documents=6, judgements_per_pair=2)
    people = [make_annotator(campaign) for _ in range(4)]
    events = (
        ["judge"] * 28
        + ["revise"] * 10
        + ["exclude"] * 5
        + ["include"] * 10
        + ["gold"] * 4
        + ["fast"] * 6
        + ["cannot"] * 7
    )
    rng.shuffle(events)
    done = dict.fromkeys(events, 0)
    for event in events:
        person = rng.choice(people)
        try:
            happened = _do(event, campaign, person, rng)
        except CampaignError:
            happened = False
        done[event] += happened
        if rng.random() < 0.3:
            kept._snapshots.clear()
        if rng.random() < 0.7:
            assert_same(campaign)
            assert figures(campaign) == from_scratch(campaign)
    assert_same(campaign)
    assert all(done.values()), done
    assert read_rows(campaign).counts.sum() > 10


def _do(event: str, campaign, person, rng: random.Random) -> bool:
    if event in ("judge", "fast", "cannot"):
        seconds = {"active_ms": 200, "wall_ms": 250} if event == "fast" else {}
        person.refresh_from_db()
        lease = scheduling.claim_pair(person) if person.status != "excluded" else None
        if lease is not None:
            submit(person, lease, None if event == "cannot" else rng.randrange(4), **seconds)
        return lease is not None
    if event == "revise":
        own = list(Judgement.objects.filter(membership=person, current=True).order_by("pk"))
        if own:
            submission.revise_judgement(
                person,
                judgement_id=rng.choice(own).pk,
                key=uuid.uuid4(),
                answer=Answer(grade=rng.randrange(4)),
            )
        return bool(own)
    person.refresh_from_db()
    if event == "exclude" and person.status != "excluded":
        return bool(exclusion.exclude_annotator(person, reason="at random", actor=None)) or True
    if event == "include":
        excluded = list(campaign.memberships.filter(status="excluded").order_by("pk"))
        for member in excluded[:1]:
            exclusion.include_annotator(member, actor=None)
        return bool(excluded)
    if event == "gold":
        pair = rng.choice(
            list(
                Pair.objects.select_related("campaign", "entry")
                .filter(campaign=campaign, kind=Pair.Kind.NORMAL)
                .order_by("pk")
            )
        )
        lifecycle.set_pair_kind(pair, Pair.Kind.GOLD, gold_grade=rng.randrange(4))
        return True
    return False


def figures(campaign, kept_rows=None) -> list[object]:
    """What the pages show, but for the moment."""
    now = compute_progress(campaign, live=kept_rows)
    shown = [
        (p.membership.pseudonym, p.n, p.n_fast, p.n_cannot, p.n_extra, p.median, p.kappa, p.shares)
        for p in annotators.list_annotators(campaign, live=kept_rows)
    ]
    names = (
        "needed",
        "counted",
        "pairs",
        "complete",
        "depths",
        "one_judgement",
        "unjudgeable",
        "per_12h",
        "stalled",
    )
    return [*(getattr(now, name) for name in names), *shown]


def from_scratch(campaign) -> list[object]:
    return figures(campaign, kept._read_all_rows(campaign, kept.clock(), 0))

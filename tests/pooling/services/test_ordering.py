"""Ordered pools in the database: planned batches, audit pairs, what becomes of them when the pool
grows."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from itertools import pairwise

import numpy as np
import pytest
from django.utils import timezone

from assay.pools.batches import OrderedPool
from assay.pools.pool_kinds import get_stage_priority
from pooling import hooks
from pooling.models import Collection, Document, Job, Pool
from pooling.platform import jobs
from pooling.platform.jobs import Refused
from pooling.selectors import pools as selectors
from pooling.services import ordering, pool_extension, pool_pairs, pool_preview, pools
from tests.pooling.conftest import bring_in, run
from tests.pooling.jobs.test_killed_anywhere import Killed, killed_at

pytestmark = pytest.mark.django_db

RELEVANT = {"3", "6", "9"}
"""Last figures of relevant documents."""


@pytest.fixture
def filled(collection, manager) -> Collection:
    """Three topics, two runs of forty documents each, thirty of them common; every text but one."""
    bring_in(
        collection,
        "topics",
        "".join(f"{t}\tquery {t}\n" for t in (1, 2, 3)),
        name="topics.tsv",
        user=manager,
    )
    ids = [f"d{t}-{number:02d}" for t in (1, 2, 3) for number in range(50)]
    Document.objects.bulk_create(
        Document(collection=collection, docno=one, text="a text", n_words=2)
        for one in ids
        if one != "d1-49"
    )
    for tag, first in (("A", 0), ("B", 10)):
        lines = [
            f"{t} Q0 d{t}-{first + rank:02d} {rank + 1} {100 - rank} {tag}\n"
            for t in (1, 2, 3)
            for rank in range(40)
        ]
        bring_in(collection, "run", "".join(lines), name=f"{tag}.run", user=manager)
    return collection


@pytest.fixture
def judged(monkeypatch) -> None:
    """Whatever is handed out has been judged when the next batch is planned; of topic 3 nothing is
    relevant."""

    def known(pool: Pool) -> dict[int, bool]:
        handed = pool.entries.exclude(stage=None).values_list("pk", "docno", "topic__topic_id")
        return {pk: docno[-1] in RELEVANT and topic != "3" for pk, docno, topic in handed}

    monkeypatch.setattr(hooks, "labels_so_far", [known])


def ordered(
    collection: Collection,
    *,
    name: str = "first",
    batch: int = 30,
    audit: float = 0.2,
    depth: int = 40,
    tags: str = "AB",
) -> Pool:
    making = ordering.make_ordered_parameters(batch=batch, audit=audit)
    runs = list(collection.runs.filter(tag__in=list(tags)))
    job = run(
        pools.request_pool(
            collection, runs=runs, depth=depth, seed=3, name=name, making=making, user=None
        )
    )
    assert job.state == "done", job.message
    return Pool.objects.get(pk=job.parameters["pool"])


def plan(pool: Pool) -> Pool:
    job = run(ordering.request_batch(pool, user=None))
    assert job.state == "done", job.message
    return Pool.objects.get(pk=pool.pk)


def positions(pool: Pool) -> list[int]:
    return list(pool.entries.order_by("position").values_list("position", flat=True))


def test_the_first_batch_is_the_same_of_each_topic_by_rank_fusion_and_audit_pairs_of_all(filled):
    pool = ordered(filled)
    assert (pool.kind, pool.words, pool.n_pairs) == (
        "ordered",
        "most likely relevant first, depth 40",
        150,
    )
    first = pool.entries.filter(stage=1)
    chosen = first.filter(entered="choice")
    assert (first.count(), chosen.count(), first.filter(entered="chance", stratum=1).count()) == (
        30,
        24,
        6,
    )
    assert set(Counter(chosen.values_list("topic__topic_id", flat=True)).values()) == {8}
    fused = {
        entry.pk: sum(1 / (60 + rank) for rank in entry.contributions.values())
        for entry in pool.entries.all()
    }
    left_out = pool.entries.filter(stage=None, topic__topic_id="1")
    assert min(
        fused[pk] for pk in chosen.filter(topic__topic_id="1").values_list("pk", flat=True)
    ) >= max(fused[entry.pk] for entry in left_out)
    assert [(one.number, one.size, one.drawn) for one in pool.strata.all()] == [(1, 149, [6])], (
        "one has no text"
    )
    assert set(first.values_list("priority", flat=True)) == {get_stage_priority(1)}
    assert positions(pool) == list(range(150))
    assert max(first.values_list("position", flat=True)) == 29


def test_topics_and_pairs_within_them_come_in_random_order_with_the_audit_pairs_among_them(filled):
    first = list(
        ordered(filled)
        .entries.filter(stage=1)
        .order_by("position")
        .values_list("topic__topic_id", "best_rank", "entered")
    )
    topics = [topic for topic, *_ in first]
    assert len([1 for a, b in pairwise(topics) if a != b]) == 2, "a block for each topic"
    ranks = [rank for topic, rank, _ in first if topic == topics[0]]
    assert ranks != sorted(ranks)
    assert "chance" in [entered for *_, entered in first[:-6]], "not all of them at the end"


def test_each_further_batch_is_what_the_core_plans_from_the_labels_so_far(filled, judged):
    pool = plan(plan(ordered(filled)))
    pairs, there = pool_pairs.load_stored_pairs(pool)
    stage = {row: stage or 0 for row, stage in pool.entries.values_list("pk", "stage")}
    earlier = np.array([0 < stage[there[pair.topic, pair.document]] < 3 for pair in pairs])
    no_text = np.array([pair.document == "d1-49" for pair in pairs])
    labels = np.array(
        [float(pair.document[-1] in RELEVANT and pair.topic != "3") for pair in pairs]
    )
    expected = OrderedPool.from_pool(pairs).plan_batch(
        np.where(earlier, labels, np.nan), earlier | no_text, stage=2, seed=3, size=30, audit=0.2
    )
    keys = [there[pair.topic, pair.document] for pair in pairs]
    assert list(pool.entries.filter(stage=3).order_by("position").values_list("pk", flat=True)) == [
        keys[row] for row in expected.rows.tolist()
    ]
    assert set(pool.entries.filter(stage=3, entered="chance").values_list("pk", flat=True)) == {
        keys[row] for row in expected.rows[expected.audit].tolist()
    }
    assert [(one.number, one.size, one.drawn) for one in pool.strata.all()] == [
        (1, 149, [6]),
        (2, 119, [0, 6]),
        (3, 89, [0, 0, 6]),
    ], "one has no text"
    assert positions(pool) == list(range(150))
    later = pool.entries.filter(stage__in=(2, 3), entered="choice")
    assert later.filter(topic__topic_id="3").count() < later.filter(topic__topic_id="1").count(), (
        "a topic without relevant documents is left alone"
    )


def test_batches_end_with_the_pool_and_leave_out_removed_topics_and_missing_texts(filled, judged):
    pool = ordered(filled, batch=60)
    filled.topics.filter(topic_id="2").update(removed_reason="unclear")
    handed = pool.entries.filter(topic__topic_id="2", stage=1).count()
    while ordering.count_waiting_pairs(pool):
        pool = plan(pool)
    assert set(pool.entries.filter(stage=None).values_list("topic__topic_id", "document")) - {
        ("2", one.pk) for one in filled.documents.all()
    } == {("1", None)}
    assert pool.entries.filter(topic__topic_id="2").exclude(stage=None).count() == handed, (
        "what was handed out stays"
    )
    with pytest.raises(Refused, match="All pairs in first that have a text are already in a batch"):
        ordering.request_batch(pool, user=None)
    filled.topics.update(removed_reason="")
    assert ordering.count_waiting_pairs(plan(pool)) < 50


def test_a_pool_that_grows_keeps_its_batches_and_its_new_pairs_wait_for_the_next(filled, judged):
    pool = plan(ordered(filled, depth=20, tags="A"))
    there = set(pool.entries.values_list("pk", flat=True))
    before = list(
        pool.entries.exclude(stage=None)
        .order_by("position")
        .values_list("pk", "stage", "priority", "position", "entered")
    )
    run(pools.request_extension(pool, runs=list(filled.runs.filter(tag="B")), depth=40, user=None))
    pool.refresh_from_db()
    assert (
        list(
            pool.entries.exclude(stage=None)
            .order_by("position")
            .values_list("pk", "stage", "priority", "position", "entered")
        )
        == before
    )
    assert (pool.n_pairs, positions(pool)) == (150, list(range(150)))
    assert set(pool.entries.filter(stage=None).values_list("priority", flat=True)) == {0}
    pool = plan(pool)
    assert pool.strata.get(number=3).size == 150 - 60 - 1, "all that waits now"
    assert pool.entries.filter(stage=3).exclude(pk__in=there).exists(), "of the new pairs, too"
    with pytest.raises(Refused, match="a later batch of first"):
        pool_extension.request_undo_extension(pool, user=None)


def test_an_extension_is_taken_back_while_no_batch_was_planned_since(filled, judged):
    pool = plan(ordered(filled, depth=20))
    before = list(pool.entries.order_by("position").values_list("docno", "stage", "priority"))
    run(pools.request_extension(pool, depth=40, user=None))
    assert pool.entries.count() > len(before)
    job = run(pool_extension.request_undo_extension(pool, user=None))
    assert job.state == "done", job.message
    assert list(
        pool.entries.exclude(stage=None)
        .order_by("position")
        .values_list("docno", "stage", "priority")
    ) == [row for row in before if row[1]]
    assert sorted(pool.entries.values_list("docno", flat=True)) == sorted(row[0] for row in before)


def test_a_worker_killed_at_any_step_of_planning_leaves_one_batch(filled, judged, monkeypatch):
    monkeypatch.setattr(jobs, "THROTTLE_SECONDS", 0.0)
    pool = ordered(filled)
    whole: list[object] = []
    for step in range(1, 20):
        before = Pool.objects.get(pk=pool.pk).strata.count()
        job = ordering.request_batch(pool, user=None)
        died = False
        with killed_at(step, monkeypatch):
            try:
                jobs.run_job(job.pk)
            except Killed:
                died = True
        Job.objects.filter(pk=job.pk, state="running").update(
            heartbeat=timezone.now() - timedelta(minutes=1)
        )
        jobs.run_job(job.pk)
        job.refresh_from_db()
        assert (job.state, pool.strata.count()) == ("done", before + 1)
        assert (
            job.report["facts"]["new pairs"] == pool.entries.filter(stage=before + 1).count() == 30
        )
        assert positions(pool) == list(range(150))
        found = list(
            pool.entries.filter(stage=before + 1)
            .order_by("position")
            .values_list("docno", "entered")
        )
        whole = whole or found
        assert found == whole, "the same batch wherever it was killed"
        pool.entries.filter(stage=before + 1).update(
            stage=None, entered="", stratum=None, priority=0
        )
        pool.strata.filter(number=before + 1).delete()
        if not died:
            break
    assert step > 2


def test_two_workers_that_plan_the_same_batch_plan_it_once(filled, judged):
    pool = ordered(filled)
    first = ordering.request_batch(pool, user=None)
    again = jobs.enqueue(
        "plan batch", first.parameters, label="the same", user=None, collection=filled
    )
    assert [run(first).state, run(again).state] == ["done", "done"]
    assert (pool.strata.count(), pool.entries.exclude(stage=None).count()) == (2, 60)


def test_no_place_of_the_first_batch_goes_to_a_pair_whose_text_has_not_come(filled, manager):
    """d1-49 has no text, and d2-00 to d2-19 have theirs in a file that nobody has looked into:
    found before the batch is planned."""
    late = [f"d2-{number:02d}" for number in range(20)]
    filled.documents.filter(docno__in=late).delete()
    lines = "".join(f'{{"_id": "{docno}", "title": "t", "text": "late"}}\n' for docno in late)
    bring_in(filled, "documents", lines, name="late.jsonl", user=manager)
    pool = ordered(filled, batch=149)
    assert not pool.entries.filter(stage=1, document=None).exists()
    assert pool.entries.filter(stage=1, docno__in=late).exists()
    assert [one.size for one in pool.strata.all()] == [149], (
        "the audit pairs are drawn of those that can be judged"
    )


def test_a_pool_before_any_text_has_a_first_batch_all_the_same(filled):
    filled.documents.all().delete()
    pool = ordered(filled)
    assert (pool.entries.filter(stage=1).count(), [one.size for one in pool.strata.all()]) == (
        30,
        [150],
    )


def test_a_preview_tells_of_every_way_what_half_of_it_answers(filled):
    """Of 150 pairs: level by level and relevant first judge all; a sample up to 20 % takes at least
    two of each of its strata."""
    making = ordering.make_ordered_parameters(batch=40, audit=0.25)
    job = run(
        pool_preview.request_preview(
            filled, runs=list(filled.runs.all()), depth=40, making=making, user=None
        )
    )
    found = selectors.list_pooling_options(job.report, judgements=2, seconds=36)
    assert [(one.kind, one.chosen) for one in found] == [
        ("depth", False),
        ("ordered", True),
        ("sampled", False),
    ]
    assert [one.pairs for one in found[:2]] == [150, 150]
    assert 30 <= found[2].pairs < 50
    assert found[0].hours == pytest.approx(3), "150 pairs x 2 x 36 s"
    assert "In each batch, 10 pairs are drawn at random" in found[1].half_way[2]


def test_a_preview_says_what_half_of_it_answers(filled):
    job = run(
        pool_preview.request_preview(
            filled,
            runs=list(filled.runs.all()),
            depth=40,
            making=ordering.make_ordered_parameters(),
            user=None,
        )
    )
    assert (job.report["batches"], job.report["batch"], job.report["audit"]) == (1, 150, 15)
    assert "about half more relevant documents for the same work" in job.report["half_way"][0]
    assert "To compare systems early, use a sampled pool" in job.report["half_way"][1]


def test_the_pool_lists_its_batches(filled, judged):
    pool = plan(ordered(filled))
    assert [
        (one.number, one.pairs, one.audit, one.left) for one in selectors.list_planned_batches(pool)
    ] == [(2, 30, 6, 119), (1, 30, 6, 149)]


def test_what_is_no_way_to_order_is_refused(filled):
    for wrong in ({"goal": "speed"}, {"batch": 0}, {"audit": 1.5}):
        with pytest.raises(Refused):
            ordering.make_ordered_parameters(**wrong)
    plain = run(pools.request_pool(filled, runs=list(filled.runs.all()), depth=2, user=None))
    with pytest.raises(Refused, match="is not a prioritised pool"):
        ordering.request_batch(Pool.objects.get(pk=plain.parameters["pool"]), user=None)

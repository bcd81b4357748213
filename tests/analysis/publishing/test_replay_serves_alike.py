"""What `simulate_campaign` replays is what the scheduler serves; and sampled campaigns whose topics
change."""

from __future__ import annotations

import numpy as np
import pytest

from annotation.models import Campaign
from annotation.services.campaigns import lifecycle, planned_batches
from annotation.services.campaigns.pairs import apply_topic_decisions
from annotation.services.judging import scheduling
from assay.pools.depth import cut_run, make_depth_pool
from assay.precision import rescore_by_order
from assay.sampling.replay import JudgedPool, make_judged_pool
from assay.sampling.replay_ordered import OrderedReplay, iterate_batches
from pooling.models import Pool
from pooling.services import ordering, pools
from pooling.services.runs import load_rankings
from tests.analysis.commands.judged_file import run
from tests.analysis.publishing.test_sampled_campaigns import (
    grade_of,
    judge_stage,
    make_collection_with_runs,
    make_sampled,
)
from tests.builders import make_annotator, submit
from tests.pooling.conftest import run as do

pytestmark = pytest.mark.django_db
SEED, DEPTH = 5, 12


@pytest.fixture
def collection(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "files"
    return make_collection_with_runs()


def made(collection, making) -> Campaign:
    """One judgement a pair, and nobody leaves a topic before its block in the batch ends."""
    job = do(
        pools.request_pool(
            collection,
            runs=list(collection.runs.all()),
            depth=DEPTH,
            seed=SEED,
            making=making,
            user=None,
        )
    )
    assert job.state == "done", job.message
    campaign = lifecycle.create_campaign(
        name="C",
        collection=collection,
        actor=collection.managers.get(),
        judgements_per_pair=1,
        target_per_annotator=0,
        band=1,
        block_length=1000,
        min_relevant=2,
    )
    lifecycle.set_pool(campaign, Pool.objects.get(pk=job.parameters["pool"]))
    lifecycle.open_campaign(campaign)
    return campaign


def world(collection) -> JudgedPool:
    """The same runs, judged as `grade_of` has it."""
    runs = [rescore_by_order(load_rankings(row)) for row in collection.runs.order_by("tag")]
    pool = make_depth_pool(
        [cut_run(one, DEPTH) for one in runs], depth=DEPTH, rng=np.random.default_rng(SEED)
    )
    return make_judged_pool(
        pool,
        np.array([grade_of(document.decode()) for document in pool.documents.tolist()]),
        runs,
        min_relevant=2,
    )


def served_by_the_scheduler(
    campaign: Campaign, *, most: int | None = None
) -> list[tuple[str, str, int]]:
    """Topic, document and priority of what one annotator gets, judged as it comes."""
    ada = (
        make_annotator(campaign, f"ada{campaign.pk}")
        if not campaign.memberships.filter(role="annotator").exists()
        else None
    )
    ada = ada or campaign.memberships.select_related("campaign", "user").get(role="annotator")
    rows = []
    while (most is None or len(rows) < most) and (lease := scheduling.claim_pair(ada)) is not None:
        entry = lease.pair.entry
        submit(ada, lease, grade_of(entry.docno))
        rows.append((entry.topic.topic_id, entry.docno, entry.priority))
    return rows


def replayed(own: JudgedPool, plan: OrderedReplay) -> list[list[tuple[str, str]]]:
    pairs = [
        (own.pool.topics[t], d.decode())
        for t, d in zip(own.pool.topic.tolist(), own.pool.documents.tolist(), strict=True)
    ]
    return [
        [pairs[row] for row in batch.rows.tolist()]
        for batch in iterate_batches(own, plan, own.grades, SEED)
    ]


def test_level_replay_assigns_ranks_in_the_order_of_the_scheduler(collection):
    campaign, own = made(collection, {}), world(collection)
    real = served_by_the_scheduler(campaign)
    (batch,) = replayed(own, OrderedReplay("level", (1.0,), (), batch=len(own)))
    rank = {
        pair: entry
        for *pair_of, entry in campaign.pool.entries.values_list(
            "topic__topic_id", "docno", "best_rank"
        )
        for pair in [tuple(pair_of)]
    }
    assert (
        [rank[pair[:2]] for pair in real] == [rank[pair] for pair in batch] == sorted(rank.values())
    )
    assert {pair[:2] for pair in real} == set(batch)


def by_topic(pairs) -> dict[str, list[str]]:
    blocks: dict[str, list[str]] = {}
    for topic, document, *_ in pairs:
        blocks.setdefault(topic, []).append(document)
    return blocks


def test_relevant_first_the_replay_serves_batch_by_batch_what_the_scheduler_serves(collection):
    """Each topic's block in the same order; which block comes first differs after the first batch,
    since an annotator stays with the topic at hand."""
    campaign, own = (
        made(collection, ordering.make_ordered_parameters(batch=12, audit=0.25)),
        world(collection),
    )
    batches = replayed(own, OrderedReplay("relevant", (1.0,), (), batch=12, audit=0.25))
    assert len(batches) > 3
    for number, batch in enumerate(batches):
        real = [pair[:2] for pair in served_by_the_scheduler(campaign, most=len(batch))]
        assert by_topic(real) == by_topic(batch)
        assert number or real == batch
        for job in planned_batches.plan_low_batches():
            assert do(job).state == "done", job.message
    assert served_by_the_scheduler(campaign) == []


def test_topics_that_are_removed_leave_the_estimates_and_come_back_with_all_that_was_judged(
    collection,
):
    campaign = make_sampled(collection)
    judge_stage(campaign, 1)
    measures = ("--measures", "HT-P@10 HT-nDCG@10", "--per-topic")
    before = run("evaluate", "--campaign", campaign.slug, *measures)
    collection.topics.filter(topic_id="2").update(removed_reason="unclear")
    apply_topic_decisions(campaign)
    now = run("evaluate", "--campaign", campaign.slug, *measures)
    for tag in "AB":
        for measure, topics in before["per_topic"][campaign.slug][tag].items():
            kept = {topic: value for topic, value in topics.items() if topic != "2"}
            assert now["per_topic"][campaign.slug][tag][measure] == pytest.approx(kept)
            assert now["qrels"][campaign.slug][tag][measure] == pytest.approx(
                sum(kept.values()) / 2
            )
    collection.topics.filter(topic_id="2").update(removed_reason="")
    apply_topic_decisions(campaign)
    assert (
        run("evaluate", "--campaign", campaign.slug, *measures)["per_topic"] == before["per_topic"]
    )

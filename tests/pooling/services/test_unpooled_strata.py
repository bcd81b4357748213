"""A late run in a sampled pool: what it alone has forms strata of their own, drawn in a stage of
their own; what was drawn keeps its chances."""

from __future__ import annotations

import pytest

from analysis.judgements.campaign_sample import read_campaign_sample, read_stage_progress
from analysis.judgements.labels import LabelChoices
from annotation.models import Campaign
from pooling.models import Document, Pool
from pooling.platform.jobs import Refused
from pooling.services import pool_extension, pools, sampling
from tests.analysis.commands.judged_file import run
from tests.analysis.publishing.test_sampled_campaigns import (
    N_RANKED,
    TOPICS,
    exported,
    judge_stage,
    make_collection_with_runs,
    make_sampled,
    ranked,
    recomputed,
)
from tests.pooling.conftest import bring_in
from tests.pooling.conftest import run as do

pytestmark = pytest.mark.django_db

LATE = {topic: [f"d{topic}-{number:02d}" for number in range(49, 29, -1)] for topic in TOPICS}
"""Twenty documents of the collection; twelve that no other run has come below them."""


def make_world() -> Campaign:
    """Both stages judged; the late run C is in the collection."""
    collection = make_collection_with_runs()
    made = make_sampled(collection)
    judge_stage(made, 1)
    judge_stage(made, 2)
    new = [f"new{topic}-{k:02d}" for topic in TOPICS for k in range(1, 13)]
    Document.objects.bulk_create(
        Document(collection=collection, docno=docno, text=f"text of {docno}", n_words=3)
        for docno in new
    )
    lines = (
        f"{topic} Q0 {d} {rank} {1000 - rank} C\n"
        for topic, docs in LATE.items()
        for rank, d in enumerate(docs, start=1)
    )
    extra = (
        f"{topic} Q0 new{topic}-{k:02d} {20 + k} {900 - k} C\n"
        for topic in TOPICS
        for k in range(1, 13)
    )
    assert bring_in(collection, "run", "".join([*lines, *extra]), name="C.run").state == "done"
    return made


@pytest.fixture
def campaign(world: Campaign) -> Campaign:
    return world


def extended(campaign: Campaign) -> Campaign:
    job = do(
        pools.request_extension(
            campaign.pool, runs=list(campaign.collection.runs.filter(tag="C")), user=None
        )
    )
    assert job.state == "done", job.message
    return Campaign.objects.select_related("collection", "pool").get(pk=campaign.pk)


def drawn_as(pool: Pool) -> dict[tuple[str, str], tuple]:
    rows = pool.entries.values_list(
        "topic__topic_id", "docno", "stratum", "place", "stage", "entered"
    )
    return {(topic, docno): rest for topic, docno, *rest in rows}


def test_new_pairs_form_new_strata_and_nothing_that_was_drawn_changes(campaign):
    before, strata = (
        drawn_as(campaign.pool),
        {one.name: (one.number, one.size, one.drawn) for one in campaign.pool.strata.all()},
    )
    grown = extended(campaign)
    after = drawn_as(grown.pool)
    assert {pair: after[pair] for pair in before} == before
    new = set(after) - set(before)
    assert {document for _, document in new} == {
        f"new{topic}-{k:02d}" for topic in TOPICS for k in range(1, 13)
    }
    now = {one.name: one for one in grown.pool.strata.all()}
    for name, (number, size, drawn) in strata.items():
        assert (now[name].number, now[name].size, now[name].drawn) == (
            number,
            size,
            [*drawn, drawn[-1]],
        ), "N_h is that of the draw"
    late = {name: one for name, one in now.items() if name not in strata}
    assert set(late) == {f"{topic}/21-50@3" for topic in TOPICS}, "ranks 21 to 32"
    for one in late.values():
        own = [rest for rest in after.values() if rest[0] == one.number]
        assert sorted(place for _, place, _, _ in own) == list(range(one.size)) == list(range(12))
        n = sum(stage is not None for _, _, stage, _ in own)
        assert one.drawn == [0, 0, n]
        assert {place for _, place, stage, _ in own if stage} == set(range(n)), (
            "a prefix of the shuffle"
        )
        assert {(stage, entered) for _, _, stage, entered in own} == {(3, "chance"), (None, "")}
    assert sum(one.drawn[-1] for one in late.values()) == round(0.6 * 36), (
        "at the share that the pool has been drawn to"
    )
    assert grown.pool.parameters["stages"] == [0.3, 0.6, 0.6]
    assert grown.pairs.filter(entry__stage=3).count() == sum(
        one.drawn[-1] for one in late.values()
    ), "campaigns take them up"


def test_estimates_stay_those_of_the_stage_before_until_the_late_pairs_are_judged(campaign):
    measures = ("--measures", "HT-P@10 HT-nDCG@10 xinfAP")
    before = run("evaluate", "--campaign", campaign.slug, *measures)
    grown = extended(campaign)
    assert read_stage_progress(grown)[:2] == (2, 3)
    now = run("evaluate", "--campaign", grown.slug, *measures)
    for tag in "AB":
        assert now["qrels"][grown.slug][tag] == before["qrels"][grown.slug][tag]
    assert len(read_campaign_sample(grown, LabelChoices()).pairs) == 3 * 50
    judge_stage(grown, 3)
    sample = read_campaign_sample(grown, LabelChoices())
    assert (sample.stage, len(sample.pairs)) == (3, 3 * 62)
    rankings = {
        "A": ranked("A"),
        "C": {t: [*LATE[t], *(f"new{t}-{k:02d}" for k in range(1, 13))] for t in TOPICS},
    }
    answer = run("evaluate", "--campaign", grown.slug, *measures, "--per-topic")
    for tag, ranking in rankings.items():
        by_hand = recomputed(exported(grown, "prels"), ranking)
        for measure, topics in answer["per_topic"][grown.slug][tag].items():
            assert topics == pytest.approx(by_hand[measure], abs=1e-12, rel=0), (tag, measure)


def test_a_further_stage_draws_from_late_strata_too_and_a_release_has_them(campaign):
    grown = extended(campaign)
    judge_stage(grown, 3)
    with pytest.raises(Refused, match="stages must be ascending shares"):
        sampling.request_stage(grown.pool, 0.6, user=None)
    assert do(sampling.request_stage(grown.pool, 1.0, user=None)).state == "done"
    pool = Pool.objects.get(pk=grown.pool_id)
    assert not pool.entries.filter(stage=None).exists()
    assert [one.drawn[-1] for one in pool.strata.all()] == [one.size for one in pool.strata.all()]
    assert "@3" in exported(grown, "sample")


def test_the_preview_tells_what_would_be_drawn_and_the_extension_can_be_taken_back(campaign):
    before, stages = drawn_as(campaign.pool), campaign.pool.parameters
    strata = list(campaign.pool.strata.values_list("number", "name", "size", "drawn"))
    late = list(campaign.collection.runs.filter(tag="C"))
    preview = do(pool_extension.request_extension_preview(campaign.pool, runs=late, user=None))
    assert (preview.report["facts"]["new pairs"], preview.report["facts"]["pairs drawn"]) == (
        36,
        22,
    )
    assert drawn_as(campaign.pool) == before
    grown = extended(campaign)
    assert do(pool_extension.request_undo_extension(grown.pool, user=None)).state == "done"
    pool = Pool.objects.get(pk=campaign.pool_id)
    assert drawn_as(pool) == before
    assert (pool.parameters, list(pool.strata.values_list("number", "name", "size", "drawn"))) == (
        stages,
        strata,
    )
    assert do(pools.request_extension(pool, runs=late, user=None)).state == "done", "and again"


def test_a_sampled_pool_grows_no_deeper(campaign):
    with pytest.raises(Refused, match="Draw another stage, or add unpooled runs"):
        pools.request_extension(campaign.pool, depth=N_RANKED + 1, user=None)

"""Sampled pools in the database: what is stored of the draw, and a stage that is drawn later."""

from __future__ import annotations

import pytest

from annotation.services.campaigns import lifecycle
from assay.pools.pool_kinds import get_stage_priority
from pooling.models import Collection, Pool
from pooling.platform.jobs import Refused
from pooling.selectors import pools as selectors
from pooling.services import pool_preview, pools, sampling
from tests.pooling.conftest import bring_in, run

pytestmark = pytest.mark.django_db


@pytest.fixture
def filled(collection, manager) -> Collection:
    """Three topics, two runs of forty documents each, thirty of them common."""
    bring_in(
        collection,
        "topics",
        "".join(f"{t}\tquery {t}\n" for t in (1, 2, 3)),
        name="topics.tsv",
        user=manager,
    )
    for tag, first in (("A", 0), ("B", 10)):
        lines = [
            f"{t} Q0 d{t}-{first + rank:02d} {rank + 1} {100 - rank} {tag}\n"
            for t in (1, 2, 3)
            for rank in range(40)
        ]
        bring_in(collection, "run", "".join(lines), name=f"{tag}.run", user=manager)
    return collection


def sampled(
    collection: Collection,
    *,
    stages=(0.1, 0.3),
    name: str = "sample",
    seed: int = 3,
    strata: str = "rank",
) -> Pool:
    making = sampling.make_sampled_parameters(strata, stages)
    job = run(
        pools.request_pool(
            collection,
            runs=list(collection.runs.all()),
            depth=40,
            seed=seed,
            name=name,
            making=making,
            user=None,
        )
    )
    assert job.state == "done", job.message
    return Pool.objects.get(pk=job.parameters["pool"])


def test_strata_places_stages_and_chances_are_stored(filled):
    pool = sampled(filled)
    assert (pool.kind, pool.words, pool.n_pairs) == ("sampled", "sampled, depth 40", 150)
    strata = list(pool.strata.all())
    assert sum(one.size for one in strata) == 150, "three topics of 50 documents"
    assert {one.name: one.size for one in strata if one.name.startswith("1/")} == {
        "1/1-3": 6,
        "1/4-10": 14,
        "1/11-20": 10,
        "1/21-50": 20,
    }
    for one in strata:
        entries = list(pool.entries.filter(stratum=one.number))
        assert sorted(entry.place for entry in entries) == list(range(one.size))
        for stage, n in enumerate(one.drawn, start=1):
            assert sum(entry.stage is not None and entry.stage <= stage for entry in entries) == n
        drawn = {entry.place for entry in entries if entry.stage}
        assert drawn == set(range(one.drawn[-1])), "a prefix of the shuffle"
    assert {(entry.entered, entry.priority) for entry in pool.entries.all()} == {
        ("chance", get_stage_priority(1)),
        ("chance", get_stage_priority(2)),
        ("", 0),
    }
    assert [stage.pairs for stage in selectors.list_drawn_stages(pool)] == [
        sum(one.drawn[k] for one in strata) for k in (0, 1)
    ]


def test_a_later_stage_adds_the_next_places_and_recounts_nothing(filled):
    pool, at_once = sampled(filled), sampled(filled, stages=(0.1, 0.3, 0.6), name="at once")
    before = dict(pool.entries.exclude(stage=None).values_list("pk", "stage"))
    sizes = dict(pool.strata.values_list("name", "size"))
    assert run(sampling.request_stage(pool, 0.6, user=None)).state == "done"
    pool.refresh_from_db()
    assert before.items() <= dict(pool.entries.values_list("pk", "stage")).items()
    assert dict(pool.strata.values_list("name", "size")) == sizes
    assert pool.parameters["stages"] == [0.1, 0.3, 0.6]
    assert list(pool.strata.values_list("name", "drawn")) == list(
        at_once.strata.values_list("name", "drawn")
    )
    assert list(selectors.iterate_table(pool)) == list(selectors.iterate_table(at_once))
    assert pool.digest == at_once.digest


def test_a_campaign_takes_up_a_new_stage(filled, manager):
    pool = sampled(filled)
    campaign = lifecycle.create_campaign(name="C", collection=filled, actor=manager)
    lifecycle.set_pool(campaign, pool)
    n = campaign.n_pairs
    assert n == pool.entries.exclude(stage=None).count()
    run(sampling.request_stage(pool, 0.6, user=None))
    campaign.refresh_from_db()
    assert campaign.n_pairs == pool.entries.exclude(stage=None).count() > n


def test_a_preview_says_what_the_stages_cost_and_what_half_of_them_answers(filled):
    making = sampling.make_sampled_parameters("rank", (0.2, 0.4))
    job = run(
        pool_preview.request_preview(
            filled, runs=list(filled.runs.all()), depth=40, making=making, user=None
        )
    )
    found = selectors.list_stages(job.report, judgements=2, seconds=36)
    assert [(one.percent, one.judgements) for one in found] == [
        (20, 2 * found[0].pairs),
        (40, 2 * found[1].pairs),
    ]
    assert found[0].hours == pytest.approx(found[0].pairs / 50), "72 s a pair"
    assert "1 of 2 stages are complete" in job.report["half_way"][0]
    assert not filled.pools.exists()


def test_an_attempt_that_did_not_end_is_begun_anew(filled, monkeypatch):
    making = sampling.make_sampled_parameters("votes", (0.2,))
    job = pools.request_pool(
        filled, runs=list(filled.runs.all()), depth=40, making=making, user=None
    )
    with monkeypatch.context() as broken:
        broken.setattr(pools, "store_pool_texts", lambda *_: 1 / 0)
        assert run(job).state == "failed"
    pool = Pool.objects.get(pk=job.parameters["pool"])
    assert pool.strata.exists()
    assert run(pools.request_rebuild(pool, user=None)).state == "done"
    assert (pool.entries.count(), sum(pool.strata.values_list("size", flat=True))) == (150, 150)


def test_what_is_no_way_to_sample_is_refused(filled):
    for strata, stages in (("colour", (0.2,)), ("rank", (0.3, 0.2)), ("rank", ())):
        with pytest.raises(Refused):
            sampling.make_sampled_parameters(strata, stages)
    with pytest.raises(Refused, match="stages must be ascending shares"):
        sampling.request_stage(sampled(filled), 0.3, user=None)
    plain = run(pools.request_pool(filled, runs=list(filled.runs.all()), depth=2, user=None))
    with pytest.raises(Refused, match="is not a sampled pool"):
        sampling.request_stage(Pool.objects.get(pk=plain.parameters["pool"]), 0.3, user=None)

"""A campaign on a pool of which stages are drawn: what is drawn is judged, stage by stage; what is
not is neither served nor forgotten."""

from __future__ import annotations

import pytest

from analysis.dashboard.progress import compute_progress
from analysis.judgements.live import get_snapshot
from analysis.judgements.rows import read_pool_ranks
from annotation.models import Campaign
from annotation.services.campaigns import lifecycle
from annotation.services.judging import scheduling
from assay.pools.pool_kinds import get_stage_priority
from pooling.models import Pool
from pooling.platform.jobs import Refused
from pooling.services.pools import check_extension
from tests.builders import make_annotator, make_campaign, make_collection, make_pool

pytestmark = pytest.mark.django_db

STAGES = {"d1": 2, "d2": 1, "d3": None, "d4": 1}
"""By document, of both topics."""


@pytest.fixture
def campaign() -> Campaign:
    collection = make_collection(n_topics=2, n_documents=4)
    pool = make_pool(collection)
    Pool.objects.filter(pk=pool.pk).update(kind="sampled")
    for entry in pool.entries.all():
        entry.stage = STAGES[entry.docno]
        entry.priority = get_stage_priority(entry.stage) if entry.stage else 0
        entry.save()
    pool.refresh_from_db()
    return make_campaign(collection=collection, pool=pool, judgements_per_pair=1)


def test_only_drawn_pairs_become_pairs_of_the_campaign(campaign):
    assert sorted(campaign.pairs.values_list("entry__docno", flat=True)) == [
        "d1",
        "d1",
        "d2",
        "d2",
        "d4",
        "d4",
    ]
    assert campaign.n_pairs == 6


def test_stages_are_served_one_after_the_other_whatever_the_band(campaign):
    Campaign.objects.filter(pk=campaign.pk).update(band=9)
    ada = make_annotator(Campaign.objects.get(pk=campaign.pk))
    served = [
        lease.pair.entry.docno
        for _ in range(6)
        if (lease := scheduling.claim_pair(ada)) is not None
    ]
    assert set(served[:4]) == {"d2", "d4"}
    assert served[4:] == ["d1", "d1"]


def test_progress_counts_stages(campaign):
    now = compute_progress(campaign, live=get_snapshot(campaign, fresh=0))
    assert [(level.rank, level.pairs) for level in now.depths] == [(1, 4), (2, 2)]
    assert campaign.pool.level_word == "stage"


def test_what_is_not_drawn_still_belongs_to_the_pool(campaign):
    """Else the pool would be called complete down to a rank at which pairs were left out."""
    assert len(read_pool_ranks(campaign)) == 8
    assert ("t1", "d3", 3) in read_pool_ranks(campaign)


def test_a_later_stage_only_adds(campaign):
    before = set(campaign.pairs.values_list("pk", flat=True))
    campaign.pool.entries.filter(docno="d3").update(stage=3, priority=get_stage_priority(3))
    assert lifecycle.add_new_pairs(campaign) == 2
    assert before < set(campaign.pairs.values_list("pk", flat=True))


def test_a_sampled_pool_is_not_extended_by_depth(campaign):
    Pool.objects.filter(pk=campaign.pool_id).update(built_at=campaign.created_at)
    with pytest.raises(Refused, match="is sampled, depth 10, so its depth can't change"):
        check_extension(Pool.objects.get(pk=campaign.pool_id), runs=[], depth=20)

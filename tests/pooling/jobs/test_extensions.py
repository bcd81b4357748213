"""An extension of a pool is previewed with its cost, and taken back as long as nothing of it was
judged."""

from __future__ import annotations

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.models import Campaign, Judgement, Lease, Membership, Pair
from annotation.services.campaigns.pairs import set_pool
from pooling.models import Job, Pool
from pooling.services import pool_extension, pools
from tests.pooling.conftest import bring_in, run


@pytest.fixture
def campaign(full, manager) -> Campaign:
    made = Campaign.objects.create(
        slug="c", name="C", collection=full, judgements_per_pair=3, expected_seconds=60
    )
    pool = full.pools.get()
    Pool.objects.filter(pk=pool.pk).update(name="Depth 2, 2 runs")
    set_pool(made, pool)
    assert (
        bring_in(
            full, "run", "051 Q0 n 1 9 N\n051 Q0 a 2 8 N\n051 Q0 m 3 7 N\n", user=manager
        ).state
        == "done"
    )
    return made


def entries(pool: Pool) -> list[tuple]:
    rows = pool.entries.order_by("position").values_list(
        "topic__topic_id", "docno", "best_rank", "priority", "position", "contributions"
    )
    return [(*row[:-1], sorted(row[-1].items())) for row in rows]


def extended(campaign, manager) -> Pool:
    pool = campaign.pool
    assert (
        run(
            pools.request_extension(
                pool, runs=list(campaign.collection.runs.filter(tag="N")), depth=3, user=manager
            )
        ).state
        == "done"
    )
    return Pool.objects.get(pk=pool.pk)


def test_the_preview_counts_pairs_judgements_and_hours_and_changes_nothing(
    campaign, client, manager
):
    client.force_login(manager)
    pool = campaign.pool
    before = entries(pool)
    answer = client.post(
        reverse("pool-change", args=[campaign.collection.slug, pool.pk]),
        {"action": "preview", "depth": 3, "runs": [campaign.collection.runs.get(tag="N").pk]},
    )
    job = run(Job.objects.first())
    # by hand: n and m are new, a is there: 2 pairs, 6 judgements, 6 minutes
    assert (job.report["facts"]["pairs before"], job.report["facts"]["new pairs"]) == (4, 2)
    cost = job.report["campaigns"][0]
    assert (cost["campaign"], cost["judgements"], cost["hours"], cost["end"]) == (
        "C",
        6,
        0.1,
        [None, None],
    )
    assert entries(pool) == before
    page = client.get(answer.url).content.decode()
    assert "2 new pairs for" in page
    assert "Nothing has changed yet" in page
    client.post(
        reverse("pool-change", args=[campaign.collection.slug, pool.pk]),
        {"action": "extend", "depth": 3, "runs": job.report["runs"]},
    )
    assert run(Job.objects.first()).report["facts"]["new pairs"] == 2


def test_an_extension_is_taken_back_whole(campaign, client, manager):
    client.force_login(manager)
    before, digest, pairs = (
        entries(campaign.pool),
        campaign.pool.digest,
        set(campaign.pairs.values_list("pk", flat=True)),
    )
    pool = extended(campaign, manager)
    assert (pool.name, pool.depth, pool.n_pairs, campaign.pairs.count()) == (
        "Depth 3, 3 runs",
        3,
        6,
        6,
    )
    assert (
        "Undo last extension"
        in client.get(reverse("pool", args=[campaign.collection.slug, pool.pk])).content.decode()
    )
    job = run(pool_extension.request_undo_extension(pool, user=manager))
    assert job.state == "done", job.message
    pool.refresh_from_db()
    assert entries(pool) == before
    assert (pool.name, pool.depth, pool.digest, pool.n_pairs, pool.extended_at) == (
        "Depth 2, 2 runs",
        2,
        digest,
        4,
        None,
    )
    assert set(campaign.pairs.values_list("pk", flat=True)) == pairs
    assert {(p.priority, p.position) for p in campaign.pairs.all()} == {
        (e.priority, e.position) for e in pool.entries.all()
    }
    campaign.refresh_from_db()
    assert campaign.n_pairs == 4
    with pytest.raises(pool_extension.Refused, match="no extension to undo"):
        pool_extension.request_undo_extension(pool, user=manager)
    assert extended(campaign, manager).n_pairs == 6  # and it can be made again


def test_an_extension_of_which_something_was_judged_stays(campaign, manager):
    pool = extended(campaign, manager)
    new = Pair.objects.get(entry__docno="m")
    member = Membership.objects.create(
        campaign=campaign, user=manager, role="annotator", pseudonym="A1"
    )
    now = timezone.now()
    Lease.objects.create(pair=new, membership=member, served_at=now, expires_at=now)
    Judgement.objects.create(
        key="00000000-0000-4000-8000-000000000001",
        pair=new,
        membership=member,
        grade=1,
        judged_at=now,
    )
    job = run(pool_extension.request_undo_extension(pool, user=manager))
    assert (job.state, job.message) == (
        "failed",
        "The extension can't be undone because 1 of its pairs has been judged.",
    )
    pool.refresh_from_db()
    assert (pool.n_pairs, pool.depth, campaign.pairs.count()) == (6, 3, 6)


def test_a_name_that_was_given_stays_and_can_be_changed(campaign, client, manager):
    client.force_login(manager)
    url = reverse("pool-change", args=[campaign.collection.slug, campaign.pool_id])
    client.post(url, {"action": "rename", "name": " The  main pool "})
    pool = extended(campaign, manager)
    assert pool.name == "The main pool"
    run(
        pools.request_pool(
            campaign.collection,
            runs=list(campaign.collection.runs.all()),
            depth=1,
            name="other",
            user=manager,
        )
    )
    assert (
        "already exists"
        in client.post(url, {"action": "rename", "name": "other"}, follow=True).content.decode()
    )

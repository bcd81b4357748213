"""A campaign and the pool it judges: what happens on one side when the other changes."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from annotation.models import Campaign, Membership, Pair
from annotation.services.pairs import set_pool
from pooling import jobs
from pooling.jobs import Refused
from pooling.services import pools
from pooling.services.collections import delete_collection
from tests.pooling.conftest import bring_in, run


@pytest.fixture
def campaign(full) -> Campaign:
    made = Campaign.objects.create(slug="c", name="C", collection=full)
    set_pool(made, full.pools.get())
    return made


def test_a_campaign_gets_the_new_pairs_and_the_new_order_when_its_pool_grows(campaign, full, manager):
    pool = full.pools.get()
    before = dict(Pair.objects.values_list("pk", "entry_id"))
    assert bring_in(full, "run", "051 Q0 n 1 9 N\n051 Q0 a 2 8 N\n", user=manager).state == "done"
    job = run(pools.ask_to_extend(pool, runs=list(full.runs.filter(tag="N")), depth=3, user=manager))
    assert job.state == "done", job.message
    after = dict(Pair.objects.values_list("pk", "entry_id"))
    assert before.items() <= after.items()
    assert len(after) == len(before) + 1
    assert {(p.priority, p.position) for p in Pair.objects.all()} == {(e.priority, e.position) for e in pool.entries.all()}


def test_a_pool_and_a_collection_that_a_campaign_uses_are_not_deleted(campaign, full):
    with pytest.raises(Refused, match="a campaign judges"):
        pools.delete_pool(full.pools.get())
    with pytest.raises(Refused, match="campaigns are built on"):
        delete_collection(full)
    assert full.pools.get().entries.exists()


def test_managers_of_a_campaign_see_its_jobs_and_its_annotators_do_not(campaign, client, monkeypatch):
    monkeypatch.setitem(jobs.KINDS, "test", jobs.Kind("test", lambda work: {}, "rows"))
    job = jobs.enqueue("test", {}, label="statistics", user=None, campaign_id=campaign.pk)
    for name, role, status in (("m", Membership.Role.MANAGER, 200), ("a", Membership.Role.ANNOTATOR, 404)):
        user = User.objects.create_user(name)
        Membership.objects.create(campaign=campaign, user=user, role=role, pseudonym=name)
        client.force_login(user)
        assert client.get(f"/jobs/{job.pk}/").status_code == status

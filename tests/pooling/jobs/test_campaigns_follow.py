"""A campaign and the pool it judges: what happens on one side when the other changes."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError

from annotation.models import Campaign, Membership, Pair
from annotation.services.campaigns.pairs import set_pool
from pooling import hooks
from pooling.models import Job, Pool
from pooling.platform import jobs
from pooling.platform.jobs import Refused
from pooling.services import pool_pairs, pools
from pooling.services.collections import delete_collection
from tests.pooling.conftest import bring_in, run


@pytest.fixture
def campaign(full) -> Campaign:
    made = Campaign.objects.create(slug="c", name="C", collection=full)
    set_pool(made, full.pools.get())
    return made


def test_a_campaign_gets_the_new_pairs_and_the_new_order_when_its_pool_grows(
    campaign, full, manager
):
    pool = full.pools.get()
    before = dict(Pair.objects.values_list("pk", "entry_id"))
    assert bring_in(full, "run", "051 Q0 n 1 9 N\n051 Q0 a 2 8 N\n", user=manager).state == "done"
    job = run(
        pools.request_extension(pool, runs=list(full.runs.filter(tag="N")), depth=3, user=manager)
    )
    assert job.state == "done", job.message
    after = dict(Pair.objects.values_list("pk", "entry_id"))
    assert before.items() <= after.items()
    assert len(after) == len(before) + 1
    assert {(p.priority, p.position) for p in Pair.objects.all()} == {
        (e.priority, e.position) for e in pool.entries.all()
    }


def test_a_pool_and_a_collection_that_a_campaign_uses_are_not_deleted(campaign, full):
    with pytest.raises(Refused, match="A campaign uses"):
        pools.delete_pool(full.pools.get())
    with pytest.raises(Refused, match="Campaigns use this collection"):
        delete_collection(full)
    assert full.pools.get().entries.exists()


def test_managers_of_a_campaign_see_its_jobs_and_its_annotators_do_not(
    campaign, client, monkeypatch
):
    monkeypatch.setitem(jobs.KINDS, "test", jobs.JobKind("test", lambda work: {}, "rows"))
    job = jobs.enqueue("test", {}, label="statistics", user=None, campaign_id=campaign.pk)
    for name, role, status in (
        ("m", Membership.Role.MANAGER, 200),
        ("a", Membership.Role.ANNOTATOR, 404),
    ):
        user = User.objects.create_user(name)
        Membership.objects.create(campaign=campaign, user=user, role=role, pseudonym=name)
        client.force_login(user)
        assert client.get(f"/jobs/{job.pk}/").status_code == status


def test_pairs_held_back_are_served_once_their_documents_are_imported(campaign, full, manager):
    """Pool entries x (topic 7) and d (topic 051) are in no document file; the fixture's file has a
    and b."""
    assert sorted(
        Pair.objects.filter(without_text=True).values_list("entry__docno", flat=True)
    ) == ["d", "x"]
    assert (
        bring_in(
            full,
            "documents",
            '{"_id": "d", "text": "text of d"}\n',
            name="more.jsonl",
            user=manager,
        ).state
        == "done"
    )
    assert run(Job.objects.get(kind="fetch documents", state="queued")).state == "done"
    assert list(Pair.objects.filter(without_text=True).values_list("entry__docno", flat=True)) == [
        "x"
    ]


def test_new_pairs_of_a_pool_that_grows_are_held_back_until_they_have_a_text(
    campaign, full, manager
):
    bring_in(
        full, "documents", '{"_id": "n", "text": "text of n"}\n', name="more.jsonl", user=manager
    )
    run(Job.objects.get(kind="fetch documents", state="queued"))
    bring_in(full, "run", "051 Q0 n 1 9 N\n051 Q0 gone 2 8 N\n", user=manager)
    assert (
        run(
            pools.request_extension(
                full.pools.get(), runs=list(full.runs.filter(tag="N")), user=manager
            )
        ).state
        == "done"
    )
    without = dict(Pair.objects.values_list("entry__docno", "without_text"))
    assert without == {"a": False, "b": False, "n": False, "d": True, "x": True, "gone": True}


def table(pool: Pool) -> list[tuple]:
    return sorted(
        pool.entries.values_list("topic__topic_id", "docno", "best_rank", "priority", "position")
    )


def test_an_extension_that_is_interrupted_leaves_the_pool_as_it_was(
    campaign, full, manager, monkeypatch
):
    write, rows = pool_pairs.update_entries, []

    def write_and_break(changes: list[tuple]) -> None:
        write(changes)
        rows.extend(table(pool))
        raise RuntimeError("the power is gone")

    pool = full.pools.get()
    before, pairs = (
        table(pool),
        sorted(Pair.objects.values_list("entry_id", "priority", "position")),
    )
    bring_in(full, "run", "051 Q0 n 1 9 N\n051 Q0 a 2 8 N\n", user=manager)
    with monkeypatch.context() as patch:
        patch.setattr(pools, "update_entries", write_and_break)
        assert (
            run(
                pools.request_extension(
                    pool, runs=list(full.runs.filter(tag="N")), depth=3, user=manager
                )
            ).state
            == "failed"
        )
    assert len(rows) == len(before) + 1  # everything was written
    assert rows != before
    pool.refresh_from_db()
    assert (table(pool), pool.depth, sorted(pool.runs.values_list("tag", flat=True))) == (
        before,
        2,
        ["A", "B"],
    )
    assert sorted(Pair.objects.values_list("entry_id", "priority", "position")) == pairs


def test_a_cancelled_extension_leaves_nothing_and_one_cancelled_too_late_is_completed(
    campaign, full, manager, monkeypatch
):
    pool = full.pools.get()
    before = table(pool)
    bring_in(full, "run", "051 Q0 n 1 9 N\n051 Q0 a 2 8 N\n", user=manager)
    new = list(full.runs.filter(tag="N"))
    job = pools.request_extension(pool, runs=new, depth=3, user=manager)
    with monkeypatch.context() as patch:
        patch.setattr(pools, "find_changed_entries", lambda *given: jobs.request_cancel(job) or [])
        assert run(job).state == "cancelled"
    assert table(pool) == before
    late = pools.request_extension(pool, runs=new, depth=3, user=manager)
    monkeypatch.setattr(
        hooks, "on_extended", [lambda *given: jobs.request_cancel(late), *hooks.on_extended]
    )
    assert run(late).state == "done"
    assert {(p.priority, p.position) for p in Pair.objects.all()} == {
        (e.priority, e.position) for e in pool.entries.all()
    }
    assert late.report["facts"]["new pairs"] == 1


def test_an_extension_whose_worker_died_before_the_campaign_followed_is_completed_by_the_next(
    campaign, full, manager, monkeypatch
):
    pool = full.pools.get()
    bring_in(full, "run", "051 Q0 n 1 9 N\n051 Q0 a 2 8 N\n", user=manager)
    job = pools.request_extension(pool, runs=list(full.runs.filter(tag="N")), depth=3, user=manager)

    def die(*_):
        raise OperationalError("the database went away")  # queued again, as after a death

    with monkeypatch.context() as patch:
        patch.setattr(hooks, "on_extended", [die])
        assert run(job).state == "queued"
    assert run(job).state == "done"
    assert {(p.priority, p.position) for p in Pair.objects.all()} == {
        (e.priority, e.position) for e in pool.entries.all()
    }
    assert (job.report["facts"]["pairs before"], job.report["facts"]["new pairs"]) == (4, 1)

from __future__ import annotations

import pytest

from pooling import hooks
from pooling.models import Topic
from pooling.platform import jobs
from pooling.platform.jobs import Refused
from pooling.selectors import pools as selectors
from pooling.services import pool_preview, pools, topics

A = "1 Q0 a 1 9 A\n1 Q0 b 2 8 A\n1 Q0 c 3 7 A\n2 Q0 x 1 9 A\n2 Q0 y 2 8 A\n"
B = "1 Q0 b 1 9 B\n1 Q0 d 2 8 B\n1 Q0 a 3 7 B\n2 Q0 x 1 5 B\n3 Q0 z 1 5 B\n"
C = "1 Q0 c 1 9 C\n2 Q0 w 1 9 C\n"
TOPICS = "1\tone\n2\ttwo\n3\tthree\n"


@pytest.fixture
def filled(collection, bring):
    bring("topics", TOPICS)
    bring("run", A)
    bring("run", B)
    return collection


def do(job):
    jobs.run_job(job.pk)
    job.refresh_from_db()
    assert job.state == "done", (job.message, job.report)
    return job


def built(collection, tags="AB", **options):
    job = do(
        pools.request_pool(
            collection, runs=list(collection.runs.filter(tag__in=tags)), user=None, **options
        )
    )
    return collection.pools.get(pk=job.parameters["pool"])


def pairs(pool) -> dict[tuple[str, str], tuple[int, int, dict[str, int]]]:
    rows = pool.entries.values_list(
        "topic__topic_id", "docno", "best_rank", "priority", "contributions"
    )
    return {(topic, docno): (best, priority, runs) for topic, docno, best, priority, runs in rows}


def test_a_pool_is_the_union_of_the_tops_with_best_rank_priority_and_provenance(filled):
    """By hand from A and B at depth 2."""
    pool = built(filled, depth=2)
    assert pairs(pool) == {
        ("1", "a"): (1, 1, {"A": 1}),
        ("1", "b"): (1, 1, {"A": 2, "B": 1}),
        ("1", "d"): (2, 0, {"B": 2}),
        ("2", "x"): (1, 1, {"A": 1, "B": 1}),
        ("2", "y"): (2, 0, {"A": 2}),
        ("3", "z"): (1, 1, {"B": 1}),
    }
    assert (pool.n_pairs, pool.by_depth, pool.missing_documents) == (6, {"1": 4, "2": 6}, 6)
    assert pool.coverage["unique"] == {"A": 2, "B": 2}
    assert pool.coverage["contributed"] == {"A": 4, "B": 4}
    assert pool.coverage["overlap"]["A"]["B"] == 0.5
    assert pool.built_at is not None


def test_the_best_rank_comes_first_and_pairs_of_a_topic_stay_together(filled):
    order = list(
        built(filled, depth=2)
        .entries.order_by("position")
        .values_list("best_rank", "topic__topic_id")
    )
    assert [rank for rank, _ in order] == [1, 1, 1, 1, 2, 2]
    topics_in_order = [topic for _, topic in order[:4]]
    assert [
        topic
        for i, topic in enumerate(topics_in_order)
        if i == 0 or topics_in_order[i - 1] != topic
    ] == list(dict.fromkeys(topics_in_order))


def test_the_same_inputs_give_the_same_file_and_another_seed_only_another_order(filled):
    first, second = (
        built(filled, depth=3, name="p", seed=4),
        built(filled, depth=3, name="q", seed=4),
    )
    assert first.digest == second.digest
    assert list(selectors.iterate_table(first)) == list(selectors.iterate_table(second))
    orders = {
        tuple(selectors.iterate_table(built(filled, depth=3, name=f"s{seed}", seed=seed)))
        for seed in range(6)
    }
    assert len(orders) > 1
    assert len({tuple(sorted("".join(order).splitlines())) for order in orders}) == 1


def test_the_pools_file_is_the_one_of_build_pool_and_its_digest_that_of_its_bytes(filled):
    from hashlib import sha256

    pool = built(filled, depth=2)
    text = "".join(selectors.iterate_table(pool))
    assert text.startswith("topic\tdocument\tbest_rank\tpriority\truns\n")
    assert "1\tb\t1\t1\tA:2,B:1\n" in text
    assert sha256(text.encode()).hexdigest() == pool.digest


def test_removed_topics_are_not_pooled(filled, manager):
    topics.decide_topics(filled, {Topic.objects.get(topic_id="1").pk: "remove"}, user=manager)
    assert {topic for topic, _ in pairs(built(filled, depth=2))} == {"2", "3"}


def test_a_preview_counts_the_pools_of_every_depth_as_building_them_would(filled):
    runs = list(filled.runs.all())
    report = do(pool_preview.request_preview(filled, runs=runs, depth=1, user=None)).report
    assert len(report["every_depth"]) == max(run.max_depth for run in runs) > 1
    for depth, n in enumerate(report["every_depth"], start=1):
        built = do(
            pools.request_pool(filled, runs=runs, depth=depth, name=f"of {depth}", user=None)
        )
        assert built.report["facts"]["pairs"] == n
    assert report["facts"]["pairs"] == report["every_depth"][0]


def test_a_preview_counts_what_the_pool_then_has_and_stores_nothing(filled):
    job = do(pool_preview.request_preview(filled, runs=list(filled.runs.all()), depth=2, user=None))
    assert not filled.pools.exists()
    pool = built(filled, depth=2)
    assert job.report["facts"]["pairs"] == pool.n_pairs
    assert job.report["by_depth"] == pool.by_depth
    assert {
        name: job.report[name] for name in ("unique", "overlap", "contributed")
    } == pool.coverage
    assert "run A has no result for 1 of 3 topics" in job.report["warnings"]


def test_the_cost_is_pairs_times_judgements_times_seconds(filled):
    job = do(pool_preview.request_preview(filled, runs=list(filled.runs.all()), depth=2, user=None))
    found = selectors.make_figures(job.report, judgements=3, seconds=60)
    assert [(d.depth, d.pairs, d.new, d.judgements, d.hours) for d in found.depths] == [
        (1, 4, 4, 12, 0.2),
        (2, 6, 2, 18, 0.3),
    ]
    assert found.shared == 2


def test_a_pool_extended_by_a_run_and_by_depth_equals_the_pool_built_from_all_at_once(
    filled, bring
):
    bring("run", C)
    pool = built(filled, depth=1, name="grows", seed=5)
    before = dict(pool.entries.values_list("pk", "docno"))
    do(pools.request_extension(pool, runs=list(filled.runs.filter(tag="C")), user=None))
    do(pools.request_extension(pool, depth=3, user=None))
    pool.refresh_from_db()
    at_once = built(filled, tags="ABC", depth=3, name="at once", seed=5)
    assert list(selectors.iterate_table(pool)) == list(selectors.iterate_table(at_once))
    assert (pool.digest, pool.depth, pool.n_pairs) == (at_once.digest, 3, at_once.n_pairs)
    assert (
        before.items() <= dict(pool.entries.values_list("pk", "docno")).items()
    )  # the same rows, so their judgements stay theirs
    assert sorted(pool.runs.values_list("tag", flat=True)) == ["A", "B", "C"]
    assert pool.extended_at is not None


def test_pairs_of_a_topic_removed_later_stay_when_the_pool_grows(filled, manager):
    pool = built(filled, depth=1)
    topics.decide_topics(filled, {Topic.objects.get(topic_id="3").pk: "remove"}, user=manager)
    do(pools.request_extension(pool, depth=2, user=None))
    assert ("3", "z") in pairs(pool)


def test_apps_that_asked_for_it_are_told_when_a_pool_has_grown(filled, monkeypatch):
    told = []
    monkeypatch.setattr(
        hooks, "on_extended", [lambda pool, work: told.append((pool.pk, pool.entries.count()))]
    )
    pool = built(filled, depth=1)
    assert told == []
    do(pools.request_extension(pool, depth=2, user=None))
    assert told == [(pool.pk, 6)]


def test_building_goes_on_after_a_worker_died_halfway(filled, monkeypatch):
    monkeypatch.setattr(jobs, "SQLITE_ROWS", 2)
    monkeypatch.setattr(jobs, "ROWS", 2)
    job = pools.request_pool(filled, runs=list(filled.runs.all()), depth=2, user=None)
    pool = filled.pools.get()
    pool.entries.create(
        topic=Topic.objects.get(topic_id="1"),
        docno="left over",
        best_rank=1,
        priority=1,
        position=0,
    )
    do(job)
    assert len(pairs(pool)) == 6
    assert ("1", "left over") not in pairs(pool)


def test_what_cannot_be_is_refused_in_words(collection, filled, bring, manager):
    from pooling.services.collections import create_collection

    with pytest.raises(Refused, match="at least one run"):
        pools.request_pool(filled, runs=[], depth=2, user=None)
    other = create_collection(name="Other", user=manager)
    with pytest.raises(Refused, match="another collection"):
        pools.request_pool(other, runs=list(filled.runs.all()), depth=2, user=None)
    pool = built(filled, depth=2, name="p")
    with pytest.raises(Refused, match="A pool named p already exists"):
        pools.request_pool(filled, runs=list(filled.runs.all()), depth=2, name="p", user=None)
    with pytest.raises(Refused, match="can't be reduced"):
        pools.request_extension(pool, depth=1, user=None)
    with pytest.raises(Refused, match="nothing to add"):
        pools.request_extension(pool, runs=list(pool.runs.all()), user=None)
    pools.request_extension(pool, depth=3, user=None)
    with pytest.raises(Refused, match="in use by a background job"):
        pools.request_extension(pool, depth=4, user=None)
    with pytest.raises(Refused, match="in use by a background job"):
        pools.delete_pool(pool)


def test_runs_without_a_kept_topic_fail_with_a_question(collection, bring):
    bring("topics", "q1\tone\n")
    bring("run", A)
    job = pools.request_pool(collection, runs=list(collection.runs.all()), depth=2, user=None)
    jobs.run_job(job.pk)
    job.refresh_from_db()
    assert job.state == "failed"
    assert "Check that runs and topics use the same topic IDs" in job.message
    assert collection.pools.get().built_at is None


def test_ids_and_tags_that_the_database_cannot_hold_are_refused_in_words(collection, bring):
    bring("topics", "1\tone\n")
    assert "the maximum is 200" in bring("run", f"1 Q0 d 1 1 {'t' * 201}\n").message
    bring("run", f"1 Q0 {'d' * 256} 1 1 long\n")
    job = pools.request_pool(collection, runs=list(collection.runs.all()), depth=2, user=None)
    jobs.run_job(job.pk)
    job.refresh_from_db()
    assert "A document ID is longer than 255 characters" in job.message

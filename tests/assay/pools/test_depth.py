"""Depth-k pools against a dictionary, their order, and their growth."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest

from assay.formats.runs import make_run
from assay.pools.coverage import compute_overlap, count_shared_pairs, count_unique_pairs
from assay.pools.depth import PooledPairs, cut_run, extend_pool, make_depth_pool, shrink_pool


def ranked(tag: str, rankings: dict[str, str], *, depth: int = 100, topics=None):
    """A top from {topic: "best second third"}."""
    rows = [
        (t, d, -float(rank))
        for t, documents in rankings.items()
        for rank, d in enumerate(documents.split())
    ]
    return cut_run(make_run(tag, rows), depth, topics=topics)


def pooled(tops, depth: int, seed: int = 0) -> PooledPairs:
    return make_depth_pool(tops, depth=depth, rng=np.random.default_rng(seed))


def contents(pool: PooledPairs) -> dict[tuple[str, str], tuple[int, int, dict[str, int]]]:
    return {(p.topic, p.document): (p.best_rank, p.priority, dict(p.runs)) for p in pool}


def random_tops(seed: int, *, n_runs: int = 4, n_topics: int = 5, depth: int = 100):
    rng = random.Random(seed)
    tops, plain = [], []
    for r in range(n_runs):
        rankings = {
            f"t{t}": [
                f"{'long-document-id-' if seed % 2 else 'd'}{d}"
                for d in rng.sample(range(30), rng.randrange(1, 20))
            ]
            for t in range(n_topics)
            if rng.random() < 0.9
        }
        plain.append((f"run{r}", rankings))
        tops.append(ranked(f"run{r}", {t: " ".join(ds) for t, ds in rankings.items()}, depth=depth))
    return tops, plain


def by_hand(plain, depth: int) -> dict[tuple[str, str], tuple[int, int, dict[str, int]]]:
    runs: dict[tuple[str, str], dict[str, int]] = {}
    for tag, rankings in plain:
        for topic, documents in rankings.items():
            for rank, document in enumerate(documents[:depth], 1):
                runs.setdefault((topic, document), {})[tag] = rank
    return {
        pair: (min(ranks.values()), depth - min(ranks.values()), ranks)
        for pair, ranks in runs.items()
    }


def test_a_small_pool_by_hand():
    pool = pooled([ranked("A", {"1": "a b c", "2": "x"}), ranked("B", {"1": "b d a"})], 2)
    assert contents(pool) == {
        ("1", "a"): (1, 1, {"A": 1}),
        ("1", "b"): (1, 1, {"A": 2, "B": 1}),
        ("1", "d"): (2, 0, {"B": 2}),
        ("2", "x"): (1, 1, {"A": 1}),
    }
    assert pool.by_depth() == {1: 3, 2: 4}
    assert count_unique_pairs(pool).tolist() == [2, 1]
    assert compute_overlap(pool).tolist() == [[1, 1 / 3], [0.5, 1]]


@pytest.mark.parametrize("seed", range(25))
def test_pools_equal_a_dictionary(seed):
    tops, plain = random_tops(seed)
    depth = random.Random(seed).choice([1, 3, 10, 50])
    pool = pooled(tops, depth)
    expected = by_hand(plain, depth)
    assert contents(pool) == expected
    assert pool.by_depth() == {k: len(by_hand(plain, k)) for k in range(1, depth + 1)}
    for k, (tag, _) in enumerate(plain):
        assert count_unique_pairs(pool)[k] == sum(
            list(runs) == [tag] for _, _, runs in expected.values()
        )
        for m, (other, _) in enumerate(plain):
            assert count_shared_pairs(pool)[k, m] == sum(
                tag in runs and other in runs for _, _, runs in expected.values()
            )


def test_priorities_descend_and_pairs_of_a_topic_stay_together_within_a_priority():
    pool = pooled(random_tops(3, n_topics=12)[0], 6)
    pairs = list(pool)
    assert [p.priority for p in pairs] == sorted((p.priority for p in pairs), reverse=True)
    for priority in range(6):
        topics = [p.topic for p in pairs if p.priority == priority]
        changes = sum(a != b for a, b in pairwise(topics))
        assert changes == len(set(topics)) - 1
        for topic in set(topics):
            documents = [
                p.document.encode() for p in pairs if p.priority == priority and p.topic == topic
            ]
            assert documents == sorted(documents)


def test_the_same_seed_gives_the_same_order_whatever_the_order_of_runs_and_another_seed_another():
    tops, _ = random_tops(5, n_topics=12)
    order = [(p.topic, p.document) for p in pooled(tops, 8)]
    assert [(p.topic, p.document) for p in pooled(tops[::-1], 8)] == order
    assert [(p.topic, p.document) for p in pooled(tops, 8, seed=1)] != order
    assert sorted((p.topic, p.document) for p in pooled(tops, 8, seed=1)) == sorted(order)


def test_topics_do_not_come_in_the_same_order_in_every_priority():
    pool = pooled([ranked("A", {f"t{k}": "a b c d" for k in range(30)})], 4)
    orders = [[p.topic for p in pool if p.priority == priority] for priority in range(4)]
    assert len({tuple(order) for order in orders}) == 4


@pytest.mark.parametrize("seed", range(15))
def test_a_pool_extended_by_runs_is_the_pool_of_all_runs(seed):
    tops, _ = random_tops(seed, n_runs=5)
    half = pooled(tops[:2], 6)
    assert list(extend_pool(half, tops[2:], rng=np.random.default_rng(0))) == list(pooled(tops, 6))


@pytest.mark.parametrize("seed", range(15))
def test_a_pool_deepened_is_the_deeper_pool(seed):
    tops, _ = random_tops(seed)
    shallow = pooled(tops, 3)
    deeper = extend_pool(shallow, tops, depth=9, rng=np.random.default_rng(0))
    assert list(deeper) == list(pooled(tops, 9))
    assert {(p.topic, p.document) for p in shallow} <= {(p.topic, p.document) for p in deeper}


@pytest.mark.parametrize("seed", range(5))
def test_a_pool_without_what_extended_it_is_the_pool_before(seed):
    tops, _ = random_tops(seed, n_runs=5)
    before = pooled(tops[:3], 6)
    larger = extend_pool(before, tops, depth=9, rng=np.random.default_rng(1))
    assert len(larger) > len(before)
    assert list(
        shrink_pool(larger, tags=before.tags, depth=6, rng=np.random.default_rng(0))
    ) == list(before)


def test_a_pair_keeps_its_best_rank_when_a_run_comes_again_with_a_worse_one():
    first = pooled([ranked("A", {"1": "a b"})], 2)
    again = extend_pool(
        first, [ranked("A", {"1": "c d b a"})], depth=4, rng=np.random.default_rng(0)
    )
    assert contents(again)[("1", "a")] == (1, 3, {"A": 1})
    assert contents(again)[("1", "d")] == (2, 2, {"A": 2})


def test_a_pool_is_never_made_shallower():
    pool = pooled([ranked("A", {"1": "a b c"})], 3)
    assert list(extend_pool(pool, [], depth=1, rng=np.random.default_rng(0))) == list(pool)


def test_only_wanted_topics_are_taken():
    assert contents(pooled([ranked("A", {"1": "a", "2": "b"}, topics=["2", "7"])], 3)) == {
        ("2", "b"): (1, 2, {"A": 1})
    }
    assert len(pooled([ranked("A", {"1": "a"}, topics=["7"])], 3)) == 0


def test_a_top_does_not_hold_on_to_its_run():
    run = make_run("A", [("1", f"d{k}", -float(k)) for k in range(1000)])
    top = cut_run(run, 2)
    assert len(top.documents) == 2
    assert not np.shares_memory(top.documents, run.documents)


@pytest.mark.parametrize("depth", [0, -1, 40_000])
def test_an_impossible_depth_is_an_error(depth):
    with pytest.raises(ValueError, match="depth"):
        ranked("A", {"1": "a"}, depth=depth)
    with pytest.raises(ValueError, match="depth"):
        pooled([ranked("A", {"1": "a"})], depth)


def test_two_runs_with_one_tag_are_an_error():
    with pytest.raises(ValueError, match="tag"):
        pooled([ranked("A", {"1": "a"}), ranked("A", {"1": "b"})], 1)

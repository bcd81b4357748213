"""Prioritised pools: the rank model and planned batches."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from assay.pools.batches import BatchGoal, OrderedPool
from assay.pools.depth import PooledPairs
from assay.pools.rank_model import (
    PENALTY,
    fit_logistic,
    fit_rank_model,
    make_pool_features,
    score_pairs,
    topic_log_odds,
)
from tests.assay.pools.judged_pools import judged_pool


def pool_of(*runs: str, topics: int = 1) -> PooledPairs:
    """Every topic has the same runs, a letter a document."""
    letters = sorted(set("".join(runs)))
    ranks = np.array([[run.find(letter) + 1 for run in runs] for letter in letters], np.int16)
    n = len(letters)
    best = np.where(ranks > 0, ranks, 99).min(axis=1).astype(np.int32)
    return PooledPairs(
        depth=10,
        tags=[f"r{k}" for k in range(len(runs))],
        topics=[str(t) for t in range(topics)],
        topic=np.repeat(np.arange(topics, dtype=np.int32), n),
        documents=np.tile(np.array([x.encode() for x in letters]), topics),
        best_rank=np.tile(best, topics),
        priority=np.zeros(n * topics, np.int32),
        ranks=np.tile(ranks, (topics, 1)),
        everyone=np.zeros(n * topics, bool),
    )


def unjudged(pool: PooledPairs) -> tuple[np.ndarray, np.ndarray]:
    return np.full(len(pool), np.nan), np.zeros(len(pool), bool)


def test_before_anything_is_judged_reciprocal_rank_fusion_orders() -> None:
    """Runs a b c d, b a e f and e c a g give a b e c d f g. d and f tie and are sorted by
    document."""
    pool = pool_of("abcd", "baef", "ecag")
    features = make_pool_features(pool)
    order = np.argsort(-np.round(score_pairs(features, np.full(7, np.nan), None), 9), kind="stable")
    assert b"".join(pool.documents[features.rows[order]]) == b"abecdfg"
    assert features.fused[0] == pytest.approx(1 / 61 + 1 / 62 + 1 / 63)


def test_the_start_gives_every_topic_the_same_number() -> None:
    pool = pool_of("abcd", "baef", "ecag", topics=3)
    labels, handed = unjudged(pool)
    batch = OrderedPool.from_pool(pool).plan_batch(labels, handed, stage=0, seed=1, size=9, audit=0)
    assert not batch.by_model
    assert np.bincount(pool.topic[batch.rows]).tolist() == [3, 3, 3]
    assert set(pool.documents[batch.rows].tolist()) == {b"a", b"b", b"e"}
    few = OrderedPool.from_pool(pool).plan_batch(labels, handed, stage=0, seed=1, size=2, audit=0)
    assert np.bincount(pool.topic[few.rows]).tolist() == [1, 1, 1]  # at least one of each


def test_log_odds_of_a_topic_as_worked_by_hand() -> None:
    """Topic 0: 1 of 2 relevant, topic 1: 0 of 2; rate 1/4: ln(1.52 / 2.52) and ln(.52 / 3.52)."""
    features = make_pool_features(pool_of("ab", topics=2))
    assert topic_log_odds(features, np.array([1.0, 0, 0, 0])) == pytest.approx(
        np.log([1.52 / 2.52, 0.52 / 3.52])
    )
    assert topic_log_odds(features, np.array([1.0, np.nan, np.nan, np.nan])) == pytest.approx(
        np.log([3.02 / 0.02, 2.02 / 0.02])
    )


def test_features_as_worked_by_hand() -> None:
    """Two runs, documents a (ranks 1, 12) and b (rank 2 in the first): shares of ten 1/2, 1/2; of
    all 1, 1/2; before scaling."""
    pool = replace(
        pool_of("ab", "a"),
        ranks=np.array([[1, 12], [2, 0]], np.int16),
        best_rank=np.array([1, 2], np.int32),
    )
    fixed = make_pool_features(pool).fixed
    root = np.sqrt(2)
    assert fixed[0] == pytest.approx(
        [1 / root, 1 / root, 1, -1, 0, 1]
    )  # two values standardise to plus and minus one
    assert fixed[1] == pytest.approx([-1 / root, -1 / root, -1, 1, 0, -1])


def test_the_regression_is_that_of_scikit_learn() -> None:
    rng = np.random.default_rng(3)
    columns = rng.normal(size=(400, 6))
    classes = (rng.random(400) < 1 / (1 + np.exp(-(columns @ [1, -2, 0.5, 0, 0, 3] - 1)))).astype(
        float
    )
    importance = rng.integers(0, 4, 400).astype(float)
    theirs = LogisticRegression(C=PENALTY, tol=1e-10, max_iter=10_000).fit(
        columns, classes, sample_weight=importance
    )
    ours = fit_logistic(columns, classes, importance)
    assert ours[:-1] == pytest.approx(theirs.coef_[0], abs=1e-5)
    assert ours[-1] == pytest.approx(theirs.intercept_[0], abs=1e-5)
    assert fit_logistic(columns, classes, importance, start=rng.normal(size=7)) == pytest.approx(
        ours, abs=1e-5
    )


def test_classes_that_the_features_separate_are_no_trouble() -> None:
    columns = np.array([[-1.0], [-0.5], [0.5], [1.0]])
    found = fit_logistic(columns, np.array([0.0, 0, 1, 1]), np.ones(4))
    assert found[0] == pytest.approx(
        LogisticRegression(C=PENALTY, tol=1e-10).fit(columns, [0, 0, 1, 1]).coef_[0, 0], abs=1e-5
    )


def test_one_class_alone_teaches_nothing() -> None:
    features = make_pool_features(pool_of("abcd"))
    assert fit_rank_model(features, np.array([0.0, 0, np.nan, np.nan])) is None
    assert fit_rank_model(features, np.full(4, np.nan)) is None


def test_what_the_first_ranks_taught_comes_first() -> None:
    """Whatever only the second run found was relevant; the model then prefers what that run
    found."""
    pool = pool_of("abcdefghij", "klmnopqrst", topics=4)
    labels, handed = unjudged(pool)
    for topic in range(2):
        for document in "abcklm":
            row = topic * 20 + ord(document) - ord("a")
            handed[row], labels[row] = True, float(document in "klm")
    batch = OrderedPool.from_pool(pool).plan_batch(
        labels, handed, stage=1, seed=0, size=14, audit=0
    )
    assert batch.by_model
    assert all(document >= b"k" for document in pool.documents[batch.rows].tolist())


def test_a_batch_has_topic_blocks_and_its_audit_pairs_come_from_all_that_was_left() -> None:
    pool = pool_of("abcdefghij", "klmnopqrst", topics=6)
    labels, handed = unjudged(pool)
    handed[:30] = True
    labels[:30] = [1.0, 0.0] * 15
    batch = OrderedPool.from_pool(pool).plan_batch(
        labels, handed, stage=2, seed=5, size=40, audit=0.25
    )
    assert (len(batch.rows), int(batch.audit.sum()), batch.n_left) == (40, 10, 90)
    assert len(set(batch.rows.tolist())) == 40
    assert not handed[batch.rows].any()
    topics = pool.topic[batch.rows]
    assert len(set(topics.tolist())) == 1 + int(
        (topics[1:] != topics[:-1]).sum()
    )  # each topic once, in one piece


def test_every_pair_left_has_the_same_chance_to_be_an_audit_pair() -> None:
    pool = pool_of("abcdefghij", topics=2)
    labels, handed = unjudged(pool)
    handed[:4] = True
    ordered = OrderedPool.from_pool(pool)
    counts = np.zeros(20)
    for seed in range(2000):
        batch = ordered.plan_batch(labels, handed, stage=0, seed=seed, size=8, audit=0.5)
        counts[batch.rows[batch.audit]] += 1
    assert counts[:4].sum() == 0
    assert counts[4:].sum() == 2000 * 4
    assert abs(counts[4:] - 500).max() < 6 * np.sqrt(2000 * 0.25 * 0.75)


def test_the_end_takes_what_is_left() -> None:
    pool = pool_of("abcd")
    labels, handed = np.array([1.0, 0, np.nan, np.nan]), np.array([True, True, True, False])
    batch = OrderedPool.from_pool(pool).plan_batch(
        labels, handed, stage=3, seed=0, size=250, audit=0.1
    )
    assert batch.rows.tolist() == [3]
    handed[3] = True
    assert len(OrderedPool.from_pool(pool).plan_batch(labels, handed, stage=4, seed=0).rows) == 0


def test_equal_shares_bring_every_topic_as_far() -> None:
    pool = pool_of("abcdefghij", topics=3)
    keep = np.r_[0:10, 10:20, 20:25]
    pool = replace(
        pool,
        topic=pool.topic[keep],
        documents=pool.documents[keep],
        best_rank=pool.best_rank[keep],
        priority=pool.priority[keep],
        ranks=pool.ranks[keep],
        everyone=pool.everyone[keep],
    )
    labels, handed = unjudged(pool)
    for row, label in ((0, 1.0), (1, 1.0), (2, 0.0), (10, 0.0)):
        handed[row], labels[row] = True, label
    batch = OrderedPool.from_pool(pool).plan_batch(
        labels, handed, stage=1, seed=0, size=11, audit=0, goal=BatchGoal.EQUAL
    )
    handed[batch.rows] = True
    assert np.bincount(pool.topic[handed]).tolist() == [6, 6, 3]


@pytest.mark.data
def test_relevant_first_finds_what_it_was_measured_to_find(data_folder: Path) -> None:
    """dl21: recall 0.25 at 10% and 0.46 at 20% of the pool, compared with 0.17 and 0.31 by rank."""
    pool, grades = judged_pool(
        data_folder / "dl21-passage", "runs-judged53", "qrels.nist.txt.gz", depth=10
    )
    assert (len(pool), len(pool.topics)) == (7363, 53)
    relevant = (grades >= 2).astype(float)
    found = {}
    for audit in (0.0, 0.2):
        ordered, (labels, handed), stage = OrderedPool.from_pool(pool), unjudged(pool), 0
        while handed.sum() < 0.2 * len(pool):
            batch = ordered.plan_batch(
                labels,
                handed,
                stage=stage,
                seed=0,
                audit=audit,
                size=min(250, 1473 - int(handed.sum())),
            )
            handed[batch.rows], labels[batch.rows] = True, relevant[batch.rows]
            stage += 1
        found[audit] = float(relevant[handed].sum() / relevant.sum())
    assert found[0.0] == pytest.approx(0.46, abs=0.01)
    assert found[0.0] - 0.07 < found[0.2] < found[0.0]
    assert relevant[:1473].sum() / relevant.sum() == pytest.approx(0.31, abs=0.01)


@pytest.mark.data
def test_the_order_of_files_and_rows_changes_nothing(data_folder: Path) -> None:
    """The same seed and judgements give the same pairs in the same order."""
    pool, grades = judged_pool(
        data_folder / "clef-ehealth-2015",
        "runs-top100",
        "qrels.eng.clef2015.qtest.graded.txt.gz",
        depth=100,
    )
    rng = np.random.default_rng(1)
    rows, runs = rng.permutation(len(pool)), rng.permutation(len(pool.tags))
    turned = replace(
        pool,
        tags=[pool.tags[k] for k in runs.tolist()],
        topic=pool.topic[rows],
        documents=pool.documents[rows],
        best_rank=pool.best_rank[rows],
        priority=pool.priority[rows],
        ranks=pool.ranks[np.ix_(rows, runs)],
        everyone=pool.everyone[rows],
    )
    orders = []
    for one, truth in ((pool, grades), (turned, grades[rows])):
        ordered, (labels, handed), order = OrderedPool.from_pool(one), unjudged(one), []
        for stage in range(6):
            batch = ordered.plan_batch(labels, handed, stage=stage, seed=11)
            handed[batch.rows], labels[batch.rows] = True, truth[batch.rows] >= 1
            order += [
                (one.topics[t], d)
                for t, d in zip(
                    one.topic[batch.rows].tolist(), one.documents[batch.rows].tolist(), strict=True
                )
            ]
        orders.append(order)
        again = OrderedPool.from_pool(one)  # another worker, which has no fit to begin from
        batch = again.plan_batch(labels, handed, stage=6, seed=11)
        assert (
            batch.rows.tolist()
            == ordered.plan_batch(labels, handed, stage=6, seed=11).rows.tolist()
        )
    assert orders[0] == orders[1]

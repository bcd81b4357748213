"""Stopping rules of partly judged pools: arithmetic by hand, and real judgements."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from assay.pools.rank_model import make_pool_features
from assay.sampling.correction import (
    EstimationTargets,
    RunRankSummary,
    make_regression_features,
    stratified_variance,
)
from assay.sampling.estimates import JudgedSample
from assay.sampling.stopping import (
    PairOrder,
    RemainingRelevant,
    SampledComparison,
    can_stop,
    compare_sampled_systems,
    decide_pairs,
    estimate_remaining_relevant,
    has_reached_recall,
    make_top_k_matrix,
    no_check_reason,
    simulate_scores,
)
from tests.assay.pools.judged_pools import judged_pool
from tests.assay.pools.test_batches import pool_of


def test_sixty_audit_pairs_without_a_relevant_one_bound_the_rate_by_five_percent() -> None:
    """1 - 0.05^(1/60) = 0.0487."""
    left = estimate_remaining_relevant(1000, 0, 60)
    assert left.estimate == 0
    assert left.upper == pytest.approx(1000 * (1 - 0.05 ** (1 / 60)))
    assert round(left.upper / 1000, 4) == 0.0487


def test_the_bound_is_where_so_few_would_be_found_in_five_percent_of_samples() -> None:
    for relevant, n in ((1, 25), (5, 60), (10, 40)):
        upper = estimate_remaining_relevant(500, relevant, n).upper / 500
        assert binom.cdf(relevant, n, upper) == pytest.approx(0.05)


def test_what_has_been_found_is_not_left() -> None:
    left = estimate_remaining_relevant(200, 4, 40, found_since=15)
    assert left.estimate == pytest.approx(200 * 4 / 40 - 15)
    assert left.upper == pytest.approx(estimate_remaining_relevant(200, 4, 40).upper - 15)
    assert estimate_remaining_relevant(10, 3, 10, found_since=3) == RemainingRelevant(
        0.0, 0.0
    )  # all were audited
    assert math.isnan(estimate_remaining_relevant(10, 0, 0).estimate)
    assert estimate_remaining_relevant(10, 0, 0).upper == 10


def test_a_recall_is_reached_when_at_most_its_share_is_left() -> None:
    """90 of at most 100: .9 of the relevant are found when at most 10 are left."""
    assert has_reached_recall(90, RemainingRelevant(5.0, 10.0), recall=0.9)
    assert not has_reached_recall(90, RemainingRelevant(5.0, 10.5), recall=0.9)
    assert not has_reached_recall(0, RemainingRelevant(0.0, 0.0), recall=0.9)


def completions(*rows: list[float]) -> np.ndarray:
    return np.array(rows)


def test_decided_equal_and_open_by_hand() -> None:
    """20 completions: b is ahead of a in one of 20 (.05, not under .05); c is .2 behind in all; d
    is within .01 of c in all."""
    a = [0.6] * 20
    b = [0.5] * 19 + [0.7]
    found = decide_pairs(completions(a, b, [0.4] * 20, [0.395] * 20), ["a", "b", "c", "d"])
    by_pair = {(decision.a, decision.b): decision for decision in found}
    assert by_pair["a", "b"].order is PairOrder.OPEN
    assert by_pair["a", "b"].flip == 0.05
    assert by_pair["a", "c"].order is PairOrder.BEFORE
    assert by_pair["c", "d"].order is PairOrder.EQUAL
    assert len(found) == 6
    assert not can_stop(found)
    assert can_stop(decide_pairs(completions(a, [0.4] * 20), ["a", "b"]))
    nearly_all = completions(a, [0.595] * 19 + [0.7])  # within .01 in 19 of 20, which is .95
    assert [decision.order for decision in decide_pairs(nearly_all, ["a", "b"])] == [
        PairOrder.EQUAL
    ]


def test_only_the_best_five_are_asked() -> None:
    found = decide_pairs(np.linspace(0.9, 0.1, 8)[:, None] * np.ones(40), list("abcdefgh"))
    assert {(decision.a, decision.b) for decision in found} == {
        (x, y) for x, y in product("abcde", repeat=2) if x < y
    }
    assert not can_stop([])


def test_looks_are_few() -> None:
    assert "10 judged pairs per topic (9.5 now)" in (no_check_reason(190, 1000, 20) or "")
    assert "advice needs at least 10" in (no_check_reason(500, 1000, 9) or "")
    assert no_check_reason(200, 1000, 20) is None
    assert "at 300" in (no_check_reason(299, 1000, 20, last=200) or "")
    assert no_check_reason(300, 1000, 20, last=200) is None
    assert no_check_reason(1000, 1000, 20, last=950) is None  # all are judged


def test_ndcg_of_a_completion_by_hand() -> None:
    """Run 0: a b, run 1: b a; a is worth 2 and b 1, or 0 and 1."""
    tops = make_top_k_matrix(pool_of("ab", "ba"), cutoff=2)
    second = 1 / math.log2(3)
    found = tops.ndcg(np.array([[2.0, 0.0], [1.0, 1.0]]))
    assert found[:, 0] == pytest.approx([1, (1 + 2 * second) / (2 + second)])
    assert found[:, 1] == pytest.approx([second, 1])


def test_a_fully_judged_pool_has_one_possible_completion() -> None:
    pool = pool_of("abcdefghij", "jihgfedcba", topics=12)
    grades = np.tile(np.array([2, 1, 0, 0, 0, 0, 0, 0, 0, 0]), 12)
    tops = make_top_k_matrix(pool)
    found = simulate_scores(
        make_pool_features(pool), tops, grades, min_relevant=1, rng=np.random.default_rng(0)
    )
    assert found is not None
    assert found == pytest.approx(np.repeat(tops.ndcg(grades[:, None].astype(float)), 40, axis=1))
    nothing = simulate_scores(
        make_pool_features(pool),
        tops,
        np.zeros(120, int),
        min_relevant=1,
        rng=np.random.default_rng(0),
    )
    assert nothing is None


@pytest.mark.data
def test_decisions_on_a_fraction_of_real_judgements_hold_when_all_is_judged(
    data_folder: Path,
) -> None:
    """dl21 level by level: wherever the rule decides, the whole pool says the same to within
    .01."""
    pool, grades = judged_pool(
        data_folder / "dl21-passage", "runs-judged53", "qrels.nist.txt.gz", depth=10
    )
    features, tops = make_pool_features(pool), make_top_k_matrix(pool)
    truth = dict(
        zip(pool.tags, tops.ndcg(grades[:, None].astype(float))[:, 0].tolist(), strict=True)
    )
    n_decided = 0
    for share in (0.5, 0.8):
        seen = np.where(np.arange(len(pool)) < share * len(pool), grades, -1)
        found = simulate_scores(features, tops, seen, min_relevant=2, rng=np.random.default_rng(4))
        assert found is not None
        for decision in decide_pairs(found, pool.tags):
            difference = truth[decision.a] - truth[decision.b]
            if decision.order is PairOrder.BEFORE:
                n_decided += 1
                assert difference > -0.01
            elif decision.order is PairOrder.EQUAL:
                n_decided += 1
                assert abs(difference) < 0.02
    assert n_decided >= 4


def sampled_targets(
    n_topics: int, *, drawn: np.random.Generator | None
) -> tuple[EstimationTargets, np.ndarray]:
    """Two runs over 40 pairs a topic: the first has pairs 0-9, the second 10-19 in its top ten;
    grades fall with the pair's number."""
    n = 40 * n_topics
    topic, number = np.repeat(np.arange(n_topics), 40), np.tile(np.arange(40), n_topics)
    truth = (np.random.default_rng(8).random(n) < 0.8 - 0.02 * number).astype(np.int32)
    seen = np.ones(n, bool) if drawn is None else drawn.permutation(n) < 0.3 * n
    sample = JudgedSample(
        [str(t) for t in range(n_topics)],
        topic,
        np.where(seen, truth, -1).astype(np.int32),
        np.zeros(n, np.int64),
        np.array([n]),
        np.array([int(seen.sum())]),
        np.ones(1, bool),
        ["*all"],
    )
    weights = np.column_stack([(number < 10), (number >= 10) & (number < 20)]) / (10.0 * n_topics)
    labels = np.where(seen, truth, np.nan)
    return EstimationTargets(sample, weights, labels, np.zeros(n)), make_regression_features(
        RunRankSummary(number + 1, 1 - number / 40, 60.0 / (61 + number))
    )


def test_judging_the_whole_pool_is_done() -> None:
    targets, features = sampled_targets(20, drawn=None)
    (found,) = compare_sampled_systems(targets, features, ["first", "second"], 0)
    assert (found.best, found.judging, found.is_done) == ("first", 0, True)
    values = targets.labels.reshape(20, 40)
    difference = values[:, :10].mean(axis=1) - values[:, 10:20].mean(axis=1)
    assert found.difference == pytest.approx(difference.mean())
    assert found.topics == pytest.approx(difference.var(ddof=1) / 20)


def test_the_upper_bound_of_the_share_that_judging_has_decides() -> None:
    """r + 3.29 √(r (1 - r) / 50) = .35 at r = .1738, the lower root of 1.21648 r² - .91648 r +
    .1225."""
    assert SampledComparison("a", "b", 0.1, 0.00173, 0.01, 0.2, None, 50).is_done
    assert not SampledComparison("a", "b", 0.1, 0.00175, 0.01, 0.2, None, 50).is_done
    assert SampledComparison("a", "b", 0.1, 0.00175, 0.01, 0.2, None, 60).is_done, (
        "more topics tell more of the share"
    )
    assert SampledComparison(
        "a", "b", 0.0, (0.02 / 1.96) ** 2 * 0.999, 0.0001, 0.02, None, 50
    ).is_done
    assert not SampledComparison("a", "b", 0.1, 0.0, 0.01, 0.2, "too few", 50).is_done
    assert SampledComparison("a", "b", 0.0, 0.001, 0.0, 0.0, None, 50).is_equal_so_far
    assert not SampledComparison("a", "b", 0.0, 0.001, 0.0, 0.0, None, 50).is_done
    assert SampledComparison("a", "b", 0.1, 0.02, 0.01, 0.2, None, 50).max_sampling_share == 1, (
        "more than everything cannot be taken away"
    )


def test_what_full_judging_takes_from_the_variance_is_within_its_bound_in_95_percent() -> None:
    """Topics' differences d and errors of judging e are drawn with variances .8 and .2, T = 50:
    full judging takes 1 - s²(d) / s²(d + e) of it."""
    rng = np.random.default_rng(3)
    d, e = rng.normal(0, math.sqrt(0.8), (4000, 50)), rng.normal(0, math.sqrt(0.2), (4000, 50))
    taken = 1 - d.var(axis=1, ddof=1) / (d + e).var(axis=1, ddof=1)
    bounds = [
        SampledComparison("a", "b", 0.1, 0.2 / 50, whole / 50, 0.2, None, 50).max_sampling_share
        for whole in (d + e).var(axis=1, ddof=1)
    ]
    assert 0.94 <= np.mean(taken <= bounds) <= 0.99


def test_the_judging_variance_is_that_of_the_difference() -> None:
    """With a regression that knows nothing (constant features) v_j is the sample variance of a (y -
    mean)."""
    targets, _ = sampled_targets(20, drawn=np.random.default_rng(2))
    (found,) = compare_sampled_systems(targets, np.zeros((800, 1)), ["first", "second"], 0)
    one = EstimationTargets(
        targets.sample,
        targets.weights[:, :1] - targets.weights[:, 1:],
        targets.labels,
        targets.llm,
    )
    centred = targets.labels[targets.judged] - np.nanmean(targets.labels)
    assert found.judging == pytest.approx(float(stratified_variance(one, centred)[0]), rel=0.02)
    assert found.why is None
    assert found.half > 1.96 * math.sqrt(found.topics)


def test_a_recall_of_nothing_is_reached_with_the_first_relevant_and_of_all_with_none_left() -> None:
    assert has_reached_recall(1, RemainingRelevant(5.0, 9.0), recall=0.0)
    assert not has_reached_recall(0, RemainingRelevant(0.0, 0.0), recall=0.0)
    assert has_reached_recall(3, RemainingRelevant(0.0, 0.0), recall=1.0)
    assert not has_reached_recall(3, RemainingRelevant(0.0, 0.1), recall=1.0)

"""Ranks with the noise of labels: by every outcome of two pairs, by scipy, and never surer than
without it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from assay.comparison.bootstrap import compare_means
from assay.comparison.label_ranks import compare_means_with_noise, compute_label_ranks
from assay.labels.label_noise import NoisyLabels
from assay.measures.measures import parse_measures
from tests.assay.labels.judged import table_of_rows
from tests.assay.measures.small_collections import run_columns

ROWS = [
    ("t", "a", "x", 1),
    ("t", "a", "y", 1),
    ("t", "a", "z", 0),
    ("t", "b", "x", 0),
    ("t", "b", "y", 0),
    ("t", "b", "z", 1),
]
"""Two of three find a relevant, one of three b."""
RUNS = [
    run_columns("first", {"t": {"a": 2.0, "b": 1.0}}),
    run_columns("second", {"t": {"b": 2.0, "a": 1.0}}),
]
ALL = np.array([0])


@pytest.mark.long
def test_a_run_has_a_rank_as_often_as_labels_drawn_anew_give_it() -> None:
    """Of three drawn a is relevant with 20/27, b with 7/27. One is ahead where just its document
    is; else both share rank 1.5."""
    noisy = NoisyLabels(table_of_rows(ROWS, n_grades=2), RUNS, parse_measures("P@1"))
    (ranks,) = compute_label_ranks(noisy, ALL, labellings=1000, trials=1000, seed=1)
    a, b = 20 / 27, 7 / 27
    ahead, behind = a * (1 - b), (1 - a) * b
    assert ranks.by_labels.expected_rank[0] == pytest.approx(
        ahead + 2 * behind + 1.5 * (1 - ahead - behind), abs=0.02
    )
    assert (ranks.by_labels.best_rank[0], ranks.by_labels.worst_rank[0]) == (1, 2)
    assert ranks.with_topics.expected_rank == pytest.approx(
        ranks.by_labels.expected_rank
    )  # one topic: it is drawn every time
    variance = a * (1 - a) + b * (1 - b)
    assert ranks.error[0, 1] == ranks.error[1, 0] == pytest.approx(variance**0.5, abs=0.02)


def test_the_error_by_labels_widens_the_t_test_of_scipy() -> None:
    rng = np.random.default_rng(2)
    scores = rng.random((3, 20))
    plain = compare_means_with_noise(scores, np.zeros((3, 3)))
    for i in range(3):
        for j in range(3):
            if i != j:
                assert plain.p[i, j] == pytest.approx(
                    scipy.stats.ttest_rel(scores[i], scores[j]).pvalue
                )
    wider = compare_means_with_noise(scores, np.full((3, 3), 0.1))
    d = scores[0] - scores[1]
    t = d.mean() / (d.var(ddof=1) / 20 + 0.01) ** 0.5
    assert wider.p[0, 1] == pytest.approx(2 * scipy.stats.t.sf(abs(t), 19))


def test_where_all_judges_agree_labels_add_nothing() -> None:
    rows = [
        (f"t{k}", d, who, int((d == "a") == (k < 36)))
        for k in range(40)
        for d in "ab"
        for who in "xyz"
    ]
    runs = [
        run_columns(tag, {f"t{k}": scores for k in range(40)})
        for tag, scores in (("first", {"a": 2.0, "b": 1.0}), ("second", {"b": 2.0, "a": 1.0}))
    ]
    noisy = NoisyLabels(table_of_rows(rows, n_grades=2), runs, parse_measures("P@1"))
    (ranks,) = compute_label_ranks(noisy, np.arange(40), labellings=20, trials=200, seed=1)
    assert ranks.by_labels.expected_rank.tolist() == [1, 2]
    assert ranks.error == pytest.approx(np.zeros((2, 2)), abs=1e-12)
    assert (
        ranks.rank_interval.tolist()
        == compare_means(noisy.compute_scores()[:, :, 0]).rank_interval.tolist()
        == [[1, 1], [2, 2]]
    )


def test_no_run_is_surer_of_its_rank_than_without_the_noise() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        scores = rng.normal(np.arange(5)[:, None] * 0.3, 1, (5, 30))
        error = np.abs(rng.normal(0, 0.2, (5, 5)))
        error = (error + error.T) / 2
        with_labels, without = (
            compare_means_with_noise(scores, error).rank_interval,
            compare_means(scores).rank_interval,
        )
        assert (with_labels[:, 0] <= without[:, 0]).all()
        assert (with_labels[:, 1] >= without[:, 1]).all()


def test_the_same_seed_gives_the_same_and_too_little_is_refused() -> None:
    noisy = NoisyLabels(table_of_rows(ROWS, n_grades=2), RUNS, parse_measures("P@1"))
    first, again = (
        compute_label_ranks(noisy, ALL, labellings=10, trials=10, seed=4)[0] for _ in range(2)
    )
    assert first.error.tolist() == again.error.tolist()
    with pytest.raises(ValueError, match="two"):
        compute_label_ranks(noisy, ALL, labellings=1, trials=1, seed=1)
    with pytest.raises(ValueError, match="topic"):
        compute_label_ranks(noisy, ALL[:0], labellings=2, trials=1, seed=1)


def ranks_by_a_loop(scores: np.ndarray, error: np.ndarray) -> list[list[int]]:
    """t of each difference, its standard error the root of both squares; of each run Holm step by
    step over the others. Where a difference does not vary over topics, p is that of the permutation
    test at least; with fewer than 30 topics all ranks are left."""
    n_runs, n = scores.shape
    if n < 30:
        return [[1, n_runs]] * n_runs
    ranks = []
    for run in range(n_runs):
        tests = []
        for other in set(range(n_runs)) - {run}:
            d = np.round(scores[run] - scores[other], 12)
            spread = ((d.var(ddof=1) / n if n > 1 else np.nan) + error[run, other] ** 2) ** 0.5
            p = (
                2 * scipy.stats.t.sf(abs(d.mean()) / spread, n - 1)
                if spread
                else float(d.mean() == 0)
            )
            p = max(p, 2.0 ** (1 - n)) if np.ptp(d) == 0 else p
            tests.append((p, d.mean()))
        better = worse = 0
        for step, (p, mean) in enumerate(sorted(tests)):
            if not p * (len(tests) - step) < 0.05:
                break
            better, worse = better + (mean < 0), worse + (mean > 0)
        ranks.append([1 + better, n_runs - worse])
    return ranks


@pytest.mark.parametrize("n_topics", [1, 2, 3, 10, 29, 30, 40])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e9])
def test_ranks_are_those_of_a_loop_also_with_ties_one_topic_and_constant_differences(
    n_topics: int, scale: float
) -> None:
    rng = np.random.default_rng(n_topics)
    for n_runs in (1, 2, 5):
        places = np.arange(n_runs)[:, None]
        error = np.abs(rng.normal(0, 0.2 * scale, (n_runs, n_runs)))
        error = (error + error.T) / 2
        shape = (n_runs, n_topics)
        for scores in (
            rng.normal(places, 1, shape),
            np.ones(shape) * places,
            np.zeros(shape),
            rng.integers(0, 2, shape),
        ):
            for noise in (error, np.zeros_like(error)):
                assert compare_means_with_noise(
                    scores * scale, noise
                ).rank_interval.tolist() == ranks_by_a_loop(scores * scale, noise)

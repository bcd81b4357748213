from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from assay.chunks import map_in_processes
from assay.comparison import bootstrap as b
from benchmarks.calibration.rankings import measure_rank_coverage
from tests.assay.comparison.hall import wider_interval

SCORES = np.random.default_rng(2).choice([0, 0.25, 0.5, 1], size=(6, 30))


def naive_twin(scores: np.ndarray, trials: int, seed: int) -> dict[str, np.ndarray]:
    """Ranks trial by trial with scipy's rankdata, on the documented random samples."""
    n_runs, n_topics = scores.shape
    ranks, share = [], np.zeros((n_runs, n_runs))
    for number, start in enumerate(range(0, trials, 125)):
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number,)))
        for topics in rng.integers(
            n_topics, size=(min(125, trials - start), n_topics), dtype=np.uint32
        ):
            means = [
                round(sum(scores[run, topic] for topic in topics) / n_topics, 10)
                for run in range(n_runs)
            ]
            ranks.append(scipy.stats.rankdata([-mean for mean in means]))
            for run in range(n_runs):
                above, equal = (
                    sum(m > means[run] for m in means),
                    sum(m == means[run] for m in means),
                )
                share[run, above : above + equal] += 1 / equal
    ranks = np.array(ranks)
    beats = [
        [
            np.nan
            if i == j
            else ((ranks[:, i] < ranks[:, j]) + (ranks[:, i] == ranks[:, j]) / 2).mean()
            for j in range(n_runs)
        ]
        for i in range(n_runs)
    ]
    return {
        "rank_share": share / trials,
        "expected_rank": ranks.mean(axis=0),
        "best_rank": ranks.min(axis=0),
        "worst_rank": ranks.max(axis=0),
        "interval": np.percentile(ranks, [2.5, 97.5], axis=0).T,
        "beats": np.array(beats),
    }


@pytest.mark.parametrize("trials", [1, 125, 300])
def test_every_number_equals_that_of_a_naive_twin(trials):
    found = b.run_bootstrap(SCORES, trials=trials, seed=4)
    for name, expected in naive_twin(SCORES, trials, 4).items():
        np.testing.assert_allclose(getattr(found, name), expected, atol=1e-12, err_msg=name)


def test_all_samples_of_two_topics_by_hand():
    """Scores 1, 0 and 0, 1 and 0, 0: of the four samples one is won by each, two tie; the last run
    shares its place with the loser."""
    scores = np.array([[1.0, 0], [0, 1], [0, 0]])
    counts = np.array(
        [np.bincount(sample, minlength=2) for sample in itertools.product(range(2), repeat=2)],
        float,
    )
    found = b.summarise_tally(b.count_ranks(b.compute_sample_means(scores, counts)))
    assert found.rank_share.tolist() == [[0.5, 0.375, 0.125], [0.5, 0.375, 0.125], [0, 0.25, 0.75]]
    assert found.expected_rank.tolist() == [
        (1 + 2.5 + 1.5 + 1.5) / 4,
        (1 + 2.5 + 1.5 + 1.5) / 4,
        (2.5 + 2.5 + 3 + 3) / 4,
    ]
    assert (found.best_rank.tolist(), found.worst_rank.tolist()) == ([1, 1, 2.5], [2.5, 2.5, 3])
    assert found.beats[0, 1] == 0.5
    assert found.beats[0, 2] == (1 + 0.5 + 1 + 1) / 4
    assert np.isnan(np.diag(found.beats)).all()


def test_a_run_is_significantly_worse_than_one_that_is_always_ahead():
    scores = np.array([np.full(50, 0.9), np.full(50, 0.1), np.tile([0.9, 0.8], 25)])
    assert b.compare_means(scores).significantly_worse.tolist() == [
        [False, False, False],
        [True, False, True],
        [True, False, False],
    ]


def test_the_interval_and_the_test_of_a_difference_are_those_of_scipy():
    scores = np.random.default_rng(3).random((3, 37))
    found = b.compare_means(scores)
    for i, j in itertools.permutations(range(3), 2):
        expected = scipy.stats.ttest_rel(scores[i], scores[j])
        low, high = wider_interval(scores[i] - scores[j])
        assert (found.mean[i, j], found.low[i, j], found.high[i, j]) == pytest.approx(
            (np.mean(scores[i] - scores[j]), low, high)
        )
        assert found.p[i, j] == pytest.approx(expected.pvalue)
        assert found.significantly_worse[i, j] == (
            expected.pvalue < 0.05 and scores[i].mean() < scores[j].mean()
        )


def test_few_topics_make_nobody_significantly_worse_and_equal_runs_are_not_worse():
    for n in (1, 2, 5):
        assert not b.compare_means([[0.1] * n, [0.9] * n]).significantly_worse.any()
        assert not b.compare_means([[0.1] * n, np.linspace(0.9, 0.91, n)]).significantly_worse.any()
    assert b.compare_means([[0.1] * 6, [0.9] * 6]).significantly_worse.tolist() == [
        [False, True],
        [False, False],
    ]
    assert not b.compare_means(np.tile([0.1, 0.7, 0.3], (2, 1))).significantly_worse.any()


@pytest.mark.long
@pytest.mark.parametrize("n_topics", [10, 25])
def test_equal_runs_are_called_significantly_worse_as_seldom_as_said(n_topics):
    """Type I error at 5 %, a thousand pairs of equal runs; that of "beaten in 97.5 % of the trials"
    is .13 and .075."""
    rng = np.random.default_rng(n_topics)
    pairs = rng.normal(0, 1, (1000, 1, n_topics)) + rng.normal(0, 0.7, (1000, 2, n_topics))
    errors = np.mean([b.compare_means(pair).significantly_worse.any() for pair in pairs])
    assert 0.03 < errors < 0.07
    counts = b.draw_topic_counts(n_topics, 1000, rng)
    beaten = [
        (means[0] > means[1]).mean()
        for means in (b.compute_sample_means(pair, counts) for pair in pairs)
    ]
    assert np.mean([share <= 0.025 or share >= 0.975 for share in beaten]) > 0.07


def test_the_ranks_that_a_run_may_have_are_those_that_a_loop_over_tests_leaves():
    scores = (
        np.random.default_rng(9).normal(0, 1, (6, 30))
        + np.array([2.0, 1.6, 1.5, 0.4, 0.0, 0.0])[:, None]
    )
    found = b.compare_means(scores).rank_interval
    significant_alone = 0
    for run in range(6):
        tests = [
            scipy.stats.ttest_rel(scores[run], scores[other]) for other in range(6) if other != run
        ]
        p = sorted((test.pvalue, test.statistic) for test in tests)
        significant_alone += sum(value < 0.05 for value, _ in p)
        better = worse = 0
        for k, (value, statistic) in enumerate(
            p
        ):  # Holm (1979): stop at the first that is not significant
            if value * (5 - k) >= 0.05:
                break
            better, worse = better + (statistic < 0), worse + (statistic > 0)
        assert found[run].tolist() == [1 + better, 6 - worse]
        significant_alone -= better + worse
    assert significant_alone > 0  # so that it matters that the tests are corrected
    assert found[0, 0] == 1
    assert found[0, 1] < 6
    assert (
        b.compare_means(scores[:, :1]).rank_interval.tolist() == [[1, 6]] * 6
    )  # one topic tells nothing
    assert b.compare_means(scores[:, :29]).rank_interval.tolist() == [[1, 6]] * 6
    assert b.compare_means(np.tile(scores[0], (3, 1))).rank_interval.tolist() == [[1, 3]] * 3


def test_the_ranks_that_a_run_may_have_hold_the_true_one_also_of_the_best():
    """A short form of docs/evidence/calibration.md: of ten nearly equal runs the percentiles of the rank
    miss that of the best in a fifth and more."""
    found = measure_rank_coverage(10, 25, 0.05, trials=150, rng=np.random.default_rng(5))
    assert found.before_best < 0.85
    assert found.now_best > 0.9
    clear = measure_rank_coverage(5, 200, 1.0, trials=60, rng=np.random.default_rng(5))
    assert clear.now > 0.95
    assert clear.now_width < 2.2  # of five


def test_the_spread_of_sample_means_is_the_standard_error():
    """Efron (1979): the bootstrap variance of a mean is the plug-in variance over n; scipy's
    bootstrap agrees."""
    scores = np.random.default_rng(9).random((1, 80))
    means = b.compute_sample_means(
        scores, b.draw_topic_counts(80, 20_000, np.random.default_rng(1))
    )
    assert means.std() == pytest.approx(scores.std() / np.sqrt(80), rel=0.03)
    other = scipy.stats.bootstrap(
        (scores[0],), np.mean, n_resamples=20_000, method="percentile", rng=1
    ).standard_error
    assert means.std() == pytest.approx(other, rel=0.03)


def test_every_sample_has_as_many_topics_as_there_are():
    counts = b.draw_topic_counts(17, 50, np.random.default_rng(0))
    assert counts.shape == (50, 17)
    assert (counts.sum(axis=1) == 17).all()


def test_chunks_may_run_in_any_order_and_process_with_the_same_result():
    work = b.make_chunks(trials=300, seed=3)
    assert [chunk.trials for chunk in work] == [125, 125, 50]
    alone = b.run_bootstrap(SCORES, trials=300, seed=3)
    tallies = {chunk.number: b.run_chunk(SCORES, chunk) for chunk in reversed(work)}
    elsewhere = b.summarise_tally(
        b.combine_tallies(map_in_processes(b.run_chunk, work, processes=2, shared=SCORES))
    )
    for other in (
        b.summarise_tally(b.combine_tallies(tallies[chunk.number] for chunk in work)),
        elsewhere,
    ):
        for name in ("rank_share", "expected_rank", "interval", "beats"):
            np.testing.assert_array_equal(getattr(alone, name), getattr(other, name))


def test_the_seed_fixes_the_samples():
    assert (
        b.run_bootstrap(SCORES, trials=50, seed=1).rank_share
        == b.run_bootstrap(SCORES, trials=50, seed=1).rank_share
    ).all()
    assert (
        b.run_bootstrap(SCORES, trials=50, seed=1).rank_share
        != b.run_bootstrap(SCORES, trials=50, seed=2).rank_share
    ).any()


def test_the_order_of_runs_changes_nothing():
    one, other = (
        b.run_bootstrap(SCORES, trials=100, seed=0),
        b.run_bootstrap(SCORES[::-1], trials=100, seed=0),
    )
    np.testing.assert_array_equal(one.expected_rank, other.expected_rank[::-1])
    np.testing.assert_array_equal(one.beats, other.beats[::-1, ::-1])


@given(st.integers(1, 5), st.integers(1, 6), st.integers(0, 2**32))
def test_shares_sum_to_one_by_run_and_by_place(n_runs, n_topics, seed):
    scores = np.random.default_rng(seed).choice([0, 0.5, 1], size=(n_runs, n_topics))
    found = b.run_bootstrap(scores, trials=20, seed=seed)
    np.testing.assert_allclose(found.rank_share.sum(axis=0), 1)
    np.testing.assert_allclose(found.rank_share.sum(axis=1), 1)
    np.testing.assert_allclose(found.rank_share @ np.arange(1, n_runs + 1), found.expected_rank)
    assert found.expected_rank.sum() == pytest.approx(n_runs * (n_runs + 1) / 2)
    off = ~np.eye(n_runs, dtype=bool)
    np.testing.assert_allclose((found.beats + found.beats.T)[off], 1)
    assert (found.best_rank <= found.interval[:, 0]).all()
    assert (found.interval[:, 1] <= found.worst_rank).all()


def test_two_equal_runs_share_every_place():
    found = b.run_bootstrap(np.tile([0.1, 0.7, 0.3], (2, 1)), trials=20, seed=0)
    assert found.rank_share.tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert found.expected_rank.tolist() == [1.5, 1.5]


def test_undefined_scores_and_no_topics_are_refused():
    with pytest.raises(ValueError, match="undefined"):
        b.run_bootstrap([[0.1, np.nan]], seed=0)
    with pytest.raises(ValueError, match="at least one topic"):
        b.run_bootstrap(np.zeros((3, 0)), seed=0)


def test_json_has_chosen_runs_among_all():
    found = b.run_bootstrap(SCORES[:3], trials=10, seed=0)
    printed = b.to_json(found, ["x", "y", "z"], SCORES[:3], shown=["y"])
    assert list(printed["expected_rank"]) == ["y"]
    assert list(printed["rank_share"]["y"]) == ["1", "2", "3"]
    assert list(printed["beats"]["y"]) == ["x", "z"]

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.chunks import map_in_processes
from assay.comparison import significance
from assay.comparison import split_half as s
from tests.assay.comparison.counted_signs import counted_signed_rank


def several_kinds(n_topics: int) -> dict[str, np.ndarray]:
    """Scores (6 runs, n_topics); among them an equal run, one that is better by a constant, and one
    that differs on one topic."""
    rng = np.random.default_rng(8)
    kinds = {
        "continuous": rng.random((6, n_topics)),
        "reciprocal ranks": 1 / rng.integers(1, 9, (6, n_topics)),
        "mostly unanswered": np.where(
            rng.random((6, n_topics)) < 0.3, 1 / rng.integers(1, 20, (6, n_topics)), 0
        ),
        "binary": rng.integers(0, 2, (6, n_topics)).astype(float),
    }
    for scores in kinds.values():
        scores[1] = scores[0]
        scores[2] = scores[0] + 0.125
        scores[3] = scores[0]
        scores[3, 0] += 0.5
    return kinds


def scipy_p_values(a: np.ndarray, b: np.ndarray) -> dict[str, float]:
    d = np.round(b - a, 12)
    if not d.any():
        return dict.fromkeys(s.TESTS, 1.0)
    wins, losses = int((d > 0).sum()), int((d < 0).sum())
    return {
        "sign": scipy.stats.binomtest(wins, wins + losses).pvalue,
        "wrs": scipy.stats.ranksums(a, b).pvalue,
        "wsr": counted_signed_rank(d),
        "t": 2.0 ** (1 - len(d))
        if (d == d[0]).all()
        else scipy.stats.ttest_rel(b, a).pvalue,  # undefined: the permutation test
    }


def naive_twin(scores: np.ndarray, members: np.ndarray, alpha: float) -> tuple[dict, dict, float]:
    """Pair by pair, split by split, in the words of METHODS."""
    counts = {
        kind: {test: dict.fromkeys(s.RATES, 0) for test in s.TESTS} for kind in ("mean", "median")
    }
    tied = total = 0
    for a, b in itertools.combinations(scores, 2):
        for split in range(0, len(members), 2):
            total += 1
            decided: dict = {"mean": [], "median": []}
            p_values = []
            for half in members[split : split + 2]:
                p_values.append(scipy_p_values(a[half], b[half]))
                for kind, middle in (("mean", np.mean), ("median", np.median)):
                    decided[kind].append(
                        np.sign(round(middle(b[half]), 10) - round(middle(a[half]), 10))
                    )
                tied += decided["median"][-1] == 0
            for kind, winners in decided.items():
                for test in s.TESTS:
                    found = [p[test] < alpha for p in p_values]
                    if winners[0] == winners[1]:
                        rate = "agree" if found[0] == found[1] else "partial"
                    else:
                        rate = "disagree" if any(found) else "partial"
                    counts[kind][test][rate] += 1
                    counts[kind][test]["significant"] += any(found)
    shares = {
        kind: {
            test: {rate: n / total for rate, n in rates.items()} for test, rates in tests.items()
        }
        for kind, tests in counts.items()
    }
    return (
        shares["mean"],
        {test: shares["median"][test] for test in s.TESTS_OF_MEDIANS},
        tied / (2 * total),
    )


@pytest.mark.parametrize("kind", several_kinds(4))
def test_p_values_on_halves_equal_single_tests_and_scipy(kind):
    scores = several_kinds(61)[kind]
    members = s.draw_halves(61, 6, np.random.default_rng(0))
    a, b = np.triu_indices(6, k=1)
    found = s.TopicHalves(scores, members).p_values(a, b)
    for pair, (i, j) in enumerate(zip(a, b, strict=True)):
        for h, half in enumerate(members):
            x, y = scores[i, half], scores[j, half]
            batched = [found[test][pair, h] for test in s.TESTS]
            d = y - x
            single = [
                significance.sign_test(d),
                significance.rank_sum_test(x, y).p,
                significance.signed_rank_test(d),
                significance.verdict_p_value(d),
            ]
            assert batched == pytest.approx([float(p) for p in single], abs=1e-10)
            assert batched == pytest.approx(list(scipy_p_values(x, y).values()), abs=1e-10)


def test_beyond_50_differences_the_signed_ranks_of_a_half_are_approximated():
    scores = np.random.default_rng(3).normal(size=(2, 104))
    members = s.draw_halves(104, 4, np.random.default_rng(0))
    found = s.TopicHalves(scores, members).p_values(np.array([0]), np.array([1]))["wsr"][0]
    differences = np.round(scores[1] - scores[0], 12)
    expected = [
        scipy.stats.wilcoxon(differences[half], correction=False, method="asymptotic").pvalue
        for half in members
    ]
    assert found == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("kind", several_kinds(4))
def test_the_table_equals_that_of_a_naive_twin(kind):
    scores = several_kinds(41)[kind]
    members = s.draw_halves(41, 8, np.random.default_rng(1))
    found = s.tabulate_tally(s.count_agreement(scores, members, alpha=0.2))
    mean, median, tied = naive_twin(scores, members, 0.2)
    for expected, got in ((mean, found.mean), (median, found.median)):
        assert list(got) == list(expected)
        for test, rates in expected.items():
            assert got[test] == pytest.approx(rates), test
    assert found.tied_medians == pytest.approx(tied)


def test_halves_are_disjoint_and_equally_large_and_an_odd_topic_is_left_out():
    members = s.draw_halves(7, 40, np.random.default_rng(0))
    assert (members.sum(axis=1) == 3).all()
    assert not (members[::2] & members[1::2]).any()
    left_out = ~(members[::2] | members[1::2])
    assert (left_out.sum(axis=1) == 1).all()
    assert left_out.any(axis=0).all()


@pytest.mark.parametrize(
    ("winners", "significant", "expected"),
    [
        ((1, 1), (True, True), "agree"),
        ((-1, -1), (False, False), "agree"),
        ((0, 0), (False, False), "agree"),
        ((1, 1), (True, False), "partial"),
        ((1, -1), (False, False), "partial"),
        ((1, 0), (False, False), "partial"),
        ((1, -1), (True, True), "disagree"),
        ((1, -1), (False, True), "disagree"),
        ((0, 1), (False, True), "disagree"),
    ],
)
def test_agreement_by_the_papers_definitions(winners, significant, expected):
    counts = s.count_outcomes(np.array([winners], float), np.array([significant]))
    assert dict(zip(s.RATES, counts, strict=True)) == {
        **dict.fromkeys(s.RATES, 0),
        expected: 1,
        "significant": int(any(significant)),
    }


def test_chunks_may_run_elsewhere_with_the_same_result():
    scores = several_kinds(30)["reciprocal ranks"]
    alone = s.run_split_half(scores, splits=120, seed=5)
    work = s.make_chunks(splits=120, seed=5)
    assert [chunk.splits for chunk in work] == [50, 50, 20]
    assert (
        s.tabulate_tally(
            s.combine_tallies(map_in_processes(s.run_chunk, work, processes=2, shared=scores))
        )
        == alone
    )
    assert s.run_split_half(scores, splits=120, seed=6) != alone


def test_runs_that_differ_clearly_agree_always():
    scores = np.array([np.linspace(0, 0.5, 60), np.linspace(0.4, 0.9, 60) + np.tile([0, 0.01], 30)])
    found = s.run_split_half(scores, splits=10, seed=0)
    assert all(
        rates == {"agree": 1, "partial": 0, "disagree": 0, "significant": 1}
        for rates in (*found.mean.values(), *found.median.values())
    )


def test_a_run_against_itself_agrees_and_is_never_significant():
    run = np.random.default_rng(0).random(25)
    found = s.run_split_half([run, run], splits=5, seed=0)
    assert all(
        rates == {"agree": 1, "partial": 0, "disagree": 0, "significant": 0}
        for rates in found.mean.values()
    )
    assert found.tied_medians == 1


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 5), st.integers(2, 12), st.integers(0, 2**32))
def test_rates_sum_to_one_and_the_order_of_runs_changes_nothing(n_runs, n_topics, seed):
    scores = np.random.default_rng(seed).choice([0, 0.25, 1], size=(n_runs, n_topics))
    found, turned = (
        s.run_split_half(table, splits=3, seed=seed) for table in (scores, scores[::-1])
    )
    assert found == turned
    for rates in (*found.mean.values(), *found.median.values()):
        assert rates["agree"] + rates["partial"] + rates["disagree"] == pytest.approx(1)


def test_one_run_alone_gives_undefined_rates():
    found = s.run_split_half([[0.1, 0.2, 0.3]], splits=2, seed=0)
    assert np.isnan([found.tied_medians, *found.mean["t"].values()]).all()


def test_one_topic_cannot_be_halved():
    with pytest.raises(ValueError, match="two topics"):
        s.run_split_half([[0.1], [0.2]], seed=0)

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pytest

from assay.comparison import significance
from assay.comparison.equal_runs import simulate_equal_boards, simulate_equal_runs
from assay.comparison.leaderboard import BoardEntry
from assay.comparison.outcomes import RunComparison, compare_ranks
from assay.comparison.verdicts import judge_comparisons

A = np.array([0, 0, 0, 0, 0, 0, 3, 9, 1, 2, 40])
B = np.array([1, 5, 2, 7, 3, 1, 1, 3, 2, 1, 1])


@cache
def compare_all_exchanges() -> list[RunComparison]:
    """Of the scores of A and B on each topic."""
    return [
        compare_ranks(np.where(swapped, B, A), np.where(swapped, A, B))
        for swapped in itertools.product((False, True), repeat=len(A))
    ]


@pytest.mark.long
@pytest.mark.parametrize(
    ("decide", "family", "alpha"), [("wsr", 1, 0.2), ("t", 1, 0.2), ("wsr", 3, 0.5)]
)
def test_rates_are_those_of_every_exchange_of_two_runs(decide, family, alpha):
    """All 2^11 exchanges, each compared and judged; the simulation draws 4000 of them."""
    expected = dict.fromkeys(("better", "significantly_better", "do_no_harm", "undecided"), 0.0)
    for exchanged in compare_all_exchanges():
        (found,) = judge_comparisons(
            [exchanged],
            alpha=alpha,
            decide=decide,
            correction="none" if family == 1 else "bonferroni",
            family=family,
        )
        for name in ("better", "significantly_better", "do_no_harm"):
            expected[name] += (
                getattr(found.verdict, name) is True or getattr(found.mirrored, name) is True
            ) / 2 ** len(A)
        expected["undecided"] += found.verdict.is_open / 2 ** len(A)
    found = simulate_equal_runs(
        A, B, alpha=alpha, decide=decide, family=family, rng=np.random.default_rng(1), trials=4000
    )
    assert expected["do_no_harm"] > 0.02
    for name, share in expected.items():
        assert getattr(found, name) == pytest.approx(
            share, abs=4 * np.sqrt(share * (1 - share) / 4000) + 1e-12
        ), name


def test_runs_without_a_common_topic_and_equal_runs_get_their_rates_too():
    rates = simulate_equal_runs(
        np.array([1, 0, 2, 0, 0, 0]),
        np.array([0, 1, 0, 2, 0, 0]),
        alpha=0.05,
        decide="wsr",
        rng=np.random.default_rng(0),
        trials=50,
    )
    assert (rates.better, rates.do_no_harm, rates.undecided) == (0, 0, 0)
    rates = simulate_equal_runs(
        A, A, alpha=0.05, decide="t", rng=np.random.default_rng(0), trials=50
    )
    assert (rates.better, rates.do_no_harm, rates.undecided) == (0, 0, 0)


def test_five_topics_have_no_verdict_whatever_is_exchanged():
    rates = simulate_equal_runs(
        A[:5], B[:5], alpha=0.05, decide="t", rng=np.random.default_rng(0), trials=50
    )
    assert (rates.better, rates.significantly_better, rates.do_no_harm, rates.undecided) == (
        0,
        0,
        0,
        1,
    )


def test_equal_boards_have_false_records_and_holm_keeps_most_of_them_out():
    """Forty equal runs of 50 topics: without correction a good part of the boards has a record that
    is "significant"."""
    rng = np.random.default_rng(5)
    topics = rng.geometric(0.2, 50)
    ranks = np.where(
        rng.random((40, 50)) < 0.9, np.maximum(1, topics + rng.integers(-3, 4, (40, 50))), 0
    )
    entries = [BoardEntry(f"r{i:02}", f"2021-01-{1 + i // 2:02}", 0.0) for i in range(40)]
    found = simulate_equal_boards(
        ranks, entries, alpha=0.05, decide="wsr", rng=np.random.default_rng(2), trials=60
    )
    assert found["none"].boards > 0.12
    assert found["holm"].boards <= found["none"].boards / 2
    assert 0 <= found["bonferroni"].records <= found["holm"].records <= found["none"].records <= 1


def test_boards_of_equal_runs_are_corrected_over_the_family_that_was_asked_for():
    """With a family of a billion nothing is significant, however few comparisons a board has
    itself."""
    ranks = np.random.default_rng(5).integers(0, 6, (40, 50))
    entries = [BoardEntry(f"r{i:02}", f"2021-01-{1 + i // 2:02}", 0.0) for i in range(40)]
    how = {"alpha": 0.05, "decide": "wsr", "trials": 60}
    own = simulate_equal_boards(ranks, entries, **how, rng=np.random.default_rng(2))
    large = simulate_equal_boards(ranks, entries, **how, rng=np.random.default_rng(2), family=10**9)
    assert own["none"].boards == large["none"].boards > 0
    assert (large["bonferroni"].boards, large["holm"].boards) == (0, 0)


def test_the_rank_sum_test_is_nearly_powerless_on_runs_over_the_same_topics():
    """Type I error at 5 %: easy and hard topics are easy and hard for both runs, which only the
    paired tests know."""
    rng = np.random.default_rng(9)
    topics = rng.normal(0, 1, (1500, 1, 40))
    a, b = np.moveaxis(topics + rng.normal(0, 0.5, (1500, 2, 40)), 1, 0)
    assert (significance.rank_sum_test(a, b).p < 0.05).mean() < 0.01
    assert 0.035 < (significance.signed_rank_test(b - a) < 0.05).mean() < 0.065
    assert 0.035 < (significance.paired_t_test(b - a) < 0.05).mean() < 0.065
    assert (significance.rank_sum_test(a, b + 0.2).p < 0.05).mean() < 0.1
    assert (significance.paired_t_test(b + 0.2 - a) < 0.05).mean() > 0.3

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from assay.comparison.outcomes import compare_ranks, ranks_from_rr, rr_from_ranks

two_runs = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=60)


def test_the_preprints_first_example_equal_search_length_unequal_reciprocal_rank():
    """Lin et al., preprint: ranks 1, 9 against 4, 6 have the same mean ESL; RR 0.556 and 0.208."""
    found = compare_ranks([4, 6], [1, 9])
    assert (found.esl.a, found.esl.b) == (5, 5)
    assert (round(found.rr.a, 3), round(found.rr.b, 3)) == (0.208, 0.556)


def test_the_preprints_second_example_has_a_mean_search_length_of_three_both_ways():
    found = compare_ranks([1, 5], [4, 2])
    assert (found.esl.a, found.esl.b) == (3, 3)


def test_outcomes_are_counted_and_shared_out_over_all_topics():
    found = compare_ranks([0, 3, 0, 1, 2, 0, 4], [0, 0, 2, 1, 7, 1, 1])
    assert (found.neither, found.a_only, found.b_only, found.both) == (1, 1, 2, 3)
    assert [found.share(name) for name in ("neither", "a_only", "b_only", "both")] == [
        1 / 7,
        1 / 7,
        2 / 7,
        3 / 7,
    ]
    assert (found.esl.a, found.esl.b) == (7 / 3, 3)
    assert found.mrr.a == pytest.approx((1 / 3 + 1 + 1 / 2 + 1 / 4) / 7)
    assert found.mrr.difference == pytest.approx(
        (1 / 2 + 1 + 1 / 7 + 1 + 1 - 1 / 3 - 1 - 1 / 2 - 1 / 4) / 7
    )
    assert found.binomial == 1  # one against two: 2 (1 + 3) / 8


def test_every_p_value_equals_scipys():
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 30, 400), rng.integers(0, 25, 400)
    found = compare_ranks(a, b)
    rr_a, rr_b = (np.array([1 / r if r else 0 for r in ranks]) for ranks in (a, b))
    both = (a > 0) & (b > 0)

    def signed_rank(x, y):
        return scipy.stats.wilcoxon(
            np.round(y - x, 12), zero_method="wilcox", correction=False, method="asymptotic"
        ).pvalue

    def paired_t(x, y):
        return scipy.stats.ttest_rel(y, x).pvalue

    assert found.mrr.wrs == pytest.approx(scipy.stats.ranksums(rr_a, rr_b).pvalue, abs=1e-10)
    assert found.mrr.wrs_tie_corrected == pytest.approx(
        scipy.stats.mannwhitneyu(rr_a, rr_b, use_continuity=False, method="asymptotic").pvalue,
        abs=1e-10,
    )
    for means, x, y in (
        (found.mrr, rr_a, rr_b),
        (found.esl, a[both], b[both]),
        (found.rr, rr_a[both], rr_b[both]),
    ):
        assert (means.a, means.b) == pytest.approx((x.mean(), y.mean()), abs=1e-12)
        assert means.wsr == pytest.approx(signed_rank(x, y), abs=1e-10)
        assert means.t == pytest.approx(paired_t(x, y), abs=1e-10)
    a_only, b_only = int(((a > 0) & (b == 0)).sum()), int(((b > 0) & (a == 0)).sum())
    assert found.binomial == pytest.approx(
        scipy.stats.binomtest(b_only, a_only + b_only).pvalue, abs=1e-10
    )


def test_where_no_topic_is_answered_by_both_case_three_is_undefined():
    found = compare_ranks([1, 0, 0], [0, 2, 0])
    assert found.both == 0
    assert np.isnan(
        [found.esl.a, found.esl.b, found.esl.wsr, found.esl.t, found.rr.a, found.rr.wsr]
    ).all()
    assert found.binomial == 1


def test_without_topics_everything_is_undefined():
    found = compare_ranks([], [])
    assert np.isnan(
        [found.mrr.a, found.mrr.wrs, found.esl.a, found.binomial, found.share("both")]
    ).all()


def test_ranks_of_other_topics_are_refused():
    with pytest.raises(ValueError, match="same topics"):
        compare_ranks([1, 2], [1])


def test_ranks_come_back_from_reciprocal_ranks():
    ranks = np.arange(0, 1001)
    assert ranks_from_rr(rr_from_ranks(ranks)).tolist() == ranks.tolist()


@given(st.lists(st.integers(0, 100), min_size=1, max_size=40))
def test_a_run_against_itself_differs_nowhere(ranks):
    found = compare_ranks(ranks, ranks)
    assert found.a_only == found.b_only == 0
    assert found.neither + found.both == len(ranks)
    assert found.mrr.difference == 0
    p = [found.mrr.wrs, found.mrr.wrs_tie_corrected, found.mrr.wsr, found.mrr.t, found.binomial]
    assert p == [1] * 5
    assert [found.esl.wsr, found.esl.t, found.rr.wsr, found.rr.t] == pytest.approx(
        [1 if found.both else np.nan] * 4, nan_ok=True
    )


@given(two_runs)
def test_swapping_the_runs_mirrors_everything(ranks):
    a, b = zip(*ranks, strict=True)
    one, other = compare_ranks(a, b), compare_ranks(b, a)
    assert (one.neither, one.a_only, one.b_only, one.both) == (
        other.neither,
        other.b_only,
        other.a_only,
        other.both,
    )
    assert one.mrr.difference == -other.mrr.difference
    assert one.binomial == other.binomial
    for key in ("mrr", "esl", "rr"):
        x, y = getattr(one, key), getattr(other, key)
        assert [x.a, x.b, x.wsr, x.t] == pytest.approx(
            [y.b, y.a, y.wsr, y.t], abs=1e-12, nan_ok=True
        )
    assert one.esl.signed_ranks == pytest.approx(-other.esl.signed_ranks, nan_ok=True)
    assert one.mrr.wrs == pytest.approx(other.mrr.wrs, abs=1e-12)


@given(two_runs, st.randoms(use_true_random=False))
def test_the_order_of_topics_changes_nothing(ranks, random):
    shuffled = list(ranks)
    random.shuffle(shuffled)
    one, other = (
        compare_ranks(*zip(*ranks, strict=True)),
        compare_ranks(*zip(*shuffled, strict=True)),
    )
    assert (one.neither, one.a_only, one.b_only, one.both) == (
        other.neither,
        other.a_only,
        other.b_only,
        other.both,
    )
    for key in ("mrr", "esl", "rr"):
        x, y = getattr(one, key), getattr(other, key)
        assert [x.a, x.b, x.wsr, x.t] == pytest.approx(
            [y.a, y.b, y.wsr, y.t], abs=1e-12, nan_ok=True
        )

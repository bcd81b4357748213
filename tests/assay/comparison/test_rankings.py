from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations, pairwise, permutations
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from assay.comparison.rankings import (
    compute_sample_means,
    count_tied_pairs,
    draw_topic_counts,
    list_swapped_pairs,
    tau_a,
    tau_a_batch,
    tau_ap,
    tau_ap_variant,
    tau_b,
    tau_b_batch,
)

# Urbano and Marrero, R package ircor 1.0, examples of tau and tauAP with their printed results
X = [0.67, 0.45, 0.29, 0.12, 0.57, 0.24, 0.94, 0.75, 0.08, 0.54]
Y = [0.48, 0.68, 0.32, 0.09, 0.06, 0.61, 0.87, 0.22, 0.44, 0.84]
Y_TIED = [0.5, 0.7, 0.3, 0.1, 0.1, 0.6, 0.9, 0.2, 0.4, 0.8]
X_TIED = [0.7, 0.4, 0.3, 0.1, 0.6, 0.2, 0.9, 0.8, 0.1, 0.5]


def test_kendalls_tau_of_the_tuna_in_hollander_and_wolfe_1973() -> None:
    # Hollander and Wolfe (1973), p. 187: lightness of canned tuna and the panel's quality score; 26
    # of 36 pairs concordant
    lightness = [44.4, 45.9, 41.9, 53.3, 44.7, 44.1, 50.7, 45.2, 60.1]
    quality = [2.6, 3.1, 2.5, 5.0, 3.6, 4.0, 5.2, 2.8, 3.8]
    assert tau_b(lightness, quality) == pytest.approx((26 - 10) / 36, abs=1e-12)
    assert tau_a(lightness, quality) == pytest.approx((26 - 10) / 36, abs=1e-12)


def test_kendalls_tau_with_and_without_ties_as_printed_by_ircor() -> None:
    assert tau_b(X, Y) == pytest.approx(0.2, abs=1e-12)
    assert tau_a(X, Y_TIED) == pytest.approx(0.2222222, abs=5e-8)
    assert tau_b(X, Y_TIED) == pytest.approx(0.2247333, abs=5e-8)
    assert tau_b(X_TIED, Y_TIED) == pytest.approx(0.25, abs=1e-12)


def test_ap_correlation_of_yilmaz_et_al_as_printed_by_ircor() -> None:
    assert tau_ap(X, Y) == pytest.approx(0.3928571, abs=5e-8)


def test_ap_correlation_punishes_errors_at_the_top_more() -> None:
    # Yilmaz et al. (2008), formula in 3.1, on eight systems: the upper or the lower half of the
    # ranking reversed. By hand: above 2nd to 4th nothing is right, above 5th to 8th everything: 2/7
    # (0 + 4) - 1; and 2/7 (4 + 4/5 + 4/6 + 4/7) - 1
    reference = [8, 7, 6, 5, 4, 3, 2, 1]
    assert tau_ap(reference, [5, 6, 7, 8, 4, 3, 2, 1]) == pytest.approx(2 / 7 * 4 - 1)
    assert tau_ap(reference, [8, 7, 6, 5, 1, 2, 3, 4]) == pytest.approx(
        2 / 7 * (4 + 4 / 5 + 4 / 6 + 4 / 7) - 1
    )
    assert (
        tau_b(reference, [5, 6, 7, 8, 4, 3, 2, 1])
        == tau_b(reference, [8, 7, 6, 5, 1, 2, 3, 4])
        == pytest.approx(1 - 12 / 28)
    )


def test_ap_correlation_of_one_swap_at_the_top() -> None:
    """Truth A B C D, estimate B A C D. Above its second, third and fourth stand 0 of
    1, 2 of 2 and 3 of 3 rightly: 2/3 (0 + 1 + 1) - 1."""
    assert tau_ap([4, 3, 2, 1], [3, 4, 2, 1]) == pytest.approx(1 / 3)


def test_ap_correlation_is_not_symmetric() -> None:
    # reference a b c; other c a b: above a only c (wrong), above b: c (wrong), a (right) -> 2/2 (0
    # + 1/2) - 1
    assert tau_ap([3, 2, 1], [2, 1, 3]) == pytest.approx(-0.5)
    # the other way round: reference c a b; other a b c: above b: a (right); above c: nothing right
    # -> 2/2 (1 + 0) - 1
    assert tau_ap([2, 1, 3], [3, 2, 1]) == pytest.approx(0.0)


TIED_SETS = [
    ([9, 4, 9, 9, 7, 1, 2, 4, 5, 10], [8, 4, 8, 10, 7, 1, 4, 5, 6, 10]),
    ([3, 6, 2, 9, 6, 2, 7, 8, 7, 4], [3, 8, 7, 9, 1, 1, 5, 6, 10, 6]),
    ([2, 6, 9, 1, 5, 6, 8, 4, 10, 4], [8, 3, 3, 9, 6, 3, 2, 9, 0, 2]),
]
UNTIED = [
    [0.897, 0.372, 0.908, 0.898, 0.661, 0.062, 0.177, 0.384, 0.498, 0.992],
    [0.266, 0.573, 0.202, 0.945, 0.629, 0.206, 0.687, 0.77, 0.718, 0.38],
    [0.185, 0.573, 0.944, 0.129, 0.468, 0.553, 0.761, 0.405, 0.976, 0.445],
]
"""The test data of ircor (tenths as whole numbers), whose expected values its tests give to four
decimals."""


@pytest.mark.parametrize(
    ("reference", "sets", "expected"),
    list(zip(UNTIED, TIED_SETS, [0.7454, 0.2692, -0.5558], strict=True)),
)
def test_ap_correlation_with_ties_in_the_estimate_as_in_ircor(reference, sets, expected) -> None:
    assert tau_ap(reference, sets[1]) == pytest.approx(expected, abs=5e-5)
    assert tau_ap_variant(reference, sets[1]) == "tau_ap,a"


@pytest.mark.parametrize(
    ("sets", "expected"), list(zip(TIED_SETS, [0.7321, 0.2970, -0.7047], strict=True))
)
def test_ap_correlation_with_ties_in_both_as_in_ircor(sets, expected) -> None:
    assert tau_ap(*sets) == tau_ap(*sets[::-1]) == pytest.approx(expected, abs=5e-5)
    assert tau_ap_variant(*sets) == "tau_ap,b"


def test_ap_correlation_with_ties_as_in_the_guide_of_ircor() -> None:
    x = [0.06, 0.2, 0.27, 0.37, 0.57, 0.63, 0.66, 0.9, 0.91, 0.94]
    y = [
        2,
        0,
        1,
        1,
        3,
        3,
        3,
        5,
        4,
        5,
    ]  # fifths of 0.37, 0.06, 0.2, 0.27, 0.57, 0.66, 0.63, 0.91, 0.9, 0.94, rounded (4.5 to even)
    assert tau_ap(x, [0.37, 0.06, 0.2, 0.27, 0.57, 0.66, 0.63, 0.91, 0.9, 0.94]) == pytest.approx(
        0.7491182, abs=5e-8
    )
    assert tau_ap(x, y) == pytest.approx(0.6074515, abs=5e-8)
    assert tau_ap([0, 1, 1, 2, 3, 3, 3, 4, 5, 5], y) == pytest.approx(0.6269841, abs=5e-8)


def untied_tau_ap(reference: Sequence[float], walked: Sequence[int]) -> float:
    """Yilmaz et al. (2008), written out; walked: systems in the order of the estimate."""
    shares = [
        sum(reference[above] > reference[walked[i]] for above in walked[:i]) / i
        for i in range(1, len(walked))
    ]
    return 2 * sum(shares) / len(shares) - 1


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=2, max_size=6), st.randoms(use_true_random=False))
def test_ap_correlation_is_the_mean_over_all_orders_of_what_the_estimate_ties(
    other: list[int], random: Random
) -> None:
    reference = list(range(len(other)))
    random.shuffle(reference)
    orders = [
        order
        for order in permutations(range(len(other)))
        if all(other[i] >= other[j] for i, j in pairwise(order))
    ]
    expected = (
        math.nan
        if len(set(other)) == 1
        else sum(untied_tau_ap(reference, order) for order in orders) / len(orders)
    )
    assert tau_ap(reference, other) == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_where_all_systems_are_tied_there_is_no_ap_correlation() -> None:
    assert math.isnan(tau_ap([1, 1, 1], [1, 2, 3]))
    assert math.isnan(tau_ap([1, 2, 3], [1, 1, 1]))
    assert math.isnan(tau_ap([1, 1, 1], [1, 1, 1]))


few_values = st.integers(0, 4).map(lambda n: n / 4)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(few_values, few_values), min_size=2, max_size=9))
def test_correlations_with_many_ties_agree_with_scipy_and_slow_twins(
    pairs: list[tuple[float, float]],
) -> None:
    x, y = (list(column) for column in zip(*pairs, strict=True))
    names = [f"run{i}" for i in range(len(x))]
    expected = kendalltau(x, y).statistic
    found = tau_b(x, y)
    assert found == pytest.approx(expected, abs=1e-10, nan_ok=True)
    assert math.isnan(found) or -1 <= found <= 1
    sign = [np.sign(x[i] - x[j]) * np.sign(y[i] - y[j]) for i, j in combinations(range(len(x)), 2)]
    assert tau_a(x, y) == pytest.approx(sum(sign) / len(sign), abs=1e-12)
    assert count_tied_pairs(x) == sum(x[i] == x[j] for i, j in combinations(range(len(x)), 2))
    assert len(list_swapped_pairs(x, y, names)) == sign.count(-1)
    assert tau_b(y, x) == pytest.approx(found, nan_ok=True)


@settings(max_examples=50, deadline=None)
@given(st.lists(few_values, min_size=2, max_size=9), st.randoms(use_true_random=False))
def test_the_order_of_systems_changes_nothing(x: list[float], random: object) -> None:
    names = [f"run{i}" for i in range(len(x))]
    y = [value * (i % 3) for i, value in enumerate(x)]
    order = list(range(len(x)))
    random.shuffle(order)  # type: ignore[attr-defined]

    def pick(values: list) -> list:
        return [values[i] for i in order]

    assert tau_b(x, y) == pytest.approx(tau_b(pick(x), pick(y)), nan_ok=True)
    assert tau_ap(x, y) == pytest.approx(tau_ap(pick(x), pick(y)), abs=1e-12, nan_ok=True)
    assert list_swapped_pairs(x, y, names) == list_swapped_pairs(pick(x), pick(y), pick(names))


def test_batches_agree_with_scipy_row_by_row() -> None:
    rng = np.random.default_rng(5)
    x, y = rng.integers(0, 6, size=(2, 150, 12)) / 6
    expected = [kendalltau(a, b).statistic for a, b in zip(x, y, strict=True)]
    np.testing.assert_allclose(tau_b_batch(x, y), expected, rtol=0, atol=1e-10)


def test_batches_do_not_depend_on_how_they_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(6)
    x, y = rng.integers(0, 6, size=(2, 50, 7)) / 6
    whole = tau_b_batch(x, y), tau_a_batch(x, y)
    monkeypatch.setattr("assay.comparison.rankings.CHUNK_CELLS", 30)
    np.testing.assert_array_equal(whole, (tau_b_batch(x, y), tau_a_batch(x, y)))


def test_float_noise_does_not_break_ties() -> None:
    noisy = [0.1 + 0.2, 0.3, 0.5]
    assert count_tied_pairs(noisy) == 1
    assert tau_b(noisy, [1, 1, 2]) == 1.0
    assert list_swapped_pairs(noisy, [1, 2, 3], ["a", "b", "c"]) == []


def test_correlations_are_undefined_for_one_system_for_ties_only_and_for_missing_means() -> None:
    assert math.isnan(tau_b([1], [1]))
    assert math.isnan(tau_a([1], [1]))
    assert math.isnan(tau_ap([1], [1]))
    assert math.isnan(tau_b([1, 1, 1], [1, 2, 3]))
    assert tau_a([1, 1, 1], [1, 2, 3]) == 0
    assert math.isnan(tau_b([1, math.nan, 2], [1, 2, 3]))
    assert math.isnan(tau_a([1, 2], [1, math.nan]))
    assert math.isnan(tau_ap([1, math.nan], [1, 2]))
    assert math.isnan(tau_b([], []))


def test_rankings_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="the same shape"):
        tau_b([1, 2], [1, 2, 3])


def test_swaps_name_who_is_higher_in_each() -> None:
    assert list_swapped_pairs([0.3, 0.2, 0.1], [0.1, 0.2, 0.1], ["a", "b", "c"]) == [("a", "b")]
    assert list_swapped_pairs([0.1, 0.2, 0.1], [0.3, 0.2, 0.1], ["a", "b", "c"]) == [("b", "a")]


def test_a_resample_draws_as_many_topics_as_there_are() -> None:
    counts = draw_topic_counts(7, 20, np.random.default_rng(0))
    assert counts.shape == (20, 7)
    assert (counts.sum(axis=1) == 7).all()


def test_means_of_samples_agree_with_means_over_the_topics_drawn() -> None:
    rng = np.random.default_rng(1)
    values = rng.random((6, 3))
    values[0, 1] = values[4, 1] = math.nan
    counts = draw_topic_counts(6, 30, rng)
    for sample, found in zip(counts, compute_sample_means(counts, values), strict=True):
        drawn = np.repeat(values, sample.astype(int), axis=0)
        expected = [
            np.mean(column[~np.isnan(column)]) if (~np.isnan(column)).any() else math.nan
            for column in drawn.T
        ]
        np.testing.assert_allclose(found, expected, rtol=1e-12)

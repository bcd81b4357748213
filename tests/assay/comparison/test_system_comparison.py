"""Systems compared in pairs: against scipy, all permutations of small cases, published sample
sizes, and simulated families."""

from __future__ import annotations

import math
from itertools import permutations, product

import numpy as np
import pytest
from scipy import stats

from assay.comparison.system_comparison import (
    assign_letters,
    compare_systems,
    compute_effect_intervals,
    compute_power,
    correct_p_values,
    deciding_p,
    detectable_difference,
    enumerate_p,
    find_significant,
    group_systems,
    list_pairs,
    max_statistic_test,
    randomisation_test,
    topics_for_power,
    topics_for_width,
)
from tests.assay.comparison.hall import wider_interval


def scores(n: int, systems: int, *, seed: int = 3, better: float = 0.0) -> np.ndarray:
    values = np.random.default_rng(seed).random((n, systems))
    values[:, -1] += better
    return values


def test_tests_and_intervals_are_those_of_scipy() -> None:
    values = scores(40, 3, better=0.1)
    found = compare_systems(values, list_pairs(3), trials=500, rng=np.random.default_rng(0))
    for k, (a, b) in enumerate(found.pairs):
        d = values[:, b] - values[:, a]
        assert (
            found.p["t"][k]
            == found.verdict_p[k]
            == pytest.approx(stats.ttest_rel(values[:, b], values[:, a]).pvalue)
        )
        assert found.intervals[k].bounds == pytest.approx(list(wider_interval(d)))
        assert found.p["wsr"][k] == pytest.approx(stats.wilcoxon(d, method="exact").pvalue)
        assert found.p["sign"][k] == pytest.approx(stats.binomtest(int((d > 0).sum()), 40).pvalue)
        assert found.effect[k] == pytest.approx(d.mean() / d.std(ddof=1))
        assert (found.wins[k], found.ties[k], found.losses[k]) == ((d > 0).sum(), 0, (d < 0).sum())


def test_the_randomisation_test_tries_every_change_of_signs_of_few_topics() -> None:
    d = np.array([0.3, -0.1, 0.25, 0.4, 0.0, 0.3, -0.05, 0.2])
    sums = [
        abs(sum(s * x for s, x in zip(signs, d, strict=True)))
        for signs in product((1, -1), repeat=8)
    ]
    by_hand = np.mean([total >= abs(d.sum()) - 1e-12 for total in sums])
    assert enumerate_p(d[d != 0]) == pytest.approx(by_hand)
    values = np.column_stack([np.zeros(8), d])
    found = compare_systems(values, [(0, 1)], trials=10, rng=np.random.default_rng(0))
    assert found.exact[0]
    assert found.p["randomisation"][0] == pytest.approx(by_hand)


def test_the_random_randomisation_test_agrees_with_scipy_within_its_error() -> None:
    values = scores(60, 2, better=0.08)
    found = compare_systems(values, [(0, 1)], trials=20_000, rng=np.random.default_rng(0))
    reference = stats.permutation_test(
        (values[:, 1], values[:, 0]),
        lambda x, y, axis: (x - y).mean(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=20_000,
        rng=np.random.default_rng(9),
    ).pvalue
    assert not found.exact[0]
    assert found.p["randomisation"][0] == pytest.approx(
        reference, abs=6 * math.sqrt(reference / 20_000)
    )


def test_the_greatest_difference_is_held_against_all_permutations_of_small_tables() -> None:
    values = np.array([[0.1, 0.5, 0.2], [0.3, 0.6, 0.1], [0.2, 0.9, 0.4], [0.5, 0.4, 0.0]])
    every = [
        np.ptp(
            np.sum(
                [[row[k] for k in order] for row, order in zip(values, orders, strict=True)], axis=0
            )
        )
        for orders in product(permutations(range(3)), repeat=4)
    ]
    found = compare_systems(values, list_pairs(3), trials=20_000, rng=np.random.default_rng(0))
    held = correct_p_values(found, values, "max", rng=np.random.default_rng(1))
    for k, (a, b) in enumerate(found.pairs):
        exact = np.mean(np.array(every) >= abs(values[:, b].sum() - values[:, a].sum()) - 1e-12)
        assert held["randomisation"][k] == pytest.approx(exact, abs=0.015)
    assert np.isnan(held["t"]).all()


@pytest.mark.long
def test_families_of_equal_systems_are_called_different_as_often_as_they_say() -> None:
    """Five equal systems, 20 topics with a strong effect of the topic, 150 families: 5 % have any
    finding, held ones within 3 errors."""
    rng = np.random.default_rng(11)
    any_found = dict.fromkeys(("none", "holm", "max"), 0)
    for _ in range(150):
        values = rng.normal(size=(20, 1)) + rng.normal(size=(20, 5))
        found = compare_systems(values, list_pairs(5), trials=200, rng=rng)
        for family in any_found:
            test = "randomisation" if family == "max" else "t"
            p = correct_p_values(found, values, family, rng=rng)[test]
            any_found[family] += bool((p < 0.05).any())
    shares = {family: n / 150 for family, n in any_found.items()}
    assert shares["none"] > 0.15  # raw p-values of ten pairs do not hold the family
    assert max(shares["holm"], shares["max"]) <= 0.1


def test_identical_systems_are_never_told_apart() -> None:
    values = np.repeat(scores(30, 1), 2, axis=1)
    found = compare_systems(values, [(0, 1)], trials=100, rng=np.random.default_rng(0))
    assert [found.p[test][0] for test in ("t", "wsr", "sign", "randomisation")] == [1, 1, 1, 1]
    assert math.isnan(found.effect[0])
    assert found.ties[0] == 30


@pytest.mark.parametrize("effect", [0.3, -0.3, 1.2])
def test_the_interval_of_an_effect_holds_what_makes_it_just_likely(effect: float) -> None:
    ((low, high),) = compute_effect_intervals(np.array([effect]), 25)
    t = effect * 5
    assert stats.nct.cdf(t, 24, low * 5) == pytest.approx(0.975, abs=1e-6)
    assert stats.nct.cdf(t, 24, high * 5) == pytest.approx(0.025, abs=1e-6)


def test_letters_are_shared_by_those_that_cannot_be_told_apart() -> None:
    """Best first: 0 and 1 are alike, 1 and 2 are alike, 0 and 2 differ; 3 differs from all."""
    pairs = list_pairs(4)
    different = np.array([pair in {(0, 2), (0, 3), (1, 3), (2, 3)} for pair in pairs])
    found = assign_letters(np.array([0.9, 0.8, 0.7, 0.1]), pairs, different)
    assert found == ["a", "ab", "b", "c"]


def test_letters_say_the_same_as_the_pairs_whatever_these_are() -> None:
    rng = np.random.default_rng(5)
    for _ in range(50):
        means = rng.random(6)
        pairs = list_pairs(6)
        different = rng.random(len(pairs)) < 0.5
        found = assign_letters(means, pairs, different)
        for (a, b), apart in zip(pairs, different.tolist(), strict=True):
            assert bool(set(found[a]) & set(found[b])) is not apart


def test_sample_sizes_are_those_of_the_tables() -> None:
    """Cohen (1988), paired t-test, two-sided .05, power .80: 199 pairs for d = .2, 34 for .5, 15
    for .8."""
    assert [topics_for_power(d, 1.0, target_power=0.8, alpha=0.05) for d in (0.2, 0.5, 0.8)] == [
        199,
        34,
        15,
    ]
    assert compute_power(0.5, 1.0, 34, alpha=0.05) >= 0.8 > compute_power(0.5, 1.0, 33, alpha=0.05)
    found, critical = (
        detectable_difference(1.0, 34, target_power=0.8, alpha=0.05),
        stats.t.ppf(0.975, 33),
    )
    assert stats.nct.sf(critical, 33, found * math.sqrt(34)) + stats.nct.cdf(
        -critical, 33, found * math.sqrt(34)
    ) == pytest.approx(0.8)
    n = topics_for_width(0.1, 0.2, alpha=0.05)
    assert n is not None
    widths = [2 * stats.t.ppf(0.975, k - 1) * 0.2 / math.sqrt(k) for k in (n, n - 1)]
    assert widths[0] <= 0.1 < widths[1]


def test_the_smallest_difference_has_the_power_that_is_wanted() -> None:
    """By scipy's own distribution: the noncentral t beyond both critical values."""
    found = detectable_difference(0.2, 30, target_power=0.8, alpha=0.05)
    shift, critical = found / 0.2 * 30**0.5, stats.t.ppf(0.975, 29)
    assert stats.nct.sf(critical, 29, shift) + stats.nct.cdf(-critical, 29, shift) == pytest.approx(
        0.8, abs=1e-9
    )


@pytest.mark.parametrize(("n_topics", "differs"), [(2, False), (5, False), (6, True), (30, True)])
def test_differences_that_do_not_vary_are_decided_by_the_permutation_test(
    n_topics: int, differs: bool
) -> None:
    """All signs but two of 2^n leave a smaller sum: p = 2^(1 - n), with five topics .0625."""
    values = np.column_stack([np.arange(n_topics) / 10, np.arange(n_topics) / 10 + 0.1])
    found = compare_systems(values, [(0, 1)], trials=10, rng=np.random.default_rng(0))
    held = correct_p_values(found, values, "none", rng=np.random.default_rng(0))
    assert np.isnan(
        [found.p["t"][0], held["t"][0], found.effect[0], *found.intervals[0].bounds]
    ).all()
    assert found.verdict_p[0] == pytest.approx(2.0 ** (1 - n_topics))
    assert find_significant(found, deciding_p(found, held, "none"), alpha=0.05).tolist() == [
        differs
    ]


def test_few_topics_have_no_verdict_however_small_p_is() -> None:
    values = np.column_stack([np.zeros(5), [0.5, 0.5, 0.5, 0.5, 0.51]])
    found = compare_systems(values, [(0, 1)], trials=10, rng=np.random.default_rng(0))
    assert found.p["t"][0] < 1e-6
    assert not find_significant(found, found.verdict_p, alpha=0.05).any()
    assert group_systems(found, values, np.array([True]), ["a", "b"]) == {
        "groups": {"a": "", "b": ""},
        "no_verdict": "5 topics; a verdict needs at least 6",
    }


def test_mean_and_signed_ranks_that_point_apart_give_no_verdict() -> None:
    """One topic in twenty gains 1.5, the others lose .05: the mean rises, nineteen of twenty ranks
    fall."""
    gains = np.tile(np.append(np.full(19, -0.05), 1.5), 50)
    values = np.column_stack([np.zeros(len(gains)), gains])
    found = compare_systems(values, [(0, 1)], trials=10, rng=np.random.default_rng(0))
    assert found.p["t"][0] < 0.05
    assert found.opposed.tolist() == [True]
    assert find_significant(found, found.verdict_p, alpha=0.05).tolist() == [False]


@pytest.mark.parametrize(("n_different", "up"), [(22, 16), (30, 20)])
def test_the_greatest_difference_of_thousands_of_topics_loses_no_tie(
    n_different: int, up: int
) -> None:
    """Runs that differ by the same .4 on few of 3,000 topics: the permutation distribution is
    binomial. Sums of tenths err by 1e-12 and more."""
    rng = np.random.default_rng(n_different)
    values = np.repeat(rng.integers(0, 7, (3000, 1)) / 10, 2, axis=1)
    where = rng.permutation(3000)[:n_different]
    values[where[:up], 1] += 0.4
    values[where[up:], 0] += 0.4
    exact = stats.binomtest(up, n_different).pvalue
    found = max_statistic_test(values, [(0, 1)], trials=4000, rng=rng)[0]
    assert found == pytest.approx(exact, abs=4 * math.sqrt(exact / 4000))
    found = randomisation_test(
        np.diff(values).T, values, np.array([0]), np.array([1]), trials=4000, rng=rng
    )[0][0]
    assert found == pytest.approx(exact, abs=4 * math.sqrt(exact / 4000))


@pytest.mark.parametrize("width", [None, 0.1])
def test_nothing_is_planned_from_differences_that_do_not_vary(width: float | None) -> None:
    needed = (
        topics_for_power(0.05, 0.0, target_power=0.8, alpha=0.05)
        if width is None
        else topics_for_width(width, 0.0, alpha=0.05)
    )
    assert needed is not None
    assert math.isnan(needed)
    assert math.isnan(detectable_difference(0.0, 30, target_power=0.8, alpha=0.05))

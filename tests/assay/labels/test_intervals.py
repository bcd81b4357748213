"""Where intervals are refused, and the bound on disagreement."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from assay.labels.agreement.annotators import kappa_interval
from assay.labels.intervals import share_interval, share_upper_bound


@pytest.mark.parametrize(("n", "disagreed"), [(2, 0), (20, 0), (50, 1), (400, 3)])
def test_the_bound_on_disagreement_is_that_of_clopper_and_pearson(n, disagreed):
    """The share at which so few would be seen in 5 % of samples; by hand 1 - 0.05 ** (1 / n) where
    there is none."""
    bound = share_upper_bound(n, disagreed)
    assert stats.binom.cdf(disagreed, n, bound) == pytest.approx(0.05)
    if not disagreed:
        assert bound == pytest.approx(1 - 0.05 ** (1 / n))
    assert share_upper_bound(3, 3) == 1


@pytest.mark.parametrize(("n", "n_with"), [(50, 3), (50, 0), (50, 50), (7, 4), (1, 1)])
def test_the_interval_of_a_share_is_that_of_scipy(n: int, n_with: int) -> None:
    assert share_interval(n, n_with) == pytest.approx(
        tuple(stats.binomtest(n_with, n).proportion_ci(method="exact")), abs=1e-12
    )


@pytest.mark.parametrize(
    ("joint", "why"),
    [
        ([[30, 0], [0, 30]], "no disagreement of 60 pairs"),
        ([[30, 1], [0, 30]], "disagreement in only one of 61 pairs"),
        ([[5, 3], [2, 5]], "15 pairs; a confidence interval needs 20"),
        ([[90, 5], [5, 2]], "in 2 of 102 pairs; a confidence interval needs 3"),
        ([[0, 0], [0, 0]], "no pair shared"),
    ],
)
def test_an_interval_that_nothing_vouches_for_is_refused_with_its_reason(joint, why):
    interval = kappa_interval(np.array([joint]), weighted=False)
    assert np.isnan(interval.bounds).all()
    assert why in interval.reason


def test_an_interval_contains_its_estimate():
    rng = np.random.default_rng(1)
    for _ in range(200):
        joint = rng.multinomial(60, rng.dirichlet(np.ones(9))).reshape(3, 3)
        interval = kappa_interval(joint[None], weighted=True)
        if not interval.reason:
            weights = 1 - np.abs(np.subtract.outer(np.arange(3), np.arange(3))) / 2
            by_chance = (np.outer(joint.sum(axis=1), joint.sum(axis=0)) * weights).sum() / 60**2
            kappa = ((joint * weights).sum() / 60 - by_chance) / (1 - by_chance)
            assert -1 <= interval.low < kappa < interval.high <= 1


def test_somebody_who_judges_the_other_way_round_has_an_interval():
    """Agreement on hardly anything, but of grades that are not rare; before, this hid whom the sign
    'with the others' is for."""
    interval = kappa_interval(
        np.array([[[0, 0, 2, 18], [0, 1, 16, 2], [1, 17, 0, 0], [19, 2, 0, 0]]]), weighted=True
    )
    assert interval.reason == ""
    assert interval.high < -0.5


@pytest.mark.parametrize(
    ("n_topics", "why"),
    [
        (
            59,
            "87% of the grades are the same; a confidence interval then needs 60 topics of equal size, not 59",
        ),
        (60, ""),
    ],
)
def test_where_one_grade_is_frequent_sixty_topics_are_needed(n_topics, why):
    joint = np.array([[[17, 1], [1, 1]], [[16, 1], [1, 2]]] * 30)[:n_topics]
    interval = kappa_interval(joint, weighted=False)
    assert interval.reason == why

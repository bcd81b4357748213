"""RBO of rankings of systems: by hand, by sets, and by the mean over orders where nothing is
lost."""

from __future__ import annotations

import math

import numpy as np
import pytest

from assay.comparison.rank_biased_overlap import rank_biased_overlap


def test_the_reverse_of_five_by_hand() -> None:
    """Shares in common down to each depth: 0, 0, 1/3, 3/4, 1; weights .1 · .9^(d - 1), and .9^5 for
    all that is below."""
    expected = 0.1 * (0.81 / 3 + 0.729 * 3 / 4 + 0.6561) + 0.9**5
    assert rank_biased_overlap([5, 4, 3, 2, 1], [1, 2, 3, 4, 5], persistence=0.9) == pytest.approx(
        expected
    )


def test_a_ranking_that_says_nothing_by_hand() -> None:
    """All three tied: each has d/3 at depth d. Sum of products d²/3 over the root of 3 (d/3)² · d:
    √(d/3)."""
    expected = 0.2 * (math.sqrt(1 / 3) + 0.8 * math.sqrt(2 / 3) + 0.64) + 0.8**3
    assert rank_biased_overlap([3, 3, 3], [3, 2, 1], persistence=0.8) == pytest.approx(expected)
    assert rank_biased_overlap([3, 3, 3], [7, 7, 7], persistence=0.8) == pytest.approx(1)


@pytest.mark.parametrize("seed", range(5))
def test_without_ties_it_is_the_overlap_of_sets(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.random(12), rng.random(12)
    first, second = np.argsort(-x).tolist(), np.argsort(-y).tolist()
    overlaps = [len(set(first[:d]) & set(second[:d])) / d for d in range(1, 13)]
    expected = sum(0.3 * 0.7 ** (d - 1) * share for d, share in enumerate(overlaps, 1)) + 0.7**12
    assert rank_biased_overlap(x, y, persistence=0.7) == pytest.approx(expected)
    assert rank_biased_overlap(y, x, persistence=0.7) == pytest.approx(expected)
    assert rank_biased_overlap(x, x) == pytest.approx(1)


def test_ties_of_noise_are_ties_and_names_do_not_matter() -> None:
    x = np.array([0.5, 0.3 + 0.1 + 0.1, 0.2, 0.1])  # the second is .5 but for its last bit
    assert rank_biased_overlap(x, [4, 3, 2, 1]) == pytest.approx(
        rank_biased_overlap([0.5, 0.5, 0.2, 0.1], [4, 3, 2, 1])
    )
    order = [2, 0, 3, 1]
    assert rank_biased_overlap(x[order], np.array([4, 3, 2, 1])[order]) == pytest.approx(
        rank_biased_overlap(x, [4, 3, 2, 1])
    )


def test_one_system_or_one_without_a_mean_has_none() -> None:
    assert math.isnan(rank_biased_overlap([1.0], [2.0]))
    assert math.isnan(rank_biased_overlap([1.0, math.nan], [2.0, 1.0]))

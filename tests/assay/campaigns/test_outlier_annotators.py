"""Who is clearly below the others: rarely an honest annotator, mostly one who answers at random."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from assay.campaigns.outlier_annotators import benjamini_hochberg, find_outliers, medians_of_others
from assay.labels.agreement.annotators import compute_annotator_kappas
from assay.labels.agreement.raters import AnnotatorTopicCounts
from benchmarks.calibration.signs import NOISE, measure_sign_rates


def test_the_step_up_procedure_is_that_of_scipy() -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        p = rng.random(12) ** 3
        assert benjamini_hochberg(p).tolist() == (stats.false_discovery_control(p) <= 0.05).tolist()


@pytest.mark.parametrize("n", [2, 3, 4, 5, 8, 9, 30, 31])
def test_the_median_of_the_others_is_that_without_each(n: int) -> None:
    rng = np.random.default_rng(n)
    for values in (rng.random(n), rng.integers(0, 3, n).astype(float), np.zeros(n)):
        assert medians_of_others(values).tolist() == [
            float(np.median(np.delete(values, i))) for i in range(n)
        ]


@pytest.mark.parametrize("base", NOISE)
def test_honest_annotators_are_not_accused(base: float) -> None:
    """A short form of docs/evidence/calibration.md. The fixed bound of before accuses a third and more at a
    kappa of .2."""
    found = measure_sign_rates(
        base, annotators=10, pairs=100, campaigns=20, rng=np.random.default_rng(2), random_too=False
    )
    assert found.kappa == pytest.approx(base, abs=0.04)
    assert found.honest <= 0.05
    if base == 0.2:
        assert found.before > 0.3


def test_somebody_at_random_is_found_among_people_who_agree() -> None:
    found = measure_sign_rates(
        0.5, annotators=10, pairs=100, campaigns=20, rng=np.random.default_rng(2), random_too=True
    )
    assert found.at_random >= 0.8
    assert found.honest <= 0.05


def test_honest_annotators_who_misread_topics_are_not_accused_with_five_topics() -> None:
    """Errors over pairs are too small there, but the spread of people is then as much larger."""
    found = measure_sign_rates(
        0.2,
        annotators=10,
        pairs=100,
        campaigns=40,
        rng=np.random.default_rng(4),
        random_too=False,
        topics=5,
    )
    assert found.honest <= 0.05
    mixed = measure_sign_rates(
        0.5,
        annotators=10,
        pairs=100,
        campaigns=20,
        rng=np.random.default_rng(4),
        random_too=True,
        topics=5,
    )
    assert mixed.at_random >= 0.6


def test_of_three_people_nobody_can_say_what_is_usual() -> None:
    joint = np.array([[[20, 5], [5, 20]]] * 3)
    assert find_outliers(
        compute_annotator_kappas("abc", AnnotatorTopicCounts(np.arange(3), joint))
    ) == dict.fromkeys("abc", False)
    assert find_outliers([]) == {}

"""Quadratic kappa, interval and ratio alpha, AC1: published values, other libraries, and arithmetic
by hand."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from assay.labels.agreement.alpha import (
    LEVELS,
    alpha_interval,
    alpha_of_coincidences,
    krippendorff_alpha,
)
from assay.labels.agreement.gwet import ac1
from assay.labels.agreement.kappa import cohen_kappa
from assay.labels.agreement.report import make_agreement_report
from assay.labels.labels import MISSING
from tests.assay.labels.judged import random_grades, table_of_pairs
from tests.assay.labels.test_agreement_alpha import KRIPPENDORFF_2011

EXAMPLE = np.array(KRIPPENDORFF_2011).T


@pytest.mark.parametrize(
    ("level", "alpha"),
    [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)],
)
def test_alpha_matches_krippendorffs_example_at_every_measurement_level(level, alpha):
    """Section C and E of "Computing Krippendorff's alpha-reliability"; its values are 1 to 5, and 0
    of the scale is not used."""
    counts = table_of_pairs(np.where(EXAMPLE == 0, MISSING, EXAMPLE), n_grades=6).counts
    assert round(krippendorff_alpha(counts, level=level), 3) == alpha


@pytest.mark.parametrize("level", LEVELS)
def test_alpha_of_coincidences_is_that_of_the_library(level):
    grades = random_grades(
        np.random.default_rng(2), n_pairs=40, n_annotators=4, n_grades=4, missing=0.3
    )
    counts = table_of_pairs(grades, n_grades=4).counts
    pairable = counts[counts.sum(axis=1) > 1]
    units = (pairable[:, :, None] * pairable[:, None, :] - pairable[:, :, None] * np.eye(4)) / (
        pairable.sum(axis=1) - 1
    )[:, None, None]
    data = np.where(grades == MISSING, np.nan, grades.astype(float)).T
    expected = krippendorff.alpha(
        reliability_data=data, level_of_measurement=level, value_domain=[0, 1, 2, 3]
    )
    assert alpha_of_coincidences(units.sum(axis=0)[None], level=level)[0] == pytest.approx(expected)
    assert krippendorff_alpha(counts, level=level) == pytest.approx(expected)
    found = alpha_interval(counts, level=level)
    assert found.low < expected < found.high


def test_ac1_of_krippendorffs_example_is_the_published_one():
    """0.77544 in Gwet's own package for R, irrCAC (data cac.raw4raters, five grades)."""
    assert ac1(table_of_pairs(EXAMPLE - 1, n_grades=5).counts) == pytest.approx(0.77544, abs=5e-6)


def test_ac1_stays_high_where_a_grade_is_rare_and_kappa_falls():
    """Two raters, 118 times no, 2 times yes, 5 times apart: agreement .96; shares of no .964; 1 -
    π² ... : chance 2 · .964 · .036."""
    counts = np.array([[2, 0]] * 118 + [[0, 2]] * 2 + [[1, 1]] * 5)
    no = (2 * 118 + 5) / 250
    assert ac1(counts) == pytest.approx((0.96 - 2 * no * (1 - no)) / (1 - 2 * no * (1 - no)))
    assert ac1(counts) > 0.95
    kappa = float(cohen_kappa(np.array([[118, 3], [2, 2]]), weighted=False))
    assert kappa == pytest.approx(
        cohen_kappa_score([0] * 121 + [1] * 4, [0] * 118 + [1] * 3 + [0] * 2 + [1] * 2)
    )
    assert kappa < 0.5


def test_ac1_is_undefined_where_nobody_judged_twice_and_defined_with_one_grade_only():
    assert np.isnan(ac1(np.array([[1, 0], [0, 1]])))
    assert np.isnan(ac1(np.zeros((0, 3), dtype=int)))
    assert ac1(np.array([[2, 0], [3, 0]])) == 1


@pytest.mark.parametrize("seed", range(3))
def test_kappa_with_quadratic_weights_is_that_of_scikit_learn(seed):
    a, b = np.random.default_rng(seed).integers(0, 4, (2, 50))
    joint = np.bincount(a * 4 + b, minlength=16).reshape(4, 4)
    expected = cohen_kappa_score(a, b, weights="quadratic", labels=[0, 1, 2, 3])
    assert float(cohen_kappa(joint, weighted=True, power=2)) == pytest.approx(expected)


def test_the_report_has_them_for_both_scales_and_says_why_one_is_undefined():
    grades = random_grades(
        np.random.default_rng(4), n_pairs=60, n_annotators=2, n_grades=4, missing=0.0, accuracy=0.6
    )
    table = table_of_pairs(grades, n_grades=4)
    found = make_agreement_report(
        table, min_relevant=2, rng=np.random.default_rng(0), permutations=2
    )
    expected = cohen_kappa_score(*grades.T, weights="quadratic", labels=[0, 1, 2, 3])
    assert found.graded.quadratic["mean_pairwise_kappa"] == pytest.approx(expected)
    assert found.graded.alphas["ordinal"] == found.graded.alpha
    assert found.binary.quadratic["mean_pairwise_kappa"] == pytest.approx(
        found.binary.mean_pairwise_kappa
    )
    assert (
        len({round(alpha, 12) for alpha in found.binary.alphas.values()}) == 1
    )  # of two grades every level is the same
    alone = make_agreement_report(
        table_of_pairs([[0, MISSING], [MISSING, 1]], n_grades=4),
        min_relevant=2,
        rng=np.random.default_rng(0),
        permutations=1,
    )
    assert alone.graded.reasons["ac1"] == "no pair has two judgements"

"""Each flag is raised by what it is about, stays down for an ordinary annotator, and says what it
does not prove."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.stats

from assay.campaigns.flags import AnnotatorProfile, binomial_tail, find_flags
from assay.campaigns.outlier_annotators import Outlier

NAMES = ["Wrong", "Topic", "Partial", "Perfect"]
GOOD = np.array([[20, 2, 1, 0], [2, 25, 4, 1], [1, 4, 25, 2], [0, 1, 2, 20]])
OUTLIER = Outlier("ada", 0.36, 0.8, 0.001)
ORDINARY = AnnotatorProfile(
    n=110,
    n_fast=0,
    n_cannot=2,
    median_seconds=30.0,
    cohort_median_seconds=32.0,
    kappa=0.6,
    low=0.5,
    high=0.7,
    n_shared=110,
    shares=np.array([0.2, 0.3, 0.3, 0.2]),
    cohort_shares=np.array([0.2, 0.3, 0.3, 0.2]),
    confusion=GOOD,
    cohort_confusion=GOOD * 9,
    gold_right=9,
    gold_judged=10,
)


def names(portrait: AnnotatorProfile) -> list[str]:
    return [flag.name for flag in find_flags(portrait, NAMES)]


def test_an_ordinary_annotator_has_no_flag():
    assert names(ORDINARY) == []


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"n_fast": 12}, "many too fast"),
        ({"n_cannot": 60}, "often cannot judge"),
        ({"median_seconds": 4.0}, "fast"),
        (
            {"kappa": 0.02, "low": -0.1, "high": 0.14, "outlier": OUTLIER},
            "agreement may be chance",
        ),
        ({"kappa": -0.5, "low": -0.6, "high": -0.4, "outlier": OUTLIER}, "against the others"),
        (
            {"confusion": np.array([[20, 2, 0, 0], [2, 12, 20, 1], [1, 18, 12, 2], [0, 0, 2, 20]])},
            "confuses Topic and Partial",
        ),
        ({"shares": np.array([0.0, 0.05, 0.05, 0.9])}, "grades unlike the others'"),
        ({"gold_right": 4}, "misses gold"),
        ({"gold_right": 5, "gold_chance": 0.5, "gold_others": 0.9}, "gold no better than chance"),
        (
            {"gold_right": 5, "gold_chance": 0.5, "gold_others": 0.6},
            "misses gold",
        ),  # 60 % right gives 5 or fewer of 10 in 37 % of cases
        (
            {"gold_right": 4, "gold_chance": 0.25, "gold_others": 0.9},
            "misses gold",
        ),  # more than chance
    ],
)
def test_each_flag_is_raised_by_what_it_is_about(change, name):
    assert names(replace(ORDINARY, **change)) == [name]


def test_a_flag_on_gold_gives_both_shares():
    [flag] = find_flags(replace(ORDINARY, gold_right=4, gold_exact=1), NAMES)
    assert flag.evidence == "4 of 10 gold questions correct, 1 with the exact grade"


def test_every_flag_says_what_it_does_not_prove():
    kappa = {"kappa": 0.0, "low": -0.1, "high": 0.1, "outlier": OUTLIER}
    bad = replace(
        ORDINARY,
        n_fast=40,
        median_seconds=2.0,
        shares=np.array([0.9, 0.1, 0, 0]),
        gold_right=1,
        **kappa,
    )
    raised = find_flags(bad, NAMES)
    assert len(raised) == 5
    assert all(len(flag.caveat) > 20 and flag.evidence for flag in raised)


def test_a_beginner_is_not_flagged_for_disagreement():
    assert names(replace(ORDINARY, n=10, kappa=-0.5, low=-0.9, high=-0.1)) == []


def test_an_undefined_kappa_raises_nothing():
    nan = float("nan")
    assert names(replace(ORDINARY, kappa=nan, low=nan, high=nan)) == []


def test_the_tail_of_the_binomial_is_that_of_scipy():
    for at_most, n, p in ((0, 7, 0.6), (1, 7, 0.6), (5, 10, 0.9), (10, 10, 0.3)):
        assert binomial_tail(at_most, n, p) == pytest.approx(
            scipy.stats.binom.cdf(at_most, n, p), rel=1e-12
        )

"""Krippendorff's alpha and its interval, Fleiss' kappa, percent agreement."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from assay.labels.agreement.alpha import (
    alpha_by_group,
    alpha_interval,
    alpha_of_coincidences,
    krippendorff_alpha,
)
from assay.labels.agreement.fleiss import fleiss_kappa, percent_agreement
from assay.labels.labels import MISSING
from tests.assay.labels.judged import random_grades, table_of_pairs
from tests.assay.labels.real_judgements import llmjudge_2024, trec_crowd_2011, ws_zhou_2012

# "Computing Krippendorff's alpha-reliability", section C: 4 observers, 12 units, 5 values; 0:
# missing
KRIPPENDORFF_2011 = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
    [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
]
FLEISS_1971 = (  # table 1: 30 patients, six psychiatrists each, five diagnoses
    "00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031 "
    "00501 30012 51000 02040 10203 00006 01050 02013 20040 10041 05010 40002 02040 10500 00006"
)


@pytest.mark.parametrize(("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815)])
def test_alpha_of_krippendorffs_example(level, alpha):
    table = table_of_pairs(np.array(KRIPPENDORFF_2011).T - 1, n_grades=5)
    assert round(krippendorff_alpha(table.counts, level=level), 3) == alpha


def naive_alpha(grades, n_grades: int, level: str) -> float:
    """By its definition, over every ordered pair of values of a unit, and every ordered pair of all
    pairable values."""
    units = [row[row != MISSING] for row in grades]
    units = [unit for unit in units if len(unit) > 1]
    values = np.concatenate(units)
    often = np.bincount(values, minlength=n_grades)

    def distance(a: int, b: int) -> float:
        low, high = min(a, b), max(a, b)
        return (
            float(a != b)
            if level == "nominal"
            else float((often[low : high + 1].sum() - (often[a] + often[b]) / 2) ** 2)
        )

    observed = sum(
        distance(a, b) / (len(unit) - 1)
        for unit in units
        for i, a in enumerate(unit)
        for j, b in enumerate(unit)
        if i != j
    )
    expected = sum(
        distance(a, b) for i, a in enumerate(values) for j, b in enumerate(values) if i != j
    )
    return 1 - observed * (len(values) - 1) / expected


@pytest.mark.parametrize("level", ["nominal", "ordinal"])
@pytest.mark.parametrize("seed", range(3))
def test_alpha_is_that_of_its_definition_and_of_the_library(seed, level):
    grades = random_grades(
        np.random.default_rng(seed), n_pairs=20, n_annotators=5, n_grades=4, missing=0.5
    )
    counts = table_of_pairs(grades, n_grades=4).counts
    alpha = krippendorff_alpha(counts, level=level)
    matrix = np.where(grades == MISSING, np.nan, grades).T
    assert alpha == pytest.approx(krippendorff.alpha(matrix, level_of_measurement=level), abs=1e-10)
    assert alpha == pytest.approx(naive_alpha(grades, 4, level), abs=1e-10)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(["nominal", "ordinal"]))
def test_the_bootstraps_alpha_is_the_librarys(seed, level):
    counts = np.random.default_rng(seed).integers(0, 3, size=(6, 4))
    pairable = counts[counts.sum(axis=1) > 1]
    n = pairable.sum(axis=1)[:, None, None]
    each = (pairable[:, :, None] * pairable[:, None, :] - pairable[:, :, None] * np.eye(4)) / (
        n - 1
    )
    np.testing.assert_allclose(
        alpha_of_coincidences(each.sum(axis=0)[None], level=level)[0],
        krippendorff_alpha(counts, level=level),
        atol=1e-10,
    )


@pytest.mark.parametrize(
    "counts",
    [
        np.empty((0, 4), int),
        np.array([[1, 0], [0, 1]]),
        np.array([[3, 0], [2, 0]]),
        np.array([[2, 0], [0, 1]]),
    ],
    ids=["no pair", "one annotator", "one grade", "the other grade on a pair judged once"],
)
@pytest.mark.parametrize("level", ["nominal", "ordinal"])
def test_alpha_is_undefined_without_two_judgements_of_a_pair_or_with_one_grade_only(counts, level):
    assert np.isnan(krippendorff_alpha(counts, level=level))
    interval = alpha_interval(counts, level=level)
    assert np.isnan(interval.bounds).all()
    assert interval.reason


def test_perfect_agreement_has_a_bound_on_disagreement_and_no_interval():
    """Of 60 pairs without disagreement at most 1 - 0.05 ** (1 / 60) = 4.9 % have any."""
    counts = np.array([[3, 0, 0], [0, 2, 0], [0, 0, 2]] * 20)
    assert krippendorff_alpha(counts, level="ordinal") == 1
    interval = alpha_interval(counts, level="ordinal")
    assert np.isnan(interval.bounds).all()
    assert "no disagreement of 60 pairs: at most 4.9%" in interval.reason


@pytest.mark.parametrize("counts", [[[2, 0]], [[2, 0], [0, 2]], [[1, 1]], [[0, 2], [1, 1]]])
def test_one_or_two_pairs_have_no_interval(counts):
    """Before, two unanimous pairs gave [1, 1] and one pair [0, 0]."""
    interval = alpha_interval(np.array(counts), level="nominal")
    assert np.isnan(interval.bounds).all()
    assert "pairs" in interval.reason


@pytest.mark.parametrize("level", ["ordinal", "nominal"])
def test_the_interval_of_pairs_is_that_of_a_loop_that_leaves_out_each(level):
    grades = random_grades(
        np.random.default_rng(8), n_pairs=50, n_annotators=4, n_grades=4, missing=0.3
    )
    counts = table_of_pairs(grades, n_grades=4).counts
    pairable = counts[counts.sum(axis=1) > 1]
    n, value = len(pairable), krippendorff_alpha(counts, level=level)
    z = np.arctanh(
        [krippendorff_alpha(np.delete(pairable, i, axis=0), level=level) for i in range(n)]
    )
    sizes = pairable.sum(axis=1)
    effective = (
        sizes.sum() ** 2 / (sizes**2).sum()
    )  # Kish (1965): pairs have two to four judgements
    reach = stats.t.ppf(0.975, effective - 1) * np.sqrt((n - 1) / n * ((z - z.mean()) ** 2).sum())
    interval = alpha_interval(counts, level=level)
    assert interval.bounds == pytest.approx(
        list(np.tanh([np.arctanh(value) - reach, np.arctanh(value) + reach])), abs=1e-9
    )
    assert (interval.unit, interval.reason) == ("pairs", "")


def test_alpha_intervals_use_topics_as_units_with_ten_or_more_topics():
    counts = table_of_pairs(
        random_grades(
            np.random.default_rng(8), n_pairs=60, n_annotators=3, n_grades=4, missing=0.0
        ),
        n_grades=4,
    ).counts
    topic = np.arange(60) % 10
    n, value = 10, krippendorff_alpha(counts, level="ordinal")
    z = np.arctanh([krippendorff_alpha(counts[topic != i], level="ordinal") for i in range(n)])
    reach = stats.t.ppf(0.975, n - 1) * np.sqrt((n - 1) / n * ((z - z.mean()) ** 2).sum())
    interval = alpha_interval(counts, level="ordinal", topic=topic)
    assert interval.bounds == pytest.approx(
        list(np.tanh([np.arctanh(value) - reach, np.arctanh(value) + reach])), abs=1e-9
    )
    assert interval.unit == "topics"


def test_below_ten_topics_there_is_no_interval_unless_all_pairs_are_of_one():
    counts = table_of_pairs(
        random_grades(
            np.random.default_rng(8), n_pairs=60, n_annotators=3, n_grades=4, missing=0.0
        ),
        n_grades=4,
    ).counts
    for n in (2, 7, 9):
        interval = alpha_interval(counts, level="ordinal", topic=np.arange(60) % n)
        assert interval.reason == f"{n} topics; a confidence interval needs 10"
        assert np.isnan(interval.bounds).all()
    assert alpha_interval(counts, level="ordinal", topic=np.full(60, 5)) == alpha_interval(
        counts, level="ordinal"
    )


def test_the_order_of_pairs_does_not_change_the_interval():
    counts = np.random.default_rng(0).integers(0, 3, size=(40, 4))
    assert alpha_interval(counts, level="ordinal").bounds == pytest.approx(
        alpha_interval(counts[::-1], level="ordinal").bounds
    )


@pytest.mark.data
def test_intervals_of_real_annotators_are_those_of_resampled_topics(data_folder):
    """numbers.md 3: over topics [0.485, 0.568] and [0.212, 0.310] by the percentile bootstrap; over
    pairs they were four times as narrow."""
    for table, level, low, high in (
        (llmjudge_2024(data_folder, only_the_scale=False), "ordinal", 0.485, 0.568),
        (trec_crowd_2011(data_folder), "nominal", 0.212, 0.310),
    ):
        interval = alpha_interval(table.counts, level=level, topic=table.pair_topic)
        assert interval.bounds == pytest.approx([low, high], abs=0.02)


def test_alpha_of_groups_of_pairs_is_that_of_each_alone():
    table = table_of_pairs(
        random_grades(np.random.default_rng(4), n_pairs=120, n_annotators=3, n_grades=4), n_grades=4
    )
    group = np.arange(table.n_pairs) % 3 - 1
    by_group = alpha_by_group(table, group, level="ordinal")
    assert list(by_group) == [0, 1]
    for g, found in by_group.items():
        counts = table.counts[group == g]
        assert found.alpha == krippendorff_alpha(counts, level="ordinal")
        assert found.n_pairs == (counts.sum(axis=1) > 1).sum()
        assert found.interval.low < found.alpha < found.interval.high


def test_fleiss_kappa_matches_fleiss_1971_table_1():
    """Printed there: overall agreement 0.5556, by chance 0.2201, kappa 0.430; column totals 26, 26,
    30, 55, 43."""
    counts = np.array([[int(n) for n in row] for row in FLEISS_1971.split()])
    assert counts.sum(axis=0).tolist() == [26, 26, 30, 55, 43]
    assert round(percent_agreement(counts), 4) == 0.5556
    assert round(fleiss_kappa(counts), 3) == 0.430


@pytest.mark.parametrize(
    "counts",
    [
        np.empty((0, 3), int),
        np.array([[1, 0, 0]]),
        np.array([[2, 0, 0], [2, 0, 0]]),
        np.array([[2, 0, 0], [1, 2, 0]]),
    ],
    ids=["no pair", "one judgement", "one grade", "different numbers"],
)
def test_fleiss_kappa_is_undefined_at_its_edges(counts):
    assert np.isnan(fleiss_kappa(counts))


def test_percent_agreement_counts_pairs_of_judgements():
    assert percent_agreement(np.array([[2, 1], [0, 2], [1, 0]])) == 2 / 4
    assert np.isnan(percent_agreement(np.array([[1, 0]])))


@pytest.mark.data
def test_alphas_of_real_annotators_have_the_reference_values(data_folder):
    """Reference agreement values of the collections' README."""
    ws, trec = ws_zhou_2012(data_folder).counts, trec_crowd_2011(data_folder).counts
    llm = llmjudge_2024(data_folder, only_the_scale=False).counts
    assert round(krippendorff_alpha(ws, level="nominal"), 4) == 0.2104
    assert round(krippendorff_alpha(ws, level="ordinal"), 4) == 0.3828
    assert round(krippendorff_alpha(trec, level="nominal"), 4) == 0.2569
    assert round(krippendorff_alpha(llm, level="nominal"), 4) == 0.3070
    assert round(krippendorff_alpha(llm, level="ordinal"), 4) == 0.5349

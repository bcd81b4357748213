"""All figures of agreement together: the random floor, what is undefined and why, and what does not
matter."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from assay.labels.agreement.kappa import cohen_kappa, mean_of_defined
from assay.labels.agreement.raters import find_annotator_pairs
from assay.labels.agreement.report import make_agreement_report, median_seconds_by_annotator
from assay.labels.labels import MISSING, make_label_table
from tests.assay.labels.judged import random_grades, table_of_pairs, table_of_rows

TRIPJUDGE = np.array([3811, 10901, 13008, 11090])  # judgements of each grade, table 1


def report_of(table, *, min_relevant: int = 2, seed: int = 0, **options):
    return make_agreement_report(
        table,
        min_relevant=min_relevant,
        rng=np.random.default_rng(seed),
        permutations=20,
        **options,
    )


@pytest.fixture(scope="module")
def at_random():
    """12,590 pairs, each judged by three of 135 annotators who answer at random from TripJudge's
    shares."""
    rng = np.random.default_rng(2022)
    grades = rng.choice(4, size=(12_590, 3), p=TRIPJUDGE / TRIPJUDGE.sum())
    who = np.argsort(rng.random((12_590, 135)), axis=1)[:, :3]
    n = len(grades)
    return make_label_table(
        topics=["t"],
        documents=[f"d{i:05}" for i in range(n)],
        annotators=[f"a{k:03}" for k in range(135)],
        topic=np.zeros(3 * n, dtype=int),
        document=np.repeat(np.arange(n), 3),
        annotator=who.ravel(),
        grade=grades.ravel(),
        n_grades=4,
    )


def test_annotators_at_random_agree_with_the_label_by_construction_and_with_nobody_else(at_random):
    """About 0.42 on 4 grades and 0.48 on 2 against the label; 0 with the others and
    between annotators."""
    report = report_of(at_random)
    assert report.graded.mean_kappa == pytest.approx(0.42, abs=0.01)
    assert report.binary.mean_kappa == pytest.approx(0.48, abs=0.01)
    for scale in (report.graded, report.binary):
        assert scale.chance_floor == pytest.approx(scale.mean_kappa, abs=0.01)
        assert scale.mean_kappa_others == pytest.approx(0, abs=0.015)
        assert scale.alpha == pytest.approx(0, abs=0.02)
        assert scale.alpha_interval.low < 0 < scale.alpha_interval.high
    pairs = find_annotator_pairs(at_random, min_common=1)
    kappas = cohen_kappa(pairs.joint, weighted=True)
    assert mean_of_defined(kappas, pairs.n_common) == pytest.approx(0, abs=0.02)


def test_three_annotators_at_random_on_every_pair_show_the_same_floor():
    grades = np.random.default_rng(1).choice(4, size=(4000, 3), p=TRIPJUDGE / TRIPJUDGE.sum())
    report = report_of(table_of_pairs(grades, n_grades=4))
    assert report.graded.mean_kappa == pytest.approx(0.42, abs=0.02)
    assert report.binary.mean_kappa == pytest.approx(0.48, abs=0.02)
    assert report.graded.mean_pairwise_kappa == pytest.approx(0, abs=0.03)
    assert report.graded.mean_kappa_others == pytest.approx(0, abs=0.03)
    assert not math.isnan(report.graded.fleiss)


def test_two_annotators_by_hand():
    """a: 0 1 2 3 3, b: 0 1 2 3 2. Labels: 0 1 2 3 2 (lowest of 2 and 3). Binary (from 2): equal
    throughout."""
    report = report_of(
        table_of_pairs([[0, 0], [1, 1], [2, 2], [3, 3], [3, 2]], n_grades=4), min_common=5
    )
    first, second = report.annotators
    expected = cohen_kappa_score([0, 1, 2, 3, 3], [0, 1, 2, 3, 2], weights="linear")
    assert first.kappa_graded == pytest.approx(expected)
    assert second.kappa_graded == 1
    assert first.kappa_graded_others == second.kappa_graded_others == pytest.approx(expected)
    assert report.graded.mean_kappa == pytest.approx((expected + 1) / 2)
    assert report.graded.kappa_quartiles == pytest.approx(
        (expected + (1 - expected) / 4, (expected + 1) / 2, 1 - (1 - expected) / 4)
    )
    assert report.graded.mean_pairwise_kappa == pytest.approx(expected)
    assert report.graded.mean_pairwise_kappa_weighted == pytest.approx(expected)
    assert report.graded.pairs_of_annotators == 1
    assert report.graded.percent == 0.8
    assert (
        report.binary.mean_kappa
        == report.binary.alpha
        == report.binary.fleiss
        == report.binary.percent
        == 1
    )
    assert first.share == {0: 0.2, 1: 0.2, 2: 0.2, 3: 0.4}
    assert (first.judgements, first.name) == (5, "a000")
    assert math.isnan(first.median_seconds)


def test_the_weighted_mean_of_pairs_is_by_common_pairs():
    grades = np.full((30, 3), MISSING)
    grades[:20, :2] = np.random.default_rng(0).integers(0, 4, size=(20, 2))
    grades[20:, 1:] = np.random.default_rng(1).integers(0, 4, size=(10, 2))
    report = report_of(table_of_pairs(grades, n_grades=4), min_common=10)
    first = cohen_kappa_score(grades[:20, 0], grades[:20, 1], weights="linear", labels=[0, 1, 2, 3])
    second = cohen_kappa_score(
        grades[20:, 1], grades[20:, 2], weights="linear", labels=[0, 1, 2, 3]
    )
    assert report.graded.pairs_of_annotators == 2
    assert report.graded.mean_pairwise_kappa == pytest.approx((first + second) / 2)
    assert report.graded.mean_pairwise_kappa_weighted == pytest.approx(
        (20 * first + 10 * second) / 30
    )


def test_without_overlap_everything_is_undefined_and_says_why():
    report = report_of(table_of_pairs([[0, MISSING], [MISSING, 3]], n_grades=4))
    for scale in (report.graded, report.binary):
        for name in (
            "mean_kappa",
            "chance_floor",
            "mean_kappa_others",
            "mean_pairwise_kappa",
            "alpha",
            "alpha_nominal",
            "fleiss",
            "percent",
        ):
            assert math.isnan(getattr(scale, name)), name
        assert all(math.isnan(bound) for bound in scale.alpha_interval.bounds)
        assert scale.undefined == {
            "kappa": 2,
            "kappa_others": 2,
            "pairwise_kappa": 0,
            "alpha": 1,
            "fleiss": 1,
        }
        assert scale.reasons["alpha"] == "no pair has two judgements"
        assert scale.reasons["mean_pairwise_kappa"] == "no two annotators have 10 pairs in common"


def test_one_grade_only_is_undefined_and_not_one():
    report = report_of(table_of_pairs([[3, 3]] * 12, n_grades=4))
    assert math.isnan(report.graded.mean_kappa)
    assert report.graded.undefined == {
        "kappa": 2,
        "kappa_others": 2,
        "pairwise_kappa": 1,
        "alpha": 1,
        "fleiss": 1,
    }
    assert "have the same grade" in report.graded.reasons["alpha"]
    assert (
        "every annotator and the labels use only one grade" in report.graded.reasons["mean_kappa"]
    )
    assert "use only one grade" in report.graded.reasons["mean_pairwise_kappa"]
    assert report.graded.percent == 1


def test_an_undefined_kappa_is_left_out_of_the_mean_and_counted():
    grades = np.full((24, 3), MISSING)
    grades[:12, 0], grades[:12, 1] = [0, 1] * 6, [0, 1] * 6
    grades[12:, 1], grades[12:, 2] = 2, 2
    report = report_of(table_of_pairs(grades, n_grades=4))
    assert (
        report.graded.undefined["kappa"] == 1
    )  # the third annotator gave one grade only, as did the others there
    assert report.graded.undefined["pairwise_kappa"] == 1
    assert report.graded.mean_kappa == report.graded.mean_pairwise_kappa == 1


def test_a_report_on_labels_of_three_judgements_says_when_no_pair_has_them():
    report = report_of(table_of_pairs([[0, 1], [2, 2]], n_grades=4), min_judgements=3)
    assert report.n_labelled == 0
    assert (
        report.graded.reasons["mean_kappa"] == "no pair has the 3 judgements required for a label"
    )
    assert not math.isnan(report.graded.mean_kappa_others)


def test_an_empty_table_has_a_report():
    report = report_of(table_of_pairs([], n_grades=4))
    assert report.annotators == []
    assert math.isnan(report.graded.mean_kappa)
    assert math.isnan(report.graded.kappa_quartiles[1])
    assert report.n_pairs == report.n_labelled == report.n_judgements == 0


def test_fleiss_with_different_numbers_of_judgements_says_so():
    report = report_of(table_of_pairs([[0, 1, MISSING], [2, 2, 3]], n_grades=4))
    assert (
        report.graded.reasons["fleiss"]
        == "pairs have from 2 to 3 judgements; Fleiss' kappa needs the same number for all"
    )


def test_median_seconds_leave_unknown_times_out():
    rows = [("t", f"d{i}", "ab"[i % 2], 0) for i in range(7)] + [("t", "d", "c", 1)]
    seconds = [9.0, 2.0, 1.0, 4.0, np.nan, 6.0, 5.0, np.nan]
    table = table_of_rows(rows, n_grades=2, seconds=seconds)
    np.testing.assert_array_equal(median_seconds_by_annotator(table), [5.0, 4.0, np.nan])


def figures(report) -> list:
    """What does not depend on the seed."""
    result = []
    for scale in (report.graded, report.binary):
        result += [
            scale.mean_kappa,
            *scale.kappa_quartiles,
            scale.mean_kappa_others,
            scale.mean_pairwise_kappa,
        ]
        result += [
            scale.mean_pairwise_kappa_weighted,
            scale.alpha,
            scale.alpha_nominal,
            scale.fleiss,
            scale.percent,
        ]
    return result


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.permutations(range(4)), st.randoms(use_true_random=False))
def test_names_of_annotators_and_order_of_pairs_change_nothing(seed, names, random):
    grades = random_grades(np.random.default_rng(seed), n_pairs=20, n_annotators=4, n_grades=4)
    order = list(range(20))
    random.shuffle(order)
    report = report_of(table_of_pairs(grades, n_grades=4), min_common=5)
    again = report_of(table_of_pairs(grades[order][:, names], n_grades=4), min_common=5)
    np.testing.assert_allclose(figures(report), figures(again), atol=1e-12)


def test_pairs_judged_once_do_not_move_the_floor_of_kappas_against_labels():
    grades = random_grades(np.random.default_rng(3), n_pairs=20, n_annotators=4, n_grades=4)
    rows = [
        ("t", f"d{i}", f"a{k}", int(g))
        for i, row in enumerate(grades)
        for k, g in enumerate(row)
        if g != MISSING
    ]
    judged = Counter(document for _, document, _, _ in rows)
    twice = [row for row in rows if judged[row[1]] > 1]
    once = [("t", f"e{k}", f"a{k % 4}", k % 3) for k in range(12)]
    alone, among_others = (
        report_of(table_of_rows(some, n_grades=4)) for some in (twice, twice + once)
    )
    assert among_others.graded.chance_floor == alone.graded.chance_floor
    assert among_others.binary.chance_floor == alone.binary.chance_floor


def test_the_order_of_rows_changes_nothing_even_of_what_is_drawn():
    grades = random_grades(np.random.default_rng(3), n_pairs=20, n_annotators=4, n_grades=4)
    rows = [
        ("t", f"d{i}", f"a{k}", int(g))
        for i, row in enumerate(grades)
        for k, g in enumerate(row)
        if g != MISSING
    ]
    report, again = (report_of(table_of_rows(order, n_grades=4)) for order in (rows, rows[::-1]))
    assert report.graded.chance_floor == again.graded.chance_floor
    assert report.graded.alpha_interval == again.graded.alpha_interval
    assert (
        report_of(table_of_rows(rows, n_grades=4), seed=9).graded.chance_floor
        != report.graded.chance_floor
    )

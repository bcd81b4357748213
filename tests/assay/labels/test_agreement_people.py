"""One annotator at a time, and what excluding somebody would change."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from assay.labels.agreement.annotators import (
    AnnotatorKappa,
    LabelChange,
    compute_annotator_kappas,
    compute_exclusion_effect,
    kappa_interval,
)
from assay.labels.agreement.raters import count_against_others_by_topic
from assay.labels.labels import MISSING, LabelTable
from tests.assay.labels.judged import random_grades, table_of_pairs, table_of_rows


def everybody(table: LabelTable) -> list[AnnotatorKappa]:
    return compute_annotator_kappas(table.annotators, count_against_others_by_topic(table))


def test_leave_one_out_sets_each_annotator_against_the_label_of_the_others():
    table = table_of_pairs([[0, 1, 1], [2, 2, 0], [3, 3, 3], [1, MISSING, MISSING]], n_grades=4)
    first = everybody(table)[0]
    assert (first.name, first.n) == ("a000", 3)
    assert first.kappa == pytest.approx(
        cohen_kappa_score([0, 2, 3], [1, 0, 3], weights="linear", labels=[0, 1, 2, 3])
    )
    assert first.confusion[0, 1] == first.confusion[2, 0] == first.confusion[3, 3] == 1


def test_a_random_clicker_is_near_zero_and_the_interval_says_how_sure_that_is():
    rng = np.random.default_rng(4)
    grades = random_grades(rng, n_pairs=200, n_annotators=4, n_grades=4, missing=0.2, accuracy=0.85)
    grades[:, 3] = np.where(grades[:, 3] == MISSING, MISSING, rng.integers(0, 4, size=200))
    people = everybody(table_of_pairs(grades, n_grades=4))
    clicker = people[3]
    assert clicker.interval.low < 0.1
    assert (
        clicker.interval.low
        < clicker.kappa
        < clicker.interval.high
        < min(person.interval.low for person in people[:3])
    )


def test_the_interval_is_that_of_a_loop_that_leaves_out_each_pair():
    grades = random_grades(
        np.random.default_rng(5), n_pairs=80, n_annotators=3, n_grades=4, missing=0.0, accuracy=0.7
    )
    person = everybody(table_of_pairs(grades, n_grades=4))[0]
    others = np.minimum(
        grades[:, 1], grades[:, 2]
    )  # of two judgements the lower, or the one they share
    kappas = [
        cohen_kappa_score(
            np.delete(grades[:, 0], i), np.delete(others, i), weights="linear", labels=[0, 1, 2, 3]
        )
        for i in range(80)
    ]
    z = np.arctanh(kappas)
    reach = stats.t.ppf(0.975, 79) * np.sqrt(79 / 80 * ((z - z.mean()) ** 2).sum())
    assert person.interval.bounds == pytest.approx(
        list(np.tanh([np.arctanh(person.kappa) - reach, np.arctanh(person.kappa) + reach]))
    )


def judged_by_two(n_topics: int, pairs: int, *, seed: int = 3) -> LabelTable:
    """Every topic has as many pairs; grades 0 to 3, equal in seven of ten."""
    rng = np.random.default_rng(seed)
    rows = []
    for topic in range(n_topics):
        for document in range(pairs):
            own = int(rng.integers(4))
            other = own if rng.random() < 0.7 else int(rng.integers(4))
            rows += [
                (f"t{topic:02}", f"d{document}", "a", own),
                (f"t{topic:02}", f"d{document}", "b", other),
            ]
    return table_of_rows(rows, n_grades=4)


def test_topics_are_the_units_of_a_kappa_and_the_interval_is_that_of_a_loop_that_leaves_out_each():
    table = judged_by_two(12, 10)
    own, other = (
        np.array(
            [
                int(grade)
                for who, grade in zip(table.annotator, table.grade, strict=True)
                if who == k
            ]
        )
        for k in (0, 1)
    )
    topic = np.repeat(np.arange(12), 10)
    person = everybody(table)[0]
    z = np.arctanh(
        [
            cohen_kappa_score(
                own[topic != t], other[topic != t], weights="linear", labels=[0, 1, 2, 3]
            )
            for t in range(12)
        ]
    )
    reach = stats.t.ppf(0.975, 11) * np.sqrt(11 / 12 * ((z - z.mean()) ** 2).sum())
    assert person.interval.unit == "topics"
    assert person.interval.bounds == pytest.approx(
        list(np.tanh([np.arctanh(person.kappa) - reach, np.arctanh(person.kappa) + reach]))
    )


def test_below_ten_topics_a_kappa_has_no_interval_unless_all_pairs_are_of_one():
    for n_topics in (2, 7, 9):
        interval = everybody(judged_by_two(n_topics, 30))[0].interval
        assert interval.reason == f"{n_topics} topics; a confidence interval needs 10"
        assert np.isnan(interval.bounds).all()
    one = everybody(judged_by_two(1, 60))[0]
    assert (one.interval.unit, one.interval.reason) == ("pairs", "")
    assert one.interval == one.over_pairs


def test_topics_of_unequal_size_have_fewer_degrees_of_freedom():
    """Kish (1965), by hand: sizes 30 and eleven times 5 are worth 85 ** 2 / (30 ** 2 + 11 * 5 ** 2)
    = 6.149 of equal size."""
    rng = np.random.default_rng(9)
    sizes = [30] + [5] * 11
    joint = np.array([rng.multinomial(n, [0.3, 0.1, 0.1, 0.5]).reshape(2, 2) for n in sizes])
    interval = kappa_interval(joint, weighted=False)

    def kappa(counts: np.ndarray) -> float:
        own, other = (np.repeat(values, counts.ravel()) for values in ([0, 0, 1, 1], [0, 1, 0, 1]))
        return float(cohen_kappa_score(own, other))

    z = np.arctanh([kappa(joint.sum(axis=0) - one) for one in joint])
    reach = stats.t.ppf(0.975, 85**2 / (30**2 + 11 * 5**2) - 1) * np.sqrt(
        11 / 12 * ((z - z.mean()) ** 2).sum()
    )
    middle = np.arctanh(kappa(joint.sum(axis=0)))
    assert interval.bounds == pytest.approx(list(np.tanh([middle - reach, middle + reach])))


def test_one_topic_that_outweighs_the_others_leaves_no_interval():
    joint = np.array([[[60, 15], [15, 60]]] + [[[2, 0], [1, 1]]] * 14)
    assert (
        kappa_interval(joint, weighted=False).reason
        == "15 topics of very unequal size, equivalent to 1.9 of equal size; a confidence interval needs 5"
    )


def test_many_annotators_at_once_have_the_intervals_of_one_after_the_other(monkeypatch):
    monkeypatch.setattr("assay.labels.agreement.annotators.UNIT_BATCH_SIZE", 25)
    rng = np.random.default_rng(5)
    rows = []
    for couple in range(12):
        for document in range(30):
            topic = f"t{rng.integers(1 + 3 * couple)}"
            rows += [
                (topic, f"d{document}", f"{name}{couple:02}", int(rng.integers(3))) for name in "ab"
            ]
    table = table_of_rows(rows, n_grades=3)
    counts = count_against_others_by_topic(table)
    together = compute_annotator_kappas(table.annotators, counts)
    for i, one in enumerate(together):
        alone = kappa_interval(counts.joint[counts.annotator == i], weighted=True)
        assert (one.interval.reason, one.interval.unit) == (alone.reason, alone.unit)
        assert one.interval.bounds == pytest.approx(alone.bounds, rel=1e-9, nan_ok=True)
    assert {one.interval.unit for one in together} == {"pairs", "topics"}


def test_ten_pairs_have_a_kappa_and_no_interval():
    person = everybody(table_of_pairs([[0, 0], [1, 1], [2, 3], [3, 2], [1, 0]] * 2, n_grades=4))[0]
    assert not math.isnan(person.kappa)
    assert person.interval.reason == "10 pairs; a confidence interval needs 20"


def test_an_annotator_alone_has_no_kappa_and_no_interval():
    person = everybody(table_of_pairs([[0, MISSING], [MISSING, 1]], n_grades=4))[0]
    assert person.n == 0
    assert math.isnan(person.kappa)
    assert all(math.isnan(bound) for bound in person.interval.bounds)
    assert everybody(table_of_pairs([], n_grades=4)) == []


def test_exclusion_names_the_pairs_that_lose_their_label_and_those_that_change_it():
    table = table_of_pairs(
        [
            [0, 2, 2],  # 2 stays 2
            [3, 1, 3],  # 3 becomes 1, the lowest of 1 and 3
            [1, 1, MISSING],  # falls below two
            [MISSING, 2, 3],  # not touched
            [2, MISSING, MISSING],  # had no label before
        ],
        n_grades=4,
    )
    change = compute_exclusion_effect(table, ["a000", "nobody"])
    assert change.annotators == ["a000"]
    assert change.n_judgements == 4
    assert change.without_label == [("t", "d0002")]
    assert change.changes == [LabelChange("t", "d0001", before=3, after=1)]
    assert (change.before.n_labelled, change.after.n_labelled) == (4, 3)


def test_excluding_nobody_or_everybody():
    table = table_of_pairs([[0, 2], [1, 1]], n_grades=4)
    nobody, everybody = (
        compute_exclusion_effect(table, []),
        compute_exclusion_effect(table, ["a000", "a001"]),
    )
    assert (nobody.without_label, nobody.changes, nobody.n_judgements) == ([], [], 0)
    assert everybody.without_label == [("t", "d0000"), ("t", "d0001")]
    assert everybody.after.n_labelled == 0


def test_rankings_before_and_after_an_exclusion_are_over_the_topics_that_keep_labels():
    rows = [
        ("t1", "d1", "a", 1),
        ("t1", "d1", "b", 1),
        ("t1", "d1", "c", 0),
        ("t2", "d1", "a", 2),
        ("t2", "d1", "b", 2),
    ]
    what = compute_exclusion_effect(table_of_rows(rows, n_grades=4), ["b"])
    assert what.lost_topics == ["t2"]
    before, after = what.restrict_to_common_topics()
    assert (before.topics, before.grades.tolist()) == (["t1"], [1])
    assert (after.topics, after.grades.tolist()) == (["t1"], [0])

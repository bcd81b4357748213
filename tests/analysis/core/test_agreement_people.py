"""One annotator at a time, and what excluding somebody would change."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from analysis.core.agreement.people import AgainstOthers, LabelChange, agreement_of_counts, what_if_excluded
from analysis.core.agreement.raters import against_others
from analysis.core.labels import MISSING, LabelTable
from tests.analysis.core.judged import random_grades, table_of_pairs, table_of_rows


def everybody(table: LabelTable) -> list[AgainstOthers]:
    return [agreement_of_counts(name, joint) for name, joint in zip(table.annotators, against_others(table), strict=True)]


def test_leave_one_out_sets_each_annotator_against_the_label_of_the_others():
    table = table_of_pairs([[0, 1, 1], [2, 2, 0], [3, 3, 3], [1, MISSING, MISSING]], n_grades=4)
    first = everybody(table)[0]
    assert (first.name, first.n) == ("a000", 3)
    assert first.kappa == pytest.approx(cohen_kappa_score([0, 2, 3], [1, 0, 3], weights="linear", labels=[0, 1, 2, 3]))
    assert first.confusion[0, 1] == first.confusion[2, 0] == first.confusion[3, 3] == 1


def test_a_random_clicker_is_near_zero_and_the_interval_says_how_sure_that_is():
    rng = np.random.default_rng(4)
    grades = random_grades(rng, n_pairs=200, n_annotators=4, n_grades=4, missing=0.2, accuracy=0.85)
    grades[:, 3] = np.where(grades[:, 3] == MISSING, MISSING, rng.integers(0, 4, size=200))
    people = everybody(table_of_pairs(grades, n_grades=4))
    clicker = people[3]
    assert clicker.interval.low < 0.1
    assert clicker.interval.low < clicker.kappa < clicker.interval.high < min(person.interval.low for person in people[:3])


def test_the_interval_is_that_of_a_loop_that_leaves_out_each_pair():
    grades = random_grades(np.random.default_rng(5), n_pairs=80, n_annotators=3, n_grades=4, missing=0.0, accuracy=0.7)
    person = everybody(table_of_pairs(grades, n_grades=4))[0]
    others = np.minimum(grades[:, 1], grades[:, 2])  # of two judgements the lower, or the one they share
    kappas = [
        cohen_kappa_score(np.delete(grades[:, 0], i), np.delete(others, i), weights="linear", labels=[0, 1, 2, 3]) for i in range(80)
    ]
    z = np.arctanh(kappas)
    reach = stats.t.ppf(0.975, 79) * np.sqrt(79 / 80 * ((z - z.mean()) ** 2).sum())
    assert person.interval.bounds == pytest.approx(list(np.tanh([np.arctanh(person.kappa) - reach, np.arctanh(person.kappa) + reach])))


def test_ten_pairs_have_a_kappa_and_no_interval():
    person = everybody(table_of_pairs([[0, 0], [1, 1], [2, 3], [3, 2], [1, 0]] * 2, n_grades=4))[0]
    assert not math.isnan(person.kappa)
    assert person.interval.reason == "10 pairs; an interval needs 20"


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
    change = what_if_excluded(table, ["a000", "nobody"])
    assert change.annotators == ["a000"]
    assert change.n_judgements == 4
    assert change.without_label == [("t", "d0002")]
    assert change.changes == [LabelChange("t", "d0001", before=3, after=1)]
    assert (change.before.n_labelled, change.after.n_labelled) == (4, 3)


def test_excluding_nobody_or_everybody():
    table = table_of_pairs([[0, 2], [1, 1]], n_grades=4)
    nobody, everybody = what_if_excluded(table, []), what_if_excluded(table, ["a000", "a001"])
    assert (nobody.without_label, nobody.changes, nobody.n_judgements) == ([], [], 0)
    assert everybody.without_label == [("t", "d0000"), ("t", "d0001")]
    assert everybody.after.n_labelled == 0


def test_rankings_before_and_after_an_exclusion_are_over_the_topics_that_keep_labels():
    rows = [("t1", "d1", "a", 1), ("t1", "d1", "b", 1), ("t1", "d1", "c", 0), ("t2", "d1", "a", 2), ("t2", "d1", "b", 2)]
    what = what_if_excluded(table_of_rows(rows, n_grades=4), ["b"])
    assert what.topics_lost == ["t2"]
    before, after = what.on_common_topics()
    assert (before.topics, before.grades.tolist()) == (["t1"], [1])
    assert (after.topics, after.grades.tolist()) == (["t1"], [0])

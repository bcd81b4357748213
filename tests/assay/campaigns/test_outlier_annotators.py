"""Whose agreement may be chance: rarely an honest annotator, mostly one who answers at random."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest

from assay.campaigns import outlier_annotators
from assay.campaigns.outlier_annotators import compute_excess_disagreement, find_outliers
from assay.labels.agreement.annotators import compute_annotator_kappas
from assay.labels.agreement.raters import count_against_others_by_topic
from assay.labels.labels import LabelTable, make_label_table
from benchmarks.calibration.signs import NOISE, measure_sign_rates


def make_table(rows: list[tuple[int, int, int]]) -> LabelTable:
    """rows: document, annotator, grade, all of one topic"""
    document, annotator, grade = np.array(rows).T
    return make_label_table(
        topics=["t"],
        documents=[f"{i:03}" for i in range(document.max() + 1)],
        annotators=list("abcdefgh")[: annotator.max() + 1],
        topic=np.zeros(len(rows), dtype=int),
        document=document,
        annotator=annotator,
        grade=grade,
        n_grades=4,
    )


def flagged(table: LabelTable) -> list[str]:
    people = compute_annotator_kappas(table.annotators, count_against_others_by_topic(table))
    return [one.name for one in find_outliers(table, people)]


@pytest.mark.parametrize(
    ("judges", "grades"),
    [
        ([(0, 1), (0, 2), (1, 2)], [(0, 3), (1, 1), (2, 3)]),
        ([(0, 1, 2), (0, 1, 3)], [(0, 3, 3), (1, 1, 2)]),
    ],
)
def test_excess_has_mean_0_and_variance_1_over_all_exchanges(judges, grades, monkeypatch) -> None:
    monkeypatch.setattr(outlier_annotators, "MIN_SHARED", 1)
    excess = []
    for order in permutations(grades):
        for given in product(*(set_of_orders(one) for one in order)):
            rows = [
                (i, person, grade)
                for i, (people, own) in enumerate(zip(judges, given, strict=True))
                for person, grade in zip(people, own, strict=True)
            ]
            excess.append(compute_excess_disagreement(make_table(rows)))
    values = np.array(excess)
    assert values.mean(axis=0) == pytest.approx(0, abs=1e-9)
    assert values.var(axis=0) == pytest.approx(1)


def set_of_orders(grades: tuple[int, ...]) -> list[tuple[int, ...]]:
    return list(permutations(grades))


@pytest.mark.parametrize("base", NOISE)
@pytest.mark.parametrize("by_topic", [False, True])
def test_honest_annotators_are_not_accused(base: float, by_topic: bool) -> None:
    """A short form of docs/evidence/calibration.md."""
    for differing in (False, True):
        found = measure_sign_rates(
            base,
            annotators=8,
            pairs=100,
            campaigns=30,
            rng=np.random.default_rng(5),
            by_topic=by_topic,
            differing=differing,
        )
        assert found.false_alarm <= 2 / 30
        if not differing:
            assert found.kappa == pytest.approx(base, abs=0.04)


def test_somebody_at_random_is_found_though_everybody_meets_them() -> None:
    """28% of the judgements are random: alpha is near .36, and kappa of the others is low, too."""
    found = measure_sign_rates(
        0.8,
        annotators=8,
        pairs=100,
        campaigns=15,
        rng=np.random.default_rng(2),
        by_topic=True,
        differing=True,
        random_too=True,
    )
    assert found.at_random >= 0.85
    assert found.false_alarm == 0


def test_an_honest_annotator_who_met_only_the_random_one_is_not_accused() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(4, size=200)
    rows = []
    for i, grade in enumerate(truth.tolist()):
        pair = (0, 1) if i < 50 else (0, 2 + i % 3) if i < 100 else [(2, 3), (3, 4), (2, 4)][i % 3]
        rows += [(i, who, int(rng.integers(4)) if who == 0 else grade) for who in pair]
    table = make_table(rows)
    people = compute_annotator_kappas(table.annotators, count_against_others_by_topic(table))
    assert people[1].over_pairs.low <= 0, "b agrees with a only by chance"
    (outlier,) = find_outliers(table, people)
    assert outlier.name == "a"
    assert outlier.alpha < 0.6
    assert outlier.alpha_without == pytest.approx(1)


def test_people_who_agree_alike_and_nobody_at_all() -> None:
    rows = [(i, who, int(i % 4 == who)) for i in range(60) for who in range(3)]
    assert flagged(make_table(rows)) == []
    assert (
        find_outliers(make_table(rows).select_judgements(np.zeros(len(rows), dtype=bool)), []) == []
    )

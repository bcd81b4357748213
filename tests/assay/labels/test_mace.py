"""MACE against its definition by a slow loop, a general optimiser, and simulated people of known
competence."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import optimize

from assay.labels.aggregation import mace, majority
from assay.labels.aggregation.mace import PSEUDO_COUNT, fit_mace
from assay.labels.labels import MISSING
from tests.assay.labels.judged import random_grades, table_of_pairs


def arrays(grades: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    pair, annotator = np.nonzero(grades != MISSING)
    return pair, annotator, grades[pair, annotator]


def penalised(grades: np.ndarray, competent: np.ndarray, guesses: np.ndarray) -> float:
    """By the definition: each pair's true grade is any with the same chance; the prior as added
    counts."""
    n_grades = guesses.shape[1]
    total = 0.0
    for row in grades.tolist():
        chances = []
        for true in range(n_grades):
            product = 1.0
            for who, grade in enumerate(row):
                if grade != MISSING:
                    product *= (
                        competent[who] * (grade == true)
                        + (1 - competent[who]) * guesses[who, grade]
                    )
            chances.append(product)
        total += math.log(sum(chances) / n_grades)
    for who in range(len(competent)):
        total += (
            PSEUDO_COUNT
            / n_grades
            * (math.log(competent[who]) + math.log(1 - competent[who]) + np.log(guesses[who]).sum())
        )
    return total


@pytest.mark.parametrize("seed", range(4))
def test_the_likelihood_is_that_of_the_definition_and_never_falls(seed):
    grades = random_grades(
        np.random.default_rng(seed),
        n_pairs=30,
        n_annotators=4,
        n_grades=3,
        missing=0.2,
        accuracy=0.6,
    )
    grades = grades[(grades != MISSING).any(axis=1)]
    found = fit_mace(*arrays(grades), shape=(len(grades), 4, 3))
    assert found.objective[-1] == pytest.approx(
        penalised(grades, found.competent, found.guesses), rel=1e-10
    )
    assert all(later >= before - 1e-9 * abs(before) for before, later in pairwise(found.objective))
    assert found.converged


def test_a_general_optimiser_finds_nothing_better_nearby():
    grades = random_grades(
        np.random.default_rng(5), n_pairs=40, n_annotators=3, n_grades=2, missing=0.0, accuracy=0.7
    )
    found = fit_mace(*arrays(grades), shape=(40, 3, 2), rounds=5000)

    def parts(free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        share = 1 / (1 + np.exp(-free))
        return share[:3], np.column_stack([share[3:], 1 - share[3:]])

    start = np.concatenate([found.competent, found.guesses[:, 0]])
    best = optimize.minimize(
        lambda free: -penalised(grades, *parts(free)),
        np.log(start / (1 - start)),
        method="Nelder-Mead",
        options={"maxiter": 4000},
    )
    assert -best.fun == pytest.approx(found.objective[-1], abs=1e-3)


def test_competence_and_guesses_of_simulated_people_are_found_and_labels_better_than_by_majority():
    """Three who guess for nine tenths of their judgements, two of them always alike, and two who
    are mostly right."""
    rng = np.random.default_rng(6)
    truth = rng.integers(0, 4, 600)
    competent = np.array([0.9, 0.8, 0.1, 0.1, 0.1])
    lists = np.array(
        [[0.25] * 4, [0.25] * 4, [0.7, 0.1, 0.1, 0.1], [0.7, 0.1, 0.1, 0.1], [0.25] * 4]
    )
    guesses = np.stack([rng.choice(4, 600, p=chances) for chances in lists], axis=1)
    grades = np.where(rng.random((600, 5)) < competent, truth[:, None], guesses)
    found = fit_mace(*arrays(grades), shape=(600, 5, 4))
    assert found.competent == pytest.approx(competent, abs=0.07)
    assert found.guesses[2:4, 0] == pytest.approx([0.7, 0.7], abs=0.06)
    table = table_of_pairs(grades, n_grades=4)
    ours, votes = ((labels(table).label == truth).mean() for labels in (mace, majority))
    assert ours > votes + 0.1


def test_pairs_with_too_few_judgements_have_no_label_and_take_no_part():
    grades = np.array([[1, 1, 1], [2, MISSING, MISSING], [0, 0, 1], [2, 2, 2]])
    found = mace(table_of_pairs(grades, n_grades=3))
    assert found.label.tolist() == [1, MISSING, 0, 2]
    assert np.isnan(found.posterior[1]).all()
    np.testing.assert_allclose(
        found.posterior[[0, 2, 3]], mace(table_of_pairs(grades[[0, 2, 3]], n_grades=3)).posterior
    )
    assert found.decision is None
    assert found.ended is not None
    assert found.ended.converged


def test_of_equal_chances_the_lowest_grade_is_taken_and_nothing_is_drawn():
    assert mace(table_of_pairs([[2, 3], [3, 2]], n_grades=4)).label.tolist() == [2, 2]
    assert mace(table_of_pairs([], n_grades=4)).n_labelled == 0


@pytest.mark.parametrize("seed", range(3))
def test_names_of_annotators_and_grades_permuted_permute_the_posterior_only(seed):
    rng = np.random.default_rng(seed)
    grades = random_grades(rng, n_pairs=50, n_annotators=4, n_grades=3, missing=0.2, accuracy=0.7)
    posterior = mace(table_of_pairs(grades, n_grades=3)).posterior
    np.testing.assert_allclose(
        mace(table_of_pairs(grades[:, rng.permutation(4)], n_grades=3)).posterior,
        posterior,
        atol=1e-6,
    )
    flipped = np.where(grades == MISSING, MISSING, 2 - grades)
    np.testing.assert_allclose(
        mace(table_of_pairs(flipped, n_grades=3)).posterior[:, ::-1], posterior, atol=1e-6
    )

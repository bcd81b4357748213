"""Labels weighted by how often each annotator guesses, estimated from the judgements alone.

Hovy, Berg-Kirkpatrick, Vaswani and Hovy (2013), "Learning whom to trust with MACE", NAACL. Every
annotator either gives a pair's true grade or, with a probability of their own, a grade from a list
of their own, whatever the pair. Fewer numbers an annotator than Dawid-Skene (grades instead of
grades squared), so it needs fewer judgements of each; it knows no systematic confusion.

Fitted by EM; to each expected count of competent and guessed judgements, and of guessed grades, 0.1
divided by the number of grades is added, as the paper does. Started from the shares of the grades
of each pair, with each annotator's agreement with them (ours: the paper takes the best of ten
random starts), so that nothing is drawn."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.labels.aggregation.labelling import (
    CONVERGENCE_TOLERANCE,
    MAX_ROUNDS,
    Aggregation,
    Iteration,
    most_probable_grade,
)
from assay.labels.labels import MISSING, LabelTable

Floats = NDArray[np.float64]
PSEUDO_COUNT = 0.1
"""Divided by the number of grades, to each expected count."""


class MaceEstimate(NamedTuple):
    """posterior: (n_pairs, n_grades). competent: (n_annotators), the chance of giving the true
    grade, not a guess. guesses: (n_annotators, n_grades). objective: log-likelihood with the prior,
    of each round."""

    posterior: Floats
    competent: Floats
    guesses: Floats
    objective: list[float]
    converged: bool


def mace(table: LabelTable, *, min_judgements: int = 2) -> Aggregation:
    """The most probable grade of each pair, ties to the lowest; with the posterior probabilities.
    There are no decisions.

    Pairs with fewer than `min_judgements` judgements are left out before anything is estimated.
    """
    enough = table.judgements_per_pair >= max(min_judgements, 1)
    rows = enough[table.pair]
    label = np.full(table.n_pairs, MISSING, dtype=np.int16)
    posterior = np.full((table.n_pairs, table.n_grades), np.nan)
    ended = Iteration(0, True, None)
    if rows.any():
        pairs, pair = np.unique(table.pair[rows], return_inverse=True)
        estimate = fit_mace(
            pair,
            table.annotator[rows],
            table.grade[rows],
            shape=(len(pairs), table.n_annotators, table.n_grades),
        )
        posterior[pairs] = estimate.posterior
        label[pairs] = most_probable_grade(estimate.posterior)
        ended = Iteration(len(estimate.objective), estimate.converged, estimate.objective[-1])
    return Aggregation(
        method="mace",
        min_judgements=min_judgements,
        table=table,
        label=label,
        posterior=posterior,
        ended=ended,
    )


def fit_mace(
    pair: NDArray[np.integer],
    annotator: NDArray[np.integer],
    grade: NDArray[np.integer],
    *,
    shape: tuple[int, int, int],
    rounds: int = MAX_ROUNDS,
) -> MaceEstimate:
    """EM over judgements (n), each an index of pair, annotator and grade. Every pair has a
    judgement. shape: (pairs, annotators, grades)."""
    n_pairs, n_annotators, n_grades = shape
    counts = _sum_by_index(pair * n_grades + grade, np.ones(len(pair)), n_pairs * n_grades).reshape(
        n_pairs, n_grades
    )
    posterior = counts / counts.sum(axis=1, keepdims=True)
    right = posterior[pair, grade]  # of each judgement, the chance that it is no guess
    objective: list[float] = []
    converged = False
    for _ in range(rounds):
        competent, guesses = _m_step(annotator, grade, right, n_annotators, n_grades)
        guessed = (1 - competent[annotator]) * guesses[annotator, grade]
        log_other, log_true = np.log(guessed), np.log(competent[annotator] + guessed)
        joint = np.repeat(_sum_by_index(pair, log_other, n_pairs)[:, None], n_grades, axis=1)
        joint += _sum_by_index(
            pair * n_grades + grade, log_true - log_other, n_pairs * n_grades
        ).reshape(n_pairs, n_grades)
        highest = joint.max(axis=1)
        likelihood = np.exp(joint - highest[:, None])
        total = likelihood.sum(axis=1)
        before, posterior = posterior, likelihood / total[:, None]
        right = posterior[pair, grade] * competent[annotator] / (competent[annotator] + guessed)
        prior = (
            PSEUDO_COUNT
            / n_grades
            * (np.log(competent) + np.log(1 - competent) + np.log(guesses).sum(axis=1)).sum()
        )
        objective.append(float((np.log(total / n_grades) + highest).sum() + prior))
        converged = float(np.abs(posterior - before).max()) < CONVERGENCE_TOLERANCE
        if converged:
            break
    return MaceEstimate(posterior, competent, guesses, objective, converged)


def _m_step(
    annotator: NDArray[np.integer],
    grade: NDArray[np.integer],
    right: Floats,
    n_annotators: int,
    n_grades: int,
) -> tuple[Floats, Floats]:
    """M-step. -> (competent, guesses)"""
    added = PSEUDO_COUNT / n_grades
    n_right = _sum_by_index(annotator, right, n_annotators) + added
    n_guessed = _sum_by_index(annotator, 1 - right, n_annotators) + added
    guesses = (
        _sum_by_index(annotator * n_grades + grade, 1 - right, n_annotators * n_grades).reshape(
            n_annotators, n_grades
        )
        + added
    )
    return n_right / (n_right + n_guessed), guesses / guesses.sum(axis=1, keepdims=True)


def _sum_by_index(place: NDArray[np.integer], values: Floats, n: int) -> Floats:
    return np.bincount(place, weights=values, minlength=n).astype(np.float64, copy=False)

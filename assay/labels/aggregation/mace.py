"""Aggregation weighted by annotators' competence, estimated from the judgements (MACE, Hovy et al.
2013).

Hovy, Berg-Kirkpatrick, Vaswani and Hovy, "Learning whom to trust with MACE", NAACL 2013. An
annotator either gives a pair's true grade or guesses, with a probability of their own, from a
distribution of grades of their own that does not depend on the pair. MACE has fewer parameters per
annotator than Dawid-Skene (n_grades instead of n_grades squared), so it needs fewer judgements per
annotator, but it does not model systematic confusion.

It is fitted by EM. As in the paper, 0.1 / n_grades is added to each expected count of competent
judgements, guesses and guessed grades. Iterations start from the shares of the grades of each pair
and each annotator's agreement with them, so that nothing is random (Assay-specific: the paper takes
the best of ten random starts).
"""

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
"""Divided by the number of grades and added to each expected count."""


class MaceEstimate(NamedTuple):
    """The result of the iterations.

    posterior: (n_pairs, n_grades). competent: (n_annotators), the probability of giving the true
    grade rather than a guess. guesses: (n_annotators, n_grades). objective: log-likelihood
    including the prior, per iteration.
    """

    posterior: Floats
    competent: Floats
    guesses: Floats
    objective: list[float]
    converged: bool


def mace(table: LabelTable, *, min_judgements: int = 2) -> Aggregation:
    """Return the most probable grade of each pair, the lowest of tied grades, with the posterior
    probabilities. There are no decisions.

    Pairs with fewer than `min_judgements` judgements are removed before the estimation.
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
    """Fit the model by EM.

    pair, annotator, grade: (n), indices per judgement. Every pair has a judgement. shape: (n_pairs,
    n_annotators, n_grades).
    """
    n_pairs, n_annotators, n_grades = shape
    counts = _sum_by_index(pair * n_grades + grade, np.ones(len(pair)), n_pairs * n_grades).reshape(
        n_pairs, n_grades
    )
    posterior = counts / counts.sum(axis=1, keepdims=True)
    right = posterior[pair, grade]  # probability that the judgement is not a guess
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
    """Run the M-step. Return (competent, guesses)."""
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

"""Aggregation weighted by annotators' error rates, estimated from the judgements (Dawid and Skene
1979).

Dawid and Skene, "Maximum likelihood estimation of observer error-rates using the EM algorithm",
Applied Statistics 28 (1). Iterations start from the shares of the grades of each pair (equation 3.1
of the paper, soft majority). There are two rules:

- PENALISED (Assay-specific): 0.01 is added to each count of an annotator's confusion row (a
  Dirichlet prior), so that unobserved errors are not impossible. The log-likelihood of the observed
  grades with this prior never decreases. Iterations stop when no posterior changes by
  CONVERGENCE_TOLERANCE or more.
- CROWD_KIT, for comparison: as in crowd-kit 1.4. Error rates are those of the grades that an
  annotator has used. Each sum is at least 1e-10, as is the prior of a class. Iterations stop when
  the objective per judgement increases by less than 1e-5. The objective counts the log prior once
  per judgement of a pair, so it is not a proper bound, can decrease, and can stop iterations early.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from scipy import sparse

PSEUDO_COUNT = 0.01
"""Added to each count of a confusion row."""
PROBABILITY_FLOOR = 1e-10


class StoppingRule(StrEnum):
    PENALISED = "penalised"
    CROWD_KIT = "crowd-kit"


MAX_ROUNDS_BY_RULE = {StoppingRule.PENALISED: MAX_ROUNDS, StoppingRule.CROWD_KIT: 100}
TOLERANCE_BY_RULE = {StoppingRule.PENALISED: CONVERGENCE_TOLERANCE, StoppingRule.CROWD_KIT: 1e-5}


@dataclass(frozen=True, eq=False)
class DawidSkeneEstimate:
    """The result of the iterations.

    posterior: (n_pairs, n_grades), rows sum to 1, NaN for pairs without judgements. prior:
    (n_grades), the mean posterior, 0 for unused grades. errors: (n_annotators, n_grades, n_grades),
    the probability that the annotator gives the grade of the last axis if the grade of the second
    axis is true, NaN for annotators without judgements and for unused true grades. objective: one
    value per iteration, the log-likelihood with the prior or crowd-kit's bound per judgement.
    converged: False if the maximum number of iterations was reached.
    """

    posterior: NDArray[np.float64]
    prior: NDArray[np.float64]
    errors: NDArray[np.float64]
    objective: list[float]
    converged: bool


def dawid_skene(
    table: LabelTable, *, min_judgements: int = 2, rule: StoppingRule = StoppingRule.PENALISED
) -> Aggregation:
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
        shape = (table.n_pairs, table.n_annotators, table.n_grades)
        estimate = estimate_errors(
            table.pair[rows], table.annotator[rows], table.grade[rows], shape=shape, rule=rule
        )
        posterior = estimate.posterior
        label[enough] = most_probable_grade(posterior[enough])
        likelihood = estimate.objective[-1] if rule is StoppingRule.PENALISED else None
        ended = Iteration(len(estimate.objective), estimate.converged, likelihood)
    return Aggregation(
        method="dawid-skene",
        min_judgements=min_judgements,
        table=table,
        label=label,
        posterior=posterior,
        ended=ended,
    )


def estimate_errors(
    pair: NDArray[np.integer],
    annotator: NDArray[np.integer],
    grade: NDArray[np.integer],
    *,
    shape: tuple[int, int, int],
    rule: StoppingRule = StoppingRule.PENALISED,
    rounds: int | None = None,
    tolerance: float | None = None,
) -> DawidSkeneEstimate:
    """Estimate error rates by expectation maximisation.

    pair, annotator, grade: (n), indices per judgement. An annotator may have several judgements of
    a pair, as in the paper. shape: (n_pairs, n_annotators, n_grades). Raises ValueError without
    judgements.
    """
    if not len(pair):
        raise ValueError("no judgements to estimate from")
    rounds = MAX_ROUNDS_BY_RULE[rule] if rounds is None else rounds
    tolerance = TOLERANCE_BY_RULE[rule] if tolerance is None else tolerance
    n_pairs, n_annotators, n_grades = shape
    pairs, row = np.unique(pair, return_inverse=True)
    grades, given = np.unique(grade, return_inverse=True)
    people, person = np.unique(annotator, return_inverse=True)
    width = len(people) * n_grades
    from scipy import sparse  # only this method needs it

    votes = sparse.csr_array(
        (np.ones(len(row)), (row, person * n_grades + grade)), shape=(len(pairs), width)
    )
    counts = np.bincount(row * len(grades) + given, minlength=len(pairs) * len(grades)).reshape(
        len(pairs), len(grades)
    )
    model = (_PenalisedModel if rule is StoppingRule.PENALISED else _CrowdKitModel)(votes, n_grades)
    posterior = counts / counts.sum(axis=1, keepdims=True)
    objective: list[float] = []
    converged = False
    for _ in range(rounds):
        before = posterior
        posterior, errors, prior, value = model.iterate(before)
        objective.append(value)
        if rule is StoppingRule.PENALISED:
            converged = float(np.abs(posterior - before).max()) < tolerance
        else:
            converged = len(objective) > 1 and objective[-1] - objective[-2] < tolerance
        if converged:
            break
    return DawidSkeneEstimate(
        posterior=_expand_posterior(posterior, (n_pairs, n_grades), pairs, grades),
        prior=_expand_prior(prior, grades, n_grades),
        errors=_expand_errors(errors, people, grades, (n_annotators, n_grades)),
        objective=objective,
        converged=converged,
    )


class _PenalisedModel:
    """Dawid-Skene model with a pseudo-count in every cell of the confusion rows. votes: (n_pairs,
    n_annotators * n_grades), the number of times each annotator gave each grade."""

    def __init__(self, votes: sparse.csr_array, n_grades: int) -> None:
        self.votes, self.by_column, self.n_grades = votes, votes.T.tocsr(), n_grades

    def log_errors(self, posterior: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return log error rates, (n_annotators, n_grades given, n_grades true). This is the
        M-step."""
        sums = (self.by_column @ posterior).reshape(
            -1, self.n_grades, posterior.shape[1]
        ) + PSEUDO_COUNT
        return np.log(sums / sums.sum(axis=1, keepdims=True))  # type: ignore[no-any-return]

    def iterate(
        self, posterior: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], float]:
        """Run one M-step and E-step. Return (posterior, log error rates, prior, their
        log-likelihood including the prior)."""
        prior, errors = _mean_posterior(posterior), self.log_errors(posterior)
        with np.errstate(divide="ignore"):  # classes that no longer have pairs
            joint = self.votes @ errors.reshape(-1, posterior.shape[1]) + np.log(prior)
        largest, likelihood = _normalise_rows(joint)
        total = _row_sums(likelihood)
        return (
            likelihood / total[:, None],
            errors,
            prior,
            float((np.log(total) + largest).sum() + PSEUDO_COUNT * errors.sum()),
        )


class _CrowdKitModel(_PenalisedModel):
    """Dawid-Skene model as in crowd-kit 1.4, for comparison. votes: (n_pairs, n_annotators *
    n_grades)."""

    def __init__(self, votes: sparse.csr_array, n_grades: int) -> None:
        super().__init__(votes, n_grades)
        self.used = (np.asarray(votes.sum(axis=0)) > 0).reshape(-1, n_grades, 1)
        self.n_judgements = np.asarray(votes.sum(axis=1))

    def log_errors(self, posterior: NDArray[np.float64]) -> NDArray[np.float64]:
        sums = (self.by_column @ posterior).reshape(-1, self.n_grades, posterior.shape[1])
        sums = np.where(self.used, np.maximum(sums, PROBABILITY_FLOOR), 0)
        with np.errstate(divide="ignore"):  # grades never given by an annotator, which are not used
            return np.log(sums / sums.sum(axis=1, keepdims=True))  # type: ignore[no-any-return]

    def iterate(
        self, posterior: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], float]:
        """Run one E-step and M-step, and compute crowd-kit's objective per judgement."""
        prior, errors = _mean_posterior(posterior), self.log_errors(posterior)
        _, likelihood = _normalise_rows(
            self.votes @ errors.reshape(-1, posterior.shape[1])
            + np.log(np.maximum(prior, PROBABILITY_FLOOR))
        )
        posterior = likelihood / _row_sums(likelihood)[:, None]
        prior, errors = _mean_posterior(posterior), self.log_errors(posterior)
        evidence = self.votes @ errors.reshape(-1, posterior.shape[1])
        log_prior = np.log(np.maximum(prior, PROBABILITY_FLOOR))
        expected = (
            np.einsum("ij,ij->", posterior, evidence)
            + np.einsum("i,ij->j", self.n_judgements, posterior) @ log_prior
        )
        floored = np.maximum(posterior, PROBABILITY_FLOOR)
        value = float(
            (expected - np.einsum("ij,ij->", floored, np.log(floored))) / self.n_judgements.sum()
        )
        return posterior, errors, prior, value


def _normalise_rows(joint: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return (the maximum of each row of logarithms, the row's values relative to it), so that at
    least one value per row does not underflow."""
    # numpy's max and sum are slow along a short axis
    largest = functools.reduce(np.maximum, joint.T)
    return largest, np.exp(joint - largest[:, None])


def _row_sums(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.einsum("ij->i", values)  # type: ignore[no-any-return]


def _mean_posterior(posterior: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.einsum("ij->j", posterior) / len(posterior)


def _expand_posterior(
    posterior: NDArray[np.float64],
    shape: tuple[int, int],
    pairs: NDArray[np.integer],
    grades: NDArray[np.integer],
) -> NDArray[np.float64]:
    """Expand a posterior from the pairs and grades in use to all pairs and grades. Unused grades
    have probability 0, pairs without judgements NaN."""
    result = np.full(shape, np.nan)
    result[pairs] = 0.0
    result[np.ix_(pairs, grades)] = posterior
    return result


def _expand_prior(
    prior: NDArray[np.float64], grades: NDArray[np.integer], n_grades: int
) -> NDArray[np.float64]:
    result = np.zeros(n_grades)
    result[grades] = prior
    return result


def _expand_errors(
    log_errors: NDArray[np.float64],
    people: NDArray[np.integer],
    grades: NDArray[np.integer],
    shape: tuple[int, int],
) -> NDArray[np.float64]:
    n_annotators, n_grades = shape
    result = np.full((n_annotators, n_grades, n_grades), np.nan)
    result[np.ix_(people, grades)] = np.exp(log_errors).transpose(0, 2, 1)
    return result

"""Labels weighted by how reliable each annotator is, estimated from the judgements alone.

Dawid and Skene (1979), "Maximum likelihood estimation of observer error-rates using the EM algorithm", Applied
Statistics 28 (1). The variant is that of crowd-kit 1.4, so that posteriors can be compared:
- it starts from the shares of the grades of each pair (the paper's equation 3.1: soft majority);
- error rates are those of the grades that an annotator has used, each sum at least 1e-10 before it is normalised, and no
  class has a prior below 1e-10 in the E-step;
- the iterations end when the objective per judgement rises by less than the tolerance. The objective is crowd-kit's: an
  evidence lower bound that counts the log prior once for each judgement of a pair, not once for the pair. It only decides
  when to stop.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from analysis.core.aggregation.labelling import Aggregation
from analysis.core.labels import MISSING, LabelTable

FLOOR = 1e-10
TIE = 1e-9
"""Posteriors closer than this are a tie: of symmetrical grades rounding must not choose."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """What the iterations end with.

    posterior: (n_pairs, n_grades), rows sum to 1; NaN for a pair without judgements.
    prior: (n_grades), the mean posterior; 0 for a grade that nobody used.
    errors: (n_annotators, n_grades, n_grades), probability that the annotator gives the third index where the second is
        true; NaN for an annotator without judgements and for true grades that nobody used.
    objective: one value for each iteration, per judgement.
    converged: False if the iterations ran out.
    """

    posterior: NDArray[np.float64]
    prior: NDArray[np.float64]
    errors: NDArray[np.float64]
    objective: list[float]
    converged: bool


def dawid_skene(table: LabelTable, *, min_judgements: int = 2, iterations: int = 100, tolerance: float = 1e-5) -> Aggregation:
    """The most probable grade of each pair, ties to the lowest; with the posterior probabilities. There are no decisions.

    Pairs with fewer than `min_judgements` judgements are left out before anything is estimated.
    """
    enough = table.judgements_per_pair >= max(min_judgements, 1)
    rows = enough[table.pair]
    label = np.full(table.n_pairs, MISSING, dtype=np.int16)
    posterior = np.full((table.n_pairs, table.n_grades), np.nan)
    n_iterations = 0
    if rows.any():
        estimate = estimate_errors(
            table.pair[rows],
            table.annotator[rows],
            table.grade[rows],
            shape=(table.n_pairs, table.n_annotators, table.n_grades),
            iterations=iterations,
            tolerance=tolerance,
        )
        posterior = estimate.posterior
        label[enough] = most_probable(posterior[enough])
        n_iterations = len(estimate.objective)
    return Aggregation(
        method="dawid-skene", min_judgements=min_judgements, table=table, label=label, posterior=posterior, iterations=n_iterations
    )


def most_probable(posterior: NDArray[np.float64]) -> NDArray[np.int16]:
    """(n, n_grades) -> (n): the grade of the highest probability, of equal ones the lowest."""
    return (posterior >= posterior.max(axis=1, keepdims=True) - TIE).argmax(axis=1).astype(np.int16)


def estimate_errors(
    pair: NDArray[np.integer],
    annotator: NDArray[np.integer],
    grade: NDArray[np.integer],
    *,
    shape: tuple[int, int, int],
    iterations: int = 100,
    tolerance: float = 1e-5,
) -> Estimate:
    """Expectation maximisation over judgements (n), each an index of pair, annotator and grade; several by one annotator for
    a pair are allowed, as in the paper. `shape` is (n_pairs, n_annotators, n_grades). ValueError without judgements."""
    if not len(pair):
        raise ValueError("no judgements to estimate from")
    n_pairs, n_annotators, n_grades = shape
    pairs, row = np.unique(pair, return_inverse=True)
    grades, given = np.unique(grade, return_inverse=True)
    used, column = np.unique(annotator.astype(np.int64) * len(grades) + given, return_inverse=True)
    starts = np.flatnonzero(np.diff(used // len(grades), prepend=-1))
    widths = np.diff(np.append(starts, len(used)))
    votes = sparse.csr_array((np.ones(len(row)), (row, column)), shape=(len(pairs), len(used)))
    votes_by_column = votes.T.tocsr()
    n_judgements = np.bincount(row).astype(np.float64)

    def log_errors(posterior: NDArray[np.float64]) -> NDArray[np.float64]:
        """M-step: (used annotator and grade, true grade)."""
        sums = np.maximum(votes_by_column @ posterior, FLOOR)
        return np.log(sums / np.repeat(np.add.reduceat(sums, starts, axis=0), widths, axis=0))

    counts = np.bincount(row * len(grades) + given, minlength=len(pairs) * len(grades)).reshape(len(pairs), len(grades))
    posterior = counts / n_judgements[:, None]
    prior = _mean(posterior)
    errors = log_errors(posterior)
    evidence = votes @ errors
    objective: list[float] = []
    converged = False
    for _ in range(iterations):
        log_prior = np.log(np.maximum(prior, FLOOR))
        posterior = _normalised(evidence + log_prior)
        prior = _mean(posterior)
        errors = log_errors(posterior)
        evidence = votes @ errors
        objective.append(_objective(posterior, evidence, prior, n_judgements))
        if len(objective) > 1 and objective[-1] - objective[-2] < tolerance:
            converged = True
            break
    return Estimate(
        posterior=_spread(posterior, (n_pairs, n_grades), pairs, grades),
        prior=_prior_of_all(prior, grades, n_grades),
        errors=_errors_of_all(errors, used, grades, (n_annotators, n_grades)),
        objective=objective,
        converged=converged,
    )


def _normalised(log_likelihood: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows to probabilities; the largest is 1 before normalising, so that nothing underflows altogether."""
    largest = functools.reduce(np.maximum, log_likelihood.T)  # numpy's max and sum are slow along a short axis
    likelihood = np.exp(log_likelihood - largest[:, None])
    likelihood /= np.einsum("ij->i", likelihood)[:, None]
    return likelihood


def _mean(posterior: NDArray[np.float64]) -> NDArray[np.float64]:
    """Over the pairs."""
    return np.einsum("ij->j", posterior) / len(posterior)


def _objective(
    posterior: NDArray[np.float64], evidence: NDArray[np.float64], prior: NDArray[np.float64], n_judgements: NDArray[np.float64]
) -> float:
    """crowd-kit's evidence lower bound, per judgement."""
    log_prior = np.log(np.maximum(prior, FLOOR))
    expected = np.einsum("ij,ij->", posterior, evidence) + np.einsum("i,ij->j", n_judgements, posterior) @ log_prior
    floored = np.maximum(posterior, FLOOR)
    return float((expected - np.einsum("ij,ij->", floored, np.log(floored))) / n_judgements.sum())


def _spread(
    posterior: NDArray[np.float64], shape: tuple[int, int], pairs: NDArray[np.integer], grades: NDArray[np.integer]
) -> NDArray[np.float64]:
    """From the pairs and grades in use to all: grades that nobody used have probability 0, pairs without judgements NaN."""
    result = np.full(shape, np.nan)
    result[pairs] = 0.0
    result[np.ix_(pairs, grades)] = posterior
    return result


def _prior_of_all(prior: NDArray[np.float64], grades: NDArray[np.integer], n_grades: int) -> NDArray[np.float64]:
    result = np.zeros(n_grades)
    result[grades] = prior
    return result


def _errors_of_all(
    log_errors: NDArray[np.float64], used: NDArray[np.int64], grades: NDArray[np.integer], shape: tuple[int, int]
) -> NDArray[np.float64]:
    n_annotators, n_grades = shape
    annotator, given = used // len(grades), grades[used % len(grades)]
    result = np.full((n_annotators, n_grades, n_grades), np.nan)
    for true, values in zip(grades.tolist(), np.exp(log_errors).T, strict=True):
        result[annotator, true] = 0.0
        result[annotator, true, given] = values
    return result

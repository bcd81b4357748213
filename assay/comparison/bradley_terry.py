"""Fit the Bradley-Terry model with ties to battles between systems.

Davidson (1970, JASA 65, 317-328): with eta = lambda_a - lambda_b + sum of beta x,

    P(a) : P(b) : P(tie) = exp(eta/2) : exp(-eta/2) : nu

The abilities lambda sum to 0. Without ties, nu is 0 and the model is Bradley-Terry. Battles on one
topic depend on each other, so standard errors are clustered by topic, with the factor G/(G - 1) for
G topics, and intervals use Student's t with G - 1 degrees of freedom.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.column_types import A_WINS, B_WINS, TIE

Floats = NDArray[np.float64]
NOT_IDENTIFIED = "not identified"
AT_INFINITY = "maximum at infinity"
ZERO_ERROR = 1e-9
"""Clustered standard errors below this are 0: all topics have the same outcomes."""
MAX_STEPS = 60
MAX_TRUSTED_LOG_ODDS = 15.0
"""Log-odds beyond which a maximum is checked by a linear programme."""


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Battles with a winner or a tie. Battles judged "both bad" are left out.

    n_systems: number of systems. a, b: int (n), the systems. outcome: int (n), A_WINS, B_WINS or
    TIE. topic: int (n), cluster of each battle. covariates: {name: float64 (n)}, added to the
    log-odds of a against b.
    """

    n_systems: int
    a: NDArray[np.int32]
    b: NDArray[np.int32]
    outcome: NDArray[np.int8]
    topic: NDArray[np.int32]
    covariates: Mapping[str, Floats]


@dataclass(frozen=True, eq=False)
class BradleyTerryFit:
    """A fitted Bradley-Terry model.

    Parameters are in the order abilities, covariates, log nu (the last only with ties). estimates:
    float64 (k). by_model: float64 (k, k), covariance if battles were independent. clustered:
    float64 (k, k), covariance clustered by topic, NaN with a single topic. log_likelihood: without
    constants. n_topics: topics with battles.
    """

    n_systems: int
    names: list[str]
    has_ties: bool
    estimates: Floats
    by_model: Floats
    clustered: Floats
    log_likelihood: float
    n_topics: int

    @property
    def abilities(self) -> Floats:
        return self.estimates[: self.n_systems]

    @staticmethod
    def contrast_variance(covariance: Floats, a: int, b: int) -> float:
        return float(covariance[a, a] + covariance[b, b] - 2 * covariance[a, b])


def standard_error(variance: float) -> float:
    """Return the standard error, 0 if it is below 1e-9 and NaN if the variance is."""
    if np.isnan(variance):
        return float("nan")
    error = float(np.sqrt(max(variance, 0.0)))
    return 0.0 if error < ZERO_ERROR else error


class NoMaximum(ValueError):
    """Error for a likelihood without a unique finite maximum. The message is NOT_IDENTIFIED
    (systems that never met, or a covariate that depends on the others) or AT_INFINITY (such as a
    system that loses every battle)."""


def fit_bradley_terry(battles: Outcomes) -> BradleyTerryFit:
    """Fit the Bradley-Terry model by maximum likelihood with Newton's method. Raises NoMaximum."""
    design = Design(battles)
    if not design.is_identified():
        raise NoMaximum(NOT_IDENTIFIED)
    theta, is_certain = _maximise(design)
    if not is_certain and design.has_maximum_at_infinity():
        raise NoMaximum(AT_INFINITY)
    state = design.evaluate_at(theta)
    inverse = np.linalg.inv(state.information)
    n_topics = int(design.cluster.max()) + 1
    scores = design.scores_by_topic(state, n_topics)
    if n_topics > 1:
        sandwich = inverse @ (scores.T @ scores) @ inverse * n_topics / (n_topics - 1)
    else:
        sandwich = np.full_like(inverse, np.nan)
    return BradleyTerryFit(
        battles.n_systems,
        list(battles.covariates),
        design.has_ties,
        design.full @ theta,
        design.full @ inverse @ design.full.T,
        design.full @ sandwich @ design.full.T,
        state.log_likelihood,
        n_topics,
    )


@dataclass(frozen=True, eq=False)
class State:
    """The likelihood of the Bradley-Terry model and its derivatives at given parameters. residual:
    float64 (n), (y_a - y_b)/2 minus its expectation. tie_residual: float64 (n). gradient: float64
    (k). information: float64 (k, k)."""

    log_likelihood: float
    residual: Floats
    tie_residual: Floats
    gradient: Floats
    information: Floats


class Design:
    """The Bradley-Terry model's structure in free parameters: coordinates of the abilities in a
    basis of those with sum 0, covariates, and log nu if there are ties.

    Sums over battles are made by `bincount`, because a row of the design has only two abilities.
    """

    def __init__(self, battles: Outcomes) -> None:
        m = self.m = battles.n_systems
        self.a, self.b = battles.a.astype(np.intp), battles.b.astype(np.intp)
        self.outcome = battles.outcome
        self.has_ties = bool((self.outcome == TIE).any())
        self.x = np.column_stack([np.empty((len(self.a), 0)), *battles.covariates.values()])
        _, self.cluster = np.unique(battles.topic, return_inverse=True)
        # the columns of an orthogonal matrix whose first is constant span the abilities of sum 0
        square = np.column_stack([np.ones(m), np.eye(m)[:, : m - 1]])
        basis = np.linalg.qr(square)[0][:, 1:]
        self.n_covariates = self.x.shape[1]
        n_more = self.n_covariates + self.has_ties
        self.full = np.zeros((m + n_more, m - 1 + n_more))
        self.full[:m, : m - 1] = basis
        self.full[m:, m - 1 :] = np.eye(n_more)
        self.observed = ((self.outcome == A_WINS) * 0.5) - ((self.outcome == B_WINS) * 0.5)
        self.tied = (self.outcome == TIE).astype(float)

    def is_identified(self) -> bool:
        """Return whether every direction changes some log-odds, so that the parameters are
        identified."""
        gram = self._weighted_cross_products(np.ones(len(self.a)))
        inner = self.full[: len(gram), : len(gram) - 1]
        reduced = inner.T @ gram @ inner
        size = np.sqrt(np.maximum(np.diag(reduced), 1e-300))  # one unit for all parameters
        rank = np.linalg.matrix_rank(reduced / np.outer(size, size), tol=1e-9)
        return bool(rank == len(reduced))

    def log_odds(self, theta: Floats) -> Floats:
        parameters = self.full @ theta
        eta: Floats = parameters[self.a] - parameters[self.b]
        return eta + self.x @ parameters[self.m : self.m + self.n_covariates]

    def evaluate_at(self, theta: Floats) -> State:
        eta = self.log_odds(theta)
        log_nu = theta[-1] if self.has_ties else -np.inf
        top = np.maximum(np.abs(eta) / 2, log_nu)
        wins, losses = np.exp(eta / 2 - top), np.exp(-eta / 2 - top)
        ties = np.exp(log_nu - top)
        total = wins + losses + ties
        p_a, p_b, p_tie = wins / total, losses / total, ties / total
        log_total = top + np.log(total)
        likelihood = self.observed @ eta - log_total.sum()
        if self.has_ties:
            likelihood += self.tied.sum() * log_nu
        residual = self.observed - (p_a - p_b) / 2
        tie_residual = self.tied - p_tie
        outer = self._weighted_cross_products((p_a + p_b - (p_a - p_b) ** 2) / 4)
        if self.has_ties:
            mixed = self._weighted_sum(-p_tie * (p_a - p_b) / 2)
            outer = np.block(
                [
                    [outer, mixed[:, None]],
                    [mixed[None, :], np.full((1, 1), (p_tie * (1 - p_tie)).sum())],
                ]
            )
            gradient = np.append(self._weighted_sum(residual), tie_residual.sum())
        else:
            gradient = self._weighted_sum(residual)
        return State(
            float(likelihood),
            residual,
            tie_residual,
            self.full.T @ gradient,
            self.full.T @ outer @ self.full,
        )

    def scores_by_topic(self, state: State, n_topics: int) -> Floats:
        """Return float64 (n_topics, k), the sum of each topic's score vectors."""
        m, width = self.m, self.full.shape[0]
        scores = np.zeros((n_topics, width))
        cells = n_topics * m
        scores[:, :m] = (
            np.bincount(self.cluster * m + self.a, state.residual, cells)
            - np.bincount(self.cluster * m + self.b, state.residual, cells)
        ).reshape(n_topics, m)
        for i in range(self.n_covariates):
            weights = state.residual * self.x[:, i]
            scores[:, m + i] = np.bincount(self.cluster, weights, n_topics)
        if self.has_ties:
            scores[:, -1] = np.bincount(self.cluster, state.tie_residual, n_topics)
        return scores @ self.full

    def _weighted_sum(self, weights: Floats) -> Floats:
        """Return the weighted sum over battles of the derivatives of the log-odds."""
        m = self.m
        abilities = np.bincount(self.a, weights, m) - np.bincount(self.b, weights, m)
        return np.append(abilities, weights @ self.x)

    def _weighted_cross_products(self, weights: Floats) -> Floats:
        """Return the weighted sum over battles of their outer products."""
        m = self.m
        met = np.bincount(self.a * m + self.b, weights, m * m).reshape(m, m)
        met = met + met.T
        corner = np.diag(met.sum(axis=1)) - met
        side = np.array([self._weighted_sum(weights * column)[:m] for column in self.x.T])
        side = side.reshape(self.n_covariates, m)
        return np.block([[corner, side.T], [side, self.x.T @ (weights[:, None] * self.x)]])

    def has_maximum_at_infinity(self) -> bool:
        """Return whether the likelihood increases without bound in some direction.

        A linear programme: among directions of size 1 in which each observed outcome stays a
        largest one, is there one in which some outcome becomes strictly larger? Without ties and
        covariates this is Ford's condition (1957).
        """
        from scipy.optimize import linprog

        rows = self._advantages()
        rows = np.unique(np.round(rows, 12), axis=0) @ self.full
        k = rows.shape[1]
        best = linprog(
            -rows.sum(axis=0), A_ub=-rows, b_ub=np.zeros(len(rows)), bounds=[(-1, 1)] * k
        )
        return bool(best.status != 0 or -best.fun > 1e-7)

    def _advantages(self) -> Floats:
        """Return float64 (rows, parameters): by how much a direction raises the observed outcome of
        a battle over each other outcome."""
        n, m = len(self.a), self.m
        each = np.arange(n)
        half = np.zeros((n, self.full.shape[0]))
        half[each, self.a] += 0.5
        half[each, self.b] -= 0.5
        half[:, m : m + self.n_covariates] = self.x / 2
        sign = np.sign(self.observed)[:, None]
        won, tied = self.outcome != TIE, self.outcome == TIE
        parts = [2 * sign[won] * half[won]]
        if self.has_ties:
            tie = np.zeros(self.full.shape[0])
            tie[-1] = 1.0
            parts += [sign[won] * half[won] - tie, tie - half[tied], tie + half[tied]]
        return np.vstack(parts)


def _maximise(design: Design) -> tuple[Floats, bool]:
    """Return (parameters, whether the maximum certainly exists)."""
    theta = np.zeros(design.full.shape[1])
    state = design.evaluate_at(theta)
    n = len(design.a)
    for _ in range(MAX_STEPS):
        try:
            move = np.linalg.solve(state.information, state.gradient)
        except np.linalg.LinAlgError:
            return theta, False
        size = 1.0
        while True:
            later = design.evaluate_at(theta + size * move)
            if later.log_likelihood >= state.log_likelihood - 1e-12 * n or size < 1e-8:
                break
            size /= 2
        theta, state = theta + size * move, later
        if not np.isfinite(theta).all() or np.abs(theta).max() > 4 * MAX_TRUSTED_LOG_ODDS:
            return theta, False
        if np.abs(move).max() < 1e-11 and size == 1.0:
            break
    is_near = (
        np.abs(design.log_odds(theta)).max() < MAX_TRUSTED_LOG_ODDS
        and np.abs(theta).max() < MAX_TRUSTED_LOG_ODDS
    )
    is_flat = np.abs(state.gradient).max() < 1e-9 * max(n, 1)
    return theta, bool(is_near and is_flat)

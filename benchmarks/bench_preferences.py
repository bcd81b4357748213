"""Abilities of 60 systems from 14,000 battles on 119 topics with ties and an effect of the side,
with standard errors clustered by topic.

Peer: scipy's quasi-Newton optimiser on the same likelihood with its gradient, and nothing else; it
computes no standard errors. Both must find the same maximum to 1e-6.

    python -m benchmarks bench_preferences   (or: python -m benchmarks.bench_preferences)
"""

from __future__ import annotations

import statistics
import time

import numpy as np
from scipy.optimize import minimize

from assay.column_types import A_WINS, B_WINS, TIE
from assay.comparison.bradley_terry import Outcomes, fit_bradley_terry

N_SYSTEMS, N_TOPICS, N_BATTLES = 60, 119, 14_000


def generate_battles(rng: np.random.Generator) -> Outcomes:
    a = rng.integers(0, N_SYSTEMS, N_BATTLES, dtype=np.int32)
    b = (a + rng.integers(1, N_SYSTEMS, N_BATTLES, dtype=np.int32)) % N_SYSTEMS
    topic = rng.integers(0, N_TOPICS, N_BATTLES, dtype=np.int32)
    strength = rng.normal(0, 1, N_SYSTEMS) + rng.normal(0, 0.5, (N_TOPICS, N_SYSTEMS))
    side = rng.choice([-1.0, 1.0], N_BATTLES)
    latent = strength[topic, a] - strength[topic, b] + 0.3 * side + rng.logistic(size=N_BATTLES)
    outcome = np.where(np.abs(latent) < 0.4, TIE, np.where(latent > 0, A_WINS, B_WINS))
    return Outcomes(N_SYSTEMS, a, b, outcome.astype(np.int8), topic, {"position": side})


def fit_by_scipy(battles: Outcomes) -> float:
    """Fit the abilities by scipy's optimiser and return the maximum of the log-likelihood."""
    side = battles.covariates["position"]
    won, lost, tied = (battles.outcome == kind for kind in (A_WINS, B_WINS, TIE))

    def minus_likelihood(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        eta = parameters[battles.a] - parameters[battles.b] + parameters[-2] * side
        terms = np.array([eta / 2, -eta / 2, np.full(len(eta), parameters[-1])])
        top = terms.max(axis=0)
        total = top + np.log(np.exp(terms - top).sum(axis=0))
        shares = np.exp(terms - total)
        value = (won * terms[0] + lost * terms[1] + tied * terms[2] - total).sum()
        slope = (won * 0.5 - lost * 0.5) - (shares[0] - shares[1]) / 2
        gradient = np.zeros(len(parameters))
        gradient[:N_SYSTEMS] = np.bincount(battles.a, slope, N_SYSTEMS)
        gradient[:N_SYSTEMS] -= np.bincount(battles.b, slope, N_SYSTEMS)
        gradient[-2:] = (slope @ side, (tied - shares[2]).sum())
        return -float(value), -gradient

    best = minimize(minus_likelihood, np.zeros(N_SYSTEMS + 2), jac=True, method="BFGS", tol=1e-8)
    return -float(best.fun)


def main(quick: bool) -> list[dict[str, object]]:
    battles = generate_battles(np.random.default_rng(1))
    ours, theirs, maxima = [], [], set()
    for _ in range(3 if quick else 9):
        start = time.perf_counter()
        fit = fit_bradley_terry(battles)
        middle = time.perf_counter()
        maximum = fit_by_scipy(battles)
        theirs.append(time.perf_counter() - middle)
        ours.append(middle - start)
        maxima.add(round(fit.log_likelihood - maximum, 6))
    assert maxima == {0.0}, maxima
    seconds = statistics.median(ours)
    return [
        {
            "work": "abilities of 60 systems from 14,000 battles, with clustered errors",
            "peer": "scipy BFGS with gradient, without errors",
            "ratio": statistics.median(theirs) / seconds,
            "at_least": 1.0,
            "note": f"{seconds:.2f} s",
        }
    ]


if __name__ == "__main__":
    print(main(quick=False))

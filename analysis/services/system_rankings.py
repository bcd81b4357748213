"""The systems of a collection ranked under several qrels, for what would change if the labels were others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from analysis.core.evaluation import Evaluator
from analysis.core.measures import parse_measure
from analysis.core.rankings import tau_b
from pooling.core.columns import Qrels
from pooling.jobs import Work
from pooling.models import Run
from pooling.services.runs import rankings_of

MEASURES = ("nDCG@10", "AP")


def means_under(work: Work, runs: Sequence[Run], qrels: Sequence[Qrels], *, level: int) -> NDArray[np.float64]:
    """Mean of each of MEASURES: (n_qrels, n_runs, n_measures). Each run is read once and each qrels prepared once."""
    measures = [parse_measure(name) for name in MEASURES]
    evaluators = [Evaluator(judged, measures, level=level) for judged in qrels]
    means = np.full((len(qrels), len(runs), len(measures)), np.nan)
    for i, run in enumerate(runs):
        work.progress(i, total=len(runs), message=f"evaluating {run.tag}")
        rankings = rankings_of(run)
        for k, evaluator in enumerate(evaluators):
            means[k, i] = evaluator.evaluate(rankings).means()
    return means


def tau_between(a: NDArray[np.float64], b: NDArray[np.float64]) -> list[float | None]:
    """Tau-b between two rankings of the systems (n_runs, n_measures), one a measure, on rounded means; None where undefined."""
    taus = [tau_b(a[:, m].round(10), b[:, m].round(10)) for m in range(a.shape[1])]
    return [None if np.isnan(tau) else float(tau) for tau in taus]

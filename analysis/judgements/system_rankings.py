"""Rankings of a collection's systems under several qrels, to show how different labels affect
them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any
from zlib import crc32

import numpy as np
from django.db.models import Count, Max
from numpy.typing import NDArray

from analysis.judgements.campaign_sample import is_sampled
from annotation.models import Campaign
from assay.column_types import QrelsColumns
from assay.comparison.rankings import count_tied_pairs, list_swapped_pairs, tau_ap, tau_b
from assay.measures.evaluation import Evaluator
from assay.measures.measures import limit_cutoffs, parse_measure
from pooling.models import Collection, Run
from pooling.platform.jobs import ClaimedJob
from pooling.services.runs import load_rankings

MEASURES = ("nDCG@10", "AP")
TOO_FEW_RUNS = "a ranking needs at least two runs"


SAMPLED_POOL_REASON = (
    "the pool is sampled: these rankings would treat unsampled pairs as not relevant"
)


def no_rankings_reason(campaign: Campaign, n_runs: int) -> str:
    """Return why the systems cannot be ranked under these labels, or an empty string."""
    if n_runs < 2:
        return TOO_FEW_RUNS
    return SAMPLED_POOL_REASON if is_sampled(campaign) else ""


def campaign_measures(campaign: Campaign) -> tuple[str, ...]:
    """Return MEASURES, with cutoffs limited to the campaign's judging depth."""
    return tuple(map(str, limit_cutoffs(map(parse_measure, MEASURES), campaign.judged_depth)))


def runs_marker(collection: Collection) -> list[int]:
    """Return a value that changes if a run is added or deleted, to detect that stored results are
    out of date."""
    counts = collection.runs.aggregate(n=Count("pk"), newest=Max("pk"))
    return [counts["n"], counts["newest"] or 0]


def tags_marker(collection: Collection) -> int:
    """Return a value that changes if a run tag changes. Stored names are then out of date, but
    stored scores are not."""
    return crc32("\n".join(collection.runs.order_by("pk").values_list("tag", flat=True)).encode())


def compute_means(
    work: ClaimedJob,
    runs: Sequence[Run],
    qrels: Sequence[QrelsColumns],
    *,
    levels: Sequence[int],
    measures: Sequence[str],
) -> NDArray[np.float64]:
    """Compute the mean scores of all runs under several qrels, of shape (n_qrels, n_runs,
    n_measures).

    levels: minimum relevant grade for each of the qrels. Each run is read once, and each of the
    qrels is prepared once.
    """
    parsed = [parse_measure(name) for name in measures]
    evaluators = [
        Evaluator(judged, parsed, min_relevant=level)
        for judged, level in zip(qrels, levels, strict=True)
    ]
    means = np.full((len(qrels), len(runs), len(parsed)), np.nan)
    for i, run in enumerate(runs):
        work.progress(i, total=len(runs), message=f"evaluating {run.tag}")
        rankings = load_rankings(run)
        for k, evaluator in enumerate(evaluators):
            means[k, i] = evaluator.evaluate(rankings).means()
    return means


def compute_taus(a: NDArray[np.float64], b: NDArray[np.float64]) -> list[float | None]:
    """Return Kendall's tau-b between two rankings for each measure, computed on rounded means. a,
    b: means of shape (n_runs, n_measures). A tau is None if undefined."""
    taus = [tau_b(a[:, m].round(10), b[:, m].round(10)) for m in range(a.shape[1])]
    return [None if np.isnan(tau) else float(tau) for tau in taus]


def compare_rankings(
    a: NDArray[np.float64],
    b: NDArray[np.float64],
    tags: Sequence[str],
    *,
    names: tuple[str, str],
    measures: Sequence[str],
) -> list[dict[str, Any]]:
    """Compare two rankings of the systems, one row per measure.

    a, b: scores of shape (n_runs, n_measures). names: names of the rankings in reasons. Each row
    has measure, tau (tau-b) and tau_ap (`a` is the reference), both None with a reason if tau is
    undefined, swapped (number of pairs of systems in different order) and tied (number of pairs
    tied in either ranking).
    """
    rows: list[dict[str, Any]] = []
    for m, (measure, tau) in enumerate(zip(measures, compute_taus(a, b), strict=True)):
        x, y = a[:, m], b[:, m]
        top = tau_ap(x, y) if tau is not None else math.nan
        rows.append(
            {
                "measure": measure,
                "tau": tau,
                "tau_ap": None if math.isnan(top) else top,
                "swapped": len(list_swapped_pairs(x, y, tags)),
                "tied": [count_tied_pairs(x), count_tied_pairs(y)],
                "reason": "" if tau is not None else undefined_tau_reason(x, y, names),
            }
        )
    return rows


def undefined_tau_reason(
    x: NDArray[np.float64], y: NDArray[np.float64], names: tuple[str, str]
) -> str:
    """Return why Kendall's tau between two rankings is undefined."""
    if len(x) < 2:
        return TOO_FEW_RUNS
    without = [name for name, means in zip(names, (x, y), strict=True) if np.isnan(means).any()]
    if without:
        return f"a system has no score under {' and '.join(dict.fromkeys(without))}"
    tied = [
        name
        for name, means in zip(names, (x, y), strict=True)
        if len(np.unique(means.round(10))) == 1
    ]
    return f"all {len(x)} systems are tied under {' and '.join(dict.fromkeys(tied))}"

"""Stopping advice for the command and the pages, as numbers and sentences.

advise_ordered_pool(pool, grades, ...)           decisions on the best systems
advise_sampled_pool(sample, packed, ...)         variance rule
summarise_audit(left, n_found, n, recall=0.9)    remaining relevant pairs, from audit pairs
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.measures.packing import PackedRun
from assay.pools.depth import PooledPairs
from assay.pools.rank_model import make_pool_features
from assay.sampling.correction import (
    EstimationTargets,
    compute_run_weights,
    make_regression_features,
    summarise_run_ranks,
)
from assay.sampling.estimates import JudgedSample, fractional_ideal_dcg
from assay.sampling.stopping import (
    N_COMPLETIONS,
    RemainingRelevant,
    can_stop,
    compare_sampled_systems,
    decide_pairs,
    has_reached_recall,
    make_top_k_matrix,
    no_check_reason,
    simulate_scores,
)
from assay.sampling.stopping_sentences import (
    describe_comparison,
    describe_decision,
    describe_ordered_pool,
    describe_remaining_relevant,
    describe_sampled_pool,
)


def advise_ordered_pool(
    pool: PooledPairs,
    grades: NDArray[np.int64],
    *,
    min_relevant: int,
    cutoff: int,
    seed: int,
    last: int | None,
) -> dict[str, Any]:
    """Advise on a prioritised pool. grades: int64 (n_pairs), negative if not judged. last: pairs
    judged at the previous check.

    Returns rule, pairs, judged, stop, decisions and words, or `undefined` with the reason if there
    is no advice.
    """
    n_judged = int((grades >= 0).sum())
    result: dict[str, Any] = {
        "rule": "decisions",
        "pairs": len(pool),
        "judged": n_judged,
        "stop": False,
        "decisions": [],
    }
    why = no_check_reason(n_judged, len(pool), len(pool.topics), last=last)
    if why is None:
        completed = simulate_scores(
            make_pool_features(pool),
            make_top_k_matrix(pool, cutoff=cutoff),
            grades,
            min_relevant=min_relevant,
            rng=np.random.default_rng(seed),
        )
        if completed is None:
            why = "none or all of the judged pairs are relevant, so nothing can be learned from them yet"
        else:
            decisions = decide_pairs(completed, pool.tags)
            result["decisions"] = [
                decision._asdict() | {"words": describe_decision(decision)}
                for decision in decisions
            ]
            result |= {
                "stop": can_stop(decisions),
                "completions": N_COMPLETIONS,
                "words": describe_ordered_pool(decisions),
            }
    return result if why is None else result | {"undefined": {"decisions": why}}


def advise_sampled_pool(
    sample: JudgedSample, packed: Sequence[PackedRun], *, cutoff: int, seed: int, last: int | None
) -> dict[str, Any]:
    """Advise on a sampled pool. packed: the runs, joined with the pool. last: pairs judged at the
    previous check.

    Returns rule, pairs, judged, stop, comparisons and words, or `undefined` with the reason if
    there is no advice.
    """
    n_judged = int(sample.n_judged.sum())
    result: dict[str, Any] = {
        "rule": "variance",
        "pairs": len(sample.grades),
        "judged": n_judged,
        "stop": False,
        "comparisons": [],
    }
    why = no_check_reason(n_judged, len(sample.grades), len(sample.topics), last=last)
    ideal = float(fractional_ideal_dcg(sample.n_by_grade(), cutoff).mean())
    if why is None and not ideal:
        why = "no judged pair is relevant yet"
    if why is not None:
        return result | {"undefined": {"comparisons": why}}
    weights = (
        np.column_stack(
            [compute_run_weights(run, sample, cutoff=cutoff, discounted=True) for run in packed]
        )
        / ideal
    )
    labels = np.where(sample.grades >= 0, sample.grades, np.nan).astype(np.float64)
    targets = EstimationTargets(sample, weights, labels, np.zeros(len(labels)))
    comparisons = compare_sampled_systems(
        targets,
        make_regression_features(summarise_run_ranks(packed, len(labels))),
        [run.tag for run in packed],
        seed,
    )
    result["comparisons"] = [
        comparison._asdict()
        | {"done": comparison.is_done, "words": describe_comparison(comparison)}
        for comparison in comparisons
    ]
    return result | {
        "stop": bool(comparisons) and all(comparison.is_done for comparison in comparisons),
        "words": describe_sampled_pool(comparisons),
    }


def summarise_audit(
    left: RemainingRelevant, n_found: int, n: int, *, recall: float, n_checks: int = 1
) -> dict[str, Any]:
    """Summarise the audit. left: estimate from `n` audit pairs, with 95% confidence over all
    `n_checks` interim checks. n_found: relevant pairs found so far. Returns estimate, upper, found,
    recall, reached and words."""
    reached = has_reached_recall(n_found, left, recall=recall)
    words = describe_remaining_relevant(
        left, n_found, n, recall=recall, reached=reached, n_checks=n_checks
    )
    return {
        "estimate": left.estimate,
        "upper": left.upper,
        "found": n_found,
        "recall": recall,
        "reached": reached,
        "words": words,
    }

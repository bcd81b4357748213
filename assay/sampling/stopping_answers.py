"""What the command and the pages answer when somebody asks whether to stop: rule, numbers, and
words (SAMPLING 4). Advice, never a deed.

of_order(pool, grades, level=2, cutoff=10, seed=1, last=None)       rule R2: decisions of the best
systems, and no range
of_sample(sample, packed, cutoff=10, seed=1, last=None)             the variance rule of a sampled
pool
of_audit(left, found, n, recall=0.9)                                the relevant that are left, by
audit pairs
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.measures.packing import Packed
from assay.pools.depth import PooledPairs
from assay.pools.rank_model import rank_features_of
from assay.sampling.correction import Targets, rank_features, ranking_by_runs, weights_of_run
from assay.sampling.estimates import Sample, fractional_ideal
from assay.sampling.stopping import (
    COMPLETIONS,
    Left,
    completed_scores,
    decided,
    judging_left,
    may_stop,
    recall_reached,
    tops_of,
    why_no_look,
)
from assay.sampling.stopping_words import (
    of_comparison,
    of_decision,
    of_left,
    of_ordered_pool,
    of_sampled_pool,
)


def of_order(
    pool: PooledPairs,
    grades: NDArray[np.int64],
    *,
    level: int,
    cutoff: int,
    seed: int,
    last: int | None,
) -> dict[str, Any]:
    """grades: int64 (n_pairs), negative where nothing is judged. last: pairs judged at the look
    before. -> rule, pairs, judged, stop, decisions, words; undefined with the reason where there is
    no advice"""
    n_judged = int((grades >= 0).sum())
    result: dict[str, Any] = {
        "rule": "decisions",
        "pairs": len(pool),
        "judged": n_judged,
        "stop": False,
        "decisions": [],
    }
    why = why_no_look(n_judged, len(pool), len(pool.topics), last=last)
    if why is None:
        completed = completed_scores(
            rank_features_of(pool),
            tops_of(pool, cutoff=cutoff),
            grades,
            level=level,
            rng=np.random.default_rng(seed),
        )
        if completed is None:
            why = "nothing judged is relevant yet, or everything is: there is nothing to learn from"
        else:
            decisions = decided(completed, pool.tags)
            result["decisions"] = [
                decision._asdict() | {"words": of_decision(decision)} for decision in decisions
            ]
            result |= {
                "stop": may_stop(decisions),
                "completions": COMPLETIONS,
                "words": of_ordered_pool(decisions),
            }
    return result if why is None else result | {"undefined": {"decisions": why}}


def of_sample(
    sample: Sample, packed: Sequence[Packed], *, cutoff: int, seed: int, last: int | None
) -> dict[str, Any]:
    """packed: the runs, joined with the pool. -> rule, pairs, judged, stop, comparisons, words;
    undefined with the reason where there is no advice"""
    n_judged = int(sample.n_judged.sum())
    result: dict[str, Any] = {
        "rule": "variance",
        "pairs": len(sample.grades),
        "judged": n_judged,
        "stop": False,
        "comparisons": [],
    }
    why = why_no_look(n_judged, len(sample.grades), len(sample.topics), last=last)
    ideal = float(fractional_ideal(sample.n_of_grade(), cutoff).mean())
    if why is None and not ideal:
        why = "nothing judged is relevant yet"
    if why is not None:
        return result | {"undefined": {"comparisons": why}}
    weights = (
        np.column_stack(
            [weights_of_run(run, sample, cutoff=cutoff, discounted=True) for run in packed]
        )
        / ideal
    )
    labels = np.where(sample.grades >= 0, sample.grades, np.nan).astype(np.float64)
    targets = Targets(sample, weights, labels, np.zeros(len(labels)))
    comparisons = judging_left(
        targets,
        rank_features(ranking_by_runs(packed, len(labels))),
        [run.tag for run in packed],
        seed,
    )
    result["comparisons"] = [
        comparison._asdict() | {"done": comparison.done, "words": of_comparison(comparison)}
        for comparison in comparisons
    ]
    return result | {
        "stop": bool(comparisons) and all(comparison.done for comparison in comparisons),
        "words": of_sampled_pool(comparisons),
    }


def of_audit(left: Left, n_found: int, n: int, *, recall: float, looks: int = 1) -> dict[str, Any]:
    """left: by `n` audit pairs, at 95 % over so many looks. n_found: relevant pairs so far. ->
    estimate, upper, found, recall, reached, words"""
    reached = recall_reached(n_found, left, recall=recall)
    words = of_left(left, n_found, n, recall=recall, reached=reached, looks=looks)
    return {
        "estimate": left.estimate,
        "upper": left.upper,
        "found": n_found,
        "recall": recall,
        "reached": reached,
        "words": words,
    }

"""Replay a campaign over a sampled pool: bias and coverage of its estimates, and the time at which
the variance rule advises stopping.

Each simulation draws topics with repetition (as new topics) and a new nested sample of their pairs.
A 95% confidence interval should contain the value for all topics, completely judged.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from assay.comparison.rankings import tau_b
from assay.measures.evaluation import sum_by_topic
from assay.measures.measures import Measure, parse_measures
from assay.measures.packing import PackedRun
from assay.pools.stages import STRATA_MAKERS
from assay.pools.strata import (
    Strata,
    allocate_sample,
    complete_small_strata,
    rate_spreads,
    sampled_mask,
    shuffle_strata,
)
from assay.sampling.correction import (
    EstimationTargets,
    compute_run_weights,
    make_regression_features,
    summarise_run_ranks,
)
from assay.sampling.estimates import (
    JudgedSample,
    estimate_topics,
    fractional_ideal_dcg,
    topic_interval,
)
from assay.sampling.replay import PERFECT_ANNOTATORS, AnnotatorErrors, JudgedPool
from assay.sampling.stopping import (
    SHARE_OF_SPREAD,
    SampledComparison,
    compare_sampled_systems,
    no_check_reason,
)

Floats = NDArray[np.float64]

WHOLE_MEASURES = {"HT-nDCG": "nDCG", "HT-P": "P", "xinfAP": "AP", "HT-AP": "AP"}
"""The measure that each estimate estimates."""
MAX_PAIRS = 300
VARIANCE_SHARE = 1 - math.sqrt(1 - SHARE_OF_SPREAD)


@dataclass(frozen=True)
class SampledReplay:
    """Settings for replaying a campaign over a sampled pool. budgets: shares of the pool,
    ascending. strata: rank or votes. measures: estimates."""

    budgets: Sequence[float]
    strata: str
    measures: Sequence[Measure]
    errors: AnnotatorErrors = PERFECT_ANNOTATORS


def corresponding_measures(measures: Sequence[Measure]) -> list[Measure]:
    return [
        parse_measures(WHOLE_MEASURES[m.family] + (f"@{m.cutoff}" if m.cutoff else ""))[0]
        for m in measures
    ]


@dataclass(frozen=True, eq=False)
class ReplayDraw:
    """Strata and shuffle of a pool. Each budget of a replay samples longer prefixes of the
    shuffle."""

    judged_pool: JudgedPool
    strata: Strata
    place: NDArray[np.int64]
    seen: NDArray[np.int32]

    def sample(self, budget: float, *, finish: bool = False) -> JudgedSample:
        counts = allocate_sample(
            self.strata.sizes,
            rate_spreads(self.strata.rates),
            round(budget * len(self.judged_pool)),
        )
        if finish:
            counts = complete_small_strata(self.strata.sizes, counts)
        grades = np.where(sampled_mask(self.strata, self.place, counts), self.seen, -1).astype(
            np.int32
        )
        names = self.strata.names
        return JudgedSample(
            self.judged_pool.pool.topics,
            self.judged_pool.topic,
            grades,
            self.strata.stratum.astype(np.int64),
            self.strata.sizes,
            counts,
            np.array([name.startswith("*") for name in names], bool),
            names,
        )


def draw_strata(
    judged_pool: JudgedPool, plan: SampledReplay, rng: np.random.Generator
) -> ReplayDraw:
    strata = STRATA_MAKERS[plan.strata](judged_pool.pool)
    place = shuffle_strata(strata, rng, judged_pool.pool.documents, judged_pool.pool.topic)
    return ReplayDraw(
        judged_pool,
        strata,
        place,
        plan.errors.apply(judged_pool.grades, judged_pool.min_relevant, rng),
    )


def choose_system_pairs(n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return int64 (2, n_pairs), all pairs of n systems, or 300 random ones if there are more."""
    first, second = np.triu_indices(n, 1)
    kept = np.sort(rng.permutation(len(first))[:MAX_PAIRS])
    return np.stack([first[kept], second[kept]])


class SimulationResult(NamedTuple):
    """Result of one simulation, budget and measure. bias: mean over the runs of the estimate minus
    the value for the same topics completely judged. covered, half: share of the confidence
    intervals of differences that contain the true value, and their mean half-width, over pairs of
    systems. tau: correlation with the true ranking. judged: number of pairs, which exceeds the
    budget if each stratum needs two."""

    bias: float
    covered: float
    half: float
    tau: float
    judged: int


def simulate_sample(
    judged_pool: JudgedPool, plan: SampledReplay, pairs: NDArray[np.int64], seed: Sequence[int]
) -> dict[tuple[str, str], SimulationResult]:
    """Return {(budget or "1", measure): result}. Measures that are not estimates count pairs
    outside the sample as not relevant."""
    rng = np.random.default_rng(list(seed))
    measures = corresponding_measures(plan.measures)
    truth = judged_pool.scores(judged_pool.grades, measures).mean(axis=1)
    again = judged_pool.repeat_topics(rng.integers(0, judged_pool.n_topics, judged_pool.n_topics))
    draw = draw_strata(again, plan, rng)
    whole = again.scores(again.grades, measures)
    results = {
        ("1", str(m)): _make_result(whole[:, :, k], whole[:, :, k], truth[:, k], pairs, len(again))
        for k, m in enumerate(measures)
    }
    for budget in plan.budgets:
        sample = draw.sample(budget)
        naive, judged = again.scores(sample.grades, measures), int((sample.grades >= 0).sum())
        values = np.array(
            [
                estimate_topics(
                    packed, sample, plan.measures, min_relevant=judged_pool.min_relevant
                )
                for packed in again.packed
            ]
        )
        for k, (estimate, measure) in enumerate(zip(plan.measures, measures, strict=True)):
            results[str(budget), str(estimate)] = _make_result(
                values[:, :, k], whole[:, :, k], truth[:, k], pairs, judged
            )
            results[str(budget), str(measure)] = _make_result(
                naive[:, :, k], whole[:, :, k], truth[:, k], pairs, judged
            )
    return results


def _make_result(
    values: Floats, whole: Floats, truth: Floats, pairs: NDArray[np.int64], judged: int
) -> SimulationResult:
    """Compare estimates with the true values. values, whole: float64 (n_runs, n_topics), estimated
    and completely judged. truth: float64 (n_runs). judged: number of pairs."""
    n_topics = values.shape[1]
    difference = values[pairs[0]] - values[pairs[1]]
    half = (
        scipy.special.stdtrit(n_topics - 1, 0.975)
        * difference.std(axis=1, ddof=1)
        / math.sqrt(n_topics)
    )
    off = np.abs(difference.mean(axis=1) - (truth[pairs[0]] - truth[pairs[1]]))
    means = values.mean(axis=1)
    return SimulationResult(
        float((means - whole.mean(axis=1)).mean()),
        float((off <= half + 1e-12).mean()),
        float(half.mean()),
        tau_b(truth, means),
        judged,
    )


class SampledStop(NamedTuple):
    """Outcome of stopping when the variance rule advises it.

    judged: share of the pool at that time. covered, compared: intervals of the best system's
    differences that contain the true value, and all of them. covered_whole, compared_whole: the
    same with everything judged. right, loss: whether the best system is that of the same topics
    completely judged, and the difference. significant, wrong_sign: differences whose interval
    excludes 0, and those of them with the wrong sign. significant_whole, seen: these differences
    that are significant with everything judged, and those that already were when stopping.
    narrowing, narrowed: comparisons that were finished because judging the rest would narrow the
    interval by at most a fifth, and those for which it would have narrowed it by more.
    """

    judged: float
    covered: int
    compared: int
    covered_whole: int
    compared_whole: int
    right: bool
    loss: float
    significant: int
    wrong_sign: int
    significant_whole: int
    seen: int
    narrowing: int
    narrowed: int


def replay_until_stop(
    judged_pool: JudgedPool, plan: SampledReplay, seed: Sequence[int]
) -> SampledStop:
    """Apply the variance rule at each budget of the plan, to DCG@10 on the scale of nDCG, with the
    regression on ranks."""
    rng = np.random.default_rng(list(seed))
    again = judged_pool.repeat_topics(rng.integers(0, judged_pool.n_topics, judged_pool.n_topics))
    draw = draw_strata(again, plan, rng)
    sure = _mean_dcg(judged_pool)
    own = _mean_dcg(again)
    ideal = float(fractional_ideal_dcg(_count_grades(again), 10).mean())
    place = {tag: k for k, tag in enumerate(judged_pool.tags)}
    result: tuple[float, list, StopOutcome] | None = None
    at_end: list = []
    for budget in [*plan.budgets, 1.0]:
        sample = draw.sample(budget, finish=True)
        n_judged = int(sample.n_judged.sum())
        if result is not None and budget < 1:
            continue
        if budget < 1 and no_check_reason(n_judged, len(again), again.n_topics) is not None:
            continue
        comparisons, scale = _compare_best(again, sample, int(rng.integers(2**31)))
        if result is None and comparisons and all(comparison.is_done for comparison in comparisons):
            result = (
                n_judged / len(again),
                _compare_with_truth(comparisons, scale, sure, place),
                evaluate_stop(comparisons, scale, again),
            )
        at_end = _compare_with_truth(comparisons, scale, sure, place)
        if result is None and budget >= 1:
            result = 1.0, at_end, evaluate_stop(comparisons, scale, again)
    assert result is not None
    share, rows, seen = result
    best = place[rows[0][0]]
    return SampledStop(
        share,
        sum(covered for _, covered, _, _ in rows),
        len(rows),
        sum(covered for _, covered, _, _ in at_end),
        len(at_end),
        bool(own[best] >= own.max() - 1e-12),
        float((own.max() - own[best]) / ideal),
        sum(significant for _, _, significant, _ in rows),
        sum(wrong for _, _, _, wrong in rows),
        *seen,
    )


class StopOutcome(NamedTuple):
    """Numbers of significant and of finished comparisons when judging stops, with the meanings of
    `SampledStop`."""

    significant_whole: int
    seen: int
    narrowing: int
    narrowed: int


def evaluate_stop(
    comparisons: Sequence[SampledComparison], scale: float, judged_pool: JudgedPool
) -> StopOutcome:
    """Return how the comparisons on which a stop is based agree with complete judging of the same
    topics. scale: mean ideal by which their DCG is divided."""
    of_run = dict(zip(judged_pool.tags, judged_pool.packed, strict=True))
    significant, seen, narrowed = [], [], []
    for one in comparisons:
        difference = _topic_dcg(judged_pool, of_run[one.best]) - _topic_dcg(
            judged_pool, of_run[one.other]
        )
        low, high = topic_interval(difference / scale)
        whole = low > 0 or high < 0
        significant.append(whole)
        seen.append(whole and abs(one.difference) > one.half)
        if one.is_barely_narrowed and one.judging > 0:
            narrowed.append((high - low) / 2 < (1 - VARIANCE_SHARE) * one.half)
    return StopOutcome(sum(significant), sum(seen), len(narrowed), sum(narrowed))


def _compare_best(
    judged_pool: JudgedPool, sample: JudgedSample, seed: int
) -> tuple[list[SampledComparison], float]:
    ideal = float(fractional_ideal_dcg(sample.n_by_grade(), 10).mean()) or 1.0
    weights = (
        np.column_stack(
            [
                compute_run_weights(packed, sample, cutoff=10, discounted=True)
                for packed in judged_pool.packed
            ]
        )
        / ideal
    )
    labels = np.where(sample.grades >= 0, sample.grades, np.nan).astype(np.float64)
    features = make_regression_features(summarise_run_ranks(judged_pool.packed, len(judged_pool)))
    return compare_sampled_systems(
        EstimationTargets(sample, weights, labels, np.zeros(len(labels))),
        features,
        judged_pool.tags,
        seed,
    ), ideal


def _compare_with_truth(
    comparisons: list, scale: float, truth: Floats, place: dict[str, int]
) -> list[tuple[str, bool, bool, bool]]:
    """Return (best, covered, significant, significant with the wrong sign) for each comparison."""
    rows = []
    for comparison in comparisons:
        true = (truth[place[comparison.best]] - truth[place[comparison.other]]) / scale
        significant = abs(comparison.difference) > comparison.half
        covers = abs(comparison.difference - true) <= comparison.half + 1e-12
        rows.append(
            (comparison.best, covers, significant, significant and comparison.difference * true < 0)
        )
    return rows


def _mean_dcg(judged_pool: JudgedPool) -> Floats:
    """Return float64 (n_runs), mean DCG@10 with everything judged."""
    return np.array([_topic_dcg(judged_pool, one).mean() for one in judged_pool.packed])


def _topic_dcg(judged_pool: JudgedPool, run: PackedRun) -> Floats:
    """Return float64 (n_topics), DCG@10 with everything judged."""
    return sum_by_topic(
        run.topic,
        judged_pool.grades[run.row] * (run.rank <= 10) / np.log2(run.rank + 1),
        judged_pool.n_topics,
    )


def _count_grades(judged_pool: JudgedPool) -> Floats:
    highest = int(judged_pool.grades.max(initial=0))
    counts = np.bincount(
        judged_pool.topic * (highest + 1) + judged_pool.grades,
        minlength=judged_pool.n_topics * (highest + 1),
    )
    return counts.reshape(judged_pool.n_topics, highest + 1).astype(np.float64)

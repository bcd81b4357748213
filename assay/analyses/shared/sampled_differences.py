"""Differences of systems estimated from a sampled pool, with confidence intervals.

For new topics, the paired t-test over the topics' estimates is used, whose variance includes the
sampling error. For the same topics, the variance of sampling alone is used, for measures that are
sums over pairs. Estimates have no other tests, because only these intervals were found to have
their nominal coverage (docs/reference/methods/sampling.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from assay.analyses.shared.linear_estimates import LINEAR_FAMILIES, interval_values, iterate_targets
from assay.analyses.shared.reading import SampledEvaluationOptions
from assay.analyses.shared.sampled_files import SampledPool, refuse_topic_choice
from assay.cli.base import BadInput
from assay.column_types import RunColumns
from assay.comparison.leading_system import describe_comparison
from assay.comparison.significance import no_verdict_reason
from assay.comparison.system_comparison import (
    TESTS,
    compare_systems,
    deciding_p,
    find_significant,
    group_systems,
    list_pairs,
)
from assay.comparison.system_comparison import correct_p_values as held_together
from assay.measures.measures import Measure
from assay.measures.packing import PackedRun, pack_run
from assay.results import Values
from assay.sampling.correction import (
    EstimationTargets,
    correct_estimates,
    cross_fit_estimates,
    make_regression_features,
    summarise_run_ranks,
)
from assay.sampling.estimates import clip_to_range, estimate_topics, no_interval_reason

SystemPairs = Sequence[tuple[int, int]]
ONLY_T_MESSAGE = "estimates from a sample are tested with the t-test only, because only its confidence intervals had the stated coverage"


def pairs_to_compare(tags: Sequence[str], against: str) -> list[tuple[int, int]]:
    """Return the index pairs of all runs, or of the run `against` with each other run.

    Raises BadInput if no run has the tag `against`.
    """
    if against == "all":
        return list_pairs(len(tags))
    if against not in tags:
        raise BadInput(f"--against: unknown run {against}; choose from {', '.join(tags)}")
    return [(tags.index(against), k) for k, tag in enumerate(tags) if tag != against]


def compare_sampled_systems(
    pool: SampledPool,
    runs: Iterable[RunColumns],
    measures: Sequence[Measure],
    reading: SampledEvaluationOptions,
    *,
    against: str,
    family: str,
    alpha: float,
    seed: int,
) -> Values:
    """Test the differences of estimates. The result has the keys of `compare systems`. seed: for
    the folds of the rank model. Raises BadInput for options that a sampled pool does not allow."""
    if family == "max":
        raise BadInput(
            f"--correction max needs the permutation test, but {ONLY_T_MESSAGE}; choose holm or bonferroni"
        )
    refuse_topic_choice(vars(reading))
    packed = [pack_run(run, pool.index) for run in runs]
    tags = [one.tag for one in packed]
    pairs = pairs_to_compare(tags, against)
    by_run = np.stack(
        [
            estimate_topics(one, pool.sample, measures, min_relevant=reading.min_relevant)
            for one in packed
        ],
        axis=1,
    )
    if reading.missing_topics == "skip":
        by_run[~np.all([one.has_topic for one in packed], axis=0)] = np.nan
    result: Values = {}
    undefined: dict[str, str] = {}
    for column, measure in enumerate(measures):
        values = by_run[:, :, column]
        values = values[~np.isnan(values).any(axis=1)]
        why = no_interval_reason(pool.sample, measure) or (
            f"{len(values)} topics count for all runs; a paired test needs at least two"
            if len(values) < 2
            else None
        )
        if why is not None:
            undefined[str(measure)] = why
        made = _compare_systems(values, measure, tags, pairs, family, alpha, None if why else seed)
        words = describe_comparison(
            str(measure),
            made,
            against=against,
            correction=family,
            alpha=alpha,
            estimated=True,
            no_verdict=why or "",
        )
        result[str(measure)] = {"verdict": words, **made}
    _add_linear_estimates(result, pool, packed, pairs, measures, reading, seed)
    result["pool"] = {
        "pairs": len(pool.sample.grades),
        "judged": int(pool.sample.n_judged.sum()),
        "drawn": pool.sample.drawn,
        "strata": len(pool.sample.sizes),
    }
    result["settings"] = {
        "against": against,
        "correction": family,
        "permutations": 0,
        "alpha": alpha,
        "letters_by": "t",
        "tests": ONLY_T_MESSAGE,
    }
    return result | ({"undefined": undefined} if undefined else {})


def _compare_systems(
    values: NDArray[np.float64],
    measure: Measure,
    tags: Sequence[str],
    pairs: SystemPairs,
    family: str,
    alpha: float,
    seed: int | None,
) -> Values:
    """Compare systems on one measure. values: float64 (n_topics, n_runs), estimates without NaN.
    seed: None if intervals must not be shown, which leaves only the means."""
    means = values.mean(axis=0) if len(values) else np.full(len(tags), np.nan)
    shown: Values = {
        "means": dict(zip(tags, means.tolist(), strict=True)),
        "topics": len(values),
        "pairs": [],
        "groups": dict.fromkeys(tags, ""),
        "no_verdict": no_verdict_reason(len(values)),
    }
    if seed is None:
        return shown
    made = compare_systems(values, pairs, trials=1, rng=np.random.default_rng(seed), alpha=alpha)
    held = held_together(made, values, family, rng=np.random.default_rng(seed))
    p = deciding_p(made, held, family)
    different = find_significant(made, p, alpha=alpha)
    for k, (a, b) in enumerate(made.pairs):
        none = dict.fromkeys(TESTS)
        row = {
            "a": tags[a],
            "b": tags[b],
            "difference": made.difference[k],
            "interval": list(clip_to_range(measure, *made.intervals[k].bounds, difference=True)),
            "interval_reason": made.intervals[k].reason,
            **none,
            "t": made.p["t"][k],
            "corrected": {**none, "t": held["t"][k]},
            "p": p[k],
            "opposed": bool(made.opposed[k]),
            "different": None if shown["no_verdict"] else bool(different[k]),
            "effect": made.effect[k],
            "effect_interval": [made.effect_low[k], made.effect_high[k]],
            "wins": int(made.wins[k]),
            "ties": int(made.ties[k]),
            "losses": int(made.losses[k]),
        }
        shown["pairs"].append(row)
    return shown | group_systems(made, values, different, tags)


def _add_linear_estimates(
    result: Values,
    pool: SampledPool,
    packed: Sequence[PackedRun],
    pairs: SystemPairs,
    measures: Sequence[Measure],
    reading: SampledEvaluationOptions,
    seed: int,
) -> None:
    """Add, for measures that are sums over pairs over all topics, the intervals for the same topics
    and, with the rank model, a second estimate of the differences."""
    linear = (
        [measure for measure in measures if measure.family in LINEAR_FAMILIES]
        if reading.missing_topics == "zero"
        else []
    )
    if reading.rank_model and not linear:
        raise BadInput(
            "--rank-model needs HT-P@k or HT-DCG@k over all topics of the pool; add one to --measures"
        )
    first, second = ([pair[k] for pair in pairs] for k in (0, 1))
    features = make_regression_features(summarise_run_ranks(packed, len(pool.sample.grades)))
    for measure, of_runs in iterate_targets(pool.sample, packed, linear, reading.min_relevant):
        targets = EstimationTargets(
            of_runs.sample,
            of_runs.weights[:, second] - of_runs.weights[:, first],
            of_runs.labels,
            of_runs.llm,
        )
        alone = correct_estimates(targets, 0.0)
        helped = (
            cross_fit_estimates(targets, features, np.random.default_rng(seed))
            if reading.rank_model
            else None
        )
        for k, row in enumerate(result[str(measure)]["pairs"]):
            ranges = interval_values(measure, alone, k, difference=True)
            row["these_topics"] = ranges["these_topics"]
            if "undefined" in ranges:
                row["these_topics_reason"] = ranges["undefined"]
            if helped is not None:
                row["rank_model"] = {"difference": float(helped.values[k])} | interval_values(
                    measure, helped, k, difference=True
                )

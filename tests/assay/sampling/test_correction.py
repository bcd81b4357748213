"""People corrected by an LLM judge: arithmetic by hand, every possible draw, and real labels of both
kinds."""

from __future__ import annotations

import gzip
import math
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest

from assay.formats.prel import make_prel
from assay.measures.packing import index_qrels, pack_run
from assay.sampling.correction import (
    EstimationTargets,
    RunRankSummary,
    compute_run_weights,
    correct_estimates,
    cross_fit_estimates,
    make_regression_features,
    tune_lambda,
)
from assay.sampling.estimates import JudgedSample, make_sample
from tests.assay.sampling.test_estimates import ranking

TRUTH = np.array([1.0, 0, 1, 1, 0, 0, 1, 0])
LLM = np.array([1.0, 0, 0, 1, 1, 0, 1, 1])
STRATUM = [0, 0, 0, 0, 1, 1, 1, 1]


def targets_of(
    drawn: set[int], *, weights: np.ndarray | None = None, llm: np.ndarray = LLM
) -> EstimationTargets:
    rows = [
        ("1", f"d{k}", f"1/s{STRATUM[k]}", int(TRUTH[k]) if k in drawn else -1) for k in range(8)
    ]
    sample: JudgedSample = make_sample(make_prel("pool", rows))
    labels = np.where(sample.grades >= 0, sample.grades, np.nan)
    return EstimationTargets(sample, np.ones((8, 1)) if weights is None else weights, labels, llm)


def every_draw() -> list[set[int]]:
    """All samples of 2 of 4 and 3 of 4 pairs."""
    return [
        set(a) | set(b) for a, b in product(combinations(range(4), 2), combinations(range(4, 8), 3))
    ]


def test_prediction_powered_totals_as_worked_by_hand() -> None:
    """f = 1 1 0 0. The first and third are judged, both relevant."""
    rows = [("1", d, "1/all", grade) for d, grade in zip("abcd", (1, -1, 1, -1), strict=True)]
    sample = make_sample(make_prel("pool", rows))
    targets = EstimationTargets(
        sample, np.ones((4, 1)), np.array([1, np.nan, 1, np.nan]), np.array([1.0, 1, 0, 0])
    )
    powered = correct_estimates(targets, 1.0)
    assert (powered.values[0], powered.variances[0]) == pytest.approx((4, 2))
    alone = correct_estimates(targets, 0.0)
    assert (alone.values[0], alone.variances[0]) == pytest.approx((4, 0))
    assert math.isnan(alone.low[0])
    assert "100" in (alone.why[0] or "")


@pytest.mark.parametrize("factor", [0.0, 0.5, 1.0])
def test_value_and_variance_are_unbiased_over_every_possible_draw(factor: float) -> None:
    weights = np.array([[0.5], [0.5], [0.2], [0.1], [1], [0.3], [0.4], [0.7]])
    found = [
        correct_estimates(targets_of(drawn, weights=weights), factor) for drawn in every_draw()
    ]
    values = np.array([estimate.values[0] for estimate in found])
    assert values.mean() == pytest.approx(float(weights[:, 0] @ TRUTH), abs=1e-12)
    assert np.mean([estimate.variances[0] for estimate in found]) == pytest.approx(
        values.var(), abs=1e-12
    )


def test_the_tuned_factor_has_the_smallest_estimated_variance() -> None:
    grid = np.linspace(0, 1, 201)
    for drawn in every_draw():
        targets = targets_of(drawn)
        tuned = float(tune_lambda(targets)[0])
        variances = np.array([correct_estimates(targets, value).variances[0] for value in grid])
        assert correct_estimates(targets, tuned).variances[0] <= variances.min() + 1e-9
        assert abs(tuned - grid[variances.argmin()]) <= 0.005 or np.ptp(variances) < 1e-12


def test_an_llm_judge_that_says_the_same_of_all_changes_no_estimate_of_people_when_strata_are_drawn_evenly() -> (
    None
):
    targets = targets_of({0, 1, 4, 5}, llm=np.ones(8))
    assert tune_lambda(targets).tolist() == [0.0]
    assert correct_estimates(targets, 1.0).values[0] == pytest.approx(
        correct_estimates(targets, 0.0).values[0]
    )


def test_all_judged_is_the_sum_itself_without_variance() -> None:
    targets = targets_of(set(range(8)))
    features = make_regression_features(
        RunRankSummary(np.arange(1, 9), np.linspace(0, 1, 8), np.zeros(8)), LLM.astype(int)
    )
    for estimate in (
        correct_estimates(targets, 0.0),
        correct_estimates(targets, 1.0),
        cross_fit_estimates(targets, features, np.random.default_rng(0)),
    ):
        assert estimate.values[0] == pytest.approx(TRUTH.sum())
        assert estimate.variances[0] == pytest.approx(0)
        assert estimate.low[0] == pytest.approx(TRUTH.sum())


def test_a_stratum_with_one_judged_pair_has_no_variance() -> None:
    assert math.isnan(correct_estimates(targets_of({0, 1, 2, 4}), 0.0).variances[0])


@pytest.mark.parametrize(("n_unseen", "shown"), [(500, False), (120, True)])
def test_a_heavy_stratum_without_a_relevant_pair_has_no_interval_where_one_would_change_everything(
    n_unseen: int, shown: bool
) -> None:
    """60 of 64 of what the LLM judge calls relevant are judged, 30 relevant: s² = 15 / 59, half-width
    1.96 √(64² (1 - 60/64) / 60 · 15/59) = 2.04. One relevant pair of the other stratum, of which
    100 are judged, weighs 5, or 1.2."""
    rows = [("1", f"p{k:03}", "*llm", -1 if k >= 60 else int(k < 30)) for k in range(64)]
    rows += [("1", f"q{k:03}", "*others", 0 if k < 100 else -1) for k in range(n_unseen)]
    sample = make_sample(make_prel("pool", rows))
    labels = np.where(sample.grades >= 0, sample.grades, np.nan)
    estimate = correct_estimates(
        EstimationTargets(sample, np.ones((len(rows), 1)), labels, np.zeros(len(rows))), 0.0
    )
    assert estimate.variances[0] == pytest.approx(64**2 * (1 - 60 / 64) / 60 * 15 / 59)
    reason = (
        "stratum *others has no judged relevant pair, and a single one would move the "
        "estimate out of its confidence interval"
    )
    assert estimate.why == ([None] if shown else [reason])
    assert math.isnan(estimate.low[0]) is not shown


def test_weights_of_a_run_are_those_of_the_mean_over_topics() -> None:
    rows = [("1", "a", "1/x", 1), ("1", "b", "1/x", 2), ("2", "c", "2/x", 1), ("2", "d", "2/x", 0)]
    prel = make_prel("pool", rows)
    sample = make_sample(prel)
    packed = pack_run(ranking({"1": "xab", "2": "cd"}), index_qrels(prel.qrels))
    discounted = compute_run_weights(packed, sample, cutoff=2, discounted=True)
    assert discounted == pytest.approx([1 / math.log2(3) / 2, 0, 0.5, 1 / math.log2(3) / 2])
    assert compute_run_weights(packed, sample, cutoff=10, discounted=False) == pytest.approx(
        [0.05] * 4
    )


def grades_of(path: Path) -> dict[tuple[str, str], int]:
    with gzip.open(path, "rt") as lines:
        return {
            (topic, document): int(grade)
            for topic, _, document, grade in (line.split() for line in lines)
        }


@pytest.mark.long
@pytest.mark.data
def test_intervals_hold_the_truth_with_real_people_and_a_real_llm_judge(data_folder: Path) -> None:
    """A short form of the simulation in docs/evidence/sampling.md: 10 % judged at random, 60 simulations, 40
    targets each."""
    folder = data_folder / "dl23-human-machine"
    people, llm = (
        grades_of(folder / "dl23.qrels.nist.txt.gz"),
        grades_of(folder / "dl23.qrels.gpt4.txt.gz"),
    )
    pairs = sorted(people)
    truth = np.array([people[pair] >= 2 for pair in pairs], float)
    said = np.array([llm[pair] >= 2 for pair in pairs], float)
    rng = np.random.default_rng(5)
    weights = (rng.random((len(pairs), 40)) < 0.1) / 820.0
    covered, widths = {0.0: [], None: []}, {0.0: [], None: []}
    n_drawn = len(pairs) // 10
    rows = [(t, d, "*all", 0 if k < n_drawn else -1) for k, (t, d) in enumerate(pairs)]
    any_sample = make_sample(make_prel("p", rows))
    assert any_sample.topics == sorted(
        {topic for topic, _ in pairs}
    )  # rows of the sample are the pairs in their order
    for _ in range(60):
        drawn = np.zeros(len(pairs), bool)
        drawn[rng.choice(len(pairs), n_drawn, replace=False)] = True
        sample = replace(any_sample, grades=np.where(drawn, truth, -1).astype(np.int32))
        targets = EstimationTargets(sample, weights, np.where(drawn, truth, np.nan), said)
        for factor in covered:
            estimate = correct_estimates(
                targets, tune_lambda(targets) if factor is None else factor
            )
            held = (estimate.low <= weights.T @ truth) & (weights.T @ truth <= estimate.high)
            covered[factor].append(held.mean())
            widths[factor].append((estimate.high - estimate.low).mean())
    assert np.mean(covered[0.0]) > 0.92
    assert np.mean(covered[None]) > 0.92
    assert np.mean(widths[None]) < 0.9 * np.mean(widths[0.0])
    llm_alone = np.abs(weights.T @ said - weights.T @ truth)
    assert llm_alone.mean() > np.mean(widths[None]) / 4

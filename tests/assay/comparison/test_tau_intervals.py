"""Where tau has an interval, that it is the bootstrap's there, and which pairs of systems are
undecided elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau, norm, ttest_rel

from assay.comparison.rankings import draw_topic_counts
from assay.comparison.rankings_of_qrels import QrelsRankings, compare_rankings
from assay.comparison.tau_intervals import (
    compute_order_certainty,
    compute_tau_intervals,
    list_undecided_pairs,
)
from benchmarks.calibration.rankings import measure_tau_coverage


def apart(rng: np.random.Generator, *, topics: int = 40) -> tuple[np.ndarray, np.ndarray]:
    """Six systems far apart, ordered differently under two qrels: three pairs of fifteen turned."""
    a, b = np.arange(6.0), np.array([1.0, 0.0, 3.0, 2.0, 5.0, 4.0])
    return (a + rng.normal(0, 1, (topics, 6)))[:, :, None], (b + rng.normal(0, 1, (topics, 6)))[
        :, :, None
    ]


def test_the_interval_is_the_percentile_bootstrap_by_a_slow_loop_where_it_is_shown() -> None:
    a, b = apart(np.random.default_rng(2))
    taus = []
    for sample in draw_topic_counts(40, 200, np.random.default_rng(9)):
        drawn = np.repeat(np.arange(40), sample.astype(int))
        taus.append(
            kendalltau(
                a[drawn, :, 0].mean(axis=0).round(10), b[drawn, :, 0].mean(axis=0).round(10)
            ).statistic
        )
    (found,) = compute_tau_intervals(a, b, rng=np.random.default_rng(9), n_samples=200)
    assert found.reason == ""
    assert found.bounds == pytest.approx(np.percentile(taus, [2.5, 97.5]).tolist(), abs=1e-9)
    assert (
        found.low
        <= kendalltau(a[:, :, 0].mean(axis=0), b[:, :, 0].mean(axis=0)).statistic
        <= found.high
    )


def test_the_interval_of_a_measure_depends_neither_on_the_others_asked_for_nor_on_names() -> None:
    """Twelve systems and a good deal of noise make taus of many sizes, so that other samples would
    give another interval."""
    rng = np.random.default_rng(4)
    names, topics = ["AP", "RR", "R@100"], [str(t) for t in range(60)]
    true = {"x": np.arange(12.0), "y": np.roll(np.arange(12.0), 4)}
    values = {name: order[:, None] + rng.normal(0, 4, (60, 12, 3)) for name, order in true.items()}

    def intervals(
        measures: list[int], seed: int = 0, called: tuple[str, str] = ("x", "y")
    ) -> dict[str, list[float]]:
        rankings = {
            name: QrelsRankings(
                [f"s{k}" for k in range(12)],
                [names[m] for m in measures],
                topics,
                one[:, :, measures],
                one[:, :, measures].mean(axis=0),
            )
            for name, one in zip(called, values.values(), strict=True)
        }
        found = compare_rankings(rankings, seed=seed, n_samples=200)["interval"]
        return {measure: of_measure[called[0]][called[1]] for measure, of_measure in found.items()}

    together, other = intervals([0, 1, 2]), intervals([0, 1, 2], seed=1)
    assert all(
        low < high and together[measure] != other[measure]
        for measure, (low, high) in together.items()
    )
    for measures in ([0], [1], [2], [2, 0], [1, 2]):
        assert intervals(measures) == {names[m]: together[names[m]] for m in measures}
    assert intervals([0, 1, 2], called=("z", "judgements")) == together


def test_doubt_and_undecided_pairs_are_those_of_a_loop_over_pairs() -> None:
    rng = np.random.default_rng(3)
    values = rng.normal(0, 1, (30, 5)) + np.array([0, 0.1, 0.5, 0.9, 2])
    turned, undecided = [], []
    for i in range(5):
        for j in range(i + 1, 5):
            d = values[:, i] - values[:, j]
            turned.append(norm.sf(abs(d.mean()) / (d.std(ddof=1) / np.sqrt(30))))
            if ttest_rel(values[:, i], values[:, j]).pvalue > 0.05:
                undecided.append((i, j))
    order = compute_order_certainty(values)
    assert order.doubt == pytest.approx(np.mean(turned))
    assert list(zip(*np.nonzero(order.undecided), strict=True)) == undecided
    assert undecided


@pytest.mark.parametrize(
    ("a", "b", "why"),
    [
        (np.zeros((0, 3, 1)), np.zeros((0, 3, 1)), "share no topic"),
        (np.ones((5, 3, 1)), np.random.default_rng(1).random((5, 3, 1)), "undefined"),
        (
            np.random.default_rng(1).random((25, 30, 1)),
            np.random.default_rng(2).random((25, 30, 1)),
            "too many pairs of systems is undecided",
        ),
        (
            np.random.default_rng(1).random((1, 4, 1)),
            np.random.default_rng(2).random((1, 4, 1)),
            "1 shared topic; a confidence interval needs at least 6",
        ),
        (apart(np.random.default_rng(1))[0], apart(np.random.default_rng(1))[0], "alike"),
        (apart(np.random.default_rng(1))[0], -apart(np.random.default_rng(1))[0], "reversed"),
    ],
)
def test_without_an_interval_the_reason_is_said(a: np.ndarray, b: np.ndarray, why: str) -> None:
    (found,) = compute_tau_intervals(a, b, rng=np.random.default_rng(0), n_samples=50)
    assert np.isnan(found.bounds).all()
    assert why in found.reason


@pytest.mark.parametrize(("chance", "is_refused"), [(0.3, True), (0.2, False)])
def test_a_difference_of_rankings_has_to_be_twice_what_doubt_would_make(
    chance: float, is_refused: bool
) -> None:
    """Six systems, certain but for the two lowest, which are the other way round under b: 1 of 15
    pairs differs, and 2 · chance of 15 would by other topics; 1 is more than twice .4, and not than
    twice .6."""
    topics = np.where(np.arange(40) % 2, 1.0, -1.0)
    lead = norm.isf(chance) / np.sqrt(39)  # whose mean is so many of its standard errors

    def ranked_by(sign: float) -> np.ndarray:
        values = np.tile(10 * np.arange(6.0), (40, 1))
        values[:, 1] = sign * lead + topics
        return values[:, :, None]

    a, b = ranked_by(1), ranked_by(-1)
    assert [compute_order_certainty(one[:, :, 0]).doubt for one in (a, b)] == pytest.approx(
        [chance / 15] * 2
    )
    (found,) = compute_tau_intervals(a, b, rng=np.random.default_rng(0), n_samples=200)
    assert (
        found.reason.startswith(
            "the rankings are alike except for pairs that other topics might reverse"
        )
        == is_refused
    )


def test_undecided_pairs_are_named_of_either_qrels() -> None:
    rng = np.random.default_rng(5)
    sure = np.array([0.0, 5.0, 10.0]) + rng.normal(0, 1, (30, 3))
    unsure = np.array([0.0, 0.01, 10.0]) + rng.normal(0, 1, (30, 3))
    assert list_undecided_pairs(sure, sure, ["c", "b", "a"]) == []
    assert list_undecided_pairs(sure, unsure, ["c", "b", "a"]) == [("b", "c")]
    assert list_undecided_pairs(np.zeros((0, 2)), np.zeros((0, 2)), ["y", "x"]) == [("x", "y")]


def test_systems_that_are_equal_on_every_topic_are_not_in_doubt() -> None:
    same = np.repeat(np.random.default_rng(1).random((10, 1)), 2, axis=1)
    assert compute_order_certainty(same).doubt == 0


@pytest.mark.parametrize(("systems", "alike"), [(10, 0.8), (30, 0.8), (30, 1.0)])
def test_an_interval_that_is_shown_covers(systems: int, alike: float) -> None:
    """A short form of docs/evidence/calibration.md; the percentile interval everywhere covers less with 30
    systems, and hardly ever a true tau of 1."""
    trials = (
        200 if systems == 10 else 80
    )  # with 10 systems four of ten trials show an interval: .85 lies 4 standard errors below .95
    found = measure_tau_coverage(
        systems, 50, alike, trials=trials, rng=np.random.default_rng(6), n_samples=100
    )
    if systems == 30:
        assert found.before.covered < 0.85
        assert found.bca.covered < 0.85
    if alike == 1:
        assert found.now.shown < 0.05
    else:
        assert found.now.shown > 0.2
        assert found.now.covered > 0.85

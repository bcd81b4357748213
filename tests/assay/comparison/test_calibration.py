"""A short form of docs/evidence/calibration.md: what is shown covers, and what was shown before, or a wrong
method, would not.

The numbers of simulations are so small that shares are known to about .02 to .03; the bounds leave
three of these, or a wrong method is off by more."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from assay.labels.agreement.kappa import cohen_kappa
from benchmarks.calibration import differences, tables
from benchmarks.calibration.agreement import (
    Campaign,
    bca_intervals,
    measure_alpha_coverage,
    measure_kappa_coverage,
)
from benchmarks.calibration.coverage import measure_coverage, percentile_intervals
from benchmarks.calibration.differences import (
    MEANS,
    draw_equal_scores,
    measure_difference_coverage,
    measure_families,
    measure_mean_coverage,
    measure_type_one,
)
from benchmarks.calibration.rankings import measure_rank_coverage
from benchmarks.calibration.worths import LlmSetting, measure_gain_coverage


def test_alpha_covers_with_strong_effects_of_topics_where_pairs_as_units_do_not() -> None:
    true, found = measure_alpha_coverage(
        (10,) * 25, Campaign(4, "balanced", 0.1, 0.6), trials=200, rng=np.random.default_rng(1)
    )
    assert true == pytest.approx(0.84, abs=0.02)
    assert found.now.shown == 1
    assert found.now.covered > 0.89
    assert found.before.covered < 0.88


@pytest.mark.parametrize(
    ("grades", "spread", "noise"), [(2, "balanced", 0.5), (4, "balanced", 0.5)]
)
def test_alpha_covers_without_topics(grades: int, spread: str, noise: float) -> None:
    _, found = measure_alpha_coverage(
        (100,), Campaign(grades, spread, noise), trials=200, rng=np.random.default_rng(2)
    )
    assert 0.89 < found.now.covered < 0.995


def test_alpha_of_rare_relevance_is_refused_or_covers_where_the_bootstrap_covers_in_a_half() -> (
    None
):
    _, found = measure_alpha_coverage(
        (20,), Campaign(2, "5% relevant", 0.5), trials=150, rng=np.random.default_rng(3)
    )
    assert found.now.shown < 0.1
    assert found.before.covered < 0.6


def test_kappa_covers_also_where_it_is_high_and_pairs_are_few() -> None:
    true, found = measure_kappa_coverage(
        (20,), Campaign(2, "balanced", 0.25), trials=300, rng=np.random.default_rng(4)
    )
    assert true == pytest.approx(0.54, abs=0.01)
    assert found.now.shown > 0.85
    assert found.now.covered > 0.92
    _, rare = measure_kappa_coverage(
        (50,), Campaign(4, "5% relevant", 0.25), trials=200, rng=np.random.default_rng(5)
    )
    assert rare.now.shown < 0.1
    assert rare.before.covered < 0.75


@pytest.mark.parametrize(
    "sizes",
    [(20,) * 10, tuple(round(66 / k) for k in range(1, 26))],
    ids=["ten topics", "25 unequal topics"],
)
def test_kappa_covers_where_people_misread_topics_and_pairs_as_units_do_not(
    sizes: tuple[int, ...],
) -> None:
    _, found = measure_kappa_coverage(
        sizes,
        Campaign(4, "balanced", 0.3, 0.6, shift=0.7),
        trials=200,
        rng=np.random.default_rng(17),
    )
    assert found.now.shown > 0.9
    assert found.now.covered > 0.89
    assert found.before.covered < 0.65


def test_alpha_and_kappa_of_nine_topics_are_refused() -> None:
    campaign = Campaign(4, "balanced", 0.3, 0.6)
    for coverage in (measure_alpha_coverage, measure_kappa_coverage):
        _, found = coverage((25,) * 9, campaign, trials=20, rng=np.random.default_rng(18))
        assert found.now.shown == 0


def test_tests_err_as_often_as_they_say_and_the_share_of_samples_does_not() -> None:
    found = measure_type_one("nDCG@10", 10, trials=600, rng=np.random.default_rng(6), n_random=199)
    for share in (found.t, found.wsr, found.randomisation):
        assert 0.02 < share < 0.08
    assert found.sign < 0.05
    assert found.wrs < 0.04  # unpaired: nearly powerless on paired scores
    assert found.won > 0.08


def test_families_of_equal_systems_are_held_and_raw_tests_are_not() -> None:
    found = measure_families("RR", 6, 25, trials=200, rng=np.random.default_rng(7), n_random=200)
    assert found.raw > 0.2
    assert max(found.bonferroni, found.holm, found.greatest) < 0.1


def test_differences_that_vary_on_many_topics_cover_and_few_topics_have_no_interval() -> None:
    found = measure_difference_coverage("RR", 50, trials=400, rng=np.random.default_rng(8))
    assert found.now.shown == 1
    assert min(found.t.covered, found.now.covered, found.effect.covered) > 0.91
    assert (
        measure_difference_coverage("RR", 25, trials=100, rng=np.random.default_rng(9)).now.shown
        == 0
    )


@pytest.mark.parametrize("spread", differences.SPREADS[3:])
def test_where_few_topics_bring_the_difference_an_interval_covers_or_is_not_shown(
    spread: str,
) -> None:
    for topics in (25, 30, 50, 100):
        found = measure_difference_coverage(
            spread, topics, trials=300, rng=np.random.default_rng(topics), n_samples=50
        )
        assert found.now.shown < 0.1 or found.now.covered > 0.9 - 0.03
    assert (
        min(
            measure_difference_coverage(
                spread, topics, trials=300, rng=np.random.default_rng(1), n_samples=50
            ).t.covered
            for topics in (25, 50)
        )
        < 0.925
    )


@pytest.mark.parametrize(
    "spread",
    ["RR: 30% answered", "RR: 10% answered", "1 on 8% of topics, .1 ± .05 on the others"],
)
def test_means_that_few_topics_bring_cover_or_are_not_shown(spread: str) -> None:
    for topics in (25, 30, 50, 100):
        found = measure_mean_coverage(spread, topics, trials=400, rng=np.random.default_rng(topics))
        assert found.shown.shown < 0.1 or found.shown.covered > 0.9 - 0.03


@pytest.mark.parametrize("name", differences.SPARSE)
def test_the_true_means_of_sparse_scores_are_those_of_what_is_drawn(name: str) -> None:
    true, draw = differences.SPARSE[name]
    drawn = draw(np.random.default_rng(2), (1, 2_000_000))
    assert drawn.mean() == pytest.approx(true, abs=5 * drawn.std() / 2_000_000**0.5)


def test_ranks_of_runs_that_are_spread_in_other_ways_are_open_with_few_topics() -> None:
    assert measure_rank_coverage(12, 10, None, trials=10, rng=np.random.default_rng(4)).now == 1
    assert measure_rank_coverage(12, 40, None, trials=40, rng=np.random.default_rng(4)).now > 0.93


def test_means_of_skewed_scores_cover_where_an_interval_is_shown_and_not_everywhere() -> None:
    found = measure_mean_coverage(
        "few topics score", 30, trials=1500, rng=np.random.default_rng(13)
    )
    assert found.everywhere.covered < 0.92
    assert found.shown.covered > 0.93
    usual = measure_mean_coverage("nDCG@10", 30, trials=600, rng=np.random.default_rng(14))
    assert usual.shown.shown > 0.95
    assert 0.91 < usual.shown.covered < 0.98


@pytest.mark.parametrize("shape", ["nDCG@10", "RR", "P@10"])
def test_the_true_means_are_those_of_the_scores(shape: str) -> None:
    drawn = draw_equal_scores(shape, 1, 400_000, 1, np.random.default_rng(15))
    assert drawn.mean() == pytest.approx(MEANS[shape], abs=0.003)


def test_scores_of_equal_systems_are_of_their_kind() -> None:
    """RR: 1 for a half of the topics, 1/2 for a sixth (uniform above 1/2, between 1/3 and 1/2);
    half of the variance is the topics'."""
    rr = draw_equal_scores("RR", 200, 100, 2, np.random.default_rng(10))
    assert (rr == 1).mean() == pytest.approx(1 / 2, abs=0.02)
    assert (rr == 0.5).mean() == pytest.approx(1 / 6, abs=0.02)
    assert rr[rr > 0].min() == pytest.approx(0.1)
    normal = draw_equal_scores("normal", 200, 100, 2, np.random.default_rng(10))
    assert stats.pearsonr(normal[:, 0].ravel(), normal[:, 1].ravel()).statistic == pytest.approx(
        0.5, abs=0.03
    )


def test_shares_are_those_of_the_trials_that_show_an_interval() -> None:
    found = measure_coverage(0.5, [(0.4, 0.6), (0.6, 0.7), (np.nan, np.nan), (0.5, 0.9)])
    assert found.shown == 0.75
    assert found.covered == pytest.approx(2 / 3)
    assert np.isnan(measure_coverage(0.5, [(np.nan, np.nan)]).covered)
    samples = np.array([[0.0, np.nan], [1.0, 3.0], [0.5, 5.0]])
    assert percentile_intervals(samples) == [
        (pytest.approx(0.025), pytest.approx(0.975)),
        (pytest.approx(3.05), pytest.approx(4.95)),
    ]


def test_bca_of_a_kappa_in_the_tables_is_that_of_scipy() -> None:
    """Pairs as scipy's paired samples; its samples are other ones, so up to their chance."""
    own, others = np.random.default_rng(11).integers(0, 3, (2, 80))
    others = np.where(np.random.default_rng(12).random(80) < 0.6, own, others)
    joint = np.bincount(own * 3 + others, minlength=9).reshape(3, 3)

    def of(a: np.ndarray, b: np.ndarray) -> float:
        return float(
            cohen_kappa(
                np.bincount(a.astype(int) * 3 + b.astype(int), minlength=9).reshape(3, 3),
                weighted=True,
            )
        )

    expected = stats.bootstrap(
        (own, others),
        of,
        paired=True,
        vectorized=False,
        n_resamples=4000,
        method="BCa",
        rng=np.random.default_rng(1),
    )
    drawn = (
        np.random.default_rng(2)
        .multinomial(80, joint.ravel() / 80, size=20_000)
        .reshape(-1, 1, 3, 3)
    )
    cells = np.eye(9).reshape(9, 1, 3, 3)
    ((low, high),) = bca_intervals(
        cohen_kappa(joint, weighted=True)[None],
        cohen_kappa(drawn, weighted=True),
        cohen_kappa(np.maximum(joint - cells, 0), weighted=True),
        joint.reshape(9, 1),
    )
    assert (low, high) == pytest.approx(tuple(expected.confidence_interval), abs=0.02)


@pytest.mark.parametrize("table", tables.TABLES, ids=lambda table: table.name)
def test_every_table_has_a_cell_for_each_head(table: tables.GridTable) -> None:
    row = table.rows[0]
    assert len(
        {tuple(one.shown) for one in table.rows}
        | {tuple(map(str, one.given)) for one in table.rows}
    ) >= len(table.rows)
    cells = [*row.shown, *table.simulate(*row.given, trials=4, rng=np.random.default_rng(0))]
    assert len(cells) == len(table.header)


def test_what_an_llm_judge_is_worth_covers_with_ten_topics_where_percentiles_do_not() -> None:
    """Latent correlation .5 of labels that a half of the pairs have: by Sheppard's arcsine law ρ =
    2 asin(.5) / π = 1/3, worth 9/8."""
    true, found = measure_gain_coverage(
        10, 20, LlmSetting(0.5, 0.5, 0.2), trials=400, rng=np.random.default_rng(16)
    )
    assert true == pytest.approx(9 / 8, abs=0.01)
    assert found.now.shown > 0.99
    assert 0.91 < found.now.covered < 0.98
    assert found.before.covered < 0.92

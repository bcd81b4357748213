"""The tables of docs/evidence/calibration.md: their rows, and the functions that simulate them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from assay.comparison.equal_runs import simulate_equal_runs
from benchmarks.calibration import agreement, differences, forecasts, rankings, signs, worths
from benchmarks.calibration.coverage import CoverageShares


class GridRow(NamedTuple):
    """A row of a calibration table. shown: its first cells. given: arguments for `simulate`."""

    shown: list[str]
    given: tuple[Any, ...]


class GridTable(NamedTuple):
    """A calibration table. simulate: (*given, trials, rng) -> the remaining cells of a row."""

    name: str
    header: list[str]
    rows: Sequence[GridRow]
    simulate: Callable[..., list[str]]


def format_share(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}".removeprefix("0") if value < 0.9995 else "1"


def format_coverage(covered: CoverageShares) -> list[str]:
    return [format_share(covered.shown), format_share(covered.covered)]


# Agreement

SIZES = (
    (1, 20, 0.0),
    (1, 100, 0.0),
    (10, 10, 0.6),
    (25, 10, 0.0),
    (25, 10, 0.2),
    (25, 10, 0.6),
    (50, 10, 0.6),
)
"""Number of topics (1: pairs without topics), pairs of each, share of a pair's relevance that is
common to its topic."""
FEW_OR_UNEQUAL = {
    "6 x 40": (40,) * 6,
    "9 x 25": (25,) * 9,
    "15 topics: one of 150, others of 4 pairs": (150,) + (4,) * 14,
    "25 topics of 66, 33, 22, ..., 3 pairs": tuple(round(66 / k) for k in range(1, 26)),
    "50 topics: one of 100, others of 5 pairs": (100,) + (5,) * 49,
    "100 topics of 77, 39, 26, ..., 1 pairs": tuple(round(77 / k) for k in range(1, 101)),
}
"""Pairs of each topic, for few topics or topics of different size (the k-th largest has a k-th of
the largest's pairs)."""
OWN_SHIFT = 0.7
"""Standard deviation of an annotator's shift on all pairs of a topic, drawn for each topic."""
EFFECTS = {0.0: "none", 0.2: "weak", 0.6: "strong"}
UNEQUAL = (-0.6, -0.3, 0.0, 0.3, 0.6)
"""Severity of five annotators, in standard deviations of relevance."""


def alpha_rows() -> list[GridRow]:
    rows = []
    for grades, spread in agreement.BORDERS:
        for noise in (0.5, 0.1):
            for topics, pairs, topic in SIZES:
                where = f"{topics} x {pairs}" if topics > 1 else f"{pairs} pairs"
                shown = [str(grades), spread, where, EFFECTS[topic], "alike"]
                rows.append(
                    GridRow(
                        shown, ((pairs,) * topics, agreement.Campaign(grades, spread, noise, topic))
                    )
                )
            unequal = agreement.Campaign(grades, spread, noise, 0.6, UNEQUAL)
            rows.append(
                GridRow(
                    [str(grades), spread, "25 x 10", "strong", "five unequal"],
                    ((10,) * 25, unequal),
                )
            )
    for grades in (2, 4):
        own = agreement.Campaign(grades, "balanced", 0.3, 0.6, shift=OWN_SHIFT)
        sizes = {"10 x 20": (20,) * 10, "25 x 10": (10,) * 25, **FEW_OR_UNEQUAL}
        rows += [
            GridRow(
                [str(grades), "balanced", where, "strong", "own shift by topic"], (of_topics, own)
            )
            for where, of_topics in sizes.items()
        ]
    return rows


def simulate_alpha(
    sizes: Sequence[int], campaign: agreement.Campaign, *, trials: int, rng: np.random.Generator
) -> list[str]:
    true, coverage = agreement.measure_alpha_coverage(sizes, campaign, trials=trials, rng=rng)
    return [
        f"{true:.2f}",
        format_share(coverage.before.covered),
        format_share(coverage.bca.covered),
        *format_coverage(coverage.now),
    ]


def kappa_rows() -> list[GridRow]:
    rows = [
        GridRow(
            [str(grades), spread, f"{pairs} pairs", "none", "–"],
            ((pairs,), agreement.Campaign(grades, spread, noise)),
        )
        for grades, spread in agreement.BORDERS
        for noise in (0.6, 0.25, 0.08)
        for pairs in (10, 20, 50, 200)
    ]
    even = {
        "200 x 1": (1,) * 200,
        "20 x 10": (10,) * 20,
        "10 x 20": (20,) * 10,
        "12 x 4": (4,) * 12,
    }
    for grades, spread in agreement.BORDERS:
        sizes = even | FEW_OR_UNEQUAL if spread == "balanced" else even | {"80 x 5": (5,) * 80}
        for topic, shift in ((0.2, 0.0), (0.6, 0.0), (0.6, OWN_SHIFT)):
            campaign = agreement.Campaign(grades, spread, 0.3, topic, shift=shift)
            for where, of_topics in sizes.items():
                rows.append(
                    GridRow(
                        [str(grades), spread, where, EFFECTS[topic], f"{shift:g}"],
                        (of_topics, campaign),
                    )
                )
    return rows


def simulate_kappa(
    sizes: Sequence[int], campaign: agreement.Campaign, *, trials: int, rng: np.random.Generator
) -> list[str]:
    true, coverage = agreement.measure_kappa_coverage(sizes, campaign, trials=trials, rng=rng)
    return [
        f"{true:.2f}",
        format_share(coverage.before.covered),
        format_share(coverage.bca.covered),
        *format_coverage(coverage.now),
    ]


# Rankings


def tau_rows() -> list[GridRow]:
    return [
        GridRow([str(systems), str(topics), name], (systems, topics, alike))
        for systems in (5, 10, 30)
        for topics in (25, 50, 200)
        for name, alike in rankings.LIKENESS.items()
    ]


def simulate_tau(
    systems: int, topics: int, alike: float, *, trials: int, rng: np.random.Generator
) -> list[str]:
    coverage = rankings.measure_tau_coverage(systems, topics, alike, trials=trials, rng=rng)
    others = [
        format_share(other.covered) for other in (coverage.before, coverage.bca, coverage.jackknife)
    ]
    return [*others, *format_coverage(coverage.now)]


def rank_rows() -> list[GridRow]:
    alike = [
        GridRow([str(systems), str(topics), f"{apart:g}"], (systems, topics, apart))
        for systems in (5, 10, 30)
        for topics in (10, 50, 200)
        for apart in (0.05, 0.4, 1.0)
    ]
    return alike + [
        GridRow(["12", str(topics), "unlike"], (12, topics, None))
        for topics in (5, 10, 25, 30, 50, 100)
    ]


def simulate_rank(
    systems: int, topics: int, apart: float | None, *, trials: int, rng: np.random.Generator
) -> list[str]:
    coverage = rankings.measure_rank_coverage(systems, topics, apart, trials=trials, rng=rng)
    before = [
        format_share(coverage.before),
        format_share(coverage.before_best),
        f"{coverage.before_width:.1f}",
    ]
    return [
        *before,
        format_share(coverage.now),
        format_share(coverage.now_best),
        f"{coverage.now_width:.1f}",
    ]


# Differences

TOPICS = (5, 10, 25, 50, 200)


def test_rows() -> list[GridRow]:
    return [
        GridRow([shape, str(topics)], (shape, topics))
        for shape in (*differences.SHAPES, "unlike")
        for topics in TOPICS
    ]


def simulate_test(shape: str, topics: int, *, trials: int, rng: np.random.Generator) -> list[str]:
    return [
        format_share(value)
        for value in differences.measure_type_one(shape, topics, trials=trials, rng=rng)
    ]


def family_rows() -> list[GridRow]:
    return [
        GridRow([shape, str(systems), "25"], (shape, systems, 25))
        for shape in differences.SHAPES
        for systems in (5, 20)
    ]


def simulate_family(
    shape: str, systems: int, topics: int, *, trials: int, rng: np.random.Generator
) -> list[str]:
    return [
        format_share(value)
        for value in differences.measure_families(shape, systems, topics, trials=trials, rng=rng)
    ]


TOPICS_OF_MEANS = (5, 10, 25, 30, 50, 100)


def spread_rows() -> list[GridRow]:
    return [
        GridRow([spread, str(topics)], (spread, topics))
        for spread in differences.SPREADS
        for topics in TOPICS_OF_MEANS
    ]


def simulate_spread(name: str, topics: int, *, trials: int, rng: np.random.Generator) -> list[str]:
    found = differences.measure_difference_coverage(name, topics, trials=trials, rng=rng)
    return [
        format_share(found.t.covered),
        format_share(found.bca.covered),
        *format_coverage(found.now),
        format_share(found.effect.covered),
    ]


def mean_rows() -> list[GridRow]:
    return [
        GridRow([spread, str(topics)], (spread, topics))
        for spread in differences.MEANS
        for topics in TOPICS_OF_MEANS
    ]


def simulate_mean(name: str, topics: int, *, trials: int, rng: np.random.Generator) -> list[str]:
    found = differences.measure_mean_coverage(name, topics, trials=trials, rng=rng)
    return [format_share(found.everywhere.covered), *format_coverage(found.shown)]


def verdict_rows() -> list[GridRow]:
    return [
        GridRow([str(topics), by], (topics, by))
        for topics in (50, 500, 5000)
        for by in ("wsr", "t")
    ]


def simulate_verdict(topics: int, by: str, *, trials: int, rng: np.random.Generator) -> list[str]:
    rank = rng.integers(1, 150, (2, topics)) * (rng.random((2, topics)) < 0.9)
    rates = simulate_equal_runs(
        *np.where(rank <= 100, rank, 0), alpha=0.05, decide=by, rng=rng, trials=trials
    )
    return [
        format_share(value)
        for value in (rates.better, rates.significantly_better, rates.do_no_harm)
    ]


# Campaigns


def end_rows() -> list[GridRow]:
    even = [
        (kind, 100, history, days)
        for kind in (*forecasts.EVEN_KINDS, "fade-out, even")
        for history, days in ((3, 2), (10, 5))
    ]
    in_sessions = [
        (kind, 100, history, days)
        for kind in forecasts.SESSION_KINDS
        for history, days in ((4, 5), (10, 5), (10, 10))
    ]
    return [
        GridRow([kind, str(history), str(days)], (kind, per_day, history, days))
        for kind, per_day, history, days in (*even, *in_sessions)
    ]


def simulate_end(
    kind: str, per_day: int, history: int, days: int, *, trials: int, rng: np.random.Generator
) -> list[str]:
    found = forecasts.measure_forecast_coverage(
        kind, per_day=per_day, days=days, history=history, campaigns=trials, rng=rng
    )
    return [
        format_share(found.shown / found.campaigns),
        f"{found.width:.1f}",
        format_share(found.later),
        format_share(found.covered),
    ]


def sign_rows() -> list[GridRow]:
    return [
        GridRow(
            [str(annotators), str(pairs), "by topic" if by_topic else "evenly"],
            (base, annotators, pairs, by_topic),
        )
        for base in signs.NOISE
        for annotators, pairs in ((4, 50), (8, 50), (8, 150), (20, 60))
        for by_topic in (False, True)
    ]


def simulate_sign(
    base: float,
    annotators: int,
    pairs: int,
    by_topic: bool,
    *,
    trials: int,
    rng: np.random.Generator,
) -> list[str]:
    equal, differing, mixed = (
        signs.measure_sign_rates(
            base,
            annotators=annotators,
            pairs=pairs,
            by_topic=by_topic,
            campaigns=max(trials // 4, 10),
            rng=rng,
            differing=differing,
            random_too=random_too,
        )
        for differing, random_too in ((False, False), (True, False), (True, True))
    )
    return [
        f"{equal.kappa:.2f}",
        format_share(equal.false_alarm),
        format_share(differing.false_alarm),
        format_share(mixed.false_alarm),
        format_share(mixed.at_random),
    ]


def gain_rows() -> list[GridRow]:
    return [
        GridRow(
            [name, f"{latent:g}", EFFECTS[topic], f"{topics} x {pairs}"],
            (topics, pairs, worths.LlmSetting(share, latent, topic)),
        )
        for name, share in (("50%", 0.5), ("27%", 0.27), ("5%", 0.05))
        for latent in (0.2, 0.5, 0.8)
        for topic, topics, pairs in (
            (0.0, 10, 20),
            (0.2, 10, 20),
            (0.2, 25, 20),
            (0.6, 25, 20),
            (0.2, 50, 20),
            (0.2, 25, 180),
        )
    ]


def simulate_gain(
    topics: int, pairs: int, llm: worths.LlmSetting, *, trials: int, rng: np.random.Generator
) -> list[str]:
    true, coverage = worths.measure_gain_coverage(topics, pairs, llm, trials=trials, rng=rng)
    return [f"{true:.2f}", format_share(coverage.before.covered), *format_coverage(coverage.now)]


TABLES = (
    GridTable(
        "alphas",
        [
            "grades",
            "spread",
            "topics x pairs",
            "topic effect",
            "annotators",
            "true alpha",
            "baseline",
            "BCa",
            "shown",
            "covered",
        ],
        alpha_rows(),
        simulate_alpha,
    ),
    GridTable(
        "kappas",
        [
            "grades",
            "spread",
            "topics x pairs",
            "topic effect",
            "own shift",
            "true kappa",
            "baseline",
            "BCa",
            "shown",
            "covered",
        ],
        kappa_rows(),
        simulate_kappa,
    ),
    GridTable(
        "taus",
        ["systems", "topics", "true tau", "baseline", "BCa", "jackknife on z", "shown", "covered"],
        tau_rows(),
        simulate_tau,
    ),
    GridTable(
        "ranks",
        [
            "systems",
            "topics",
            "spread",
            "baseline",
            "baseline, best",
            "baseline, ranks",
            "Assay",
            "Assay, best",
            "Assay, ranks",
        ],
        rank_rows(),
        simulate_rank,
    ),
    GridTable(
        "spreads",
        ["differences", "topics", "t", "BCa", "shown", "covered", "effect size"],
        spread_rows(),
        simulate_spread,
    ),
    GridTable(
        "tests",
        [
            "scores",
            "topics",
            "t",
            "signed-rank",
            "sign",
            "permutation",
            "rank-sum",
            "beaten in 97.5% of samples",
        ],
        test_rows(),
        simulate_test,
    ),
    GridTable(
        "families",
        [
            "scores",
            "systems",
            "topics",
            "t, uncorrected",
            "t, Bonferroni",
            "t, Holm",
            "max",
        ],
        family_rows(),
        simulate_family,
    ),
    GridTable(
        "verdicts",
        ["topics", "ESL decided by", "better", "significantly better", "do no harm"],
        verdict_rows(),
        simulate_verdict,
    ),
    GridTable(
        "ends",
        [
            "campaign",
            "working days seen",
            "days missing",
            "shown",
            "days wide",
            "ended later",
            "covered",
        ],
        end_rows(),
        simulate_end,
    ),
    GridTable(
        "accused",
        [
            "annotators",
            "judgements each",
            "assigned",
            "kappa",
            "equal care",
            "differing care",
            "careful, with one at random",
            "at random",
        ],
        sign_rows(),
        simulate_sign,
    ),
    GridTable(
        "means", ["scores", "topics", "always t", "shown", "covered"], mean_rows(), simulate_mean
    ),
    GridTable(
        "worths",
        [
            "relevant",
            "correlation",
            "topic effect",
            "topics x pairs",
            "true gain",
            "baseline",
            "shown",
            "covered",
        ],
        gain_rows(),
        simulate_gain,
    ),
    # new tables go last, because a row's generator depends on its table's number
)

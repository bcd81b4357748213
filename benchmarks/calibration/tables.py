"""The grid of docs/evidence/calibration.md: which tables there are, their rows, and what simulates a row."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from assay.comparison.equal_runs import equal_runs
from benchmarks.calibration import agreement, differences, forecasts, rankings, signs, worths
from benchmarks.calibration.coverage import Covered


class Row(NamedTuple):
    """shown: its first cells. given: what `simulate` takes."""

    shown: list[str]
    given: tuple[Any, ...]


class Table(NamedTuple):
    """simulate: (*given, trials, rng) -> the other cells."""

    name: str
    header: list[str]
    rows: Sequence[Row]
    simulate: Callable[..., list[str]]


def share(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}".removeprefix("0") if value < 0.9995 else "1"


def shown_and_covered(covered: Covered) -> list[str]:
    return [share(covered.shown), share(covered.covered)]


# -- agreement
# -----------------------------------------------------------------------------------------------------------------------------

SIZES = (
    (1, 20, 0.0),
    (1, 100, 0.0),
    (10, 10, 0.6),
    (25, 10, 0.0),
    (25, 10, 0.2),
    (25, 10, 0.6),
    (50, 10, 0.6),
)
"""Topics (1: none are told), pairs of each, share of a pair's relevance that is the topic's."""
FEW_OR_UNEQUAL = {
    "6 x 40": (40,) * 6,
    "9 x 25": (25,) * 9,
    "15: one of 150, others of 4": (150,) + (4,) * 14,
    "25: 66, 33, 22, ..., 3": tuple(round(66 / k) for k in range(1, 26)),
    "50: one of 100, others of 5": (100,) + (5,) * 49,
    "100: 77, 39, 26, ..., 1": tuple(round(77 / k) for k in range(1, 101)),
}
"""Pairs of each topic, where there are few or where they differ (the k-th largest has a k-th of the
largest's)."""
OWN_SHIFT = 0.7
"""Standard deviation of what an annotator adds to all pairs of a topic, a topic at a time."""
EFFECTS = {0.0: "none", 0.2: "weak", 0.6: "strong"}
UNEQUAL = (-0.6, -0.3, 0.0, 0.3, 0.6)
"""Five annotators of different severity, in standard deviations of relevance."""


def alphas() -> list[Row]:
    rows = []
    for grades, spread in agreement.BORDERS:
        for noise in (0.5, 0.1):
            for topics, pairs, topic in SIZES:
                where = f"{topics} x {pairs}" if topics > 1 else f"{pairs} pairs"
                shown = [str(grades), spread, where, EFFECTS[topic], "alike"]
                rows.append(
                    Row(
                        shown, ((pairs,) * topics, agreement.Campaign(grades, spread, noise, topic))
                    )
                )
            unequal = agreement.Campaign(grades, spread, noise, 0.6, UNEQUAL)
            rows.append(
                Row(
                    [str(grades), spread, "25 x 10", "strong", "five unequal"],
                    ((10,) * 25, unequal),
                )
            )
    for grades in (2, 4):
        own = agreement.Campaign(grades, "balanced", 0.3, 0.6, shift=OWN_SHIFT)
        sizes = {"10 x 20": (20,) * 10, "25 x 10": (10,) * 25, **FEW_OR_UNEQUAL}
        rows += [
            Row([str(grades), "balanced", where, "strong", "own shift by topic"], (of_topics, own))
            for where, of_topics in sizes.items()
        ]
    return rows


def alpha(
    sizes: Sequence[int], campaign: agreement.Campaign, *, trials: int, rng: np.random.Generator
) -> list[str]:
    true, coverage = agreement.alpha_coverage(sizes, campaign, trials=trials, rng=rng)
    return [
        f"{true:.2f}",
        share(coverage.before.covered),
        share(coverage.bca.covered),
        *shown_and_covered(coverage.now),
    ]


def kappas() -> list[Row]:
    rows = [
        Row(
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
                    Row(
                        [str(grades), spread, where, EFFECTS[topic], f"{shift:g}"],
                        (of_topics, campaign),
                    )
                )
    return rows


def kappa(
    sizes: Sequence[int], campaign: agreement.Campaign, *, trials: int, rng: np.random.Generator
) -> list[str]:
    true, coverage = agreement.kappa_coverage(sizes, campaign, trials=trials, rng=rng)
    return [
        f"{true:.2f}",
        share(coverage.before.covered),
        share(coverage.bca.covered),
        *shown_and_covered(coverage.now),
    ]


# -- rankings
# ------------------------------------------------------------------------------------------------------------------------------


def taus() -> list[Row]:
    return [
        Row([str(systems), str(topics), name], (systems, topics, alike))
        for systems in (5, 10, 30)
        for topics in (25, 50, 200)
        for name, alike in rankings.ALIKE.items()
    ]


def tau(
    systems: int, topics: int, alike: float, *, trials: int, rng: np.random.Generator
) -> list[str]:
    coverage = rankings.tau_coverage(systems, topics, alike, trials=trials, rng=rng)
    others = [share(other.covered) for other in (coverage.before, coverage.bca, coverage.jackknife)]
    return [*others, *shown_and_covered(coverage.now)]


def ranks() -> list[Row]:
    alike = [
        Row([str(systems), str(topics), f"{apart:g}"], (systems, topics, apart))
        for systems in (5, 10, 30)
        for topics in (10, 50, 200)
        for apart in (0.05, 0.4, 1.0)
    ]
    return alike + [
        Row(["12", str(topics), "unlike"], (12, topics, None))
        for topics in (5, 10, 25, 30, 50, 100)
    ]


def rank(
    systems: int, topics: int, apart: float | None, *, trials: int, rng: np.random.Generator
) -> list[str]:
    coverage = rankings.rank_coverage(systems, topics, apart, trials=trials, rng=rng)
    before = [share(coverage.before), share(coverage.before_best), f"{coverage.before_width:.1f}"]
    return [*before, share(coverage.now), share(coverage.now_best), f"{coverage.now_width:.1f}"]


# -- differences
# ---------------------------------------------------------------------------------------------------------------------------

TOPICS = (5, 10, 25, 50, 200)


def tests() -> list[Row]:
    return [
        Row([shape, str(topics)], (shape, topics))
        for shape in (*differences.SHAPES, "unlike")
        for topics in TOPICS
    ]


def test(shape: str, topics: int, *, trials: int, rng: np.random.Generator) -> list[str]:
    return [share(value) for value in differences.type_one(shape, topics, trials=trials, rng=rng)]


def families() -> list[Row]:
    return [
        Row([shape, str(systems), "25"], (shape, systems, 25))
        for shape in differences.SHAPES
        for systems in (5, 20)
    ]


def family(
    shape: str, systems: int, topics: int, *, trials: int, rng: np.random.Generator
) -> list[str]:
    return [
        share(value)
        for value in differences.families(shape, systems, topics, trials=trials, rng=rng)
    ]


TOPICS_OF_MEANS = (5, 10, 25, 30, 50, 100)


def spreads() -> list[Row]:
    return [
        Row([spread, str(topics)], (spread, topics))
        for spread in differences.SPREADS
        for topics in TOPICS_OF_MEANS
    ]


def spread(name: str, topics: int, *, trials: int, rng: np.random.Generator) -> list[str]:
    found = differences.difference_coverage(name, topics, trials=trials, rng=rng)
    return [
        share(found.t.covered),
        share(found.bca.covered),
        *shown_and_covered(found.now),
        share(found.effect.covered),
    ]


def means() -> list[Row]:
    return [
        Row([spread, str(topics)], (spread, topics))
        for spread in differences.MEANS
        for topics in TOPICS_OF_MEANS
    ]


def mean(name: str, topics: int, *, trials: int, rng: np.random.Generator) -> list[str]:
    found = differences.mean_coverage(name, topics, trials=trials, rng=rng)
    return [share(found.everywhere.covered), *shown_and_covered(found.shown)]


def verdicts() -> list[Row]:
    return [
        Row([str(topics), by], (topics, by)) for topics in (50, 500, 5000) for by in ("wsr", "t")
    ]


def verdict(topics: int, by: str, *, trials: int, rng: np.random.Generator) -> list[str]:
    rank = rng.integers(1, 150, (2, topics)) * (rng.random((2, topics)) < 0.9)
    rates = equal_runs(
        *np.where(rank <= 100, rank, 0), alpha=0.05, decide=by, rng=rng, trials=trials
    )
    return [share(value) for value in (rates.better, rates.significantly_better, rates.do_no_harm)]


# -- campaigns
# -----------------------------------------------------------------------------------------------------------------------------


def ends() -> list[Row]:
    even = [
        (kind, 100, history, days)
        for kind in (*forecasts.EVEN, "fade-out, even")
        for history, days in ((3, 2), (10, 5))
    ]
    in_sessions = [
        (kind, 100, history, days)
        for kind in forecasts.IN_SESSIONS
        for history, days in ((4, 5), (10, 5), (10, 10))
    ]
    return [
        Row([kind, str(history), str(days)], (kind, per_day, history, days))
        for kind, per_day, history, days in (*even, *in_sessions)
    ]


def end(
    kind: str, per_day: int, history: int, days: int, *, trials: int, rng: np.random.Generator
) -> list[str]:
    found = forecasts.coverage_of(
        kind, per_day=per_day, days=days, history=history, campaigns=max(trials // 4, 10), rng=rng
    )
    return [
        share(found.shown / found.campaigns),
        f"{found.width:.1f}",
        share(found.later),
        share(found.covered),
    ]


def accused() -> list[Row]:
    rows = [Row([str(pairs)], (base, pairs, 0)) for base in signs.NOISE for pairs in (30, 100)]
    return rows + [
        Row([f"100 of {topics} topics"], (base, 100, topics))
        for base in signs.NOISE
        for topics in (5, 10, 25)
    ]


def accuse(
    base: float, pairs: int, topics: int, *, trials: int, rng: np.random.Generator
) -> list[str]:
    campaigns = max(trials // 4, 10)
    alone = signs.raised(
        base,
        annotators=10,
        pairs=pairs,
        campaigns=campaigns,
        rng=rng,
        random_too=False,
        topics=topics,
    )
    mixed = signs.raised(
        base,
        annotators=10,
        pairs=pairs,
        campaigns=campaigns,
        rng=rng,
        random_too=True,
        topics=topics,
    )
    return [
        f"{alone.kappa:.2f}",
        share(alone.before),
        share(alone.honest),
        share(mixed.honest),
        share(mixed.at_random),
    ]


def worth_rows() -> list[Row]:
    return [
        Row(
            [name, f"{latent:g}", EFFECTS[topic], f"{topics} x {pairs}"],
            (topics, pairs, worths.Machine(share, latent, topic)),
        )
        for name, share in (("a half", 0.5), ("27%", 0.27), ("5%", 0.05))
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


def worth(
    topics: int, pairs: int, machine: worths.Machine, *, trials: int, rng: np.random.Generator
) -> list[str]:
    true, coverage = worths.worth_coverage(topics, pairs, machine, trials=trials, rng=rng)
    return [f"{true:.2f}", share(coverage.before.covered), *shown_and_covered(coverage.now)]


TABLES = (
    Table(
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
        alphas(),
        alpha,
    ),
    Table(
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
        kappas(),
        kappa,
    ),
    Table(
        "taus",
        ["systems", "topics", "true tau", "baseline", "BCa", "jackknife on z", "shown", "covered"],
        taus(),
        tau,
    ),
    Table(
        "ranks",
        [
            "systems",
            "topics",
            "apart",
            "baseline",
            "the best",
            "ranks wide",
            "now",
            "the best",
            "ranks wide",
        ],
        ranks(),
        rank,
    ),
    Table(
        "spreads",
        ["differences", "topics", "t", "BCa", "shown", "covered", "effect"],
        spreads(),
        spread,
    ),
    Table(
        "tests",
        [
            "scores",
            "topics",
            "t",
            "signed-rank",
            "sign",
            "randomisation",
            "rank-sum",
            "beaten in 97.5% of samples",
        ],
        tests(),
        test,
    ),
    Table(
        "families",
        [
            "scores",
            "systems",
            "topics",
            "t, raw",
            "t, Bonferroni",
            "t, Holm",
            "greatest difference",
        ],
        families(),
        family,
    ),
    Table(
        "verdicts",
        ["topics", "ESL decided by", "better", "significantly better", "do no harm"],
        verdicts(),
        verdict,
    ),
    Table(
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
        ends(),
        end,
    ),
    Table(
        "accused",
        ["pairs", "kappa", "baseline", "honest", "honest, one at random among them", "at random"],
        accused(),
        accuse,
    ),
    Table("means", ["scores", "topics", "everywhere", "shown", "covered"], means(), mean),
    Table(
        "worths",
        [
            "relevant",
            "seen alike",
            "topic effect",
            "topics x pairs",
            "true gain",
            "baseline",
            "shown",
            "covered",
        ],
        worth_rows(),
        worth,
    ),
    # later ones last: a row's generator goes by its table's number
)

"""Simulate how often equal runs get a verdict, to estimate the error rates of verdicts on the given
topics.

Equal runs are made from the given ones by exchanging, on each topic, the ranks of the first
relevant document among the runs at random. No run is then better than another, so every verdict is
an error. The difficulty of topics and the similarity of runs stay the same.

    simulate_equal_runs(a, b, ...)          two runs, for one comparison
    simulate_equal_boards(ranks, ...)       all runs of a leaderboard, for its chain of records
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from assay.comparison import significance
from assay.comparison.leaderboard import BoardEntry, list_comparisons, list_records
from assay.comparison.outcomes import Ranks, compare_ranks, rr_from_ranks
from assay.comparison.significance import Floats
from assay.comparison.verdicts import VerdictEvidence, judge_comparisons

TRIALS = 2000
N_BOARDS = 100
BATCH_TRIALS = 250
"""Exchanges of two runs that are held in memory at a time."""


@dataclass(frozen=True)
class VerdictRates:
    """Shares of trials in which one of two equal runs gets each verdict over the other. undecided:
    some verdict is open because means and signed ranks disagree in direction."""

    trials: int
    better: float
    significantly_better: float
    do_no_harm: float
    undecided: float


@dataclass(frozen=True)
class LeaderboardRates:
    """Error rates on leaderboards of equal runs. records: share of records that are called better
    than the first without doing harm. boards: share of leaderboards with such a record."""

    trials: int
    records: float
    boards: float


def simulate_equal_runs(
    ranks_a: Ranks,
    ranks_b: Ranks,
    *,
    alpha: float,
    decide: str,
    rng: np.random.Generator,
    family: int = 1,
    trials: int = TRIALS,
) -> VerdictRates:
    """Simulate verdicts on two runs (n topics each) that are exchanged at random on each topic.
    family: factor for the p-values (Bonferroni)."""
    if len(ranks_a) < significance.MIN_VERDICT_TOPICS:
        return VerdictRates(
            trials, better=0.0, significantly_better=0.0, do_no_harm=0.0, undecided=1.0
        )
    answered_a, answered_b = ranks_a > 0, ranks_b > 0
    both = answered_a & answered_b
    n_one_only = int((answered_a != answered_b).sum())
    differences = (ranks_b[both] - ranks_a[both]).astype(float)
    bound = alpha / family
    counts = dict.fromkeys(("better", "significantly_better", "do_no_harm", "undecided"), 0)
    for start in range(0, trials, BATCH_TRIALS):
        n = min(BATCH_TRIALS, trials - start)
        b_only = rng.binomial(n_one_only, 0.5, n)
        signs = rng.integers(0, 2, (n, len(differences)), np.int8) * 2.0 - 1
        ranking, tested, is_significant = _simulate_directions(signs, differences, bound, decide)
        facts = np.column_stack(
            [
                np.sign(2 * b_only - n_one_only),
                significance.binomial_test(b_only, n_one_only - b_only) < bound,
                -ranking,
                -tested,
                is_significant,
            ]
        ).astype(int)
        for (answers, sure, mean, test, harmless), times in zip(
            *np.unique(facts, axis=0, return_counts=True), strict=True
        ):
            one = VerdictEvidence(int(answers), bool(sure), int(mean), int(test), bool(harmless))
            verdict, other = asdict(one.verdict()), asdict(one.mirror().verdict())
            for name in verdict:
                counts[name] += int(times) * (verdict[name] is True or other[name] is True)
            counts["undecided"] += int(times) * one.verdict().is_open
    return VerdictRates(trials, **{name: count / trials for name, count in counts.items()})


def _simulate_directions(
    signs: Floats, differences: Floats, bound: float, decide: str
) -> tuple[Floats, Floats, np.ndarray]:
    """Return the direction of the mean, the direction of the test, and its significance, each
    (trials), for signs (trials, n) of differences (n)."""
    n = len(differences)
    if n == 0:
        nothing = np.zeros(len(signs))
        return nothing, nothing, nothing > 0
    mean = np.round(signs @ differences / n, significance.DECIMALS)
    if decide == "t" and n >= significance.MIN_VERDICT_TOPICS:
        with np.errstate(invalid="ignore", divide="ignore"):
            variance = np.maximum((differences**2).sum() - n * mean**2, 0) / (n - 1)
        p = significance.t_test_p(
            mean, variance, n, all_zero=np.full(len(signs), not differences.any())
        )
        # no variance, as in `significance.verdict_p_value`
        p = np.where(np.isnan(p), 2.0 ** (1 - n), p)
        return np.sign(mean), np.sign(mean), p < bound
    d = signs * differences
    return (
        np.sign(mean),
        np.sign(significance.signed_rank_direction(d)),
        significance.signed_rank_test(d) < bound,
    )


def simulate_equal_boards(
    ranks: Ranks,
    entries: Sequence[BoardEntry],
    *,
    alpha: float,
    decide: str,
    rng: np.random.Generator,
    family: int | None = None,
    trials: int = N_BOARDS,
    step: Callable[[], object] = lambda: None,
) -> dict[str, LeaderboardRates]:
    """Return correction -> error rates on leaderboards of equal runs with the dates of `entries`.
    ranks: (n_runs, n_topics), in the order of `entries`.

    family: size of the family for the correction, if larger than a leaderboard's own comparisons.
    """
    n_records = 0
    claimed, boards = (dict.fromkeys(significance.CORRECTIONS, 0) for _ in range(2))
    for _ in range(trials):
        mixed = rng.permuted(ranks, axis=0)
        scored = [
            replace(entry, score=float(mean))
            for entry, mean in zip(entries, rr_from_ranks(mixed).mean(axis=1), strict=True)
        ]
        place = {entry.tag: i for i, entry in enumerate(scored)}
        tags = list_records(scored)
        pairs = list_chain_pairs(tags)
        compared = [compare_ranks(mixed[place[a]], mixed[place[b]]) for a, b in pairs]
        n_records += max(len(tags) - 1, 0)
        for correction in significance.CORRECTIONS:
            size = None if family is None else max(family, len(pairs))
            judged = dict(
                zip(
                    pairs,
                    judge_comparisons(
                        compared, alpha=alpha, decide=decide, correction=correction, family=size
                    ),
                    strict=True,
                )
            )
            n_harmless = sum(judged[tags[0], tag].verdict.do_no_harm is True for tag in tags[1:])
            claimed[correction] += n_harmless
            boards[correction] += n_harmless > 0
        step()
    share = {name: claimed[name] / n_records if n_records else float("nan") for name in claimed}
    return {name: LeaderboardRates(trials, share[name], boards[name] / trials) for name in claimed}


def list_chain_pairs(tags: Sequence[str]) -> list[tuple[str, str]]:
    """Return the comparisons of a chain without repetition, which are the family of a
    correction."""
    lists: Iterable[list[tuple[str, str]]] = list_comparisons(tags).values() if tags else []
    return list(dict.fromkeys(pair for rows in lists for pair in rows))

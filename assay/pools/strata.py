"""Sampled pools: strata, allocation of the sample to strata, and the random sample.

    make_rank_strata(pool), make_vote_strata(pool) -> Strata     every pair in one stratum
    allocate_sample(sizes, spreads, n) -> n_h                    Neyman (1934)
    shuffle_strata(strata, rng, ...) -> place                    one shuffle per stratum
    sampled_mask(strata, place, n_h) -> bool                     pairs of the first n_h places

A larger sample takes longer prefixes of the shuffles and so contains the smaller one. A stratum is
named `topic/window`, or `*window` if it spans all topics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.pools.depth import PooledPairs

RANK_WINDOWS = (3, 10, 20, 50)
"""Last rank of each rank window except the open last one: 1-3, 4-10, 11-20, 21-50, 51+. A pair
belongs to the window of its best rank."""
RANK_RATES = (0.50, 0.30, 0.18, 0.08, 0.03)
"""Prior share of relevant documents in each rank window."""
VOTE_QUANTILES = (0.5, 0.8, 0.95)
VOTE_DEPTH = 10
VOTE_RATES = (0.08, 0.20, 0.35, 0.50)
RANK_NAMES = [
    f"{low + 1}-{high}" for low, high in zip((0, *RANK_WINDOWS[:-1]), RANK_WINDOWS, strict=True)
] + [f"{RANK_WINDOWS[-1] + 1}+"]
GRADE_RATES = VOTE_RATES
"""Prior share of relevant documents at each grade of an LLM judge, from the lowest to the highest.
"""
VOTE_NAMES = [f"*votes{k + 1}" for k in range(len(VOTE_RATES))]
UNPOOLED_PREFIX = "@"
"""Separates the rank window from the stage in which an unpooled run added its pairs. Pairs added
after a draw form separate strata."""
MIN_PER_STRATUM = 2
"""Minimum pairs sampled per stratum, because a single pair gives no estimate of the spread."""

WHOLE_STRATUM_SHARE = 0.15


@dataclass(frozen=True, eq=False)
class Strata:
    """Strata of a pool's pairs. names: n_strata. stratum: int32 (n_pairs), index into names. sizes:
    int64 (n_strata), N_h at the time of the draw. rates: float64 (n_strata), expected share of
    relevant documents."""

    names: list[str]
    stratum: NDArray[np.int32]
    sizes: NDArray[np.int64]
    rates: NDArray[np.float64]


def make_rank_strata(pool: PooledPairs) -> Strata:
    """Make one stratum per topic and window of best rank. An unknown best rank (0) counts as
    deep."""
    deep = np.where(pool.best_rank > 0, pool.best_rank, np.iinfo(np.int32).max)
    band = np.searchsorted(RANK_WINDOWS, deep, side="left")
    n = len(RANK_NAMES)
    names = [f"{topic}/{name}" for topic in pool.topics for name in RANK_NAMES]
    return _keep_filled_strata(
        pool.topic.astype(np.int64) * n + band, names, np.tile(RANK_RATES, len(pool.topics))
    )


def make_vote_strata(pool: PooledPairs) -> Strata:
    """Make strata by votes, the share of runs with the pair in their top ten, cut at quantiles over
    all topics."""
    return _keep_filled_strata(
        _vote_window_index(vote_shares(pool)), VOTE_NAMES, np.array(VOTE_RATES)
    )


def prior_rate(name: str, *, n_grades: int = 0) -> float:
    """Return the prior share of relevant documents in the stratum of this name. Strata added by an
    unpooled run (`@stage`) have the rate of their rank window. Raises KeyError for an unknown name.

    n_grades: number of grades on the scale of the LLM judge whose grades define the strata.
    """
    if name.startswith("*votes") and "-grade" in name:
        return float(prior_rates(n_grades)[int(name.rpartition("-grade")[2])])
    known = dict(zip((*RANK_NAMES, *VOTE_NAMES), (*RANK_RATES, *VOTE_RATES), strict=True))
    band = name if name.startswith("*") else name.rpartition("/")[2]
    return known[band.partition(UNPOOLED_PREFIX)[0]]


def prior_rates(n_grades: int) -> NDArray[np.float64]:
    return np.interp(
        np.linspace(0, 1, max(n_grades, 2)), np.linspace(0, 1, len(GRADE_RATES)), GRADE_RATES
    )[:n_grades]


def vote_spreads(
    stratum: NDArray[np.int32], rates: NDArray[np.float64], votes: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return float64 (n_strata), the expected spread: the mean of √(v(1 - v)) over the votes v of a
    stratum's pairs, times √(p(1 - p)) for its rate p."""
    n = len(rates)
    return (
        np.bincount(stratum, weights=rate_spreads(votes), minlength=n)
        / np.bincount(stratum, minlength=n)
        * rate_spreads(rates)
    )


def make_llm_strata(
    pool: PooledPairs, grades: NDArray[np.integer], *, n_grades: int = 0
) -> tuple[Strata, NDArray[np.float64]]:
    """Make strata by votes and an LLM judge's grade, over all topics. Returns the strata and
    float64 (n_strata), the spreads for the allocation of human judgements.

    grades: int (n_pairs) of the LLM judge, made before the draw. n_grades: number of grades on its
    scale, if known. The prior rate rises from 0.08 at the lowest grade to 0.50 at the highest.
    """
    votes = vote_shares(pool)
    band = _vote_window_index(votes)
    n_grades = max(n_grades, int(grades.max(initial=0)) + 1)
    code = band * n_grades + grades
    names = [f"{votes_name}-grade{g}" for votes_name in VOTE_NAMES for g in range(n_grades)]
    made = _keep_filled_strata(code, names, np.tile(prior_rates(n_grades), len(VOTE_NAMES)))
    return made, vote_spreads(made.stratum, made.rates, votes)


def vote_shares(pool: PooledPairs) -> NDArray[np.float64]:
    """Return float64 (n_pairs), the share of the pool's runs with the pair in their top ten."""
    return ((pool.ranks > 0) & (pool.ranks <= VOTE_DEPTH)).sum(axis=1) / max(len(pool.tags), 1)


def _vote_window_index(votes: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the index in VOTE_NAMES of each pair's vote window, delimited by quantiles of the vote
    shares. votes: float64 (n_pairs)."""
    cuts = np.quantile(votes, VOTE_QUANTILES) if len(votes) else np.zeros(len(VOTE_QUANTILES))
    return np.searchsorted(cuts, votes, side="left")


def _keep_filled_strata(
    code: NDArray[np.integer], names: Sequence[str], rates: NDArray[np.float64]
) -> Strata:
    """Return strata without those that contain no pair. The others keep their order."""
    sizes = np.bincount(code, minlength=len(names))
    kept = np.flatnonzero(sizes)
    number = np.zeros(len(names), np.int32)
    number[kept] = np.arange(len(kept))
    return Strata(
        [names[k] for k in kept.tolist()], number[code], sizes[kept].astype(np.int64), rates[kept]
    )


def allocate_sample(
    sizes: NDArray[np.int64], spreads: NDArray[np.float64], n: int, *, least: int = MIN_PER_STRATUM
) -> NDArray[np.int64]:
    """Return int64 (n_strata), the number of pairs to sample from each stratum: proportional to N_h
    times its spread, at least `least` and at most N_h.

    spreads: float64 (n_strata), expected standard deviation within each, √(p(1 - p)) for a rate p.
    Counts are rounded by largest remainder, ties to the first stratum. The minimum of every stratum
    is met first, which may exceed a small `n`. If n exceeds the number of pairs, all are sampled.
    """
    counts = np.minimum(sizes, least)
    weight = sizes * spreads
    left = min(n, int(sizes.sum())) - int(counts.sum())
    while left > 0:
        room = sizes - counts
        wanted = np.where(room > 0, weight, 0.0)
        if not wanted.any():
            wanted = room.astype(np.float64)
        exact = left * wanted / wanted.sum()
        full = exact > room
        if full.any():  # the excess of a full stratum is shared among the others in the next round
            counts, left = counts + np.where(full, room, 0), left - int(room[full].sum())
            continue
        whole = np.floor(exact).astype(np.int64)
        remainder = np.where(whole < room, exact - whole, -1.0)
        counts, left = counts + whole, left - int(whole.sum())
        counts[np.argsort(-remainder, kind="stable")[:left]] += 1
        break
    return counts


def complete_small_strata(
    sizes: NDArray[np.int64], counts: NDArray[np.int64], *, left: float = WHOLE_STRATUM_SHARE
) -> NDArray[np.int64]:
    """Return the counts, with a stratum sampled completely if less than the share `left` of it
    would remain. The few left would estimate its spread badly."""
    remains = sizes - counts
    return np.where(remains < left * sizes, sizes, counts)


def rate_spreads(rates: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.sqrt(rates * (1 - rates))


def shuffle_strata(
    strata: Strata, rng: np.random.Generator, keys: NDArray[np.bytes_], topics: NDArray[np.int32]
) -> NDArray[np.int64]:
    """Return int64 (n_pairs), the position from 0 of each pair in the shuffle of its stratum.

    keys, topics: document and topic of each pair. Pairs are sorted by them before the shuffle, so
    that the order of files does not matter.
    """
    by_id = np.lexsort((keys, topics, strata.stratum))
    place = np.empty(len(by_id), np.int64)
    start = 0
    for size in np.bincount(strata.stratum, minlength=len(strata.names)).tolist():
        place[by_id[start : start + size]] = rng.permutation(size)
        start += size
    return place


def sampled_mask(
    strata: Strata, place: NDArray[np.int64], counts: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return bool (n_pairs): whether the pair's position in the shuffle is below its stratum's
    count."""
    return place < counts[strata.stratum]


@dataclass(frozen=True, eq=False)
class PoolSample:
    """A pool and the pairs sampled from each of its strata.

    place: int (n_pairs), random position from 0 within the stratum. counts: int (n_strata), pairs
    sampled. is_drawn: bool (n_pairs). labels: int64 (n_pairs), grades of sampled pairs, -1 if
    unknown, or None without grades.
    """

    pool: PooledPairs
    strata: Strata
    place: NDArray[Any]
    counts: NDArray[Any]
    is_drawn: NDArray[np.bool_]
    labels: NDArray[np.int64] | None

    @property
    def probability(self) -> NDArray[np.float64]:
        """Return float64 (n_pairs), each pair's inclusion probability."""
        of_strata: NDArray[np.float64] = self.counts / self.strata.sizes
        return of_strata[self.strata.stratum]

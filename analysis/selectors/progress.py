"""How far a campaign is: by depth and topic, its pace, who holds what."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from django.db.models import Count
from django.utils import timezone
from numpy.typing import NDArray

from analysis.core.forecast import Forecast, forecast, short_at_deadline
from analysis.selectors.judgements import CANNOT, COUNTED
from analysis.selectors.live import Live, live_rows
from annotation.models import Campaign, Lease, Pair

DAY = 86400.0
BATCH = 500


@dataclass(frozen=True)
class Depth:
    """Pairs whose best rank is `rank`: all, complete (judged as often as needed), started."""

    rank: int
    pairs: int
    complete: int
    started: int

    @property
    def share(self) -> float:
        return self.complete / self.pairs if self.pairs else 0.0


@dataclass(frozen=True)
class Progress:
    """needed: judgements in all; counted: those that fill a slot. complete_depth: every pair down to this rank is complete."""

    needed: int
    counted: int
    pairs: int
    complete: int
    depths: list[Depth]
    complete_depth: int
    one_judgement: int
    unjudgeable: int
    per_12h: int
    per_24h: int
    active_now: int
    live_leases: int
    stalled: int
    forecast: Forecast
    short_at_deadline: int | None
    moment: datetime

    @property
    def share(self) -> float:
        return self.counted / self.needed if self.needed else 0.0


@dataclass(frozen=True, eq=False)
class Slots:
    """Of every pair of `live.pairs`: counted (judgements that fill a slot), needed, unjudgeable; filled: counted, at most needed."""

    counted: NDArray[np.int64]
    needed: NDArray[np.int64]
    unjudgeable: NDArray[np.bool_]

    @property
    def filled(self) -> NDArray[np.int64]:
        return np.minimum(self.counted, self.needed)


def slots(campaign: Campaign, live: Live) -> Slots:
    """The numbers that the scheduler keeps with the pairs, from the judgements."""
    return live.derived("slots", lambda: _slots(campaign, live))


def _slots(campaign: Campaign, live: Live) -> Slots:
    size, n = len(live.pairs), campaign.judgements_per_pair
    counted = np.bincount(live.pair[live.rows.standing == COUNTED], minlength=size)
    unjudgeable = np.zeros(size, dtype=bool)
    cannot = np.flatnonzero(np.bincount(live.pair[live.rows.standing == CANNOT], minlength=size) >= n)
    for start in range(0, len(cannot), BATCH):
        some = live.pairs.ids[cannot[start : start + BATCH]].tolist()
        bad = np.array(list(Pair.objects.filter(pk__in=some, unjudgeable=True).values_list("pk", flat=True)), dtype=np.int64)
        unjudgeable[live.pairs.index_of(bad)] = True
    needed = np.where(unjudgeable, counted, np.maximum(counted, n))
    return Slots(counted, needed, unjudgeable)


def of_slots(live: Live) -> NDArray[np.bool_]:
    """(n) of each row whether it counts towards what is needed: a counted judgement of an ordinary pair, not of gold."""
    return live.rows.counts & live.pairs.normal[live.pair]


def progress(campaign: Campaign, *, live: Live | None = None) -> Progress:
    """In a number of queries that depends neither on the annotators nor on the pairs."""
    live = live or live_rows(campaign)
    now = timezone.now()
    pairs, its = live.pairs, slots(campaign, live)
    normal = pairs.normal
    depths = _depths(campaign, live, its)
    complete_depth = 0
    for level in depths:
        if level.complete < level.pairs:
            break
        complete_depth = level.rank
    counted, needed = int(its.filled[normal].sum()), int(its.needed[normal].sum())
    leases = Lease.objects.filter(membership__campaign=campaign, state=Lease.State.LIVE, expires_at__gt=now)
    held = leases.aggregate(n=Count("pk"), people=Count("membership", distinct=True))
    moments = live.rows.judged_at[live.rows.counts]
    seconds = now.timestamp()
    remaining = needed - counted
    ahead = forecast(live.rows.judged_at[of_slots(live)], remaining=remaining, now=seconds, rng=np.random.default_rng(campaign.seed))
    return Progress(
        needed=needed,
        counted=counted,
        pairs=int(normal.sum()),
        complete=sum(level.complete for level in depths),
        depths=depths,
        complete_depth=complete_depth,
        one_judgement=int((normal & (its.counted == 1) & (its.needed > 1)).sum()),
        unjudgeable=int(its.unjudgeable.sum()),
        per_12h=int((moments > seconds - DAY / 2).sum()),
        per_24h=int((moments > seconds - DAY).sum()),
        active_now=held["people"],
        live_leases=held["n"],
        stalled=len(stalled_pairs(campaign, live)[0]),
        forecast=ahead,
        short_at_deadline=_short(campaign, live, its, ahead, remaining, now),
        moment=now,
    )


def _depths(campaign: Campaign, live: Live, its: Slots) -> list[Depth]:
    """By best rank, the highest priority first."""
    depth = campaign.pool.depth if campaign.pool else 0
    normal = live.pairs.normal
    values, level = live.pairs.levels
    counted, needed = its.counted[normal], its.needed[normal]

    def per_level(kept: NDArray[np.bool_]) -> list[int]:
        return np.bincount(level[kept], minlength=len(values)).tolist()  # type: ignore[no-any-return]

    columns = (per_level(np.ones(len(level), dtype=bool)), per_level(counted >= needed), per_level(counted > 0))
    return [Depth(depth + value, *numbers) for value, *numbers in zip(values.tolist(), *columns, strict=True)]


def _short(campaign: Campaign, live: Live, its: Slots, ahead: Forecast, remaining: int, now: datetime) -> int | None:
    """Pairs that will have fewer than two judgements at the deadline, at the present pace. None without deadline or pace."""
    if campaign.deadline is None or not ahead.per_day:
        return None
    days = max(0.0, (campaign.deadline - now).total_seconds() / DAY)
    capacity = min(remaining, round(ahead.per_day * days))
    order = live.pairs.serving_order
    return short_at_deadline(its.counted[order], its.needed[order], capacity=capacity)


def stalled_pairs(campaign: Campaign, live: Live, *, hours: int = 24) -> tuple[list[int], list[datetime]]:
    """Pairs with judgements, still short of some, on which nothing has happened for so long: no lease, no judgement.

    -> (row ids of the pairs, when each was judged last), the longest stalled first
    """
    its = slots(campaign, live)
    short = live.pairs.normal & (its.counted > 0) & (its.counted < its.needed) & ~its.unjudgeable
    last = live.derived("last judged", lambda: _last_judged(live))
    short &= last < (timezone.now() - timedelta(hours=hours)).timestamp()
    held = Lease.objects.filter(membership__campaign=campaign, state=Lease.State.LIVE, takes_slot=True).values_list("pair_id", flat=True)
    found = np.flatnonzero(short & ~np.isin(live.pairs.ids, list(held)))
    found = found[np.lexsort((found, last[found]))]
    return live.pairs.ids[found].tolist(), [datetime.fromtimestamp(moment, UTC) for moment in last[found].tolist()]


def _last_judged(live: Live) -> NDArray[np.float64]:
    """Of every pair when it was judged last, seconds since 1970; 0: never."""
    last = np.zeros(len(live.pairs))
    np.maximum.at(last, live.pair, live.rows.judged_at)
    return last


def heat_map(campaign: Campaign, live: Live, *, most: int = 60) -> tuple[list[str], list[int], list[list[float | None]], int]:
    """Share of judgements made, by topic and rank. -> (topics, ranks, shares with None where there is no pair, topics left out)

    The topics farthest from their end come first; beyond `most` the rest is left out.
    """
    depth = campaign.pool.depth if campaign.pool else 0
    its, normal = slots(campaign, live), live.pairs.normal
    priorities, level = live.pairs.levels
    topics, topic = np.unique(live.pairs.topic[normal], return_inverse=True)
    cell, shape = topic * max(len(priorities), 1) + level, (len(topics), len(priorities))
    filled, wanted = (np.bincount(cell, weights=n[normal], minlength=shape[0] * shape[1]).reshape(shape) for n in (its.filled, its.needed))
    share = filled.sum(axis=1) / np.maximum(wanted.sum(axis=1), 1)
    shown = np.argsort(share, kind="stable")[:most].tolist()
    values = [[float(f / w) if w else None for f, w in zip(filled[t].tolist(), wanted[t].tolist(), strict=True)] for t in shown]
    names = [live.pairs.topics[topics[t]] for t in shown]
    return names, [depth + value for value in priorities.tolist()], values, len(topics) - len(shown)

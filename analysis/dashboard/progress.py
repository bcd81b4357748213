"""Progress of a campaign: by depth and topic, its annotators' pace, and stalled pairs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import Any

import numpy as np
from django.db.models import Count
from django.utils import timezone
from numpy.typing import NDArray

from analysis.dashboard.headline import has_ended, judged_levels, last_complete_level
from analysis.judgements.live import CampaignSnapshot, get_snapshot
from analysis.judgements.rows import CANNOT_JUDGE, COUNTED, TOO_FAST
from annotation.models import Campaign, Lease, Membership, Pair
from annotation.selectors.judging import get_time_zone
from assay.campaigns.flags import has_many_too_fast
from assay.campaigns.forecast import Forecast, Forecaster, count_short_pairs
from assay.campaigns.working_days import add_working_days, count_working_days
from assay.natural_order import natural_sort_key
from pooling.models import Pool

DAY_SECONDS = 86400.0
BATCH = 500


@dataclass(frozen=True)
class DepthProgress:
    """Progress at one rank, batch or stage: numbers of all pairs, of complete ones (judged as often
    as needed) and of started ones."""

    rank: int
    pairs: int
    complete: int
    started: int

    @property
    def share(self) -> float:
        return self.complete / self.pairs if self.pairs else 0.0


@dataclass(frozen=True)
class CampaignProgress:
    """Progress and forecast of a campaign.

    needed: number of judgements needed in total. counted: judgements that count towards it.
    on_gold: further counted judgements, on gold questions and calibration pairs. complete_depth:
    last rank (batch, stage) down to which every pair is complete. by_deadline: the same at the
    deadline, by the forecast, None if unknown.
    """

    needed: int
    counted: int
    pairs: int
    complete: int
    depths: list[DepthProgress]
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
    by_deadline: int | None
    moment: datetime
    on_gold: int = 0

    @property
    def share(self) -> float:
        return self.counted / self.needed if self.needed else 0.0


@dataclass(frozen=True)
class AnnotatorActivity:
    """The number of annotators in a campaign, and their pace.

    n_annotators: number who have joined and are not excluded. n_active: number who have judged
    within one working day before now. needed_per_day: judgements per working day that the deadline
    requires, None without a deadline or if judging has ended.
    """

    n_annotators: int
    n_active: int
    needed_per_day: int | None


@dataclass(frozen=True)
class FastAnnotator:
    """An annotator with many judgements below the minimum time. n_fast: number of these judgements,
    among all that the annotator submitted."""

    pseudonym: str
    n_fast: int
    submitted: int


@dataclass(frozen=True, eq=False)
class SlotCounts:
    """Numbers of judgements of each pair, in the order of `live.pairs`.

    counted: judgements that count towards the needed number. filled: the same, at most the needed
    number. left: whether the pair is beyond the judging depth and has no judgements, so that it
    needs none but is not complete either.
    """

    counted: NDArray[np.int64]
    needed: NDArray[np.int64]
    unjudgeable: NDArray[np.bool_]
    left: NDArray[np.bool_]

    @property
    def filled(self) -> NDArray[np.int64]:
        return np.minimum(self.counted, self.needed)


def count_slots(campaign: Campaign, live: CampaignSnapshot) -> SlotCounts:
    """Count each pair's judgements from the rows, as the scheduler counts them with each pair."""
    return live.derived("slots", lambda: _compute_slots(campaign, live))


def _compute_slots(campaign: Campaign, live: CampaignSnapshot) -> SlotCounts:
    size, n = len(live.pairs), campaign.judgements_per_pair
    counted = np.bincount(live.pair[live.rows.status == COUNTED], minlength=size)
    unjudgeable = np.zeros(size, dtype=bool)
    cannot = np.flatnonzero(
        np.bincount(live.pair[live.rows.status == CANNOT_JUDGE], minlength=size) >= n
    )
    for start in range(0, len(cannot), BATCH):
        some = live.pairs.ids[cannot[start : start + BATCH]].tolist()
        bad = np.array(
            list(Pair.objects.filter(pk__in=some, unjudgeable=True).values_list("pk", flat=True)),
            dtype=np.int64,
        )
        unjudgeable[live.pairs.index_of(bad)] = True
    left = live.pairs.beyond_depth & live.pairs.normal & (counted == 0)
    needed = np.where(unjudgeable | left, counted, np.maximum(counted, n + live.pairs.asked_more))
    return SlotCounts(counted, needed, unjudgeable, left)


def fills_slot_mask(live: CampaignSnapshot) -> NDArray[np.bool_]:
    """Return for each judgement whether it counts towards the number that its pair needs: a counted
    judgement of an ordinary pair, not of a gold question. Shape (n,)."""
    return live.rows.counts & live.pairs.normal[live.pair]


def make_forecaster(campaign: Campaign, live: CampaignSnapshot, now: datetime) -> Forecaster:
    """Create the forecaster of a campaign at time `now`. Its days are in the time zone of the
    campaign's creator."""
    return Forecaster.from_times(
        live.rows.judged_at[fills_slot_mask(live)],
        now=now.timestamp(),
        zone=get_time_zone(campaign.created_by),
    )


def compute_progress(
    campaign: Campaign, *, live: CampaignSnapshot | None = None
) -> CampaignProgress:
    """Compute a campaign's progress. The number of queries depends neither on the number of
    annotators nor on the number of pairs."""
    live = live or get_snapshot(campaign)
    now = timezone.now()
    pairs, its = live.pairs, count_slots(campaign, live)
    normal = pairs.normal
    depths = _progress_by_depth(campaign, live, its)
    complete_depth = 0
    for level in depths:
        if level.complete < level.pairs:
            break
        complete_depth = level.rank
    counted, needed = int(its.filled[normal].sum()), int(its.needed[normal].sum())
    leases = Lease.objects.filter(
        membership__campaign=campaign, state=Lease.State.LIVE, expires_at__gt=now
    )
    held = leases.aggregate(n=Count("pk"), people=Count("membership", distinct=True))
    moments = live.rows.judged_at[live.rows.counts]
    seconds = now.timestamp()
    remaining = needed - counted
    ahead, room = _forecast_with_capacity(campaign, make_forecaster(campaign, live, now), remaining)
    return CampaignProgress(
        needed=needed,
        counted=counted,
        pairs=int(normal.sum()),
        complete=sum(level.complete for level in depths),
        depths=depths,
        complete_depth=complete_depth,
        one_judgement=int((normal & (its.counted == 1) & (its.needed > 1)).sum()),
        unjudgeable=int(its.unjudgeable.sum()),
        per_12h=int((moments > seconds - DAY_SECONDS / 2).sum()),
        per_24h=int((moments > seconds - DAY_SECONDS).sum()),
        active_now=held["people"],
        live_leases=held["n"],
        stalled=len(find_stalled_pairs(campaign, live)[0]),
        forecast=ahead,
        short_at_deadline=_count_short_pairs(live, its, room),
        by_deadline=_level_by_deadline(campaign, live, its, room),
        moment=now,
        on_gold=int(live.rows.counts.sum()) - int(fills_slot_mask(live).sum()),
    )


def compute_activity(
    campaign: Campaign, live: CampaignSnapshot, now: CampaignProgress
) -> AnnotatorActivity:
    """Compute the annotators' activity in one query. Days are in the time zone of the campaign's
    creator."""
    zone, seconds = get_time_zone(campaign.created_by), now.moment.timestamp()
    lately = live.rows.counts & (live.rows.judged_at > add_working_days(seconds, -1.0, zone))
    needed = None
    if campaign.deadline is not None and not has_ended(campaign):
        days = count_working_days(seconds, campaign.deadline.timestamp(), zone)
        needed = ceil((now.needed - now.counted) / max(days, 1.0))
    members = campaign.memberships.filter(role=Membership.Role.ANNOTATOR)
    return AnnotatorActivity(
        n_annotators=members.exclude(status=Membership.Status.EXCLUDED).count(),
        n_active=len(np.unique(live.rows.annotator[lately])),
        needed_per_day=needed,
    )


def extension_costs(pool: Pool, n_pairs: int) -> list[dict[str, Any]]:
    """Return what `n_pairs` further pairs of the pool would cost each of its campaigns: judgements,
    hours, and the forecast with and without them."""
    rows = []
    for campaign in Campaign.objects.filter(pool=pool).order_by("name"):
        live = get_snapshot(campaign)
        its, more = count_slots(campaign, live), n_pairs * campaign.judgements_per_pair
        normal = live.pairs.normal
        remaining = int(its.needed[normal].sum()) - int(its.filled[normal].sum())
        forecaster = make_forecaster(campaign, live, timezone.now())
        ends = [
            _forecast_with_capacity(campaign, forecaster, n)[0].expected
            for n in (remaining, remaining + more)
        ]
        rows.append(
            {
                "campaign": campaign.name,
                "slug": campaign.slug,
                "state": campaign.state,
                "judgements": more,
                "hours": more * campaign.expected_seconds / 3600,
                "end": [
                    None if at is None else datetime.fromtimestamp(at, UTC).isoformat()
                    for at in ends
                ],
                "deadline": campaign.deadline.isoformat() if campaign.deadline else None,
                "late": bool(
                    campaign.deadline
                    and ends[1] is not None
                    and ends[1] > campaign.deadline.timestamp()
                ),
            }
        )
    return rows


def list_fast_annotators(campaign: Campaign, live: CampaignSnapshot) -> list[FastAnnotator]:
    """Return annotators with many judgements below the minimum time, those with most first.
    Excluded annotators are left out."""
    rows = live.rows
    size = len(rows.annotators)
    fast = np.bincount(rows.annotator[rows.status == TOO_FAST], minlength=size)
    others = np.bincount(
        rows.annotator[rows.counts | (rows.status == CANNOT_JUDGE)], minlength=size
    )
    suspects = [
        FastAnnotator(name, int(n), int(n + rest))
        for name, n, rest in zip(rows.annotators, fast, others, strict=True)
        if has_many_too_fast(int(n), int(n + rest))
    ]
    status = {} if not suspects else dict(campaign.memberships.values_list("pseudonym", "status"))
    suspects = [one for one in suspects if status.get(one.pseudonym) != Membership.Status.EXCLUDED]
    return sorted(suspects, key=lambda one: (-one.n_fast, one.pseudonym))


def _progress_by_depth(
    campaign: Campaign, live: CampaignSnapshot, slots: SlotCounts
) -> list[DepthProgress]:
    """Return the progress of each level of the pool (rank, batch or stage), highest priority
    first."""
    normal = live.pairs.normal
    values, level = live.pairs.levels
    counted, complete = (
        slots.counted[normal],
        ((slots.counted >= slots.needed) & ~slots.left)[normal],
    )

    def per_level(pairs_mask: NDArray[np.bool_]) -> list[int]:
        return np.bincount(level[pairs_mask], minlength=len(values)).tolist()  # type: ignore[no-any-return]

    columns = (
        per_level(np.ones(len(level), dtype=bool)),
        per_level(complete),
        per_level(counted > 0),
    )
    return [
        DepthProgress(campaign.level_of(-value), *numbers)
        for value, *numbers in zip(values.tolist(), *columns, strict=True)
    ]


def _forecast_with_capacity(
    campaign: Campaign, forecaster: Forecaster, remaining: int
) -> tuple[Forecast, float | None]:
    """Return the forecast, and the number of the remaining judgements expected by the deadline.

    The number is None without a deadline or a forecast. If judging has ended, the forecast only
    contains the reason why there is none.
    """
    if remaining and has_ended(campaign):
        why = (
            "The campaign is closed."
            if campaign.state == Campaign.State.CLOSED
            else "The deadline has passed."
        )
        return Forecast(reason=why), None
    until = None if campaign.deadline is None else campaign.deadline.timestamp()
    return forecaster.forecast(
        remaining
    ), None if until is None else forecaster.predict_judgements_until(until, remaining=remaining)


def _count_short_pairs(live: CampaignSnapshot, slots: SlotCounts, room: float | None) -> int | None:
    """Count the pairs for which fewer than two judgements are expected by the deadline."""
    if room is None:
        return None
    order = live.pairs.serving_order
    return count_short_pairs(slots.counted[order], slots.needed[order], capacity=round(room))


def _level_by_deadline(
    campaign: Campaign, live: CampaignSnapshot, slots: SlotCounts, room: float | None
) -> int | None:
    if room is None:
        return None
    normal = live.pairs.normal
    values, level = live.pairs.levels
    missing = np.bincount(
        level, weights=(slots.needed - slots.filled)[normal], minlength=len(values)
    )
    return last_complete_level(campaign, judged_levels(campaign, (-values).tolist()), missing, room)


def find_stalled_pairs(
    campaign: Campaign, live: CampaignSnapshot, *, hours: int = 24
) -> tuple[list[int], list[datetime]]:
    """Find pairs that have some but not all judgements and have had neither a lease nor a judgement
    for `hours`.

    Returns their row IDs and the times of their last judgements, longest stalled first.
    """
    its = count_slots(campaign, live)
    short = live.pairs.normal & (its.counted > 0) & (its.counted < its.needed) & ~its.unjudgeable
    last = live.derived("last judged", lambda: _last_judged_times(live))
    short &= last < (timezone.now() - timedelta(hours=hours)).timestamp()
    held = Lease.objects.filter(
        membership__campaign=campaign, state=Lease.State.LIVE, takes_slot=True
    ).values_list("pair_id", flat=True)
    stalled = np.flatnonzero(short & ~np.isin(live.pairs.ids, list(held)))
    stalled = stalled[np.lexsort((stalled, last[stalled]))]
    return live.pairs.ids[stalled].tolist(), [
        datetime.fromtimestamp(moment, UTC) for moment in last[stalled].tolist()
    ]


def _last_judged_times(live: CampaignSnapshot) -> NDArray[np.float64]:
    """Return the time of each pair's last judgement in seconds since 1970, 0 for unjudged pairs."""
    last = np.zeros(len(live.pairs))
    np.maximum.at(last, live.pair, live.rows.judged_at)
    return last


def progress_heat_map(
    campaign: Campaign, live: CampaignSnapshot, *, most: int = 60
) -> tuple[list[str], list[int], list[list[float | None]], int]:
    """Compute the share of the needed judgements that have been made, by topic and level (rank,
    batch or stage).

    Returns topics, levels, shares (None if there are no pairs) and the number of topics left out.
    With more than `most` topics, the least complete are kept. Ties are broken by name.
    """
    its, normal = count_slots(campaign, live), live.pairs.normal
    priorities, level = live.pairs.levels
    topics, topic = np.unique(live.pairs.topic[normal], return_inverse=True)
    cell, shape = topic * max(len(priorities), 1) + level, (len(topics), len(priorities))
    filled, wanted = (
        np.bincount(cell, weights=n[normal], minlength=shape[0] * shape[1]).reshape(shape)
        for n in (its.filled, its.needed)
    )
    share = filled.sum(axis=1) / np.maximum(wanted.sum(axis=1), 1)
    by_name = sorted(
        range(len(topics)), key=lambda t: natural_sort_key(live.pairs.topics[topics[t]])
    )
    least = set(sorted(by_name, key=share.__getitem__)[:most])
    shown = [t for t in by_name if t in least]
    values = [
        [
            float(f / w) if w else None
            for f, w in zip(filled[t].tolist(), wanted[t].tolist(), strict=True)
        ]
        for t in shown
    ]
    names = [live.pairs.topics[topics[t]] for t in shown]
    return (
        names,
        [campaign.level_of(-value) for value in priorities.tolist()],
        values,
        len(topics) - len(shown),
    )

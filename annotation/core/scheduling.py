"""Rules for assigning pairs to annotators that need no database
(docs/reference/methods/judging.md)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from datetime import datetime, time, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo


class SpecialPairSpacing(NamedTuple):
    """The spacing of gold and calibration pairs: one in each window of `every` assigned pairs, with
    `n_gold` gold pairs up to the target."""

    every: int
    n_gold: int


def make_special_pair_spacing(
    *, target: int | None, n_everyone: int, n_gold: int, gold_every: int
) -> SpecialPairSpacing | None:
    """Return the spacing of gold and calibration pairs in one annotator's sequence, or None if
    there are none.

    Every annotator judges all calibration pairs, and a gold pair at most once per `gold_every`
    pairs. A target of T pairs therefore includes k = n_everyone + min(n_gold, T // gold_every) of
    them, one in each window of T // k. Without a target, the window is `gold_every`. gold_every=0:
    gold pairs are assigned only after all other pairs.
    """
    if target:
        planned_gold = min(n_gold, target // gold_every) if gold_every else 0
        planned = n_everyone + planned_gold
        if planned == 0:
            return None
        return SpecialPairSpacing(max(1, target // planned), planned_gold)
    if n_everyone + (n_gold if gold_every else 0) == 0:
        return None
    return SpecialPairSpacing(max(1, gold_every), n_gold if gold_every else 0)


def is_special_turn(turn: int, *, every: int, seed: int) -> bool:
    """Return whether the annotator's pair number `turn` (from 0) is a gold or calibration pair.

    Each window of `every` turns has exactly one, at a position drawn with the annotator's seed.
    They are evenly spread, and annotators cannot predict them from their own sequence or another's.
    """
    window, place = divmod(turn, every)
    return _draw_number(seed, "window", window) % every == place


def order_special_pairs(
    *, everyone: Iterable[int], gold: Iterable[int], n_gold: int, seed: int
) -> list[int]:
    """Return the order of gold and calibration pairs for one annotator, drawn with the annotator's
    seed.

    All calibration pairs and `n_gold` gold pairs are mixed, followed by the other gold pairs. Pairs
    that are added later do not change the relative order of the others.
    """
    gold_by_lot = sorted(gold, key=lambda pair: (_draw_number(seed, "gold", pair), pair))
    planned = [*everyone, *gold_by_lot[:n_gold]]
    return (
        sorted(planned, key=lambda pair: (_draw_number(seed, "order", pair), pair))
        + gold_by_lot[n_gold:]
    )


def _draw_number(seed: int, purpose: str, number: int) -> int:
    """Derive a pseudo-random whole number below 2**64 from the three arguments."""
    digest = hashlib.blake2b(f"{seed}|{purpose}|{number}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big")


def is_near_deadline(now: datetime, *, deadline: datetime | None, hours: int) -> bool:
    """Return whether the deadline is within `hours`, so that partly judged pairs come first."""
    return deadline is not None and hours > 0 and deadline - timedelta(hours=hours) <= now


def stays_in_block(*, served: int, length: int) -> bool:
    """Return whether the next pair should have the same topic, after `served` consecutive pairs of
    it."""
    return length > 1 and served < length


def day_start(now: datetime, zone: ZoneInfo) -> datetime:
    """Return the last midnight in the annotator's time zone as an aware datetime."""
    return datetime.combine(now.astimezone(zone).date(), time(), zone)


def max_leases(
    *, want: int, judged: int, target: int | None, today: int, daily_limit: int | None
) -> int:
    """Return the maximum number of active leases of an annotator: `want`, limited by the target and
    the daily limit."""
    bounds = [want]
    if target is not None:
        bounds.append(target - judged)
    if daily_limit is not None:
        bounds.append(daily_limit - today)
    return max(0, min(bounds))


def choose_partner(shared: Sequence[tuple[int, int]], *, common: int) -> int | None:
    """Choose the annotator with whom another annotator shares further pairs (annotation overlap).
    shared: (annotator, pairs shared so far). The result has the most shared pairs below `common`,
    the lowest id among ties, and is None if there is no such annotator."""
    short = [(-n, annotator) for annotator, n in shared if 0 < n < common]
    return min(short)[1] if short else None


def compute_rank_window(priority: int, *, highest: int, width: int) -> int:
    """Return the rank window of a priority, from 1. A window has `width` adjacent priorities,
    counted down from the campaign's highest.

    With a pool of depth 10 and width 3, the windows are ranks 1–3, 4–6, 7–9, and 10.
    """
    return 1 + max(0, highest - priority) // width

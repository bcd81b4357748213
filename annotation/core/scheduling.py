"""What comes next for an annotator, as far as it can be said without the database (METHODS 3)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from datetime import datetime, time, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo


class SpecialPairSpacing(NamedTuple):
    """How gold and everyone pairs are spread: one in each window of `every` pairs served; `n_gold`
    gold pairs until the target."""

    every: int
    n_gold: int


def make_special_pair_spacing(
    *, target: int | None, n_everyone: int, n_gold: int, gold_every: int
) -> SpecialPairSpacing | None:
    """The spacing of gold and everyone pairs over one annotator's sequence (ours); None when there
    are none to serve.

    Every annotator gets all everyone pairs and, at most every `gold_every` pairs, a gold pair, so
    within a target of T pairs there are n_everyone + min(n_gold, T // gold_every) of them, one in
    each window of T // that number. Without a target one in `gold_every`. gold_every 0: no gold
    pairs before the others are used up."""
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
    """Whether the annotator's pair number `turn` (from 0) is a gold or everyone pair.

    Each window of `every` turns holds exactly one, at a place drawn from the annotator's own seed:
    even over the sequence, and not to be guessed from the sequence or from another annotator's."""
    window, place = divmod(turn, every)
    return _draw_number(seed, "window", window) % every == place


def order_special_pairs(
    *, everyone: Iterable[int], gold: Iterable[int], n_gold: int, seed: int
) -> list[int]:
    """The order in which one annotator meets gold and everyone pairs, from the annotator's own
    seed.

    First all everyone pairs and `n_gold` gold pairs, mixed; then the remaining gold pairs. Adding
    pairs later does not reorder the others among themselves."""
    gold_by_lot = sorted(gold, key=lambda pair: (_draw_number(seed, "gold", pair), pair))
    planned = [*everyone, *gold_by_lot[:n_gold]]
    return (
        sorted(planned, key=lambda pair: (_draw_number(seed, "order", pair), pair))
        + gold_by_lot[n_gold:]
    )


def _draw_number(seed: int, purpose: str, number: int) -> int:
    """A whole number below 2**64 that depends on all three and on nothing else."""
    digest = hashlib.blake2b(f"{seed}|{purpose}|{number}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big")


def is_near_deadline(now: datetime, *, deadline: datetime | None, hours: int) -> bool:
    """Whether the deadline is so near that pairs which have judgements come before all others
    (ours)."""
    return deadline is not None and hours > 0 and deadline - timedelta(hours=hours) <= now


def stays_in_block(*, served: int, length: int) -> bool:
    """Whether the next pair should be of the current topic, `served` pairs of which were served in
    a row."""
    return length > 1 and served < length


def day_start(now: datetime, zone: ZoneInfo) -> datetime:
    """The last midnight by the annotator's own clock, as an aware datetime."""
    return datetime.combine(now.astimezone(zone).date(), time(), zone)


def max_leases(
    *, want: int, judged: int, target: int | None, today: int, daily_limit: int | None
) -> int:
    """How many live leases an annotator may hold: what is wanted, never past the target or the
    day's limit."""
    bounds = [want]
    if target is not None:
        bounds.append(target - judged)
    if daily_limit is not None:
        bounds.append(daily_limit - today)
    return max(0, min(bounds))


def choose_partner(shared: Sequence[tuple[int, int]], *, common: int) -> int | None:
    """Of (annotator, pairs shared so far), the one to share more with: the most shared below
    `common`, then the lowest id."""
    short = [(-n, annotator) for annotator, n in shared if 0 < n < common]
    return min(short)[1] if short else None


def compute_band(priority: int, *, highest: int, width: int) -> int:
    """The band of a priority, from 1 on: bands are `width` neighbouring priorities, counted from
    the campaign's highest one down.

    With a pool of depth 10 and width 3: ranks 1 to 3, 4 to 6, 7 to 9, and 10.
    """
    return 1 + max(0, highest - priority) // width

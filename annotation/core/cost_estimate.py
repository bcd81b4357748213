"""What a campaign costs before it has begun."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import timedelta
from typing import NamedTuple


class Workload(NamedTuple):
    """judgements: of all annotators together. annotators: to finish at their target each, who judge
    no pair twice; None where they have none."""

    judgements: int
    annotators: int | None


def estimate_workload(
    n_pairs: int, *, per_pair: int, n_special: int = 0, gold_every: int = 20, target: int = 0
) -> Workload:
    """n_pairs: ordinary ones, `per_pair` judgements each. n_special: gold and everyone pairs, which
    each annotator judges.

    One pair in `gold_every` of an annotator's target is a special one as long as there are some, so
    it fills no ordinary pair (ours). Without a target the special pairs are counted once a
    judgement per pair, the least that they should have."""
    ordinary = n_pairs * per_pair
    if not target:
        return Workload(ordinary + n_special * per_pair, None)
    special = min(n_special, target // gold_every, target - 1)
    annotators = -(-ordinary // max(1, min(target - special, n_pairs)))
    return Workload(ordinary + annotators * special, annotators)


def max_calendar_days(left: timedelta) -> int:
    """Days of the calendar that this time touches at most, in whichever time zone: annotators' days
    begin at their own midnight."""
    return math.ceil(left / timedelta(days=1)) + 1


def max_judgements_in_time(
    annotators: Iterable[tuple[int | None, int | None]], *, n_days: int, n_pairs: int
) -> int:
    """Judgements that annotators may make on so many days, each no more than there are pairs.
    annotators: (target, daily limit), None for none."""
    return sum(
        min(target or n_pairs, n_pairs if limit is None else limit * n_days, n_pairs)
        for target, limit in annotators
    )

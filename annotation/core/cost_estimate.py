"""Estimates of a campaign's workload before it opens."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import timedelta
from typing import NamedTuple


class Workload(NamedTuple):
    """The workload of a campaign.

    judgements: total over all annotators. annotators: the number needed if each reaches the target
    and judges each pair at most once, None without a target.
    """

    judgements: int
    annotators: int | None


def estimate_workload(
    n_pairs: int, *, per_pair: int, n_special: int = 0, gold_every: int = 20, target: int = 0
) -> Workload:
    """Estimate the number of judgements and annotators that a campaign needs.

    n_pairs: ordinary pairs, with `per_pair` judgements each. n_special: gold and calibration pairs,
    which every annotator judges.

    Gold and calibration pairs take one of `gold_every` judgements of an annotator's target until
    they are used up. Without a target they are counted with `per_pair` judgements each, which is
    the minimum.
    """
    ordinary = n_pairs * per_pair
    if not target:
        return Workload(ordinary + n_special * per_pair, None)
    special = min(n_special, target // gold_every, target - 1)
    annotators = -(-ordinary // max(1, min(target - special, n_pairs)))
    return Workload(ordinary + annotators * special, annotators)


def max_calendar_days(left: timedelta) -> int:
    """Return the largest number of calendar days that a period can touch in any time zone. The days
    of annotators begin at their local midnight."""
    return math.ceil(left / timedelta(days=1)) + 1


def max_judgements_in_time(
    annotators: Iterable[tuple[int | None, int | None]], *, n_days: int, n_pairs: int
) -> int:
    """Return the largest number of judgements that annotators can make in `n_days` days, at most
    one per annotator and pair. annotators: (target, daily limit), each None if there is no limit.
    """
    return sum(
        min(target or n_pairs, n_pairs if limit is None else limit * n_days, n_pairs)
        for target, limit in annotators
    )

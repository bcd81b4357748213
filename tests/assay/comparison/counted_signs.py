"""The signed-rank test by its definition, counting sign patterns in integers."""

from __future__ import annotations

import numpy as np
import scipy.stats


def counted_signed_rank(differences: np.ndarray) -> float:
    """Compute the exact signed-rank test by counting, in integers, how many of all 2^n sign
    patterns give each sum of doubled mean ranks."""
    d = np.round(differences, 12)
    d = d[d != 0]
    doubled = [round(2 * rank) for rank in scipy.stats.rankdata(np.abs(d))]
    ways = {0: 1}
    for rank in doubled:
        further = dict(ways)
        for total, count in ways.items():
            further[total + rank] = further.get(total + rank, 0) + count
        ways = further
    positive = sum(rank for rank, value in zip(doubled, d, strict=True) if value > 0)
    smaller = min(positive, sum(doubled) - positive)
    return min(
        1.0, 2 * sum(count for total, count in ways.items() if total <= smaller) / 2 ** len(d)
    )

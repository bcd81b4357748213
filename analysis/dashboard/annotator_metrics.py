"""Statistics of each annotator's own judgements, computed for all annotators together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.judgements.live import CampaignSnapshot
from analysis.judgements.rows import CANNOT_JUDGE, EXCLUDED, NO_GRADE, TOO_FAST, JudgementRows

Floats = NDArray[np.float64]
QUARTILES = (0.25, 0.5, 0.75)
MAX_CELLS = 20_000_000
"""Maximum size in bytes of a table of annotators by topics. Larger data is counted by sorting
(annotator, topic) pairs."""


@dataclass(frozen=True, eq=False)
class AnnotatorColumns:
    """Statistics of all annotators as columns, in the order of the annotator codes of the rows.

    n: counted judgements. n_kept, counts (n, grades), quartiles (n, 3) and medians (n, grades) also
    include judgements that an exclusion removed. Times are in seconds, NaN if undefined. active_s:
    active time of all judgements with a time, whatever their status. n_topics: topics with at least
    one judgement. last: time of the last judgement in seconds since 1970.
    """

    code: dict[str, int]
    n: NDArray[np.int64]
    n_kept: NDArray[np.int64]
    n_fast: NDArray[np.int64]
    n_cannot: NDArray[np.int64]
    n_extra: NDArray[np.int64]
    n_topics: NDArray[np.int64]
    active_s: Floats
    counts: Floats
    quartiles: Floats
    medians: Floats
    last: Floats


def get_annotator_columns(live: CampaignSnapshot, n_grades: int) -> AnnotatorColumns:
    """Return the statistics of all annotators, computed again only if the judgements have
    changed."""
    return live.derived("own statistics", lambda: compute_annotator_columns(live.rows, n_grades))


def compute_annotator_columns(rows: JudgementRows, n_grades: int) -> AnnotatorColumns:
    size, person = len(rows.annotators), rows.annotator
    kept, graded, fast = (
        counted_before_exclusion(rows),
        rows.grade != NO_GRADE,
        rows.status == TOO_FAST,
    )

    def number(which: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.bincount(person[which], minlength=size)

    cell = person[kept].astype(np.int64) * n_grades + rows.grade[kept]
    last = np.full(size, -np.inf)
    np.maximum.at(last, person, rows.judged_at)
    n_fast = number(fast)
    return AnnotatorColumns(
        code={name: place for place, name in enumerate(rows.annotators)},
        n=number(rows.counts),
        n_kept=number(kept),
        n_fast=n_fast,
        n_cannot=number(rows.status == CANNOT_JUDGE),
        n_extra=number(graded & ~kept) - n_fast,
        n_topics=count_distinct_by_group(person, rows.topic, size, len(rows.topics)),
        active_s=np.bincount(person, weights=np.nan_to_num(rows.active), minlength=size).astype(
            np.float64
        ),
        counts=np.bincount(cell, minlength=size * n_grades).reshape(size, n_grades).astype(float),
        quartiles=quantiles_by_group(rows.active[kept], person[kept], size, QUARTILES),
        medians=quantiles_by_group(rows.active[kept], cell, size * n_grades, (0.5,)).reshape(
            size, n_grades
        ),
        last=np.where(np.isfinite(last), last, np.nan),
    )


def counted_before_exclusion(rows: JudgementRows) -> NDArray[np.bool_]:
    """Return for each judgement whether it counts, or would count if its annotator were not
    excluded. Shape (n,)."""
    return rows.counts | ((rows.status == EXCLUDED) & (rows.grade != NO_GRADE))


def count_distinct_by_group(
    group: NDArray[np.integer], value: NDArray[np.integer], n_groups: int, n_values: int
) -> NDArray[np.int64]:
    """Count the distinct values in each group. Values are integers from 0 to n_values - 1. The
    result has shape (n_groups,)."""
    cell = group.astype(np.int64) * max(n_values, 1) + value
    if n_groups * n_values > MAX_CELLS:
        return np.bincount(np.unique(cell) // max(n_values, 1), minlength=n_groups)
    seen = np.zeros((n_groups, max(n_values, 1)), dtype=bool)
    seen.ravel()[cell] = True
    return seen.sum(axis=1)


def quantiles_by_group(
    values: Floats, group: NDArray[np.integer], n_groups: int, shares: tuple[float, ...]
) -> Floats:
    """Return quantiles of the values in each group, ignoring NaN, in shape (n_groups, shares). They
    are interpolated linearly, as by numpy, and NaN for a group without values."""
    known = ~np.isnan(values)
    values, group = values[known], group[known]
    order = np.argsort(values)
    # numpy sorts 16-bit integers with a fast radix sort
    narrow = group[order].astype(np.uint16 if n_groups < 2**16 else np.int64)
    values = values[order[np.argsort(narrow, kind="stable")]]
    n = np.bincount(group, minlength=n_groups)
    first = np.cumsum(n) - n
    place = np.asarray(shares) * np.maximum(n - 1, 0)[:, None]
    low = np.floor(place).astype(np.int64)
    result = np.full((n_groups, len(shares)), np.nan)
    some = n > 0
    below = values[(first[:, None] + low)[some]]
    above = values[(first[:, None] + np.minimum(low + 1, np.maximum(n - 1, 0)[:, None]))[some]]
    result[some] = below + (above - below) * (place - low)[some]
    return result

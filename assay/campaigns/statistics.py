"""Descriptive statistics of an annotation campaign (TripJudge, Althammer et al. 2022, table 1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.labels.aggregation.majority import majority
from assay.labels.labels import LabelTable, find_scale_warnings

HALF_DAY_SECONDS = 12 * 60 * 60.0
DAY_SECONDS = 24 * 60 * 60.0
HIGH_SHARE = 0.5
"""A relevant share of labels above this is unusual. A third to a half is usual."""


class GradeStatistics(NamedTuple):
    n: int
    share: float
    """Share of all judgements, NaN without judgements."""
    mean_seconds: float
    """Mean over the judgements with a known time, NaN if there are none. The median is likewise."""
    median_seconds: float


class TopicSeconds(NamedTuple):
    n: int
    """Number of judgements with a known time."""
    mean_seconds: float


class RankCoverage(NamedTuple):
    """Numbers of pairs whose best rank in the pool is a given rank."""

    pairs: int
    judged: int
    """Pairs with at least one counted judgement."""
    labelled: int
    """Pairs with enough counted judgements for a label."""


@dataclass(frozen=True, eq=False)
class CampaignStatistics:
    """Statistics of the counted judgements. Undefined means are NaN. A field is None if its input
    (times, pool, collection size) was not given.

    per_12h: (start, n) of each half day from the first judgement to the last, including empty ones.
    Starts are seconds since 1970, at 0:00 and 12:00 UTC. daily_seconds: (start of the day in UTC,
    mean seconds by grade) of each day with a known time, NaN for grades not given that day.
    topic_seconds: mean seconds of each topic with a judgement, NaN if no time is known.
    complete_depth: the deepest rank down to which every pair of the pool has a label, 0 if rank 1
    is incomplete. relevant_share: share of relevant labels, with each judgement binarised before
    aggregation.
    """

    topics: int
    documents: int | None
    pairs: int
    labelled_pairs: int
    judgements: int
    per_pair: float
    per_labelled_pair: float
    grades: dict[int, GradeStatistics]
    annotators: int
    per_annotator: float
    mean_seconds: float
    per_12h: list[tuple[float, int]] | None
    daily_seconds: list[tuple[float, dict[int, float]]] | None
    topic_seconds: dict[str, TopicSeconds]
    complete_depth: int | None
    coverage: dict[int, RankCoverage] | None
    relevant_share: float
    relevant_share_per_topic: dict[str, float]
    warnings: list[str]


def compute_campaign_statistics(
    table: LabelTable,
    *,
    min_relevant: int,
    min_judgements: int = 2,
    documents: int | None = None,
    pool: Iterable[tuple[str, str, int]] | None = None,
) -> CampaignStatistics:
    """Compute the statistics of a campaign.

    min_relevant: minimum relevant grade. min_judgements: number of counted judgements from which a
    pair is labelled. documents: number of documents in the collection. pool: (topic ID, document
    ID, best rank) of each pair to judge.
    """
    labels = majority(table.binarise(min_relevant), min_judgements=min_judgements)
    n, n_pairs = len(table), table.n_pairs
    labelled = labels.is_labelled
    relevant_share = labels.relevant_share()
    warnings = find_scale_warnings(table)
    if relevant_share > HIGH_SHARE:
        warnings.append(
            f"{100 * relevant_share:.1f}% of the labels are relevant, more than the usual third to half"
        )
    coverage = None
    if pool is not None:
        coverage, outside = _compute_coverage(table, labelled, list(pool))
        if outside:
            warnings.append(f"{outside} judged pairs are not in the pool")
    return CampaignStatistics(
        topics=len(table.topics),
        documents=documents,
        pairs=n_pairs,
        labelled_pairs=int(labelled.sum()),
        judgements=n,
        per_pair=_ratio_or_nan(n, n_pairs),
        per_labelled_pair=_ratio_or_nan(
            int(table.judgements_per_pair[labelled].sum()), int(labelled.sum())
        ),
        grades=compute_grade_statistics(table),
        annotators=table.n_annotators,
        per_annotator=_ratio_or_nan(n, table.n_annotators),
        mean_seconds=_ratio_or_nan(
            float(np.nansum(table.seconds)), int((~np.isnan(table.seconds)).sum())
        ),
        per_12h=count_by_half_day(table.judged_at),
        daily_seconds=mean_seconds_by_day(table),
        topic_seconds=mean_seconds_by_topic(table),
        complete_depth=None if coverage is None else find_complete_depth(coverage),
        coverage=coverage,
        relevant_share=relevant_share,
        relevant_share_per_topic=labels.relevant_share_per_topic(),
        warnings=warnings,
    )


def _ratio_or_nan(total: float, n: int) -> float:
    return total / n if n else float("nan")


def compute_grade_statistics(table: LabelTable) -> dict[int, GradeStatistics]:
    """Return the number, share and times of the judgements with each grade of the scale."""
    result = {}
    for grade in range(table.n_grades):
        given = table.grade == grade
        seconds = table.seconds[given]
        seconds = seconds[~np.isnan(seconds)]
        mean, median = (
            (float(seconds.mean()), float(np.median(seconds)))
            if len(seconds)
            else (float("nan"), float("nan"))
        )
        result[grade] = GradeStatistics(
            int(given.sum()), _ratio_or_nan(int(given.sum()), len(table)), mean, median
        )
    return result


def count_by_half_day(judged_at: NDArray[np.float64]) -> list[tuple[float, int]] | None:
    """Return (start, n) of each half day from the first judgement to the last, or None if no
    judgement has a date."""
    dated = judged_at[~np.isnan(judged_at)]
    if not len(dated):
        return None
    half_days = np.floor(dated / HALF_DAY_SECONDS).astype(np.int64)
    first = int(half_days.min())
    return [
        ((first + i) * HALF_DAY_SECONDS, n)
        for i, n in enumerate(np.bincount(half_days - first).tolist())
    ]


def mean_seconds_by_day(table: LabelTable) -> list[tuple[float, dict[int, float]]] | None:
    """Return (start of the day, mean seconds by grade) of each day with a judgement whose time is
    known, or None without such days.

    A drop suggests random judgements (TripJudge, Althammer et al. 2022, section 2.3).
    """
    known = ~np.isnan(table.judged_at) & ~np.isnan(table.seconds)
    if not known.any():
        return None
    days, day = np.unique(np.floor(table.judged_at[known] / DAY_SECONDS), return_inverse=True)
    cell = day * table.n_grades + table.grade[known]
    n = np.bincount(cell, minlength=len(days) * table.n_grades).reshape(len(days), -1)
    total = np.bincount(
        cell, weights=table.seconds[known], minlength=len(days) * table.n_grades
    ).reshape(len(days), -1)
    means = np.where(n > 0, total / np.maximum(n, 1), np.nan)
    return [
        (start * DAY_SECONDS, dict(enumerate(row)))
        for start, row in zip(days.tolist(), means.tolist(), strict=True)
    ]


def mean_seconds_by_topic(table: LabelTable) -> dict[str, TopicSeconds]:
    """Return the mean seconds per judgement of each topic with judgements, in the order of the
    table."""
    n, mean = _topic_means(table)
    return dict(zip(table.topics, map(TopicSeconds, n.tolist(), mean.tolist()), strict=True))


def find_slowest_topics(table: LabelTable, most: int) -> tuple[int, list[tuple[str, TopicSeconds]]]:
    """Return (the number of topics with a known time; at most `most` of them, the slowest first,
    ties in the order of the table)."""
    n, mean = _topic_means(table)
    timed = np.flatnonzero(n)
    slowest = timed[np.argsort(-mean[timed], kind="stable")][:most]
    return len(timed), [
        (table.topics[i], TopicSeconds(int(n[i]), float(mean[i]))) for i in slowest.tolist()
    ]


def _topic_means(table: LabelTable) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return per topic (the number of judgements with a known time, their mean or NaN)."""
    topic = table.pair_topic[table.pair]
    known = ~np.isnan(table.seconds)
    n = np.bincount(topic[known], minlength=len(table.topics))
    total = np.bincount(topic[known], weights=table.seconds[known], minlength=len(table.topics))
    return n, np.where(n > 0, total / np.maximum(n, 1), np.nan)


def _compute_coverage(
    table: LabelTable, labelled: NDArray[np.bool_], pool: list[tuple[str, str, int]]
) -> tuple[dict[int, RankCoverage], int]:
    """Return (coverage by best rank, ascending; the number of judged pairs outside the pool)."""
    position = {table.pair_ids(pair): pair for pair in range(table.n_pairs)}
    pairs: dict[int, list[int]] = {}
    inside = set()
    for topic, document, rank in pool:
        row = pairs.setdefault(rank, [0, 0, 0])
        row[0] += 1
        pair = position.get((topic, document))
        if pair is not None:
            inside.add(pair)
            row[1] += 1
            row[2] += int(labelled[pair])
    return {rank: RankCoverage(*pairs[rank]) for rank in sorted(pairs)}, table.n_pairs - len(inside)


def find_complete_depth(coverage: dict[int, RankCoverage]) -> int:
    """Return the deepest rank down to which every pair has a label, or 0."""
    depth = 0
    for rank, row in sorted(coverage.items()):
        if row.labelled < row.pairs:
            return depth if depth == 0 else rank - 1
        depth = rank
    return depth

"""Count submissions by group, and compare the public and private ranks of each group's best run.

Craswell et al. (SIGIR 2021, section 3): submissions per group and month, against the leaderboard's
limit of two per month, and the private rank of the run that ranks highest in public.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from assay.comparison.significance import Floats, rank_values

MONTHLY_LIMIT = 2
"""Maximum submissions per group and month."""
DECIMALS = 10


@dataclass(frozen=True)
class Submission:
    """A run submitted to a leaderboard. date: ISO 8601. scores: higher is better, NaN if unknown.
    ranks: from 1, NaN if unknown.

    A missing private rank is derived from the private scores. An expected rank (from a bootstrap)
    must be given.
    """

    tag: str
    date: str
    group: str
    public_score: float
    private_score: float = float("nan")
    private_rank: float = float("nan")
    expected_private_rank: float = float("nan")


@dataclass(frozen=True)
class GroupRecord:
    """Submissions of one group. per_month: "2021-01" -> number. breaches: months with more than the
    limit.

    best_tag: the run with the highest public rank (of equal ones the first by date, then tag), with
    its ranks among all runs.
    """

    submissions: int
    per_month: dict[str, int]
    breaches: list[str]
    best_tag: str
    best_public_rank: float
    its_private_rank: float
    its_expected_private_rank: float


def make_records(
    submissions: Sequence[Submission], *, limit: int = MONTHLY_LIMIT
) -> dict[str, GroupRecord]:
    """Return one record per group, sorted by number of submissions, highest first, then by name."""
    in_order = sorted(submissions, key=lambda one: (one.date, one.tag))
    public = mean_ranks([one.public_score for one in in_order])
    private = np.array([one.private_rank for one in in_order])
    private = np.where(
        np.isnan(private), mean_ranks([one.private_score for one in in_order]), private
    )
    by_group: dict[str, list[int]] = {}
    for i, one in enumerate(in_order):
        by_group.setdefault(one.group, []).append(i)
    return {
        group: _make_record(in_order, members, public, private, limit)
        for group, members in sorted(by_group.items(), key=lambda item: (-len(item[1]), item[0]))
    }


def _make_record(
    submissions: Sequence[Submission],
    members: list[int],
    public: Floats,
    private: Floats,
    limit: int,
) -> GroupRecord:
    per_month = dict(sorted(Counter(submissions[i].date[:7] for i in members).items()))
    best = min(members, key=lambda i: (np.isnan(public[i]), public[i]))
    return GroupRecord(
        submissions=len(members),
        per_month=per_month,
        breaches=[month for month, n in per_month.items() if n > limit],
        best_tag=submissions[best].tag,
        best_public_rank=float(public[best]),
        its_private_rank=float(private[best]),
        its_expected_private_rank=submissions[best].expected_private_rank,
    )


def mean_ranks(scores: Iterable[float]) -> Floats:
    """Return the rank of each score, 1 for the highest. Scores equal to 10 decimals share the mean
    rank. NaN for an unknown score."""
    return rank_values(np.round(np.array(list(scores), float), DECIMALS))

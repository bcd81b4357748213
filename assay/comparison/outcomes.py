"""Compare how two runs answer the same topics: the two tables of Lin et al.

Lin, Campos, Craswell, Mitra and Yilmaz, "Significant Improvements over the State of the Art? A Case
Study of the MS MARCO Document Ranking Leaderboard", SIGIR 2021.

Everything is computed from one number per topic: the rank of the first relevant document in the top
k of a run, or 0 if there is none. The paper has one relevant document per topic. With more, the
first one counts. Differences are B minus A.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.comparison import significance

UNANSWERED = 0
"""The rank of a topic without a relevant document in the top k."""
UNDEFINED = float("nan")
"""The value of a statistic without topics."""

Ranks = NDArray[np.int64]


@dataclass(frozen=True)
class MeanRR:
    """Mean reciprocal ranks of runs A and B over all topics (0 if unanswered), with raw p-values
    (Lin et al. 2021, table 1)."""

    a: float
    b: float
    wrs: float
    wrs_tie_corrected: float
    wsr: float
    t: float
    wsr_method: str = ""

    @property
    def difference(self) -> float:
        return self.b - self.a


@dataclass(frozen=True)
class AnsweredMeans:
    """Means of A and B over the topics that both answer, with raw p-values. All are NaN without
    such topics.

    signed_ranks: sum of ranks of topics on which B is higher minus those on which A is higher. It
    is the direction of the signed-rank test, which can differ from that of the means. a_higher,
    b_higher: numbers of topics. wsr_method: how the p-value was computed.
    """

    a: float
    b: float
    wsr: float
    t: float
    signed_ranks: float
    a_higher: int = 0
    b_higher: int = 0
    wsr_method: str = ""


@dataclass(frozen=True)
class RunComparison:
    """Run B compared with run A over n topics: mean reciprocal ranks (Lin et al. 2021, table 1),
    and counts of topics by outcome (table 2)."""

    topics: int
    mrr: MeanRR
    neither: int
    a_only: int
    b_only: int
    both: int
    esl: AnsweredMeans
    """Expected search length (Cooper 1968): rank of the first relevant document. Lower is better.
    """
    rr: AnsweredMeans
    """Reciprocal rank on the same topics. Higher is better."""
    binomial: float
    """Raw p-value of the exact binomial test on the topics that only one run answers."""

    def share(self, outcome: str) -> float:
        """Return the share of all topics with the outcome `neither`, `a_only`, `b_only` or `both`,
        or NaN without topics."""
        return getattr(self, outcome) / self.topics if self.topics else UNDEFINED


def ranks_from_rr(reciprocal_ranks: ArrayLike) -> Ranks:
    """Return ranks of first relevant documents from reciprocal ranks of any shape, 0 for a
    reciprocal rank of 0."""
    rr = np.asarray(reciprocal_ranks, float)
    return np.rint(np.divide(1.0, rr, out=np.zeros_like(rr), where=rr > 0)).astype(np.int64)


def rr_from_ranks(ranks: ArrayLike) -> significance.Floats:
    """Return 1 / rank, or 0 for an unanswered topic."""
    ranks = np.asarray(ranks, float)
    return np.divide(1.0, ranks, out=np.zeros_like(ranks), where=ranks > 0)


def compare_ranks(ranks_a: ArrayLike, ranks_b: ArrayLike) -> RunComparison:
    """Compare two runs by their ranks of the first relevant document (n topics in the same
    order)."""
    a, b = np.asarray(ranks_a, np.int64), np.asarray(ranks_b, np.int64)
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(
            f"expected ranks of the same topics, not arrays of shapes {a.shape} and {b.shape}"
        )
    answered_a, answered_b = a > UNANSWERED, b > UNANSWERED
    both = answered_a & answered_b
    a_only, b_only = int((answered_a & ~answered_b).sum()), int((answered_b & ~answered_a).sum())
    return RunComparison(
        topics=len(a),
        mrr=compare_mean_rr(rr_from_ranks(a), rr_from_ranks(b)),
        neither=int((~answered_a & ~answered_b).sum()),
        a_only=a_only,
        b_only=b_only,
        both=int(both.sum()),
        esl=compare_answered_means(a[both], b[both]),
        rr=compare_answered_means(rr_from_ranks(a[both]), rr_from_ranks(b[both])),
        binomial=float(significance.binomial_test(b_only, a_only)) if len(a) else UNDEFINED,
    )


def compare_mean_rr(a: significance.Floats, b: significance.Floats) -> MeanRR:
    if len(a) == 0:
        return MeanRR(
            a=UNDEFINED,
            b=UNDEFINED,
            wrs=UNDEFINED,
            wrs_tie_corrected=UNDEFINED,
            wsr=UNDEFINED,
            t=UNDEFINED,
        )
    rank_sum = significance.rank_sum_test(a, b)
    return MeanRR(
        a=float(a.mean()),
        b=float(b.mean()),
        wrs=float(rank_sum.p),
        wrs_tie_corrected=float(rank_sum.p_tie_corrected),
        wsr=float(significance.signed_rank_test(b - a)),
        t=float(significance.paired_t_test(b - a)),
        wsr_method=significance.signed_rank_method(b - a),
    )


def compare_answered_means(a: ArrayLike, b: ArrayLike) -> AnsweredMeans:
    a, b = np.asarray(a, float), np.asarray(b, float)
    if len(a) == 0:
        return AnsweredMeans(
            a=UNDEFINED, b=UNDEFINED, wsr=UNDEFINED, t=UNDEFINED, signed_ranks=UNDEFINED
        )
    return AnsweredMeans(
        a=float(a.mean()),
        b=float(b.mean()),
        wsr=float(significance.signed_rank_test(b - a)),
        t=float(significance.paired_t_test(b - a)),
        signed_ranks=float(significance.signed_rank_direction(b - a)),
        a_higher=int((significance.rounded_differences(a, b) < 0).sum()),
        b_higher=int((significance.rounded_differences(a, b) > 0).sum()),
        wsr_method=significance.signed_rank_method(b - a),
    )

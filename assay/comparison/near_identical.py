"""Find runs that are nearly the same, such as submissions of one system with small changes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

from assay.column_types import RunColumns

DEPTH = 10
MIN_OVERLAP = 0.9


class SimilarRuns(NamedTuple):
    """Two nearly identical runs. overlap: mean share of common documents among the first `DEPTH`.
    same: share of topics with the same first documents in the same order. topics: number of topics
    of either."""

    a: str
    b: str
    overlap: float
    same: float
    topics: int


def find_similar_runs(
    runs: Sequence[RunColumns], *, depth: int = DEPTH, min_overlap: float = MIN_OVERLAP
) -> list[SimilarRuns]:
    """Return the pairs of runs whose first documents overlap by at least `min_overlap` on average
    over topics, the most similar first. A topic of only one of the two runs counts as 0.

    The overlap of a topic is |A and B| / max(|A|, |B|) of the first documents A and B. Source:
    Craswell et al. (2021) ask for no more than one run with very small changes.
    """
    tops = {run.tag: list_first_documents(run, depth) for run in runs}
    similar = []
    for a, b in combinations(tops, 2):
        topics = tops[a].keys() | tops[b].keys()
        common = [(tops[a].get(topic, []), tops[b].get(topic, [])) for topic in topics]
        shares = [len({*x} & {*y}) / max(len(x), len(y)) for x, y in common]
        overlap = sum(shares) / len(shares) if shares else 0.0
        if overlap >= min_overlap:
            same = sum(x == y for x, y in common) / len(common)
            similar.append(SimilarRuns(a, b, overlap, same, len(topics)))
    return sorted(similar, key=lambda one: (-one.overlap, -one.same, one.a, one.b))


def list_first_documents(run: RunColumns, depth: int) -> dict[str, list[bytes]]:
    """Return the first documents of each topic, by topic."""
    return {
        topic: run.documents[run.rows(number)][:depth].tolist()
        for number, topic in enumerate(run.topics)
    }

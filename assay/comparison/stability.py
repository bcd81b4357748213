"""Stability of the ranking of systems when one element of the test collection changes
(multi-element protocol).

    make_population, make_chunks    population to sample from, and one chunk per level of overlap
    run_chunk                       taus of a level, the same in any process
    combine_results                 chunks and taus -> StabilityResult
    to_json                         field names of the command's JSON output

Source: the multi-element protocol on the stability of information retrieval experiments, applied to
TREC-COVID. Variants chosen here: Kendall's tau-b by default, on means rounded to 10 decimals, and
runs are filtered instead of being run again on the sub-collection.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.comparison.rank_biased_overlap import rank_biased_overlap_batch
from assay.comparison.rankings import symmetric_tau_ap_batch, tau_a_batch, tau_b_batch
from assay.measures.batch import (
    PackedCollection,
    compute_mean_scores,
    evaluate_subcollections,
    evaluate_whole,
)
from assay.measures.measures import Measure
from assay.measures.subcollections import (
    DEFAULT_OVERLAPS,
    ELEMENTS,
    JOINT,
    SamplingPopulation,
    draw_pairs,
    find_min_overlap,
    list_overlaps,
    split_memberships,
)

MEASURES = "AP Rprec Bpref nDCG"
"""The four measures of the paper."""

SIMILARITIES = {
    "tau-b": tau_b_batch,
    "tau-a": tau_a_batch,
    "tau-ap": symmetric_tau_ap_batch,
    "rbo": rank_biased_overlap_batch,
}
"""Similarity of two rankings by name: functions of scores (n, systems) that return float64 (n)."""

TOLERANCE = 1e-12
"""Tolerance for floating-point noise when tau is compared with the threshold."""


@dataclass(frozen=True)
class StabilityProtocol:
    """Settings of a stability analysis.

    element: one of ELEMENTS, or of JOINT, which are two elements varied together but independently.
    overlaps: levels as fractions from 0 to 1. None means 5% to 100% in steps of 5%, and for topics
    every number of shared topics. pairs: number of pairs of sub-collections per level. threshold:
    of the similarity. similarity: a key of SIMILARITIES. min_relevant: minimum relevant grade.
    per_topic_quota: halve the assessments of each topic separately. missing_topics: "zero" or
    "skip".
    """

    element: str
    measures: tuple[Measure, ...]
    overlaps: tuple[Fraction, ...] | None = None
    pairs: int = 50
    threshold: float = 0.9
    min_relevant: int = 1
    per_topic_quota: bool = False
    missing_topics: str = "zero"
    seed: int = 0
    similarity: str = "tau-b"

    def __post_init__(self) -> None:
        if self.element not in (*ELEMENTS, *JOINT):
            raise ValueError(
                f"unknown element {self.element!r}; choose from {', '.join((*ELEMENTS, *JOINT))}"
            )
        if self.per_topic_quota and not {"assessments", "positive"} & set(self.elements):
            raise ValueError(
                f"a quota per topic requires the element assessments, not {self.element}"
            )
        if self.overlaps is not None and not all(0 <= overlap <= 1 for overlap in self.overlaps):
            raise ValueError("an overlap must be a fraction from 0 to 1")

    @property
    def elements(self) -> tuple[str, ...]:
        """Return the element, or the two that are varied together."""
        return tuple(self.element.split("+"))

    def restrict_to(self, element: str) -> StabilityProtocol:
        """Return the protocol with only this element varied. Its population and samples are those
        of the joint protocol."""
        return replace(
            self,
            element=element,
            per_topic_quota=self.per_topic_quota and element in ("assessments", "positive"),
        )


@dataclass(frozen=True)
class StabilityChunk:
    """One level of overlap: the share o of common items and their number s. If two elements vary,
    both refer to the first."""

    overlap: Fraction
    shared: int


@dataclass(frozen=True, eq=False)
class StabilityResult:
    """Result of a stability analysis. population: N. size: m. probability, mean_tau: float64
    (n_measures, n_levels). undefined: int64 of the same shape, pairs with an undefined tau. slope,
    intercept: float64 (n_measures), of the line through P(o) without o = 1, NaN with fewer than two
    levels. minimum_overlap: per measure, or None."""

    element: str
    measures: tuple[Measure, ...]
    population: int
    size: int
    overlaps: tuple[Fraction, ...]
    shared: tuple[int, ...]
    probability: NDArray[np.float64]
    mean_tau: NDArray[np.float64]
    undefined: NDArray[np.int64]
    slope: NDArray[np.float64]
    intercept: NDArray[np.float64]
    minimum_overlap: tuple[Fraction | None, ...]


def make_population(
    collection: PackedCollection,
    protocol: StabilityProtocol,
    documents: NDArray[np.bytes_] | None = None,
) -> SamplingPopulation:
    """Return the population from which sub-collections are sampled, for two elements that of the
    first. Raises ValueError if there are fewer than two items to divide.

    documents: the collection's IDs if known (sorted, distinct). Otherwise those of runs and qrels
    are used.
    """
    protocol = protocol.restrict_to(protocol.elements[0])
    if protocol.element == "documents":
        drawn = SamplingPopulation.from_size(
            len(collection.documents if documents is None else documents)
        )
    elif protocol.element == "topics":
        drawn = SamplingPopulation.from_size(len(collection.topics))
    else:
        rows = list_sampled_rows(collection, protocol)
        if protocol.per_topic_quota:
            drawn = SamplingPopulation.from_groups(
                np.searchsorted(collection.offsets, rows, side="right") - 1
            )
        else:
            drawn = SamplingPopulation.from_size(len(rows))
    if drawn.size == 0:
        raise ValueError(f"{drawn.n} {protocol.element} cannot be divided into two halves")
    return drawn


def make_populations(
    collection: PackedCollection,
    protocol: StabilityProtocol,
    documents: NDArray[np.bytes_] | None = None,
) -> dict[str, SamplingPopulation]:
    """Return element -> population. Arguments as for `make_population`."""
    return {
        element: make_population(collection, protocol.restrict_to(element), documents)
        for element in protocol.elements
    }


def make_chunks(drawn: SamplingPopulation, protocol: StabilityProtocol) -> list[StabilityChunk]:
    """Return the levels of overlap, lowest first."""
    overlaps = protocol.overlaps
    if overlaps is None:
        overlaps = list_overlaps(drawn.size) if protocol.element == "topics" else DEFAULT_OVERLAPS
    return [StabilityChunk(overlap, drawn.n_shared(overlap)) for overlap in sorted(set(overlaps))]


def run_chunk(
    collection: PackedCollection,
    protocol: StabilityProtocol,
    chunk: StabilityChunk,
    documents: NDArray[np.bytes_] | None = None,
) -> NDArray[np.float64]:
    """Return float64 (n_measures, n_pairs), the similarity of the rankings of systems on the two
    sub-collections of each pair, NaN if undefined.

    Arguments as for `make_population`. The random stream depends only on seed, element and overlap,
    and not on the other levels or on the process.
    """
    means = _mean_scores(
        collection, protocol, draw_memberships(collection, protocol, chunk, documents), documents
    )
    by_pair = means.reshape(len(protocol.measures), len(collection.tags), protocol.pairs, 2)
    compare = SIMILARITIES[protocol.similarity]
    return np.array(
        [
            compare(first.T, second.T)
            for first, second in zip(by_pair[..., 0], by_pair[..., 1], strict=True)
        ]
    )


def draw_memberships(
    collection: PackedCollection,
    protocol: StabilityProtocol,
    chunk: StabilityChunk,
    documents: NDArray[np.bytes_] | None = None,
) -> dict[str, NDArray[np.uint8]]:
    """Return element -> memberships of a level, uint8 (n_pairs, N). Items are documents (of the
    list, if given), topics, or rows of `list_sampled_rows`. The memberships of two elements varied
    together are those of each alone."""
    drawn = {}
    for element in protocol.elements:
        key = (ELEMENTS.index(element), chunk.overlap.numerator, chunk.overlap.denominator)
        rng = np.random.default_rng(np.random.SeedSequence(protocol.seed, spawn_key=key))
        drawn[element] = draw_pairs(
            make_population(collection, protocol.restrict_to(element), documents),
            chunk.overlap,
            protocol.pairs,
            rng,
        )
    return drawn


def _mean_scores(
    collection: PackedCollection,
    protocol: StabilityProtocol,
    drawn: dict[str, NDArray[np.uint8]],
    documents: NDArray[np.bytes_] | None,
) -> NDArray[np.float64]:
    """Return float64 (n_measures, n_runs, 2 x n_pairs), the mean scores on the sampled
    sub-collections."""
    kept, assessed = None, None
    if "documents" in drawn:
        kept = split_memberships(_align_documents(drawn["documents"], collection, documents))
    for element in {"assessments", "positive"} & set(drawn):
        assessed = np.ones((len(collection.grades), 2 * protocol.pairs), np.uint8)
        assessed[list_sampled_rows(collection, protocol.restrict_to(element))] = split_memberships(
            drawn[element]
        )
    if "topics" not in drawn:
        scores = evaluate_subcollections(
            collection,
            protocol.measures,
            kept=kept,
            assessed=assessed,
            min_relevant=protocol.min_relevant,
        )
        return compute_mean_scores(collection, scores, missing_topics=protocol.missing_topics)
    topics = split_memberships(drawn["topics"]).T[:, None, :]  # samples x runs (or 1) x topics
    if protocol.missing_topics == "skip":
        topics = topics * collection.has
    if kept is None and assessed is None:
        whole = evaluate_whole(collection, protocol.measures, min_relevant=protocol.min_relevant)
        sums = np.stack([(whole * counted).sum(axis=-1) for counted in topics], axis=-1)
    else:
        scores = evaluate_subcollections(
            collection,
            protocol.measures,
            kept=kept,
            assessed=assessed,
            min_relevant=protocol.min_relevant,
        )
        sums = np.stack(
            [(scores[..., number] * counted).sum(axis=-1) for number, counted in enumerate(topics)],
            axis=-1,
        )
    with np.errstate(invalid="ignore"):
        return np.asarray(sums / topics.sum(axis=-1).T)


def list_sampled_rows(
    collection: PackedCollection, protocol: StabilityProtocol
) -> NDArray[np.int64]:
    """Return the rows of the qrels that are sampled: all, including negative grades, or for the
    element `positive` the relevant ones. The other rows always stay."""
    if protocol.element == "positive":
        return np.flatnonzero(collection.grades >= protocol.min_relevant)
    return np.arange(len(collection.grades))


def _align_documents(
    memberships: NDArray[np.uint8],
    collection: PackedCollection,
    documents: NDArray[np.bytes_] | None,
) -> NDArray[np.uint8]:
    """Return the memberships of the documents of runs and qrels. Documents that are not in the list
    of documents are in no sub-collection."""
    if documents is None:
        return memberships
    place = np.minimum(np.searchsorted(documents, collection.documents), len(documents) - 1)
    return memberships[:, place] * (documents[place] == collection.documents)


def combine_results(
    drawn: SamplingPopulation,
    protocol: StabilityProtocol,
    levels: Sequence[StabilityChunk],
    taus: Sequence[NDArray[np.float64]],
) -> StabilityResult:
    """Return the analysis from the results of `run_chunk` for all levels of overlap. taus:
    (n_measures, n_pairs) per level. None counts as NaN, so that lists from JSON can be passed."""
    values = np.array([np.asarray(of_level, dtype=np.float64) for of_level in taus]).transpose(
        1, 0, 2
    )
    defined = ~np.isnan(values)
    reached = (values >= protocol.threshold - TOLERANCE) & defined
    probability = reached.mean(axis=2)
    n_defined = defined.sum(axis=2)
    sums = np.where(defined, values, 0).sum(axis=2)
    overlaps = tuple(level.overlap for level in levels)
    lines = [fit_line(overlaps, of_measure) for of_measure in probability]
    return StabilityResult(
        element=protocol.element,
        measures=protocol.measures,
        population=drawn.n,
        size=drawn.size,
        overlaps=overlaps,
        shared=tuple(level.shared for level in levels),
        probability=probability,
        mean_tau=np.divide(sums, n_defined, out=np.full(sums.shape, math.nan), where=n_defined > 0),
        undefined=(~defined).sum(axis=2),
        slope=np.array([slope for slope, _ in lines]),
        intercept=np.array([intercept for _, intercept in lines]),
        minimum_overlap=tuple(
            find_min_overlap(overlaps, reached[m].all(axis=1).tolist()) for m in range(len(values))
        ),
    )


def fit_line(overlaps: Sequence[Fraction], probability: NDArray[np.float64]) -> tuple[float, float]:
    """Return (slope, intercept) of the least-squares line through P(o) over the levels below 1, or
    NaN with fewer than two levels."""
    below = np.array([overlap < 1 for overlap in overlaps])
    x, y = np.array([float(overlap) for overlap in overlaps])[below], probability[below]
    if len(x) < 2:
        return math.nan, math.nan
    slope = float(((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum())
    return slope, float(y.mean() - slope * x.mean())


def to_json(result: StabilityResult) -> dict[str, Any]:
    """Return the result as lists and numbers under the names of the command's JSON output. NaN is
    kept."""
    names = [str(measure) for measure in result.measures]
    return {
        "element": result.element,
        "population": result.population,
        "size": result.size,
        "levels": [float(overlap) for overlap in result.overlaps],
        "shared": list(result.shared),
        "probability": dict(zip(names, result.probability.tolist(), strict=True)),
        "mean_tau": dict(zip(names, result.mean_tau.tolist(), strict=True)),
        "undefined": dict(zip(names, result.undefined.tolist(), strict=True)),
        "fit": {
            name: {"slope": slope, "intercept": intercept}
            for name, slope, intercept in zip(
                names, result.slope.tolist(), result.intercept.tolist(), strict=True
            )
        },
        "minimum_overlap": {
            name: None if least is None else float(least)
            for name, least in zip(names, result.minimum_overlap, strict=True)
        },
    }

"""Evaluate many sub-collections at once.

Documents and assessments of all topics and runs are packed once as index arrays in trec_eval's
order. A batch of sub-collections is then a matrix of flags with one column per sub-collection, and
cumulative counts down the rankings give every measure for all of them. The result of a column does
not depend on the other columns.

    pack_collection(qrels, runs) -> PackedCollection
    evaluate_subcollections(collection, measures, kept=..., assessed=...)
        -> scores of measures x runs x topics x sub-collections
    evaluate_whole(collection, measures) -> scores of measures x runs x topics
    compute_mean_scores(collection, scores) -> means of measures x runs x sub-collections
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from assay.column_types import QrelsColumns, RunColumns
from assay.measures.measures import Measure
from assay.measures.on_subcollections import Flags, PackedTopic, SampledTopic, score_topic

Scores = NDArray[np.float64]

MAX_CELLS = 1 << 20
"""Maximum number of cells (ranks x runs x sub-collections) processed at a time, so that they fit
into caches and memory stays bounded."""


@dataclass(frozen=True, eq=False)
class PackedCollection:
    """Packed qrels and runs.

    tags: names of the runs, in the given order. topics: the topics of the qrels, sorted by bytes.
    documents: S (n_documents), sorted, all documents of runs and qrels. grades: int32
    (n_assessments), rows sorted by topic and document. Topic i owns rows offsets[i]:offsets[i + 1].
    assessed: int64 (n_assessments), the document number of each row. has: bool (n_runs, n_topics),
    whether the run has the topic. n_ignored: for each run, the number of its topics that the qrels
    lack.
    """

    tags: list[str]
    topics: list[str]
    documents: NDArray[np.bytes_]
    grades: NDArray[np.int32]
    assessed: NDArray[np.int64]
    offsets: NDArray[np.int64]
    has: NDArray[np.bool_]
    n_ignored: list[int]
    packed: list[PackedTopic] = field(repr=False)
    _whole: dict[tuple[tuple[Measure, ...], int], Scores] = field(default_factory=dict, repr=False)

    def rows(self, topic: int) -> slice:
        return slice(int(self.offsets[topic]), int(self.offsets[topic + 1]))


def pack_collection(
    qrels: QrelsColumns, runs: Sequence[RunColumns], tags: Sequence[str] | None = None
) -> PackedCollection:
    """Pack qrels and runs. Except for the order of runs, the result does not depend on the order of
    rows or files."""
    documents = np.unique(
        np.concatenate(
            [np.unique(ids) for ids in [qrels.documents, *(run.documents for run in runs)]]
        )
    )
    places = [{topic: i for i, topic in enumerate(run.topics)} for run in runs]
    numbers = [np.searchsorted(documents, run.documents) for run in runs]
    numbers_of_qrels = np.searchsorted(documents, qrels.documents)
    order = sorted(range(len(qrels.topics)), key=lambda i: qrels.topics[i].encode())
    has = np.zeros((len(runs), len(order)), bool)
    highest = int(qrels.grades.max(initial=0))
    packed: list[PackedTopic] = []
    for n, i in enumerate(order):
        rankings = []
        for r, run in enumerate(runs):
            place = places[r].get(qrels.topics[i])
            has[r, n] = place is not None
            rankings.append(numbers[r][:0] if place is None else numbers[r][run.rows(place)])
        rows = qrels.rows(i)
        packed.append(
            PackedTopic.from_rankings(
                qrels.grades[rows], numbers_of_qrels[rows], rankings, len(documents), highest
            )
        )
    known = set(qrels.topics)
    return PackedCollection(
        tags=[run.tag for run in runs] if tags is None else list(tags),
        topics=[qrels.topics[i] for i in order],
        documents=documents,
        grades=np.concatenate([topic.grades for topic in packed]),
        assessed=np.concatenate([topic.documents for topic in packed]),
        offsets=np.cumsum([0] + [len(topic.grades) for topic in packed]),
        has=has,
        n_ignored=[len(set(run.topics) - known) for run in runs],
        packed=packed,
    )


def evaluate_subcollections(
    collection: PackedCollection,
    measures: Sequence[Measure],
    *,
    kept: Flags | None = None,
    assessed: Flags | None = None,
    min_relevant: int = 1,
) -> Scores:
    """Return the scores of all runs on all topics of all sub-collections: float64 (n_measures,
    n_runs, n_topics, n_samples).

    kept: uint8 0/1 (n_documents, n_samples), the documents of each sub-collection. Other documents
    are removed from qrels and runs, and ranks close up. None keeps all. assessed: uint8 0/1
    (n_assessments, n_samples), the qrels rows that are kept. Other rows become unjudged. None keeps
    all. With neither, there is one sample, the whole collection.

    A topic without relevant documents, and a run without the topic, score 0, as in trec_eval -c.
    min_relevant: the minimum relevant grade of measures that do not specify their own.
    """
    given = kept if kept is not None else assessed
    n_samples = 1 if given is None else given.shape[1]
    scores = np.empty((len(measures), len(collection.tags), len(collection.topics), n_samples))
    places = max(
        topic.find_places(0)[0].size if kept is None else topic.retrieved.size
        for topic in collection.packed
    )
    # even, so that the two sub-collections of a pair stay together
    block = max(MAX_CELLS // places // 2 * 2, 2)
    for start in range(0, n_samples, block):
        columns = slice(start, min(start + block, n_samples))
        width = columns.stop - columns.start
        kept_here = (
            None
            if kept is None
            else np.concatenate([kept[:, columns], np.zeros((1, width), np.uint8)])
        )
        for number, topic in enumerate(collection.packed):
            assessed_here = None if assessed is None else assessed[collection.rows(number), columns]
            sampled = SampledTopic(topic, kept_here, assessed_here, width)
            for m, measure in enumerate(measures):
                scores[m, :, number, columns] = score_topic(sampled, measure, min_relevant)
            sampled.release_memory()
    return scores


def evaluate_whole(
    collection: PackedCollection, measures: Sequence[Measure], *, min_relevant: int = 1
) -> Scores:
    """Return the scores on the whole collection, computed once: float64 (n_measures, n_runs,
    n_topics)."""
    key = (tuple(measures), min_relevant)
    if key not in collection._whole:
        collection._whole[key] = evaluate_subcollections(
            collection, measures, min_relevant=min_relevant
        )[..., 0]
    return collection._whole[key]


def compute_mean_scores(
    collection: PackedCollection, scores: Scores, *, missing_topics: str = "zero"
) -> Scores:
    """Return means over topics: float64 (n_measures, n_runs, n_samples).

    missing_topics: "zero" for all topics of the qrels, or "skip" for the topics that each run has.
    NaN if a run has none.
    """
    if missing_topics == "zero":
        return scores.sum(axis=2) / scores.shape[2]
    with np.errstate(invalid="ignore"):
        return (scores * collection.has[None, :, :, None]).sum(axis=2) / collection.has.sum(axis=1)[
            None, :, None
        ]

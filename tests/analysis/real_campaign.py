"""A campaign on the pool of real runs (TREC 2021 Deep Learning, passages), with judgements
generated around the assessors' grades."""

from __future__ import annotations

import gzip
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path

import numpy as np

from annotation.models import Campaign, Judgement
from assay.formats.runs import read_run, save_run
from pooling.models import Collection, Document, Pool, PoolEntry, Topic
from pooling.services.stored_columns import store_columns
from tests.builders import make_annotator, make_campaign, make_user

N_TOPICS, N_RUNS, DEPTH = 15, 12, 5
START = datetime(2026, 3, 2, 9, tzinfo=UTC)
Scores = dict[str, dict[str, dict[str, float]]]
Given = dict[tuple[str, str], dict[str, int]]
"""(topic, document) -> annotator -> grade"""


def real_runs(data_folder: Path) -> tuple[dict[str, dict[str, int]], Scores]:
    """Read the first topics and every fifth run of the track. Returns (topic -> document -> the
    assessors' grade; tag -> topic -> document -> score)."""
    grades: dict[str, dict[str, int]] = defaultdict(dict)
    with gzip.open(data_folder / "dl21-passage" / "qrels.nist.txt.gz", "rt") as lines:
        for topic, _, document, grade in map(str.split, lines):
            grades[topic][document] = int(grade)
    topics = sorted(grades)[:N_TOPICS]
    runs: Scores = {}
    for path in sorted((data_folder / "dl21-passage" / "runs-all477-top10").glob("*.gz"))[::5][
        :N_RUNS
    ]:
        run: dict[str, dict[str, float]] = defaultdict(dict)
        with gzip.open(path, "rt") as lines:
            for topic, _, document, _, score, _ in map(str.split, lines):
                if topic in topics:
                    run[topic][document] = float(score)
        runs[path.name.removesuffix(".gz")] = dict(run)
    return {topic: grades[topic] for topic in topics}, runs


def by_place(run: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """Replace the scores of a run so that its order (methods/measures.md: score, then document ID,
    both descending) has no ties. Used because pytrec_eval compares scores as float32, in which many
    of these scores are tied."""
    ordered = {topic: sorted(ranked, key=lambda d: (ranked[d], d)) for topic, ranked in run.items()}
    return {
        topic: {document: float(place) for place, document in enumerate(order)}
        for topic, order in ordered.items()
    }


def real_campaign(data_folder: Path) -> tuple[Campaign, Given, Scores]:
    """Create the campaign: four of seven annotators judge every pair of the depth-5 pool. Annotator
    A007 gives random grades."""
    grades, runs = real_runs(data_folder)
    manager = make_user(may_create=True)
    collection = Collection.objects.create(slug="dl21", name="DL 21", created_by=manager)
    topics = {
        t: Topic.objects.create(collection=collection, topic_id=t, text=t, position=i)
        for i, t in enumerate(grades)
    }
    for tag, run in runs.items():
        store_run(collection, tag, run)
    best: dict[tuple[str, str], int] = {}
    for run in runs.values():
        for topic, ranked in run.items():
            for rank, document in enumerate(
                sorted(ranked, key=lambda d: (ranked[d], d), reverse=True)[:DEPTH], start=1
            ):
                best[topic, document] = min(rank, best.get((topic, document), rank))
    Document.objects.bulk_create(
        Document(collection=collection, docno=d, text="A passage.", n_words=2)
        for d in sorted({d for _, d in best})
    )
    documents = {document.docno: document for document in collection.documents.all()}
    pool = Pool.objects.create(
        collection=collection, name="depth 5", depth=DEPTH, n_pairs=len(best)
    )
    PoolEntry.objects.bulk_create(
        PoolEntry(
            pool=pool,
            topic=topics[t],
            docno=d,
            document=documents[d],
            best_rank=rank,
            priority=DEPTH - rank,
            position=i,
            contributions={},
        )
        for i, ((t, d), rank) in enumerate(sorted(best.items()))
    )
    campaign = make_campaign(
        collection=collection, pool=pool, manager=manager, judgements_per_pair=4
    )
    members = [make_annotator(campaign) for _ in range(7)]
    rng = np.random.default_rng(3)
    given: Given = {}
    rows = []
    for pair in campaign.pairs.select_related("entry__topic").order_by("position"):
        key = (pair.entry.topic.topic_id, pair.entry.docno)
        true = grades[key[0]].get(key[1], 0)
        given[key] = {}
        for i in rng.choice(len(members), 4, replace=False).tolist():
            grade = (
                int(rng.integers(4))
                if i == 6
                else int(np.clip(true + rng.choice([-1, 0, 0, 0, 1]), 0, 3))
            )
            given[key][members[i].pseudonym] = grade
            moment = START + timedelta(seconds=len(rows))
            rows.append(
                Judgement(
                    key=uuid.uuid4(),
                    pair=pair,
                    membership=members[i],
                    grade=grade,
                    active_ms=9000,
                    served_at=moment,
                    judged_at=moment,
                )
            )
    Judgement.objects.bulk_create(rows)
    return campaign, given, runs


def store_run(collection: Collection, tag: str, run: dict[str, dict[str, float]]) -> None:
    text = "".join(
        f"{t} Q0 {d} 0 {score!r} {tag}\n"
        for t, ranked in run.items()
        for d, score in ranked.items()
    )
    columns = read_run(BytesIO(text.encode()), name=f"{tag}.txt")
    name, digest = store_columns("runs", lambda path: save_run(columns, path))
    collection.runs.create(
        tag=tag,
        source_name=tag,
        columns=name,
        digest=digest,
        n_rows=len(columns),
        n_topics=len(columns.topics),
    )


def by_majority(grades: list[int]) -> int:
    """Aggregate grades by majority as in methods/aggregation.md: the most frequent grade, the
    lowest one on ties."""
    counts = Counter(grades)
    return min(grade for grade, n in counts.items() if n == max(counts.values()))


def labels_of(
    given: Given, *, without: str = "", label: Callable[[list[int]], int] = by_majority
) -> dict[str, dict[str, int]]:
    """Return the labels of pairs with at least two judgements, as topic -> document -> label."""
    made: dict[str, dict[str, int]] = defaultdict(dict)
    for (topic, document), grades in given.items():
        kept = [grade for name, grade in grades.items() if name != without]
        if len(kept) > 1:
            made[topic][document] = label(kept)
    return dict(made)

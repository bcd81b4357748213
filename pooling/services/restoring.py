"""Restore a collection with its topics, documents and pool from a release, with the original rows
instead of those that an upload would create."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, datetime
from typing import Any, NamedTuple

import numpy as np
from django.core.exceptions import ValidationError
from django.db.models import Model
from django.utils.text import slugify

from assay.column_types import QrelsColumns, RunColumns
from assay.formats.qrels import save_qrels
from assay.formats.runs import save_run
from assay.number_words import format_count
from assay.pools.depth import PooledPairs
from assay.pools.pool_kinds import PoolKind, SelectionMethod
from assay.word_count import count_words
from pooling.models import Collection, Document, Pool, PoolEntry, Qrels, Run, Stratum, Topic
from pooling.platform.file_storage import file_storage
from pooling.services.qrels import describe_grades, make_qrels_row
from pooling.services.stored_columns import store_columns

AT_ONCE = 500
TOPIC_TEXTS = ("text", "description", "narrative", "proposal", "same_as", "removed_reason")


class NotRestorable(ValueError):
    """Raised if a row cannot be stored as the release describes it. line: in its file, or None for
    the whole file."""

    def __init__(self, problem: str, expected: str, line: int | None = None) -> None:
        super().__init__(problem)
        self.problem, self.expected, self.line = problem, expected, line


class StratumRow(NamedTuple):
    """A stratum of a pool in a release. drawn: number of pairs sampled by the end of each stage."""

    number: int
    name: str
    size: int
    drawn: list[int]


class DrawRow(NamedTuple):
    """The sampling result of a pair in a release. stratum, place: in a prioritised pool only audit
    pairs have a stratum, and no pair has a place."""

    line: int
    topic: str
    document: str
    stratum: int | None
    place: int | None
    stage: int | None
    entered: str


class RunRow(NamedTuple):
    """A run of a release. pooled: whether it contributed to the pool. file: its path."""

    line: int
    tag: str
    submitted_on: date | None
    group: str
    description: str
    baseline: bool
    pooled: bool
    file: str


class ClickRow(NamedTuple):
    """Qrels from clicks in a release. file: their path."""

    line: int
    name: str
    file: str


@contextmanager
def delete_files_on_error() -> Iterator[list[str]]:
    """Yield a list for the names of stored files, which are deleted if the block raises."""
    names: list[str] = []
    try:
        yield names
    except BaseException:
        for name in names:
            file_storage.delete(name)
        raise


def find_free_slug(wanted: str, model: type[Model]) -> str:
    """Return the slug, with a number appended if it is taken."""
    slug = slugify(wanted)[:70] or "imported"
    taken = set(model._default_manager.filter(slug__startswith=slug).values_list("slug", flat=True))
    return next(
        name
        for number in range(1, len(taken) + 2)
        if (name := slug if number == 1 else f"{slug}-{number}") not in taken
    )


def restore_collection(said: Mapping[str, Any], *, user: Any) -> Collection:
    """Restore a collection. said: slug, name, description, n_documents. user: becomes its manager.
    Raises ValidationError for invalid values."""
    collection = Collection(
        slug=find_free_slug(str(said.get("slug") or "collection"), Collection),
        name=said.get("name") or "",
        description=said.get("description") or "",
        n_documents=said.get("n_documents"),
        created_by=user,
    )
    collection.full_clean(exclude=["created_by"])
    collection.save()
    if user is not None:
        collection.managers.add(user)
    return collection


def restore_topics(
    collection: Collection, rows: Iterable[tuple[int, Mapping[str, Any]]]
) -> dict[str, Topic]:
    """Restore topics and return them by ID. rows: (line, ID, fields, position and texts). Raises
    NotRestorable."""
    topics: dict[str, Topic] = {}
    for line, row in rows:
        texts: dict[str, Any] = {name: row.get(name) or "" for name in TOPIC_TEXTS}
        said: dict[str, Any] = {
            "topic_id": row.get("id"),
            "fields": row.get("fields") or {},
            "position": row.get("position"),
        }
        # None as well, because clean_fields reports the problem
        topic = Topic(collection=collection, **said, **texts)
        if topic.topic_id in topics or not all(
            isinstance(text, str) for text in (topic.topic_id, *texts.values())
        ):
            raise NotRestorable(
                "duplicate topic, or topic without ID or text", "each topic once", line
            )
        try:
            topic.clean_fields(exclude=["collection"])
        except ValidationError as error:
            raise NotRestorable("; ".join(error.messages), "a valid topic", line) from None
        topics[topic.topic_id] = topic
    Topic.objects.bulk_create(topics.values(), batch_size=AT_ONCE)
    return topics


def restore_documents(
    collection: Collection, rows: Iterable[tuple[int, Mapping[str, Any]]]
) -> dict[str, int]:
    """Restore documents and return row IDs by document ID. rows: (line, _id, title, text, fields).
    Raises NotRestorable."""
    stored: dict[str, int] = {}
    seen: set[str] = set()
    batch: list[Document] = []

    def store() -> None:
        stored.update((row.docno, row.pk) for row in Document.objects.bulk_create(batch))
        batch.clear()

    for line, row in rows:
        docno, title, text, fields = (
            row.get("_id"),
            row.get("title"),
            row.get("text"),
            row.get("fields") or {},
        )
        if (
            not isinstance(docno, str)
            or not isinstance(title, str)
            or not isinstance(text, str)
            or not isinstance(fields, dict)
        ):
            raise NotRestorable("not a document", "_id, title and text", line)
        if not docno or len(docno) > 255 or docno in seen:
            raise NotRestorable("missing, overlong or duplicate ID", "each document once", line)
        seen.add(docno)
        batch.append(
            Document(
                collection=collection,
                docno=docno,
                title=title,
                text=text,
                fields=fields,
                n_words=count_words(text),
            )
        )
        if len(batch) >= AT_ONCE:
            store()
    store()
    return stored


def restore_pool(
    collection: Collection,
    said: Mapping[str, Any],
    pairs: PooledPairs,
    *,
    topics: Mapping[str, Topic],
    documents: Mapping[str, int],
    created_at: datetime | None,
    user: Any,
) -> Pool:
    """Restore a pool. said: name, kind (version 0.1.0 had depth pools only), depth, parameters,
    seed. pairs: in judging order. Raises NotRestorable, or ValidationError for invalid values."""
    if unknown := sorted(set(pairs.topics) - set(topics)):
        raise NotRestorable(
            f"{format_count(len(unknown), 'unknown topic')}, such as {unknown[0][:50]!r}",
            "topics of topics.jsonl",
        )
    made: dict[str, Any] = {
        "name": said.get("name") or "pool",
        "seed": said.get("seed"),
        "source": said.get("source") or "",
    }
    made |= {
        "kind": said.get("kind") or PoolKind.DEPTH.value,
        "depth": said.get("depth"),
        "parameters": said.get("parameters") or {},
    }
    if made["depth"] is None and made["kind"] != PoolKind.GIVEN:
        raise NotRestorable("missing pool depth", "the number of ranks taken from each run")
    pool = Pool(collection=collection, **made)
    pool.created_by, pool.built_at, pool.n_pairs = user, created_at, len(pairs)
    pool.missing_documents = sum(pair.document not in documents for pair in pairs)
    pool.by_depth = {
        str(depth): n for depth, n in pairs.by_depth().items() if depth <= (pool.depth or 0)
    }
    pool.coverage = {"unique": {}, "overlap": {}, "contributed": {}}
    # pairs without ranks have no depths
    pool.full_clean(exclude=["collection", "created_by", "runs", "coverage", "by_depth"])
    pool.save()
    if created_at is not None:
        Pool.objects.filter(pk=pool.pk).update(created_at=created_at)
        pool.created_at = created_at
    PoolEntry.objects.bulk_create(
        (
            PoolEntry(
                pool=pool,
                topic=topics[pair.topic],
                docno=pair.document,
                document_id=documents.get(pair.document),
                best_rank=pair.best_rank,
                priority=pair.priority,
                position=position,
                contributions=dict(pair.runs),
            )
            for position, pair in enumerate(pairs)
        ),
        batch_size=AT_ONCE,
    )
    return pool


def restore_draw(
    pool: Pool,
    strata: Sequence[StratumRow],
    rows: Sequence[DrawRow],
    *,
    topics: Mapping[str, Topic],
) -> None:
    """Restore the strata of a staged pool, and the place and stage of each pair. Raises
    NotRestorable if they are inconsistent."""
    if pool.kind == PoolKind.ORDERED:
        return restore_batches(pool, strata, rows, topics=topics)
    entries = {(entry.topic_id, entry.docno): entry for entry in pool.entries.all()}
    sizes = {one.number: one.size for one in strata}
    held: Counter[int] = Counter()
    for row in rows:
        topic = topics.get(row.topic)
        entry = entries.get((topic.pk, row.document)) if topic else None
        if (
            entry is None
            or entry.stratum is not None
            or row.stratum not in sizes
            or row.place is None
            or row.place >= sizes[row.stratum]
        ):
            raise NotRestorable(
                f"{row.topic[:50]} {row.document[:50]} is a duplicate, or its pool or stratum is unknown",
                "each pair of pool.tsv once",
                row.line,
            )
        entry.stratum, entry.place, entry.stage, entry.entered = (
            row.stratum,
            row.place,
            row.stage,
            row.entered,
        )
        held[row.stratum] += 1
    if len(rows) < len(entries) or dict(held) != sizes:
        raise NotRestorable(
            "sizes of strata differ from strata.tsv", "every pair of the pool in its stratum"
        )
    Stratum.objects.bulk_create(
        (
            Stratum(pool=pool, number=r.number, name=r.name, size=r.size, drawn=r.drawn)
            for r in strata
        ),
        batch_size=AT_ONCE,
    )
    PoolEntry.objects.bulk_update(
        entries.values(), ["stratum", "place", "stage", "entered"], batch_size=AT_ONCE
    )


def restore_batches(
    pool: Pool,
    strata: Sequence[StratumRow],
    rows: Sequence[DrawRow],
    *,
    topics: Mapping[str, Topic],
) -> None:
    """Restore the batches of a prioritised pool. Raises NotRestorable if pairs, batches and audit
    pairs are inconsistent."""
    entries = {(entry.topic_id, entry.docno): entry for entry in pool.entries.all()}
    audited: Counter[int] = Counter()
    batches = range(1, len(strata) + 1)
    for row in rows:
        topic = topics.get(row.topic)
        entry = entries.get((topic.pk, row.document)) if topic else None
        by_chance = row.entered == SelectionMethod.CHANCE
        if (
            entry is None
            or entry.stage is not None
            or row.stage is None
            or row.stage not in batches
            or row.stratum != (row.stage if by_chance else None)
        ):
            raise NotRestorable(
                f"{row.topic[:50]} {row.document[:50]} is a duplicate, or its pool or batch is unknown",
                "each pair once per batch",
                row.line,
            )
        entry.stage, entry.entered, entry.stratum = (
            row.stage,
            row.entered or SelectionMethod.CHOICE.value,
            row.stratum,
        )
        audited[row.stage] += by_chance
    if [one.number for one in strata] != list(batches) or any(
        audited[one.number] != (one.drawn or [0])[-1] for one in strata
    ):
        raise NotRestorable(
            "batches or audit pairs differ from strata.tsv", "every batch with its audit pairs"
        )
    Stratum.objects.bulk_create(
        (
            Stratum(pool=pool, number=r.number, name=r.name, size=r.size, drawn=r.drawn)
            for r in strata
        ),
        batch_size=AT_ONCE,
    )
    PoolEntry.objects.bulk_update(
        entries.values(), ["stratum", "stage", "entered"], batch_size=AT_ONCE
    )


def restore_run(
    collection: Collection, row: RunRow, rankings: RunColumns, *, files: list[str]
) -> Run:
    """Restore a run. Its ir_metadata head replaces the description in the table. files: receives
    the name of the stored file. Raises NotRestorable."""
    name, digest = store_columns("runs", lambda path: save_run(rankings, path))
    files.append(name)
    run = Run(
        collection=collection,
        tag=row.tag,
        group=row.group,
        description=rankings.description or row.description,
        submitted_on=row.submitted_on,
        baseline=row.baseline,
        source_name=row.file.rpartition("/")[2][-255:],
        columns=name,
        digest=digest,
        n_rows=len(rankings),
        n_topics=len(rankings.topics),
        max_depth=int(np.diff(rankings.offsets).max()),
        warnings=rankings.warnings,
    )
    _validate_and_save(run, row.line, "a run with a tag of its own")
    return run


def restore_clicks(
    collection: Collection, row: ClickRow, grades: QrelsColumns, *, files: list[str]
) -> Qrels:
    """Restore qrels from clicks. files: receives the name of the stored file. Raises
    NotRestorable."""
    name, digest = store_columns("qrels", lambda path: save_qrels(grades, path))
    files.append(name)
    histogram, _facts, warnings = describe_grades(grades, collection)
    qrels = make_qrels_row(
        collection,
        replace(grades, name=row.name),
        file=row.file.rpartition("/")[2][-255:],
        columns=name,
        digest=digest,
        grades=histogram,
        warnings=[*grades.warnings, *warnings],
    )
    qrels.kind = Qrels.Kind.CLICKS
    _validate_and_save(qrels, row.line, "qrels with a name of their own")
    return qrels


def _validate_and_save(row: Model, line: int, expected: str) -> None:
    """Validate and save a row. Raises NotRestorable if it is not valid."""
    try:
        row.full_clean()
    except ValidationError as error:
        raise NotRestorable("; ".join(error.messages), expected, line) from None
    row.save()

"""Pools with pairs from a file, created at once and without runs."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from types import MappingProxyType
from typing import Any

from django.utils import timezone

from assay.pools.depth import PooledPairs, is_ranked
from assay.pools.pool_kinds import PoolKind
from pooling.models import Collection, Document, Pool, PoolEntry
from pooling.platform import jobs
from pooling.services.pool_pairs import compute_figures, digest_pool
from pooling.services.rows import insert_rows, prepare_insert

MAX_NAME_LENGTH = 190
MAX_INLINE_PAIRS = 500


def store_listed_pool(
    collection: Collection,
    pairs: PooledPairs,
    *,
    name: str,
    source: str,
    suggested: Mapping[str, Any] = MappingProxyType({}),
    user: Any,
) -> Pool:
    """Store exactly these pairs in this order, in the caller's transaction. A number is added to a
    name that is taken.

    Texts are linked by `link_stored_texts` and then by a job. source: short description of the
    pairs' origin. suggested: campaign settings that came with them.
    """
    taken = set(collection.pools.values_list("name", flat=True))
    wanted = name.strip()[:MAX_NAME_LENGTH]
    free = next(
        one
        for n in range(1, len(taken) + 2)
        if (one := wanted if n == 1 else f"{wanted} ({n})") not in taken
    )
    pool_figures = compute_figures(pairs)
    pool = Pool.objects.create(
        collection=collection,
        name=free,
        kind=PoolKind.GIVEN,
        depth=pairs.depth if is_ranked(pairs) else None,
        source=source[:255],
        suggested=dict(suggested),
        n_pairs=len(pairs),
        by_depth=pool_figures["by_depth"],
        coverage={key: pool_figures[key] for key in ("unique", "overlap", "contributed")},
        digest=digest_pool(pairs),
        missing_documents=len(pairs),
        created_by=user,
        built_at=timezone.now(),
    )
    rows = dict(collection.topics.values_list("topic_id", "pk"))
    entries = (
        PoolEntry(
            pool=pool,
            topic_id=rows[pair.topic],
            docno=pair.document,
            best_rank=pair.best_rank,
            priority=pair.priority,
            everyone=everyone,
            position=position,
        )
        for position, (pair, everyone) in enumerate(
            zip(pairs, pairs.everyone.tolist(), strict=True)
        )
    )
    while batch := list(islice(entries, jobs.ROWS)):
        insert_rows(prepare_insert(batch))
    return pool


def link_stored_texts(pool: Pool) -> int:
    """Link the pairs of a small pool to the stored texts. Returns the number of pairs still without
    one."""
    waiting = list(pool.entries.filter(document=None))
    for start in range(0, len(waiting), MAX_INLINE_PAIRS):
        some = waiting[start : start + MAX_INLINE_PAIRS]
        known = dict(
            Document.objects.filter(
                collection=pool.collection_id, docno__in={one.docno for one in some}
            ).values_list("docno", "pk")
        )
        for one in some:
            one.document_id = known.get(one.docno)
        PoolEntry.objects.bulk_update([one for one in some if one.document_id], ["document"])
    pool.missing_documents = sum(one.document_id is None for one in waiting)
    pool.save(update_fields=["missing_documents"])
    return pool.missing_documents

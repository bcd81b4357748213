"""A pool's pairs as columns and as entries, shared by building, sampling, planning and extending."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
from django.utils.translation import gettext as _

from assay.formats.pool import write_pool
from assay.pools import coverage
from assay.pools.depth import PooledPairs
from pooling.models import Job, Pool, PoolEntry
from pooling.platform.jobs import ClaimedJob, Refused
from pooling.services.rows import update_rows


def check_idle(pool: Pool) -> None:
    if Job.objects.filter(
        collection=pool.collection_id, parameters__pool=pool.pk, state__in=Job.ACTIVE
    ).exists():
        raise Refused(
            _("%(pool)s is in use by a background job. Wait until it has finished.")
            % {"pool": pool.name}
        )


def get_job_pool(work: ClaimedJob) -> Pool:
    pool = Pool.objects.select_related("collection").filter(pk=work.parameters["pool"]).first()
    if pool is None:
        raise Refused(_("The pool no longer exists."))
    return pool


def get_seed(pool: Pool) -> int:
    return pool.seed % 2**64  # the generator refuses negative seeds, which older pools may have


def load_stored_pairs(pool: Pool) -> tuple[PooledPairs, dict[tuple[str, str], int]]:
    """Load the pool's stored pairs. Returns (entries as columns in their order, (topic ID, docno)
    -> entry ID)."""
    rows = list(
        pool.entries.order_by("position").values_list(
            "topic__topic_id", "docno", "best_rank", "priority", "contributions", "pk", "everyone"
        )
    )
    tags = list(pool.runs.order_by("tag").values_list("tag", flat=True))
    tags += sorted({tag for row in rows for tag in row[4]} - set(tags))
    column = {tag: i for i, tag in enumerate(tags)}
    topics = sorted({row[0] for row in rows}, key=lambda topic: topic.encode("utf-8"))
    index = {topic: i for i, topic in enumerate(topics)}
    ranks = np.zeros((len(rows), len(tags)), np.int16)
    for i, row in enumerate(rows):
        for tag, rank in row[4].items():
            ranks[i, column[tag]] = rank
    pairs = PooledPairs(
        depth=pool.least_depth,
        tags=tags,
        topics=topics,
        topic=np.array([index[row[0]] for row in rows], np.int32),
        documents=np.array([row[1].encode("utf-8") for row in rows] or [], "S" if rows else "S8"),
        best_rank=np.array([row[2] for row in rows], np.int32),
        priority=np.array([row[3] for row in rows], np.int32),
        ranks=ranks,
        everyone=np.array([row[6] for row in rows], bool),
    )
    return pairs, {(row[0], row[1]): row[5] for row in rows}


def make_new_entries(
    pool: Pool, pairs: PooledPairs, entry_of: dict[tuple[str, str], int]
) -> Iterator[PoolEntry]:
    """Yield unsaved pool entries for the pairs that are not stored yet (not in `entry_of`)."""
    topics = dict(pool.collection.topics.values_list("topic_id", "pk"))
    for position, pair in enumerate(pairs):
        if (pair.topic, pair.document) not in entry_of:
            yield PoolEntry(
                pool=pool,
                topic_id=topics[pair.topic],
                docno=pair.document,
                best_rank=pair.best_rank,
                priority=pair.priority,
                position=position,
                contributions=dict(pair.runs),
            )


def find_changed_entries(
    pool: Pool, pairs: PooledPairs, entry_of: dict[tuple[str, str], int]
) -> list[tuple[int, int, int, str, int]]:
    """Return (best rank, priority, position, contributions as JSON, ID) of the entries in
    `entry_of` that differ from `pairs`."""
    stored = {
        row[0]: row[1:]
        for row in pool.entries.values_list(
            "pk", "best_rank", "priority", "position", "contributions"
        )
    }
    changed = []
    for position, pair in enumerate(pairs):
        row = entry_of.get((pair.topic, pair.document))
        if row is not None and stored[row] != (
            pair.best_rank,
            pair.priority,
            position,
            dict(pair.runs),
        ):
            changed.append(
                (pair.best_rank, pair.priority, position, json.dumps(dict(pair.runs)), row)
            )
    return changed


def update_entries(rows: list[tuple[int, int, int, str, int]]) -> None:
    """Store the changes of pool entries that `find_changed_entries` returned."""
    update_rows(PoolEntry, ("best_rank", "priority", "position", "contributions"), rows)


def compute_figures(pairs: PooledPairs) -> dict[str, Any]:
    """Compute the statistics by_depth, unique, overlap, contributed and shared, which the preview
    and the pool's page show."""
    shared = coverage.count_shared_pairs(pairs)
    ratio = coverage.compute_overlap(pairs)
    tags = pairs.tags
    return {
        "by_depth": {str(k): n for k, n in pairs.by_depth().items()},
        "unique": dict(zip(tags, coverage.count_unique_pairs(pairs).tolist(), strict=True)),
        "contributed": {tag: int(shared[i, i]) for i, tag in enumerate(tags)},
        "overlap": {
            a: {
                b: None if np.isnan(ratio[i, j]) else float(ratio[i, j]) for j, b in enumerate(tags)
            }
            for i, a in enumerate(tags)
        },
    }


def digest_pool(pairs: PooledPairs) -> str:
    """Return the SHA-256 digest of the pool's file."""
    text = io.StringIO()
    write_pool(pairs, text)
    return hashlib.sha256(text.getvalue().encode("utf-8")).hexdigest()


def describe_pairs(pairs: PooledPairs, **more: Any) -> dict[str, Any]:
    """Compute the summary of its pairs that a pool's row stores."""
    pool_figures = compute_figures(pairs)
    coverage_of_runs = {name: pool_figures[name] for name in ("unique", "overlap", "contributed")}
    return {
        "n_pairs": len(pairs),
        "by_depth": pool_figures["by_depth"],
        "coverage": coverage_of_runs,
        "digest": digest_pool(pairs),
        **more,
    }

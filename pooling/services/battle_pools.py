"""Pools of battles: two documents of a topic that annotators compare side by side.

A pool of runs compares the first documents of two runs. Its pairs are reproducible from the runs,
the number of rounds, the share of repeated battles and the seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from assay.pools.battles import DocumentBattle, draw_battles, pair_documents
from assay.pools.depth import cut_run
from assay.pools.pool_kinds import PoolKind, get_stage_priority
from pooling.models import Collection, Pool, PoolEntry, Run
from pooling.platform import jobs
from pooling.platform.jobs import Refused
from pooling.services.pools import check_runs
from pooling.services.rows import insert_rows, prepare_insert
from pooling.services.runs import load_rankings

DEFAULT_REPEATED = 0.1


def create_battle_pool(
    collection: Collection,
    *,
    name: str,
    runs: Sequence[Run] = (),
    rounds: int = 1,
    repeated: float = DEFAULT_REPEATED,
    seed: int = 0,
    battles: Sequence[DocumentBattle] = (),
    source: str = "",
    user: Any = None,
) -> Pool:
    """Create a pool of battles of runs, or of the `battles` read from the file `source`, and link
    its texts.

    repeated: share of each round's battles that are shown again with exchanged sides. Raises
    Refused for topics that the collection lacks, or without any battle.
    """
    if not battles:
        check_runs(collection, runs)
        battles = draw_from_runs(collection, runs, rounds=rounds, repeated=repeated, seed=seed)
    topics = dict(collection.topics.filter(removed_reason="").values_list("topic_id", "pk"))
    if absent := sorted({one.topic for one in battles} - set(topics)):
        raise Refused(
            _("The collection has no topic %(topic)s. Missing topics: %(n)s.")
            % {"topic": absent[0][:60], "n": f"{len(absent):,}"}
        )
    if collection.pools.filter(name=name).exists():
        raise Refused(
            _("A pool named %(given)s already exists. Choose another name.") % {"given": name}
        )
    with transaction.atomic():
        pool = Pool.objects.create(
            collection=collection,
            name=name,
            kind=PoolKind.BATTLES,
            parameters={} if source else {"rounds": rounds, "repeated": repeated},
            seed=seed,
            source=source[:255],
            n_pairs=len(battles),
            missing_documents=len(battles),
            created_by=user if user is not None and user.is_authenticated else None,
            built_at=timezone.now(),
        )
        pool.runs.set(runs)
        entries = [
            PoolEntry(
                pool=pool,
                topic_id=topics[one.topic],
                docno=one.left,
                other_docno=one.right,
                systems=[list(pair) for pair in one.systems],
                best_rank=0 if source else 1,
                priority=get_stage_priority(one.round),
                position=position,
            )
            for position, one in enumerate(battles)
        ]
        insert_rows(prepare_insert(entries))
    jobs.run_to_end(
        jobs.enqueue(
            "fetch documents",
            {"pool": pool.pk},
            label=f"Fetch texts for the pool {pool.name}",
            user=user,
            collection=collection,
        )
    )
    pool.refresh_from_db()
    return pool


def draw_from_runs(
    collection: Collection, runs: Sequence[Run], *, rounds: int, repeated: float, seed: int
) -> list[DocumentBattle]:
    """Draw battles between the first documents of runs. Raises Refused if there are none."""
    kept = list(collection.topics.filter(removed_reason="").values_list("topic_id", flat=True))
    document_of: dict[tuple[str, str], str] = {}
    systems: dict[str, list[str]] = {}
    for run in sorted(runs, key=lambda one: one.tag):
        top = cut_run(load_rankings(run), 1, topics=kept)
        for topic, document in zip(top.topics, top.documents.tolist(), strict=True):
            document_of[run.tag, topic] = document.decode("utf-8")
            systems.setdefault(topic, []).append(run.tag)
    drawn = draw_battles(
        systems, rounds=rounds, repeated=repeated, rng=np.random.default_rng(seed % 2**64)
    )
    battles = pair_documents(drawn, document_of)
    if not battles:
        raise Refused(
            _(
                "The chosen runs have the same top-ranked document for every topic, so there is "
                "nothing to compare. Choose other runs."
            )
        )
    return battles


def list_battles(pool: Pool) -> list[DocumentBattle]:
    """Return the battles of a pool in their order."""
    columns = ("topic__topic_id", "docno", "other_docno", "priority", "systems")
    return [
        DocumentBattle(topic, a, b, pool.level_of(priority), tuple((x, y) for x, y in systems))
        for topic, a, b, priority, systems in pool.entries.order_by("position").values_list(
            *columns
        )
    ]

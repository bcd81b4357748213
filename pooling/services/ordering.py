"""Prioritised pools in the database: most likely relevant pairs first, in planned batches with
audit pairs mixed in.

The first batch is planned when the pool is built, each later one by a job from the judgements so
far. A batch is a stage of the pool and has one stratum: the pairs that waited when it was planned,
of which its audit pairs are a random sample. The other pairs of the batch are selected and belong
to no stratum.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from django.db import connection
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from assay.pools.batches import DEFAULT_AUDIT, DEFAULT_SIZE, Batch, BatchGoal, OrderedPool
from assay.pools.depth import PooledPairs, select_topics
from assay.pools.pool_kinds import MAX_AUDIT, MAX_IN_BATCH, PoolKind, SelectionMethod
from assay.pools.pool_sentences import describe_half_judged_prioritised_pool
from assay.pools.stages import arrange_in_stages
from pooling import hooks
from pooling.models import Job, Pool, PoolEntry, Stratum
from pooling.platform import jobs
from pooling.platform.jobs import ClaimedJob, MalformedRequest, Refused
from pooling.services import pool_pairs
from pooling.services.documents import find_stored_docnos, store_documents


def make_ordered_parameters(
    goal: str = BatchGoal.RELEVANT, *, batch: int = DEFAULT_SIZE, audit: float = DEFAULT_AUDIT
) -> dict[str, Any]:
    """Return the parameters of a prioritised pool. Raises Refused for invalid values."""
    if goal not in list(BatchGoal):
        raise MalformedRequest(
            _("Unknown goal. Choose one of %(goal)s.") % {"goal": ", ".join(BatchGoal)}
        )
    if not 1 <= batch <= MAX_IN_BATCH:
        raise MalformedRequest(
            _("The batch size must be from 1 to %(most)s pairs.") % {"most": f"{MAX_IN_BATCH:,}"}
        )
    if not 0 <= audit <= MAX_AUDIT:
        raise MalformedRequest(
            _(
                "The audit sample must be between 0 and %(most)s. For a larger share, build a sampled "
                "pool."
            )
            % {"most": f"{MAX_AUDIT:g}"}
        )
    return {"goal": str(goal), "batch": batch, "audit": audit}


def preview_batches(pairs: PooledPairs, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Preview the batches of a prioritised pool. Returns batches (number until all pairs are
    judged), batch (pairs), audit (of them random),
    half_way: sentences."""
    size, audit = parameters["batch"], parameters["audit"]
    figures = {
        "batches": math.ceil(len(pairs) / size),
        "batch": min(size, len(pairs)),
        "audit": round(audit * min(size, len(pairs))),
    }
    return figures | {
        "half_way": describe_half_judged_prioritised_pool(pairs=len(pairs), batch=size, audit=audit)
    }


def fill_ordered_pool(work: ClaimedJob, pool: Pool, pairs: PooledPairs) -> PooledPairs:
    """Store the entries of an empty pool, with its first batch. Returns the pairs in judging order."""
    first = _plan_batch(
        pool, pairs, np.full(len(pairs), np.nan), _lacks_text(work, pool, pairs), number=1
    )
    order = np.concatenate([first.rows, np.setdiff1d(np.arange(len(pairs)), first.rows)])
    stage = np.zeros(len(pairs), np.int32)
    stage[first.rows] = 1
    arranged = arrange_in_stages(pairs, stage, order)
    by_chance = np.zeros(len(pairs), bool)
    by_chance[first.rows[first.audit]] = True
    with work.writing():
        pool.strata.all().delete()
        _make_stratum(pool, 1, first).save(force_insert=True)

    def entries() -> Any:
        for entry, row in zip(
            pool_pairs.make_new_entries(pool, arranged, {}), order.tolist(), strict=True
        ):
            if stage[row]:
                entry.stage, entry.entered = (
                    1,
                    (SelectionMethod.CHANCE if by_chance[row] else SelectionMethod.CHOICE).value,
                )
                entry.stratum = 1 if by_chance[row] else None
            yield entry

    work.write_in_batches(
        entries(), lambda batch: PoolEntry.objects.bulk_create(batch), counts_progress=True
    )
    return arranged


def _lacks_text(work: ClaimedJob, pool: Pool, pairs: PooledPairs) -> NDArray[np.bool_]:
    """Return which pairs have no text, as bool (n_pairs). They cannot be judged and are left out of
    the first batch. If there are no texts at all yet, no pair is left out."""
    docnos = {docno.decode("utf-8") for docno in pairs.documents.tolist()}
    store_documents(work, pool.collection, docnos)
    stored = find_stored_docnos(pool.collection, docnos)
    return np.array(
        [
            bool(stored) and docno.decode("utf-8") not in stored
            for docno in pairs.documents.tolist()
        ],
        bool,
    )


def _plan_batch(
    pool: Pool,
    pairs: PooledPairs,
    labels: NDArray[np.float64],
    handed: NDArray[np.bool_],
    *,
    number: int,
) -> Batch:
    made = pool.parameters
    return OrderedPool.from_pool(pairs).plan_batch(
        labels,
        handed,
        stage=number - 1,
        seed=pool_pairs.get_seed(pool),
        size=made["batch"],
        audit=made["audit"],
        goal=BatchGoal(made["goal"]),
    )


def _make_stratum(pool: Pool, number: int, batch: Batch) -> Stratum:
    drawn = [0] * (number - 1) + [int(batch.audit.sum())]
    return Stratum(pool=pool, number=number, name=f"*left{number}", size=batch.n_left, drawn=drawn)


def order_by_batches(
    pool: Pool, pairs: PooledPairs, entry_of: Mapping[tuple[str, str], int]
) -> PooledPairs:
    """Return the pairs of a pool that has grown or shrunk: planned batches first, then waiting
    pairs by best rank.

    entry_of: IDs of the stored entries.
    """
    stored = {
        pk: (stage, position)
        for pk, stage, position in pool.entries.values_list("pk", "stage", "position")
    }
    known = [stored.get(entry_of.get((pair.topic, pair.document), 0), (None, 0)) for pair in pairs]
    stage = np.array([one or 0 for one, _ in known], np.int32)
    place = np.array([position if one else len(known) for one, position in known], np.int64)
    return arrange_in_stages(pairs, stage, np.argsort(place, kind="stable"))


def count_waiting_pairs(pool: Pool) -> int:
    """Return the number of pairs of kept topics with a text that no batch contains yet."""
    return pool.entries.filter(stage=None, topic__removed_reason="", document__isnull=False).count()


def request_batch(pool: Pool, *, user: Any) -> Job:
    """Request the job that plans the next batch."""
    if pool.kind != PoolKind.ORDERED:
        raise Refused(
            _("%(pool)s is not a prioritised pool, so it has no batches.") % {"pool": pool.name}
        )
    if pool.built_at is None:
        raise Refused(_("%(pool)s is not built yet.") % {"pool": pool.name})
    if not count_waiting_pairs(pool):
        raise Refused(
            _("All pairs in %(pool)s that have a text are already in a batch.")
            % {"pool": pool.name}
        )
    pool_pairs.check_idle(pool)
    number = pool.strata.count() + 1
    label = f"Plan batch {number} of {pool.name}"
    return jobs.enqueue(
        "plan batch",
        {"pool": pool.pk, "batch": number},
        label=label,
        user=user,
        collection=pool.collection,
    )


@jobs.register_job_kind("plan batch", unit="pairs")
def plan_batch(work: ClaimedJob) -> dict[str, Any]:
    """Fit the model to the judgements and add the next batch. Returns the report: facts, warnings,
    pool.

    A batch is planned once. A repeated attempt that finds it only completes the following steps.
    The same judgements give the same batch.
    """
    pool, number = pool_pairs.get_job_pool(work), work.parameters["batch"]
    n_before = pool.strata.count()
    if number > n_before + 1:
        raise Refused(
            _("Batch %(number)s of %(pool)s can't be planned before the previous one. Try again.")
            % {"number": number, "pool": pool.name}
        )
    if number == n_before + 1:
        _store_batch(work, pool, number)
    work.past_cancelling = True
    pool.refresh_from_db()
    for catch_up in hooks.on_extended:
        catch_up(pool, work)
    new = pool.entries.filter(stage=number)
    n_new, n_audit = new.count(), new.filter(entered=SelectionMethod.CHANCE).count()
    with work.completion_transaction() as report:
        facts = {"pairs": pool.n_pairs, "batch": number, "new pairs": n_new, "audit pairs": n_audit}
        facts["pairs in batches"] = pool.entries.exclude(stage=None).count()
        report.update(facts=facts, warnings=[], pool=pool.pk)
    return report


def _store_batch(work: ClaimedJob, pool: Pool, number: int) -> None:
    """Plan and store a batch in one transaction with a lock, so that no other planning runs."""
    labels = {
        entry: relevant for known in hooks.labels_so_far for entry, relevant in known(pool).items()
    }
    pairs, entry_of = pool_pairs.load_stored_pairs(pool)
    # Arrays below follow the order of `pairs`; `keys` leads back to the entries' rows.
    keys = np.array([entry_of[pair.topic, pair.document] for pair in pairs], np.int64)
    rows = {
        row.pk: row
        for row in pool.entries.select_related("topic").only(
            "pk", "stage", "position", "document", "topic__removed_reason"
        )
    }
    stage = np.array([rows[pk].stage or 0 for pk in keys.tolist()], np.int32)
    # A pair without text could not be judged, so it takes no place of a batch.
    handed = np.array(
        [bool(rows[pk].stage) or rows[pk].document_id is None for pk in keys.tolist()], bool
    )
    label = np.array([labels.get(pk, np.nan) for pk in keys.tolist()], np.float64)
    kept, of_kept = select_topics(
        pairs,
        {rows[pk].topic.topic_id for pk in keys.tolist() if not rows[pk].topic.removed_reason},
    )
    if handed[of_kept].all():
        raise Refused(
            _("All pairs in %(pool)s that have a text are already in a batch.")
            % {"pool": pool.name}
        )
    batch = _plan_batch(pool, kept, label[of_kept], handed[of_kept], number=number)
    chosen = of_kept[batch.rows]
    stage[chosen] = number
    order = _compute_new_order(chosen, stage, number)
    arranged = arrange_in_stages(pairs, stage, order)
    changed = pool_pairs.find_changed_entries(pool, arranged, entry_of)
    with work.writing():
        if connection.features.has_select_for_update:
            Pool.objects.select_for_update().get(pk=pool.pk)
        if pool.strata.filter(number=number).exists():
            return  # another attempt has stored it meanwhile
        _make_stratum(pool, number, batch).save(force_insert=True)
        for by_chance, entered in ((True, SelectionMethod.CHANCE), (False, SelectionMethod.CHOICE)):
            ids = keys[chosen[batch.audit == by_chance]].tolist()
            for start in range(0, len(ids), jobs.SQLITE_ROWS):
                some = PoolEntry.objects.filter(pk__in=ids[start : start + jobs.SQLITE_ROWS])
                some.update(
                    stage=number, entered=entered.value, stratum=number if by_chance else None
                )
        pool_pairs.update_entries(changed)
        Pool.objects.filter(pk=pool.pk).update(digest=pool_pairs.digest_pool(arranged))


def _compute_new_order(
    chosen: NDArray[np.int64], stage: NDArray[np.int32], number: int
) -> NDArray[np.int64]:
    """Return the pool's rows in their order after a new batch: earlier batches keep their
    positions, this one follows, and the pairs that it displaces take the positions that it leaves.
    """
    n_before = int(((stage > 0) & (stage < number)).sum())
    order = np.arange(len(stage), dtype=np.int64)
    places = np.arange(n_before, n_before + len(chosen))
    displaced = np.setdiff1d(places, chosen)
    freed = np.setdiff1d(chosen, places)
    order[freed] = displaced
    order[places] = chosen
    return order

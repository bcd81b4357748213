"""Build pools, extend them by runs or depth, fetch their texts, and delete them
(docs/reference/methods/topics-and-pools.md).

A pool is reproducible from its runs, depth and seed and the kept topics. Extending it gives the
same pairs as building it from all its runs, and keeps all existing pairs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from django.db import IntegrityError, transaction
from django.db.models import ProtectedError
from django.utils import timezone
from django.utils.translation import gettext as _

from assay.number_words import format_part
from assay.pools.depth import PooledPairs, RunTop, cut_run, make_depth_pool
from assay.pools.depth import extend_pool as extended
from assay.pools.pool_kinds import PoolKind, kind_from_parameters
from pooling import hooks
from pooling.models import Collection, Job, Pool, PoolEntry, Run
from pooling.platform import jobs
from pooling.platform.jobs import ClaimedJob, Refused
from pooling.services import ordering, sampling, unpooled_strata
from pooling.services.documents import MAX_ID_LENGTH, link_documents, store_documents
from pooling.services.pool_names import default_name, name_after_change
from pooling.services.pool_pairs import (
    check_idle,
    describe_pairs,
    find_changed_entries,
    get_job_pool,
    get_seed,
    load_stored_pairs,
    make_new_entries,
    update_entries,
)
from pooling.services.rows import insert_rows, prepare_insert
from pooling.services.runs import load_rankings

MAX_PAIRS = 5_000_000
"""Maximum number of pairs of a pool. Larger pools cannot be judged, and the depth is most likely
wrong."""


def request_pool(
    collection: Collection,
    *,
    runs: Sequence[Run],
    depth: int,
    seed: int = 0,
    name: str = "",
    making: Mapping[str, Any] = MappingProxyType({}),
    user: Any,
) -> Job:
    """Create an empty pool, and the job that builds it (parameters: pool). making: parameters of a
    sampled or prioritised pool."""
    check_runs(collection, runs)
    given = name.strip()
    kind = kind_from_parameters(making)
    wanted = given or default_name(depth, len(runs), kind=kind)
    with transaction.atomic():
        for number in range(1, 1000):
            try:
                with transaction.atomic():
                    pool = Pool.objects.create(
                        collection=collection,
                        name=wanted if number == 1 else f"{wanted} ({number})",
                        kind=kind,
                        depth=depth,
                        parameters=dict(making),
                        seed=seed,
                        created_by=user if user is not None and user.is_authenticated else None,
                    )
                break
            except IntegrityError:
                if given:
                    raise Refused(
                        _("A pool named %(given)s already exists. Choose another name.")
                        % {"given": given}
                    ) from None
        else:
            raise Refused(_("Enter a name for the pool."))
        pool.runs.set(runs)
        return jobs.enqueue(
            "build pool",
            {"pool": pool.pk},
            label=f"Build the pool {pool.name}",
            user=user,
            collection=collection,
        )


def request_rebuild(pool: Pool, *, user: Any) -> Job:
    """Request the job that builds a pool whose first job failed or was cancelled."""
    if pool.built_at is not None:
        raise Refused(
            _("%(pool)s has already been built. Extend it instead.") % {"pool": pool.name}
        )
    check_idle(pool)
    return jobs.enqueue(
        "build pool",
        {"pool": pool.pk},
        label=f"Build the pool {pool.name}",
        user=user,
        collection=pool.collection,
    )


def request_extension(
    pool: Pool, *, runs: Sequence[Run] = (), depth: int | None = None, user: Any
) -> Job:
    """Request the job that adds runs, increases the depth, or both. Judgements do not change."""
    new, deeper = check_extension(pool, runs=runs, depth=depth)
    what = [f"with {len(new)} run{'s' if len(new) != 1 else ''}"] if new else []
    what += [f"to depth {deeper}"] if deeper > pool.least_depth else []
    parameters = {"pool": pool.pk, "runs": [run.pk for run in new], "depth": deeper}
    return jobs.enqueue(
        "extend pool",
        parameters,
        label=f"Extend the pool {pool.name} {' and '.join(what)}",
        user=user,
        collection=pool.collection,
    )


def check_extension(pool: Pool, *, runs: Sequence[Run], depth: int | None) -> tuple[list[Run], int]:
    """Return (the runs that the pool lacks, the depth). Raises Refused if the pool cannot be
    extended this way."""
    least, deeper = pool.least_depth, depth or pool.least_depth
    run_rows = set(pool.runs.values_list("pk", flat=True))
    new = [run for run in runs if run.pk not in run_rows]
    if pool.built_at is None:
        raise Refused(_("%(pool)s is not built yet.") % {"pool": pool.name})
    if pool.kind == PoolKind.BATTLES:
        raise Refused(
            _("%(pool)s is a pool of battles, which can't be extended. Create another pool.")
            % {"pool": pool.name}
        )
    if pool.kind == PoolKind.SAMPLED and deeper != least:
        says = _(
            "%(pool)s is %(words)s, so its depth can't change. Draw another stage, or add unpooled "
            "runs."
        )
        raise Refused(says % {"pool": pool.name, "words": pool.words})
    if deeper < least:
        raise Refused(
            _("%(pool)s has depth %(least)s, and the depth of a pool can't be reduced.")
            % {"pool": pool.name, "least": least}
        )
    if not new and deeper == least:
        raise Refused(
            _("There is nothing to add. Select additional runs, or a depth above %(least)s.")
            % {"least": least}
        )
    if new:
        check_runs(pool.collection, new)
    check_idle(pool)
    return new, deeper


def request_documents(pool: Pool, *, user: Any) -> Job:
    """Request the job that searches the document files again for missing texts."""
    if not pool.missing_documents:
        raise Refused(_("Every pair already has its text."))
    check_idle(pool)
    return jobs.enqueue(
        "fetch documents",
        {"pool": pool.pk},
        label=f"Fetch texts for the pool {pool.name}",
        user=user,
        collection=pool.collection,
    )


def check_runs(collection: Collection, runs: Sequence[Run]) -> None:
    if not runs:
        raise Refused(_("Select at least one run."))
    if any(run.collection_id != collection.pk for run in runs):
        raise Refused(_("One of the selected runs belongs to another collection."))
    if not collection.topics.filter(removed_reason="").exists():
        raise Refused(_("The collection has no topics yet. Import them first."))


@jobs.register_job_kind("build pool", unit="pairs")
def build_pool(work: ClaimedJob) -> dict[str, Any]:
    """Fill an empty pool. Returns the report: facts, warnings."""
    pool = get_job_pool(work)
    if pool.built_at is not None:
        raise Refused(_("%(pool)s has already been built.") % {"pool": pool.name})
    leftover = PoolEntry.objects.filter(pool=pool).order_by("pk")
    while some := list(leftover.values_list("pk", flat=True)[: jobs.SQLITE_ROWS]):
        # stored by an interrupted attempt
        with work.writing():
            PoolEntry.objects.filter(pk__in=some).delete()
    pairs, warnings = compute_pool(
        work, pool.collection, list(pool.runs.all()), depth=pool.least_depth, seed=pool.seed
    )
    work.progress(0, total=len(pairs), message="writing pairs", now=True)
    if pool.kind == PoolKind.SAMPLED:
        pairs = sampling.fill_sampled_pool(work, pool, pairs)
    elif pool.kind == PoolKind.ORDERED:
        pairs = ordering.fill_ordered_pool(work, pool, pairs)
    else:
        work.write_in_batches(
            make_new_entries(pool, pairs, {}),
            lambda batch: PoolEntry.objects.bulk_create(batch),
            counts_progress=True,
        )
    return _finish_pool(
        work, pool, pairs, warnings, built_at=timezone.now(), **describe_pairs(pairs)
    )


@jobs.register_job_kind("extend pool", unit="pairs")
def extend_pool(work: ClaimedJob) -> dict[str, Any]:
    """Add runs or depth to a pool. All pairs are kept, and best ranks can only improve. Returns the
    report: facts, warnings.

    The pool changes in one transaction, so old and new ranks are never mixed, even if the job is
    cancelled or its worker dies. The following steps (campaigns, texts) are repeated by the next
    attempt until they are complete and cannot be cancelled.
    """
    pool = get_job_pool(work)
    new = list(pool.collection.runs.filter(pk__in=work.parameters["runs"]))
    runs = [*pool.runs.all(), *(run for run in new)]
    deeper = max(work.parameters["depth"], pool.least_depth)
    before, entry_of = load_stored_pairs(pool)
    tops, warnings = read_run_tops(
        work, pool.collection, sorted(set(runs), key=lambda run: run.tag), deeper
    )
    pairs = extended(before, tops, depth=deeper, rng=np.random.default_rng(get_seed(pool)))
    grown = None
    if pool.kind == PoolKind.SAMPLED:  # new pairs are sampled in a stage of their own
        grown = unpooled_strata.make_late_strata(pool, pairs, entry_of)
        pairs = grown.pairs
    elif pool.kind == PoolKind.ORDERED:
        pairs = ordering.order_by_batches(pool, pairs, entry_of)
    was: dict[str, Any] = {
        "runs": sorted(pool.runs.values_list("pk", flat=True)),
        "depth": pool.depth,
    }
    was["extended_at"] = pool.extended_at.isoformat() if pool.extended_at else None
    if pool.kind == PoolKind.ORDERED:
        was["n_batches"] = pool.strata.count()
    if grown is not None:
        was["n_stages"] = len(pool.parameters["stages"])
    was = work.parameters.get("before", was)
    # an earlier attempt may have added the pairs
    n_before = work.parameters.get("n_before", len(entry_of))
    fresh = list(make_new_entries(pool, pairs, entry_of))
    if grown is not None:
        grown.mark(fresh)
    entries = prepare_insert(fresh)
    changes = find_changed_entries(pool, pairs, entry_of)
    described = describe_pairs(
        pairs,
        depth=deeper,
        extended_at=timezone.now(),
        name=name_after_change(pool, deeper, len(set(runs))),
    )
    work.progress(0, total=len(entries.values), message="writing pairs", now=True)
    with work.writing():
        insert_rows(entries)
        pool.runs.add(*new)
        missing = pool.entries.filter(PoolEntry.LACKS_TEXT).count()
        Pool.objects.filter(pk=pool.pk).update(**described, missing_documents=missing)
        update_entries(changes)
        if grown is not None:
            grown.write()
        Job.objects.filter(pk=work.job.pk).update(
            parameters={**work.parameters, "n_before": n_before, "before": was},
            cancel_requested=False,
        )
    work.past_cancelling = True
    for catch_up in hooks.on_extended:
        catch_up(pool, work)
    return _finish_pool(work, pool, pairs, warnings, n_before=n_before)


@jobs.register_job_kind("fetch documents", unit="documents")
def fetch_documents(work: ClaimedJob) -> dict[str, Any]:
    """Read the texts of a pool's pairs from the collection's document files. Returns the report:
    facts."""
    pool = get_job_pool(work)
    stored = store_pool_texts(work, pool)
    missing = pool.entries.filter(PoolEntry.LACKS_TEXT).count()
    with work.completion_transaction() as report:
        Pool.objects.filter(pk=pool.pk).update(missing_documents=missing)
        report.update(
            facts={"texts stored": stored, "pairs without text": missing}, warnings=[], pool=pool.pk
        )
    return report


def store_pool_texts(work: ClaimedJob, pool: Pool) -> int:
    """Store and link the texts that the pool's pairs lack, and notify campaigns. Returns the number
    of texts stored."""
    lacking = pool.entries.filter(PoolEntry.LACKS_TEXT).values_list("docno", "other_docno")
    docnos = {docno for both in lacking for docno in both if docno}
    stored = store_documents(work, pool.collection, docnos)
    link_documents(work, pool)
    for serve in hooks.on_texts:
        serve(pool, work)
    return stored


def compute_pool(
    work: ClaimedJob, collection: Collection, runs: Sequence[Run], *, depth: int, seed: int
) -> tuple[PooledPairs, list[str]]:
    """Compute the pairs of a pool from its runs. Returns (pairs of the kept topics, warnings)."""
    tops, warnings = read_run_tops(work, collection, runs, depth)
    return pool_tops(tops, depth=depth, seed=seed), warnings


def pool_tops(tops: Sequence[RunTop], *, depth: int, seed: int) -> PooledPairs:
    pairs = make_depth_pool(tops, depth=depth, rng=np.random.default_rng(seed % 2**64))
    if not len(pairs):
        raise Refused(
            _(
                "The runs have no results for the collection's topics. Check that runs and topics use the "
                "same topic IDs."
            )
        )
    if pairs.documents.dtype.itemsize > MAX_ID_LENGTH:
        long = next(
            (one for one in pairs.documents.tolist() if len(one.decode("utf-8")) > MAX_ID_LENGTH),
            None,
        )
        if long is not None:
            raise Refused(
                _("A document ID is longer than %(most)s characters: %(id)s…")
                % {"most": MAX_ID_LENGTH, "id": long.decode("utf-8")[:60]}
            )
    if len(pairs) > MAX_PAIRS:
        raise Refused(
            _("%(n)s pairs exceed the maximum pool size. Choose a smaller depth or fewer topics.")
            % {"n": f"{len(pairs):,}"}
        )
    return pairs


def read_run_tops(
    work: ClaimedJob, collection: Collection, runs: Sequence[Run], deep: int, *, kept_to: int = 0
) -> tuple[list[RunTop], list[str]]:
    """Read the top ranks of each run, loading one complete run at a time.

    kept_to: read at least to this rank, so that deeper pools can be counted. Warnings refer to
    `deep` only.
    """
    kept = list(collection.topics.filter(removed_reason="").values_list("topic_id", flat=True))
    tops, warnings, seen = [], [], set()
    for number, run in enumerate(runs):
        work.progress(number, total=len(runs), message=f"reading {run.tag}", now=True)
        rankings = load_rankings(run)
        tops.append(cut_run(rankings, max(deep, kept_to), topics=kept))
        seen.update(tops[-1].topics)
        absent = len(kept) - len(tops[-1].topics)
        if absent:
            warnings.append(
                f"run {run.tag} has no result for {format_part(absent, len(kept), 'topic')}"
            )
        if run.max_depth < deep:
            warnings.append(f"run {run.tag} ends at rank {run.max_depth:,}")
    if nothing := len(kept) - len(seen):
        warnings.append(
            f"{format_part(nothing, len(kept), 'topic', 'has', 'have')} no result in any run and therefore no pairs"
        )
    work.progress(len(runs), message="pooling", now=True)
    return tops, warnings


def _finish_pool(
    work: ClaimedJob,
    pool: Pool,
    pairs: PooledPairs,
    warnings: list[str],
    *,
    n_before: int = 0,
    **changes: Any,
) -> dict[str, Any]:
    stored = store_pool_texts(work, pool)
    missing = pool.entries.filter(PoolEntry.LACKS_TEXT).count()
    if missing:
        warnings.append(
            f"{format_part(missing, len(pairs), 'pair', 'has', 'have')} no text; upload their documents to add the texts"
        )
    with work.completion_transaction() as report:
        Pool.objects.filter(pk=pool.pk).update(missing_documents=missing, **changes)
        facts = {
            "pairs": len(pairs),
            "topics": len(pairs.topics),
            "depth": pairs.depth,
            "texts stored": stored,
            "pairs without text": missing,
        }
        if n_before:
            facts |= {"pairs before": n_before, "new pairs": len(pairs) - n_before}
        report.update(facts=facts, warnings=warnings, pool=pool.pk)
    return report


def delete_pool(pool: Pool) -> None:
    """Delete a pool. Raises Refused while a campaign uses it."""
    check_idle(pool)
    try:
        with transaction.atomic():
            pool.delete()
    except ProtectedError:
        raise Refused(
            _("A campaign uses the pool %(pool)s. Delete the campaign first.") % {"pool": pool.name}
        ) from None

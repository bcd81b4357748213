"""Preview the extension of a pool, and undo an extension of which nothing was judged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from django.db.models import ProtectedError
from django.utils.translation import gettext as _

from assay.pools.depth import extend_pool as extended
from assay.pools.depth import shrink_pool
from assay.pools.pool_kinds import PoolKind
from pooling import hooks
from pooling.models import Job, Pool, PoolEntry, Run
from pooling.platform import jobs
from pooling.platform.jobs import ClaimedJob, Refused
from pooling.services import ordering, pool_pairs, pools, unpooled_strata
from pooling.services.pool_names import name_after_change


def request_extension_preview(
    pool: Pool, *, runs: Sequence[Run] = (), depth: int | None = None, user: Any
) -> Job:
    """Request the job that counts what the extension would add. Nothing changes."""
    new, deeper = pools.check_extension(pool, runs=runs, depth=depth)
    parameters = {"pool": pool.pk, "runs": [run.pk for run in new], "depth": deeper}
    return jobs.enqueue(
        "preview extension",
        parameters,
        label=f"Preview an extension of the pool {pool.name}",
        user=user,
        collection=pool.collection,
    )


@jobs.register_job_kind("preview extension", unit="runs")
def preview_extension(work: ClaimedJob) -> dict[str, Any]:
    """Count what an extension would add. Returns the report: facts, warnings, campaigns (the cost
    for each), and the parameters of the extension."""
    pool = pool_pairs.get_job_pool(work)
    new = list(pool.collection.runs.filter(pk__in=work.parameters["runs"]))
    deeper = max(work.parameters["depth"], pool.least_depth)
    before, entry_of = pool_pairs.load_stored_pairs(pool)
    runs = sorted({*pool.runs.all(), *new}, key=lambda run: run.tag)
    tops, warnings = pools.read_run_tops(work, pool.collection, runs, deeper)
    pairs = extended(
        before, tops, depth=deeper, rng=np.random.default_rng(pool_pairs.get_seed(pool))
    )
    n_new = len(pairs) - len(entry_of)
    facts = {
        "pairs before": len(entry_of),
        "new pairs": n_new,
        "pairs": len(pairs),
        "depth": deeper,
        "runs": len(runs),
    }
    if pool.kind == PoolKind.SAMPLED:
        drawn = unpooled_strata.make_late_strata(pool, pairs, entry_of)
        n_new = facts["pairs drawn"] = drawn.n_drawn
    campaigns = [row for cost in hooks.on_preview for row in cost(pool, n_new)]
    return {
        "facts": facts,
        "warnings": warnings,
        "campaigns": campaigns,
        "runs": work.parameters["runs"],
        "depth": deeper,
        "pool": pool.pk,
    }


def get_last_extension(pool: Pool) -> Job | None:
    """Return the job of the pool's last completed extension if it can be undone, otherwise None."""
    last = (
        pool.collection.jobs.filter(
            kind="extend pool", parameters__pool=pool.pk, state=Job.State.DONE
        )
        .order_by("-created_at")
        .first()
    )
    return (
        last
        if last is not None and "before" in last.parameters and "taken_back" not in last.parameters
        else None
    )


def request_undo_extension(pool: Pool, *, user: Any) -> Job:
    """Request the job that undoes the last extension. Raises Refused if there is none, or if the
    pairs came from a file."""
    pool_pairs.check_idle(pool)
    last = get_last_extension(pool)
    if last is None:
        raise Refused(_("%(pool)s has no extension to undo.") % {"pool": pool.name})
    if (
        pool.kind == PoolKind.ORDERED
        and last.parameters["before"]["n_batches"] != pool.strata.count()
    ):
        raise Refused(
            _(
                "The extension can't be undone because the audit sample of a later batch of "
                "%(pool)s was drawn from the extended pool."
            )
            % {"pool": pool.name}
        )
    stages = last.parameters["before"].get("n_stages")
    if stages is not None and len(pool.parameters["stages"]) > stages + 1:
        raise Refused(
            _(
                "The extension can't be undone because a later stage of %(pool)s was drawn "
                "from the extended pool."
            )
            % {"pool": pool.name}
        )
    if pool.source:
        raise Refused(
            _(
                "%(pool)s contains pairs from %(source)s, so the pairs added by its runs can't be "
                "identified."
            )
            % {"pool": pool.name, "source": pool.source}
        )
    parameters = {"pool": pool.pk, "extension": last.pk}
    return jobs.enqueue(
        "undo extension",
        parameters,
        label=f"Undo the extension of {pool.name}",
        user=user,
        collection=pool.collection,
    )


@jobs.register_job_kind("undo extension", unit="pairs")
def undo_extension(work: ClaimedJob) -> dict[str, Any]:
    """Remove the pairs of the last extension and restore ranks and order, in one transaction.
    Returns the report: facts.

    Raises Refused, and changes nothing, if one of the pairs has a judgement.
    """
    pool = pool_pairs.get_job_pool(work)
    extension = Job.objects.get(pk=work.parameters["extension"])
    if extension.parameters.get("taken_back") == work.job.pk:
        # an interrupted attempt has already undone it
        facts = extension.parameters["taken_back_facts"]
    elif get_last_extension(pool) != extension:
        raise Refused(
            _("%(pool)s has been extended again, or the extension has already been undone.")
            % {"pool": pool.name}
        )
    else:
        facts = _undo_extension(work, pool, extension)
    work.past_cancelling = True
    pool.refresh_from_db()
    for catch_up in hooks.on_extended:
        catch_up(pool, work)
    return {"facts": facts, "warnings": [], "pool": pool.pk}


def _undo_extension(work: ClaimedJob, pool: Pool, extension: Job) -> dict[str, int]:
    """Undo an extension of a pool. Returns the facts of the report."""
    was = extension.parameters["before"]
    runs = list(pool.collection.runs.filter(pk__in=was["runs"]))
    now, entry_of = pool_pairs.load_stored_pairs(pool)
    pairs = shrink_pool(
        now,
        tags=[run.tag for run in runs],
        depth=was["depth"],
        rng=np.random.default_rng(pool_pairs.get_seed(pool)),
    )
    if pool.kind == PoolKind.SAMPLED:
        pairs = unpooled_strata.order_by_stages(pool, pairs, entry_of)
    elif pool.kind == PoolKind.ORDERED:
        pairs = ordering.order_by_batches(pool, pairs, entry_of)
    kept = {(pair.topic, pair.document) for pair in pairs}
    gone = sorted(row for pair, row in entry_of.items() if pair not in kept)
    staying = {pair: row for pair, row in entry_of.items() if pair in kept}
    changes = pool_pairs.find_changed_entries(pool, pairs, staying)
    described = pool_pairs.describe_pairs(
        pairs,
        depth=was["depth"],
        extended_at=was["extended_at"],
        name=name_after_change(pool, was["depth"], len(runs)),
    )
    facts = {
        "pairs": len(pairs),
        "pairs removed": len(gone),
        "depth": was["depth"],
        "runs": len(runs),
    }
    try:
        with work.writing():
            for give_back_pairs in hooks.before_taking_back:
                give_back_pairs(pool, gone)
            for start in range(0, len(gone), jobs.SQLITE_ROWS):
                PoolEntry.objects.filter(pk__in=gone[start : start + jobs.SQLITE_ROWS]).delete()
            if pool.kind == PoolKind.SAMPLED:
                unpooled_strata.undo_late_strata(pool, was)
            pool.runs.set(runs)
            Pool.objects.filter(pk=pool.pk).update(
                **described, missing_documents=pool.entries.filter(PoolEntry.LACKS_TEXT).count()
            )
            pool_pairs.update_entries(changes)
            marked = {**extension.parameters, "taken_back": work.job.pk, "taken_back_facts": facts}
            Job.objects.filter(pk=extension.pk).update(parameters=marked)
    except ProtectedError:
        raise Refused(
            _("The extension can't be undone because some of its pairs have been judged.")
        ) from None
    return facts

"""Rename runs and pools. Judgements, ranks and order do not change, and existing releases and
reports keep the old names.

A pool stores the runs that contributed each pair, so its rows are updated together with the run.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from assay.formats.pool import can_read_back_tag
from pooling import hooks
from pooling.models import Pool, PoolEntry, Run
from pooling.platform.jobs import Refused
from pooling.services.pool_pairs import check_idle, digest_pool, load_stored_pairs
from pooling.services.rows import update_rows
from pooling.services.runs import MAX_TAG_LENGTH

MAX_NAME_LENGTH = 200


def rename_run(run: Run, tag: str, *, user: Any) -> Run:
    """Rename a run, including in the pools built from it.

    Raises Refused for an invalid tag, for a tag of another run in the collection or these pools,
    and while a job works on one of them.
    """
    wanted, before = (
        _check_name(
            tag, f"A tag must have 1 to {MAX_TAG_LENGTH} characters.", longest=MAX_TAG_LENGTH
        ),
        run.tag,
    )
    if wanted == before:
        return run
    if not can_read_back_tag(wanted):
        raise Refused(
            _("%(wanted)s would be ambiguous in pool files. Use a tag without colons or commas.")
            % {"wanted": wanted}
        )
    try:
        with transaction.atomic():
            Run.objects.filter(pk=run.pk).update(tag=wanted)
            for pool in run.pools.order_by("pk"):
                check_idle(pool)
                _rename_run_in_pool(pool, before, wanted)
            run.refresh_from_db(fields=["tag"])
            _notify_renamed(run, before, user)
    except IntegrityError:
        raise Refused(
            _("A run with the tag %(wanted)s already exists.") % {"wanted": wanted}
        ) from None
    return run


def rename_pool(pool: Pool, name: str, *, user: Any) -> Pool:
    """Rename a pool. Raises Refused for an invalid or taken name."""
    wanted, before = (
        _check_name(
            name,
            f"A pool's name must have 1 to {MAX_NAME_LENGTH} characters.",
            longest=MAX_NAME_LENGTH,
        ),
        pool.name,
    )
    if wanted == before:
        return pool
    try:
        with transaction.atomic():
            Pool.objects.filter(pk=pool.pk).update(name=wanted)
            pool.refresh_from_db(fields=["name"])
            _notify_renamed(pool, before, user)
    except IntegrityError:
        raise Refused(
            _("A pool named %(wanted)s already exists. Choose another name.") % {"wanted": wanted}
        ) from None
    return pool


def _check_name(name: str, rule: str, *, longest: int) -> str:
    wanted = " ".join(name.split())
    if not 1 <= len(wanted) <= longest:
        raise Refused(rule)
    if any(unicodedata.category(one) in ("Cc", "Cs") for one in wanted):
        raise Refused(_("A name must not contain control characters."))
    return wanted


def _notify_renamed(thing: Run | Pool, old_name: str, user: Any) -> None:
    for hear in hooks.on_renamed:
        hear(thing, old_name, user)


def _rename_run_in_pool(pool: Pool, old_tag: str, new_tag: str) -> None:
    """Update the pairs that the run contributed, its statistics and the digest of the pool's file."""
    rows: list[tuple[str, int]] = []
    for row, contributions in (
        PoolEntry.objects.filter(pool=pool)
        .values_list("pk", "contributions")
        .iterator(chunk_size=2000)
    ):
        if new_tag in contributions:
            says = _(
                "The imported pairs of the pool %(pool)s already refer to a run %(wanted)s. Choose "
                "another tag."
            )
            raise Refused(says % {"pool": pool.name, "wanted": new_tag})
        if old_tag in contributions:
            rows.append((json.dumps(_rename_key(contributions, old_tag, new_tag)), row))
    update_rows(PoolEntry, ("contributions",), rows)
    pool.coverage = {
        name: _rename_key(figures, old_tag, new_tag) for name, figures in pool.coverage.items()
    }
    pool.coverage["overlap"] = {
        tag: _rename_key(row, old_tag, new_tag)
        for tag, row in pool.coverage.get("overlap", {}).items()
    }
    if pool.built_at is not None:
        pool.digest = digest_pool(load_stored_pairs(pool)[0])
    pool.save(update_fields=["coverage", "digest"])


def _rename_key(values_by_tag: Mapping[str, Any], old_tag: str, new_tag: str) -> dict[str, Any]:
    return {new_tag if tag == old_tag else tag: value for tag, value in values_by_tag.items()}

"""Sampled pools in the database: the first stage is sampled when the pool is built, later ones on
request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from assay.pools.depth import PooledPairs
from assay.pools.pool_kinds import PoolKind, SelectionMethod
from assay.pools.pool_sentences import describe_half_judged_sampled_pool
from assay.pools.stages import (
    LLM_STRATA,
    STRATA_KINDS,
    StagedDraw,
    allocate_stages,
    arrange_in_stages,
    assign_stages,
    check_budgets,
    draw_stages,
    service_order,
)
from assay.pools.strata import prior_rate, rate_spreads, vote_shares, vote_spreads
from pooling import hooks
from pooling.hooks import FrozenLabels
from pooling.models import Collection, Job, Pool, PoolEntry, Stratum
from pooling.platform import jobs
from pooling.platform.jobs import ClaimedJob, MalformedRequest, Refused
from pooling.services import pool_pairs

DEFAULT_STAGES = (0.1, 0.2)
AT_ONCE = 2000


def list_frozen_judges(collection: Collection, user: Any) -> list[tuple[str, str]]:
    return [judge for source in hooks.llm_sources for judge in source.judges(collection, user)]


def get_frozen_labels(collection: Collection, judge: str, user: Any) -> FrozenLabels:
    for source in hooks.llm_sources:
        return source.labels(collection, judge, user)
    raise Refused(_("This installation stores no LLM labels."))


def make_sampled_parameters(
    strata: str, stages: Sequence[float], *, llm_judge: FrozenLabels | None = None
) -> dict[str, Any]:
    """Return the parameters of a sampled pool. Raises Refused for invalid values."""
    if strata not in STRATA_KINDS:
        raise MalformedRequest(
            _("Unknown strata. Choose from %(kinds)s.") % {"kinds": ", ".join(STRATA_KINDS)}
        )
    if (strata == LLM_STRATA) != (llm_judge is not None):
        raise MalformedRequest(
            _(
                "Strata by LLM grades require an LLM judge, given as CAMPAIGN/JUDGE. Leave "
                "out the LLM judge for other strata."
            )
        )
    try:
        made: dict[str, Any] = {"strata": strata, "stages": check_budgets(stages)}
    except ValueError as error:
        raise Refused(str(error)) from None
    if llm_judge is not None:
        made["llm_judge"] = {
            name: value for name, value in llm_judge._asdict().items() if name != "grade_of"
        }
    return made


def _draw_pairs(
    collection: Collection, pairs: PooledPairs, parameters: Mapping[str, Any], *, seed: int
) -> StagedDraw:
    """Sample pairs of a new pool. Raises Refused if strata need an LLM judge's grades and it has
    not labelled every pair."""
    grades, n_grades = None, 0
    if parameters["strata"] == LLM_STRATA:
        said = parameters["llm_judge"]
        labels = get_frozen_labels(collection, said["judge"], None)
        if labels.digest != said["digest"]:
            raise Refused(
                _(
                    "The labels of %(judge)s have changed since you requested this pool. "
                    "Request the pool again."
                )
                % {"judge": labels.judge}
            )
        n_grades = labels.n_grades
        keys = [
            (pairs.topics[t], d.decode("utf-8"))
            for t, d in zip(pairs.topic.tolist(), pairs.documents.tolist(), strict=True)
        ]
        if missing := [key for key in keys if key not in labels.grade_of]:
            says = _(
                "%(judge)s has no label for %(n)s of the %(whole)s pairs, such as topic %(topic)s, "
                "document %(document)s. Strata by LLM grades require a label for every pair. Choose the "
                "runs and depth that the judge labelled, or use strata by votes."
            )
            first = {"topic": missing[0][0], "document": missing[0][1]}
            raise Refused(
                says
                % {
                    "judge": labels.judge,
                    "n": f"{len(missing):,}",
                    "whole": f"{len(keys):,}",
                    **first,
                }
            )
        grades = np.array([labels.grade_of[key] for key in keys], np.int64)
    return draw_stages(
        pairs,
        strata=parameters["strata"],
        budgets=parameters["stages"],
        seed=seed,
        grades=grades,
        n_grades=n_grades,
    )


def preview_stages(
    collection: Collection, pairs: PooledPairs, parameters: Mapping[str, Any], *, seed: int
) -> dict[str, Any]:
    """Preview the stages of a sampled pool. Returns strata, stages (cumulative share and number of
    pairs), half_way: sentences on what can be concluded after half of the judgements."""
    draw = _draw_pairs(collection, pairs, parameters, seed=seed % 2**64)
    drawn = draw.counts.sum(axis=1).tolist()
    stages = [
        {"share": share, "pairs": n} for share, n in zip(parameters["stages"], drawn, strict=True)
    ]
    return {
        "strata": len(draw.strata.names),
        "stages": stages,
        "half_way": describe_half_judged_sampled_pool(
            drawn, pairs=len(pairs), topics=len(pairs.topics)
        ),
    }


def fill_sampled_pool(work: ClaimedJob, pool: Pool, pairs: PooledPairs) -> PooledPairs:
    """Store the strata and entries of an empty pool. Returns the pairs in judging order, with the
    priorities of their stages."""
    seed = pool_pairs.get_seed(pool)
    draw = _draw_pairs(pool.collection, pairs, pool.parameters, seed=seed)
    order = service_order(pairs, draw.stage, seed=seed)
    arranged = arrange_in_stages(pairs, draw.stage, order)
    strata = [
        Stratum(
            pool=pool,
            number=number,
            name=name[:300],
            size=int(size),
            drawn=draw.counts[:, number].tolist(),
        )
        for number, (name, size) in enumerate(
            zip(draw.strata.names, draw.strata.sizes.tolist(), strict=True)
        )
    ]
    with work.writing():
        pool.strata.all().delete()
        Stratum.objects.bulk_create(strata, batch_size=AT_ONCE)
    work.write_in_batches(
        _make_entries(pool, arranged, draw, order),
        lambda batch: PoolEntry.objects.bulk_create(batch),
        counts_progress=True,
    )
    return arranged


def _make_entries(
    pool: Pool, arranged: PooledPairs, draw: StagedDraw, order: NDArray[np.int64]
) -> Iterator[PoolEntry]:
    for entry, row in zip(
        pool_pairs.make_new_entries(pool, arranged, {}), order.tolist(), strict=True
    ):
        entry.stratum, entry.place = int(draw.strata.stratum[row]), int(draw.place[row])
        entry.stage = int(draw.stage[row]) or None
        entry.entered = SelectionMethod.CHANCE.value if entry.stage else ""
        yield entry


def request_stage(pool: Pool, share: float, *, user: Any) -> Job:
    """Request the job that samples another stage, up to this cumulative share. Earlier samples are
    kept."""
    if pool.kind != PoolKind.SAMPLED:
        raise Refused(
            _("%(pool)s is not a sampled pool, so it has no stages.") % {"pool": pool.name}
        )
    if pool.built_at is None:
        raise Refused(_("%(pool)s is not built yet.") % {"pool": pool.name})
    try:
        check_budgets([*pool.stage_shares, share])
    except ValueError as error:
        raise Refused(str(error)) from None
    pool_pairs.check_idle(pool)
    label = f"Sample {pool.name} up to {100 * share:g}%"
    return jobs.enqueue(
        "draw stage",
        {"pool": pool.pk, "share": share},
        label=label,
        user=user,
        collection=pool.collection,
    )


@jobs.register_job_kind("draw stage", unit="pairs")
def draw_stage(work: ClaimedJob) -> dict[str, Any]:
    """Assign the next pairs in the stored random order of each stratum to a new stage. Returns the
    report: facts, warnings, pool.

    Stratum sizes are those of the first draw. They are read, never recounted.
    """
    pool = pool_pairs.get_job_pool(work)
    share, seed = work.parameters["share"], pool_pairs.get_seed(pool)
    strata = list(pool.strata.order_by("number"))
    pairs, entry_of = pool_pairs.load_stored_pairs(pool)
    drawn_as = {
        pk: (number, place)
        for pk, number, place in pool.entries.values_list("pk", "stratum", "place")
    }
    keys = [entry_of[pair.topic, pair.document] for pair in pairs]
    stratum, place = (
        np.array([drawn_as[pk][0] for pk in keys], np.int32),
        np.array([drawn_as[pk][1] for pk in keys], np.int64),
    )
    shares = list(pool.parameters["stages"])
    before = np.array([one.drawn for one in strata], np.int64).T
    if share not in shares:  # an earlier attempt may have written them
        shares.append(share)
        sizes = np.array([one.size for one in strata], np.int64)
        before = np.vstack(
            [
                before,
                allocate_stages(
                    sizes, _load_spreads(pool, strata, pairs, stratum), [share], least=before[-1]
                ),
            ]
        )
    stage = assign_stages(stratum, place, before)
    order = service_order(pairs, stage, seed=seed)
    arranged = arrange_in_stages(pairs, stage, order)
    changed = pool_pairs.find_changed_entries(pool, arranged, entry_of)
    new = [pk for pk, one in zip(keys, stage.tolist(), strict=True) if one == len(shares)]
    with work.writing():
        for start in range(0, len(new), jobs.SQLITE_ROWS):
            PoolEntry.objects.filter(pk__in=new[start : start + jobs.SQLITE_ROWS]).update(
                stage=len(shares), entered=SelectionMethod.CHANCE.value
            )
        pool_pairs.update_entries(changed)
        for one, counts in zip(strata, before.T.tolist(), strict=True):
            one.drawn = counts
        Stratum.objects.bulk_update(strata, ["drawn"], batch_size=jobs.SQLITE_ROWS)
        described = {
            "parameters": {**pool.parameters, "stages": shares},
            "digest": pool_pairs.digest_pool(arranged),
        }
        Pool.objects.filter(pk=pool.pk).update(**described)
    work.past_cancelling = True
    pool.refresh_from_db()
    for catch_up in hooks.on_extended:
        catch_up(pool, work)
    drawn = int((stage > 0).sum())
    with work.completion_transaction() as report:
        facts = {
            "pairs": len(pairs),
            "stage": len(shares),
            "new pairs": len(new),
            "pairs drawn": drawn,
        }
        report.update(facts=facts, warnings=[], pool=pool.pk)
    return report


def _load_spreads(
    pool: Pool, strata: Sequence[Stratum], pairs: PooledPairs, stratum: NDArray[np.int32]
) -> NDArray[np.float64]:
    """Load the spread of each stratum at the first draw, as float64 (n_strata). stratum: index into
    strata of each pair."""
    n_grades = pool.parameters.get("llm_judge", {}).get("n_grades", 0)
    rates = np.array([prior_rate(one.name, n_grades=n_grades) for one in strata])
    return vote_spreads(stratum, rates, vote_shares(pairs)) if n_grades else rate_spreads(rates)

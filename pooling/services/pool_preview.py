"""What a pool would hold, before it is built: pairs, overlap, missing documents, stages, and what
can be answered when half is judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from assay.counts import counted, part_of
from assay.pools.depth import PooledPairs, depth_pool
from assay.pools.pool_kinds import OF_RUNS, PoolKind, made_as
from assay.pools.pool_words import half_way_by_depth
from pooling.models import Collection, Job, Run
from pooling.platform import jobs
from pooling.platform.jobs import Work
from pooling.services import ordering, pools, sampling
from pooling.services.making import parameters_of
from pooling.services.matching import known_documents, unmatched_documents

DEEPEST_SHOWN = 100
MOST_ROWS = 3_000_000
"""Rows of runs that are held at once to count pools deeper than asked for."""


def ask_for_preview(
    collection: Collection,
    *,
    runs: Sequence[Run],
    depth: int,
    seed: int = 0,
    name: str = "",
    making: Mapping[str, Any] = MappingProxyType({}),
    user: Any,
) -> Job:
    """The job that counts what a pool would hold. making: of a sampled or ordered pool, its
    parameters.

    Name and seed are kept for the pool that may be built from it.
    """
    pools.check_runs(collection, runs)
    parameters = {
        "runs": [run.pk for run in runs],
        "depth": depth,
        "seed": seed,
        "name": name,
        "making": dict(making),
    }
    label = f"Preview the pool of depth {depth} of {counted(len(runs), 'run')}"
    return jobs.enqueue("preview pool", parameters, label=label, user=user, collection=collection)


@jobs.kind("preview pool", unit="runs")
def preview_pool(work: Work) -> dict[str, Any]:
    """-> report: facts, by_depth, unique, overlap, contributed, warnings, half_way, and the
    parameters of the pool; of a sampled one its stages; ways: of every kind of pool these pairs
    could make how many are to be judged, and what half of them answers; every_depth: pairs of the
    pools of depth 1, 2, ..., also deeper than asked for"""
    collection = work.job.collection
    assert collection is not None  # ask_for_preview sets it
    runs = list(collection.runs.filter(pk__in=work.parameters["runs"]))
    deepest = _deepest(collection, runs, work.parameters["depth"])
    tops, warnings = pools.tops_of(
        work, collection, runs, work.parameters["depth"], kept_to=deepest
    )
    pairs = pools.pairs_of(tops, depth=work.parameters["depth"], seed=work.parameters["seed"])
    every = depth_pool(tops, depth=deepest, rng=np.random.default_rng(0)).by_depth()
    known = known_documents(collection)
    facts = {
        "pairs": len(pairs),
        "topics": len(pairs.topics),
        "runs": len(runs),
        "depth": pairs.depth,
    }
    if known:
        distinct = np.unique(pairs.documents)
        missing = len(unmatched_documents(distinct, known))
        facts |= {"distinct documents": len(distinct), "documents without text": missing}
        if missing:
            warnings.append(
                f"{part_of(missing, len(distinct), 'document', 'is', 'are')} in no document file; "
                f"the pairs with such documents cannot be judged"
            )
    else:
        warnings.append(
            "there is no document file yet; pairs can be judged once their texts are there"
        )
    given = {name: work.parameters[name] for name in ("runs", "depth", "seed", "name")} | {
        "making": work.parameters.get("making", {})
    }
    chosen = made_as(given["making"])
    previews = {
        kind: _of_kind(
            kind,
            collection,
            pairs,
            given["making"] if kind == chosen else parameters_of(kind),
            given["seed"],
        )
        for kind in OF_RUNS
    }
    ways = [
        {"kind": kind.value, "pairs": _to_judge(one, len(pairs)), "half_way": one["half_way"]}
        for kind, one in previews.items()
    ]
    report = {
        "facts": facts,
        "warnings": warnings,
        **pools.figures(pairs),
        **given,
        **previews[chosen],
    }
    return {**report, "kind": chosen.value, "ways": ways, "every_depth": list(every.values())}


def _deepest(collection: Collection, runs: Sequence[Run], depth: int) -> int:
    """The depth down to which pools are counted: where the runs end, and not beyond what one reads
    at once."""
    n_topics = collection.topics.filter(removed_reason="").count()
    affordable = MOST_ROWS // max(1, len(runs) * n_topics)
    return max(depth, min(DEEPEST_SHOWN, max(run.max_depth for run in runs), affordable))


def _of_kind(
    kind: PoolKind,
    collection: Collection,
    pairs: PooledPairs,
    parameters: Mapping[str, Any],
    seed: int,
) -> dict[str, Any]:
    """What is to be said of these pairs where they are pooled so: half_way, and of staged kinds
    their stages or batches."""
    if kind == PoolKind.SAMPLED:
        return sampling.preview(collection, pairs, parameters, seed=seed)
    return (
        ordering.preview(pairs, parameters)
        if kind == PoolKind.ORDERED
        else {"half_way": half_way_by_depth(pairs.by_depth())}
    )


def _to_judge(preview: Mapping[str, Any], n_pairs: int) -> int:
    return preview["stages"][-1]["pairs"] if "stages" in preview else n_pairs

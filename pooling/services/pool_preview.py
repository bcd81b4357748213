"""Preview a pool before it is built: pairs, overlap, missing documents, stages, and what can be
concluded after half of the judgements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from assay.number_words import format_count, format_part
from assay.pools.depth import PooledPairs, make_depth_pool
from assay.pools.pool_kinds import RUN_KINDS, PoolKind, kind_from_parameters
from assay.pools.pool_sentences import describe_half_judged_depth_pool
from pooling.models import Collection, Job, Run
from pooling.platform import jobs
from pooling.platform.jobs import ClaimedJob
from pooling.services import ordering, pool_pairs, pools, sampling
from pooling.services.making import make_parameters
from pooling.services.matching import find_unmatched_documents, load_document_digests

MAX_DEPTH_SHOWN = 100
MAX_ROWS = 3_000_000
"""Maximum number of run rows in memory while counting pools deeper than requested."""


def request_preview(
    collection: Collection,
    *,
    runs: Sequence[Run],
    depth: int,
    seed: int = 0,
    name: str = "",
    making: Mapping[str, Any] = MappingProxyType({}),
    user: Any,
) -> Job:
    """Request the job that previews a pool. making: parameters of a sampled or prioritised pool.

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
    label = f"Preview the pool of depth {depth} of {format_count(len(runs), 'run')}"
    return jobs.enqueue("preview pool", parameters, label=label, user=user, collection=collection)


@jobs.register_job_kind("preview pool", unit="runs")
def preview_pool(work: ClaimedJob) -> dict[str, Any]:
    """Preview a pool. Returns the report: facts, by_depth, unique, overlap, contributed, warnings,
    half_way, the pool's parameters, and the stages of a sampled pool.

    ways: for every kind of pool that these pairs can form, the number of pairs to judge and what
    half of them allows to conclude. every_depth: sizes of the pools of depth 1, 2, ..., including
    greater depths than requested.
    """
    collection = work.job.collection
    assert collection is not None  # set by `request_preview`
    runs = list(collection.runs.filter(pk__in=work.parameters["runs"]))
    deepest = _max_counted_depth(collection, runs, work.parameters["depth"])
    tops, warnings = pools.read_run_tops(
        work, collection, runs, work.parameters["depth"], kept_to=deepest
    )
    pairs = pools.pool_tops(tops, depth=work.parameters["depth"], seed=work.parameters["seed"])
    every = make_depth_pool(tops, depth=deepest, rng=np.random.default_rng(0)).by_depth()
    known = load_document_digests(collection)
    facts = {
        "pairs": len(pairs),
        "topics": len(pairs.topics),
        "runs": len(runs),
        "depth": pairs.depth,
    }
    if known:
        distinct = np.unique(pairs.documents)
        missing = len(find_unmatched_documents(distinct, known))
        facts |= {"distinct documents": len(distinct), "documents without text": missing}
        if missing:
            warnings.append(
                f"{format_part(missing, len(distinct), 'document', 'is', 'are')} not in any document file; "
                f"pairs with these documents cannot be judged"
            )
    else:
        warnings.append(
            "there is no document file yet; pairs can be judged after their documents are imported"
        )
    given = {name: work.parameters[name] for name in ("runs", "depth", "seed", "name")} | {
        "making": work.parameters.get("making", {})
    }
    chosen = kind_from_parameters(given["making"])
    previews = {
        kind: _preview_kind(
            kind,
            collection,
            pairs,
            given["making"] if kind == chosen else make_parameters(kind),
            given["seed"],
        )
        for kind in RUN_KINDS
    }
    ways = [
        {"kind": kind.value, "pairs": _count_to_judge(one, len(pairs)), "half_way": one["half_way"]}
        for kind, one in previews.items()
    ]
    report = {
        "facts": facts,
        "warnings": warnings,
        **pool_pairs.compute_figures(pairs),
        **given,
        **previews[chosen],
    }
    return {**report, "kind": chosen.value, "ways": ways, "every_depth": list(every.values())}


def _max_counted_depth(collection: Collection, runs: Sequence[Run], depth: int) -> int:
    """Return the depth to which pools are counted, limited by the length of the runs and by
    MAX_ROWS."""
    n_topics = collection.topics.filter(removed_reason="").count()
    affordable = MAX_ROWS // max(1, len(runs) * n_topics)
    return max(depth, min(MAX_DEPTH_SHOWN, max(run.max_depth for run in runs), affordable))


def _preview_kind(
    kind: PoolKind,
    collection: Collection,
    pairs: PooledPairs,
    parameters: Mapping[str, Any],
    seed: int,
) -> dict[str, Any]:
    """Preview what is specific to a kind of pool: half_way, and stages or batches for staged
    kinds."""
    if kind == PoolKind.SAMPLED:
        return sampling.preview_stages(collection, pairs, parameters, seed=seed)
    return (
        ordering.preview_batches(pairs, parameters)
        if kind == PoolKind.ORDERED
        else {"half_way": describe_half_judged_depth_pool(pairs.by_depth())}
    )


def _count_to_judge(preview: Mapping[str, Any], n_pairs: int) -> int:
    return preview["stages"][-1]["pairs"] if "stages" in preview else n_pairs

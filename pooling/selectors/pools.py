"""Queries and derived values of pools, for pages, API and files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext_lazy

from assay.formats.pool import HEADER_LINE, format_pool_line
from assay.pools.pool_kinds import PoolKind, SelectionMethod
from pooling.models import Pool, PoolEntry
from pooling.selectors import jobs


@dataclass(frozen=True)
class PoolDepthCost:
    """The size of the pool at one depth and the cost of judging it."""

    depth: int
    pairs: int
    new: int
    share: float
    judgements: int | None
    hours: float | None


@dataclass(frozen=True)
class RunContribution:
    """The contribution of one run to a pool. overlaps: (share of this run's pairs that the other
    run has too, step 0-4 for its shade, whether it is the run itself)."""

    tag: str
    pairs: int
    unique: int
    share: float
    overlaps: list[tuple[float | None, int, bool]]


@dataclass(frozen=True)
class PoolFigures:
    depths: list[PoolDepthCost]
    runs: list[RunContribution]
    pairs: int
    shared: int


def make_figures(
    report: dict[str, Any], *, judgements: int | None = None, seconds: float | None = None
) -> PoolFigures:
    """Compute a pool's statistics: pairs per depth with their cost, and each run's contribution,
    from a preview's report or a pool's stored statistics."""
    pairs = report["facts"]["pairs"]
    depths, before = [], 0
    for depth, n in sorted((int(depth), n) for depth, n in report["by_depth"].items()):
        needed = n * judgements if judgements else None
        hours = needed * seconds / 3600 if needed is not None and seconds else None
        depths.append(
            PoolDepthCost(depth, n, n - before, n / pairs if pairs else 0.0, needed, hours)
        )
        before = n
    overlap = report.get("overlap", {})
    runs = []
    for tag in sorted(overlap):
        row = [
            (overlap[tag].get(other), _shade_step(overlap[tag].get(other)), other == tag)
            for other in sorted(overlap)
        ]
        own = report["contributed"][tag]
        runs.append(
            RunContribution(
                tag, own, report["unique"][tag], report["unique"][tag] / own if own else 0.0, row
            )
        )
    return PoolFigures(depths, runs, pairs, pairs - sum(run.unique for run in runs))


def pairs_by_depth(report: dict[str, Any]) -> list[int]:
    """Return the sizes of the pools of depth 1, 2, ... from a preview's report. Empty for older
    previews, and if not all pairs of a depth are judged."""
    return report.get("every_depth", []) if report.get("kind") == PoolKind.DEPTH else []


@dataclass(frozen=True)
class PoolStage:
    """A stage of a sampled pool: its cumulative share, its pairs and their cost."""

    number: int
    percent: float
    pairs: int
    judgements: int | None = None
    hours: float | None = None


KIND_NAMES = {
    PoolKind.DEPTH: gettext_lazy("By rank"),
    PoolKind.ORDERED: gettext_lazy("Most likely relevant first"),
    PoolKind.SAMPLED: gettext_lazy("Sampled"),
}
KIND_NOTES = {
    PoolKind.DEPTH: gettext_lazy(
        "Top ranks first, for all topics. Scores are comparable down to the last complete rank."
    ),
    PoolKind.ORDERED: gettext_lazy(
        "Finds relevant documents sooner. Scores are comparable only when all pairs are judged."
    ),
    PoolKind.SAMPLED: gettext_lazy(
        "A random sample with known probabilities. Scores are estimates with a 95% CI."
    ),
}


@dataclass(frozen=True)
class PoolingOption:
    """A way of pooling the pairs of a preview. share: share of the pairs that are judged. half_way:
    what can be concluded after half of the judgements."""

    kind: str
    name: str
    note: str
    chosen: bool
    share: float
    pairs: int
    judgements: int
    hours: float
    half_way: list[str]


def list_pooling_options(
    report: dict[str, Any], *, judgements: int, seconds: float
) -> list[PoolingOption]:
    """Return every kind of pool that a preview's pairs can form."""
    return [
        PoolingOption(
            *(one["kind"], str(KIND_NAMES[one["kind"]]), str(KIND_NOTES[one["kind"]])),
            *(one["kind"] == report["kind"], one["pairs"] / max(1, report["facts"]["pairs"])),
            *(n := one["pairs"], n * judgements, n * judgements * seconds / 3600, one["half_way"]),
        )
        for one in report.get("ways", [])
    ]


def list_stages(report: dict[str, Any], *, judgements: int, seconds: float) -> list[PoolStage]:
    """Return the stages in a preview's report. Empty for a pool that is not sampled."""
    given = enumerate(report.get("stages", []), start=1)
    return [
        PoolStage(
            number,
            100 * one["share"],
            one["pairs"],
            one["pairs"] * judgements,
            one["pairs"] * judgements * seconds / 3600,
        )
        for number, one in given
    ]


@dataclass(frozen=True)
class PlannedBatch:
    """A planned batch of a prioritised pool. pairs: its size. audit: those sampled at random from
    the `left` pairs that no earlier batch had."""

    number: int
    pairs: int
    audit: int
    left: int


def list_planned_batches(pool: Pool) -> list[PlannedBatch]:
    """Return the batches of a prioritised pool, latest first."""
    if pool.kind != PoolKind.ORDERED:
        return []
    by_chance = Count("pk", filter=Q(entered=SelectionMethod.CHANCE.value))
    rows = (
        pool.entries.exclude(stage=None)
        .order_by()
        .values_list("stage")
        .annotate(n=Count("pk"), audit=by_chance)
    )
    counts = {stage: (n, audit) for stage, n, audit in rows}
    left = dict(pool.strata.values_list("number", "size"))
    return [
        PlannedBatch(number, *counts.get(number, (0, 0)), left[number])
        for number in sorted(left, reverse=True)
    ]


def list_drawn_stages(pool: Pool) -> list[PoolStage]:
    """Return the stages of a sampled pool, from its strata."""
    sampled = pool.kind == PoolKind.SAMPLED
    counts = (
        [sum(column) for column in zip(*pool.strata.values_list("drawn", flat=True), strict=True)]
        if sampled
        else []
    )
    shares = pool.parameters.get("stages", [])
    return [
        PoolStage(number, 100 * share, n)
        for number, (share, n) in enumerate(zip(shares, counts, strict=False), start=1)
    ]


def _shade_step(share: float | None) -> int:
    return 0 if share is None else min(int(share * 5), 4)


def get_entries(pool: Pool) -> QuerySet[PoolEntry]:
    """Return the pool's entries, best first, with topic and document."""
    return (
        pool.entries.select_related("topic", "document", "other_document")
        .defer(
            *("document__text", "document__fields"),
            *("other_document__text", "other_document__fields"),
        )
        .order_by("position")
    )


def iterate_table(pool: Pool) -> Iterator[str]:
    """Yield the pool's file in pieces of whole lines, as `assay.formats.pool.write_pool` writes it,
    or as `assay.formats.battles.read_document_battles` reads it."""
    if pool.kind == PoolKind.BATTLES:
        yield from _iterate_battle_lines(pool)
        return
    piece = [HEADER_LINE]
    rows = pool.entries.order_by("position", "pk").values_list(
        "topic__topic_id", "docno", "best_rank", "priority", "contributions"
    )
    for topic, docno, best_rank, priority, contributions in rows.iterator(chunk_size=2000):
        # sorted by tag, because databases do not preserve the order of keys
        runs = sorted(contributions.items())
        piece.append(format_pool_line(topic, docno, best_rank, priority, runs))
        if len(piece) >= 1000:
            yield "".join(piece)
            piece = []
    yield "".join(piece)


def _iterate_battle_lines(pool: Pool) -> Iterator[str]:
    rows = pool.entries.order_by("position", "pk").values_list(
        "topic__topic_id", "docno", "other_docno", "systems"
    )
    yield "topic\ta\tb\tsystem_a\tsystem_b\n"
    for *pair, systems in rows.iterator(chunk_size=2000):
        for named in systems or [[]]:
            yield "\t".join([*pair, *named]) + "\n"


def count_unsampled_by_rank(pool: Pool | None) -> dict[int, int]:
    """Return best rank -> number of pairs of kept topics that no stage of a staged pool has
    sampled. They are part of the pool but not judged."""
    if pool is None or not pool.is_staged:
        return {}
    n_by_rank = (
        pool.entries.filter(stage=None, topic__removed_reason="")
        .order_by()
        .values_list("best_rank")
        .annotate(n=Count("pk"))
    )
    return dict(n_by_rank)


def get_last_job(pool: Pool) -> jobs.JobView | None:
    """Return the latest job that works on this pool, or None."""
    job = (
        pool.collection.jobs.filter(parameters__pool=pool.pk)
        .select_related("collection", "created_by")
        .order_by("-created_at")
        .first()
    )
    return jobs.make_job_view(job) if job else None

"""Files that describe a campaign's sample: labels in five TREC columns, all pairs with their
sampling probabilities, the strata, and the batches of a prioritised pool.

Together with the runs, they are sufficient to reproduce every estimate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import IO, Any

from analysis.judgements.campaign_sample import (
    SampledPair,
    is_sampled,
    list_sampled_pairs,
    read_campaign_sample,
    read_stage_progress,
)
from analysis.judgements.labels import LabelChoices, Labels, make_labels
from annotation.models import Campaign
from assay.formats.prel import write_prel
from assay.pools.pool_kinds import PoolKind

SAMPLE_COLUMNS = (
    "topic",
    "document",
    "stratum",
    "pairs",
    "drawn",
    "probability",
    "place",
    "stage",
    "entered",
    "best_rank",
    "grade",
)
BATCH_COLUMNS = ("topic", "document", "batch", "entered", "pairs", "best_rank")
STRATA_COLUMNS = ("number", "stratum", "pairs", "drawn")
DRAW_COLUMNS = ("topic", "document", "stratum", "place", "stage", "entered")


def write_prels(campaign: Campaign, choices: LabelChoices, out: IO[str], *, grades: str) -> None:
    """Write sampled qrels in five TREC columns. grades: graded or binary. Raises ValueError if the
    pool is not sampled, no stage is complete or no pair has a label."""
    require_sampled(campaign)
    write_prel(read_campaign_sample(campaign, choices).prel(grades), out)


def write_sample(
    campaign: Campaign, choices: LabelChoices, out: IO[str], *, safe: Callable[[str], str] = str
) -> None:
    """Write one row per pair of the pool. probability: n_h / N_h of its stratum. grade: empty if
    the pair has no label."""
    require_sampled(campaign)
    out.write("\t".join(SAMPLE_COLUMNS) + "\n")
    made: Labels = make_labels(campaign, choices)
    for pair in list_sampled_pairs(campaign, made, read_stage_progress(campaign)[0]):
        out.write(
            "\t".join(safe(str("" if cell is None else cell)) for cell in sampled_pair_cells(pair))
            + "\n"
        )


def sampled_pair_cells(pair: SampledPair) -> Sequence[Any]:
    chance = repr(pair.drawn / pair.size)
    return (
        pair.topic,
        pair.document,
        pair.stratum,
        pair.size,
        pair.drawn,
        chance,
        pair.place,
        pair.stage,
        pair.entered,
        pair.best_rank,
        pair.grade,
    )


def write_batches(campaign: Campaign, out: IO[str], *, safe: Callable[[str], str] = str) -> None:
    """Write one row per pair that was put into a batch of a prioritised pool, by batch in judging
    order. pairs: number of pairs that waited when the batch was planned. The batch's audit pairs
    are a random sample of these."""
    pool = campaign.pool
    if pool is None or pool.kind != PoolKind.ORDERED:
        raise ValueError("the pool of this campaign is not prioritised, so it has no batches")
    left: dict[int | None, int] = dict(pool.strata.values_list("number", "size"))
    out.write("\t".join(BATCH_COLUMNS) + "\n")
    rows = pool.entries.filter(topic__removed_reason="").exclude(stage=None).order_by("position")
    for topic, document, batch, entered, rank in rows.values_list(
        "topic__topic_id", "docno", "stage", "entered", "best_rank"
    ):
        out.write(
            "\t".join(
                safe(str(cell)) for cell in (topic, document, batch, entered, left[batch], rank)
            )
            + "\n"
        )


def require_sampled(campaign: Campaign) -> None:
    """Raise ValueError if the campaign's pool is not sampled."""
    if not is_sampled(campaign):
        raise ValueError(
            "the pool of this campaign is not sampled, so pairs have no inclusion probability"
        )


def strata_rows(campaign: Campaign) -> Iterable[Sequence[Any]]:
    """Yield the strata of a sampled pool: number, name, N_h at sampling time, and n_h at the end of
    each stage."""
    if campaign.pool is None:
        return []
    return (
        (one.number, one.name, one.size, ",".join(map(str, one.drawn)))
        for one in campaign.pool.strata.order_by("number")
    )


def draw_rows(campaign: Campaign) -> Iterable[Sequence[Any]]:
    """Yield every pair of a sampled pool, including removed topics, as topic, document, stratum
    number, position from 0, stage, and how it was selected.

    For a prioritised pool, yield the pairs in batches. The stratum of an audit pair is the set of
    pairs that waited when its batch was planned. A prioritised pair has none.
    """
    if campaign.pool is None:
        return []
    columns = ("topic__topic_id", "docno", "stratum", "place", "stage", "entered")
    return sorted(
        campaign.pool.entries.exclude(stratum=None, stage=None).values_list(*columns),
        key=lambda row: row[:2],
    )

"""The sample of a campaign on a sampled pool, as estimators need it: strata, sampled pairs, and the
labels of complete stages.

    found = read_campaign_sample(campaign, LabelChoices())  # raises NotEstimable
    found.prel("graded")  # the five TREC columns, every pair of the pool
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from analysis.judgements.labels import LabelChoices, Labels, make_labels
from annotation.models import Campaign
from annotation.selectors.pairs import get_unfinished_pairs
from assay.formats.prel import UNJUDGED, SampledQrels, make_prel
from assay.number_words import format_count
from assay.pools.pool_kinds import PoolKind


class NotEstimable(ValueError):
    """Nothing can be estimated from the campaign yet. The message is the reason."""


class SampledPair(NamedTuple):
    """A pair of a sampled pool.

    size, drawn: N_h and n_h of its stratum, over accepted topics, up to the last complete stage.
    place: position in the random order of the stratum, from 1. stage: the stage that sampled it,
    None if not sampled. grade, binary: its labels, None if it has none or its stage is incomplete.
    """

    topic: str
    document: str
    stratum: str
    size: int
    drawn: int
    place: int
    stage: int | None
    entered: str
    best_rank: int
    grade: int | None
    binary: int | None


@dataclass(frozen=True, eq=False)
class CampaignSample:
    """The sampled pairs and labels of a campaign on a sampled pool.

    pairs: of accepted topics, by topic and document ID. stage: the last complete stage. n_stages:
    number of sampled stages. waiting: pairs of the next stage still to be judged.
    """

    pairs: list[SampledPair]
    stage: int
    n_stages: int
    waiting: int

    @property
    def n_drawn(self) -> int:
        return sum(pair.stage is not None and pair.stage <= self.stage for pair in self.pairs)

    @property
    def n_judged(self) -> int:
        return sum(pair.grade is not None for pair in self.pairs)

    def prel(self, grades: str, name: str = "sample") -> SampledQrels:
        """Return the sample's labels in the format of sampled qrels. grades: graded or binary.
        Pairs of incomplete stages are unjudged, even if they have judgements."""
        rows = []
        for pair in self.pairs:
            value = pair.grade if grades == "graded" else pair.binary
            rows.append(
                (pair.topic, pair.document, pair.stratum, UNJUDGED if value is None else value)
            )
        return make_prel(name, rows, drawn=self.n_drawn)


def is_sampled(campaign: Campaign) -> bool:
    return campaign.pool is not None and campaign.pool.is_sampled


def describe_prioritised_progress(campaign: Campaign) -> str:
    """Describe the progress of a partly judged prioritised pool in one sentence. Empty for other
    pools and if all pairs are judged."""
    pool = campaign.pool
    if pool is None or pool.kind != PoolKind.ORDERED:
        return ""
    n_pairs = pool.entries.filter(topic__removed_reason="").count()
    n_done = (
        pool.entries.filter(topic__removed_reason="").exclude(stage=None).count()
        - get_unfinished_pairs(campaign).count()
    )
    return (
        ""
        if n_done >= n_pairs
        else f"{n_done:,} of {n_pairs:,} pairs are judged, those most likely to be relevant first."
    )


def read_campaign_sample(
    campaign: Campaign, choices: LabelChoices, *, labels: Labels | None = None
) -> CampaignSample:
    """Read the sample of a campaign with its labels.

    labels: labels under the choices, computed by default. Raises NotEstimable if no stage is complete
    or no pair has a label.
    """
    stage, n_stages, waiting = read_stage_progress(campaign)
    if not stage:
        wait = "waits" if waiting == 1 else "wait"
        raise NotEstimable(
            f"{format_count(waiting, 'pair')} of the first stage of {campaign.slug} {wait} "
            "for judgements. Estimates begin when the first stage is complete"
        )
    labels = make_labels(campaign, choices) if labels is None else labels
    sample = CampaignSample(list_sampled_pairs(campaign, labels, stage), stage, n_stages, waiting)
    if not sample.n_judged:
        least = choices.min_judgements
        raise NotEstimable(
            f"no drawn pair of {campaign.slug} has a label; a label needs {least} judgement{'' if least == 1 else 's'}"
        )
    return sample


def read_stage_progress(campaign: Campaign) -> tuple[int, int, int]:
    """Return the last complete stage (0 if none), the number of sampled stages, and how many pairs
    of the next stage wait for judgements.

    A pair that cannot be judged, or whose text is missing, does not keep its stage incomplete. It
    is treated as missing at random.
    """
    assert campaign.pool is not None
    n_stages = len(campaign.pool.parameters.get("stages", []))
    waiting = get_unfinished_pairs(campaign)
    stages = sorted(
        stage for stage in waiting.values_list("entry__stage", flat=True) if stage is not None
    )
    return (
        (stages[0] - 1 if stages else n_stages),
        n_stages,
        stages.count(stages[0]) if stages else 0,
    )


def describe_stages(campaign: Campaign) -> str:
    """Describe in one sentence which stages are complete and can be evaluated."""
    stage, n_stages, waiting = read_stage_progress(campaign)
    if stage == n_stages:
        return (
            f"All {n_stages} stages drawn so far are complete."
            if n_stages > 1
            else "Its only stage is complete."
        )
    if not stage:
        return (
            "The first stage is not complete yet: "
            f"{format_count(waiting, 'pair', 'waits', 'wait')} for judgements. There are no "
            "estimates before that."
        )
    next_ones = format_count(waiting, "pair")
    return (
        f"{stage} of {n_stages} stages are complete; {next_ones} of the next "
        f"{'waits' if waiting == 1 else 'wait'} for judgements and "
        f"{'counts' if waiting == 1 else 'count'} when that stage is complete."
    )


def list_sampled_pairs(campaign: Campaign, labels: Labels, stage: int) -> list[SampledPair]:
    """Return every pair of the pool at the given stage, by topic and document ID.

    stage: the last stage whose labels count. Strata of unpooled runs belong to the pool from the
    stage that added them.
    """
    assert campaign.pool is not None
    strata = {one.number: one for one in campaign.pool.strata.all() if one.drawn[max(stage, 1) - 1]}
    given = {(row.topic, row.document): row for row in labels.rows}
    columns = ("topic__topic_id", "docno", "stratum", "place", "stage", "entered", "best_rank")
    entries = [
        row
        for row in campaign.pool.entries.filter(topic__removed_reason="").values_list(*columns)
        if row[2] in strata
    ]
    size: dict[int, int] = {}
    drawn: dict[int, int] = {}
    for _, _, number, _, own, _, _ in entries:
        size[number] = size.get(number, 0) + 1
        drawn[number] = drawn.get(number, 0) + (own is not None and own <= stage)
    pairs = []
    for topic, document, number, place, own, entered, rank in entries:
        label = given.get((topic, document)) if own is not None and own <= stage else None
        grades = (None, None) if label is None else (label.grade, label.binary)
        pairs.append(
            SampledPair(
                topic,
                document,
                strata[number].name,
                size[number],
                drawn[number],
                place + 1,
                own,
                entered,
                rank,
                *grades,
            )
        )
    return sorted(pairs, key=lambda pair: (pair.topic, pair.document))

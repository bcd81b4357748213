"""The preview of bands of priorities for a campaign: how long annotators stay on a topic, and what
it costs in order."""

from __future__ import annotations

from functools import lru_cache

from annotation.core.bands import BandEntry, Preview, judge_at_random
from annotation.models import Campaign, Membership, Pair

MOST_PAIRS = 600
USUAL_ANNOTATORS = 12  # where nobody has joined yet
WIDTHS = (1, 2, 3, 5)


def band_previews(campaign: Campaign) -> list[Preview]:
    """For some widths, the campaign's own and that of all priorities together; empty without pairs.

    Played through from the beginning, by as many annotators as the campaign has; of a large pool by
    topics drawn evenly from it, with as many fewer annotators."""
    normal = Pair.objects.filter(campaign=campaign, kind=Pair.Kind.NORMAL)
    topics = list(normal.order_by("topic_row").values_list("topic_row", flat=True).distinct())
    if not topics:
        return []
    step = max(1, round(campaign.n_pairs / MOST_PAIRS))
    chosen = topics[::step]
    rows = (
        normal.filter(topic_row__in=chosen)
        .order_by("position")
        .values_list("topic_row", "priority")
    )
    entries = tuple(BandEntry(*row) for row in rows)
    joined = (
        Membership.objects.filter(campaign=campaign, role=Membership.Role.ANNOTATOR).count()
        or USUAL_ANNOTATORS
    )
    needed = campaign.judgements_per_pair
    annotators = max(needed, round(joined * len(chosen) / len(topics)))
    depth = 1 + max(entry.priority for entry in entries) - min(entry.priority for entry in entries)
    widths = sorted({width for width in (*WIDTHS, campaign.band) if width < depth} | {depth})
    return [_played(entries, width, annotators, needed, campaign.block_length) for width in widths]


@lru_cache(maxsize=64)
def _played(
    entries: tuple[BandEntry, ...], width: int, annotators: int, needed: int, block_length: int
) -> Preview:
    return judge_at_random(
        entries, width=width, annotators=annotators, needed=needed, block_length=block_length
    )

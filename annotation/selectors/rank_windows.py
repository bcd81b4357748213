"""Preview of rank windows for a campaign: how long annotators stay on a topic, and how much it
changes the order."""

from __future__ import annotations

from functools import lru_cache

from annotation.core.rank_windows import WindowEntry, WindowPreview, simulate_judging
from annotation.models import Campaign, Membership, Pair

MAX_PAIRS = 600
USUAL_ANNOTATORS = 12  # if the campaign has no annotators yet
PREVIEW_WIDTHS = (1, 2, 3, 5)


def preview_rank_windows(campaign: Campaign) -> list[WindowPreview]:
    """Preview the effect of several widths of the rank window, including the campaign's width and a
    single window. Empty without pairs.

    Judging is simulated from the start with the campaign's number of annotators. A large pool is
    reduced to a systematic sample of its topics, with proportionally fewer annotators.
    """
    normal = Pair.objects.filter(campaign=campaign, kind=Pair.Kind.NORMAL)
    topics = list(normal.order_by("topic_row").values_list("topic_row", flat=True).distinct())
    if not topics:
        return []
    step = max(1, round(campaign.n_pairs / MAX_PAIRS))
    chosen = topics[::step]
    rows = (
        normal.filter(topic_row__in=chosen)
        .order_by("position")
        .values_list("topic_row", "priority")
    )
    entries = tuple(WindowEntry(*row) for row in rows)
    joined = (
        Membership.objects.filter(campaign=campaign, role=Membership.Role.ANNOTATOR).count()
        or USUAL_ANNOTATORS
    )
    needed = campaign.judgements_per_pair
    annotators = max(needed, round(joined * len(chosen) / len(topics)))
    depth = 1 + max(entry.priority for entry in entries) - min(entry.priority for entry in entries)
    widths = sorted(
        {width for width in (*PREVIEW_WIDTHS, campaign.band) if width < depth} | {depth}
    )
    return [
        _simulate_window(entries, width, annotators, needed, campaign.block_length)
        for width in widths
    ]


@lru_cache(maxsize=64)
def _simulate_window(
    entries: tuple[WindowEntry, ...], width: int, annotators: int, needed: int, block_length: int
) -> WindowPreview:
    return simulate_judging(
        entries, width=width, annotators=annotators, needed=needed, block_length=block_length
    )

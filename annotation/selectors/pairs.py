"""Pairs that wait for something before anybody can judge them."""

from __future__ import annotations

from annotation.models import Campaign, Pair


def held_back(campaign: Campaign, topics: list[int] | None = None) -> int:
    """How many pairs still need judgements but have no stored text, so that nobody is served them. topics: of these rows only."""
    pairs = Pair.objects.filter(campaign=campaign, without_text=True, open_slots__gt=0)
    return (pairs.filter(topic_row__in=topics) if topics else pairs).count()

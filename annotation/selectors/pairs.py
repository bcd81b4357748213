"""Common selections of a campaign's pairs, and counts of pairs that wait for judgements or
texts."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, F, Max, Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from annotation.models import Campaign, Pair


def get_kept_pairs(campaign: Campaign) -> QuerySet[Pair]:
    """Return the pairs of kept topics. Only these are assigned, labelled, counted, shown and
    published. Judgements of other pairs remain stored and reappear if the topic is restored."""
    return Pair.objects.filter(campaign=campaign, removed=False)


def get_unfinished_pairs(campaign: Campaign) -> QuerySet[Pair]:
    """Return the ordinary pairs with too few judgements, without pairs that cannot be judged or
    lack a text. If no pair has a text (a release imported without texts), missing texts are
    ignored."""
    waiting = get_kept_pairs(campaign).filter(
        kind=Pair.Kind.NORMAL, unjudgeable=False, counted__lt=F("needed")
    )
    return (
        waiting.filter(without_text=False)
        if get_kept_pairs(campaign).filter(without_text=False).exists()
        else waiting
    )


def count_pairs_by_kind(campaign: Campaign) -> dict[str, int]:
    """Count the kept pairs of each kind, the topics, and the highest priority. Keys are the
    campaign's field names."""
    counts: dict[str, Any] = get_kept_pairs(campaign).aggregate(
        n_pairs=Count("pk"),
        n_topics=Count("topic_row", distinct=True),
        n_gold=Count("pk", filter=Q(kind=Pair.Kind.GOLD)),
        n_everyone=Count("pk", filter=Q(kind=Pair.Kind.EVERYONE)),
        top_priority=Coalesce(Max("priority"), 0),
    )
    return counts


def get_special_pairs(campaign: Campaign, *kinds: Pair.Kind) -> QuerySet[Pair]:
    """Return the kept pairs of the given kinds other than ordinary, found by the index of special
    pairs.

    SQLite uses a partial index only if the query repeats its condition.
    """
    return get_kept_pairs(campaign).exclude(kind=Pair.Kind.NORMAL).filter(kind__in=kinds)


def get_ruled_pairs(campaign: Campaign) -> QuerySet[Pair]:
    """Return the kept pairs with a manager's label or, for qualification pairs, a known grade."""
    return (
        get_kept_pairs(campaign)
        .filter(adjudicated_grade__isnull=False)
        .exclude(kind=Pair.Kind.QUALIFICATION)
    )


def count_pairs_without_text(campaign: Campaign, topics: list[int] | None = None) -> int:
    """Count the pairs that need judgements but have no stored text, and are therefore not assigned.
    topics: primary keys to restrict the count to."""
    pairs = get_kept_pairs(campaign).filter(without_text=True, open_slots__gt=0)
    return (pairs.filter(topic_row__in=topics) if topics else pairs).count()


def count_missing_judgements(campaign: Campaign) -> int:
    """Count the judgements that ordinary pairs still need, including those in progress."""
    pairs = get_kept_pairs(campaign).filter(kind=Pair.Kind.NORMAL, unjudgeable=False)
    sums = pairs.aggregate(open=Sum("open_slots"), held=Sum("held"))
    return (sums["open"] or 0) + (sums["held"] or 0)

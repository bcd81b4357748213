"""Which pairs of a campaign are spoken of, and which of them wait for something before anybody can
judge them."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, F, Max, Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from annotation.models import Campaign, Pair


def get_kept_pairs(campaign: Campaign) -> QuerySet[Pair]:
    """The pairs whose topics are kept: all that is served, labelled, counted, shown and published.
    What was judged of the others stays stored, and is back when its topic is."""
    return Pair.objects.filter(campaign=campaign, removed=False)


def get_unfinished_pairs(campaign: Campaign) -> QuerySet[Pair]:
    """The ordinary pairs that have too few judgements. One that cannot be judged, and one whose
    text is missing, is waited for no longer; but where no pair has a text, as in a release that was
    imported without them, nothing is missing by chance."""
    waiting = get_kept_pairs(campaign).filter(
        kind=Pair.Kind.NORMAL, unjudgeable=False, counted__lt=F("needed")
    )
    return (
        waiting.filter(without_text=False)
        if get_kept_pairs(campaign).filter(without_text=False).exists()
        else waiting
    )


def count_pairs_by_kind(campaign: Campaign) -> dict[str, int]:
    """How many kept pairs of each kind and how many topics there are now, and the highest priority:
    by the names of the campaign's fields."""
    counts: dict[str, Any] = get_kept_pairs(campaign).aggregate(
        n_pairs=Count("pk"),
        n_topics=Count("topic_row", distinct=True),
        n_gold=Count("pk", filter=Q(kind=Pair.Kind.GOLD)),
        n_everyone=Count("pk", filter=Q(kind=Pair.Kind.EVERYONE)),
        top_priority=Coalesce(Max("priority"), 0),
    )
    return counts


def get_special_pairs(campaign: Campaign, *kinds: Pair.Kind) -> QuerySet[Pair]:
    """The kept pairs of these kinds, none of them the ordinary one; found by the index of the
    special ones.

    SQLite uses a partial index only where its own condition is said.
    """
    return get_kept_pairs(campaign).exclude(kind=Pair.Kind.NORMAL).filter(kind__in=kinds)


def get_ruled_pairs(campaign: Campaign) -> QuerySet[Pair]:
    """The kept pairs with a label of the managers' own; a qualification pair has its known
    grade."""
    return (
        get_kept_pairs(campaign)
        .filter(adjudicated_grade__isnull=False)
        .exclude(kind=Pair.Kind.QUALIFICATION)
    )


def count_pairs_without_text(campaign: Campaign, topics: list[int] | None = None) -> int:
    """How many pairs still need judgements but have no stored text, so that nobody is served them.
    topics: of these rows only."""
    pairs = get_kept_pairs(campaign).filter(without_text=True, open_slots__gt=0)
    return (pairs.filter(topic_row__in=topics) if topics else pairs).count()


def count_missing_judgements(campaign: Campaign) -> int:
    """How many judgements ordinary pairs still need, those on somebody's screen among them."""
    pairs = get_kept_pairs(campaign).filter(kind=Pair.Kind.NORMAL, unjudgeable=False)
    sums = pairs.aggregate(open=Sum("open_slots"), held=Sum("held"))
    return (sums["open"] or 0) + (sums["held"] or 0)

"""Annotators whom the rule of too fast judgements has paused, and what they read."""

from __future__ import annotations

from django.db.models import QuerySet

from annotation.models import Campaign, Membership

PAUSE_REASON = (
    " of your answers came faster than anybody can read the document. That happens easily: a key "
    "pressed twice, or tired eyes. "
    "Take a break, and read the guidelines once more. Nothing else is lost; the campaign's manager can let you go on."
)
"""What the annotator reads, after the number."""


def format_pause_reason(n: int) -> str:
    return f"{n}{PAUSE_REASON}"


def parse_pause_reason(reason: str) -> int | None:
    """How many too fast judgements led to the pause of which this is the reason; None where it was
    not the rule that paused."""
    number = reason.removesuffix(PAUSE_REASON)
    return int(number) if number != reason and number.isdecimal() else None


def get_paused_by_rule() -> QuerySet[Membership]:
    """Annotators of running campaigns who wait for a manager to let them go on."""
    running = (Campaign.State.OPEN, Campaign.State.PAUSED)
    return Membership.objects.filter(
        standing=Membership.Standing.PAUSED,
        standing_reason__endswith=PAUSE_REASON,
        campaign__state__in=running,
    )

"""Annotators paused automatically because of too fast judgements, and the message they see."""

from __future__ import annotations

from django.db.models import QuerySet

from annotation.models import Campaign, Membership

PAUSE_REASON = (
    " of your answers came faster than anybody can read the document. That happens easily: a key "
    "pressed twice, or tired eyes. "
    "Take a break, and read the guidelines once more. Nothing else is lost; the campaign's manager can let you go on."
)
"""The message to the annotator, after the number."""


def format_pause_reason(n: int) -> str:
    return f"{n}{PAUSE_REASON}"


def parse_pause_reason(reason: str) -> int | None:
    """Return the number of too fast judgements from an automatic pause's message, or None for any
    other reason."""
    number = reason.removesuffix(PAUSE_REASON)
    return int(number) if number != reason and number.isdecimal() else None


def get_paused_by_rule() -> QuerySet[Membership]:
    """Return annotators of running campaigns who were paused automatically and wait for a
    manager."""
    running = (Campaign.State.OPEN, Campaign.State.PAUSED)
    return Membership.objects.filter(
        status=Membership.Status.PAUSED,
        status_reason__endswith=PAUSE_REASON,
        campaign__state__in=running,
    )

"""Annotators paused automatically, and the reason that they see.

The stored reason is a code in plain English, so that each annotator reads it in their language.
"""

from __future__ import annotations

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import Campaign, Membership

FAILED_QUALIFICATION = "failed the qualification test"
SUBMISSION_ENDED = "submission ended at the panel"
TOO_FAST = "too-fast judgements: "
"""The code of a pause for too fast judgements, before the number."""


def parse_too_fast(reason: str) -> int | None:
    """Return the number of too fast judgements from the code of an automatic pause, or None for any
    other reason."""
    number = reason.removeprefix(TOO_FAST)
    return int(number) if number != reason and number.isdecimal() else None


def format_status_reason(reason: str) -> str:
    """Translate the code of an automatic pause. A manager's own words are unchanged."""
    if reason == FAILED_QUALIFICATION:
        return _(
            "You did not pass the qualification test. Your manager can let you try again or admit you anyway."
        )
    if reason == SUBMISSION_ENDED:
        return _(
            "Your submission has ended, because you returned it or ran out of time. Your judgements are kept."
        )
    if (n := parse_too_fast(reason)) is None:
        return reason
    return ngettext(
        "You made %(n)s judgement faster than anyone can read the document. "
        "Take a break and read the guidelines again. Then ask your manager to resume your judging.",
        "You made %(n)s judgements faster than anyone can read the documents. "
        "Take a break and read the guidelines again. Then ask your manager to resume your judging.",
        n,
    ) % {"n": n}


def get_paused_by_rule() -> QuerySet[Membership]:
    """Return annotators of running campaigns who were paused automatically and wait for a
    manager."""
    running = (Campaign.State.OPEN, Campaign.State.PAUSED)
    return Membership.objects.filter(
        status=Membership.Status.PAUSED,
        status_reason__startswith=TOO_FAST,
        campaign__state__in=running,
    )

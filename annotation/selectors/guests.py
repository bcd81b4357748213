"""The panel of a guest, and whether it can admit another guest."""

from __future__ import annotations

from django.db.models import Q
from django.utils import timezone

from annotation.models import Campaign, Guest, GuestPanel, Membership, Pair
from annotation.selectors.pairs import get_kept_pairs
from annotation.selectors.paused_annotators import FAILED_QUALIFICATION, SUBMISSION_ENDED

LEFT = Q(membership__status=Membership.Status.EXCLUDED) | Q(
    membership__status=Membership.Status.PAUSED,
    membership__status_reason__in=(FAILED_QUALIFICATION, SUBMISSION_ENDED),
)
"""Guests whose place is free again, as at the panel."""


def get_panel(annotator: Membership) -> GuestPanel | None:
    """Return the panel from which a guest came, or None for annotators with an account."""
    return GuestPanel.objects.filter(guests__membership=annotator.pk).first()


def count_places_taken(panel: GuestPanel) -> int:
    return Guest.objects.filter(panel=panel).exclude(LEFT).count()


def can_admit_guest(panel: GuestPanel) -> bool:
    """Return whether one more guest can be admitted: the panel is open and has a free place, and
    the campaign has not ended and has pairs to assign. panel: with its campaign loaded."""
    campaign = panel.campaign
    if not panel.is_open or campaign.state == Campaign.State.CLOSED:
        return False
    if campaign.deadline is not None and campaign.deadline <= timezone.now():
        return False
    if count_places_taken(panel) >= panel.places:
        return False
    pairs = get_kept_pairs(campaign).filter(open_slots__gt=0, without_text=False)
    return pairs.exclude(kind=Pair.Kind.QUALIFICATION).exists()

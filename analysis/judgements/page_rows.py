"""The rows that a page of managers is made from: they stay as they are while it is made, so that
its figures fit each other.

While people judge, a judgement or two makes everything anew that was computed of all. Of a large
campaign the rows therefore stay the same for some seconds: whoever looks meanwhile gets what was
computed for the one before him, and the page says of when it is."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import datetime, timedelta

from django.utils import timezone

from analysis.judgements import live as kept
from analysis.judgements.live import CampaignSnapshot, get_snapshot
from annotation.core.audit_actions import AuditAction
from annotation.models import AuditEvent, Campaign

PAGE_CACHE_SECONDS = 10.0
"""For which the rows of a large campaign stay the same, unless a manager changes something."""
AGE_SHOWN_AFTER_SECONDS = 3.0
"""Seconds from which on a page says how old its figures are."""
LARGE_ROWS, LARGE_PEOPLE = 50_000, 500
ANNOTATOR_ACTIONS = (
    AuditAction.JOINED,
    AuditAction.CONSENTED,
    AuditAction.PASSED_THE_QUALIFICATION,
    AuditAction.FAILED_THE_QUALIFICATION,
)
"""Audited deeds after which a manager need not see anything at once."""


def get_page_snapshot(campaign: Campaign) -> CampaignSnapshot:
    """The campaign's judgements at one moment, with what was computed of them."""
    live, deed = kept.get_last_snapshot(campaign), 0
    if live is not None and live.page is not None and is_large_campaign(live.page):
        deed = _last_manager_event(campaign)
        if live.deed == deed and live.page.age_s < PAGE_CACHE_SECONDS:
            return live.page
    live = get_snapshot(campaign)
    with live.lock:
        if (
            live.page is None
            or live.page.rows is not live.rows
            or live.page.pairs is not live.pairs
            or live.deed != deed
        ):
            live.page = replace(
                live,
                lock=threading.Lock(),
                computing=threading.RLock(),
                values=dict(live.values),
                page=None,
            )
            live.deed = deed
        live.page.read_at = live.read_at
        return live.page


def is_large_campaign(live: CampaignSnapshot) -> bool:
    return len(live.rows) >= LARGE_ROWS or len(live.rows.annotators) >= LARGE_PEOPLE


def _last_manager_event(campaign: Campaign) -> int:
    """The newest row of the audit trail that a manager has written; 0 without one."""
    deeds = AuditEvent.objects.filter(campaign=campaign).exclude(action__in=ANNOTATOR_ACTIONS)
    return deeds.order_by("-at").values_list("pk", flat=True).first() or 0


def figures_as_of(live: CampaignSnapshot) -> datetime | None:
    """Of when the figures of a page are; None: of now, as far as anybody can see."""
    return (
        timezone.now() - timedelta(seconds=live.age_s)
        if live.age_s >= AGE_SHOWN_AFTER_SECONDS
        else None
    )

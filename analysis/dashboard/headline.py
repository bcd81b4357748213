"""Moments and the end of a campaign in words, as the pages of managers say them."""

from __future__ import annotations

from datetime import UTC, datetime

from django.utils import formats, timezone

from annotation.models import Campaign


def moment_text(seconds: float) -> str:
    """seconds: since 1970; in the reader's time zone."""
    moment = timezone.localtime(datetime.fromtimestamp(seconds, UTC))
    return formats.date_format(moment, "D j M, H:i")


def has_ended(campaign: Campaign) -> bool:
    """Whether nobody judges any more, so that there is nothing to forecast."""
    return campaign.is_over or campaign.state == Campaign.State.CLOSED

"""The guidelines on the judging page, and whether an annotator must read them first."""

from __future__ import annotations

from typing import Any

from annotation.markup import markdown
from annotation.models import Campaign, GuidelineVersion, Membership


def get_newest_guideline(campaign: Campaign) -> GuidelineVersion | None:
    if not campaign.newest_guideline:
        return None
    return GuidelineVersion.objects.filter(
        campaign=campaign, number=campaign.newest_guideline
    ).first()


def render_guideline(version: GuidelineVersion) -> dict[str, Any]:
    return {"number": version.number, "html": markdown(version.text), "note": version.note}


def must_read_guidelines(annotator: Membership) -> bool:
    """Return whether the guidelines have changed by more than examples since the annotator read
    them."""
    unread = GuidelineVersion.objects.filter(
        campaign=annotator.campaign_id, number__gt=annotator.guideline_read
    )
    return not annotator.guideline_read or unread.filter(adds_example=False).exists()

"""What an annotator is told, and given, at the end."""

from __future__ import annotations

from typing import Any

from annotation.markup import markdown
from annotation.models import Campaign, Membership, Pair


def farewell(campaign: Campaign) -> dict[str, Any]:
    """What an annotator gets at the end."""
    thanks = markdown(campaign.thanks_text) if campaign.thanks_text else ""
    return {"completion_code": campaign.completion_code, "completion_url": campaign.completion_url, "thanks_html": thanks}


def has_earned(membership: Membership) -> bool:
    """Whether the annotator did the whole part, so that the end of the campaign does not take the completion code away: judged
    something, and reached the target, or had none, or nothing was left to judge."""
    if not membership.n_counted:
        return False
    goal = membership.goal
    if goal is None or membership.finished_at is not None or membership.n_counted >= goal:
        return True
    pairs = Pair.objects.filter(campaign=membership.campaign_id, kind=Pair.Kind.NORMAL, open_slots__gt=0)
    if membership.topic_ids:
        pairs = pairs.filter(topic_row__in=membership.topic_ids)
    return not pairs.exclude(judgements__membership=membership).exists()


def parting(membership: Membership) -> dict[str, Any]:
    """The farewell of a campaign that has ended: with the completion code for whom has earned it."""
    words = farewell(membership.campaign)
    return words if has_earned(membership) else {"thanks_html": words["thanks_html"]}

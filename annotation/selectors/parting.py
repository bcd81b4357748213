"""What an annotator is told, and given, at the end."""

from __future__ import annotations

from typing import Any

from annotation.markup import markdown
from annotation.models import Campaign, Membership, Pair


def thanks_and_code(campaign: Campaign) -> dict[str, Any]:
    """What an annotator gets at the end."""
    thanks = markdown(campaign.thanks_text) if campaign.thanks_text else ""
    return {
        "completion_code": campaign.completion_code,
        "completion_url": campaign.completion_url,
        "thanks_html": thanks,
    }


def has_earned(annotator: Membership) -> bool:
    """Whether the annotator did the whole part, so that the end of the campaign does not take the
    completion code away: judged something, and reached the target, or had none, or nothing was left
    to judge."""
    if not annotator.n_judged:
        return False
    goal = annotator.goal
    if goal is None or annotator.finished_at is not None or annotator.n_judged >= goal:
        return True
    pairs = Pair.objects.filter(
        campaign=annotator.campaign_id, kind=Pair.Kind.NORMAL, open_slots__gt=0
    )
    if annotator.topic_rows:
        pairs = pairs.filter(topic_row__in=annotator.topic_rows)
    return not pairs.exclude(judgements__membership=annotator).exists()


def parting(annotator: Membership) -> dict[str, Any]:
    """The farewell of a campaign that has ended: with the completion code for whom has earned
    it."""
    words = thanks_and_code(annotator.campaign)
    return words if has_earned(annotator) else {"thanks_html": words["thanks_html"]}

"""What the frame of every page asks about the person who looks at it."""

from __future__ import annotations

from typing import Any

from django import template

from annotation import permissions
from annotation.models import Campaign
from annotation.selectors import questions

register = template.Library()


@register.simple_tag(takes_context=True)
def manages_something(context: dict[str, Any]) -> bool:
    """Whether the pages of campaigns, collections and analyses are for this person; annotators have
    no business there."""
    user = context.get("user")
    return user is not None and permissions.is_manager(user)


@register.simple_tag
def unanswered_questions(campaign: Campaign) -> int:
    """How many questions of annotators wait for an answer."""
    return questions.count_unanswered(campaign)

"""Template tags about the signed-in user, for the layout of every page."""

from __future__ import annotations

from typing import Any

from django import template

from annotation import permissions
from annotation.models import Campaign
from annotation.selectors import questions

register = template.Library()


@register.simple_tag(takes_context=True)
def manages_something(context: dict[str, Any]) -> bool:
    """Return whether the user sees links to campaigns, collections and analyses. Annotators do
    not."""
    user = context.get("user")
    return user is not None and permissions.is_manager(user)


@register.simple_tag
def unanswered_questions(campaign: Campaign) -> int:
    """Return the number of annotators' questions without an answer."""
    return questions.count_unanswered(campaign)

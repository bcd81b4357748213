"""The HTML of the judging page. It is the same for all annotators of a campaign with the same
language, except for name, appearance and token.

It is therefore rendered once per state of the campaign, language and time zone, with markers for
personal values, which are inserted for each request.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Hashable
from datetime import datetime
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, NamedTuple

from django.conf import settings
from django.http import HttpRequest
from django.middleware.csrf import get_token
from django.template.loader import render_to_string
from django.utils import timezone, translation
from django.utils.html import escape

from annotation.models import Membership
from annotation.selectors.judging import get_display_settings

MAX_KEPT = 128
_MARK = f"own{secrets.token_hex(12)}"  # random, so that the name of a campaign cannot contain it
_MARKS = re.compile(f"{_MARK}([a-z]+)")


class Shell(NamedTuple):
    """The values that determine the rendered judging page: fields of the campaign under their own
    names, language, time zone and build."""

    slug: str
    name: str
    simulated: bool
    spans: str
    deadline: datetime | None
    further_questions: bool
    is_preferences: bool
    language: str | None
    zone: str
    guidelines_open: bool
    is_trial: bool
    build: str


def render_shell(
    request: HttpRequest,
    annotator: Membership,
    *,
    build: str,
    modules: Hashable,
    is_trial: bool = False,
) -> str:
    """Return the judging page for this annotator, in the language and time zone of the request."""
    campaign = annotator.campaign
    shell = Shell(
        *(
            campaign.slug,
            campaign.name,
            campaign.simulated,
            campaign.spans,
            campaign.deadline,
            bool(campaign.further_questions),
            campaign.is_preferences,
            translation.get_language(),
        ),
        zone=timezone.get_current_timezone_name() if campaign.deadline else "",
        guidelines_open=bool(get_display_settings(annotator).get("guidelines", True)),
        is_trial=is_trial,
        build=build,
    )
    own = {
        "pk": request.user.pk,
        "name": request.user.get_username(),
        "theme": request.COOKIES.get("theme") or "auto",
        "csrf": get_token(request),
    }
    parts = (_render_parts.__wrapped__ if settings.DEBUG else _render_parts)(shell, modules)
    return "".join(escape(own[part]) if i % 2 else part for i, part in enumerate(parts))


@lru_cache(maxsize=MAX_KEPT)
def _render_parts(shell: Shell, modules: Hashable) -> list[str]:
    """Render the judging page and split it at its markers: text, name of a personal value, text, …"""
    user = SimpleNamespace(pk=f"{_MARK}pk", get_username=f"{_MARK}name")
    context: dict[str, Any] = {
        "request": SimpleNamespace(user=user, COOKIES={"theme": f"{_MARK}theme"}),
        "csrf_token": f"{_MARK}csrf",
        "campaign": shell,
        "modules": modules,
        "build": shell.build,
        "skeleton": range(9),
        "guidelines_open": shell.guidelines_open,
        "is_trial": shell.is_trial,
    }
    return _MARKS.split(render_to_string("annotation/judge.html", context))

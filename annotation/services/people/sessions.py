"""Sessions as people see them: noted at sign-in, listed, and ended by who they belong to or by an
administrator."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from annotation.models import OpenSession

BROWSERS = {
    "Edg": "Edge",
    "OPR": "Opera",
    "Firefox": "Firefox",
    "FxiOS": "Firefox",
    "CriOS": "Chrome",
    "Chrome": "Chrome",
    "Safari": "Safari",
}
OPERATING_SYSTEMS = {
    "Android": "Android",
    "iPhone": "iPhone",
    "iPad": "iPad",
    "Windows": "Windows",
    "Mac OS X": "Mac",
    "CrOS": "ChromeOS",
    "Linux": "Linux",
}
"""What stands in a browser's name for itself -> what it is, the first that is there."""
RECENT_PERIOD = timedelta(minutes=10)


def describe_device(agent: str) -> str:
    """`Firefox on Linux` of what a browser says of itself; empty where nothing is known. No
    version: it would tell people apart."""
    browser = next((name for sign, name in BROWSERS.items() if re.search(rf"\b{sign}", agent)), "")
    system = next((name for sign, name in OPERATING_SYSTEMS.items() if sign in agent), "")
    return " on ".join(part for part in (browser, system) if part)


def remember_session(request: HttpRequest, user: User) -> None:
    """Remember the request's session under its user. To be called whenever the session has got a
    new key."""
    if request.session.session_key is None:
        request.session.save()
    key = request.session.session_key
    OpenSession.objects.update_or_create(
        session_id=key,
        defaults={
            "user": user,
            "device": describe_device(request.META.get("HTTP_USER_AGENT", "")[:1000]),
        },
    )


def has_just_signed_in(request: HttpRequest, user: User) -> bool:
    """Whether the user has signed in with this browser a moment ago."""
    since = timezone.now() - RECENT_PERIOD
    return OpenSession.objects.filter(
        session=request.session.session_key, user=user, began_at__gte=since
    ).exists()


def note_sign_in(sender: Any, request: HttpRequest, user: User, **_: Any) -> None:
    """Receives user_logged_in."""
    remember_session(request, user)


def get_open_sessions(user: User | None = None) -> QuerySet[OpenSession]:
    """The sessions that are good now, of one person or of everybody, the newest first."""
    rows = OpenSession.objects.filter(session__expire_date__gt=timezone.now()).select_related(
        "session", "user"
    )
    return rows if user is None else rows.filter(user=user)


def end_sessions(rows: QuerySet[OpenSession]) -> int:
    """Sign these out at once: their next request is answered as a stranger's. -> how many"""
    keys = list(rows.values_list("session_id", flat=True))
    Session.objects.filter(session_key__in=keys).delete()
    return len(keys)

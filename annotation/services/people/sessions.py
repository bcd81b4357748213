"""Sessions of users: recorded at sign-in, listed, and ended by their owners or an administrator."""

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
"""Part of a user agent string -> operating system. The first match applies."""
RECENT_PERIOD = timedelta(minutes=10)


def describe_device(agent: str) -> str:
    """Return a description such as `Firefox on Linux` for a user agent string, empty if unknown.
    Versions are left out, because they could identify users."""
    browser = next((name for sign, name in BROWSERS.items() if re.search(rf"\b{sign}", agent)), "")
    system = next((name for sign, name in OPERATING_SYSTEMS.items() if sign in agent), "")
    return " on ".join(part for part in (browser, system) if part)


def remember_session(request: HttpRequest, user: User) -> None:
    """Record the request's session for its user. Call this whenever the session has a new key."""
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
    """Return whether the user has just signed in with this browser."""
    since = timezone.now() - RECENT_PERIOD
    return OpenSession.objects.filter(
        session=request.session.session_key, user=user, began_at__gte=since
    ).exists()


def note_sign_in(sender: Any, request: HttpRequest, user: User, **_: Any) -> None:
    """Record a sign-in (receiver of user_logged_in)."""
    remember_session(request, user)


def get_open_sessions(user: User | None = None) -> QuerySet[OpenSession]:
    """Return the active sessions of one user or of all, newest first."""
    rows = OpenSession.objects.filter(session__expire_date__gt=timezone.now()).select_related(
        "session", "user"
    )
    return rows if user is None else rows.filter(user=user)


def end_sessions(rows: QuerySet[OpenSession]) -> int:
    """End these sessions with immediate effect, and return their number."""
    keys = list(rows.values_list("session_id", flat=True))
    Session.objects.filter(session_key__in=keys).delete()
    return len(keys)

"""Which language a person reads: chosen on the account or in this browser, else what the browser
asks for.

The annotator's way is translated, managers' pages are not yet: those are told in English as a
whole, not in two languages at once."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.utils import translation

SESSION = "language"
WAY = ("/sign-in", "/sign-out", "/join", "/account", "/language", "/judge/", "/api/v1/judging/")
"""Paths of the annotator's way begin so; the home page is on it, too."""
BESIDE = "/accounts"
"""Begins as one of them, and is the administrators'."""


def known(code: str | None) -> str:
    """The code where it is one of the languages of these pages; else empty."""
    return code if code in dict(settings.LANGUAGES) else ""


def is_on_way(path: str) -> bool:
    return path == "/" or (path.startswith(WAY) and not path.startswith(BESIDE))


def of_request(request: HttpRequest) -> str:
    """That of the signed-in person; else the one chosen in this browser, or which the browser asks
    for; English where none is known."""
    session = getattr(request, "session", None)
    own = known(session.get(SESSION)) if session is not None else ""
    return own or translation.get_language_from_request(request)


def of_person(user: User) -> str:
    """For mails: the one chosen on the account, else that of whoever asks for the mail."""
    profile = getattr(user, "profile", None)
    return (
        known(profile.language if profile is not None else "")
        or translation.get_language()
        or settings.LANGUAGE_CODE
    )

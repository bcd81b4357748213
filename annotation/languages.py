"""Which language a person reads: chosen on the account or in this browser, else what the browser
asks for.

The annotator's way is translated, managers' pages are not yet: those are told in English as a
whole, not in two languages at once."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.utils import translation

SESSION_KEY = "language"
ANNOTATOR_PATHS = (
    "/sign-in",
    "/sign-out",
    "/join",
    "/account",
    "/language",
    "/judge/",
    "/api/v1/judging/",
)
"""Paths of the annotator's way begin so; the home page is on it, too."""
EXCLUDED_PATH = "/accounts"
"""Begins as one of them, and is the administrators'."""


def known_language(code: str | None) -> str:
    """The code where it is one of the languages of these pages; else empty."""
    return code if code in dict(settings.LANGUAGES) else ""


def is_annotator_path(path: str) -> bool:
    return path == "/" or (path.startswith(ANNOTATOR_PATHS) and not path.startswith(EXCLUDED_PATH))


def request_language(request: HttpRequest) -> str:
    """That of the signed-in person; else the one chosen in this browser, or which the browser asks
    for; English where none is known."""
    session = getattr(request, "session", None)
    own = known_language(session.get(SESSION_KEY)) if session is not None else ""
    return own or translation.get_language_from_request(request)


def user_language(user: User) -> str:
    """For mails: the one chosen on the account, else that of whoever asks for the mail."""
    profile = getattr(user, "profile", None)
    return (
        known_language(profile.language if profile is not None else "")
        or translation.get_language()
        or settings.LANGUAGE_CODE
    )

"""The language of the interface: the choice of the account or browser, or else the browser's
preference.

Only annotators' pages are translated. Managers' pages are in English throughout, to avoid pages in
two languages.
"""

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
"""Path prefixes of annotators' pages. The home page is also an annotators' page."""
EXCLUDED_PATH = "/accounts"
"""A path with one of these prefixes that is for administrators."""


def known_language(code: str | None) -> str:
    """Return the code if it is a supported language, or else an empty string."""
    return code if code in dict(settings.LANGUAGES) else ""


def is_annotator_path(path: str) -> bool:
    return path == "/" or (path.startswith(ANNOTATOR_PATHS) and not path.startswith(EXCLUDED_PATH))


def request_language(request: HttpRequest) -> str:
    """Return the language of the signed-in user, of the browser's choice or of the browser's
    preference, in this order, or English."""
    session = getattr(request, "session", None)
    own = known_language(session.get(SESSION_KEY)) if session is not None else ""
    return own or translation.get_language_from_request(request)


def user_language(user: User) -> str:
    """Return the language for emails: the account's choice, or else that of the current request."""
    profile = getattr(user, "profile", None)
    return (
        known_language(profile.language if profile is not None else "")
        or translation.get_language()
        or settings.LANGUAGE_CODE
    )

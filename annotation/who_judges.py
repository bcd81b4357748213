"""Who asks for something of the judging page: session, user, membership, campaign and profile in
one statement.

Django asks for the session, then for the user whose id stands signed inside it, and the view then
for the membership. The database cannot join by what is inside; but a process has met most sessions
before, and a session never changes its user (signing in makes a new key). So the user is guessed
from what was met, or read from the session first where it is new here, and believed only where the
session as it is in the database now says the same. In every other case (a session that is over, a
password that was changed, an account that was closed) nothing is loaded, and Django asks as ever:
it also ends sessions that are not good any more."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from annotation.models import Campaign, Membership, Profile
from annotation.services.judging.statements import ModelReader, fetch_rows, to_database_time

BACKEND = "django.contrib.auth.backends.ModelBackend"
MAX_KNOWN = 20_000
SESSION, USER, MEMBER = (
    ModelReader(Session, "s"),
    ModelReader(User, "u"),
    ModelReader(Membership, "m"),
)
CAMPAIGN, PROFILE = ModelReader(Campaign, "c"), ModelReader(Profile, "f")
WHO_SQL = f"""SELECT {SESSION.columns}, {USER.columns}, {MEMBER.columns}, {CAMPAIGN.columns}, {PROFILE.columns}
  FROM django_session s JOIN auth_user u ON u.id = %(user)s LEFT JOIN annotation_campaign c ON c.slug = %(slug)s
    LEFT JOIN annotation_membership m ON m.campaign_id = c.id AND m.user_id = u.id LEFT JOIN annotation_profile f ON f.user_id = u.id
  WHERE s.session_key = %(session)s AND s.expire_date > %(now)s"""
SESSION_DATA_SQL = "SELECT s.session_data FROM django_session s WHERE s.session_key = %(session)s AND s.expire_date > %(now)s"
user_of_session: dict[str, int] = {}
"""Guesses of this process, by the sessions' keys."""


def load_membership(request: HttpRequest, slug: str) -> None:
    """Put what one statement finds where Django and `permissions.membership` look first."""
    key = request.session.session_key
    if key is None:
        return
    asked = {"session": key, "now": to_database_time(timezone.now())}
    guess = user_of_session.pop(key, None) or _session_user_id(request, asked)
    rows = fetch_rows(WHO_SQL, {**asked, "user": guess, "slug": slug}) if guess is not None else []
    if not rows:
        return
    session, own, member, campaign, profile = _split_row(rows[0])
    content, user = (
        request.session.decode(SESSION.instance(session).session_data),
        USER.instance(own),
    )
    if not _is_session_of(content, user):
        return
    if len(user_of_session) >= MAX_KNOWN:
        user_of_session.clear()
    user_of_session[key] = user.pk
    # Where SessionBase and AuthenticationMiddleware keep what they have loaded.
    request.session._session_cache = content  # type: ignore[attr-defined]
    request._cached_user = user  # type: ignore[attr-defined]
    user._state.fields_cache["profile"] = None if profile[0] is None else PROFILE.instance(profile)
    if member[0] is not None:
        membership: Membership = MEMBER.instance(member)
        membership.campaign, membership.user = CAMPAIGN.instance(campaign), user
        request.judging = membership  # type: ignore[attr-defined]


def get_loaded_membership(request: Any, slug: str) -> Membership | None:
    """The membership that `load` has found for this request."""
    membership: Membership | None = getattr(request, "judging", None)
    return membership if membership is not None and membership.campaign.slug == slug else None


def _session_user_id(request: HttpRequest, asked: dict[str, Any]) -> int | None:
    """Whose session it is by what stands signed in it; None where there is none, or nobody's."""
    rows = fetch_rows(SESSION_DATA_SQL, asked)
    inside = str(request.session.decode(rows[0][0]).get(SESSION_KEY, "")) if rows else ""
    return int(inside) if inside.isdecimal() else None


def _split_row(row: Any) -> list[Any]:
    parts, start = [], 0
    for reader in (SESSION, USER, MEMBER, CAMPAIGN, PROFILE):
        parts.append(row[start : start + len(reader)])
        start += len(reader)
    return parts


def _is_session_of(content: dict[str, Any], user: User) -> bool:
    """Whether the session's content is this user's, signed in by a password or a link, and nothing
    has ended it since."""
    return (
        content.get(SESSION_KEY) == str(user.pk)
        and content.get(BACKEND_SESSION_KEY) == BACKEND
        and user.is_active
        and constant_time_compare(content.get(HASH_SESSION_KEY, ""), user.get_session_auth_hash())
    )

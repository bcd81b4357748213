"""API tokens for scripts: scopes, expiry and lookup."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from datetime import timedelta

from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.models import EVERY_SCOPE, ApiTokenRow, Scope
from annotation.services.people.accounts import PeopleError

DAYS, USUAL_DAYS = (7, 30, 90, 365), 90
MAX_TOKENS = 50
"""Maximum number of tokens per user, including expired ones."""
USE_NOTED_EVERY = timedelta(minutes=5)


def create_api_token(
    *, user: User, name: str, scopes: Iterable[str] = EVERY_SCOPE.split(), days: int = USUAL_DAYS
) -> str:
    """Create an API token that is valid for `days` days and return it. Only its digest is stored.

    Raises PeopleError if the user has too many tokens, and ValueError for unknown scopes.
    """
    wanted = set(scopes)
    if not wanted or wanted - set(Scope.values):
        raise ValueError(f"unknown scopes {sorted(wanted)}; choose from {', '.join(Scope.values)}")
    if ApiTokenRow.objects.filter(user=user).count() >= MAX_TOKENS:
        raise PeopleError(
            _("You have the maximum of %(most)s tokens. Revoke one that you no longer need.")
            % {"most": MAX_TOKENS}
        )
    token = "assay_" + secrets.token_urlsafe(32)
    kept = " ".join(scope for scope in Scope.values if scope in wanted)
    ApiTokenRow.objects.create(
        user=user,
        name=name,
        digest=digest_token(token),
        scopes=kept,
        expires_at=timezone.now() + timedelta(days=days),
    )
    return token


def get_token(token: str) -> ApiTokenRow | None:
    """Return the token's row with `user`, even if it has expired. None if it does not exist or the
    account is closed. Records the use of a valid token."""
    row = (
        ApiTokenRow.objects.select_related("user")
        .filter(digest=digest_token(token), user__is_active=True)
        .first()
    )
    if row is None or row.is_over:
        return row
    now = timezone.now()
    if row.last_used_at is None or now - row.last_used_at > USE_NOTED_EVERY:
        ApiTokenRow.objects.filter(pk=row.pk).update(last_used_at=now)
    return row


def sufficient_scopes(scopes: str, *, judging: bool, changes: bool) -> list[str]:
    """Return the token's scopes that permit a request. judging: the request belongs to judging.
    changes: it changes data."""
    good = {Scope.JUDGE} if judging else {Scope.MANAGE} if changes else set()
    if not changes:
        good |= {Scope.READ, Scope.MANAGE}
    return [scope for scope in scopes.split() if scope in good]


def digest_token(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()

"""Tokens for scripts: what each lets one do, how long, and which one came with a request."""

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
"""Of one person, ended ones among them."""
USE_NOTED_EVERY = timedelta(minutes=5)


def create_api_token(
    *, user: User, name: str, scopes: Iterable[str] = EVERY_SCOPE.split(), days: int = USUAL_DAYS
) -> str:
    """A new token for scripts, good for so many days. It is returned once; only its digest is
    stored.

    PeopleError where the person has too many tokens; ValueError for scopes that there are not.
    """
    wanted = set(scopes)
    if not wanted or wanted - set(Scope.values):
        raise ValueError(f"scopes are some of {', '.join(Scope.values)}, not {sorted(wanted)}")
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
    """The row of a token, over or not, with `user`; None where there is none or the account is
    closed. Notes that one that is good was used."""
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
    """Which of the token's scopes let a request through: one that judges or belongs to judging, one
    that changes something, or reads."""
    good = {Scope.JUDGE} if judging else {Scope.MANAGE} if changes else set()
    if not changes:
        good |= {Scope.READ, Scope.MANAGE}
    return [scope for scope in scopes.split() if scope in good]


def digest_token(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()

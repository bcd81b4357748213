"""Limits on sign-in attempts, shared by all processes, that cannot be used to lock out other users.

Failures are counted per account and IP address, so a stranger elsewhere cannot lock an account.
Many users can share an address (an institution, or a proxy that is not configured as trusted). A
browser that has signed in to the account before therefore has its own count, identified by a signed
cookie. In addition, each address has a limit of failures over all accounts, which does not apply to
such a browser. Visitors without a known address share counts with higher limits.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.contrib.auth.models import User
from django.core import signing
from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.models import Attempts
from pooling.platform.unavailable import ProcessBusy

ATTEMPT_PERIOD = timedelta(minutes=5)
MOST_OF_ACCOUNT, MOST_OF_ADDRESS, MOST_OF_NOBODY = 10, 100, 1000
"""Maximum failures per account and address, per address, and of all visitors without a known
address."""
MOST_CODES, MOST_CODES_OF_NOBODY = 100, 1000
"""Maximum wrong codes per user or address, and of all visitors without a known address."""
MOST_MAILS, MOST_MAILS_FROM, MOST_MAILS_OF_NOBODY = 3, 20, 100
"""Maximum emails per recipient, per requesting address, and of all visitors without a known
address."""
MOST_LOOKS, MOST_LOOKS_OF_NOBODY = 300, 3000
"""Maximum views of a results link per address, and of all visitors without a known address."""
COOKIE, COOKIE_SECONDS = "assay-known", 365 * 86400
SALT = "annotation.services.people.attempts"


def has_too_many_attempts(key: str, most: int) -> bool:
    now = timezone.now()
    return Attempts.objects.filter(
        key=_digest_key(key), n__gte=most, began_at__gt=now - ATTEMPT_PERIOD, began_at__lte=now
    ).exists()


def count_attempt(key: str) -> int:
    """Count one attempt in a window of up to five minutes, and return the number of attempts in
    it."""
    now, digest = timezone.now(), _digest_key(key)
    with transaction.atomic():
        Attempts.objects.exclude(
            began_at__gt=now - ATTEMPT_PERIOD, began_at__lte=now
        ).delete()  # in the future if the clock was set back
        Attempts.objects.bulk_create(
            [Attempts(key=digest, n=0, began_at=now)], ignore_conflicts=True
        )
        Attempts.objects.filter(key=digest).update(n=F("n") + 1)
        return Attempts.objects.values_list("n", flat=True).get(key=digest)


def clear_attempts(key: str) -> None:
    Attempts.objects.filter(key=_digest_key(key)).delete()


def _digest_key(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


class SignInAttempt:
    """One attempt to sign in. cookie: as sent by the browser."""

    def __init__(self, username: str, *, address: str, cookie: str) -> None:
        self.username, self.known = username, _browser_id(cookie, username)
        name = username.strip().lower()
        self.account_key = (
            f"browser|{name}|{self.known}" if self.known else f"account|{name}|{address}"
        )
        self.address_key = "" if self.known else f"address|{address}"
        self.most_of_address = MOST_OF_ADDRESS if address else MOST_OF_NOBODY

    def is_refused(self) -> bool:
        return has_too_many_attempts(self.account_key, MOST_OF_ACCOUNT) or bool(
            self.address_key and has_too_many_attempts(self.address_key, self.most_of_address)
        )

    def record_failure(self) -> None:
        count_attempt(self.account_key)
        if self.address_key:
            count_attempt(self.address_key)

    def record_success(self) -> None:
        clear_attempts(self.account_key)


class PasswordAttempt:
    """One attempt to confirm the password of a signed-in user, limited so that passwords cannot be
    guessed at an unattended browser."""

    def __init__(self, user: User) -> None:
        self.key = f"own password|{user.pk}"

    def is_refused(self) -> bool:
        return has_too_many_attempts(self.key, MOST_OF_ACCOUNT)

    def record_failure(self) -> None:
        count_attempt(self.key)

    def record_success(self) -> None:
        clear_attempts(self.key)


class CodeAttempt:
    """One attempt to enter an invitation code, counted per signed-in user or else per address.

    Links need no code, so users at the same address as an attacker can still join with a link.
    """

    def __init__(self, user: User | None, *, address: str) -> None:
        self.key = f"code|user|{user.pk}" if user is not None else f"code|address|{address}"
        self.most = MOST_CODES if user is not None or address else MOST_CODES_OF_NOBODY

    def is_refused(self) -> bool:
        return has_too_many_attempts(self.key, self.most)

    def record_failure(self) -> None:
        count_attempt(self.key)


def can_send_mail(email: str, *, address: str) -> bool:
    """Return whether one more email may be sent to this recipient at the request of this address.
    An attacker who uses up the limit cannot lock anyone out, because the emails already sent
    contain valid links."""
    from_here = count_attempt(f"link from|{address}")
    return (
        from_here <= (MOST_MAILS_FROM if address else MOST_MAILS_OF_NOBODY)
        and count_attempt(f"link|{email.lower()}") <= MOST_MAILS
    )


def can_open_link(link: str, *, address: str) -> bool:
    """Count a view of a results link from this IP address, and return whether it is still within
    the limit. Each link has its own count."""
    return count_attempt(f"look|{link}|{address}") <= (
        MOST_LOOKS if address else MOST_LOOKS_OF_NOBODY
    )


def make_browser_cookie(user: User) -> str:
    """Return the cookie value for a browser that has signed in to the account. It is valid for this
    account only and gives the browser its own count."""
    return signing.dumps([user.get_username().lower(), secrets.token_hex(8)], salt=SALT)


def _browser_id(cookie: str, username: str) -> str:
    """Return the browser's number, empty if it has not signed in to this account before."""
    try:
        name, number = signing.loads(cookie, salt=SALT, max_age=COOKIE_SECONDS)
    except (signing.BadSignature, ValueError, TypeError):
        return ""
    return str(number) if name == username.strip().lower() else ""


N_HASHING_SLOTS = 2
"""Threads per process that may hash passwords. Only one password is hashed at a time per machine,
so without a limit the sign-ins of a class would occupy every thread and block annotators. The
browser repeats a refused sign-in (static/js/repeating_form.js)."""
_hashing_slots = threading.BoundedSemaphore(N_HASHING_SLOTS)


@contextmanager
def hashing_slot() -> Iterator[None]:
    """Hold one of the process's hashing slots. Raises ProcessBusy immediately if none is free."""
    if not _hashing_slots.acquire(blocking=False):
        raise ProcessBusy(_("Many people are signing in right now. Try again in a few seconds."))
    try:
        yield
    finally:
        _hashing_slots.release()

"""Limits on signing in that every process keeps together, and that nobody can turn against somebody
else.

Failures are counted for an account *at* an address, so a stranger elsewhere locks nobody out. At
the same address (a proxy that is not named as trusted, a whole institute) a browser that has signed
in to the account before has a count of its own, by a signed cookie:
strangers' failures do not reach it. In addition an address may fail only so often with names of all
kinds; this does not hold for such a browser. Visitors without an address share counts with higher
limits."""

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
"""Failures of an account at an address; of an address; of all visitors together whose address is
unknown."""
MOST_CODES, MOST_CODES_OF_NOBODY = 100, 1000
"""Wrong codes of a person or an address; of all those together whose address nobody can tell."""
MOST_MAILS, MOST_MAILS_FROM, MOST_MAILS_OF_NOBODY = 3, 20, 100
"""Mails to one person; asked for by one address; by all those whose address nobody can tell."""
MOST_LOOKS, MOST_LOOKS_OF_NOBODY = 300, 3000
"""Pages of a link to results that an address, or all those together whose address nobody can tell,
may open."""
COOKIE, COOKIE_SECONDS = "assay-known", 365 * 86400
SALT = "annotation.services.people.attempts"


def has_too_many_attempts(key: str, most: int) -> bool:
    now = timezone.now()
    return Attempts.objects.filter(
        key=_digest_key(key), n__gte=most, began_at__gt=now - ATTEMPT_PERIOD, began_at__lte=now
    ).exists()


def count_attempt(key: str) -> int:
    """One more, from now on or since up to five minutes ago. -> how many"""
    now, digest = timezone.now(), _digest_key(key)
    with transaction.atomic():
        Attempts.objects.exclude(
            began_at__gt=now - ATTEMPT_PERIOD, began_at__lte=now
        ).delete()  # of the future: the clock was set back
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
    """One attempt to sign in. cookie: the browser's, as it came."""

    def __init__(self, username: str, *, address: str, cookie: str) -> None:
        self.username, self.known = username, _browser_id(cookie, username)
        name = username.strip().lower()
        self.account_key = (
            f"browser|{name}|{self.known}" if self.known else f"account|{name}|{address}"
        )
        self.address_key = "" if self.known else f"address|{address}"
        self.most_of_address = MOST_OF_ADDRESS if address else MOST_OF_NOBODY

    def refused(self) -> bool:
        return has_too_many_attempts(self.account_key, MOST_OF_ACCOUNT) or bool(
            self.address_key and has_too_many_attempts(self.address_key, self.most_of_address)
        )

    def failed(self) -> None:
        count_attempt(self.account_key)
        if self.address_key:
            count_attempt(self.address_key)

    def succeeded(self) -> None:
        clear_attempts(self.account_key)


class PasswordAttempt:
    """One's own password, asked for once more of who is signed in: a browser left open does not let
    anybody try passwords without end."""

    def __init__(self, user: User) -> None:
        self.key = f"own password|{user.pk}"

    def refused(self) -> bool:
        return has_too_many_attempts(self.key, MOST_OF_ACCOUNT)

    def failed(self) -> None:
        count_attempt(self.key)

    def succeeded(self) -> None:
        clear_attempts(self.key)


class CodeAttempt:
    """One code of an invitation, typed by somebody who is signed in (then the count is that
    person's) or at an address.

    A link needs no code: whoever shares an address with somebody who guesses still comes in by
    that."""

    def __init__(self, user: User | None, *, address: str) -> None:
        self.key = f"code|user|{user.pk}" if user is not None else f"code|address|{address}"
        self.most = MOST_CODES if user is not None or address else MOST_CODES_OF_NOBODY

    def refused(self) -> bool:
        return has_too_many_attempts(self.key, self.most)

    def failed(self) -> None:
        count_attempt(self.key)


def can_send_mail(email: str, *, address: str) -> bool:
    """Whether one more mail may go to this person because somebody at this address asks. Who uses
    up another's mails has filled that person's mailbox with links that are good: nobody is kept
    out."""
    from_here = count_attempt(f"link from|{address}")
    return (
        from_here <= (MOST_MAILS_FROM if address else MOST_MAILS_OF_NOBODY)
        and count_attempt(f"link|{email.lower()}") <= MOST_MAILS
    )


def can_open_link(link: str, *, address: str) -> bool:
    """Whether the pages of a link to results may be opened once more from here. Counted for each
    link: nobody uses up that of others."""
    return count_attempt(f"look|{link}|{address}") <= (
        MOST_LOOKS if address else MOST_LOOKS_OF_NOBODY
    )


def make_browser_cookie(user: User) -> str:
    """What a browser keeps that has signed in to the account: good for this account alone, and for
    nothing but its own count."""
    return signing.dumps([user.get_username().lower(), secrets.token_hex(8)], salt=SALT)


def _browser_id(cookie: str, username: str) -> str:
    """The browser's number, empty unless it has signed in to this account before."""
    try:
        name, number = signing.loads(cookie, salt=SALT, max_age=COOKIE_SECONDS)
    except (signing.BadSignature, ValueError, TypeError):
        return ""
    return str(number) if name == username.strip().lower() else ""


N_HASHING_SLOTS = 2
"""Threads of a process that may hash passwords. One password is hashed at a time on a machine, so the
sign-ins of a class would wait for it in every thread, and none would be left to answer those who
judge. The browser repeats a sign-in that found no turn (static/js/repeating_form.js)."""
_hashing_slots = threading.BoundedSemaphore(N_HASHING_SLOTS)


@contextmanager
def hashing_slot() -> Iterator[None]:
    """Hold one of the process's turns. Busy at once if none is free."""
    if not _hashing_slots.acquire(blocking=False):
        raise ProcessBusy(_("Many people are signing in right now. Try again in a few seconds."))
    try:
        yield
    finally:
        _hashing_slots.release()

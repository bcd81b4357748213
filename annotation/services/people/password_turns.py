"""A bound on how many threads of a process hash passwords.

One password is hashed at a time on a machine. Without a bound, the sign-ins of a class would wait
for it in every thread, and nobody would be left to answer those who judge. The browser repeats a
sign-in that found no turn (static/js/repeating_form.js)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.utils.translation import gettext as _

from pooling.platform.unavailable import Busy

N_TURNS = 2
_turns = threading.BoundedSemaphore(N_TURNS)


@contextmanager
def password_turn() -> Iterator[None]:
    """Hold one of the process's turns. Busy at once if none is free."""
    if not _turns.acquire(blocking=False):
        raise Busy(_("Many people are signing in right now. Try again in a few seconds."))
    try:
        yield
    finally:
        _turns.release()

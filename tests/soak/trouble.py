"""The definition of a fault: a cause that lasts while people judge, and the effects that it may
have."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from tests.soak.place import Place

BOTH = ("sqlite", "postgresql")


@dataclass(frozen=True)
class Trouble:
    """A fault.

    cause: begins the fault and ends it. It yields a sentence, or a list of sentences that is
    complete at the end, for the table. seconds: duration in a full run, and in a short one.
    unnoticed: whether no request may be refused or lost. with_job: whether an import runs in the
    background meanwhile. needs: what the installation must be started with.
    """

    name: str
    cause: Callable[[Place], AbstractContextManager[str | list[str] | None]]
    seconds: tuple[float, float] = (5.0, 3.0)
    databases: tuple[str, ...] = BOTH
    unnoticed: bool = False
    with_job: bool = False
    needs: frozenset[str] = frozenset()

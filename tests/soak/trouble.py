"""What a fault is: a cause that lasts while people judge, and what it may do to them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from tests.soak.place import Place

BOTH = ("sqlite", "postgresql")


@dataclass(frozen=True)
class Trouble:
    """cause: begins the fault and, at its end, ends it; the sentence that it gives, or the list of
    them that it has filled by its end, is told in the table. seconds: for which it lasts in a whole
    run, and in a short one. unnoticed: no request may be refused or lost. with_job: an import runs
    in the background meanwhile. needs: what the installation must be started with."""

    name: str
    cause: Callable[[Place], AbstractContextManager[str | list[str] | None]]
    seconds: tuple[float, float] = (5.0, 3.0)
    databases: tuple[str, ...] = BOTH
    unnoticed: bool = False
    with_job: bool = False
    needs: frozenset[str] = frozenset()

"""The definition of one task."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.tasks.hands import Hands


@dataclass(frozen=True)
class Task:
    """One task of a person in the browser. says: description in a person's words. who: whose
    session is used (a name of `site`), or none. at_most: maximum number of actions of `now`, which
    a test checks. not_before: why the first version could not do it; `before` then goes where a
    person would have looked. published: number of actions counted in the review."""

    name: str
    says: str
    now: Callable[[Hands], None]
    before: Callable[[Hands], None]
    at_most: int
    who: str = "manager"
    start: str = "/"
    phone: bool = False
    not_before: str = ""
    published: str = ""

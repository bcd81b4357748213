"""One task."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.tasks.hands import Hands


@dataclass(frozen=True)
class Task:
    """says: in a person's words. who: whose session (a name of `site`), or nobody's. at_most:
    actions of `now`, which a test holds. not_before: why the first version could not do it;
    `before` then goes where one would have looked. published: what the review counted in it."""

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

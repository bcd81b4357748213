"""The list of annotators as a manager asks for it: which, in which order, with what drawn in the
row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analysis.dashboard.annotators import Person
from annotation.models import Membership
from annotation.selectors.parts import parts_of
from assay.campaigns.flags import Flag, strongest_first
from assay.charts.small import small_bars, small_interval
from assay.natural import natural
from pooling.platform.listing import ListChoice, ListPage

SORTS: dict[str, Callable[[Person], Any]] = {
    "name": lambda p: natural(p.membership.pseudonym),
    "flags": lambda p: len(p.flags),
    "judged": lambda p: p.membership.n_judged,
    "fast": lambda p: p.n_fast,
    "cannot": lambda p: p.n_cannot,
    "hours": lambda p: p.hours or None,
    "seconds": lambda p: p.median,
    "kappa": lambda p: p.kappa,
    "gold": lambda p: p.gold.share if p.gold else None,
    "topics": lambda p: p.n_topics,
    "last": lambda p: p.last,
}
FLAGGED = "flagged"
WHICH = [
    (FLAGGED, gettext_lazy("with a flag")),
    ("active", gettext_lazy("active")),
    ("paused", gettext_lazy("paused")),
    ("excluded", gettext_lazy("excluded")),
]


@dataclass(frozen=True, eq=False)
class PersonRow:
    """part: judgements that are asked of the person, None for no target. flags: the strongest
    first. times, dot: pictures."""

    person: Person
    part: int | None
    name: str
    flags: list[Flag]
    times: SafeString
    dot: SafeString

    @property
    def flag_names(self) -> list[str]:
        return [flag.name for flag in self.flags]


def people_page(request: HttpRequest, everybody: Sequence[Person]) -> ListPage:
    which = ListChoice(
        "which",
        _("Which"),
        WHICH,
        lambda people, value: [person for person in people if is_one(person, value)],
    )
    return ListPage(
        request, everybody, search=words_of, sort=SORTS, choices=[which], default="name"
    )


def rows_of(people: Sequence[Person], grades: list[str]) -> list[PersonRow]:
    """Rows of one page: bars of seconds have one scale in all of them."""
    highest = max(
        (m for person in people for m in person.median_by_grade if m is not None), default=0.0
    )
    parts = parts_of([person.membership for person in people])
    return [
        row_of(person, part, grades, highest) for person, part in zip(people, parts, strict=True)
    ]


def is_one(person: Person, which: str) -> bool:
    """which: one of WHICH."""
    return bool(person.flags) if which == FLAGGED else person.membership.standing == which


def words_of(person: Person) -> str:
    """What is searched: pseudonym, name, account, note and flags."""
    member = person.membership
    return " ".join(
        [
            member.pseudonym,
            name_of(member),
            member.user.get_username(),
            member.note,
            *(flag.name for flag in person.flags),
        ]
    )


def name_of(member: Membership) -> str:
    """For managers alone: what the account says of itself."""
    return member.user.get_full_name() or member.user.get_username()


def row_of(person: Person, part: int | None, grades: list[str], highest: float) -> PersonRow:
    dot = ""
    if person.kappa is not None and person.agreement is not None:
        interval = person.agreement.interval
        low, high = (None, None) if interval.reason else (interval.low, interval.high)
        dot = small_interval(person.kappa, low, high, what="kappa")
    times = small_bars(person.median_by_grade, grades, highest=highest, unit="s")
    return PersonRow(
        person,
        part,
        name_of(person.membership),
        strongest_first(person.flags),
        mark_safe(times),
        mark_safe(dot),
    )

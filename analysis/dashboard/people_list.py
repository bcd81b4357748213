"""The paged list of annotators with its filters, order and charts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analysis.dashboard.annotators import AnnotatorSummary
from annotation.models import Membership
from annotation.selectors.annotator_quotas import annotator_quotas
from assay.campaigns.flags import (
    FLAG_ORDER,
    RANDOM_LIKE_FLAGS,
    AnnotatorFlag,
    flag_rank,
    sort_flags,
)
from assay.charts.sparklines import inline_interval
from assay.natural_order import natural_sort_key
from pooling.platform.listing import ListPage, RowFilter


def review_key(person: AnnotatorSummary) -> tuple[Any, ...]:
    """Return a sort key that puts annotators first whose judgements may harm the labels most: by
    strongest flag, then those waiting for a manager, then by lowest kappa. Excluded annotators come
    last."""
    flags = sort_flags(person.flags)
    is_out = person.membership.status == Membership.Status.EXCLUDED
    return (
        is_out,
        flag_rank(flags[0]) if flags else len(FLAG_ORDER),
        not person.waits,
        person.kappa is None,
        person.kappa or 0.0,
        natural_sort_key(person.membership.pseudonym),
    )


SORT_KEYS: dict[str, Callable[[AnnotatorSummary], Any]] = {
    "name": lambda p: natural_sort_key(p.membership.pseudonym),
    "flags": review_key,
    "status": lambda p: p.membership.status,
    "judged": lambda p: p.membership.n_judged,
    "seconds": lambda p: p.median,
    "kappa": lambda p: p.kappa,
    "gold": lambda p: p.gold.share if p.gold else None,
    "last": lambda p: p.last,
}
FLAGGED, GUESTS = "flagged", "guests"
PER_PAGE = 20
PEOPLE_FILTERS = [
    (FLAGGED, gettext_lazy("with flags")),
    ("active", gettext_lazy("active")),
    ("paused", gettext_lazy("paused")),
    ("excluded", gettext_lazy("excluded")),
    (GUESTS, gettext_lazy("guests")),
]


@dataclass(frozen=True, eq=False)
class AnnotatorListRow:
    """One annotator in the list.

    part: number of judgements assigned to the annotator, None without a target. flags: strongest
    first. dot: chart of kappa.
    """

    person: AnnotatorSummary
    part: int | None
    name: str
    flags: list[AnnotatorFlag]
    dot: SafeString

    @property
    def random_signs(self) -> list[AnnotatorFlag]:
        """Return the flags that say that the annotator's judgements look random."""
        return [flag for flag in self.flags if flag.name in RANDOM_LIKE_FLAGS]

    @property
    def flag_names(self) -> list[str]:
        return [flag.name for flag in self.flags]


def annotator_list_page(request: HttpRequest, everybody: Sequence[AnnotatorSummary]) -> ListPage:
    which = RowFilter(
        "which",
        _("Show"),
        PEOPLE_FILTERS,
        lambda people, value: [person for person in people if matches_filter(person, value)],
    )
    return ListPage(
        request,
        everybody,
        search=searchable_text,
        sort=SORT_KEYS,
        choices=[which],
        default="flags",
        per_page=PER_PAGE,
    )


def build_rows(people: Sequence[AnnotatorSummary]) -> list[AnnotatorListRow]:
    """Build the rows for one page of the list of annotators."""
    parts = annotator_quotas([person.membership for person in people])
    return [build_row(person, part) for person, part in zip(people, parts, strict=True)]


def matches_filter(person: AnnotatorSummary, which: str) -> bool:
    """Return whether the annotator belongs to the filtered list. which: one of PEOPLE_FILTERS."""
    if which == GUESTS:
        return person.membership.is_guest
    return bool(person.flags) if which == FLAGGED else person.membership.status == which


def searchable_text(person: AnnotatorSummary) -> str:
    """Return the text of an annotator that the search covers: pseudonym, name, account, note and
    flags."""
    member = person.membership
    return " ".join(
        [
            member.pseudonym,
            account_name(member),
            member.user.get_username(),
            member.note,
            *(flag.name for flag in person.flags),
        ]
    )


def account_name(member: Membership) -> str:
    """Return the name of the member's account, or "guest" if it was created for a guest. Only
    managers may see it."""
    return (
        _("guest") if member.is_guest else member.user.get_full_name() or member.user.get_username()
    )


def build_row(person: AnnotatorSummary, part: int | None) -> AnnotatorListRow:
    dot = ""
    if person.kappa is not None and person.agreement is not None:
        interval = person.agreement.interval
        low, high = (None, None) if interval.reason else (interval.low, interval.high)
        dot = inline_interval(person.kappa, low, high, what="kappa")
    return AnnotatorListRow(
        person, part, account_name(person.membership), sort_flags(person.flags), mark_safe(dot)
    )

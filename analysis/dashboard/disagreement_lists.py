"""Where annotators differ, as lists of pages: the most disputed pairs, and one person's judgements
beside the others'."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analysis.dashboard.disagreements import (
    Difference,
    Disputed,
    most_disputed,
    of_person,
    with_texts,
)
from analysis.judgements.live import Live
from annotation.models import Campaign
from assay.natural import natural
from pooling.platform.listing import ListChoice, ListPage

PER_PAGE = 25
RULED = [("ruled", gettext_lazy("ruled")), ("open", gettext_lazy("not ruled"))]


def disputed_page(request: HttpRequest, campaign: Campaign, live: Live) -> ListPage:
    """The widest spread of grades first."""
    disputed = most_disputed(campaign, live)
    with_texts(campaign, disputed)
    ruled = ListChoice(
        "label",
        _("Label of a manager"),
        RULED,
        lambda rows, value: [d for d in rows if (d.adjudicated is not None) == (value == "ruled")],
    )
    return _page(
        request,
        disputed,
        {"spread": lambda d: d.spread, "label": lambda d: d.adjudicated},
        ruled,
        part="disputed",
    )


def differences_page(
    request: HttpRequest, campaign: Campaign, live: Live, pseudonym: str
) -> ListPage:
    """Of one annotator, the farthest from the others first."""
    differences = of_person(campaign, live, pseudonym)
    all_texts = "q" in request.GET or request.GET.get("sort", "").removeprefix("-") in TEXTS
    if all_texts:
        with_texts(campaign, differences)
    grades = [(str(grade["value"]), grade["name"]) for grade in campaign.scale]
    own = ListChoice(
        "own",
        _("Grade of %(pseudonym)s") % {"pseudonym": pseudonym},
        grades,
        lambda rows, value: [d for d in rows if str(d.own) == value],
    )
    shown = _page(
        request,
        differences,
        {"own": lambda d: d.own, "others": lambda d: d.label},
        own,
        part="differences",
    )
    if not all_texts:
        with_texts(campaign, shown)
    return shown


TEXTS: Mapping[str, Callable[[Any], Any]] = {
    "topic": lambda d: natural(d.topic),
    "document": lambda d: natural(d.docno),
}


def _page(
    request: HttpRequest,
    rows: Sequence[Difference | Disputed],
    sort: Mapping[str, Callable[[Any], Any]],
    choice: ListChoice,
    *,
    part: str,
) -> ListPage:
    return ListPage(
        request,
        rows,
        search=lambda d: " ".join((d.topic, d.topic_text, d.docno, d.title)),
        sort={**TEXTS, **sort},
        choices=[choice],
        per_page=PER_PAGE,
        part=part,
    )

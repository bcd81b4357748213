"""Paged lists of disagreements: the disputed pairs of a campaign, and the judgements of one
annotator that differ from those of others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analysis.dashboard.disagreements import (
    DisputedPair,
    GradeDifference,
    annotator_differences,
    attach_texts,
    list_most_disputed,
)
from analysis.judgements.live import CampaignSnapshot
from annotation.models import Campaign
from assay.natural_order import natural_sort_key
from pooling.platform.listing import ListPage, RowFilter

PER_PAGE = 25
RULING_CHOICES = [("ruled", gettext_lazy("ruled")), ("open", gettext_lazy("no"))]


def disputed_page(request: HttpRequest, campaign: Campaign, live: CampaignSnapshot) -> ListPage:
    """List disputed pairs, widest spread of grades first."""
    disputed = list_most_disputed(campaign, live)
    attach_texts(campaign, disputed)
    ruled = RowFilter(
        "label",
        _("Adjudicated"),
        RULING_CHOICES,
        lambda rows, value: [d for d in rows if (d.adjudicated is not None) == (value == "ruled")],
    )
    return _disagreement_page(
        request,
        disputed,
        {"spread": lambda d: d.spread, "label": lambda d: d.adjudicated},
        ruled,
        part="disputed",
    )


def annotator_differences_page(
    request: HttpRequest, campaign: Campaign, live: CampaignSnapshot, pseudonym: str
) -> ListPage:
    """List one annotator's differing judgements, largest distance first."""
    differences = annotator_differences(campaign, live, pseudonym)
    all_texts = (
        "q" in request.GET or request.GET.get("sort", "").removeprefix("-") in TEXT_SORT_KEYS
    )
    if all_texts:
        attach_texts(campaign, differences)
    grades = [(str(grade["value"]), grade["name"]) for grade in campaign.scale]
    own = RowFilter(
        "own",
        _("Grade of %(pseudonym)s") % {"pseudonym": pseudonym},
        grades,
        lambda rows, value: [d for d in rows if str(d.own) == value],
    )
    shown = _disagreement_page(
        request,
        differences,
        {"own": lambda d: d.own, "others": lambda d: d.label},
        own,
        part="differences",
    )
    if not all_texts:
        attach_texts(campaign, shown)
    return shown


TEXT_SORT_KEYS: Mapping[str, Callable[[Any], Any]] = {
    "topic": lambda d: natural_sort_key(d.topic),
    "document": lambda d: natural_sort_key(d.docno),
}


def _disagreement_page(
    request: HttpRequest,
    rows: Sequence[GradeDifference | DisputedPair],
    sort: Mapping[str, Callable[[Any], Any]],
    choice: RowFilter,
    *,
    part: str,
) -> ListPage:
    return ListPage(
        request,
        rows,
        search=lambda d: " ".join((d.topic, d.topic_text, d.docno, d.title)),
        sort={**TEXT_SORT_KEYS, **sort},
        choices=[choice],
        per_page=PER_PAGE,
        part=part,
    )

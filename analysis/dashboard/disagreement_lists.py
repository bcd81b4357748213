"""The paged list of one annotator's judgements that differ from those of others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext as _

from analysis.dashboard.disagreements import annotator_differences, complete_differences
from analysis.judgements.live import CampaignSnapshot
from annotation.models import Campaign
from assay.natural_order import natural_sort_key
from pooling.platform.listing import ListPage, RowFilter

PER_PAGE = 8
TEXT_SORT_KEYS: Mapping[str, Callable[[Any], Any]] = {
    "topic": lambda d: natural_sort_key(d.topic),
    "document": lambda d: natural_sort_key(d.docno),
}


def annotator_differences_page(
    request: HttpRequest, campaign: Campaign, live: CampaignSnapshot, pseudonym: str
) -> ListPage:
    """Return a page of an annotator's judgements that differ from those of others, largest distance
    first."""
    differences = annotator_differences(campaign, live, pseudonym)
    all_texts = (
        "q" in request.GET or request.GET.get("sort", "").removeprefix("-") in TEXT_SORT_KEYS
    )
    if all_texts:
        complete_differences(campaign, pseudonym, differences)
    grades = [(str(grade["value"]), grade["name"]) for grade in campaign.scale]
    own = RowFilter(
        "own",
        _("Grade of %(pseudonym)s") % {"pseudonym": pseudonym},
        grades,
        lambda rows, value: [d for d in rows if str(d.own) == value],
    )
    shown = ListPage(
        request,
        differences,
        search=lambda d: " ".join((d.topic, d.topic_text, d.docno, d.title)),
        sort={**TEXT_SORT_KEYS, "own": lambda d: d.own, "others": lambda d: d.label},
        choices=[own],
        per_page=PER_PAGE,
        part="differences",
    )
    if not all_texts:
        complete_differences(campaign, pseudonym, shown)
    return shown

"""The page of a campaign's pairs with their judgements and labels, the distribution and statistics
of labels (Figure 1 and Table 1 of TripJudge, Althammer et al. 2022), and the effect of the
aggregation method."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from analysis.dashboard import additional_judgements as previews
from analysis.dashboard import label_list, method_effect, ranking_effects
from analysis.dashboard.annotators import list_annotators
from analysis.dashboard.label_list import ListedPair
from analysis.dashboard.views.adjudication import pop_saved_label
from analysis.judgements.labels import cached_labels
from analysis.judgements.live import CampaignSnapshot, get_snapshot
from analysis.judgements.pairs import QUALIFICATION
from annotation.models import Campaign
from annotation.permissions import get_managed_campaign
from annotation.services.errors import CampaignError
from annotation.services.judging import additional_judgements
from assay.campaigns.flags import RANDOM_LIKE_FLAGS
from assay.campaigns.statistics import (
    CampaignStatistics,
    RankCoverage,
    compute_campaign_statistics,
    find_complete_depth,
)
from assay.charts.bars import stacked_bar_chart
from assay.charts.svg import Picture
from assay.comparison.label_effects import LabelEffect
from assay.number_words import format_count_of_total
from pooling.permissions import SignedInRequest
from pooling.platform.page_files import render_page
from pooling.platform.requests import parse_row_id
from pooling.selectors import pools as pool_selectors
from pooling.services.matching import count_documents
from pooling.tasks import send

DECISION_CHOICES = [
    ("unanimous", "all agree"),
    ("majority", "majority"),
    ("lowest_grade", "lowest grade"),
    ("adjudicated", "adjudicated"),
]


@login_required
@require_safe
def page(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the campaign's pairs in views, label counts per topic, charts of the labels, and the
    effect of the aggregation method."""
    campaign = get_managed_campaign(request, slug)
    live = get_snapshot(campaign)
    effect, job = method_effect.newest_effect(campaign, live)
    on_ranking, ranking_job = ranking_effects.newest_ranking_effects(campaign, live)
    for one in (job, ranking_job):
        if one is not None:
            send(one)
    working = method_effect.is_running(campaign)
    if working and request.headers.get("HX-Request"):
        return HttpResponse(status=204)  # nothing has changed
    view, views, rows = label_list.select_view(campaign, live, request.GET.get("view", ""))
    effects = on_ranking.effects if on_ranking else {}
    shown = label_list.pair_page(request, campaign, live, rows, view=view, effects=effects)
    doubtful = find_doubtful_annotators(campaign, live)
    asked = request.GET.copy()
    asked["view"] = view
    disputed = [row for row in label_list.list_pairs(campaign, live) if row.disputed]
    undecided = [row for row in disputed if not row.is_adjudicated]
    pivotal = [row for row in undecided if on_ranking and on_ranking.could_change(row.pair)]
    by_doubtful = count_pairs_of(campaign, live, undecided, doubtful)
    context = {
        "campaign": campaign,
        "tab": "judgements",
        "as_of": live.as_of,
        "saved": pop_saved_label(request, campaign),
        "view": view,
        "views": views,
        "labels": shown,
        "rows": label_list.add_texts(
            campaign, live, list(shown), doubtful=doubtful, effects=effects
        ),
        "on_ranking": on_ranking,
        "ranking_running": ranking_effects.is_running(campaign),
        "n_pivotal": len(pivotal),
        "first_pivotal": _first_in_queue(pivotal, effects),
        "asked": asked.urlencode(),
        "n_disputed": len(undecided),
        "n_decided": len(disputed) - len(undecided),
        "first_disputed": _first_in_queue(undecided, effects),
        "doubtful": doubtful,
        "by_doubtful": by_doubtful,
        "topics": label_list.topic_labels_page(request, campaign, live),
        "n_judgements": int(live.rows.counts.sum()),
        "n_on_gold": int((live.rows.counts & ~live.pairs.normal[live.pair]).sum()),
        **label_charts(campaign, live),
        "effect": effect,
        "effect_running": working,
    }
    return render_page(request, "analysis/judgements.html", context)


def _first_in_queue(
    rows: list[ListedPair], effects: Mapping[int, LabelEffect]
) -> ListedPair | None:
    """Return the pair that comes first in the default order of disputed pairs, None if there is
    none."""
    in_order = label_list.sort_disputes(rows, effects)
    return in_order[0] if in_order else None


def find_doubtful_annotators(campaign: Campaign, live: CampaignSnapshot) -> list[str]:
    """Return the pseudonyms of annotators whose judgements look random."""
    return [
        person.membership.pseudonym
        for person in list_annotators(campaign, live=live)
        if any(flag.name in RANDOM_LIKE_FLAGS for flag in person.flags)
    ]


def count_pairs_of(
    campaign: Campaign, live: CampaignSnapshot, rows: list[ListedPair], names: list[str]
) -> list[tuple[str, int]]:
    """Count how many of these pairs each of the named annotators has judged, as (pseudonym, count),
    highest count first. Annotators without any are left out."""
    if not names:
        return []
    votes = label_list.get_votes(campaign, live, (row.place for row in rows))
    judged = Counter(name for given in votes.values() for name, _grade in given if name in names)
    return judged.most_common()


def label_charts(campaign: Campaign, live: CampaignSnapshot) -> dict[str, Any]:
    """Return the template context of a campaign's labels: their numbers, charts of how they were
    decided, and the campaign's statistics."""
    names = campaign.grades.names
    pool = live.derived("table 1", lambda: get_campaign_statistics(campaign, live))
    made = cached_labels(campaign, live)
    return {
        "n_labels": made.n_labels,
        "n_unlabelled": made.n_unlabelled,
        "n_adjudicated": made.n_adjudicated,
        "n_known": made.n_known,
        "pictures": [
            decisions_chart(
                made.cross("graded"),
                names,
                f"Labels on {len(campaign.scale)} grades",
            ),
            decisions_chart(
                made.cross("binary"),
                ["Irrelevant", "Relevant"],
                "Labels on 2 grades",
            ),
        ],
        "rows_of_statistics": statistics_rows(pool, names, campaign.n_topics),
        "warnings": pool.warnings,
    }


def get_campaign_statistics(campaign: Campaign, live: CampaignSnapshot) -> CampaignStatistics:
    """Return the statistics of the command `campaign_stats`, with the pool ranks of the pairs in
    the snapshot."""
    table, pairs = live.table(campaign.grades.size), live.pairs
    statistics = compute_campaign_statistics(
        table, min_relevant=campaign.min_relevant, documents=count_documents(campaign.collection)
    )
    n = np.zeros(len(pairs), dtype=np.int64)
    n[live.table_pairs] = table.judgements_per_pair
    wanted = pairs.kind != QUALIFICATION
    ranks, at = np.unique(pairs.rank[wanted], return_inverse=True)
    columns = [
        np.bincount(at[some], minlength=len(ranks)).tolist()
        for some in (slice(None), n[wanted] > 0, n[wanted] >= 2)
    ]
    counts = {rank: numbers for rank, *numbers in zip(ranks.tolist(), *columns, strict=True)}
    for rank, n_undrawn in pool_selectors.count_unsampled_by_rank(campaign.pool).items():
        counts.setdefault(rank, [0, 0, 0])[0] += n_undrawn
    coverage = {rank: RankCoverage(*counts[rank]) for rank in sorted(counts)}
    return replace(statistics, coverage=coverage, complete_depth=find_complete_depth(coverage))


def decisions_chart(cross: dict[int, dict[str, int]], names: list[str], caption: str) -> Picture:
    series = [
        (title, [float(cross.get(g, {}).get(key, 0)) for g in range(len(names))])
        for key, title in DECISION_CHOICES
    ]
    series = [(title, values) for title, values in series if any(values) or title != "adjudicated"]
    return stacked_bar_chart(
        names,
        series,
        caption=caption,
        what="label",
        shares=False,
        reason=_("No pair has two judgements yet, so there are no labels."),
    )


@dataclass(frozen=True)
class StatisticsRow:
    """One statistic of a campaign. value: None if undefined, with the reason in `text`."""

    name: str
    text: str
    value: int | float | None
    share: float | None = None
    mean_seconds: float | None = None
    median_seconds: float | None = None


def statistics_rows(
    statistics: CampaignStatistics, names: list[str], n_topics: int
) -> list[StatisticsRow]:
    """Return the rows of TripJudge's Table 1 as text, with the reason for undefined values.
    n_topics: number of accepted topics that have pairs."""

    def row(name: str, value: int | float | None, digits: int = 2) -> StatisticsRow:
        if value is None:
            text = "not known"
        elif math.isnan(value):
            text = _("undefined: no judgements yet")
        else:
            text = f"{value:,.{digits}f}" if isinstance(value, float) else f"{value:,}"
        return StatisticsRow(name, text, value)

    rows = [
        StatisticsRow(
            _("Topics with judgements (of those with pairs)"),
            format_count_of_total(statistics.topics, n_topics),
            statistics.topics,
        ),
        row(_("Documents in the collection"), statistics.documents),
        row(_("Judged pairs"), statistics.pairs),
        row(_("Labelled pairs (at least two judgements)"), statistics.labelled_pairs),
        row("Judgements", statistics.judgements),
        row(_("Judgements per judged pair"), statistics.per_pair),
        row(_("Judgements per labelled pair"), statistics.per_labelled_pair),
    ]
    for grade, name in enumerate(names):
        one = statistics.grades[grade]
        share = "" if math.isnan(one.share) else f" ({100 * one.share:.0f}%)"
        seconds = (
            ""
            if math.isnan(one.mean_seconds)
            else f", mean {one.mean_seconds:.0f} s, median {one.median_seconds:.0f} s"
        )
        rows.append(
            StatisticsRow(
                f"Judgements {name}",
                f"{one.n:,}{share}{seconds}",
                one.n,
                one.share,
                one.mean_seconds,
                one.median_seconds,
            )
        )
    depth, relevant = (
        row(_("Complete to rank"), statistics.complete_depth),
        statistics.relevant_share,
    )
    if statistics.complete_depth == 0:
        depth = replace(depth, text=_("none: rank 1 is not complete"))
    part = row(_("Relevant share of labels"), relevant)
    if not math.isnan(relevant):
        part = replace(part, text=f"{100 * relevant:.1f}%")
    rows += [
        row("Annotators", statistics.annotators),
        row(_("Judgements per annotator"), statistics.per_annotator, 1),
        depth,
        part,
    ]
    return rows


@login_required
@require_POST
def ask(request: SignedInRequest, slug: str) -> HttpResponse:
    """Preview additional judgements, or request them if `confirm` is sent.

    Parameters: pair (repeatable), action (`more` or `back`), back (the page to return to).
    """
    campaign = get_managed_campaign(request, slug)
    ids = {number for written in request.POST.getlist("pair") if (number := parse_row_id(written))}
    taking_back, way_back = request.POST.get("action") == "back", _way_back(request, campaign)
    try:
        if "confirm" in request.POST:
            deed = (
                additional_judgements.undo_additional_judgement
                if taking_back
                else additional_judgements.request_additional_judgement
            )
            done = deed(campaign, ids, actor=request.user)
            n = len(done.ids)
            if taking_back:
                said = ngettext(
                    "%(n)s requested judgement was cancelled.",
                    "%(n)s requested judgements were cancelled.",
                    n,
                )
            else:
                said = ngettext(
                    "%(n)s additional judgement was requested.",
                    "%(n)s additional judgements were requested.",
                    n,
                )
            messages.success(request, " ".join([said % {"n": f"{n:,}"}, *done.reasons]))
            return redirect(way_back)
        shown = previews.preview_additional_judgements(campaign, ids, is_withdrawal=taking_back)
    except CampaignError as error:
        messages.error(request, str(error))
        return redirect(way_back)
    context: dict[str, object] = {
        "campaign": campaign,
        "tab": "judgements",
        "shown": shown,
        "taking_back": taking_back,
        "way_back": way_back,
    }
    return render_page(request, "analysis/additional_judgements.html", context)


def _way_back(request: SignedInRequest, campaign: Campaign) -> str:
    """Return the address of the list or pair from which the request came, to return to."""
    asked, home = request.POST.get("back", ""), reverse("campaign", args=[campaign.slug])
    fits = asked.startswith(home) and url_has_allowed_host_and_scheme(asked, allowed_hosts=None)
    return asked if fits else reverse("campaign-judgements", args=[campaign.slug])

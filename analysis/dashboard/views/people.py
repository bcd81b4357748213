"""Pages of annotators: the list, and the page of one annotator."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

import numpy as np
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from analysis.dashboard.annotators import (
    MIN_SHARED,
    AnnotatorSummary,
    find_annotator,
    list_annotators,
)
from analysis.dashboard.disagreement_lists import annotator_differences_page
from analysis.dashboard.disagreements import annotator_differences, complete_differences
from analysis.dashboard.guest_pay import get_guest_pay
from analysis.dashboard.people_list import (
    PER_PAGE,
    account_name,
    annotator_list_page,
    build_rows,
    review_key,
)
from analysis.dashboard.views.people_actions import campaign_annotators
from analysis.judgements.live import CampaignSnapshot, get_snapshot
from annotation.models import Campaign, Membership
from annotation.permissions import get_managed_campaign
from annotation.selectors.annotator_quotas import annotator_quotas
from assay.campaigns.flags import sort_flags
from assay.campaigns.statistics import count_by_half_day
from assay.charts.bars import bar_chart, stacked_bar_chart
from assay.charts.matrices import matrix_chart
from assay.charts.points import DrawnInterval, interval_chart
from assay.charts.svg import Picture
from assay.labels.agreement.alpha import krippendorff_alpha
from assay.labels.agreement.annotators import compute_exclusion_effect
from pooling.permissions import SignedInRequest
from pooling.platform.listing import ListPage
from pooling.platform.page_files import render_page

MAX_REASONS = 2
"""Maximum number of annotators whose reason for review is named at the top of the list."""
MAX_DISAGREEMENTS = 8


@login_required
@require_safe
def index(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the list of annotators, those who need review first. With `annotator`, a panel next to
    the list shows that annotator."""
    campaign = get_managed_campaign(request, slug)
    if campaign.is_preferences:
        return _render_without_grades(request, campaign)
    live = get_snapshot(campaign)
    everybody = list_annotators(campaign, live=live)
    names = campaign.grades.names
    listed = annotator_list_page(request, everybody)
    shown = [person for person in listed if person.n_kept]
    chosen = request.GET.get("annotator", "")
    person = next((one for one in everybody if one.membership.pseudonym == chosen), None)
    to_review = [one for one in sorted(everybody, key=review_key) if needs_review(one)]
    members = [one.membership for one in everybody]
    panel = next((m.guest.panel for m in members if m.is_guest), None)
    context = {
        "campaign": campaign,
        "tab": "people",
        "panel": panel,
        "pay": get_guest_pay(panel, everybody) if panel else None,
        "may_invite": True,
        "as_of": live.as_of,
        "list": listed,
        "people": list(listed),
        "least_shared": MIN_SHARED,
        "rows": build_rows(list(listed)),
        "n_annotators": len(everybody),
        "to_review": to_review,
        "reasons": [describe_review(one) for one in to_review[:MAX_REASONS]],
        **(describe_person(campaign, live, person) if person else {}),
        "waiting": [person.membership for person in everybody if person.waits],
        "kappas": kappa_chart(shown),
        "shares": stacked_bar_chart(
            [person.membership.pseudonym for person in shown],
            [
                (
                    name,
                    [float(round(person.n_kept * (person.shares[g] or 0.0))) for person in shown],
                )
                for g, name in enumerate(names)
            ],
            caption="Grades given by each annotator",
            what="annotator",
            reason=_("No judgements yet."),
        ),
    }
    return render_page(request, "analysis/people.html", context)


def _render_without_grades(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    listed = ListPage(
        request,
        campaign_annotators(campaign).select_related("guest"),
        search=("pseudonym", "user__username", "user__first_name", "user__last_name", "note"),
        sort={
            "name": "pseudonym",
            "status": "status",
            "judged": "n_judged",
            "last": "last_seen",
        },
        default="name",
        per_page=PER_PAGE,
    )
    listed.show([(member, account_name(member)) for member in listed])
    context = {"campaign": campaign, "tab": "people", "may_invite": True, "list": listed}
    return render_page(request, "analysis/people_without_grades.html", context)


def needs_review(person: AnnotatorSummary) -> bool:
    """Return whether a manager should review the annotator."""
    is_out = person.membership.status == Membership.Status.EXCLUDED
    return not is_out and (bool(person.flags) or person.waits)


def describe_review(person: AnnotatorSummary) -> str:
    """Explain in one sentence why the annotator needs review."""
    flags = sort_flags(person.flags)
    return _("%(pseudonym)s: %(reason)s.") % {
        "pseudonym": person.membership.pseudonym,
        "reason": flags[0].name if flags else _("failed the qualification test"),
    }


def describe_person(
    campaign: Campaign, live: CampaignSnapshot, person: AnnotatorSummary
) -> dict[str, Any]:
    """Return the template context for analysis/_person_summary.html.

    at_stake: number of labels that would be missing or different without the annotator. alphas:
    ordinal alpha of all judgements, with and without the annotator; None if either is undefined.
    disagreements: the largest MAX_DISAGREEMENTS.
    """
    name = person.membership.pseudonym
    table = live.table(campaign.grades.size)
    effect = live.derived(
        ("exclusion effect", name), lambda: compute_exclusion_effect(table, [name])
    )
    alphas = live.derived(
        ("alpha without", name),
        lambda: [
            krippendorff_alpha(one.table.counts, level="ordinal")
            for one in (effect.before, effect.after)
        ],
    )
    differences = annotator_differences(campaign, live, name)
    largest = differences[:MAX_DISAGREEMENTS]
    complete_differences(campaign, name, largest)
    return {
        "person": person,
        "name": account_name(person.membership),
        "part": annotator_quotas([person.membership])[0],
        "signs": sort_flags(person.flags),
        "alphas": None if person.n != person.n_kept or any(map(math.isnan, alphas)) else alphas,
        "at_stake": len(effect.without_label) + len(effect.changes),
        "n_differences": len(differences),
        "disagreements": largest,
    }


def kappa_chart(annotators: list[AnnotatorSummary]) -> Picture:
    rows = []
    for person in sorted(annotators, key=lambda p: (p.kappa is None, p.kappa or 0.0)):
        if person.kappa is None or person.agreement is None:
            rows.append(DrawnInterval(person.membership.pseudonym, None, note=person.kappa_reason))
            continue
        low, high = person.agreement.interval.bounds
        rows.append(
            DrawnInterval(
                person.membership.pseudonym,
                person.kappa,
                None if math.isnan(low) else low,
                None if math.isnan(high) else high,
            )
        )
    return interval_chart(
        rows,
        caption=("Kappa with the others"),
        x_label="kappa",
        what="annotators",
        reference=(0.0, "chance"),
        reason=_("No two annotators have judged the same pair yet."),
    )


def get_annotator_or_404(campaign: Campaign, pseudonym: str) -> AnnotatorSummary:
    named = find_annotator(campaign, pseudonym)
    if named is None:
        raise Http404("Annotator not found.")
    return named


@login_required
@require_safe
def person(request: SignedInRequest, slug: str, pseudonym: str) -> HttpResponse:
    """Show one annotator. With `panel`, return only the content of the panel. Campaigns of
    preferences have only the list."""
    campaign = get_managed_campaign(request, slug)
    if campaign.is_preferences:
        return redirect("campaign-people", slug)
    person = get_annotator_or_404(campaign, pseudonym)
    live = get_snapshot(campaign)
    if "panel" in request.GET:
        context = {"campaign": campaign, **describe_person(campaign, live, person)}
        return render_page(request, "analysis/_person_panel.html", context)
    names = campaign.grades.names
    code = live.rows.annotators.index(pseudonym) if pseudonym in live.rows.annotators else -1
    mine = live.rows.judged_at[live.rows.annotator == code] if code >= 0 else np.empty(0)
    timeline = count_by_half_day(mine) or []
    confusion = (
        person.agreement.confusion if person.agreement is not None and person.agreement.n else None
    )
    context = {
        "campaign": campaign,
        "tab": "people",
        "as_of": live.as_of,
        **describe_person(campaign, live, person),
        "grades": list(
            zip(names, person.shares, person.shares_of_others, person.median_by_grade, strict=True)
        ),
        "shares": shares_chart(person, names),
        "timeline": bar_chart(
            [datetime.fromtimestamp(start, UTC).strftime("%d %b %Hh") for start, _ in timeline],
            [float(n) for _, n in timeline],
            caption="Judgements per half day (UTC)",
            unit="judgements",
            what="half day",
            reason=_("No judgements yet."),
        ),
        "confusion": matrix_chart(
            names,
            names,
            confusion.tolist() if confusion is not None else [],
            caption="Confusion with the others",
            row_label="own grade",
            column_label="label by the others",
            reason=_("No other annotator has judged the same pairs yet."),
        ),
        "differences": annotator_differences_page(request, campaign, live, pseudonym),
        "sent": person.membership.messages.order_by("-created_at")[:10],
    }
    return render_page(request, "analysis/person.html", context)


def shares_chart(person: AnnotatorSummary, names: list[str]) -> Picture:
    """Draw the annotator's shares of grades next to those of all others, who judged partly
    different pairs."""
    rows = [
        (person.membership.pseudonym, person.n_kept, person.shares),
        ("the others", person.n_of_others, person.shares_of_others),
    ]
    shown = [(name, n, shares) for name, n, shares in rows if n]
    return stacked_bar_chart(
        [name for name, _, _ in shown],
        [
            (name, [float(round(n * (shares[g] or 0.0))) for _, n, shares in shown])
            for g, name in enumerate(names)
        ],
        caption="Grades compared with others",
        what="annotator",
        reason=_("No judgements yet."),
    )

"""The overview page of a campaign."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from analysis.dashboard import agreement_metrics, planning_options
from analysis.dashboard.checklists import list_finish_steps, list_setup_steps
from analysis.dashboard.home_summary import get_home_figures
from analysis.dashboard.progress import compute_activity, compute_progress
from analysis.dashboard.to_do_list import ToDoKind, build_to_do_list
from analysis.dashboard.views.progress import (
    describe_last_level,
    list_live_leases,
    list_stalled_pairs,
    progress_charts,
    state_context,
)
from analysis.judgements.live import REFRESH, CampaignSnapshot, get_snapshot
from annotation.models import Campaign, Membership
from annotation.permissions import get_managed_campaign
from annotation.selectors.annotator_quotas import annotator_quota
from annotation.selectors.drafts import (
    capacity_warning,
    estimate_campaign_workload,
    find_contradictions,
)
from annotation.selectors.pairs import count_pairs_without_text
from annotation.selectors.people import get_shared_invitation
from annotation.selectors.qualification import get_single_key_warnings
from pooling.platform.page_files import render_page
from pooling.tasks import send


@login_required
@require_safe
def page(request: HttpRequest, slug: str) -> HttpResponse:
    campaign = get_managed_campaign(request, slug)
    if campaign.state == Campaign.State.DRAFT:
        return _render_setup(request, campaign)
    if campaign.is_preferences:
        return redirect("campaign-battles", slug)
    live = get_snapshot(campaign)
    if campaign.state != Campaign.State.CLOSED and not len(live.rows):
        return _render_waiting(request, campaign, live)
    now = compute_progress(campaign, live=live)
    known, jobs = get_home_figures([campaign])
    job = agreement_metrics.refresh_alpha_if_due(campaign, live)
    for one in jobs if job is None else [*jobs, job]:
        send(one)
    to_do = build_to_do_list([campaign], known)
    context = {
        **state_context(campaign, now, compute_activity(campaign, live, now)),
        **progress_charts(campaign, live, now),
        "tab": "progress",
        "as_of": live.as_of,
        "alpha": agreement_metrics.latest_alpha(campaign, live),
    }
    if campaign.state == Campaign.State.CLOSED:
        steps = list_finish_steps(campaign, now, known.get(campaign.pk), to_do)
        context |= {
            "steps": steps,
            "next": next((step for step in steps if not step.is_done), None),
            "n_done": sum(step.is_done for step in steps),
        }
        return render_page(request, "analysis/overview_closed.html", context)
    recommended = planning_options.get_recommended_option(campaign, live)
    context |= {
        "refresh": REFRESH,
        "to_do": [
            item for item in to_do if recommended is None or item.kind != ToDoKind.DEADLINE_AT_RISK
        ],
        "may_invite": True,
        "recommended": recommended,
        "stalled": list_stalled_pairs(campaign, live),
        "leases": list_live_leases(campaign),
        "last_level": describe_last_level(campaign),
    }
    return render_page(request, "analysis/overview.html", context)


def _render_setup(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Show the remaining steps before the campaign can open."""
    steps, work = list_setup_steps(campaign), estimate_campaign_workload(campaign)
    contradictions = find_contradictions(campaign)
    context = {
        "campaign": campaign,
        "tab": "progress",
        "steps": steps,
        "next": next((step for step in steps if not (step.is_done or step.is_optional)), None),
        "n_done": sum(step.is_done for step in steps),
        "contradictions": contradictions,
        "too_few_in_time": capacity_warning(campaign, work.judgements),
        "single_key": get_single_key_warnings(campaign),
        "n_held_back": count_pairs_without_text(campaign),
        "work": work,
        "hours": work.judgements * campaign.expected_seconds / 3600,
        "part": annotator_quota(Membership(campaign=campaign)),
        "can_open": campaign.pool_id is not None and not contradictions,
    }
    return render_page(request, "analysis/overview_setup.html", context)


def _render_waiting(
    request: HttpRequest, campaign: Campaign, live: CampaignSnapshot
) -> HttpResponse:
    """Show how annotators join, before the first judgement."""
    now = compute_progress(campaign, live=live)
    invitation = get_shared_invitation(campaign)
    context = {
        **state_context(campaign, now, compute_activity(campaign, live, now)),
        "tab": "progress",
        "hours": now.needed * campaign.expected_seconds / 3600,
        "invitation": invitation,
        "invitation_url": invitation
        and request.build_absolute_uri(reverse("join", args=[invitation.token])),
        "to_do": build_to_do_list([campaign], {}),
    }
    return render_page(request, "analysis/overview_waiting.html", context)

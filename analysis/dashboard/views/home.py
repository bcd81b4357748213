"""Home page: campaigns to judge, and the to-do list of managed campaigns."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from analysis.dashboard.forecast_unavailable import forecast_unavailable_reason
from analysis.dashboard.headline import format_day, is_surely_late
from analysis.dashboard.home_summary import HomeStatistics, get_home_figures
from analysis.dashboard.to_do_list import build_to_do_list, filter_running, filter_watched
from annotation.demo import creation, example
from annotation.models import Campaign, Membership
from annotation.permissions import can_create
from annotation.selectors.people import (
    get_annotator_campaigns,
    get_managed_campaigns,
    get_viewed_campaigns,
)
from pooling.platform.page_files import render_page
from pooling.tasks import send


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    if not request.user.is_authenticated:
        if get_user_model().objects.exists():
            return redirect("sign-in")
        return render_page(
            request,
            "annotation/welcome.html",
            {
                "given": settings.BEFORE_COMMANDS + settings.COMMAND,
                "other_database": settings.DATABASE_GIVEN,
            },
        )
    managed = get_managed_campaigns(request.user)
    if managed:
        translation.activate(settings.LANGUAGE_CODE)  # managers' pages are not translated yet
    running, of_interest = filter_running(managed), filter_watched(managed)
    known, asked = get_home_figures(of_interest)
    for job in asked:
        send(job)
    judging, viewing = get_annotator_campaigns(request.user), get_viewed_campaigns(request.user)
    context = {
        "judging": judging,
        "viewing": viewing,
        "start": None if judging or viewing else read_start(managed),
        "demo_job": None if managed else creation.find_creation_job(request.user),
        "rows": [
            {
                "campaign": one,
                "figures": known.get(one.pk),
                "ahead": describe_forecast(one, known.get(one.pk)),
            }
            for one in [*running, *(other for other in managed if other not in running)]
        ],
        "managing": bool(managed),
        "to_do": build_to_do_list(of_interest, known),
        "may_create": can_create(request.user),
    }
    return render_page(request, "analysis/home.html", context)


def read_start(managed: list[Campaign]) -> dict[str, Any] | None:
    """Return what the Home page of a new demo shows, or None if the user manages other campaigns.

    example: the finished campaign. to_judge: the campaign to try judging, None if it is not open.
    n_annotators: number of annotators of the example. job: the job that fills the example, None if
    it has ended.
    """
    by_slug = {one.slug: one for one in managed}
    demo, to_judge = by_slug.pop(example.SLUG, None), by_slug.pop(example.TO_JUDGE_SLUG, None)
    if by_slug or demo is None or not example.is_example(demo):
        return None
    return {
        "example": demo,
        "to_judge": to_judge if to_judge and to_judge.state == Campaign.State.OPEN else None,
        "n_annotators": demo.memberships.filter(role=Membership.Role.ANNOTATOR).count(),
        "job": example.find_filling_job(demo),
    }


def describe_forecast(campaign: Campaign, figures: HomeStatistics | None) -> dict[str, str]:
    """Describe the forecast in one line for a campaign's card, with its level: good or bad news."""
    if figures is None or not figures.missing or campaign.is_over:
        return {}
    expected = figures.forecast.expected
    if expected is None:
        return {"says": forecast_unavailable_reason(figures.forecast), "level": ""}
    if figures.forecast.is_vague:
        level = "bad" if is_surely_late(campaign, figures.forecast) else ""
        return {"says": _("completion date still too uncertain"), "level": level}
    late = campaign.deadline is not None and expected > campaign.deadline.timestamp()
    return {
        "says": _("expected to finish %(day)s") % {"day": format_day(expected)},
        "level": "bad" if late else "good" if campaign.deadline else "",
    }

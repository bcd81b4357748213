"""Home: what to judge, and what one's own campaigns need."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth import get_user_model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from analysis.dashboard.headline import day_text
from analysis.dashboard.home_figures import HomeFigures, home_figures
from analysis.dashboard.to_do import running, to_do, watched
from analysis.dashboard.without_forecast import why_and_since
from annotation.forms import CodeForm
from annotation.models import Campaign
from annotation.permissions import may_create
from annotation.selectors.people import managed_campaigns, my_campaigns, viewed_campaigns
from pooling.platform.page_files import render
from pooling.tasks import send


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    if not request.user.is_authenticated:
        if get_user_model().objects.exists():
            return redirect("sign-in")
        return render(
            request,
            "annotation/welcome.html",
            {
                "given": settings.BEFORE_COMMANDS + settings.COMMAND,
                "other_database": settings.DATABASE_GIVEN,
            },
        )
    managed = managed_campaigns(request.user)
    if managed:
        translation.activate(settings.LANGUAGE_CODE)  # managers' pages are not translated yet
    shown, of_interest = running(managed), watched(managed)
    known, asked = home_figures(of_interest)
    for job in asked:
        send(job)
    context = {
        "judging": my_campaigns(request.user),
        "viewing": viewed_campaigns(request.user),
        "cards": [
            {
                "campaign": one,
                "figures": known.get(one.pk),
                "ahead": ahead_in_words(one, known.get(one.pk)),
            }
            for one in shown
        ],
        "others": [campaign for campaign in managed if campaign not in shown],
        "managing": bool(managed),
        "to_do": to_do(of_interest, known),
        "may_create": may_create(request.user),
        "code_form": CodeForm(),
    }
    return render(request, "analysis/home.html", context)


def ahead_in_words(campaign: Campaign, figures: HomeFigures | None) -> dict[str, str]:
    """The forecast as a line of a card, and whether it is good or bad news."""
    if figures is None or not figures.missing or campaign.is_over:
        return {}
    expected = figures.forecast.expected
    if expected is None:
        return {"says": why_and_since(figures.forecast), "level": ""}
    if figures.forecast.is_vague:
        return {"says": _("too uncertain to say when it ends"), "level": ""}
    late = campaign.deadline is not None and expected > campaign.deadline.timestamp()
    return {
        "says": _("expected to end %(day)s") % {"day": day_text(expected)},
        "level": "bad" if late else "good" if campaign.deadline else "",
    }

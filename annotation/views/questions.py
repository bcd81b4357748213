"""The page of annotators' questions, on which managers answer them and publish answers as examples
in the guidelines."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from annotation.permissions import get_managed_campaign
from annotation.selectors import questions as selectors
from annotation.services.errors import CampaignError
from annotation.services.judging import questions
from pooling.permissions import SignedInRequest
from pooling.platform.listing import ListPage, RowFilter
from pooling.platform.page_files import render_page
from pooling.platform.requests import parse_row_id

PER_PAGE = 25
STATE_CHOICES = [("open", gettext_lazy("open")), ("answered", gettext_lazy("answered"))]


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def index(request: SignedInRequest, slug: str) -> HttpResponse:
    """List the campaign's questions, open ones first. A POST answers one (action: answer, with
    `publish` also as an example) or publishes an existing answer (action: publish)."""
    campaign = get_managed_campaign(request, slug)
    rows = selectors.get_questions(campaign)
    failed: dict[str, object] = {}
    if request.method == "POST":
        question = get_object_or_404(rows, pk=parse_row_id(request.POST.get("question")))
        try:
            if request.POST.get("action") != "publish":
                questions.answer_question(
                    question, request.POST.get("answer", ""), actor=request.user
                )
            if "publish" in request.POST or request.POST.get("action") == "publish":
                version = questions.publish_example(question, actor=request.user)
                messages.success(
                    request,
                    _(
                        "Answer saved and added to the guidelines as version %(number)s. "
                        "Annotators are notified."
                    )
                    % {"number": version.number},
                )
            else:
                messages.success(
                    request,
                    _("Answer sent. %(pseudonym)s will see it on the judging page.")
                    % {"pseudonym": question.membership.pseudonym},
                )
        except CampaignError as error:
            failed = {"question": question.pk, "error": str(error)}
        else:
            return redirect(request.get_full_path())
    shown = ListPage(
        request,
        rows,
        search=(
            "text",
            "answer",
            "membership__pseudonym",
            "pair__entry__topic__text",
            "pair__entry__docno",
            "pair__entry__other_docno",
        ),
        choices=[
            RowFilter(
                "show",
                _("Status"),
                STATE_CHOICES,
                lambda asked, value: asked.filter(answered_at__isnull=value == "open"),
            )
        ],
        per_page=PER_PAGE,
    )
    context = {
        "campaign": campaign,
        "tab": "questions",
        "questions": shown,
        "failed": failed,
        "n_open": selectors.count_unanswered(campaign),
    }
    return render_page(
        request, "annotation/campaign_questions.html", context, status=400 if failed else 200
    )

"""Pages of a campaign's LLM judges for its managers: create, run, monitor, freeze, and download
labels."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.core.audit_actions import AuditAction
from annotation.forms_llm import EndpointForm, LabelFileForm
from annotation.llm.label_files import read_label_file
from annotation.models import Campaign, LlmJudge
from annotation.permissions import get_managed_campaign
from annotation.selectors import llm_judges as selectors
from annotation.services.audit import record_event
from annotation.services.errors import CampaignError
from annotation.services.llm_judges import judges as llm_judges
from assay.formats.errors import FormatError
from pooling import tasks
from pooling.permissions import SignedInRequest
from pooling.platform.listing import ListPage
from pooling.platform.page_files import render_page
from pooling.selectors.jobs import make_job_view


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def index(request: SignedInRequest, slug: str) -> HttpResponse:
    """List the campaign's LLM judges. A POST creates one (action: endpoint or file)."""
    campaign = get_managed_campaign(request, slug)
    action = request.POST.get("action", "")
    endpoint_form = EndpointForm(request.POST if action == "endpoint" else None, prefix="ask")
    file_form = LabelFileForm(
        request.POST if action == "file" else None,
        request.FILES if action == "file" else None,
        prefix="file",
    )
    form: EndpointForm | LabelFileForm = endpoint_form if action == "endpoint" else file_form
    if form.is_bound and form.is_valid():
        try:
            judge = _create_judge(request, campaign, form)
        except CampaignError as error:
            form.add_error(None, str(error))
        except FormatError as error:
            for line in error.lines():
                form.add_error("file", line)
        else:
            return redirect("campaign-llm-judge", slug, judge.pk)
    judges = ListPage(
        request,
        campaign.llm_judges.select_related("campaign__pool", "campaign__collection"),
        search=("name", "model"),
        sort={
            "name": "name",
            "model": "model",
            "by": ("source", "file_name", "prompt_name"),
            "frozen": "frozen_at",
        },
        per_page=20,
    )
    counts = selectors.count_answers_by_judge(campaign, list(judges))
    judges.show([{"judge": judge, "counts": counts[judge.pk]} for judge in judges])
    context = {
        "campaign": campaign,
        "tab": "llm_judges",
        "llm_judges": judges,
        "endpoint_form": endpoint_form if settings.LLM_ENDPOINTS else None,
        "file_form": file_form,
    }
    return render_page(
        request, "annotation/llm_judges.html", context, status=400 if form.errors else 200
    )


def _create_judge(
    request: SignedInRequest, campaign: Campaign, form: EndpointForm | LabelFileForm
) -> LlmJudge:
    if isinstance(form, EndpointForm):
        return llm_judges.create_judge(campaign, form.judge_options(), actor=request.user)
    given = form.cleaned_data
    labels = read_label_file(given["file"].file, name=given["file"].name)
    return llm_judges.create_judge_from_file(
        campaign,
        name=given["name"],
        model=given["model"],
        labels=labels,
        file_name=given["file"].name,
        related=given["related"],
        actor=request.user,
    )


def _get_judge(campaign: Campaign, pk: int) -> LlmJudge:
    return get_object_or_404(
        campaign.llm_judges.select_related("campaign__pool", "campaign__collection"), pk=pk
    )


@login_required
@require_safe
def page(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    campaign = get_managed_campaign(request, slug)
    judge = _get_judge(campaign, pk)
    job = selectors.get_last_job(judge)
    counts = selectors.count_answers(judge)
    rows: list[tuple[str, Any]] = [
        (name, n) for name, n in [*counts.outcomes.items(), *counts.troubles.items()] if n
    ]
    context = {
        "campaign": campaign,
        "tab": "llm_judges",
        "judge": judge,
        "counts": counts,
        "rows": rows,
        "estimate": selectors.estimate_judge_cost(judge)
        if judge.source == LlmJudge.Source.ENDPOINT and judge.frozen_at is None
        else None,
        "priced": bool(judge.limits.get("price_in") or judge.limits.get("price_out")),
        "job": job,
        "work": make_job_view(job) if job else None,
    }
    return render_page(request, "annotation/llm_judge.html", context)


@login_required
@require_POST
def act_on_llm_judge(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    """Run, freeze or delete an LLM judge (action: run, freeze or delete). Jobs are cancelled on
    their own page."""
    campaign = get_managed_campaign(request, slug)
    judge = _get_judge(campaign, pk)
    action = request.POST.get("action")
    try:
        if action == "run":
            tasks.send(llm_judges.request_run(judge, user=request.user))
        elif action == "freeze":
            llm_judges.freeze_judge(judge, actor=request.user)
            messages.success(
                request,
                _("Froze %(name)s. Its labels can no longer change.") % {"name": judge.name},
            )
        elif action == "delete":
            llm_judges.delete_judge(judge, actor=request.user)
            messages.success(request, _("Deleted %(name)s.") % {"name": judge.name})
            return redirect("campaign-llm-judges", slug)
    except CampaignError as error:
        messages.error(request, str(error))
    return redirect("campaign-llm-judge", slug, pk)


@login_required
@require_safe
def labels(request: SignedInRequest, slug: str, pk: int) -> StreamingHttpResponse:
    """Return an LLM judge's labels as a qrels file. The first line names the judge."""
    campaign = get_managed_campaign(request, slug)
    judge = _get_judge(campaign, pk)
    record_event(
        campaign, request.user, AuditAction.EXPORTED, f"labels of the LLM judge {judge.name}"
    )
    return labels_response(judge)


def labels_response(judge: LlmJudge) -> StreamingHttpResponse:
    lines = [
        selectors.label_file_header(judge),
        *selectors.format_label_lines(selectors.get_labels(judge)),
    ]
    name = f"{judge.campaign.slug}-llm-{slugify(judge.name) or judge.pk}.txt"
    return StreamingHttpResponse(
        lines,
        content_type="text/plain; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )

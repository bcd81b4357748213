"""Pages of background jobs: the user's jobs, one job, and its card, which is refreshed every
second."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from pooling import permissions
from pooling.models import Job
from pooling.platform import jobs as machinery
from pooling.platform.listing import ListPage, RowFilter
from pooling.selectors import jobs as selectors


@login_required
@require_safe
def index(request: HttpRequest) -> HttpResponse:
    my_jobs = (
        permissions.visible_jobs(request).select_related("collection", "created_by").distinct()
    )
    state = RowFilter(
        "state", _("Status"), Job.State.choices, lambda rows, value: rows.filter(state=value)
    )
    page = ListPage(
        request,
        my_jobs,
        search=("label", "collection__name", "created_by__username"),
        sort={
            "what": "label",
            "state": "state",
            "collection": "collection__name",
            "asked": "created_at",
        },
        choices=[state],
        per_page=30,
    )
    return render(
        request, "pooling/jobs.html", {"page": page, "jobs": selectors.make_job_views(page)}
    )


@login_required
@require_safe
def job(request: HttpRequest, pk: int) -> HttpResponse:
    job = permissions.get_visible_job(request, pk)
    return render(
        request,
        "pooling/job.html",
        {"work": selectors.make_job_view(job), "job": job, "full": True},
    )


@login_required
@require_safe
def fragment(request: HttpRequest, pk: int) -> HttpResponse:
    """Return the job's card alone. With `was=active` and a finished job, the response triggers the
    event jobFinished."""
    job = permissions.get_visible_job(request, pk)
    full = request.GET.get("full") == "1"
    response = render(
        request,
        "pooling/_job.html",
        {"work": selectors.make_job_view(job), "job": job, "full": full},
    )
    if job.finished_at and request.GET.get("was") == "active":
        response.headers["HX-Trigger"] = "jobFinished"
    response.headers["Cache-Control"] = "no-store"
    return response


@login_required
@require_POST
def cancel(request: HttpRequest, pk: int) -> HttpResponse:
    job = permissions.get_visible_job(request, pk)
    machinery.request_cancel(job)
    if request.headers.get("HX-Request"):
        job.refresh_from_db()
        return render(
            request,
            "pooling/_job.html",
            {
                "work": selectors.make_job_view(job),
                "job": job,
                "full": request.GET.get("full") == "1",
            },
        )
    return redirect("job", pk)


@login_required
@require_safe
def problems(request: HttpRequest, pk: int) -> HttpResponse:
    """Return the refused lines as a table: line, problem, expected, text."""
    job = permissions.get_visible_job(request, pk)
    response = HttpResponse(
        selectors.format_problems(job), content_type="text/tab-separated-values; charset=utf-8"
    )
    response.headers["Content-Disposition"] = f'attachment; filename="job-{job.pk}-problems.tsv"'
    return response

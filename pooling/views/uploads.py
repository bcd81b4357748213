"""The door for files: checked before a byte of the body is read, then kept and given to a job."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_POST

from pooling import permissions, tasks
from pooling.forms import UploadForm
from pooling.jobs import Refused
from pooling.models import Collection
from pooling.services import uploads


@csrf_exempt  # checked by `_receive`, after what can be said without reading a body of gigabytes
@login_required
@require_POST
def upload(request: HttpRequest, slug: str) -> HttpResponse:
    """Take one file or several. Asked for JSON it answers {"jobs": [{"url", "fragment"}]} or {"error"}; else it goes back to the page."""
    collection = permissions.managed_collection(request, slug)
    try:
        uploads.check_room(int(request.META.get("CONTENT_LENGTH") or 0), request.user)
    except Refused as error:
        return _answer(request, collection, error=str(error), status=413)
    return _receive(request, collection)


@csrf_protect
def _receive(request: HttpRequest, collection: Collection) -> HttpResponse:
    form = UploadForm(request.POST)
    files = request.FILES.getlist("file")
    if not form.is_valid():
        return _answer(request, collection, error="; ".join(f"{name}: {' '.join(map(str, errors))}" for name, errors in form.errors.items()))
    if not files:
        return _answer(request, collection, error="no file came with the request")
    jobs = []
    try:
        for file in files:
            kept = uploads.receive(collection, kind=form.cleaned_data["kind"], file=file, name=file.name or "", user=request.user)
            jobs.append(uploads.ask_for_import(kept, mode=form.way(), options=form.options(), user=request.user))
            tasks.send(jobs[-1])
    except Refused as error:
        return _answer(request, collection, error=str(error))
    if _wants_json(request):
        made = [{"url": reverse("job", args=[job.pk]), "fragment": reverse("job-fragment", args=[job.pk])} for job in jobs]
        return JsonResponse({"jobs": made}, status=201)
    return redirect("job", jobs[0].pk) if len(jobs) == 1 else redirect("collection", collection.slug)


@login_required
@require_POST
def decide(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """action: import (also as another kind, or under another tag), or discard."""
    collection = permissions.managed_collection(request, slug)
    waiting = get_object_or_404(collection.uploads, pk=pk)
    try:
        if request.POST.get("action") == "discard":
            uploads.discard(waiting)
            messages.success(request, f"{waiting.name} is discarded.")
            return redirect("collection", slug)
        given = {name: request.POST.get(name, "") for name in ("kind", "tag")}
        job = uploads.import_as_decided(waiting, user=request.user, **given)
        tasks.send(job)
        return redirect("job", job.pk)
    except Refused as error:
        messages.error(request, f"Not done: {error}.")
        return redirect("collection", slug)


@login_required
@require_POST
def decide_all(request: HttpRequest, slug: str) -> HttpResponse:
    """Import or discard every file of the collection that waits for a decision."""
    collection = permissions.managed_collection(request, slug)
    for waiting in uploads.waiting_uploads(collection):
        try:
            if request.POST.get("action") == "discard":
                uploads.discard(waiting)
            elif request.POST.get("action") == "import":
                options = uploads.last_options(waiting)
                tasks.send(uploads.ask_for_import(waiting, mode="import", options=options, user=request.user))
        except Refused as error:
            messages.error(request, f"Not done: {error}.")
    return redirect("collection", slug)


@login_required
@require_POST
def dismiss(request: HttpRequest, slug: str) -> HttpResponse:
    """Put one refused file (job) out of sight, or without `job` all of them."""
    collection = permissions.managed_collection(request, slug)
    job = request.POST.get("job", "")
    uploads.dismiss(collection, int(job) if job.isdecimal() else None)
    return redirect("collection", slug)


def _wants_json(request: HttpRequest) -> bool:
    return "application/json" in request.headers.get("Accept", "")


def _answer(request: HttpRequest, collection: Collection, *, error: str, status: int = 400) -> HttpResponse:
    if _wants_json(request):
        return JsonResponse({"error": error}, status=status)
    messages.error(request, f"Not taken: {error}.")
    return redirect("collection", collection.slug)

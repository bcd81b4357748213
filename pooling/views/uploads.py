"""Upload of files. An upload is checked before its body is read, and then stored for a job."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_POST

from pooling import permissions, tasks
from pooling.forms import UploadForm
from pooling.models import Collection
from pooling.platform.jobs import Refused
from pooling.platform.requests import parse_row_id
from pooling.platform.sentences import as_sentence
from pooling.services import file_recognition, uploads


@csrf_exempt  # `_receive_files` checks the token, after checks that need no body
@login_required
@require_POST
def upload(request: HttpRequest, slug: str) -> HttpResponse:
    """Store one or more uploaded files. A request for JSON gets {"jobs": [{"url", "fragment"}]} or
    {"error"}, any other is redirected to the page."""
    collection = permissions.get_managed_collection(request, slug)
    try:
        uploads.check_upload_size(int(request.META.get("CONTENT_LENGTH") or 0), request.user)
    except Refused as error:
        return _error_response(request, collection, error=as_sentence(error), status=413)
    return _receive_files(request, collection)


@csrf_protect
def _receive_files(request: HttpRequest, collection: Collection) -> HttpResponse:
    form = UploadForm(request.POST)
    files = request.FILES.getlist("file")
    if not form.is_valid():
        return _error_response(
            request,
            collection,
            error="; ".join(
                f"{name}: {' '.join(map(str, errors))}" for name, errors in form.errors.items()
            ),
        )
    if not files:
        return _error_response(request, collection, error=_("The request contains no file."))
    arrived, refused = [], []
    for file in files:
        try:
            arrived.append(_store_file(request, collection, file, form))
        except Refused as error:
            refused.append(as_sentence(error))
    if not arrived:
        return _error_response(request, collection, error=" ".join(refused))
    jobs = []
    for one in sorted(
        arrived, key=lambda one: file_recognition.IMPORT_ORDER.index(one.upload.kind)
    ):
        options = form.options(one.upload.kind) | ({} if one.sure else {"may_be": one.others})
        jobs.append(
            uploads.request_import(
                one.upload,
                mode=form.upload_mode() if one.sure else "inspect",
                options=options,
                user=request.user,
            )
        )
        tasks.send(jobs[-1])
    if _wants_json(request):
        made = [
            {
                "url": reverse("job", args=[job.pk]),
                "fragment": reverse("job-fragment", args=[job.pk]),
            }
            for job in jobs
        ]
        return JsonResponse(
            {"jobs": made} | ({"error": " ".join(refused)} if refused else {}), status=201
        )
    for sentence in refused:
        messages.error(request, sentence)
    return (
        redirect("job", jobs[0].pk)
        if len(jobs) == len(files) == 1
        else redirect("collection", collection.slug)
    )


def _store_file(
    request: HttpRequest, collection: Collection, file: UploadedFile, form: UploadForm
) -> file_recognition.RecognisedUpload:
    """Store a file as the kind that the user chose, or as the kind recognised from its content."""
    kind, name = form.cleaned_data["kind"], file.name or ""
    if kind == file_recognition.RECOGNISE_KIND:
        return file_recognition.receive_recognised(
            collection, file=file, name=name, user=request.user
        )
    return file_recognition.RecognisedUpload(
        uploads.store_upload(collection, kind=kind, file=file, name=name, user=request.user),
        True,
        [],
    )


@login_required
@require_POST
def decide(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Import or discard a waiting file. action: import (also as another kind, or under another
    tag), or discard."""
    collection = permissions.get_managed_collection(request, slug)
    waiting = get_object_or_404(collection.uploads, pk=pk)
    try:
        if request.POST.get("action") == "discard":
            uploads.discard_upload(waiting)
            messages.success(request, _("Discarded %(name)s.") % {"name": waiting.name})
            return redirect("collection", slug)
        given = {name: request.POST.get(name, "") for name in ("kind", "tag")}
        job = uploads.import_decided_upload(waiting, user=request.user, **given)
        tasks.send(job)
        return redirect("job", job.pk)
    except Refused as error:
        messages.error(request, as_sentence(error))
        return redirect("collection", slug)


@login_required
@require_POST
def decide_all(request: HttpRequest, slug: str) -> HttpResponse:
    """Import or discard every file of the collection that waits for a decision."""
    collection = permissions.get_managed_collection(request, slug)
    n_discarded = 0
    for waiting in uploads.list_waiting_uploads(collection):
        try:
            if request.POST.get("action") == "discard":
                uploads.discard_upload(waiting)
                n_discarded += 1
            elif request.POST.get("action") == "import":
                options = uploads.get_last_options(waiting)
                tasks.send(
                    uploads.request_import(
                        waiting, mode="import", options=options, user=request.user
                    )
                )
        except Refused as error:
            messages.error(request, as_sentence(error))
    if n_discarded:
        messages.success(
            request,
            ngettext("Discarded %(n)s file.", "Discarded %(n)s files.", n_discarded)
            % {"n": f"{n_discarded:,}"},
        )
    return redirect("collection", slug)


@login_required
@require_POST
def dismiss(request: HttpRequest, slug: str) -> HttpResponse:
    """Hide the refused file of the given `job`, or all refused files if no job is given."""
    collection = permissions.get_managed_collection(request, slug)
    job = request.POST.get("job", "")
    uploads.dismiss_refused(collection, parse_row_id(job) if job else None)
    return redirect("collection", slug)


def _wants_json(request: HttpRequest) -> bool:
    return "application/json" in request.headers.get("Accept", "")


def _error_response(
    request: HttpRequest, collection: Collection, *, error: str, status: int = 400
) -> HttpResponse:
    if _wants_json(request):
        return JsonResponse({"error": error}, status=status)
    messages.error(request, error)
    return redirect("collection", collection.slug)

"""Pages of a collection's runs, qrels and documents."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from pooling import permissions
from pooling.forms import RunForm
from pooling.jobs import Refused
from pooling.listing import ListPage
from pooling.models import Collection
from pooling.selectors import collections as selectors
from pooling.services.documents import delete_document_file
from pooling.services.qrels import delete_qrels
from pooling.services.runs import delete_run, describe_run, rename_run


def _context(collection: Collection, tab: str, **more: Any) -> dict[str, Any]:
    return {"collection": collection, "tab": tab, "activity": selectors.activity(collection, n_recent=0), **more}


@login_required
@require_safe
def runs(request: HttpRequest, slug: str) -> HttpResponse:
    collection = permissions.managed_collection(request, slug)
    shown = ListPage(
        request,
        selectors.runs_of(collection),
        search=("tag", "group", "description"),
        sort={"tag": "tag", "group": "group", "rows": "n_rows", "topics": "n_topics", "deepest": "max_depth", "pools": "n_pools", "made": "created_at"},
        default="tag",
    )
    return render(request, "pooling/runs.html", _context(collection, "runs", runs=shown, kind="run"))


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def run(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """One run: figures, warnings, what is known about it; a POST describes, renames or deletes it."""
    collection = permissions.managed_collection(request, slug)
    run = get_object_or_404(collection.runs, pk=pk)
    form = RunForm(request.POST if request.POST.get("action") == "describe" else None, instance=run)
    if request.method == "POST":
        if request.POST.get("action") == "delete":
            try:
                delete_run(run)
            except Refused as error:
                messages.error(request, f"Not deleted: {error}.")
                return redirect("run", slug, pk)
            messages.success(request, f"The run {run.tag} is deleted.")
            return redirect("collection-runs", slug)
        if request.POST.get("action") == "rename":
            try:
                messages.success(request, f"The run is called {rename_run(run, request.POST.get('tag', '')).tag} now.")
            except Refused as error:
                messages.error(request, f"Not renamed: {error}.")
            return redirect("run", slug, pk)
        if form.is_valid():
            describe_run(run, **form.cleaned_data)
            messages.success(request, "Saved.")
            return redirect("run", slug, pk)
    context = _context(collection, "runs", run=run, form=form, pools=run.pools.all())
    return render(request, "pooling/run.html", context, status=400 if form.errors else 200)


@login_required
@require_safe
def qrels(request: HttpRequest, slug: str) -> HttpResponse:
    collection = permissions.managed_collection(request, slug)
    return render(request, "pooling/qrels.html", _context(collection, "qrels", qrels=collection.qrels.all(), kind="qrels"))


@login_required
@require_POST
def drop_qrels(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    collection = permissions.managed_collection(request, slug)
    qrels = get_object_or_404(collection.qrels, pk=pk)
    delete_qrels(qrels)
    messages.success(request, f"The qrels {qrels.name} are deleted.")
    return redirect("collection-qrels", slug)


@login_required
@require_safe
def documents(request: HttpRequest, slug: str) -> HttpResponse:
    """Document files, and the texts that pools have taken from them."""
    collection = permissions.managed_collection(request, slug)
    words = request.GET.get("q", "").strip()
    matching = selectors.documents(collection, words=words)
    context = _context(
        collection,
        "documents",
        files=collection.document_files.all(),
        page=Paginator(matching, 50).get_page(request.GET.get("page")),
        words=words,
        query=urlencode({"q": words}),
        kind="documents",
    )
    return render(request, "pooling/documents.html", context)


@login_required
@require_safe
def document(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    collection = permissions.managed_collection(request, slug)
    document = get_object_or_404(collection.documents, pk=pk)
    return render(request, "pooling/document.html", _context(collection, "documents", document=document))


@login_required
@require_POST
def drop_document_file(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    collection = permissions.managed_collection(request, slug)
    document_file = get_object_or_404(collection.document_files, pk=pk)
    try:
        delete_document_file(document_file)
        messages.success(request, f"{document_file.name} is deleted.")
    except Refused as error:
        messages.error(request, f"Not deleted: {error}.")
    return redirect("collection-documents", slug)

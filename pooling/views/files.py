"""Pages of a collection's runs, qrels and documents."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from pooling import permissions
from pooling.forms import RunForm
from pooling.models import Collection, Qrels
from pooling.platform.jobs import Refused
from pooling.platform.listing import ListPage, RowFilter
from pooling.platform.page_files import render_page
from pooling.platform.sentences import as_sentence
from pooling.selectors import collections as selectors
from pooling.services.documents import delete_document_file
from pooling.services.qrels import delete_qrels
from pooling.services.renaming import rename_run
from pooling.services.runs import delete_run, describe_run


def _tab_context(collection: Collection, tab: str, **more: Any) -> dict[str, Any]:
    return {
        "collection": collection,
        "tab": tab,
        "activity": selectors.get_activity(collection, n_recent=0),
        **more,
    }


@login_required
@require_safe
def runs(request: HttpRequest, slug: str) -> HttpResponse:
    collection = permissions.get_managed_collection(request, slug)
    shown = ListPage(
        request,
        selectors.get_runs(collection),
        search=("tag", "group", "description"),
        sort={
            "tag": "tag",
            "group": "group",
            "rows": "n_rows",
            "topics": "n_topics",
            "deepest": "max_depth",
            "pools": "n_pools",
            "made": "created_at",
        },
        default="tag",
    )
    return render_page(
        request, "pooling/runs.html", _tab_context(collection, "runs", runs=shown, kind="run")
    )


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def run(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Show a run with statistics, warnings and description. A POST describes, renames or deletes
    it."""
    collection = permissions.get_managed_collection(request, slug)
    run = get_object_or_404(collection.runs, pk=pk)
    form = RunForm(request.POST if request.POST.get("action") == "describe" else None, instance=run)
    if request.method == "POST":
        if request.POST.get("action") == "delete":
            try:
                delete_run(run)
            except Refused as error:
                messages.error(request, as_sentence(error))
                return redirect("run", slug, pk)
            messages.success(request, _("Deleted the run %(tag)s.") % {"tag": run.tag})
            return redirect("collection-runs", slug)
        if request.POST.get("action") == "rename":
            try:
                renamed = rename_run(run, request.POST.get("tag", ""), user=request.user)
                messages.success(request, _("Renamed the run to %(tag)s.") % {"tag": renamed.tag})
            except Refused as error:
                messages.error(request, as_sentence(error))
            return redirect("run", slug, pk)
        if form.is_valid():
            describe_run(run, **form.cleaned_data)
            messages.success(request, _("Saved."))
            return redirect("run", slug, pk)
    context = _tab_context(collection, "runs", run=run, form=form, pools=run.pools.all())
    return render_page(request, "pooling/run.html", context, status=400 if form.errors else 200)


@login_required
@require_safe
def qrels(request: HttpRequest, slug: str) -> HttpResponse:
    collection = permissions.get_managed_collection(request, slug)
    kinds = [(value, str(label)) for value, label in Qrels.Kind.choices]
    shown = ListPage(
        request,
        collection.qrels.all(),
        search=("name", "source_name"),
        sort={
            "name": "name",
            "kind": "kind",
            "pairs": "n_rows",
            "topics": "n_topics",
            "made": "created_at",
        },
        choices=[RowFilter("from", _("From"), kinds, lambda rows, value: rows.filter(kind=value))],
        default="name",
    )
    return render_page(
        request, "pooling/qrels.html", _tab_context(collection, "qrels", qrels=shown, kind="qrels")
    )


@login_required
@require_POST
def drop_qrels(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    collection = permissions.get_managed_collection(request, slug)
    qrels = get_object_or_404(collection.qrels, pk=pk)
    delete_qrels(qrels)
    messages.success(request, _("Deleted the qrels %(name)s.") % {"name": qrels.name})
    return redirect("collection-qrels", slug)


@login_required
@require_safe
def documents(request: HttpRequest, slug: str) -> HttpResponse:
    """List document files, and the texts that pools have taken from them."""
    collection = permissions.get_managed_collection(request, slug)
    files = ListPage(
        request,
        collection.document_files.all(),
        search=("name",),
        sort={
            "name": "name",
            "documents": "n_documents",
            "long": "n_long",
            "empty": "n_empty",
            "size": "n_bytes",
            "made": "created_at",
        },
        prefix="file-",
    )
    texts = ListPage(
        request,
        selectors.get_documents(collection),
        search=("docno", "title"),
        sort={"id": "docno", "title": "title", "words": "n_words"},
        default="id",
        part="texts",
        wide=True,
    )
    return render_page(
        request,
        "pooling/documents.html",
        _tab_context(collection, "documents", files=files, texts=texts, kind="documents"),
    )


@login_required
@require_safe
def document(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    collection = permissions.get_managed_collection(request, slug)
    document = get_object_or_404(collection.documents, pk=pk)
    return render_page(
        request, "pooling/document.html", _tab_context(collection, "documents", document=document)
    )


@login_required
@require_POST
def drop_document_file(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    collection = permissions.get_managed_collection(request, slug)
    document_file = get_object_or_404(collection.document_files, pk=pk)
    try:
        delete_document_file(document_file)
        messages.success(request, _("Deleted %(name)s.") % {"name": document_file.name})
    except Refused as error:
        messages.error(request, as_sentence(error))
    return redirect("collection-documents", slug)

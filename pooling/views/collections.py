"""Pages of collections: list, creation, overview, description and managers, deletion."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from pooling import permissions
from pooling.forms import CollectionForm, ManagerForm
from pooling.platform.deletion import preview_removal
from pooling.platform.jobs import Refused
from pooling.platform.listing import ListPage
from pooling.platform.page_files import render_page
from pooling.platform.requests import parse_row_id
from pooling.platform.sentences import as_sentence
from pooling.selectors import collections as selectors
from pooling.services import collections as services
from pooling.views.pools import pools_page

UPLOAD_KINDS = [
    *[
        ("recognise", gettext_lazy("Detect automatically")),
        ("topics", "Topics"),
        ("run", "Runs"),
        ("documents", "Documents"),
    ],
    *[("qrels", gettext_lazy("Qrels or clicks")), ("set", "Set")],
]
"""Kinds that a user may select for a file, with automatic detection first."""


@login_required
@require_safe
def index(request: HttpRequest) -> HttpResponse:
    shown = ListPage(
        request,
        selectors.list_collections(request.user),
        search=("name", "description"),
        sort={
            "name": "name",
            "kept": "n_kept",
            "documents": "n_in_files",
            "runs": "n_runs",
            "qrels": "n_qrels",
            "pools": "n_pools",
            "made": "created_at",
        },
    )
    context = {"collections": shown, "may_create": permissions.can_create(request)}
    return render_page(request, "pooling/collections.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    user = permissions.require_creator(request)
    form = CollectionForm(request.POST or None)
    if form.is_valid():
        made = services.create_collection(user=user, **form.cleaned_data)
        return redirect("collection", made.slug)
    return render_page(
        request, "pooling/collection_new.html", {"form": form}, status=400 if form.errors else 200
    )


@login_required
@require_safe
def overview(request: HttpRequest, slug: str) -> HttpResponse:
    collection = permissions.get_managed_collection(request, slug)
    steps = selectors.collection_steps(collection)
    context = {
        "collection": collection,
        "tab": "overview",
        "steps": steps,
        "runs_to_pool": selectors.get_unpooled_run_ids(collection, steps),
        "kinds": UPLOAD_KINDS,
        "activity": selectors.get_activity(collection),
        "pools": pools_page(request, collection),
    }
    return render_page(request, "pooling/collection.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, slug: str) -> HttpResponse:
    """Edit name, description and managers of a collection."""
    collection = permissions.get_managed_collection(request, slug)
    initial = {
        name: getattr(collection, name)
        for name in ("name", "description", "n_documents", "text_format")
    }
    action = request.POST.get("action", "")
    form = CollectionForm(request.POST if action == "describe" else None, initial=initial)
    manager_form = ManagerForm(request.POST if action == "add-manager" else None)
    try:
        if action == "describe" and form.is_valid():
            services.describe_collection(collection, **form.cleaned_data)
            messages.success(request, _("Saved."))
            return redirect("collection-edit", slug)
        if action == "add-manager" and manager_form.is_valid():
            added = services.add_manager(collection, manager_form.cleaned_data["username"])
            messages.success(
                request,
                _("%(name)s can now manage this collection.") % {"name": added.get_username()},
            )
            return redirect("collection-edit", slug)
        if action == "remove-manager" and parse_row_id(request.POST.get("user")):
            services.remove_manager(collection, parse_row_id(request.POST["user"]))
            messages.success(request, _("Manager removed."))
            still = permissions.visible_collections(request).filter(pk=collection.pk).exists()
            return redirect("collection-edit", slug) if still else redirect("collections")
    except Refused as error:
        messages.error(request, as_sentence(error))
    context = {
        "collection": collection,
        "tab": "edit",
        "form": form,
        "manager_form": manager_form,
        "managers": collection.managers.order_by("username"),
    }
    return render_page(
        request,
        "pooling/collection_edit.html",
        context,
        status=400 if request.method == "POST" else 200,
    )


@login_required
@require_POST
def delete(request: HttpRequest, slug: str) -> HttpResponse:
    collection = permissions.get_managed_collection(request, slug)
    if request.POST.get("confirm") != collection.slug:
        messages.error(
            request, _("Type %(slug)s to delete the collection.") % {"slug": collection.slug}
        )
        return redirect("collection-edit", slug)
    try:
        services.delete_collection(collection)
    except Refused as error:
        messages.error(request, as_sentence(error))
        return redirect("collection-edit", slug)
    messages.success(request, _("Deleted %(name)s.") % {"name": collection.name})
    return redirect("collections")


ADDRESSES = {
    "topics": "collection-topics-change",
    "run": "run",
    "qrels": "qrels-delete",
    "documents": "document-file-delete",
    "pool": "pool-change",
}
"""Kind -> name of the address that deletes it."""


@login_required
@require_safe
def removal_page(request: HttpRequest, slug: str) -> HttpResponse:
    """Preview a deletion. The query parameters `kind` and `pk` select the object, by default the
    collection."""
    collection = permissions.get_managed_collection(request, slug)
    number = request.GET.get("pk", "")
    pk = int(number) if number.isascii() and number.isdecimal() and len(number) < 18 else None
    removal = preview_removal(collection, request.GET.get("kind", "collection"), pk)
    if removal is None:
        raise Http404("Not found in this collection.")
    name = ADDRESSES.get(removal.kind)
    address = reverse(name, args=[slug] if removal.kind == "topics" else [slug, pk]) if name else ""
    return render_page(
        request,
        "pooling/removal.html",
        {"collection": collection, "tab": "", "removal": removal, "address": address},
    )

"""The page before anything of a collection is deleted: what goes with it."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from pooling import permissions
from pooling.platform.page_files import render
from pooling.platform.removal import removal_preview

ADDRESSES = {
    "topics": "collection-topics-change",
    "run": "run",
    "qrels": "qrels-delete",
    "documents": "document-file-delete",
    "pool": "pool-change",
}
"""Kind -> the address that deletes it."""


@login_required
@require_safe
def preview(request: HttpRequest, slug: str) -> HttpResponse:
    """`kind` and `pk` of the address say of what; without a kind of the collection itself."""
    collection = permissions.managed_collection(request, slug)
    number = request.GET.get("pk", "")
    pk = int(number) if number.isascii() and number.isdecimal() and len(number) < 18 else None
    removal = removal_preview(collection, request.GET.get("kind", "collection"), pk)
    if removal is None:
        raise Http404("No such thing in this collection.")
    name = ADDRESSES.get(removal.kind)
    address = reverse(name, args=[slug] if removal.kind == "topics" else [slug, pk]) if name else ""
    return render(
        request,
        "pooling/removal.html",
        {"collection": collection, "tab": "", "removal": removal, "address": address},
    )

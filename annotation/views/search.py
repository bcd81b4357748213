"""Search over what a manager may see."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.selectors.search import search
from pooling.permissions import SignedInRequest


@login_required
@require_safe
def page(request: SignedInRequest) -> HttpResponse:
    """Show the search results. While the user types, the dialog in the header of every page fetches
    this page and shows its list."""
    words = request.GET.get("q", "")[:200]
    return render(
        request, "annotation/search.html", {"words": words, "groups": search(request.user, words)}
    )

"""The judging page and an annotator's own history. Both are shells: what they show comes from the judging API."""

from __future__ import annotations

import functools
import hashlib

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_safe

from annotation import permissions
from annotation.selectors.judging import choices_of

SCRIPTS = settings.BASE_DIR / "static" / "js" / "judge"
# Fetched by static/js/judge/lazy.js when they are needed, or by another page.
LATER = {
    "finder.js", "guideline.js", "history.js", "history_page.js", "marking.js", "note.js", "notices.js", "preferences.js",
    "review.js", "sign_in.js", "spans.js", "states.js", "thanks.js", "veil.js",
}  # fmt: skip


@functools.cache
def modules() -> list[str]:
    """Static names of the modules with which judging begins, for the browser to fetch all at once."""
    return sorted(f"js/judge/{path.name}" for path in SCRIPTS.glob("*.js") if path.name not in {*LATER, "main.js"})


@functools.cache
def build() -> str:
    """Digest of the page's scripts: a page that was loaded with another one reloads itself when nothing waits to be sent."""
    digest = hashlib.sha256()
    for path in sorted(SCRIPTS.glob("*.js")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@login_required
@never_cache
@ensure_csrf_cookie
@require_safe
def judge(request: HttpRequest, slug: str) -> HttpResponse:
    membership = permissions.annotating(request, slug)
    context = {
        "campaign": membership.campaign,
        "modules": modules(),
        "build": build(),
        "skeleton": range(9),
        "guidelines_open": choices_of(membership).get("guidelines", True),
    }
    return render(request, "annotation/judge.html", context)


@login_required
@never_cache
@ensure_csrf_cookie
@require_safe
def history(request: HttpRequest, slug: str) -> HttpResponse:
    membership = permissions.annotating(request, slug)
    return render(request, "annotation/history.html", {"campaign": membership.campaign})


@never_cache
@require_safe
def current_build(request: HttpRequest, slug: str) -> HttpResponse:
    """Which scripts a page loaded now would have."""
    return JsonResponse({"build": build()})

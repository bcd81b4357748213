"""The judging page and the annotator's history. Both are empty pages that scripts fill from the
judging API."""

from __future__ import annotations

import functools
import hashlib
import posixpath
import re
from typing import NamedTuple, cast

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_safe

from annotation import permissions
from annotation.models import Membership
from annotation.selectors.setup import get_trial_pairs
from annotation.views.shell import render_shell

SCRIPTS_DIR = settings.BASE_DIR / "static" / "js"
EARLY, FIRST, MAIN = "judge/early.js", "judge/first.js", "judge/main.js"
IMPORT_PATTERN = re.compile(r"""^(?:import|export)\b.*?from "(\.\.?/[\w.]+)";""", re.MULTILINE)


class PageModules(NamedTuple):
    """Static names of the judging page's script modules, grouped by the time at which the browser
    preloads them."""

    first: tuple[str, ...]
    """Modules for the first requests and the first document."""
    then: tuple[str, ...]
    """Modules for judging, loaded after the first document is shown."""

    @property
    def first_of_battles(self) -> tuple[str, ...]:
        """Return the modules for the first two documents of a campaign of preferences."""
        return *self.first, "js/judge/battle.js"


@functools.cache
def get_page_modules() -> PageModules:
    early = _collect_imports(EARLY)
    document = _collect_imports(FIRST) - early
    rest = _collect_imports(MAIN) - early - document
    return PageModules(
        first=tuple(f"js/{name}" for name in [*sorted(early), *sorted(document)]),
        then=tuple(f"js/{name}" for name in sorted(rest)),
    )


def _collect_imports(name: str) -> set[str]:
    """Return a script module and its imports, recursively. Modules that lazy.js loads later by
    import(...) are not included."""
    names = {name}
    while (
        missing := {
            posixpath.normpath(posixpath.join(posixpath.dirname(known), name))
            for known in names
            for name in _read_imports(known)
        }
        - names
    ):
        names |= missing
    return names


def _read_imports(name: str) -> list[str]:
    return IMPORT_PATTERN.findall((SCRIPTS_DIR / name).read_text(encoding="utf-8"))


@functools.cache
def build_digest() -> str:
    """Return a digest of the judging page's scripts. A page loaded with another digest reloads
    itself when no answer waits to be sent."""
    digest = hashlib.sha256()
    for path in sorted([*SCRIPTS_DIR.glob("*.js"), *SCRIPTS_DIR.glob("judge/*.js")]):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@login_required
@never_cache
@ensure_csrf_cookie
@require_safe
def judge(request: HttpRequest, slug: str) -> HttpResponse:
    membership = permissions.get_membership(request, slug)
    if membership.role == Membership.Role.MANAGER:
        return redirect("judge-try", slug)
    if membership.role == Membership.Role.VIEWER:
        return redirect("campaign-results", slug)
    return HttpResponse(
        render_shell(request, membership, build=build_digest(), modules=get_page_modules())
    )


@login_required
@never_cache
@ensure_csrf_cookie
@require_safe
def trial(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the judging page to managers as annotators see it. Their answers are not stored."""
    campaign = permissions.get_managed_campaign(request, slug)
    if not get_trial_pairs(campaign):
        messages.info(
            request,
            _("There is nothing to try yet. Choose a pool whose documents have been imported."),
        )
        return redirect("campaign-step", slug, "pool")
    nobody = Membership(campaign=campaign, user=cast(User, request.user))
    return HttpResponse(
        render_shell(
            request, nobody, build=build_digest(), modules=get_page_modules(), is_trial=True
        )
    )


@login_required
@never_cache
@ensure_csrf_cookie
@require_safe
def history(request: HttpRequest, slug: str) -> HttpResponse:
    annotator = permissions.get_annotator(request, slug)
    return render(request, "annotation/history.html", {"campaign": annotator.campaign})


@never_cache
@require_safe
def current_build(request: HttpRequest, slug: str) -> HttpResponse:
    """Return the digest of the current scripts."""
    return JsonResponse({"build": build_digest()})

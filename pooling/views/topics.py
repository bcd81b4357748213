"""Pages of a collection's topics: the list, the check with a manager's decisions, the kept and removed lists as files."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from pooling import permissions, tasks
from pooling.core.counts import counted
from pooling.jobs import Refused
from pooling.models import Collection
from pooling.selectors import collections as selectors
from pooling.selectors import topics as topic_selectors
from pooling.services import topics as services


@login_required
@require_safe
def index(request: HttpRequest, slug: str) -> HttpResponse:
    collection = permissions.managed_collection(request, slug)
    show, words = request.GET.get("show", "all"), request.GET.get("q", "").strip()
    matching = topic_selectors.topics(collection, show=show, words=words)
    context = {
        "collection": collection,
        "tab": "topics",
        "page": Paginator(matching, 50).get_page(request.GET.get("page")),
        "show": show,
        "words": words,
        "query": urlencode({"show": show, "q": words}),
        "counts": topic_selectors.counts(collection),
        "undo": request.session.get("topics_undo", {}).get("collection") == collection.pk,
        "activity": selectors.activity(collection, n_recent=0),
    }
    return render(request, "pooling/topics.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def check(request: HttpRequest, slug: str) -> HttpResponse:
    """Proposals with their reasons; a POST with `level` checks anew, with `all` decides for many, else for those marked."""
    collection = permissions.managed_collection(request, slug)
    if request.method == "POST":
        try:
            if request.POST.get("level"):
                job = services.ask_for_check(collection, level=request.POST["level"], user=request.user)
                tasks.send(job)
            elif request.POST.get("all"):
                n = services.decide_all(collection, decision=request.POST["all"], reason=request.POST.get("reason", ""), user=request.user)
                messages.success(request, f"{counted(n, 'topic')} decided.")
            else:
                marked = {
                    int(name.removeprefix("topic-")): str(value)
                    for name, value in request.POST.items()
                    if name.startswith("topic-") and name.removeprefix("topic-").isdecimal() and value in ("keep", "remove", "open")
                }
                n = services.decide(collection, marked, user=request.user)
                messages.success(request, f"{n} topic{'s' if n != 1 else ''} decided.")
        except Refused as error:
            messages.error(request, f"Not done: {error}.")
        return redirect("collection-check", slug)
    page = Paginator(topic_selectors.proposals(collection), 200).get_page(request.GET.get("page"))
    topic_selectors.add_originals(collection, page.object_list)
    context = {
        "collection": collection,
        "tab": "check",
        "counts": topic_selectors.counts(collection),
        "page": page,
        "level": topic_selectors.last_level(collection),
        "levels": services.LEVELS,
        "reasons": topic_selectors.open_reasons(collection),
        "activity": selectors.activity(collection, n_recent=0),
    }
    return render(request, "pooling/topic_check.html", context)


@login_required
@require_safe
def export(request: HttpRequest, slug: str, which: str) -> HttpResponse:
    collection = permissions.managed_collection(request, slug)
    text = services.kept_table(collection) if which == "kept" else services.removed_table(collection)
    response = HttpResponse(text, content_type="text/tab-separated-values; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="{collection.slug}-{which}-topics.tsv"'
    return response


@login_required
@require_POST
def change(request: HttpRequest, slug: str) -> HttpResponse:
    """Remove or keep single topics from the list, or delete all of them (action=delete-all)."""
    collection = permissions.managed_collection(request, slug)
    try:
        if request.POST.get("action") == "delete-all":
            n = services.delete_topics(collection)
            messages.success(request, f"{counted(n, 'topic')} {'is' if n == 1 else 'are'} deleted.")
        else:
            _decide(request, collection)
    except Refused as error:
        messages.error(request, f"Not done: {error}.")
    return redirect("collection-topics", slug)


def _decide(request: HttpRequest, collection: Collection) -> None:
    """The chosen topics, or with `matching` all that the list shows, are kept or removed (for `reason`); `undo` takes the last of these back."""
    decision = request.POST.get("action", "")
    if decision == "undo":
        last = request.session.pop("topics_undo", {})
        if last.get("collection") == collection.pk:
            decisions, reasons = ({int(pk): said for pk, said in last.get(key, {}).items()} for key in ("decisions", "reasons"))
            n = services.decide(collection, decisions, user=request.user, reasons=reasons)
            messages.success(request, f"Undone for {counted(n, 'topic')}.")
        return
    if decision not in ("keep", "remove", "open"):
        return
    if request.GET.get("matching"):
        matching = topic_selectors.topics(collection, show=request.POST.get("show", "all"), words=request.POST.get("q", "").strip())
        chosen = list(matching.values_list("pk", flat=True))
    else:
        chosen = [int(pk) for pk in request.POST.getlist("topic") if pk.isdecimal()]
    before, reasons = services.decisions_of(collection, chosen)
    why = dict.fromkeys(before, request.POST.get("reason", ""))
    n = services.decide(collection, dict.fromkeys(before, decision), user=request.user, reasons=why)
    done = {"keep": "kept", "remove": "removed", "open": "to decide again"}[decision]
    messages.success(request, f"{counted(n, 'topic')} {'is' if n == 1 else 'are'} {done}.")
    request.session["topics_undo"] = {
        "collection": collection.pk,
        "decisions": {str(pk): what for pk, what in before.items()},
        "reasons": {str(pk): why for pk, why in reasons.items()},
    }

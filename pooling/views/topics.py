"""Pages of a collection's topics: list, topic check with decisions, and the kept and removed topics
as files."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models.functions import Length
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from assay.number_words import format_count
from pooling import permissions, tasks
from pooling.models import Collection
from pooling.platform.jobs import Refused
from pooling.platform.listing import ListPage, RowFilter
from pooling.platform.page_files import render_page
from pooling.platform.requests import parse_row_id
from pooling.platform.sentences import as_sentence
from pooling.selectors import collections as selectors
from pooling.selectors import topics as topic_selectors
from pooling.services import topics as services

UNDO_KEY = "topics_undo"
"""Session key of the decisions before the last one, for undo."""
TOPIC_ORDER = (Length("topic_id"), "topic_id")
"""Natural order, with 2 before 10."""
TOPICS_PER_PAGE = 25


def topics_page(request: HttpRequest, collection: Collection, counts: dict[str, int]) -> ListPage:
    """List the collection's topics in file order. counts: number of topics by state."""
    states = [
        (state, f"{words} ({counts[state]:,})")
        for state, words in (
            ("kept", _("kept")),
            ("removed", _("removed")),
            ("open", _("to decide")),
        )
    ]
    return ListPage(
        request,
        topic_selectors.get_topics(collection),
        search=("topic_id", "text"),
        sort={
            "id": TOPIC_ORDER,
            "query": "text",
            "state": ("removed_reason", "proposal", "position"),
        },
        choices=[RowFilter("show", _("Status"), states, topic_selectors.filter_by_state)],
        per_page=TOPICS_PER_PAGE,
    )


@login_required
@require_safe
def index(request: HttpRequest, slug: str) -> HttpResponse:
    collection = permissions.get_managed_collection(request, slug)
    counts = topic_selectors.count_topics(collection)
    context = {
        "collection": collection,
        "tab": "topics",
        "topics": topics_page(request, collection, counts),
        "counts": counts,
        "undo": _has_undo(request, collection),
        "activity": selectors.get_activity(collection, n_recent=0),
    }
    return render_page(request, "pooling/topics.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def check(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the topics proposed for removal, with the reasons. A POST with `level` runs the check,
    with `all` decides many proposals, otherwise the selected ones."""
    collection = permissions.get_managed_collection(request, slug)
    if request.method == "POST":
        try:
            if request.POST.get("level"):
                job = services.request_check(
                    collection, level=request.POST["level"], user=request.user
                )
                tasks.send(job)
                return redirect("collection-check", slug)
            _decide_proposals(request, collection)
        except Refused as error:
            messages.error(request, as_sentence(error))
        return redirect(request.get_full_path())
    reasons = topic_selectors.count_open_reasons(collection)
    proposals = proposals_page(request, collection, [reason for reason, _ in reasons])
    topic_selectors.add_originals(collection, proposals)
    context = {
        "collection": collection,
        "tab": "check",
        "counts": topic_selectors.count_topics(collection),
        "proposals": proposals,
        "level": topic_selectors.get_last_level(collection),
        "levels": services.LEVELS,
        "reasons": reasons,
        "undo": _has_undo(request, collection),
        "activity": selectors.get_activity(collection, n_recent=0),
    }
    return render_page(request, "pooling/topic_check.html", context)


@login_required
@require_safe
def export(request: HttpRequest, slug: str, which: str) -> HttpResponse:
    collection = permissions.get_managed_collection(request, slug)
    text = (
        services.format_kept_topics(collection)
        if which == "kept"
        else services.format_removed_topics(collection)
    )
    response = HttpResponse(text, content_type="text/tab-separated-values; charset=utf-8")
    response.headers["Content-Disposition"] = (
        f'attachment; filename="{collection.slug}-{which}-topics.tsv"'
    )
    return response


def proposals_page(request: HttpRequest, collection: Collection, reasons: list[str]) -> ListPage:
    """List proposed and removed topics, undecided ones first. reasons: reasons of undecided
    proposals."""
    return ListPage(
        request,
        topic_selectors.get_proposals(collection),
        search=("topic_id", "text", "removed_reason", "same_as"),
        sort={
            "id": TOPIC_ORDER,
            "query": "text",
            "reason": ("proposal", "removed_reason"),
            "original": "same_as",
        },
        choices=[
            RowFilter(
                "show",
                _("Decision"),
                [("open", _("to decide")), ("removed", _("removed")), ("kept", _("kept"))],
                topic_selectors.filter_by_decision,
            ),
            RowFilter(
                "reason",
                _("Reason"),
                [(reason, reason) for reason in reasons],
                lambda rows, value: rows.filter(proposal=value),
            ),
        ],
        per_page=200,
    )


def _decide_proposals(request: HttpRequest, collection: Collection) -> None:
    """Apply a decision to all undecided proposals (of `reason`) with `all`, otherwise to the
    selected ones."""
    if request.POST.get("all"):
        decisions = services.make_decisions_for_all(
            collection, decision=request.POST["all"], reason=request.POST.get("reason", "")
        )
    else:
        decisions = {
            parse_row_id(name.removeprefix("topic-")): str(value)
            for name, value in request.POST.items()
            if name.startswith("topic-") and value in ("keep", "remove", "open")
        }
    before = services.get_decisions(collection, list(decisions))
    n = services.decide_topics(collection, decisions, user=request.user)
    _store_undo(request, collection, *before)
    messages.success(request, _("Decisions saved: %(n)s.") % {"n": format_count(n, "topic")})


@login_required
@require_POST
def change(request: HttpRequest, slug: str) -> HttpResponse:
    """Remove or keep single topics, undo the last decision, or delete all topics
    (action=delete-all).

    The address has the query string of the list, so that the response returns to the same page of
    the list or, with `from_check`, to the topic check.
    """
    collection = permissions.get_managed_collection(request, slug)
    try:
        if request.POST.get("action") == "delete-all":
            n = services.delete_topics(collection)
            messages.success(
                request,
                ngettext("Deleted %(n)s topic.", "Deleted %(n)s topics.", n) % {"n": f"{n:,}"},
            )
        elif request.POST.get("action") == "undo":
            _undo_decision(request, collection)
        else:
            _decide_chosen(request, collection)
    except Refused as error:
        messages.error(request, as_sentence(error))
    if request.POST.get("from_check"):
        return redirect("collection-check", slug)
    return redirect(
        f"{reverse('collection-topics', args=[slug])}?{request.GET.urlencode()}".rstrip("?")
    )


def _has_undo(request: HttpRequest, collection: Collection) -> bool:
    return bool(request.session.get(UNDO_KEY, {}).get("collection") == collection.pk)


def _store_undo(
    request: HttpRequest, collection: Collection, decisions: dict[int, str], reasons: dict[int, str]
) -> None:
    """Keep the previous decisions on topics and their reasons in the session, so that they can be
    restored."""
    request.session[UNDO_KEY] = {
        "collection": collection.pk,
        "decisions": {str(pk): what for pk, what in decisions.items()},
        "reasons": {str(pk): why for pk, why in reasons.items()},
    }


def _undo_decision(request: HttpRequest, collection: Collection) -> None:
    """Undo the last decision on topics, once."""
    if not _has_undo(request, collection):
        return
    last = request.session.pop(UNDO_KEY)
    decisions, reasons = (
        {int(pk): said for pk, said in last.get(key, {}).items()}
        for key in ("decisions", "reasons")
    )
    n = services.decide_topics(collection, decisions, user=request.user, reasons=reasons)
    messages.success(request, _("Decisions undone: %(n)s.") % {"n": format_count(n, "topic")})


def _decide_chosen(request: HttpRequest, collection: Collection) -> None:
    """Keep or remove the selected topics, or with remove-found all topics that the search in the
    address finds. A removal can have a `reason`."""
    decision = request.POST.get("action", "")
    if decision == "remove-found":
        listed = topics_page(request, collection, topic_selectors.count_topics(collection))
        chosen = list(listed.fitting.values_list("pk", flat=True)) if listed.is_filtered else []
        decision = "remove"
    else:
        chosen = [parse_row_id(pk) for pk in request.POST.getlist("topic")]
    if decision not in ("keep", "remove", "open"):
        return
    before, reasons = services.get_decisions(collection, chosen)
    why = dict.fromkeys(before, request.POST.get("reason", ""))
    n = services.decide_topics(
        collection, dict.fromkeys(before, decision), user=request.user, reasons=why
    )
    done = {
        "keep": ngettext("Kept %(n)s topic.", "Kept %(n)s topics.", n),
        "remove": ngettext("Removed %(n)s topic.", "Removed %(n)s topics.", n),
        "open": ngettext(
            "Reopened %(n)s topic for a decision.", "Reopened %(n)s topics for a decision.", n
        ),
    }
    messages.success(request, done[decision] % {"n": f"{n:,}"})
    _store_undo(request, collection, before, reasons)

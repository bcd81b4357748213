"""Actions that managers apply to one or several annotators."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.text import get_text_list
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from analysis.dashboard import exclusions
from annotation.models import Campaign, Membership
from annotation.permissions import get_managed_campaign
from annotation.services.errors import CampaignError
from annotation.services.judging import qualification
from annotation.services.people import exclusion
from annotation.services.people.accounts import send_message, write_note
from assay.number_words import format_count
from pooling.models import Job
from pooling.permissions import SignedInRequest
from pooling.platform.page_files import render_page
from pooling.tasks import send

MAX_NAMED = 5
"""Maximum number of annotators named in a sentence. With more, it gives their number."""


def message_annotator(member: Membership, text: str, actor: User) -> str:
    send_message(membership=member, text=text, actor=actor)
    return _("Message sent to %(who)s. They will see it on the judging page.")


def pause_member(member: Membership, text: str, actor: User) -> str:
    exclusion.pause_annotator(member, reason=text, actor=actor)
    return _("Paused %(who)s. They will see the reason.")


def resume_member(member: Membership, text: str, actor: User) -> str:
    exclusion.resume_annotator(member, actor=actor)
    return _("Resumed %(who)s. They can judge again.")


def let_member_in(member: Membership, text: str, actor: User) -> str:
    qualification.admit_annotator(member, actor=actor)
    return _("Admitted %(who)s. They can judge now.")


def let_member_retry(member: Membership, text: str, actor: User) -> str:
    qualification.restart_qualification(member, actor=actor)
    return _("%(who)s can take the qualification test again.")


def save_note(member: Membership, text: str, actor: User) -> str:
    write_note(member, text, actor=actor)
    return _("Note saved for %(who)s. Only managers can see it.")


def include_member(member: Membership, text: str, actor: User) -> str:
    done = exclusion.include_annotator(member, actor=actor, reason=text)
    says = ngettext(
        "%(who)s is included again. %(n)s judgement counts, and %(extra)s are kept with the status “extra”.",
        "%(who)s is included again. %(n)s judgements count, and %(extra)s are kept with the status “extra”.",
        done.counted,
    )
    return says % {"who": "%(who)s", "n": f"{done.counted:,}", "extra": f"{done.extra:,}"}


def exclude_member(member: Membership, text: str, actor: User) -> str:
    n = exclusion.exclude_annotators([member], reason=text, actor=actor)
    return " ".join([_("Excluded %(who)s."), _format_lost(n), _("You can include them again.")])


def _format_lost(n: int) -> str:
    says = ngettext("%(n)s judgement no longer counts.", "%(n)s judgements no longer count.", n)
    return says % {"n": f"{n:,}"}


ACTIONS: dict[str, Callable[[Membership, str, User], str]] = {
    **{
        "message": message_annotator,
        "pause": pause_member,
        "resume": resume_member,
        "include": include_member,
    },
    **{"let-in": let_member_in, "try-again": let_member_retry, "note": save_note},
}
"""Each action takes (annotator, text, acting user) and returns a sentence that describes the
change, with %(who)s for the annotator."""
BULK_ACTIONS = {name: ACTIONS[name] for name in ("message", "pause", "resume", "include")}
WITHOUT_GRADES = {**BULK_ACTIONS, "exclude": exclude_member}
"""Actions in campaigns of preferences, which have no labels that a preview could compare."""
TEXT_FIELDS = {"pause": "reason", "exclude": "exclusion"}
"""Fields of the form with the reason of an action, by action. Others read `text`."""


@login_required
@require_POST
def act_on_annotator(request: SignedInRequest, slug: str, pseudonym: str) -> HttpResponse:
    """Apply an action to one annotator: send a message, edit the note, pause, resume, include
    again, admit, or allow another attempt. The action `preview` requests the preview of an
    exclusion."""
    campaign = get_managed_campaign(request, slug)
    member = get_object_or_404(campaign_annotators(campaign), pseudonym=pseudonym)
    action, text = request.POST.get("action", ""), request.POST.get("text", "").strip()
    if action == "preview":
        job = exclusions.request_exclusion_preview(campaign, [pseudonym], user=request.user)
        send(job)
        return redirect("campaign-exclude", slug, pseudonym, job.pk)
    if action not in ACTIONS:
        raise Http404("Unknown action.")
    try:
        done = ACTIONS[action](member, text, request.user)
        messages.success(request, done % {"who": pseudonym})
    except CampaignError as error:
        messages.error(request, str(error))
    return redirect(return_url(request, slug, reverse("campaign-person", args=[slug, pseudonym])))


@login_required
@require_POST
def act_on_chosen(request: SignedInRequest, slug: str) -> HttpResponse:
    """Apply an action to all selected annotators. A message names those to whom it does not apply,
    with the reason."""
    campaign = get_managed_campaign(request, slug)
    chosen = list(
        campaign_annotators(campaign)
        .filter(pseudonym__in=request.POST.getlist("annotator"))
        .order_by("pseudonym")
    )
    action = request.POST.get("action", "")
    text = request.POST.get(TEXT_FIELDS.get(action, "text"), "").strip()
    back = redirect(return_url(request, slug, reverse("campaign-people", args=[slug])))
    if not chosen:
        messages.error(request, _("Select annotators first: check the boxes on the left."))
        return back
    if action == "preview" and not campaign.is_preferences:
        names = [
            member.pseudonym for member in chosen if member.status != Membership.Status.EXCLUDED
        ]
        if not names:
            messages.error(
                request,
                _("Already excluded: %(chosen)s.") % {"chosen": format_member_names(chosen)},
            )
            return back
        job = exclusions.request_exclusion_preview(campaign, names, user=request.user)
        send(job)
        return redirect("campaign-people-exclude", slug, job.pk)
    actions = WITHOUT_GRADES if campaign.is_preferences else BULK_ACTIONS
    if action not in actions:
        raise Http404("Unknown action.")
    done: dict[str, list[Membership]] = {}
    refused: dict[str, int] = {}
    for member in chosen:
        try:
            done.setdefault(actions[action](member, text, request.user), []).append(member)
        except CampaignError as error:
            refused[str(error)] = refused.get(str(error), 0) + 1
    for said, members in done.items():
        messages.success(request, said % {"who": format_member_names(members)})
    for why in refused:
        messages.error(request, why)
    return back


def campaign_annotators(campaign: Campaign) -> QuerySet[Membership]:
    members = Membership.objects.select_related("campaign", "user")
    return members.filter(campaign=campaign, role=Membership.Role.ANNOTATOR)


def format_member_names(members: list[Membership]) -> str:
    names = [member.pseudonym for member in members]
    return (
        get_text_list(names, "and")
        if len(names) <= MAX_NAMED
        else format_count(len(names), "annotator")
    )


def return_url(request: SignedInRequest, slug: str, default: str) -> str:
    """Return the address of the list from which the request came, with its order, page and panel.
    Without it, return `default`."""
    people = reverse("campaign-people", args=[slug])
    asked = request.POST.get("back", "")
    fits = asked.startswith(people) and url_has_allowed_host_and_scheme(asked, allowed_hosts=None)
    return asked if fits else default


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def exclude(request: SignedInRequest, slug: str, job_id: int, pseudonym: str = "") -> HttpResponse:
    """Show the preview of excluding one or several annotators. A POST excludes them, with a reason."""
    campaign = get_managed_campaign(request, slug)
    job = get_object_or_404(Job, pk=job_id, campaign_id=campaign.pk, kind=exclusions.EXCLUSION)
    names = job.parameters.get("annotators", [])
    members = list(campaign_annotators(campaign).filter(pseudonym__in=names).order_by("pseudonym"))
    if (pseudonym and names != [pseudonym]) or not members:
        raise Http404("This preview is for other annotators.")
    back = (
        reverse("campaign-person", args=[slug, pseudonym])
        if pseudonym
        else reverse("campaign-people", args=[slug])
    )
    if request.method == "POST":
        try:
            n = exclusion.exclude_annotators(
                members, reason=request.POST.get("reason", "").strip(), actor=request.user
            )
        except CampaignError as error:
            messages.error(request, str(error))
            return redirect(request.path)
        excluded = _("Excluded %(who)s.") % {"who": format_member_names(members)}
        included = _("You can include them again.")
        messages.success(request, " ".join([excluded, _format_lost(n), included]))
        return redirect(back)
    grades = campaign.grades.names
    changes = [
        {**change, "before": grades[change["before"]], "after": grades[change["after"]]}
        for change in job.report.get("changes", [])
    ]
    template = (
        "analysis/_exclusion.html" if request.headers.get("HX-Request") else "analysis/exclude.html"
    )
    context = {
        **{
            "campaign": campaign,
            "tab": "people",
            "members": members,
            "names": format_member_names(members),
            "back": back,
        },
        **{"job": job, "report": job.report, "changes": changes},
        "already": [member for member in members if member.status == Membership.Status.EXCLUDED],
    }
    return render_page(request, template, context)

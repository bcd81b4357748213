"""The annotators beside each other, one person's page, and what a manager can do about one."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import numpy as np
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from analysis.charts.bars import bars, stacked
from analysis.charts.matrices import matrix
from analysis.charts.points import DrawnInterval, intervals
from analysis.core.campaign import judgements_per_half_day
from analysis.dashboard import disagreements, exclusions
from analysis.dashboard.annotators import Person, people
from analysis.judgements.live import live_rows
from annotation.models import Campaign, Membership
from annotation.permissions import managed_campaign
from annotation.services import exclusion, qualification
from annotation.services.errors import CampaignError
from annotation.services.people import send_message
from pooling.core.counts import counted
from pooling.models import Job
from pooling.permissions import SignedInRequest
from pooling.tasks import send

PER_PAGE = 25


@login_required
@require_safe
def index(request: SignedInRequest, slug: str) -> HttpResponse:
    campaign = managed_campaign(request, slug)
    everybody = people(campaign)
    names = campaign.grades.names
    shown = [person for person in everybody if person.n_kept]
    context = {
        "campaign": campaign,
        "tab": "people",
        "people": everybody,
        "waiting": [person.membership for person in everybody if person.waits],
        "grades": names,
        "kappas": mark_safe(kappa_chart(shown)),
        "shares": mark_safe(
            stacked(
                [person.membership.pseudonym for person in shown],
                [(name, [float(round(person.n_kept * (person.shares[g] or 0.0))) for person in shown]) for g, name in enumerate(names)],
                caption="Grades given by each annotator",
                what="annotator",
                reason="Nobody has judged yet.",
            )
        ),
        "n_flagged": sum(bool(person.flags) for person in everybody),
    }
    return render(request, "analysis/people.html", context)


def kappa_chart(shown: list[Person]) -> str:
    rows = []
    for person in sorted(shown, key=lambda p: (p.kappa is None, p.kappa or 0.0)):
        if person.kappa is None or person.agreement is None:
            rows.append(DrawnInterval(person.membership.pseudonym, None, note=person.kappa_reason))
            continue
        low, high = person.agreement.interval.bounds
        rows.append(DrawnInterval(person.membership.pseudonym, person.kappa, None if math.isnan(low) else low, None if math.isnan(high) else high))
    return intervals(
        rows,
        caption="Linearly weighted kappa against the label of the other annotators, with its 95 % interval; the lowest first",
        x_label="kappa",
        what="annotators",
        reference=(0.0, "chance"),
        reason="No annotator shares a pair with others yet.",
    )


def person_of(campaign: Campaign, pseudonym: str) -> Person:
    named = next((person for person in people(campaign) if person.membership.pseudonym == pseudonym), None)
    if named is None:
        raise Http404("No such annotator.")
    return named


@login_required
@require_safe
def person(request: SignedInRequest, slug: str, pseudonym: str) -> HttpResponse:
    campaign = managed_campaign(request, slug)
    person = person_of(campaign, pseudonym)
    live = live_rows(campaign)
    names = campaign.grades.names
    code = live.rows.annotators.index(pseudonym) if pseudonym in live.rows.annotators else -1
    mine = live.rows.judged_at[live.rows.annotator == code] if code >= 0 else np.empty(0)
    timeline = judgements_per_half_day(mine) or []
    confusion = person.agreement.confusion if person.agreement is not None and person.agreement.n else None
    differences = Paginator(disagreements.of_person(campaign, live, pseudonym), PER_PAGE).get_page(request.GET.get("page"))
    disagreements.with_texts(campaign, differences.object_list)
    context = {
        "campaign": campaign,
        "tab": "people",
        "person": person,
        "grades": list(zip(names, person.shares, person.shares_of_others, person.median_by_grade, strict=True)),
        "shares": mark_safe(shares_chart(person, names)),
        "timeline": mark_safe(
            bars(
                [datetime.fromtimestamp(start, UTC).strftime("%d %b %Hh") for start, _ in timeline],
                [float(n) for _, n in timeline],
                caption="Judgements per 12 hours (UTC)",
                unit="judgements",
                what="half day",
                reason="No judgement yet.",
            )
        ),
        "confusion": mark_safe(
            matrix(
                names,
                names,
                confusion.tolist() if confusion is not None else [],
                caption=f"Grades of {pseudonym} (rows) against the label of the others (columns), in pairs",
                row_label="own grade",
                column_label="label of the others",
                reason="No pair shared with other annotators yet.",
            )
        ),
        "differences": differences,
        "sent": person.membership.messages.order_by("-created_at")[:10],
    }
    return render(request, "analysis/person.html", context)


def shares_chart(person: Person, names: list[str]) -> str:
    """The annotator's grades over those of all others, who judged other pairs in part."""
    rows = [(person.membership.pseudonym, person.n_kept, person.shares), ("the others", person.n_of_others, person.shares_of_others)]
    shown = [(name, n, shares) for name, n, shares in rows if n]
    return stacked(
        [name for name, _, _ in shown],
        [(name, [float(round(n * (shares[g] or 0.0))) for _, n, shares in shown]) for g, name in enumerate(names)],
        caption=f"Grades of {person.membership.pseudonym} beside those of all others",
        what="annotator",
        reason="Nobody has judged yet.",
    )


@login_required
@require_POST
def act_on_annotator(request: SignedInRequest, slug: str, pseudonym: str) -> HttpResponse:
    """Message, pause, resume, include again, let in, let try again; or ask what an exclusion would change."""
    campaign = managed_campaign(request, slug)
    member = get_object_or_404(Membership.objects.select_related("campaign", "user"), campaign=campaign, pseudonym=pseudonym, role="annotator")
    action, text = request.POST.get("action", ""), request.POST.get("text", "").strip()
    try:
        if action == "message":
            send_message(membership=member, text=text, actor=request.user)
            messages.success(request, f"{pseudonym} will see it on the judging page.")
        elif action == "pause":
            exclusion.pause_annotator(member, reason=text, actor=request.user)
            messages.success(request, f"{pseudonym} is paused and is shown the reason.")
        elif action == "resume":
            exclusion.resume_annotator(member, actor=request.user)
            messages.success(request, f"{pseudonym} may go on.")
        elif action == "let-in":
            qualification.let_in(member, actor=request.user)
            messages.success(request, f"{pseudonym} may judge.")
        elif action == "try-again":
            qualification.let_try_again(member, actor=request.user)
            messages.success(request, f"{pseudonym} is asked the qualification pairs once more.")
        elif action == "include":
            done = exclusion.include_annotator(member, actor=request.user, reason=text)
            count, kept = counted(done.counted, "judgement", "counts", "count"), "is" if done.extra == 1 else "are"
            messages.success(request, f"{pseudonym} is included again: {count}, {done.extra} {kept} kept as extra.")
        elif action == "preview":
            job = exclusions.ask_what_exclusion_changes(campaign, [pseudonym], user=request.user)
            send(job)
            return redirect("campaign-exclude", slug, pseudonym, job.pk)
        else:
            raise Http404("No such action.")
    except CampaignError as error:
        messages.error(request, str(error))
    return redirect("campaign-person", slug, pseudonym)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def exclude(request: SignedInRequest, slug: str, pseudonym: str, job_id: int) -> HttpResponse:
    """What excluding would change; the POST does it, with a reason."""
    campaign = managed_campaign(request, slug)
    member = get_object_or_404(Membership.objects.select_related("campaign", "user"), campaign=campaign, pseudonym=pseudonym, role="annotator")
    job = get_object_or_404(Job, pk=job_id, campaign_id=campaign.pk, kind=exclusions.EXCLUSION)
    if job.parameters.get("annotators") != [pseudonym]:
        raise Http404("This preview is about somebody else.")
    if request.method == "POST":
        try:
            n = exclusion.exclude_annotator(member, reason=request.POST.get("reason", "").strip(), actor=request.user)
        except CampaignError as error:
            messages.error(request, str(error))
            return redirect(request.path)
        messages.success(request, f"{pseudonym} is excluded: {counted(n, 'judgement', 'counts', 'count')} no longer. You can include them again.")
        return redirect("campaign-person", slug, pseudonym)
    names = campaign.grades.names
    changes = [{**change, "before": names[change["before"]], "after": names[change["after"]]} for change in job.report.get("changes", [])]
    template = "analysis/_exclusion.html" if request.headers.get("HX-Request") else "analysis/exclude.html"
    context = {"campaign": campaign, "tab": "people", "member": member, "job": job, "report": job.report, "changes": changes}
    return render(request, template, context)

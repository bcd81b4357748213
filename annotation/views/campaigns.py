"""Pages of a campaign's settings, which are also the steps of creating it. Every step can be left
and resumed."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from typing import Any, cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.core.presets import DEFAULT_NAMES, guidelines_text
from annotation.core.publication import Publication
from annotation.core.scale import MOST_GRADES
from annotation.forms_campaign import (
    BaseScale,
    CampaignPoolForm,
    GuidelineForm,
    InvitationForm,
    NamesForm,
    RulesForm,
    ScaleFormSet,
)
from annotation.forms_publication import COMMON_LICENSES, LABELS, PublicationForms
from annotation.forms_questions import (
    BaseFurtherQuestions,
    FurtherQuestionFormSet,
    make_initial,
)
from annotation.markup import markdown
from annotation.models import Campaign, Invitation, Membership, Pair
from annotation.permissions import can_create, get_managed_campaign
from annotation.selectors.drafts import check_time_settings, get_campaign_steps
from annotation.selectors.llm_judges import has_llm_judges
from annotation.selectors.pairs import (
    count_missing_judgements,
    count_pairs_without_text,
    get_kept_pairs,
)
from annotation.selectors.rank_windows import preview_rank_windows
from annotation.services.campaigns import lifecycle as service
from annotation.services.campaigns import removal
from annotation.services.campaigns.campaign_files import format_publication
from annotation.services.people import accounts
from annotation.views.people_lists import accepted_page, invitations_page, members_page
from assay.formats.delimited import escape_formula
from assay.formats.errors import FormatError
from assay.formats.sets import format_settings
from pooling.permissions import SignedInRequest
from pooling.platform.deletion import count_dependent_rows
from pooling.platform.listing import ListPage, RowFilter
from pooling.platform.page_files import render_page
from pooling.platform.requests import parse_row_id
from pooling.services.matching import count_documents

STEP_KEYS = ["files", "pool", "rules", "scale", "guidelines", "people", "open"]


@login_required
@require_safe
def index(request: SignedInRequest) -> HttpResponse:
    """List all campaigns that the user manages."""
    mine = Campaign.objects.select_related("collection", "pool")
    if not request.user.is_superuser:
        mine = mine.filter(
            memberships__user=request.user, memberships__role=Membership.Role.MANAGER
        )
    states = [(value, str(label)) for value, label in Campaign.State.choices]
    state = RowFilter("state", _("Status"), states, lambda rows, value: rows.filter(state=value))
    shown = ListPage(
        request,
        mine,
        search=("name", "collection__name"),
        sort={
            "name": "name",
            "state": "state",
            "collection": "collection__name",
            "pairs": "n_pairs",
            "per_pair": "judgements_per_pair",
            "deadline": "deadline",
        },
        choices=[state],
    )
    return render_page(
        request,
        "annotation/campaigns.html",
        {"campaigns": shown, "may_create": can_create(request)},
    )


@login_required
@require_safe
def settings(request: SignedInRequest, slug: str) -> HttpResponse:
    """Redirect to the first incomplete step of a draft, or else to the general settings."""
    campaign = get_managed_campaign(request, slug)
    steps = get_campaign_steps(campaign) if campaign.state == Campaign.State.DRAFT else []
    first = next((step.key for step in steps if step.missing), "rules")
    return redirect("campaign-step", slug, first)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def step(request: SignedInRequest, slug: str, key: str) -> HttpResponse:
    campaign = get_managed_campaign(request, slug)
    if key not in STEP_VIEWS:
        raise Http404("Step not found.")
    if key == "people" and campaign.state != Campaign.State.DRAFT and request.method != "POST":
        return redirect("campaign-invite", slug)
    return STEP_VIEWS[key](request, campaign)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def invitations(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the invitations and members of a campaign. During setup, this page is one of
    the steps."""
    return _people_step(request, get_managed_campaign(request, slug))


def _render_step(
    request: SignedInRequest,
    campaign: Campaign,
    key: str,
    context: Mapping[str, object],
    *,
    bad: bool = False,
) -> HttpResponse:
    is_draft = campaign.state == Campaign.State.DRAFT
    frame = {
        "campaign": campaign,
        "steps": get_campaign_steps(campaign) if is_draft else [],
        "key": key,
        "tab": "settings" if is_draft or key == "rules" else f"settings-{key}",
    }
    return render_page(
        request, f"annotation/campaign_{key}.html", {**frame, **context}, status=400 if bad else 200
    )


def _redirect_after_save(request: SignedInRequest, campaign: Campaign, key: str) -> HttpResponse:
    """Redirect to the next step while the campaign is being created, and otherwise to the same
    page."""
    messages.success(request, _("Saved."))
    if "onward" in request.POST and campaign.state == Campaign.State.DRAFT:
        return redirect("campaign-step", campaign.slug, STEP_KEYS[STEP_KEYS.index(key) + 1])
    return redirect("campaign-step", campaign.slug, key)


def _files_step(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    collection = campaign.collection
    removed = collection.topics.exclude(removed_reason="").count()
    counts = {
        "n_topics": collection.topics.count() - removed,
        "n_removed": removed,
        "n_undecided": collection.topics.exclude(proposal="")
        .filter(decided_at=None, removed_reason="")
        .count(),
        "n_runs": collection.runs.count(),
        "n_files": collection.document_files.count(),
        "n_pools": collection.pools.count(),
        "n_documents": count_documents(collection),
    }
    return _render_step(request, campaign, "files", counts)


def _pool_step(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    form = CampaignPoolForm(campaign, request.POST or None, initial={"pool": campaign.pool_id})
    if request.method == "POST" and form.is_valid():
        try:
            if form.cleaned_data["settings"]:
                service.apply_pool_settings(campaign, form.cleaned_data["pool"], actor=request.user)
            service.set_pool(campaign, form.cleaned_data["pool"], actor=request.user)
        except service.CampaignError as error:
            form.add_error("pool", str(error))
        else:
            return _redirect_after_save(request, campaign, "pool")
    pools: list[Any] = list(
        campaign.collection.pools.filter(n_pairs__gt=0).prefetch_related("runs")
    )
    for pool in pools:
        pool.n_judgements = pool.n_pairs * campaign.judgements_per_pair
        pool.suggestion = (
            format_settings(pool.suggested) if campaign.state == Campaign.State.DRAFT else ""
        )
        pool.hours = pool.n_judgements * campaign.expected_seconds / 3600
    offered = any(pool.suggestion for pool in pools)
    return _render_step(
        request,
        campaign,
        "pool",
        {"form": form, "pools": pools, "offered": offered},
        bad=bool(form.errors),
    )


def _rules_step(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    # a copy, because the form changes its instance
    form = RulesForm(request.POST or None, instance=Campaign.objects.get(pk=campaign.pk))
    if request.method == "POST" and form.is_valid():
        per_pair, missing = campaign.judgements_per_pair, count_missing_judgements(campaign)
        try:
            service.update_campaign(campaign, actor=request.user, **form.cleaned_data)
        except service.CampaignError as error:
            form.add_error(None, str(error))
        else:
            if campaign.judgements_per_pair != per_pair and campaign.n_pairs:
                messages.info(request, _describe_effect(campaign, per_pair, missing))
            return _redirect_after_save(request, campaign, "rules")
    context = {
        "form": form,
        "grades": campaign.scale,
        "bands": preview_rank_windows(campaign),
        "contradicting": check_time_settings(campaign),
        "has_llm_judges": has_llm_judges(campaign),
    }
    return _render_step(request, campaign, "rules", context, bad=bool(form.errors))


def _describe_effect(campaign: Campaign, per_pair: int, missing: int) -> str:
    """Describe the effect of changing the judgements per pair: how many judgements are missing now,
    and how many were before."""
    now = count_missing_judgements(campaign)
    n = campaign.judgements_per_pair
    if now < missing:
        says = _(
            "Judgements per pair: %(n)s (previously %(before)s). Missing judgements: %(now)s "
            "(previously %(missing)s). This saves about %(hours)s hours at %(seconds)s seconds "
            "per judgement. Existing judgements still count."
        )
    else:
        says = _(
            "Judgements per pair: %(n)s (previously %(before)s). Missing judgements: %(now)s "
            "(previously %(missing)s). This takes about %(hours)s more hours at %(seconds)s "
            "seconds per judgement. Existing judgements still count."
        )
    return says % {
        "before": per_pair,
        "n": n,
        "now": f"{now:,}",
        "missing": f"{missing:,}",
        "hours": f"{abs(now - missing) * campaign.expected_seconds / 3600:,.1f}",
        "seconds": f"{campaign.expected_seconds:g}",
    }


def _scale_step(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    initial = [{**grade} for grade in campaign.scale] + [
        {} for _ in range(MOST_GRADES - len(campaign.scale))
    ]
    forms = cast(BaseScale, ScaleFormSet(request.POST or None, initial=initial))
    questions = cast(
        BaseFurtherQuestions,
        FurtherQuestionFormSet(
            request.POST if "questions-TOTAL_FORMS" in request.POST else None,
            initial=make_initial(campaign.further_questions),
            prefix="questions",
            form_kwargs={"scale": campaign.scale},
        ),
    )
    context = {"forms": forms, "questions": questions, "presets": DEFAULT_NAMES}
    is_valid = forms.is_valid() and (questions.is_valid() or not questions.is_bound)
    if request.method == "POST" and is_valid:
        given = (
            {"further_questions": questions.questions(campaign.further_questions)}
            if questions.is_bound
            else {}
        )
        try:
            for sentence in service.save_scale(
                campaign, forms.scale(), actor=request.user, **given
            ):
                messages.info(request, sentence)
        except service.CampaignError as error:
            return _render_step(
                request, campaign, "scale", {**context, "error": str(error)}, bad=True
            )
        return _redirect_after_save(request, campaign, "scale")
    return _render_step(request, campaign, "scale", context, bad=forms.is_bound)


def _guidelines_step(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    newest = campaign.guidelines.last()
    text = (
        newest.text
        if newest
        else guidelines_text(campaign.scale, spans=campaign.spans, spans_from=campaign.spans_from)
    )
    initial = {"text": text, "consent_text": campaign.consent_text}
    form = GuidelineForm(request.POST or None, initial=initial)
    preview = None
    if request.method == "POST" and form.is_valid():
        if "preview" in request.POST:
            preview = markdown(form.cleaned_data["text"])
        else:
            service.save_guideline(
                campaign,
                form.cleaned_data["text"],
                note=form.cleaned_data["note"],
                actor=request.user,
            )
            service.update_campaign(
                campaign, actor=request.user, consent_text=form.cleaned_data["consent_text"]
            )
            return _redirect_after_save(request, campaign, "guidelines")
    context = {
        "form": form,
        "newest": newest,
        "preview": preview,
        "versions": campaign.guidelines.order_by("-number"),
    }
    return _render_step(request, campaign, "guidelines", context, bad=bool(form.errors))


def _people_step(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    action = request.POST.get("action", "")
    is_draft = campaign.state == Campaign.State.DRAFT
    here = (
        reverse("campaign-step", args=[campaign.slug, "people"])
        if is_draft
        else reverse("campaign-invite", args=[campaign.slug])
    )
    link_form = InvitationForm(request.POST if action == "link" else None)
    names_form = NamesForm(
        request.POST if action == "names" else None, request.FILES if action == "names" else None
    )
    problems: list[str] = []
    if action == "link" and link_form.is_valid():
        accounts.create_invitation(campaign=campaign, actor=request.user, **link_form.cleaned_data)
        if request.POST.get("back") == "campaign":
            return redirect("campaign", campaign.slug)
        return redirect(here)
    if action == "names" and names_form.is_valid():
        upload = names_form.cleaned_data["file"]
        try:
            text = upload.read().decode("utf-8") if upload else names_form.cleaned_data["names"]
            invited = accounts.create_invitations(
                campaign=campaign,
                actor=request.user,
                people=accounts.read_names(text, file=upload.name if upload else "names"),
            )
        except UnicodeDecodeError:
            problems = [f"{upload.name}: not UTF-8; save it as “CSV UTF-8” and try again"]
        except FormatError as error:
            problems = error.lines()
        else:
            messages.success(
                request, _("Created %(invited)s personal invitations.") % {"invited": len(invited)}
            )
            return redirect(here)
    if action == "revoke":
        accounts.revoke_invitation(
            invitation=get_object_or_404(
                Invitation, campaign=campaign, pk=parse_row_id(request.POST.get("invitation"))
            ),
            actor=request.user,
        )
        messages.success(request, _("Invitation withdrawn."))
        return redirect(request.get_full_path())
    invitations, members = invitations_page(request, campaign), members_page(request, campaign)
    for invitation in invitations:
        invitation.address = request.build_absolute_uri(reverse("join", args=[invitation.token]))
    accepted = accepted_page(request, campaign)
    context = {
        **({} if is_draft else {"tab": "invitations", "steps": []}),
        "link_form": link_form,
        "names_form": names_form,
        "problems": problems,
        "invitations": invitations,
        "accepted": accepted,
        "members": members,
    }
    bad = bool(problems) or any(form.is_bound and form.errors for form in (link_form, names_form))
    return _render_step(request, campaign, "people", context, bad=bad)


def _publication_step(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Show and change the publication metadata, which are not required to open a campaign."""
    stored = Publication.read(campaign.publication)
    forms = PublicationForms(request.POST or None, stored)
    if request.method == "POST" and (publication := forms.read()) is not None:
        if publication != stored:
            service.update_campaign(campaign, actor=request.user, publication=publication.as_json())
        messages.success(request, _("Saved."))
        return redirect("campaign-step", campaign.slug, "publication")
    missing = [
        {
            **finding._asdict(),
            "label": LABELS[finding.key],
            "anchor": finding.key if finding.key == "authors" else f"id_{finding.key}",
        }
        for finding in stored.find_missing(documents=True)
    ]
    context = {
        "tab": "settings-publication",
        "steps": [],
        "main": forms.main,
        "authors": forms.authors,
        "licenses": COMMON_LICENSES,
        "required": [finding for finding in missing if finding["required"]],
        "recommended": [finding for finding in missing if not finding["required"]],
        "toml": format_publication(stored) if campaign.publication else "",
    }
    return _render_step(request, campaign, "publication", context, bad=request.method == "POST")


def _open_step(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    context: dict[str, Any] = {
        "n_open": get_kept_pairs(campaign)
        .filter(open_slots__gt=0)
        .exclude(kind=Pair.Kind.QUALIFICATION)
        .count(),
        "n_held_back": count_pairs_without_text(campaign),
        "may_create": can_create(request),
        "deletable": campaign.state in removal.DELETABLE,
    }
    if context["deletable"]:
        context |= {
            "n_made": removal.count_judgements(campaign),
            "goes": count_dependent_rows(campaign),
        }
    return _render_step(request, campaign, "open", context)


STEP_VIEWS = {
    "files": _files_step,
    "pool": _pool_step,
    "rules": _rules_step,
    "scale": _scale_step,
    "guidelines": _guidelines_step,
    "people": _people_step,
    "publication": _publication_step,
    "open": _open_step,
}


@login_required
@require_POST
def change_state(request: SignedInRequest, slug: str) -> HttpResponse:
    """Open, pause, resume or close the campaign."""
    campaign = get_managed_campaign(request, slug)
    action = request.POST.get("action", "")
    try:
        if action == "open":
            service.open_campaign(campaign, actor=request.user)
        elif action == "pause":
            service.pause_campaign(
                campaign, reason=request.POST.get("reason", ""), actor=request.user
            )
        elif action == "resume":
            service.resume_campaign(campaign, actor=request.user)
        elif action == "close":
            service.close_campaign(campaign, actor=request.user)
        else:
            raise Http404("Unknown action.")
    except service.CampaignError as error:
        messages.error(request, str(error))
        return redirect("campaign", slug)
    messages.success(
        request,
        {
            "open": _("Campaign opened."),
            "pause": _("Campaign paused."),
            "resume": _("Campaign reopened."),
            "close": _("Campaign closed."),
        }[action],
    )
    return redirect("campaign", slug)


@login_required
@require_POST
def delete(request: SignedInRequest, slug: str) -> HttpResponse:
    campaign = get_managed_campaign(request, slug)
    if request.POST.get("confirm") != campaign.slug:
        messages.error(
            request, _("Type %(slug)s to delete the campaign.") % {"slug": campaign.slug}
        )
        return redirect("campaign-step", slug, "open")
    try:
        n = removal.delete_campaign(campaign, actor=request.user)
    except service.CampaignError as error:
        messages.error(request, str(error))
        return redirect("campaign-step", slug, "open")
    deleted = (
        ngettext(
            "Deleted %(name)s and %(n)s judgement.",
            "Deleted %(name)s and %(n)s judgements.",
            n,
        )
        if n
        else _("Deleted %(name)s.")
    )
    messages.success(request, deleted % {"name": campaign.name, "n": f"{n:,}"})
    return redirect("campaigns")


@login_required
@require_safe
def guideline(request: SignedInRequest, slug: str, number: int) -> HttpResponse:
    """Show one version of the guidelines to members."""
    campaign = get_managed_campaign(request, slug)
    version = get_object_or_404(campaign.guidelines, number=number)
    return render_page(
        request,
        "annotation/guideline.html",
        {
            "campaign": campaign,
            "version": version,
            "html": markdown(version.text),
            "tab": "settings",
        },
    )


@login_required
@require_safe
def invitation_links(request: SignedInRequest, slug: str) -> HttpResponse:
    """Return the open personal invitations as CSV: name, email, link, code."""
    campaign = get_managed_campaign(request, slug)
    response = HttpResponse(
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{campaign.slug}-invitations.csv"'},
    )
    writer = csv.writer(response)
    writer.writerow(["name", "email", "link", "code", "used"])
    for invitation in campaign.invitations.filter(revoked_at=None).order_by("created_at"):
        link = request.build_absolute_uri(reverse("join", args=[invitation.token]))
        writer.writerow(
            [
                escape_formula(invitation.name),
                escape_formula(invitation.email),
                link,
                invitation.code,
                invitation.n_uses,
            ]
        )
    return response

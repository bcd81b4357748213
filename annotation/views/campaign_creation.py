"""Pages for creating a campaign in one step, duplicating one, and adding control pairs from qrels
or a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from annotation.core.cost_estimate import estimate_workload
from annotation.forms_campaign_creation import (
    ALL_PRESETS,
    PREFILLED,
    KnownPairsForm,
    NewCampaignForm,
)
from annotation.models import Campaign
from annotation.permissions import can_create, get_managed_campaign
from annotation.selectors.qualification import get_single_key_warnings
from annotation.services.campaigns import campaign_creation, control_pairs
from annotation.services.campaigns import lifecycle as service
from annotation.services.errors import CampaignError
from assay.formats.errors import FormatError
from pooling.permissions import SignedInRequest
from pooling.platform.page_files import render_page

KEPT_KEY = "new_campaign"
"""Session key of what was typed for a new campaign before the user left to upload files."""
DEFAULT_SECONDS: float = Campaign._meta.get_field("expected_seconds").default


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: SignedInRequest) -> HttpResponse:
    """Create a campaign from a preset and a pool, ready to try and open.

    way: `once` creates the campaign, `files` keeps the input and redirects to a new collection,
    `discard` deletes kept input, `grades` returns the page with the question how the grades of the
    chosen qrels or file map to the scale. Without `way`, an empty campaign is created to set up step by
    step. A GET with the values of fields returns the page for them, from which the browser takes
    the parts that change.
    """
    if not can_create(request):
        raise PermissionDenied(
            _("You can't create campaigns. Ask an administrator for permission.")
        )
    kept = request.session.get(KEPT_KEY, {})
    if "pool" in request.GET and "collection" not in request.GET:
        kept = {name: value for name, value in kept.items() if name not in ("pool", "collection")}
    first = NewCampaignForm.beginning(request.user, kept | request.GET.dict())
    form = NewCampaignForm(request.user, request.POST or None, request.FILES or None, initial=first)
    way = request.POST.get("way")
    if way == "discard":
        request.session.pop(KEPT_KEY, None)
        return redirect("campaign-new")
    if way == "files":
        request.session[KEPT_KEY] = form.kept_values()
        messages.info(
            request,
            _(
                "Your entries for the new campaign are kept. To return to them, choose New "
                "campaign."
            ),
        )
        return redirect("collection-new")
    if way == "grades":
        form.check_known_grades()
    elif request.method == "POST" and form.is_valid():
        if not form.creates_immediately:
            campaign = service.create_campaign(
                name=form.cleaned_data["name"],
                collection=form.cleaned_data["collection"],
                actor=request.user,
            )
            return redirect("campaign-step", campaign.slug, "files")
        try:
            campaign, taken = campaign_creation.start_campaign(
                actor=request.user, **form.call_arguments()
            )
        except control_pairs.GradesInDoubt as doubt:
            form.ask_for_grades(doubt)
        except (CampaignError, FormatError) as error:
            form.add_error(None, str(error))
        else:
            request.session.pop(KEPT_KEY, None)
            if taken is not None:
                messages.info(request, taken.sentence())
            return redirect("campaign", campaign.slug)
    context = {
        "form": form,
        "presets": form.offered_presets,
        "texts": [(preset.key, form.get_guidelines(preset)) for preset in ALL_PRESETS.values()],
        "examples": form.examples(),
        "grades": form.chosen_preset.settings["scale"],
        "cost": estimate_cost(form),
        "is_restored": bool(kept),
    }
    return render_page(
        request,
        "annotation/campaign_new.html",
        context,
        status=400 if way != "grades" and (form.errors or form.doubt) else 200,
    )


@dataclass(frozen=True)
class CampaignCost:
    """The cost of a campaign. annotators: needed to reach the target, None without a target.
    hours_each: per annotator. cheaper: hours with one judgement per pair less, None with one."""

    n_pairs: int
    per_pair: int
    judgements: int
    hours: float
    seconds: float
    annotators: int | None
    hours_each: float | None
    cheaper: float | None


def estimate_cost(form: NewCampaignForm) -> CampaignCost | None:
    """Return the cost of the campaign on the page, or None without a pool or with wrong numbers."""
    pool = form.chosen_pool
    numbers = [str(form[name].value() or 0) for name in PREFILLED]
    if (
        pool is None
        or not pool.n_pairs
        or not all(one.isascii() and one.isdigit() for one in numbers)
    ):
        return None
    settings = form.chosen_preset.settings
    per_pair, target = int(numbers[0]) or settings["judgements_per_pair"], int(numbers[1])
    seconds = settings.get("expected_seconds", DEFAULT_SECONDS)
    work = estimate_workload(pool.n_pairs, per_pair=per_pair, target=target)
    hours = work.judgements * seconds / 3600
    return CampaignCost(
        n_pairs=pool.n_pairs,
        per_pair=per_pair,
        judgements=work.judgements,
        hours=hours,
        seconds=seconds,
        annotators=work.annotators,
        hours_each=min(target, pool.n_pairs) * seconds / 3600 if target else None,
        cheaper=hours * (per_pair - 1) / per_pair if per_pair > 1 else None,
    )


def warn_of_single_key(request: SignedInRequest, campaign: Campaign) -> None:
    for says in get_single_key_warnings(campaign):
        messages.warning(request, says)


@login_required
@require_POST
def duplicate(request: SignedInRequest, slug: str) -> HttpResponse:
    """Duplicate a campaign without its judgements. people: include its annotators."""
    campaign = get_managed_campaign(request, slug)
    if not can_create(request):
        raise PermissionDenied(
            _("You can't create campaigns. Ask an administrator for permission.")
        )
    name = request.POST.get("name", "").strip()[:200] or f"{campaign.name[:190]} (copy)"
    try:
        copy = campaign_creation.duplicate_campaign(
            campaign, name=name, actor=request.user, with_people="people" in request.POST
        )
    except CampaignError as error:
        messages.error(request, str(error))
        return redirect("campaign-step", slug, "open")
    messages.success(
        request,
        _("Created the draft %(name)s with the settings of %(campaign_name)s.")
        % {"name": copy.name, "campaign_name": campaign.name},
    )
    return redirect("campaign", copy.slug)


@login_required
@require_POST
def known(request: SignedInRequest, slug: str) -> HttpResponse:
    """Add gold and qualification pairs from qrels of the collection or from a file."""
    campaign = get_managed_campaign(request, slug)
    form = KnownPairsForm(campaign.collection, request.POST, request.FILES)
    try:
        if not form.is_valid():
            raise CampaignError(
                " ".join(str(error) for errors in form.errors.values() for error in errors)
            )
        counts: dict[str, Any] = {
            name: form.cleaned_data[name] or 0 for name in ("n_gold", "n_qualification")
        }
        taken = control_pairs.add_known_pairs(
            campaign,
            form.rows(),
            counts_as=form.counts_as(),
            replace=form.cleaned_data["replace"],
            actor=request.user,
            **counts,
        )
    except control_pairs.GradesInDoubt as doubt:
        form.ask_for_grades(doubt)
        return render_page(
            request,
            "annotation/campaign_known_pairs.html",
            {"campaign": campaign, "form": form},
            status=400,
        )
    except (CampaignError, FormatError) as error:
        messages.error(request, str(error))
    else:
        messages.success(request, taken.sentence())
        warn_of_single_key(request, campaign)
    return redirect("campaign-gold", slug)

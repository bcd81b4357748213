"""Steps, workload and contradictions of a draft campaign."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.core.audit_actions import AuditAction
from annotation.core.cost_estimate import (
    Workload,
    estimate_workload,
    max_calendar_days,
    max_judgements_in_time,
)
from annotation.core.limits import find_time_contradictions
from annotation.models import AuditEvent, Campaign, Membership, Pair
from annotation.models.campaigns import default_scale
from annotation.selectors.pairs import get_special_pairs

TIME_SETTINGS = (
    "min_active_seconds",
    "idle_seconds",
    "expected_seconds",
    "lease_minutes",
    "pause_after_fast",
)


@dataclass(frozen=True)
class CampaignStep:
    """A step towards an open campaign. missing: what must still be done, empty if complete."""

    key: str
    title: str
    missing: str


class DraftContradiction(NamedTuple):
    """A contradiction between settings of a draft campaign. step: key of the settings step that can
    fix it, or `gold` for the page of control pairs."""

    step: str
    says: str


def find_contradictions(campaign: Campaign) -> list[DraftContradiction]:
    """Find settings of a draft that would mislead annotators or leave pairs without labels. Empty
    if the campaign can be opened."""
    return [
        *_check_guidelines(campaign),
        *_check_qualification(campaign),
        *_check_grades(campaign),
        *_check_times(campaign),
        *_check_limits(campaign),
    ]


def check_time_settings(campaign: Campaign) -> list[str]:
    """Check a campaign's time settings and return a sentence per contradiction. A draft with them
    cannot be opened, and a running campaign shows a warning."""
    return find_time_contradictions({name: getattr(campaign, name) for name in TIME_SETTINGS})


def _check_times(campaign: Campaign) -> list[DraftContradiction]:
    return [DraftContradiction("rules", says) for says in check_time_settings(campaign)]


def _check_guidelines(campaign: Campaign) -> list[DraftContradiction]:
    """Check that the guidelines explain no grade that has been removed from the scale."""
    newest = campaign.guidelines.order_by("number").last()
    if newest is None:
        return []
    current = {str(grade["name"]).casefold() for grade in campaign.scale}
    former = {
        str(grade["name"])
        for scale in [default_scale(), *_list_former_scales(campaign)]
        for grade in scale
    }
    gone = sorted(
        name
        for name in former
        if name.casefold() not in current
        and re.search(rf"\*\*{re.escape(name)}\*\*", newest.text, re.IGNORECASE)
    )
    if not gone:
        return []
    listed, grades = (
        ", ".join(f"“{name}”" for name in gone),
        ", ".join(str(grade["name"]) for grade in campaign.scale),
    )
    says = _(
        "The guidelines explain %(names)s, but the scale has only these grades: %(grades)s. "
        "Change the guidelines or the scale."
    )
    return [DraftContradiction("guidelines", says % {"names": listed, "grades": grades})]


def _list_former_scales(campaign: Campaign) -> list[list[dict[str, object]]]:
    rows = AuditEvent.objects.filter(
        campaign=campaign, action=AuditAction.CHANGED_SETTINGS
    ).values_list("details", flat=True)
    return [
        details["changes"]["scale"][0] for details in rows if "scale" in details.get("changes", {})
    ]


def _check_qualification(campaign: Campaign) -> list[DraftContradiction]:
    n = get_special_pairs(campaign, Pair.Kind.QUALIFICATION).count()
    if campaign.qualification_pass and not n:
        bar = f"{100 * campaign.qualification_pass:g}%"
        says = _(
            "The qualification pass mark is %(share)s, but there are no qualification "
            "questions. Select some, or set the pass mark to 0."
        )
        return [DraftContradiction("gold", says % {"share": bar})]
    if n and not campaign.qualification_pass:
        says = ngettext(
            "There is %(n)s qualification question but no pass mark, so annotators would "
            "skip it. Set a pass mark.",
            (
                "There are %(n)s qualification questions but no pass mark, so annotators would "
                "skip them. Set a pass mark."
            ),
            n,
        )
        return [DraftContradiction("rules", says % {"n": f"{n:,}"})]
    return []


def _check_grades(campaign: Campaign) -> list[DraftContradiction]:
    contradictions = []
    known = {
        grade
        for grade in campaign.pairs.exclude(gold_grade=None).values_list("gold_grade", flat=True)
        if grade is not None
    }
    if lost := known - {int(grade["value"]) for grade in campaign.scale}:
        says = _(
            "These known grades are not on the scale: %(grades)s. Change these grades or the scale."
        ) % {"grades": ", ".join(map(str, sorted(lost)))}
        contradictions.append(DraftContradiction("gold", says))
    if campaign.spans == Campaign.Spans.REQUIRED and campaign.spans_from > int(
        campaign.scale[-1]["value"]
    ):
        says = _(
            "Passages are required from grade %(spans_from)s, which is not on the scale. "
            "Choose a grade on the scale."
        ) % {"spans_from": campaign.spans_from}
        contradictions.append(DraftContradiction("rules", says))
    return contradictions


def _check_limits(campaign: Campaign) -> list[DraftContradiction]:
    """Check that the daily limit allows annotators to reach the target by the deadline."""
    limit, wanted, now = (
        campaign.daily_limit,
        min(campaign.target_per_annotator, campaign.n_pairs),
        timezone.now(),
    )
    if limit is None or campaign.deadline is None or campaign.deadline <= now:
        return []
    days = max_calendar_days(campaign.deadline - now)
    if limit * days >= wanted:
        return []
    figures = {
        "wanted": f"{wanted:,}",
        "limit": f"{limit:,}",
        "days": f"{days:,}",
        "most": f"{limit * days:,}",
    }
    says = _(
        "Each annotator is asked for %(wanted)s judgements but may make only %(limit)s per "
        "day, at most %(most)s in the %(days)s days until the deadline. Raise the daily "
        "limit, extend the deadline or lower the target."
    )
    return [DraftContradiction("rules", says % figures)]


def capacity_warning(campaign: Campaign, needed: int) -> str:
    """Return a sentence if the daily limits of the current annotators allow fewer judgements by the
    deadline than needed, otherwise an empty string."""
    now = timezone.now()
    if campaign.deadline is None or campaign.deadline <= now:
        return ""
    annotators = list(
        campaign.memberships.filter(role=Membership.Role.ANNOTATOR, status=Membership.Status.ACTIVE)
    )
    for one in annotators:
        one.campaign = campaign  # provides the target and limit of annotators without their own
    bounds = [
        (None if campaign.continue_after_target else one.goal, one.day_limit) for one in annotators
    ]
    most = max_judgements_in_time(
        bounds, n_days=max_calendar_days(campaign.deadline - now), n_pairs=campaign.n_pairs
    )
    if most >= needed or all(limit is None for _target, limit in bounds):
        return ""
    says = ngettext(
        "With the daily limit, %(n)s annotator can make at most %(most)s of %(needed)s "
        "judgements by the deadline. Invite more annotators, raise the limit or extend the "
        "deadline.",
        (
            "With the daily limit, %(n)s annotators can make at most %(most)s of %(needed)s "
            "judgements by the deadline. Invite more annotators, raise the limit or extend the "
            "deadline."
        ),
        len(annotators),
    )
    return says % {"n": f"{len(annotators):,}", "most": f"{most:,}", "needed": f"{needed:,}"}


def get_campaign_steps(campaign: Campaign) -> list[CampaignStep]:
    """Return the steps towards an open campaign, in order."""
    collection = campaign.collection
    pairs_there = collection.runs.exists() or collection.pools.exists()
    files = [
        name
        for name, exists in ((_("topics"), collection.topics.exists()), (_("runs"), pairs_there))
        if not exists
    ]
    if not collection.document_files.exists() and not collection.documents.exists():
        files.append(_("documents"))
    annotators = campaign.memberships.filter(role=Membership.Role.ANNOTATOR).exists()
    invited = annotators or campaign.invitations.filter(revoked_at=None).exists()
    version = campaign.guidelines.last()
    return [
        CampaignStep(
            "files",
            _("Files"),
            _("%(files)s to import") % {"files": _join_words(files)} if files else "",
        ),
        CampaignStep("pool", _("Pool"), "" if campaign.pool_id else _("no pool chosen")),
        CampaignStep("rules", _("General"), ""),
        CampaignStep("scale", _("Scale"), ""),
        CampaignStep("guidelines", _("Guidelines"), "" if version else _("no text yet")),
        CampaignStep("people", _("People"), "" if invited else _("no annotators invited")),
        CampaignStep(
            "open", _("Open"), "" if campaign.state != Campaign.State.DRAFT else _("not open yet")
        ),
    ]


def _join_words(words: list[str]) -> str:
    return (
        words[0]
        if len(words) == 1
        else _("%(first)s and %(last)s") % {"first": ", ".join(words[:-1]), "last": words[-1]}
        if words
        else ""
    )


def estimate_campaign_workload(campaign: Campaign) -> Workload:
    """Estimate the judgements and annotators that the campaign needs with its current settings."""
    n_qualification = get_special_pairs(campaign, Pair.Kind.QUALIFICATION).count()
    n_special = campaign.n_gold + campaign.n_everyone
    return estimate_workload(
        campaign.n_pairs - n_special - n_qualification,
        per_pair=campaign.judgements_per_pair,
        n_special=n_special,
        gold_every=campaign.gold_every,
        target=campaign.target_per_annotator,
    )

"""Whether what a campaign asks for and what it says fit together: looked at before it opens."""

from __future__ import annotations

import re
from typing import NamedTuple

from annotation.core.audit_actions import AuditAction
from annotation.core.rules import time_contradictions
from annotation.models import AuditEvent, Campaign, Pair
from annotation.models.campaigns import default_scale
from annotation.selectors.pairs import special_pairs

TIMES = ("min_active_seconds", "idle_seconds", "expected_seconds", "lease_minutes", "pause_after_fast")


class DraftContradiction(NamedTuple):
    """step: the key of the settings step where it is mended, or `gold` for the page of known pairs."""

    step: str
    says: str


def contradictions(campaign: Campaign) -> list[DraftContradiction]:
    """What would mislead annotators or leave pairs without a label, as sentences; empty when the campaign may open."""
    return [*_guidelines(campaign), *_qualification(campaign), *_grades(campaign), *_times(campaign)]


def contradicting_times(campaign: Campaign) -> list[str]:
    """Times among its rules that cannot hold together: a draft does not open with them, a running campaign is warned."""
    return time_contradictions({name: getattr(campaign, name) for name in TIMES})


def _times(campaign: Campaign) -> list[DraftContradiction]:
    return [DraftContradiction("rules", says) for says in contradicting_times(campaign)]


def _guidelines(campaign: Campaign) -> list[DraftContradiction]:
    """Guidelines that explain a grade which the scale had before, or begins with, and has no more."""
    newest = campaign.guidelines.order_by("number").last()
    if newest is None:
        return []
    current = {str(grade["name"]).casefold() for grade in campaign.scale}
    former = {str(grade["name"]) for scale in [default_scale(), *_former_scales(campaign)] for grade in scale}
    gone = sorted(name for name in former if name.casefold() not in current and re.search(rf"\*\*{re.escape(name)}\*\*", newest.text, re.IGNORECASE))
    if not gone:
        return []
    listed, grades = ", ".join(f"“{name}”" for name in gone), ", ".join(str(grade["name"]) for grade in campaign.scale)
    return [DraftContradiction("guidelines", f"The guidelines explain {listed}, which is no grade of the scale ({grades}).")]


def _former_scales(campaign: Campaign) -> list[list[dict[str, object]]]:
    rows = AuditEvent.objects.filter(campaign=campaign, action=AuditAction.CHANGED_SETTINGS).values_list("details", flat=True)
    return [details["changes"]["scale"][0] for details in rows if "scale" in details.get("changes", {})]


def _qualification(campaign: Campaign) -> list[DraftContradiction]:
    n = special_pairs(campaign, Pair.Kind.QUALIFICATION).count()
    if campaign.qualification_pass and not n:
        bar = f"{100 * campaign.qualification_pass:g} %"
        return [DraftContradiction("gold", f"{bar} of the qualification pairs have to be right, and there is none: choose some, or ask for no qualification.")]
    if n and not campaign.qualification_pass:
        pairs = f"{n:,} qualification pair{'' if n == 1 else 's'}"
        return [DraftContradiction("rules", f"There {'is' if n == 1 else 'are'} {pairs}, and no share to get right: nobody would be asked.")]
    return []


def _grades(campaign: Campaign) -> list[DraftContradiction]:
    contradictions = []
    known = {grade for grade in campaign.pairs.exclude(gold_grade=None).values_list("gold_grade", flat=True) if grade is not None}
    if lost := known - {int(grade["value"]) for grade in campaign.scale}:
        contradictions.append(DraftContradiction("gold", f"Known grades of pairs are not in the scale: {', '.join(map(str, sorted(lost)))}."))
    if campaign.spans == Campaign.Spans.REQUIRED and campaign.spans_from > int(campaign.scale[-1]["value"]):
        contradictions.append(DraftContradiction("rules", f"Passages are required from grade {campaign.spans_from} up, and the scale ends before."))
    return contradictions

"""Checklist of what remains to be done after a campaign is closed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from analysis.dashboard.home_summary import HomeFigures
from analysis.dashboard.progress import CampaignProgress
from analysis.dashboard.to_do_list import ToDoAction, ToDoItem, ToDoKind
from annotation.core.audit_actions import AuditAction
from annotation.models import AuditEvent, Campaign


@dataclass(frozen=True)
class ChecklistStep:
    """A step of a checklist. note: its state or its purpose. action: None if there is nothing to do."""

    name: str
    note: str
    is_done: bool
    action: ToDoAction | None = None


def list_finish_steps(
    campaign: Campaign,
    now: CampaignProgress,
    figures: HomeFigures | None,
    to_do: Sequence[ToDoItem],
) -> list[ChecklistStep]:
    """Return the steps of a closed campaign in order, in one query.

    figures: None while a job computes them. to_do: items of the campaign.
    """
    done_since = set(
        AuditEvent.objects.filter(
            campaign=campaign,
            at__gte=campaign.closed_at or campaign.created_at,
            action__in=(
                AuditAction.EXPORTED,
                AuditAction.BUILT_A_RELEASE,
                AuditAction.SENT_A_MESSAGE,
            ),
        ).values_list("action", flat=True)
    )
    return [
        _closing_step(campaign, now),
        _review_step(figures, [item for item in to_do if item.kind == ToDoKind.LIKE_RANDOM]),
        _adjudication_step(figures, [item for item in to_do if item.kind == ToDoKind.DISPUTED]),
        ChecklistStep(
            _("Export qrels"),
            _("Labels for trec_eval and similar tools."),
            AuditAction.EXPORTED in done_since,
            ToDoAction.to_page(_("Export"), "campaign-export", campaign),
        ),
        ChecklistStep(
            _("Publish a release"),
            _("Qrels, judgements under pseudonyms, guidelines and a datasheet in one file."),
            AuditAction.BUILT_A_RELEASE in done_since,
            ToDoAction.to_page(_("Build release"), "campaign-export", campaign),
        ),
        ChecklistStep(
            _("Thank the annotators"),
            _("They see the message when they open the campaign."),
            AuditAction.SENT_A_MESSAGE in done_since,
            ToDoAction.to_page(_("Write message"), "campaign-people", campaign),
        ),
    ]


def _closing_step(campaign: Campaign, now: CampaignProgress) -> ChecklistStep:
    closed_at = campaign.closed_at or campaign.created_at  # of an imported campaign
    said = {"when": date_format(localtime(closed_at), "D j M Y, H:i")}
    missing = now.needed - now.counted
    note = _("Closed %(when)s. All pairs have their judgements.") % said
    if missing:
        note = ngettext(
            "Closed %(when)s. %(n)s judgement is missing.",
            "Closed %(when)s. %(n)s judgements are missing.",
            missing,
        ) % {**said, "n": f"{missing:,}"}
    return ChecklistStep(_("Close the campaign"), note, is_done=True)


def _review_step(figures: HomeFigures | None, items: Sequence[ToDoItem]) -> ChecklistStep:
    name = _("Review annotators")
    if figures is None:
        return ChecklistStep(name, _being_computed(), is_done=False)
    if not items:
        note = _("No annotator's judgements look random.")
        return ChecklistStep(name, note, is_done=True)
    first = items[0]
    note = f"{first.words}."
    if len(items) > 1:
        note = _("The judgements of %(n)s annotators look random, first %(pseudonym)s.") % {
            "n": f"{len(items):,}",
            "pseudonym": first.actions[0].about,
        }
    return ChecklistStep(name, note, is_done=False, action=first.actions[0])


def _adjudication_step(figures: HomeFigures | None, items: Sequence[ToDoItem]) -> ChecklistStep:
    name = _("Adjudicate disputed pairs")
    if figures is None:
        return ChecklistStep(name, _being_computed(), is_done=False)
    if not items:
        return ChecklistStep(name, _("No disputed pairs left."), is_done=True)
    return ChecklistStep(name, f"{items[0].words}.", is_done=False, action=items[0].actions[0])


def _being_computed() -> str:
    return _("Being computed. Reload the page in a minute.")

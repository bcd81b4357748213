"""Checklists of what remains to be done before a campaign opens and after it is closed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.urls import reverse
from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from analysis.dashboard.headline import format_moment
from analysis.dashboard.home_summary import HomeStatistics
from analysis.dashboard.progress import CampaignProgress
from analysis.dashboard.to_do_list import ToDoAction, ToDoItem, ToDoKind
from annotation.core.audit_actions import AuditAction
from annotation.core.presets import guidelines_text
from annotation.models import AuditEvent, Campaign, Pair
from annotation.selectors.drafts import get_campaign_steps
from annotation.selectors.pairs import get_special_pairs
from pooling.models import Collection


@dataclass(frozen=True)
class ChecklistStep:
    """One step of a checklist. note: its state or its purpose. action: what to do next, None if
    there is nothing to do."""

    name: str
    note: str
    is_done: bool
    action: ToDoAction | None = None
    is_optional: bool = False


def list_setup_steps(campaign: Campaign) -> list[ChecklistStep]:
    """Return the steps that prepare a draft campaign for opening, in order. The last ones are
    optional."""
    settings = {step.key: step for step in get_campaign_steps(campaign)}

    def settings_step(key: str, note: str, *, words: str = "") -> ChecklistStep:
        step = settings[key]
        words = words or (_("Add") if step.missing else _("Change"))
        action = ToDoAction(words, reverse("campaign-step", args=[campaign.slug, key]))
        note = _end_sentence(step.missing) or note
        return ChecklistStep(step.title, note, is_done=not step.missing, action=action)

    steps = [
        settings_step("files", _describe_files(campaign.collection)),
        settings_step("pool", _describe_pool(campaign)),
        settings_step("rules", _describe_rules(campaign)),
        settings_step("scale", ", ".join(str(grade["name"]) for grade in campaign.scale)),
        _guidelines_step(campaign, settings_step("guidelines", "", words=_("Write"))),
    ]
    if campaign.is_preferences:
        steps = [step for step in steps if step.name != settings["scale"].title]
    if campaign.pool_id is None:
        return steps
    n_control = get_special_pairs(campaign, Pair.Kind.GOLD, Pair.Kind.QUALIFICATION).count()
    gold = [
        ChecklistStep(
            _("Gold questions"),
            ngettext("%(n)s question.", "%(n)s questions.", n_control) % {"n": f"{n_control:,}"}
            if n_control
            else _("None. Gold questions show whether annotators understand the task."),
            is_done=n_control > 0,
            is_optional=True,
            action=ToDoAction.to_page(
                _("Change") if n_control else _("Add"), "campaign-gold", campaign
            ),
        )
    ]
    return [
        *steps,
        *([] if campaign.is_preferences else gold),
        replace(
            settings_step("people", _("Annotators can join once it opens."), words=_("Invite")),
            is_optional=True,
        ),
        ChecklistStep(
            _("Try judging"),
            _("Judge a few pairs as annotators will. Trial judgements are not saved."),
            is_done=False,
            is_optional=True,
            action=ToDoAction.to_page(_("Try judging"), "judge-try", campaign),
        ),
    ]


def _end_sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}." if words else ""


def _describe_files(collection: Collection) -> str:
    topics = collection.topics.filter(removed_reason="").count()
    runs = collection.runs.count()
    return _("%(topics)s, %(runs)s.") % {
        "topics": ngettext("%(n)s topic", "%(n)s topics", topics) % {"n": f"{topics:,}"},
        "runs": ngettext("%(n)s run", "%(n)s runs", runs) % {"n": f"{runs:,}"},
    }


def _describe_pool(campaign: Campaign) -> str:
    n = campaign.n_pairs
    return ngettext("%(n)s pair.", "%(n)s pairs.", n) % {"n": f"{n:,}"}


def _describe_rules(campaign: Campaign) -> str:
    n = campaign.judgements_per_pair
    words = ngettext("%(n)s judgement per pair.", "%(n)s judgements per pair.", n) % {"n": n}
    if campaign.deadline is None:
        return words
    due = format_moment(campaign.deadline.timestamp())
    return f"{words} {_('Deadline: %(moment)s.') % {'moment': due}}"


def _guidelines_step(campaign: Campaign, step: ChecklistStep) -> ChecklistStep:
    newest = campaign.guidelines.order_by("number").last()
    if newest is None:
        return step
    preset = guidelines_text(campaign.scale, spans=campaign.spans, spans_from=campaign.spans_from)
    if newest.text.strip() == preset.strip():
        note = _("Still the initial text. Replace the examples with pairs from your topics.")
        return replace(step, note=note, is_done=False)
    return replace(step, note=_("Version %(n)s.") % {"n": newest.number})


def list_finish_steps(
    campaign: Campaign,
    now: CampaignProgress,
    figures: HomeStatistics | None,
    to_do: Sequence[ToDoItem],
) -> list[ChecklistStep]:
    """Return the steps that remain after a campaign is closed, in order, with at most two queries.

    figures: statistics of the campaign, None while a job computes them. to_do: the campaign's items
    of the to-do list.
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
        _review_step(
            campaign, figures, [item for item in to_do if item.kind == ToDoKind.RANDOM_LIKE_FLAGS]
        ),
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


def _review_step(
    campaign: Campaign, figures: HomeStatistics | None, items: Sequence[ToDoItem]
) -> ChecklistStep:
    """Return the step to review annotators whose judgements look random. An annotator with a
    manager's note has been reviewed."""
    name = _("Review annotators")
    if figures is None:
        return ChecklistStep(name, _being_computed(), is_done=False)
    if not items:
        note = _("No annotator's judgements look random.")
        return ChecklistStep(name, note, is_done=True)
    noted = set(campaign.memberships.exclude(note="").values_list("pseudonym", flat=True))
    left = [item for item in items if item.actions[0].about not in noted]
    if not left:
        note = ngettext(
            "%(n)s annotator kept with a note.", "%(n)s annotators kept with notes.", len(items)
        ) % {"n": f"{len(items):,}"}
        return ChecklistStep(name, note, is_done=True, action=items[0].actions[0])
    note = f"{left[0].words}."
    if len(left) > 1:
        note = _(
            "The judgements of %(n)s annotators look random, for example those of %(pseudonym)s."
        ) % {
            "n": f"{len(left):,}",
            "pseudonym": left[0].actions[0].about,
        }
    note = f"{note} {_('Exclude them, or keep them with a note.')}"
    return ChecklistStep(name, note, is_done=False, action=left[0].actions[0])


def _adjudication_step(figures: HomeStatistics | None, items: Sequence[ToDoItem]) -> ChecklistStep:
    name = _("Adjudicate disputed pairs")
    if figures is None:
        return ChecklistStep(name, _being_computed(), is_done=False)
    if not items:
        return ChecklistStep(name, _("No disputed pairs left."), is_done=True)
    return ChecklistStep(name, f"{items[0].words}.", is_done=False, action=items[0].actions[0])


def _being_computed() -> str:
    return _("Being calculated. Reload the page in a minute.")

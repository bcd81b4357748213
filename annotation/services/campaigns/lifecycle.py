"""Creation, settings, states and guidelines of campaigns. Every change adds a row to the audit
trail."""

from __future__ import annotations

import secrets
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.text import slugify
from django.utils.translation import gettext as _

from annotation.core import scale as scales
from annotation.core.audit_actions import AuditAction
from annotation.core.campaign_questions import (
    CampaignQuestion,
    find_question_problems,
    read_questions,
)
from annotation.core.preferences import PREFERENCE_SCALE, TIE, Task
from annotation.core.presets import FIRA_GRADES
from annotation.core.publication import Publication
from annotation.models import Campaign, GuidelineVersion, Lease, Membership
from annotation.models.campaigns import default_scale
from annotation.selectors.drafts import find_contradictions
from annotation.selectors.pairs import get_kept_pairs
from annotation.services.audit import record_event
from annotation.services.campaigns import pairs
from annotation.services.campaigns.pairs import (  # imported for callers of this module
    add_new_pairs,
    set_pair_kind,
    set_pool,
)
from annotation.services.errors import CampaignError
from annotation.services.judging import slots
from annotation.services.people import accounts
from assay.labels.annotator_types import AnnotatorType
from pooling.models import Collection, Pool

__all__ = [
    "CampaignError",
    "add_new_pairs",
    "apply_pool_settings",
    "close_campaign",
    "create_campaign",
    "open_campaign",
    "pause_campaign",
    "resume_campaign",
    "save_guideline",
    "save_scale",
    "set_pair_kind",
    "set_pool",
    "update_campaign",
]

SETTINGS = {
    "name",
    "description",
    "scale",
    "min_relevant",
    "judgements_per_pair",
    "target_per_annotator",
    "daily_limit",
    "continue_after_target",
    "deadline",
    "grace_minutes",
    "closing_hours",
    "min_active_seconds",
    "pause_after_fast",
    "idle_seconds",
    "lease_minutes",
    "lease_window",
    "block_length",
    "band",
    "expected_seconds",
    "truncate_words",
    "spans",
    "spans_from",
    "rotate_text",
    "show_near_duplicates",
    "gold_every",
    "min_common",
    "min_partners",
    "consent_text",
    "thanks_text",
    "completion_code",
    "completion_url",
    "qualification_pass",
    "gold_rule",
    "publication",
    "further_questions",
    "task",
}
SUGGESTED_SETTINGS = {
    "target_per_annotator",
    "judgements_per_pair",
    "spans",
    "rotate_text",
}  # settings that a pool may suggest
FIXED_BY_JUDGEMENTS = {"rotate_text"}  # a change would alter what earlier judgements refer to


def create_campaign(
    *,
    name: str,
    collection: Collection,
    actor: User | None,
    slug: str = "",
    annotator_type: str = AnnotatorType.HUMAN,
    seed: int | None = None,
    joins: bool = True,
    **settings: Any,
) -> Campaign:
    """Create a draft campaign. By default, `actor` becomes its manager. settings: fields in
    SETTINGS. Raises CampaignError."""
    campaign = Campaign(
        name=name,
        collection=collection,
        created_by=actor,
        annotator_type=annotator_type,
        seed=secrets.randbelow(2**31) if seed is None else seed,
    )
    _assign_settings(campaign, settings)
    _check_settings(campaign)
    wanted = (slug or slugify(name))[:70] or "campaign"
    for number in range(1, 1000):
        campaign.slug = wanted if number == 1 else f"{wanted}-{number}"
        try:
            with transaction.atomic():
                campaign.save(force_insert=True)
                if actor is not None and joins:
                    accounts.add_member(campaign=campaign, user=actor, role=Membership.Role.MANAGER)
                record_event(
                    campaign,
                    actor,
                    AuditAction.CREATED_THE_CAMPAIGN,
                    campaign.name,
                    settings=sorted(settings),
                )
            return campaign
        except IntegrityError:
            campaign.pk = None
            if not Campaign.objects.filter(slug=campaign.slug).exists() or slug:
                raise CampaignError(
                    _("The address “%(slug)s” is already in use. Choose another address.")
                    % {"slug": campaign.slug}
                ) from None
    raise CampaignError(_("Too many campaigns have this name. Choose another name."))


def apply_pool_settings(campaign: Campaign, pool: Pool, *, actor: User | None) -> Campaign:
    """Give a draft campaign the settings stored with the pool, and the grade names of FiRA unless
    its scale has been changed: only FiRA's sets contain settings. Raises CampaignError if the
    campaign has been opened."""
    if campaign.state != Campaign.State.DRAFT:
        raise CampaignError(
            _(
                "Settings included with a pool apply only to new campaigns. Change the "
                "settings of this campaign under General."
            )
        )
    settings = {name: value for name, value in pool.suggested.items() if name in SUGGESTED_SETTINGS}
    if settings and campaign.scale == default_scale():
        settings["scale"] = [{**grade, "example": ""} for grade in FIRA_GRADES]
    return update_campaign(campaign, actor=actor, **settings)


def update_campaign(campaign: Campaign, *, actor: User | None, **settings: Any) -> Campaign:
    """Change settings, also of an open campaign. A change of the judgements per pair applies to all
    its pairs.

    Grades in use cannot be removed from the scale. Raises CampaignError, and then changes nothing.
    """
    before = {name: getattr(campaign, name) for name in settings}
    _assign_settings(campaign, settings)
    try:
        _check_settings(campaign)
        _check_against_judgements(campaign, before)
    except CampaignError:
        _assign_settings(campaign, before)
        raise
    changed = {
        name: [before[name], getattr(campaign, name)]
        for name in settings
        if before[name] != getattr(campaign, name)
    }
    if not changed:
        return campaign
    with transaction.atomic():
        campaign.save(update_fields=list(changed))
        record_event(
            campaign,
            actor,
            AuditAction.CHANGED_SETTINGS,
            ", ".join(sorted(changed)),
            changes={k: [_to_plain_value(v) for v in both] for k, both in changed.items()},
        )
    if "judgements_per_pair" in changed:
        pairs.update_needed_judgements(campaign)
    return campaign


def save_scale(
    campaign: Campaign, scale: list[dict[str, Any]], *, actor: User | None, **questions: Any
) -> list[str]:
    """Change the scale and, if given, `further_questions`. In a draft, rules that refer to grades
    beyond a shortened scale are adjusted. Returns the adjustments in words."""
    followed: dict[str, Any] = {}
    says = []
    if campaign.state == Campaign.State.DRAFT and len(scale) >= scales.FEWEST_GRADES:
        top, name = int(scale[-1]["value"]), str(scale[-1]["name"])
        if campaign.min_relevant > top:
            followed["min_relevant"] = top
            says.append(
                f"The minimum relevant grade is now {name}, because grade {campaign.min_relevant} is "
                f"no longer on the scale. Change it under General."
            )
        if campaign.spans_from > top:
            followed["spans_from"] = top
            if campaign.spans == Campaign.Spans.REQUIRED:
                says.append(f"Passages are now required from {name}. Change this under General.")
    update_campaign(campaign, actor=actor, scale=scale, **questions, **followed)
    return says


def _to_plain_value(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


def _assign_settings(campaign: Campaign, settings: dict[str, Any]) -> None:
    unknown = set(settings) - SETTINGS
    if unknown:
        raise TypeError(f"unknown settings of a campaign: {', '.join(sorted(unknown))}")
    for name, value in settings.items():
        setattr(campaign, name, value)
    if settings.get("task") == Task.PREFERENCES:
        campaign.scale, campaign.min_relevant = PREFERENCE_SCALE, TIE


def _check_settings(campaign: Campaign) -> None:
    mistakes = scales.find_scale_problems(campaign.scale, min_relevant=campaign.min_relevant)
    if not campaign.name.strip():
        mistakes.append(_("Enter a name for the campaign."))
    if campaign.judgements_per_pair < 1:
        mistakes.append(_("Judgements per pair must be at least 1."))
    if campaign.block_length < 1 or campaign.band < 1:
        mistakes.append(
            _("A topic block needs at least one pair, and a rank window at least one rank.")
        )
    if campaign.lease_minutes < 1:
        mistakes.append(_("The reservation time must be at least one minute."))
    if not 0 <= campaign.qualification_pass <= 1:
        mistakes.append(_("The qualification pass mark must be between 0 and 1."))
    if campaign.daily_limit is not None and campaign.daily_limit < 1:
        mistakes.append(_("The daily limit must be at least 1. Leave it empty for no limit."))
    if (
        campaign.min_active_seconds < 0
        or campaign.expected_seconds <= 0
        or campaign.idle_seconds < 5
    ):
        mistakes.append(
            _("Times must be positive, and the inactivity timeout must be at least 5 seconds.")
        )
    try:
        problems = Publication.read(campaign.publication).find_problems()
    except ValueError as error:
        raise CampaignError(str(error)) from None
    mistakes += [
        f"{'.'.join(map(str, path))}: {problem}, expected {expected}."
        for path, problem, expected in problems
    ]
    if campaign.is_preferences:
        mistakes += _find_preference_problems(campaign)
    problems = find_question_problems(campaign.further_questions, primary=campaign.grades)
    mistakes += [f"{problem}, expected {expected}." for _path, problem, expected in problems]
    if mistakes:
        raise CampaignError(" ".join(mistakes))


def _find_preference_problems(campaign: Campaign) -> list[str]:
    """Return the settings that a campaign of preferences has but cannot use, because they apply to
    grades."""
    unavailable = {
        _("further questions"): bool(campaign.further_questions),
        _("marked passages"): campaign.spans != Campaign.Spans.OFF,
        _("text rotation"): campaign.rotate_text,
        _("hints about near-duplicates"): campaign.show_near_duplicates,
        _("a qualification test"): campaign.qualification_pass > 0,
        _("its own scale"): campaign.scale != PREFERENCE_SCALE,
    }
    return [
        _("A preference campaign can't have %(setting)s.") % {"setting": name}
        for name, is_set in unavailable.items()
        if is_set
    ]


def _check_against_judgements(campaign: Campaign, earlier_values: dict[str, Any]) -> None:
    changed = {name for name, value in earlier_values.items() if value != getattr(campaign, name)}
    if "task" in changed:
        raise CampaignError(_("The task of a campaign can't be changed. Create another campaign."))
    if "further_questions" in changed:
        _check_changed_questions(campaign, read_questions(earlier_values["further_questions"]))
    if not changed & (FIXED_BY_JUDGEMENTS | {"scale"}):
        return
    given = (
        campaign.pairs.filter(judgements__grade__isnull=False)
        .values_list("judgements__grade", flat=True)
        .distinct()
    )
    grades = {int(grade) for grade in given if grade is not None}
    lost = grades - set(campaign.grades.values)
    if lost:
        raise CampaignError(
            _("Grade %(grade)s can't be removed from the scale because judgements use it.")
            % {"grade": min(lost)}
        )
    if grades and changed & FIXED_BY_JUDGEMENTS:
        raise CampaignError(
            _("Text rotation can't be changed because the campaign already has judgements.")
        )


def _check_changed_questions(
    campaign: Campaign, earlier_questions: tuple[CampaignQuestion, ...]
) -> None:
    """Raise CampaignError if the questions change in a way that existing answers do not allow."""
    kept = [question.fixed_by_judgements for question in earlier_questions]
    if kept == [question.fixed_by_judgements for question in campaign.questions_after_grade]:
        return
    if campaign.pairs.filter(judgements__isnull=False).exists():
        raise CampaignError(
            _(
                "The campaign already has judgements. In further questions, you can now "
                "change only the title, the question text, the names and explanations of "
                "values, and the minimum relevant value."
            )
        )


def _change_state(
    campaign: Campaign,
    actor: User | None,
    *,
    source: set[Campaign.State],
    to: str,
    action: AuditAction,
    **changes: Any,
) -> Campaign:
    """Change a campaign's state by compare-and-set, so that the second of two concurrent changes is
    refused."""
    with transaction.atomic():
        moved = Campaign.objects.filter(pk=campaign.pk, state__in=source).update(
            state=to, **changes
        )
        if not moved:
            campaign.refresh_from_db()
            raise CampaignError(
                _("This is not possible while the campaign is %(state)s.")
                % {"state": campaign.state}
            )
        record_event(
            campaign,
            actor,
            action,
            campaign.name,
            **{k: _to_plain_value(v) for k, v in changes.items()},
        )
    campaign.refresh_from_db()
    return campaign


def open_campaign(campaign: Campaign, *, actor: User | None = None) -> Campaign:
    """Open the campaign for judging. Requires pairs, a text for at least one of them, and no past
    deadline.

    Pairs without a text are held back until it is imported. A draft with contradictions is refused.
    Closed campaigns can be reopened.
    """
    if not get_kept_pairs(campaign).exists():
        raise CampaignError(_("The campaign has no pairs yet. Choose a pool first."))
    if not get_kept_pairs(campaign).filter(without_text=False).exists():
        raise CampaignError(
            _(
                "No pair has a document text, so annotators could not judge. Import the "
                "documents first."
            )
        )
    if campaign.deadline is not None and campaign.deadline <= timezone.now():
        raise CampaignError(_("The deadline has passed. Set a later deadline first."))
    if campaign.state == Campaign.State.DRAFT and (contradicting := find_contradictions(campaign)):
        raise CampaignError(" ".join(one.says for one in contradicting))
    opened = campaign.opened_at or timezone.now()
    source = {Campaign.State.DRAFT, Campaign.State.CLOSED}
    return _change_state(
        campaign,
        actor,
        source=source,
        to=Campaign.State.OPEN,
        action=AuditAction.OPENED,
        opened_at=opened,
        closed_at=None,
    )


def pause_campaign(campaign: Campaign, *, reason: str = "", actor: User | None = None) -> Campaign:
    """Pause the campaign. No new pairs are assigned, and answers for assigned pairs are still
    accepted."""
    return _change_state(
        campaign,
        actor,
        source={Campaign.State.OPEN},
        to=Campaign.State.PAUSED,
        action=AuditAction.PAUSED,
        paused_reason=reason,
    )


def resume_campaign(campaign: Campaign, *, actor: User | None = None) -> Campaign:
    return _change_state(
        campaign,
        actor,
        source={Campaign.State.PAUSED},
        to=Campaign.State.OPEN,
        action=AuditAction.RESUMED,
        paused_reason="",
    )


def close_campaign(campaign: Campaign, *, actor: User | None = None) -> Campaign:
    """Close the campaign and release its leases. Answers given before are accepted during the grace
    period."""
    now = timezone.now()
    source = {Campaign.State.OPEN, Campaign.State.PAUSED}
    _change_state(
        campaign,
        actor,
        source=source,
        to=Campaign.State.CLOSED,
        action=AuditAction.CLOSED,
        closed_at=now,
    )

    def give_back() -> None:
        rows = Lease.objects.select_for_update().filter(
            membership__campaign=campaign, state=Lease.State.LIVE
        )
        slots.end_leases(list(rows.order_by("pk")), Lease.State.RELEASED, now)

    slots.run_with_retries(give_back)
    return campaign


def save_guideline(
    campaign: Campaign,
    text: str,
    *,
    note: str = "",
    adds_example: bool = False,
    actor: User | None = None,
) -> GuidelineVersion:
    """Save a new version of the guidelines (Markdown), unless the text is unchanged.

    Annotators must read the new version before they continue. If it only adds an example, they see
    a notice of one line instead.
    """
    for _try in range(10):
        newest = campaign.guidelines.order_by("number").last()
        if newest is not None and newest.text.replace("\r\n", "\n") == text:
            return newest
        number = newest.number + 1 if newest else 1
        try:
            with transaction.atomic():
                version = GuidelineVersion.objects.create(
                    campaign=campaign,
                    number=number,
                    text=text,
                    note=note,
                    adds_example=adds_example,
                    created_by=actor,
                )
                Campaign.objects.filter(pk=campaign.pk).update(newest_guideline=number)
                campaign.newest_guideline = number
                record_event(
                    campaign, actor, AuditAction.WROTE_GUIDELINES, f"version {number}", note=note
                )
                return version
        except IntegrityError:
            continue  # another manager saved at the same time
    raise RuntimeError("no free guideline number in ten tries")

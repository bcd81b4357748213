"""Checks of running campaigns for webhook events that no single action triggers: a deadline at
risk, a completed depth, all pairs judged, and flagged annotators. The conditions are those of the
to-do list."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from analysis.dashboard.annotators import find_random_like_annotators
from analysis.dashboard.headline import is_late
from analysis.dashboard.progress import (
    CampaignProgress,
    compute_progress,
    list_fast_annotators,
)
from analysis.dashboard.to_do_list import (
    RUNNING_STATES,
    is_random_like_open,
    is_too_fast_open,
)
from analysis.judgements.live import CampaignSnapshot, get_snapshot
from annotation.core.preferences import Task
from annotation.core.webhook_messages import CHECKED_EVENTS, WebhookEvent
from annotation.models import Campaign
from annotation.selectors.paused_annotators import get_paused_by_rule
from annotation.services import webhooks
from annotation.services.webhook_events import queue_event
from assay.campaigns.flags import AGAINST_OTHERS, AT_CHANCE, GOLD_AT_CHANCE
from pooling.models import Job
from pooling.platform import jobs
from pooling.platform.jobs import ClaimedJob

CHECKS_JOB = "webhook checks"
CHECK_EVERY = timedelta(minutes=10)
REASONS = {
    AGAINST_OTHERS: "grades opposite to other annotators",
    AT_CHANCE: "agrees with others no better than chance",
    GOLD_AT_CHANCE: "answers gold questions no better than chance",
}


@dataclass(frozen=True)
class FoundEvent:
    """An event to send at most once per webhook. The fields are the arguments of `queue_event`."""

    event: WebhookEvent
    key: str
    data: dict[str, Any]
    page: str = "campaign"
    page_args: tuple[str, ...] = ()


def get_due_campaigns(now: datetime) -> QuerySet[Campaign]:
    """Return the running campaigns of graded judgements that have a webhook and are due for a
    check."""
    unchecked = Q(webhooks__checked_at=None) | Q(webhooks__checked_at__lte=now - CHECK_EVERY)
    return (
        Campaign.objects.filter(
            unchecked, state__in=RUNNING_STATES, task=Task.GRADES, webhooks__isnull=False
        )
        .distinct()
        .order_by("pk")
    )


def request_due_checks() -> list[Job]:
    """Create a job that checks the campaigns whose webhook events are due for a check, unless such
    a job is queued or running. Returns the new jobs."""
    if (
        not get_due_campaigns(timezone.now()).exists()
        or Job.objects.filter(kind=CHECKS_JOB, state__in=Job.ACTIVE).exists()
    ):
        return []
    return [jobs.enqueue(CHECKS_JOB, {}, label="Check campaigns for webhooks", user=None)]


@jobs.register_job_kind(CHECKS_JOB, unit="campaigns", figures=True, resumes=True)
def check_campaigns(work: ClaimedJob) -> dict[str, Any]:
    """Queue webhook messages for new events, and return the number of campaigns checked."""
    now = timezone.now()
    campaigns = list(get_due_campaigns(now).select_related("pool", "created_by"))
    for n_checked, campaign in enumerate(campaigns, start=1):
        wanted = webhooks.mark_checked(campaign, now)
        if wanted & CHECKED_EVENTS:
            for event in find_events(campaign):
                queue_event(
                    campaign,
                    event.event,
                    key=event.key,
                    data=event.data,
                    page=event.page,
                    page_args=event.page_args,
                )
        work.progress(n_checked)
    return {"campaigns": len(campaigns)}


def find_events(campaign: Campaign) -> list[FoundEvent]:
    """Return the webhook events that apply to a campaign now."""
    live = get_snapshot(campaign)
    now = compute_progress(campaign, live=live)
    return [*_find_progress_events(campaign, now), *_find_flagged_annotators(campaign, live)]


def _find_progress_events(campaign: Campaign, now: CampaignProgress) -> Iterator[FoundEvent]:
    missing, ahead = now.needed - now.counted, now.forecast
    if now.complete_depth:
        yield FoundEvent(
            WebhookEvent.DEPTH_COMPLETE,
            f"depth/{campaign.pool_id}/{now.complete_depth}",
            {"depth": now.complete_depth, "level": campaign.level_word},
        )
    if now.needed and not missing:
        yield FoundEvent(
            WebhookEvent.ALL_JUDGED, f"all judged/{now.needed}", {"judgements": now.counted}
        )
    elif campaign.deadline is not None and (campaign.is_over or is_late(campaign, ahead)):
        deadline = campaign.deadline.isoformat()
        yield FoundEvent(
            WebhookEvent.DEADLINE_AT_RISK,
            f"deadline/{deadline}{'/passed' if campaign.is_over else ''}",
            {
                "deadline": deadline,
                "is_over": campaign.is_over,
                "expected_end": _format_time(ahead.expected),
                "missing": missing,
            },
        )


def _format_time(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat()


def _find_flagged_annotators(campaign: Campaign, live: CampaignSnapshot) -> Iterator[FoundEvent]:
    status_of = dict(campaign.memberships.values_list("pseudonym", "status"))
    for suspect in find_random_like_annotators(campaign, live):
        if is_random_like_open(status_of.get(suspect.pseudonym)):
            yield _flag(suspect.pseudonym, REASONS[suspect.sign])
    for fast in list_fast_annotators(campaign, live):
        if is_too_fast_open(status_of.get(fast.pseudonym)):
            yield _flag(fast.pseudonym, "many judgements are too fast")
    paused = get_paused_by_rule().filter(campaign=campaign).order_by("pseudonym")
    for pseudonym in paused.values_list("pseudonym", flat=True):
        yield _flag(pseudonym, "paused after too-fast judgements")


def _flag(pseudonym: str, reason: str) -> FoundEvent:
    return FoundEvent(
        WebhookEvent.ANNOTATOR_FLAGGED,
        f"flagged/{pseudonym}/{reason}",
        {"annotator": pseudonym, "reason": reason},
        "campaign-person",
        (pseudonym,),
    )

"""Emails with the to-do list, sent at most once per day to users who subscribed. Empty lists are
not sent."""

from __future__ import annotations

import zoneinfo
from typing import Any

from django.utils import timezone

from analysis.dashboard.to_do_list import ToDoItem, get_to_do_list
from annotation.models import Profile
from annotation.services.people import messages
from assay.number_words import format_count
from pooling.models import Job
from pooling.platform import jobs
from pooling.platform.jobs import ClaimedJob

TO_DO_MAIL_JOB = "to-do emails"


def request_due_mails() -> list[Job]:
    """Create a job that sends the to-do emails that are due, unless such a job is queued or
    running. Returns the new jobs."""
    if (
        not messages.get_due_to_do_mails(timezone.now()).exists()
        or Job.objects.filter(kind=TO_DO_MAIL_JOB, state__in=Job.ACTIVE).exists()
    ):
        return []
    return [jobs.enqueue(TO_DO_MAIL_JOB, {}, label="Email to-do lists", user=None)]


@jobs.register_job_kind(TO_DO_MAIL_JOB, unit="people", figures=True, resumes=True)
def send_to_do_mails(work: ClaimedJob) -> dict[str, Any]:
    """Send the to-do lists by email. Returns how many users got an email and how many had an empty
    list."""
    now, n_something, n_nothing = timezone.now(), 0, 0
    for profile in messages.get_due_to_do_mails(now):
        if not messages.claim_to_do_mail(profile, now):
            continue
        zone = zoneinfo.ZoneInfo(profile.time_zone) if profile.time_zone else None
        with timezone.override(zone):
            items, _ = get_to_do_list(profile.user)
            if items:
                messages.send_to_do_mail(
                    profile, subject=mail_subject(items), body=mail_body(profile, items), now=now
                )
        n_something += bool(items)
        n_nothing += not items
    return {"something": n_something, "nothing": n_nothing}


def mail_subject(items: list[ToDoItem]) -> str:
    return f"Assay: {format_count(len(items), 'thing')} to do"


def mail_body(profile: Profile, items: list[ToDoItem]) -> str:
    """Return the text of the email: one line per item, grouped by campaign, each with a link to the
    most relevant page."""
    home = profile.to_do_address.rstrip("/")
    lines = [f"Hello {profile.user.get_username()},", ""]
    for campaign in sorted({item.campaign.name for item in items}):
        lines.append(f"{campaign}:")
        for item in items:
            if item.campaign.name == campaign:
                page = next((action.address for action in item.actions if not action.posts), "/")
                lines += [f"- {item.words}.", f"  {home}{page}"]
        lines.append("")
    lines += [
        f"Open your to-do list: {home}/",
        "",
        f"You asked for this email, at most once a day. Turn it off at {home}/account.",
        "",
    ]
    return "\n".join(lines)

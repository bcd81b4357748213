"""The to-do list of Home by mail, at most once a day, to those who want it; an empty list is no
mail."""

from __future__ import annotations

import zoneinfo
from typing import Any

from django.utils import timezone

from analysis.dashboard.to_do import ToDo, to_do_of
from annotation.models import Profile
from annotation.services.people import messages
from assay.counts import counted
from pooling.models import Job
from pooling.platform import jobs
from pooling.platform.jobs import Work

MAILS = "to-do mails"


def mail_when_due() -> list[Job]:
    """Ask for the mails of everybody whose turn it is. Nothing while such a job is on its way. ->
    the job"""
    if (
        not messages.due_to_do_mails(timezone.now()).exists()
        or Job.objects.filter(kind=MAILS, state__in=Job.ACTIVE).exists()
    ):
        return []
    return [jobs.enqueue(MAILS, {}, label="To-do lists by mail", user=None)]


@jobs.kind(MAILS, unit="people", figures=True, resumes=True)
def mail_lists(work: Work) -> dict[str, Any]:
    """-> report: to how many there was something to say, and nothing"""
    now, n_something, n_nothing = timezone.now(), 0, 0
    for profile in messages.due_to_do_mails(now):
        if not messages.take_to_do_turn(profile, now):
            continue
        zone = zoneinfo.ZoneInfo(profile.time_zone) if profile.time_zone else None
        with timezone.override(zone):
            items, _ = to_do_of(profile.user)
            if items:
                messages.mail_to_do(
                    profile, subject=subject_of(items), body=body_of(profile, items), now=now
                )
        n_something += bool(items)
        n_nothing += not items
    return {"something": n_something, "nothing": n_nothing}


def subject_of(items: list[ToDo]) -> str:
    return f"{counted(len(items), 'thing needs', plural='things need')} you in Assay"


def body_of(profile: Profile, items: list[ToDo]) -> str:
    """Every item in a line, under its campaign, with the address of the first page that helps."""
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
        f"Everything with its buttons: {home}/",
        "",
        f"You asked for this mail, at most once a day: {home}/account turns it off.",
        "",
    ]
    return "\n".join(lines)

"""Emails about accounts. A job sends them, so that the duration of a request does not depend on the
mail server and does not reveal whether an account exists. Jobs keep no addresses.

    request_sign_in_link(email=..., address=...)     the job, CampaignError without a mail server
    change_address(user, email)                      the job that notifies the old address, or None
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

from django.contrib.auth.models import User
from django.core.mail import get_connection
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.services.errors import CampaignError
from annotation.services.people import accounts
from annotation.services.people.messages import MAIL_ERRORS, is_console_backend
from pooling.models import Job
from pooling.platform import jobs
from pooling.platform.jobs import ClaimedJob, Refused

log = logging.getLogger(__name__)
SIGN_IN_LINK, ADDRESS_CHANGED = "sign-in link", "address changed"
UNSENT_TIMEOUT = timedelta(minutes=1)
"""If an email has waited this long, no worker is sending emails."""


def request_sign_in_link(*, email: str, address: str) -> Job | None:
    """Return the job that sends a sign-in link to every account with this address. It is created
    even if there is no such account.

    Raises CampaignError if the mail server or worker is unavailable. Returns None if emails are
    only printed, which is done immediately.
    """
    if is_console_backend():
        accounts.send_sign_in_link(email=email, address=address)
        return None
    away = CampaignError(
        _(
            "Email can't be sent right now. Try again later, or ask the manager of your campaign for a link."
        )
    )
    if Job.objects.filter(
        kind=SIGN_IN_LINK, state=Job.State.QUEUED, created_at__lt=timezone.now() - UNSENT_TIMEOUT
    ).exists():
        log.error("sign-in links are waiting, but no worker is running")
        raise away
    try:
        connection = get_connection()
        connection.open()
        connection.close()
    except MAIL_ERRORS as error:
        log.exception("sign-in links cannot be sent")
        raise away from error
    return jobs.enqueue(
        SIGN_IN_LINK, {"email": email, "address": address}, label="Send a sign-in link", user=None
    )


def change_address(user: User, email: str) -> Job | None:
    """Change the user's email address and notify the old one, if emails can be sent, because
    sign-in links now go to the new one."""
    old = user.email
    if old == email:
        return None
    user.email = email
    user.save(update_fields=["email"])
    if not old or is_console_backend():
        return None
    return jobs.enqueue(
        ADDRESS_CHANGED,
        {"user": user.pk, "old": old},
        label="Send a notice about a changed address",
        user=None,
    )


@jobs.register_job_kind(SIGN_IN_LINK, unit="emails", urgent=True)
def mail_sign_in_link(work: ClaimedJob) -> dict[str, Any]:
    return _send_and_forget(
        work,
        partial(
            accounts.send_sign_in_link,
            email=work.parameters["email"],
            address=work.parameters["address"],
        ),
    )


@jobs.register_job_kind(ADDRESS_CHANGED, unit="emails", urgent=True)
def mail_old_address(work: ClaimedJob) -> dict[str, Any]:
    user = User.objects.select_related("profile").get(pk=work.parameters["user"])
    return _send_and_forget(
        work, partial(accounts.notify_old_address, user, work.parameters["old"])
    )


def _send_and_forget(work: ClaimedJob, send: Callable[[], object]) -> dict[str, Any]:
    """Send the email of a job and delete the job. A failed job keeps the reason but no address."""
    mine = Job.objects.filter(pk=work.job.pk)
    try:
        send()
    except MAIL_ERRORS:
        log.exception("an email about an account could not be sent")
        mine.update(parameters={})
        raise Refused(
            _(
                "The mail server rejected the email. An administrator can find the details in "
                "the server log."
            )
        ) from None
    with work.writing():
        mine.delete()
    return {}

"""Emails to members: reminders to selected annotators, and the to-do list for subscribers.

preview_reminders(...)     the emails as they would be sent, and recipients left out with reasons
request_reminders(...)     the job that sends them
is_console_backend()       whether emails are only printed, without a mail server
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from smtplib import SMTPException
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.mail import EmailMessage, get_connection
from django.db import transaction
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.formats import date_format, number_format
from django.utils.translation import gettext as _

from annotation import languages
from annotation.core.audit_actions import AuditAction
from annotation.models import AuditEvent, Campaign, Membership, Profile
from annotation.selectors.annotator_quotas import annotator_quotas
from annotation.services.audit import record_event
from annotation.services.errors import CampaignError
from pooling.models import Job
from pooling.platform import jobs
from pooling.platform.jobs import ClaimedJob

log = logging.getLogger(__name__)
REMINDERS = "reminders"
CONSOLE_BACKEND = "django.core.mail.backends.console.EmailBackend"
MAIL_ERRORS = (SMTPException, OSError)
"""Exceptions raised if a mail server refuses an email or is unavailable."""
DAY = timedelta(days=1)
RETRY_AFTER = timedelta(hours=1)
MAX_TEXT = 2000
STARTING_TEXT = (
    "there are documents waiting for your judgement. Could you continue with them in the next few days? "
    "Thank you for your work."
)


def is_console_backend() -> bool:
    """Return whether no mail server is configured (ASSAY_EMAIL_HOST), so emails are printed on the
    console of the process that sends them."""
    return str(settings.EMAIL_BACKEND) == CONSOLE_BACKEND


@dataclass(frozen=True)
class Reminder:
    membership: Membership
    to: str
    subject: str
    body: str


@dataclass(frozen=True)
class ReminderPreview:
    """The reminders to send. left_out: annotators who get none, with the reason in words."""

    ready: list[Reminder]
    left_out: list[tuple[Membership, str]]


def preview_reminders(
    campaign: Campaign,
    memberships: Iterable[Membership],
    text: str,
    *,
    address: str,
    now: datetime | None = None,
) -> ReminderPreview:
    """Preview the reminders: return them as they would be sent now. address: absolute URL of this
    installation.
    Raises CampaignError if the text is empty or too long, or if the campaign is not open."""
    text = text.strip()
    if not text:
        raise CampaignError(_("Enter a message."))
    if len(text) > MAX_TEXT:
        raise CampaignError(
            _("The text has %(n)s characters. The limit is %(most)s.")
            % {"n": f"{len(text):,}", "most": f"{MAX_TEXT:,}"}
        )
    if campaign.state != Campaign.State.OPEN or campaign.is_over:
        raise CampaignError(
            _(
                "No annotator can judge now, so no reminder was sent. Open the campaign or set a later deadline first."
            )
        )
    since = (now or timezone.now()) - DAY
    events = AuditEvent.objects.filter(
        campaign=campaign, action=AuditAction.REMINDED_AN_ANNOTATOR, at__gt=since
    )
    reminded = set(events.values_list("subject", flat=True))
    told = [(member, _skip_reason(member, reminded)) for member in memberships]
    ready = [member for member, reason in told if not reason]
    mails = [
        _make_reminder(campaign, member, part, text, address)
        for member, part in zip(ready, annotator_quotas(ready), strict=True)
    ]
    return ReminderPreview(mails, [(member, reason) for member, reason in told if reason])


def _skip_reason(member: Membership, reminded: set[str]) -> str:
    if member.role != Membership.Role.ANNOTATOR or not member.is_person:
        return _("not a human annotator")
    if member.status != Membership.Status.ACTIVE:
        return f"is {member.status}"
    if not member.user.is_active or not member.user.email:
        return _("no email address")
    return _("reminded within the last 24 hours") if member.pseudonym in reminded else ""


def _make_reminder(
    campaign: Campaign, member: Membership, part: int | None, text: str, address: str
) -> Reminder:
    """Create a reminder in the recipient's language. The manager's text is not translated."""
    with translation.override(languages.user_language(member.user)):
        judged = {
            "n": number_format(member.n_judged, force_grouping=True),
            "goal": number_format(part or 0, force_grouping=True),
        }
        said = [
            (
                _("You have judged %(n)s of %(goal)s documents.")
                if part
                else _("Documents judged so far: %(n)s.")
            )
            % judged
        ]
        if campaign.deadline:
            deadline = date_format(timezone.localtime(campaign.deadline), "D j M Y, H:i T")
            said.append(_("The deadline is %(deadline)s.") % {"deadline": deadline})
        parts = [
            _("Hello %(name)s,") % {"name": member.user.get_username()},
            text,
            " ".join([*said, _("Judging page:")]),
            f"{address.rstrip('/')}{reverse('judge', args=[campaign.slug])}",
            _(
                "A manager of the campaign “%(campaign)s” sent this email. Your pseudonym there is %(pseudonym)s."
            )
            % {"campaign": campaign.name, "pseudonym": member.pseudonym},
        ]
        subject = _("%(campaign)s: documents to judge") % {"campaign": campaign.name}
    return Reminder(member, member.user.email, " ".join(subject.split()), "\n\n".join(parts) + "\n")


def get_annotators(campaign: Campaign) -> QuerySet[Membership]:
    rows = campaign.memberships.filter(role=Membership.Role.ANNOTATOR).select_related(
        "user__profile", "campaign"
    )
    return rows.order_by("pseudonym")


def request_reminders(
    campaign: Campaign, memberships: Iterable[Membership], text: str, *, address: str, actor: User
) -> Job:
    """Return the job that sends reminders. Raises CampaignError if no annotator would get one."""
    memberships = list(memberships)
    if not preview_reminders(campaign, memberships, text, address=address).ready:
        raise CampaignError(_("None of these annotators would receive an email."))
    parameters = {
        "members": [member.pk for member in memberships],
        "text": text.strip(),
        "address": address,
        "actor": actor.pk,
    }
    label = f"Reminders of {campaign.name}"
    return jobs.enqueue(
        REMINDERS,
        parameters,
        label=label,
        user=actor,
        collection=campaign.collection,
        campaign_id=campaign.pk,
    )


@jobs.register_job_kind(REMINDERS, unit="emails", resumes=True)
def send_reminders(work: ClaimedJob) -> dict[str, Any]:
    """Send the reminders of a job. Each is recorded in the audit log before it is sent, so that
    an interrupted job sends none twice. Returns the result of `deliver_reminders`."""
    asked = work.parameters
    campaign = Campaign.objects.get(pk=work.campaign_id)
    actor = User.objects.filter(pk=asked["actor"]).first()
    chosen = get_annotators(campaign).filter(pk__in=asked["members"])
    done = deliver_reminders(campaign, chosen, asked["text"], address=asked["address"], actor=actor)
    warnings = [
        f"no email to {name}: {reason}" for name, reason in done["left_out"] + done["failed"]
    ]
    if is_console_backend():
        warnings.insert(
            0,
            _(
                "The emails were not sent because no mail server is configured "
                "(ASSAY_EMAIL_HOST). They were printed to the worker's console. Ask an "
                "administrator to set up email."
            ),
        )
    return {
        **done,
        "facts": {"emails printed" if is_console_backend() else "emails sent": len(done["sent"])},
        "warnings": warnings,
    }


def deliver_reminders(
    campaign: Campaign,
    memberships: Iterable[Membership],
    text: str,
    *,
    address: str,
    actor: User | None,
) -> dict[str, Any]:
    """Send the reminders of `preview_reminders`, at most one per annotator and day. Returns
    pseudonyms by outcome: sent, left_out and failed, the latter two with reasons."""
    with transaction.atomic():  # the second of two managers sees the reminders of the first
        Campaign.objects.select_for_update().get(pk=campaign.pk)
        mails = preview_reminders(campaign, memberships, text, address=address)
        for mail in mails.ready:
            record_event(
                campaign,
                actor,
                AuditAction.REMINDED_AN_ANNOTATOR,
                mail.membership.pseudonym,
                text=text,
            )
    sent, failed = [], []
    connection = get_connection()
    for mail in mails.ready:
        try:
            EmailMessage(
                mail.subject,
                mail.body,
                settings.DEFAULT_FROM_EMAIL,
                [mail.to],
                connection=connection,
            ).send()
            sent.append(mail.membership.pseudonym)
        except MAIL_ERRORS as error:
            failed.append([mail.membership.pseudonym, str(error)[:200]])
    return {
        "sent": sent,
        "left_out": [[member.pseudonym, reason] for member, reason in mails.left_out],
        "failed": failed,
    }


def get_due_to_do_mails(now: datetime) -> QuerySet[Profile]:
    """Return profiles of subscribers to the to-do list whose last email is at least a day old and
    that were not checked within the last hour."""
    rested = Q(to_do_mailed_at=None) | Q(to_do_mailed_at__lte=now - DAY)
    unseen = Q(to_do_looked_at=None) | Q(to_do_looked_at__lte=now - RETRY_AFTER)
    wanted = (
        Profile.objects.filter(rested, unseen, user__is_active=True)
        .exclude(to_do_address="")
        .exclude(user__email="")
    )
    return wanted.select_related("user").order_by("pk")


def claim_to_do_mail(profile: Profile, now: datetime) -> bool:
    """Claim the check of whether a profile's to-do email is due. Returns False if a concurrent
    caller has claimed it."""
    return bool(
        Profile.objects.filter(
            pk__in=get_due_to_do_mails(now).filter(pk=profile.pk).values("pk")
        ).update(to_do_looked_at=now)
    )


def send_to_do_mail(profile: Profile, *, subject: str, body: str, now: datetime) -> None:
    """Send the to-do list and store the time. If the mail server refuses it, it is tried again
    after an hour."""
    try:
        EmailMessage(subject, body, settings.DEFAULT_FROM_EMAIL, [profile.user.email]).send()
    except MAIL_ERRORS:
        log.exception("the to-do list of %s could not be sent", profile)
        return
    Profile.objects.filter(pk=profile.pk).update(to_do_mailed_at=now)

"""Guests of a panel such as Prolific: its settings, the admission of participants, and events that
the panel sends.

IDs of participants and submissions are never stored, only their digests, keyed with the
installation's secret key.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, NamedTuple

from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from annotation.core.audit_actions import AuditAction
from annotation.core.panel_events import SubmissionEvent
from annotation.models import Campaign, Guest, GuestPanel, Membership, PanelEvent, Profile
from annotation.selectors.guests import can_admit_guest
from annotation.selectors.judging import has_completed_target
from annotation.selectors.paused_annotators import SUBMISSION_ENDED
from annotation.services.audit import record_event
from annotation.services.judging import leases
from annotation.services.people import exclusion, participation
from annotation.services.people.accounts import PeopleError, add_member

ID_PATTERN = re.compile(r"[A-Za-z0-9_-]{1,64}")
EVENTS_KEPT = timedelta(days=1)
SALT = "annotation.services.people.guests"


class Participant(NamedTuple):
    """A panel participant, identified by the parameters of the panel's link. digest, submission:
    keyed digests; submission is empty if the link has none."""

    digest: str
    submission: str


class PanelFull(Exception):
    """Raised if the panel has no place left for another guest."""


def save_panel(campaign: Campaign, values: Mapping[str, Any], *, actor: User | None) -> GuestPanel:
    """Create or change the panel of a campaign. The audit log records the names of changed
    settings, but neither codes nor the secret."""
    panel = GuestPanel.objects.filter(campaign=campaign).first() or GuestPanel(campaign=campaign)
    changed = [name for name, value in values.items() if getattr(panel, name) != value]
    for name in changed:
        setattr(panel, name, values[name])
    if panel.pk is None or changed:
        with transaction.atomic():
            panel.save()
            record_event(campaign, actor, AuditAction.CHANGED_THE_PANEL, ", ".join(sorted(changed)))
    return panel


def find_panel(token: str) -> GuestPanel | None:
    """Return the panel to which a link belongs, with its campaign loaded."""
    return GuestPanel.objects.select_related("campaign").filter(token=token).first()


def read_participant(panel: GuestPanel, parameters: Mapping[str, Any]) -> Participant:
    """Read a participant from the parameters of the panel's link. Raises PeopleError if they are
    missing or malformed."""
    participant = parameters.get(panel.participant_parameter, "")
    submission = (
        parameters.get(panel.submission_parameter, "") if panel.submission_parameter else ""
    )
    if not participant:
        raise PeopleError(
            _("This link works only from %(panel)s. Open the study there.") % {"panel": panel.name}
        )
    if not all(ID_PATTERN.fullmatch(value) for value in (participant, submission) if value):
        raise PeopleError(
            _("The link is incomplete or damaged. Open the study again on %(panel)s.")
            % {"panel": panel.name}
        )
    return Participant(
        _digest(panel, "participant", participant),
        _digest(panel, "submission", submission) if submission else "",
    )


def find_guest(panel: GuestPanel, participant: Participant) -> Guest | None:
    """Return the guest of a panel's participant, with membership, user and campaign loaded."""
    return (
        Guest.objects.select_related("membership__user", "membership__campaign", "panel")
        .filter(panel=panel, participant=participant.digest)
        .first()
    )


def is_new_submission(guest: Guest, participant: Participant) -> bool:
    """Return whether the guest's submission ended at the panel and the link names another one."""
    return guest.membership.status_reason == SUBMISSION_ENDED and participant.submission not in (
        "",
        guest.submission,
    )


def admit_guest(panel: GuestPanel, participant: Participant) -> Guest:
    """Return the participant's guest: known, resumed with a new submission, or new with an account
    without password and email address. Consent is recorded. Raises PanelFull."""
    for _try in range(20):
        try:
            with transaction.atomic():
                locked = GuestPanel.objects.select_for_update().get(pk=panel.pk)
                guest = find_guest(locked, participant)
                if guest is not None and not is_new_submission(guest, participant):
                    return guest
                if not can_admit_guest(locked):
                    raise PanelFull
                return (
                    _create_guest(panel, participant)
                    if guest is None
                    else _resume_guest(guest, participant)
                )
        except IntegrityError:
            continue  # another annotator took the pseudonym
    raise RuntimeError("no free pseudonym in twenty tries")


def _create_guest(panel: GuestPanel, participant: Participant) -> Guest:
    user = get_user_model().objects.create(
        username=f"guest-{secrets.token_hex(6)}", password=make_password(None)
    )
    Profile.objects.create(user=user)
    membership = add_member(campaign=panel.campaign, user=user, role=Membership.Role.ANNOTATOR)
    membership.target = panel.judgements
    membership.save(update_fields=["target"])
    participation.record_consent(membership)
    return Guest.objects.create(
        panel=panel,
        membership=membership,
        participant=participant.digest,
        submission=participant.submission,
    )


def _resume_guest(guest: Guest, participant: Participant) -> Guest:
    exclusion.resume_annotator(guest.membership, actor=None)
    guest.submission = participant.submission
    guest.save(update_fields=["submission"])
    return guest


@transaction.atomic
def receive_event(panel: GuestPanel, event_id: str, event: SubmissionEvent) -> None:
    """Apply an event of the panel once. When a submission has ended, the guest's leases are
    released and no more pairs are assigned; judgements are kept. Events about unknown submissions
    have no effect."""
    now = timezone.now()
    PanelEvent.objects.filter(received_at__lt=now - EVENTS_KEPT).delete()
    if not PanelEvent.objects.get_or_create(
        panel=panel, event_id=event_id, defaults={"received_at": now}
    )[1]:
        return
    guest = _find_guest_of_event(panel, event) if event.has_ended else None
    if guest is None:
        return
    member = guest.membership
    if member.status == Membership.Status.ACTIVE and not has_completed_target(member):
        exclusion.pause_annotator(member, reason=SUBMISSION_ENDED, actor=None)
    else:
        leases.release_leases(member)


def _find_guest_of_event(panel: GuestPanel, event: SubmissionEvent) -> Guest | None:
    """Return the guest with the event's submission or, for panels whose links have no submission,
    with its participant."""
    same = (
        Q(submission=_digest(panel, "submission", event.submission))
        if panel.submission_parameter
        else Q(participant=_digest(panel, "participant", event.participant))
    )
    rows = Guest.objects.select_related("membership__user", "membership__campaign")
    return rows.filter(same, panel=panel).first()


def _digest(panel: GuestPanel, kind: str, value: str) -> str:
    """Return a keyed digest of an ID, which differs between panels, so that participants cannot be
    linked across campaigns."""
    text = f"{panel.pk}|{kind}|{value}"
    return salted_hmac(SALT, text, algorithm="sha256").hexdigest()

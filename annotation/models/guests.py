"""Guests: participants of an online panel such as Prolific, who judge without an account of their
own."""

from __future__ import annotations

from enum import StrEnum
from urllib.parse import quote

from django.db import models

from annotation.core.panel_events import PANEL_DEFAULTS
from annotation.models.campaigns import Campaign, completion_code
from annotation.models.members import Membership, invite_token


class GuestOutcome(StrEnum):
    """The end of a guest's participation. Each has its own completion code."""

    DONE = "done"
    FAILED = "failed"
    DECLINED = "declined"
    FULL = "full"


class GuestPanel(models.Model):
    """The settings under which participants of a panel judge in a campaign."""

    campaign = models.OneToOneField(Campaign, on_delete=models.CASCADE, related_name="panel")
    token = models.CharField(max_length=64, unique=True, default=invite_token)
    name = models.CharField(max_length=60, default=PANEL_DEFAULTS["name"])
    is_open = models.BooleanField(
        default=PANEL_DEFAULTS["is_open"], help_text="whether new guests are admitted"
    )
    places = models.PositiveIntegerField(help_text="maximum number of guests")
    judgements = models.PositiveIntegerField(help_text="target of each guest")
    done_code = models.CharField(max_length=40, default=completion_code)
    failed_code = models.CharField(max_length=40, default=completion_code)
    declined_code = models.CharField(max_length=40, default=completion_code)
    full_code = models.CharField(max_length=40, default=completion_code)
    return_address = models.URLField(
        max_length=300,
        blank=True,
        default=PANEL_DEFAULTS["return_address"],
        help_text="address at the panel; CODE stands for the completion code",
    )
    participant_parameter = models.CharField(
        max_length=40, default=PANEL_DEFAULTS["participant_parameter"]
    )
    submission_parameter = models.CharField(
        max_length=40, blank=True, default=PANEL_DEFAULTS["submission_parameter"]
    )
    reward = models.DecimalField(
        max_digits=9, decimal_places=2, null=True, blank=True, help_text="payment per guest"
    )
    min_hourly_pay = models.DecimalField(max_digits=9, decimal_places=2, null=True, blank=True)
    secret = models.CharField(
        max_length=200, blank=True, help_text="secret with which the panel signs its events"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name

    def code(self, outcome: GuestOutcome) -> str:
        code: str = getattr(self, f"{outcome.value}_code")
        return code

    def return_url(self, outcome: GuestOutcome) -> str:
        """Return the address at the panel to which a guest submits the completion code, empty if
        there is none."""
        return self.return_address.replace("CODE", quote(self.code(outcome), safe=""))


class Guest(models.Model):
    """A participant of a panel in one campaign. Their IDs at the panel are stored only as keyed
    digests."""

    panel = models.ForeignKey(GuestPanel, on_delete=models.CASCADE, related_name="guests")
    membership = models.OneToOneField(Membership, on_delete=models.CASCADE, related_name="guest")
    participant = models.CharField(max_length=64, help_text="keyed digest")
    submission = models.CharField(max_length=64, blank=True, help_text="keyed digest")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["panel", "participant"], name="one_guest_per_participant"
            )
        ]
        indexes = [models.Index(fields=["panel", "submission"], name="guest_by_submission")]

    def __str__(self) -> str:
        return str(self.membership)


class PanelEvent(models.Model):
    """An event that the panel has sent, kept for a day so that repetitions are ignored."""

    panel = models.ForeignKey(GuestPanel, on_delete=models.CASCADE, related_name="events")
    event_id = models.CharField(max_length=100)
    received_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["panel", "event_id"], name="one_panel_event_per_id")
        ]

    def __str__(self) -> str:
        return self.event_id

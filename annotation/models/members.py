"""Members of a campaign, invitations, results links, messages and feedback."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from annotation.models.campaigns import Campaign
from assay.labels.annotator_types import TYPE_CHOICES, AnnotatorType

MAX_INVITATION_LENGTH = timedelta(days=180)
"""Validity of an invitation without an explicit end."""


def invite_token() -> str:
    return secrets.token_urlsafe(24)


class Membership(models.Model):
    """A user's role in a campaign. In all exported data, annotators appear under their
    pseudonym."""

    class Role(models.TextChoices):
        MANAGER = "manager", _("Manager")
        ANNOTATOR = "annotator", _("Annotator")
        VIEWER = "viewer", _("Viewer")

    class Status(models.TextChoices):
        ACTIVE = "active", _("Active")
        PAUSED = "paused", _("Paused")
        EXCLUDED = "excluded", _("Excluded")

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships"
    )
    role = models.CharField(max_length=10, choices=Role)
    pseudonym = models.CharField(max_length=60)
    status = models.CharField(max_length=10, choices=Status, default=Status.ACTIVE)
    status_reason = models.TextField(
        blank=True, help_text="reason for a pause or exclusion; shown to paused annotators"
    )
    note = models.TextField(
        blank=True,
        default="",
        db_default="",
        help_text="for managers only; neither shown to annotators nor released",
    )
    target = models.PositiveIntegerField(
        null=True, blank=True, help_text="individual target; empty for the campaign's target"
    )
    daily_limit = models.PositiveIntegerField(null=True, blank=True)
    topic_rows = models.JSONField(
        default=list,
        blank=True,
        help_text="primary keys of the topics this annotator may judge; empty for all",
    )
    consented_at = models.DateTimeField(null=True, blank=True)
    guideline_read = models.PositiveIntegerField(
        default=0, help_text="last acknowledged version of the guidelines"
    )
    qualified_at = models.DateTimeField(null=True, blank=True)
    qualification_after = models.BigIntegerField(
        default=0,
        db_default=0,
        help_text="row ID of a judgement; qualification answers up to it belong to an earlier attempt",
    )
    finished_at = models.DateTimeField(null=True, blank=True)
    last_seen = models.DateTimeField(null=True, blank=True)
    annotator_type = models.CharField(
        max_length=10,
        choices=TYPE_CHOICES,
        default=AnnotatorType.HUMAN.value,
        db_default=AnnotatorType.HUMAN.value,
    )
    seed = models.BigIntegerField(
        default=0,
        help_text="seed that spreads gold and calibration pairs over this annotator's sequence",
    )
    n_judged = models.PositiveIntegerField(
        default=0,
        help_text="judged pairs without too-fast and qualification ones; kept by the services",
    )
    current_topic_row = models.BigIntegerField(
        null=True, blank=True, help_text="row of the Topic of the current block"
    )
    block_served = models.PositiveIntegerField(default=0)
    n_served = models.PositiveIntegerField(default=0)
    n_today = models.PositiveIntegerField(
        default=0, db_default=0, help_text="pairs judged since `today_since`"
    )
    today_since = models.DateTimeField(
        null=True,
        blank=True,
        help_text="midnight from which `n_today` counts; empty if not counted",
    )
    unread_answers = models.PositiveSmallIntegerField(
        default=0,
        db_default=0,
        help_text="unopened answers to the annotator's questions, kept by the services",
    )
    joined_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "user"], name="one_membership_per_person"),
            models.UniqueConstraint(
                fields=["campaign", "pseudonym"], name="one_person_per_pseudonym"
            ),
        ]

    def __str__(self) -> str:
        return self.pseudonym

    @property
    def is_person(self) -> bool:
        return self.annotator_type == AnnotatorType.HUMAN

    @property
    def is_guest(self) -> bool:
        """Whether the member came from a panel. Needs no query if `guest` is loaded."""
        return hasattr(self, "guest")

    @property
    def goal(self) -> int | None:
        """The annotator's own target or else the campaign's (with `campaign` loaded), None without
        a target."""
        return (self.campaign.target_per_annotator if self.target is None else self.target) or None

    @property
    def day_limit(self) -> int | None:
        """The annotator's own daily limit or else the campaign's, None without a limit."""
        return self.campaign.daily_limit if self.daily_limit is None else self.daily_limit


class Invitation(models.Model):
    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="invitations")
    role = models.CharField(
        max_length=10, choices=Membership.Role, default=Membership.Role.ANNOTATOR
    )
    token = models.CharField(max_length=64, unique=True, default=invite_token)
    code = models.CharField(
        max_length=20, unique=True, null=True, blank=True, help_text="short code to type in"
    )
    name = models.CharField(
        max_length=200, blank=True, help_text="name of the invited person, if it is for one person"
    )
    email = models.EmailField(blank=True)
    max_uses = models.PositiveIntegerField(null=True, blank=True)
    n_uses = models.PositiveIntegerField(default=0)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name or self.token[:6]

    @property
    def ends_at(self) -> datetime:
        return self.expires_at or self.created_at + MAX_INVITATION_LENGTH


class ResultsLink(models.Model):
    """A URL that shows the results of a campaign without an account. Only the SHA-256 digest of its
    token is stored."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="results_links")
    name = models.CharField(max_length=100, help_text="recipient")
    digest = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name

    @property
    def is_over(self) -> bool:
        return self.revoked_at is not None or self.expires_at <= timezone.now()


class Feedback(models.Model):
    class Score(models.TextChoices):
        VERY_GOOD = "VERY_GOOD", "Very good"
        GOOD = "GOOD", "Good"
        DECENT = "DECENT", "Decent"
        DONT_LIKE_IT = "DONT_LIKE_IT", "Don't like it"

    membership = models.OneToOneField(Membership, on_delete=models.CASCADE, related_name="feedback")
    score = models.CharField(max_length=20, choices=Score)
    text = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.get_score_display()


class Message(models.Model):
    """A manager's message to an annotator, shown on the judging page until read."""

    membership = models.ForeignKey(Membership, on_delete=models.CASCADE, related_name="messages")
    text = models.TextField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    read_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return self.text[:40]

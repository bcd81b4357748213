"""Campaigns, their guidelines and their audit log."""

from __future__ import annotations

import secrets

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from annotation.core.campaign_questions import PRIMARY_KEY, CampaignQuestion, read_questions
from annotation.core.gold_rules import GoldRule
from annotation.core.preferences import TASK_CHOICES, Task
from annotation.core.presets import FOUR_GRADES
from annotation.core.scale import Scale
from assay.labels.annotator_types import TYPE_CHOICES, AnnotatorType
from pooling.models import Collection, Pool


def default_scale() -> list[dict[str, object]]:
    """Return the default four grades without examples, lowest first."""
    return [{**grade, "example": ""} for grade in FOUR_GRADES]


def completion_code() -> str:
    return secrets.token_hex(4).upper()


class Campaign(models.Model):
    class State(models.TextChoices):
        DRAFT = "draft", pgettext_lazy("state of a campaign", "Draft")
        OPEN = "open", pgettext_lazy("state of a campaign", "Open")
        PAUSED = "paused", pgettext_lazy("state of a campaign", "Paused")
        CLOSED = "closed", pgettext_lazy("state of a campaign", "Closed")

    class Spans(models.TextChoices):
        OFF = "off", _("Off")
        OPTIONAL = "optional", _("Optional")
        REQUIRED = "required", _("Required from a grade up")

    slug = models.SlugField(max_length=80, unique=True)
    name = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    collection = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="campaigns")
    pool = models.ForeignKey(
        Pool, null=True, blank=True, on_delete=models.PROTECT, related_name="campaigns"
    )
    state = models.CharField(max_length=10, choices=State, default=State.DRAFT)
    paused_reason = models.TextField(blank=True)
    scale = models.JSONField(
        default=default_scale, help_text="2 to 9 grades: value, name, explanation, example, shape"
    )
    min_relevant = models.PositiveSmallIntegerField(default=2, help_text="minimum relevant grade")
    judgements_per_pair = models.PositiveSmallIntegerField(default=3)
    target_per_annotator = models.PositiveIntegerField(default=300)
    daily_limit = models.PositiveIntegerField(null=True, blank=True)
    continue_after_target = models.BooleanField(default=True)
    deadline = models.DateTimeField(null=True, blank=True)
    grace_minutes = models.PositiveSmallIntegerField(default=10)
    min_active_seconds = models.FloatField(default=1.0)
    pause_after_fast = models.PositiveSmallIntegerField(
        default=0,
        db_default=0,
        help_text="too-fast judgements after which an annotator is paused; 0 for never",
    )
    idle_seconds = models.PositiveSmallIntegerField(
        default=60, help_text="inactivity timeout for a short document; it grows with the length"
    )
    lease_minutes = models.PositiveSmallIntegerField(default=10)
    lease_window = models.PositiveSmallIntegerField(default=3, help_text="pairs assigned ahead")
    block_length = models.PositiveSmallIntegerField(
        default=10, help_text="consecutive pairs of one topic"
    )
    band = models.PositiveSmallIntegerField(
        default=3,
        db_default=3,
        help_text="number of neighbouring priorities judged together; 1 for strict order",
    )
    expected_seconds = models.FloatField(
        default=48.0, help_text="expected seconds per judgement, for previews of cost"
    )
    truncate_words = models.PositiveIntegerField(null=True, blank=True)
    spans = models.CharField(max_length=10, choices=Spans, default=Spans.OFF)
    spans_from = models.PositiveSmallIntegerField(
        default=2, help_text="lowest grade that requires a passage"
    )
    rotate_text = models.BooleanField(default=False)
    show_near_duplicates = models.BooleanField(
        default=False,
        db_default=False,
        help_text="offer a very similar document with the annotator's own grade of it",
    )
    gold_every = models.PositiveSmallIntegerField(
        default=20, help_text="average number of pairs per gold or calibration pair"
    )
    closing_hours = models.PositiveSmallIntegerField(
        default=24,
        help_text=("hours before the deadline in which partly judged pairs come first"),
    )
    least_priority = models.IntegerField(
        null=True,
        blank=True,
        help_text="lowest priority that is judged; null for the whole pool",
    )
    n_pairs = models.PositiveIntegerField(default=0, help_text="kept by the services")
    n_topics = models.PositiveIntegerField(
        default=0, help_text="topics with a pair, kept by the services"
    )
    n_gold = models.PositiveIntegerField(default=0, help_text="kept by the services")
    n_everyone = models.PositiveIntegerField(default=0, help_text="kept by the services")
    top_priority = models.IntegerField(
        default=0, db_default=0, help_text="of its pairs, kept by the services"
    )
    newest_guideline = models.PositiveIntegerField(
        default=0, db_default=0, help_text="number of the last version, kept by the services"
    )
    min_common = models.PositiveSmallIntegerField(
        default=0, help_text="planned overlap: pairs shared by two annotators"
    )
    min_partners = models.PositiveSmallIntegerField(
        default=0, help_text="planned overlap: number of other annotators"
    )
    consent_text = models.TextField(blank=True, help_text="Markdown; empty for no consent")
    thanks_text = models.TextField(blank=True)
    completion_code = models.CharField(max_length=40, blank=True, default=completion_code)
    completion_url = models.URLField(blank=True)
    qualification_pass = models.FloatField(
        default=0.0, help_text="share of qualification pairs to answer correctly; 0 for no test"
    )
    gold_rule = models.CharField(
        max_length=10,
        choices=[(rule.value, rule.value) for rule in GoldRule],
        default=GoldRule.SIDE.value,
        db_default=GoldRule.SIDE.value,
        help_text="when a judgement of a gold or qualification pair counts as right",
    )
    annotator_type = models.CharField(
        max_length=10,
        choices=TYPE_CHOICES,
        default=AnnotatorType.HUMAN.value,
        db_default=AnnotatorType.HUMAN.value,
        help_text="whether it contains judgements of simulated annotators, which every page states",
    )
    publication = models.JSONField(
        default=dict,
        blank=True,
        db_default={},
        help_text="publication metadata (annotation.core.publication)",
    )
    task = models.CharField(
        max_length=12,
        choices=TASK_CHOICES,
        default=Task.GRADES.value,
        db_default=Task.GRADES.value,
        help_text="whether annotators grade one document or compare two",
    )
    further_questions = models.JSONField(
        default=list,
        blank=True,
        db_default=[],
        help_text="questions after the grade (annotation.core.campaign_questions)",
    )
    seed = models.BigIntegerField(default=0)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    opened_at = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.name

    @property
    def is_over(self) -> bool:
        """Whether the deadline has passed, even if the campaign is not closed."""
        running = self.state in (self.State.OPEN, self.State.PAUSED)
        return running and self.deadline is not None and self.deadline <= timezone.now()

    @property
    def level_word(self) -> str:
        """The word for the levels of the campaign's pool: rank, batch or stage."""
        return self.pool.level_word if self.pool else "level"

    def level_of(self, priority: int) -> int:
        """Return the rank, batch or stage of pairs with this priority."""
        return self.pool.level_of(priority) if self.pool else priority

    @property
    def judged_to(self) -> int | None:
        """Return the level (rank) down to which pairs are judged, None for the whole pool."""
        return None if self.least_priority is None else self.level_of(self.least_priority)

    @property
    def judged_depth(self) -> int | None:
        """Return the rank down to which documents of the pooled runs are judged. None for pools
        without ranks or with stages."""
        if self.pool is None or self.pool.depth is None or self.pool.is_staged:
            return None
        return self.pool.depth if self.judged_to is None else self.judged_to

    @property
    def simulated(self) -> bool:
        return self.annotator_type == AnnotatorType.SIMULATED

    @property
    def is_preferences(self) -> bool:
        return self.task == Task.PREFERENCES

    @property
    def grades(self) -> Scale:
        return Scale(self.scale, self.min_relevant)

    @property
    def questions_after_grade(self) -> tuple[CampaignQuestion, ...]:
        """Return the further questions in the order in which they are asked."""
        return read_questions(self.further_questions)

    def scale_of(self, question: str) -> Scale:
        """Return the scale of the question with this key. Raises KeyError if there is none."""
        if question == PRIMARY_KEY:
            return self.grades
        return {one.key: one.grades for one in self.questions_after_grade}[question]


class GuidelineVersion(models.Model):
    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="guidelines")
    number = models.PositiveIntegerField()
    text = models.TextField(help_text="Markdown")
    note = models.CharField(max_length=300, blank=True, help_text="what changed")
    adds_example = models.BooleanField(
        default=False,
        db_default=False,
        help_text="only adds an example: annotators see a short notice and continue",
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "number"], name="one_guideline_per_number")
        ]

    def __str__(self) -> str:
        return f"v{self.number}"


class AuditEvent(models.Model):
    """An entry of the audit log: who changed what, and when. Rows are only added."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="audit")
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    action = models.CharField(max_length=60)
    subject = models.CharField(max_length=200, blank=True)
    details = models.JSONField(default=dict, blank=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-at"]
        indexes = [models.Index(fields=["campaign", "-at"], name="audit_by_time")]

    def __str__(self) -> str:
        return f"{self.action} {self.subject}"

"""LLM judges of a campaign and their answers, stored separately and never mixed with human
judgements.

A label of an LLM judge is not a Judgement: it belongs to no member, takes no slot, and is not used
for labels, qrels or agreement of people.
"""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models.campaigns import Campaign
from pooling.models import Topic


class LlmJudge(models.Model):
    """An LLM judge with its settings at the time of creation. Another model, prompt, scale or
    guidelines need a new judge."""

    class Source(models.TextChoices):
        ENDPOINT = "endpoint", "asked at an endpoint"
        FILE = "file", "labels from a file"

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="llm_judges")
    name = models.CharField(max_length=100)
    source = models.CharField(max_length=10, choices=Source, default=Source.ENDPOINT)
    model = models.CharField(max_length=200)
    endpoint = models.CharField(
        max_length=300, blank=True, help_text="base URL of an OpenAI-compatible API"
    )
    key_variable = models.CharField(
        max_length=100,
        blank=True,
        help_text="environment variable that holds the API key; the key itself is not stored",
    )
    prompt_name = models.CharField(max_length=60, blank=True)
    prompt_version = models.PositiveIntegerField(default=1)
    prompt_text = models.TextField(blank=True, help_text="prompt template with placeholders")
    scale = models.JSONField(
        default=list, help_text="value, name and explanation of each grade, as sent to the LLM"
    )
    guidelines = models.TextField(blank=True, help_text="as sent to the LLM")
    parameters = models.JSONField(default=dict, help_text="sampling parameters, sent unchanged")
    samples = models.PositiveSmallIntegerField(default=1, help_text="answers per pair")
    limits = models.JSONField(
        default=dict,
        help_text="threads, attempts, timeout, per_minute, price_in, price_out, most_cost",
    )
    troubles = models.JSONField(default=dict, help_text="calls without an answer, by problem")
    file_name = models.CharField(max_length=255, blank=True)
    related = models.CharField(
        max_length=500,
        blank=True,
        help_text="comma-separated tags or groups of runs that use this model",
    )
    digest = models.CharField(
        max_length=64, blank=True, help_text="SHA-256 of its label file, if frozen"
    )
    frozen_at = models.DateTimeField(
        null=True, blank=True, help_text="labels cannot be added after this time"
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = "LLM judge"
        ordering = ["created_at", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "name"], name="one_llm_judge_per_name"),
            models.CheckConstraint(
                condition=Q(frozen_at=None) | ~Q(digest=""), name="frozen_with_a_digest"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class LlmLabel(models.Model):
    """One sample for one pair: a call and then its answer. The pair is identified by topic and
    document, so that the label survives a change of the pool."""

    class State(models.TextChoices):
        ASKED = "asked", "asked, no answer yet"
        GRADED = "graded"
        REFUSED = "refused"
        MALFORMED = "malformed", "an answer without a grade of the scale"

    judge = models.ForeignKey(
        LlmJudge, on_delete=models.CASCADE, related_name="labels", db_index=False
    )
    topic = models.ForeignKey(Topic, on_delete=models.CASCADE, related_name="+")
    docno = models.CharField(max_length=255, help_text="the document's own id")
    sample = models.PositiveSmallIntegerField(default=0, help_text="from 0")
    state = models.CharField(max_length=10, choices=State, default=State.ASKED)
    grade = models.SmallIntegerField(null=True, blank=True)
    answer = models.TextField(blank=True, help_text="text of the answer")
    key = models.CharField(max_length=32, blank=True, help_text="idempotency key of the call")
    calls = models.PositiveIntegerField(default=0)
    tokens_in = models.PositiveIntegerField(default=0)
    tokens_out = models.PositiveIntegerField(default=0)
    seconds = models.FloatField(default=0.0)
    answered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["judge", "topic", "docno", "sample"], name="one_llm_label_per_sample"
            ),
            models.CheckConstraint(
                condition=Q(state="graded", grade__isnull=False)
                | (~Q(state="graded") & Q(grade=None)),
                name="graded_has_a_grade",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.grade} of sample {self.sample}"

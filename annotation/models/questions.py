"""What annotators ask about a pair, and what the manager answers."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models.judgements import Pair
from annotation.models.members import Membership


class Question(models.Model):
    """One question of one annotator about one pair. An answer may be published as an example of the
    guidelines, without the name."""

    membership = models.ForeignKey(
        Membership, on_delete=models.CASCADE, related_name="questions", db_index=False
    )
    pair = models.ForeignKey(Pair, on_delete=models.CASCADE, related_name="questions")
    key = models.UUIDField(
        default=uuid.uuid4, help_text="drawn by the page: sent again, it is the same question"
    )
    text = models.TextField()
    asked_at = models.DateTimeField(auto_now_add=True)
    answer = models.TextField(blank=True)
    answered_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        db_index=False,
    )
    answered_at = models.DateTimeField(null=True, blank=True)
    read_at = models.DateTimeField(
        null=True, blank=True, help_text="when the annotator opened the answer"
    )
    example_in = models.PositiveIntegerField(
        null=True, blank=True, help_text="version of the guidelines that has it as an example"
    )

    class Meta:
        ordering = ["-asked_at", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["membership", "key"], name="one_question_per_key")
        ]
        indexes = [
            models.Index(fields=["pair"], condition=Q(answered_at=None), name="open_questions")
        ]

    def __str__(self) -> str:
        return self.text[:40]

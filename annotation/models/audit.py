"""What managers decide."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from annotation.models.campaigns import Campaign


class AuditEvent(models.Model):
    """Who changed what and when. Rows are only added."""

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

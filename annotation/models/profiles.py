"""A person's own settings and tokens."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class Profile(models.Model):
    """A person's own settings: time zone, keys, look of the judging page."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="profile")
    time_zone = models.CharField(max_length=60, blank=True)
    choices = models.JSONField(default=dict, blank=True, help_text="keys, text size, theme, highlighting, confirm mode")
    may_create = models.BooleanField(default=False, help_text="may make collections and campaigns")

    def __str__(self) -> str:
        return str(self.user)


class ApiTokenRow(models.Model):
    """A token for scripts; only its SHA-256 digest is stored."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=100)
    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return self.name

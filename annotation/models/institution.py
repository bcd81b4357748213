"""Accounts that somebody else signs in."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class InstitutionAccount(models.Model):
    """Who an account is at the institution. Names change hands there, `subject` does not."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="institution"
    )
    subject = models.CharField(
        max_length=600, unique=True, help_text="`oidc ISSUER SUBJECT` or `header NAME`"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.subject

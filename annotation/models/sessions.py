"""Who is signed in where."""

from __future__ import annotations

from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import models
from django.utils.translation import gettext as _


class OpenSession(models.Model):
    """A browser that is signed in, as people see it. It goes with its session: signed out, ended or
    cleared away."""

    session = models.OneToOneField(Session, on_delete=models.CASCADE, related_name="opened")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="open_sessions"
    )
    device = models.CharField(
        max_length=60,
        blank=True,
        help_text="browser and system in words; no address and no version is kept",
    )
    began_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-began_at", "-pk"]

    def __str__(self) -> str:
        browser, on, system = self.device.partition(" on ")
        return (
            _("%(browser)s on %(system)s") % {"browser": browser, "system": system}
            if on
            else self.device or _("unknown browser")
        )

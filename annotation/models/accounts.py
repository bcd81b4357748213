"""Accounts: user settings, API tokens, open sessions, single sign-on identities and counts of
attempts."""

from __future__ import annotations

from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _


class Profile(models.Model):
    """A user's settings: time zone, language, keys and appearance of the judging page."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="profile"
    )
    time_zone = models.CharField(max_length=60, blank=True)
    language = models.CharField(
        max_length=10,
        blank=True,
        db_default="",
        help_text="language code of the pages; empty for the browser's language",
    )
    choices = models.JSONField(
        default=dict, blank=True, help_text="keys, text size, theme, highlighting, confirm mode"
    )
    may_create = models.BooleanField(
        default=False, help_text="may create collections and campaigns"
    )
    to_do_address = models.URLField(
        blank=True,
        db_default="",
        help_text="address of this installation used in to-do emails; empty for no emails",
    )
    to_do_looked_at = models.DateTimeField(
        null=True, blank=True, help_text="last check for something to email"
    )
    to_do_mailed_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return str(self.user)


class Scope(models.TextChoices):
    """A permission of an API token, within the permissions of its owner."""

    READ = "read", _("read: read everything that you can see")
    JUDGE = "judge", _("judge: submit judgements in campaigns where you annotate")
    MANAGE = "manage", _("manage: read and change everything that you can change")


EVERY_SCOPE = " ".join(Scope.values)


class ApiTokenRow(models.Model):
    """An API token for scripts. Only its SHA-256 digest is stored."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens"
    )
    name = models.CharField(max_length=100)
    digest = models.CharField(max_length=64, unique=True)
    scopes = models.CharField(
        max_length=60,
        default=EVERY_SCOPE,
        help_text="space-separated scopes",
    )
    expires_at = models.DateTimeField(
        null=True, blank=True, help_text="empty for tokens without an end"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return self.name

    @property
    def is_over(self) -> bool:
        return self.expires_at is not None and self.expires_at <= timezone.now()


class OpenSession(models.Model):
    """A signed-in browser, as listed for its user. It is deleted with its session."""

    session = models.OneToOneField(Session, on_delete=models.CASCADE, related_name="opened")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="open_sessions"
    )
    device = models.CharField(
        max_length=60,
        blank=True,
        help_text="name of browser and system; neither address nor version is stored",
    )
    began_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-began_at", "-pk"]

    def __str__(self) -> str:
        browser, on, system = self.device.partition(" on ")
        return (
            gettext("%(browser)s on %(system)s") % {"browser": browser, "system": system}
            if on
            else self.device or gettext("unknown browser")
        )


class InstitutionAccount(models.Model):
    """The identity of an account at the institution. Names can be reassigned there, but `subject`
    is permanent."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="institution"
    )
    subject = models.CharField(
        max_length=600, unique=True, help_text="`oidc ISSUER SUBJECT` or `header NAME`"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.subject


class Attempts(models.Model):
    """The number of attempts, such as failed sign-ins, since `began_at`. `key` is a digest, so that
    no identities are stored."""

    key = models.CharField(max_length=64, unique=True)
    n = models.PositiveIntegerField(default=0)
    began_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "attempts"
        indexes = [models.Index(fields=["began_at"], name="old_attempts")]

    def __str__(self) -> str:
        return f"{self.n} since {self.began_at}"

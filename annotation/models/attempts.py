"""What somebody has tried too often."""

from __future__ import annotations

from django.db import models


class Attempts(models.Model):
    """How often something was tried since `began_at`. `key` is a digest: who tried what is not
    kept."""

    key = models.CharField(max_length=64, unique=True)
    n = models.PositiveIntegerField(default=0)
    began_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "attempts"
        indexes = [models.Index(fields=["began_at"], name="old_attempts")]

    def __str__(self) -> str:
        return f"{self.n} since {self.began_at}"

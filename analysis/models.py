"""Models of stored analyses (parameters, inputs, version and result), recipes and releases."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from annotation.models import Campaign
from pooling.models import Collection, Job


class Report(models.Model):
    """One analysis of a campaign or collection. `result` is the JSON object of the command.

    If the kind begins with STUDY, it is a study. Its folder is stored as study.zip, and `result`
    holds its parts and what was left out.
    """

    STUDY = "study-"

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="reports")
    campaign = models.ForeignKey(
        Campaign, null=True, blank=True, on_delete=models.CASCADE, related_name="reports"
    )
    kind = models.CharField(max_length=40)
    title = models.CharField(max_length=300)
    parameters = models.JSONField(default=dict)
    seed = models.BigIntegerField(default=0)
    input_digest = models.CharField(max_length=64, blank=True)
    code_version = models.CharField(max_length=60, blank=True)
    command = models.TextField(blank=True, help_text="exact command that reproduces it")
    job = models.ForeignKey(Job, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    result = models.JSONField(null=True, blank=True)
    inputs = models.JSONField(
        default=list,
        blank=True,
        help_text="path, kind, name, digest and origin of each input file of the command",
    )
    files = models.JSONField(
        default=dict,
        blank=True,
        help_text="name -> name in the storage: result, figures and input files",
    )
    warnings = models.JSONField(default=list, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.title

    @property
    def is_study(self) -> bool:
        return self.kind.startswith(self.STUDY)


class ReportChunk(models.Model):
    """An independent part of a report's computation, stored so that several workers can share the
    work."""

    report = models.ForeignKey(Report, on_delete=models.CASCADE, related_name="chunks")
    number = models.PositiveIntegerField()
    parameters = models.JSONField(default=dict)
    result = models.JSONField(null=True, blank=True)
    owner = models.CharField(max_length=40, blank=True)
    heartbeat = models.DateTimeField(null=True, blank=True)
    done_at = models.DateTimeField(null=True, blank=True)
    attempt = models.PositiveSmallIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["report", "number"], name="one_chunk_per_number")
        ]

    def __str__(self) -> str:
        return f"chunk {self.number}"


class Recipe(models.Model):
    """Settings for building a release from a campaign: filters, minimum judgements, aggregation,
    minimum relevant grade, exclusions."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="recipes")
    name = models.CharField(max_length=200)
    choices = models.JSONField(default=dict)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "name"], name="one_recipe_per_name")
        ]

    def __str__(self) -> str:
        return self.name


class Release(models.Model):
    """A release built from a recipe, with its zip file."""

    recipe = models.ForeignKey(Recipe, on_delete=models.CASCADE, related_name="releases")
    file = models.FileField(upload_to="releases/%Y/%m")
    digest = models.CharField(max_length=64, help_text="SHA-256 of the file")
    content_digest = models.CharField(
        max_length=64,
        blank=True,
        db_default="",
        help_text="SHA-256 of judgements and labels; empty for earlier versions",
    )
    job = models.ForeignKey(Job, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.digest[:12]

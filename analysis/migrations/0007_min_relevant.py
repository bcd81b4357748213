"""Rename the minimum relevant grade and interim checks in recipes, jobs and studies, and the
choice of excluded annotators in recipes."""

from __future__ import annotations

from typing import Any

from django.db import migrations

IN_RECIPES = {"threshold": "min_relevant", "take_back": "include_excluded"}
IN_ANSWERS = {"level": "min_relevant", "looks": "interim_checks"}


def rename_keys(value: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    return {names.get(key, key): one for key, one in value.items()}


def rename(apps: Any, schema_editor: Any) -> None:
    for recipe in apps.get_model("analysis", "Recipe").objects.all():
        recipe.choices = rename_keys(recipe.choices, IN_RECIPES)
        recipe.save(update_fields=["choices"])
    for report in apps.get_model("analysis", "Report").objects.filter(kind="study-tripjudge"):
        if isinstance(report.parameters.get("values"), dict):
            report.parameters["values"] = rename_keys(
                report.parameters["values"], {"threshold": "min_relevant"}
            )
            report.save(update_fields=["parameters"])
    jobs = apps.get_model("pooling", "Job").objects
    for job in jobs.filter(kind="systems answer").iterator(chunk_size=100):
        job.report = rename_keys(job.report, IN_ANSWERS)
        job.save(update_fields=["report"])
    for job in jobs.filter(kind="import campaign"):
        if isinstance(job.parameters.get("judged"), dict):
            job.parameters["judged"] = rename_keys(job.parameters["judged"], IN_RECIPES)
            job.save(update_fields=["parameters"])


class Migration(migrations.Migration):
    dependencies = [
        ("analysis", "0006_names_of_annotator_types"),
        ("annotation", "0033_min_relevant"),
        ("pooling", "0009_names_of_llm_judges"),
    ]
    operations = [migrations.RunPython(rename, migrations.RunPython.noop, elidable=True)]

"""Rename the options and the part of the result about unpooled runs in stored reports."""

from __future__ import annotations

from typing import Any

from django.db import migrations

OPTIONS = {"reusability": "as_unpooled", "unjudged": "unpooled_run"}
"""New name of the option `late`, by kind of report."""


def rename(apps: Any, schema_editor: Any) -> None:
    reports = apps.get_model("analysis", "Report").objects.filter(kind__in=OPTIONS)
    for report in reports.iterator(chunk_size=100):
        options = report.parameters.get("options")
        if isinstance(options, dict) and "late" in options:
            options[OPTIONS[report.kind]] = options.pop("late")
        if report.kind == "reusability":
            report.command = report.command.replace("--late", "--as-unpooled")
            if isinstance(report.result, dict) and "late" in report.result:
                report.result["unpooled"] = report.result.pop("late")
        report.save(update_fields=["parameters", "command", "result"])


class Migration(migrations.Migration):
    dependencies = [("analysis", "0007_min_relevant")]
    operations = [migrations.RunPython(rename, migrations.RunPython.noop, elidable=True)]

"""Rename report kinds and the keys of their results to the terms of the field."""

from __future__ import annotations

from typing import Any

from django.db import migrations

KINDS = {"holes": "unjudged", "machine_judges": "compare_llm_judges"}


def rename_keys(value: Any, names: dict[str, str]) -> Any:
    """Return the object with these keys renamed."""
    return {names.get(key, key): one for key, one in value.items()}


def rename_kinds(apps: Any, schema_editor: Any) -> None:
    reports = apps.get_model("analysis", "Report").objects
    for old, new in KINDS.items():
        reports.filter(kind=old).update(kind=new)
    for report in reports.filter(kind="unjudged").exclude(result=None).iterator(chunk_size=100):
        result = rename_keys(report.result, {"holes": "unjudged"})
        if result.get("before"):
            result["before"] = rename_keys(result["before"], {"holes": "unjudged"})
        report.result = result
        report.save(update_fields=["result"])
    names = {"holes": "unjudged", "holes_as_0": "unjudged_as_0"}
    for report in reports.filter(kind="reusability").exclude(result=None).iterator(chunk_size=100):
        if report.result.get("late"):
            runs = report.result["late"]["runs"]
            report.result["late"]["runs"] = {
                tag: rename_keys(row, names) for tag, row in runs.items()
            }
            report.save(update_fields=["result"])


class Migration(migrations.Migration):
    dependencies = [("analysis", "0003_release_content_digest")]
    operations = [migrations.RunPython(rename_kinds, migrations.RunPython.noop, elidable=True)]

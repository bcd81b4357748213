"""Rename kinds of stored jobs."""

from __future__ import annotations

from typing import Any

from django.db import migrations

KINDS = {"take extension back": "undo extension", "judge by machine": "judge with LLM"}


def rename_kinds(apps: Any, schema_editor: Any) -> None:
    jobs = apps.get_model("pooling.Job").objects
    for old, new in KINDS.items():
        jobs.filter(kind=old).update(kind=new)


class Migration(migrations.Migration):
    dependencies = [("pooling", "0007_kept_answers")]
    operations = [migrations.RunPython(rename_kinds, migrations.RunPython.noop)]

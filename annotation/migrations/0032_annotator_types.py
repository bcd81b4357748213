"""Rename the stored annotator types."""

from typing import Any

from django.db import migrations

TYPES = {"person": "human", "machine": "llm"}


def rename(apps: Any, schema_editor: Any) -> None:
    for old, new in TYPES.items():
        for model in ("Campaign", "Membership"):
            apps.get_model("annotation", model).objects.filter(judge_kind=old).update(
                judge_kind=new
            )


class Migration(migrations.Migration):
    dependencies = [("annotation", "0031_llm_judges")]
    operations = [migrations.RunPython(rename, migrations.RunPython.noop, elidable=True)]

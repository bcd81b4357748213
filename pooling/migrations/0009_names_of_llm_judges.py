"""Rename keys and values of LLM judges in stored pools and jobs, and annotator types in the label
references of jobs."""

from __future__ import annotations

import re
from typing import Any

from django.db import migrations

REFERENCE = re.compile(r"(campaign:(?:graded|binary):\w+:)([a-z+]+)")
TYPES = {"person": "human", "machine": "llm"}


def rename_references(value: Any) -> Any:
    """Return the JSON value with the annotator types of label references renamed."""
    if isinstance(value, dict):
        return {key: rename_references(one) for key, one in value.items()}
    if isinstance(value, list):
        return [rename_references(one) for one in value]
    match = REFERENCE.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        return value
    return match[1] + "+".join(TYPES.get(kind, kind) for kind in match[2].split("+"))


def rename_pool_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
    renamed = {"llm_judge" if key == "machine" else key: one for key, one in parameters.items()}
    if renamed.get("strata") == "machine":
        renamed["strata"] = "llm"
    return renamed


def rename(apps: Any, schema_editor: Any) -> None:
    for pool in apps.get_model("pooling", "Pool").objects.filter(kind="sampled"):
        if pool.parameters.get("strata") == "machine":
            pool.parameters = rename_pool_parameters(pool.parameters)
            pool.save(update_fields=["parameters"])
    jobs = apps.get_model("pooling", "Job").objects
    for job in jobs.filter(kind="judge with LLM"):
        job.parameters = {"llm_judge": job.parameters["machine"]}
        job.save(update_fields=["parameters"])
    for job in jobs.filter(kind="preview pool"):
        for stored in (job.parameters, job.report):
            if stored.get("making"):
                stored["making"] = rename_pool_parameters(stored["making"])
        job.save(update_fields=["parameters", "report"])
    for job in jobs.iterator(chunk_size=500):
        if (renamed := rename_references(job.parameters)) != job.parameters:
            job.parameters = renamed
            job.save(update_fields=["parameters"])


class Migration(migrations.Migration):
    dependencies = [("pooling", "0008_names_of_jobs")]
    operations = [migrations.RunPython(rename, migrations.RunPython.noop, elidable=True)]

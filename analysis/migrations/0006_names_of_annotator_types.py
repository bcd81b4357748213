"""Rename annotator types in stored recipes and reports, and keys of LLM judges in results."""

from __future__ import annotations

import re
from typing import Any

from django.db import migrations

TYPES = {"person": "human", "machine": "llm"}
REFERENCE = re.compile(r"(campaign:(?:graded|binary):\w+:)([a-z+]+)")
IN_COMMAND = re.compile(r"--annotators(?:[ =](?:person|simulated|machine)\b)+")
OF_MEASURES = {
    "machine_alone": "llm_alone",
    "tau_machine_alone": "tau_llm_alone",
    "tau_machine_alone_top5": "tau_llm_alone_top5",
    "tau_machine_alone_others": "tau_llm_alone_others",
}
OF_HALVES = {"machine": "llm", "best_machine": "best_llm"}


def rename_keys(value: Any, names: dict[str, str]) -> Any:
    """Return the object with these keys renamed, anything else unchanged."""
    if not isinstance(value, dict):
        return value
    return {names.get(key, key): one for key, one in value.items()}


def rename_types(kinds: list[str]) -> list[str]:
    return [TYPES.get(kind, kind) for kind in kinds]


def rename_references(value: Any) -> Any:
    """Return the JSON value with the annotator types of label references renamed."""
    if isinstance(value, dict):
        return {key: rename_references(one) for key, one in value.items()}
    if isinstance(value, list):
        return [rename_references(one) for one in value]
    match = REFERENCE.fullmatch(value) if isinstance(value, str) else None
    return value if match is None else match[1] + "+".join(rename_types(match[2].split("+")))


def rename_in_comparison(result: dict[str, Any]) -> None:
    """Rename the keys of `compare_llm_judges`. Names of judges, systems and measures are keys, too."""
    for judge in result.values():
        if not isinstance(judge, dict):
            continue
        agreement = judge.get("agreement")
        if isinstance(agreement, dict) and agreement.get("people"):
            agreement["people"] = rename_keys(
                agreement["people"], {"one_and_machine": "one_and_llm"}
            )
        for measure, systems in (judge.get("systems") or {}).items():
            renamed = judge["systems"][measure] = rename_keys(systems, OF_MEASURES)
            if isinstance(renamed, dict) and "halves" in renamed:
                renamed["halves"] = rename_keys(renamed["halves"], OF_HALVES)


def rename(apps: Any, schema_editor: Any) -> None:
    for recipe in apps.get_model("analysis", "Recipe").objects.all():
        if "judges" in recipe.choices:
            recipe.choices["judges"] = rename_types(recipe.choices["judges"])
            recipe.save(update_fields=["choices"])
    for report in apps.get_model("analysis", "Report").objects.iterator(chunk_size=100):
        report.parameters = rename_references(report.parameters)
        report.inputs = rename_references(report.inputs)
        report.command = IN_COMMAND.sub(
            lambda found: re.sub(r"\w+$|\w+(?= )", lambda one: TYPES.get(one[0], one[0]), found[0]),
            report.command,
        )
        if report.kind == "compare_llm_judges" and isinstance(report.result, dict):
            rename_in_comparison(report.result)
        elif report.kind == "rank_llm_judges":
            report.result = rename_keys(report.result, {"machines": "llm_judges"})
        report.save(update_fields=["parameters", "inputs", "command", "result"])


class Migration(migrations.Migration):
    dependencies = [("analysis", "0005_names_of_options")]
    operations = [migrations.RunPython(rename, migrations.RunPython.noop, elidable=True)]

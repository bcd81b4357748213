"""Rename options in stored reports and their commands to the current option names.

An option now has one meaning in all commands, so some names changed in some commands only.
"""

from __future__ import annotations

import re
from typing import Any

from django.db import migrations

EVERYWHERE = {
    "level": "min_relevant",
    "topics": "missing_topics",
    "scores": "precision",
}
OPTIONS: dict[str, dict[str, str]] = {
    "bootstrap": {"scale": "grades"},
    "compare_llm_judges": {"machines": "llm_table"},
    "compare_runs": {"family": "family_size"},
    "compare_systems": {"family": "correction", "trials": "permutations"},
    "label_overlap": {"threshold": "min_relevant"},
    "leaderboard": {"family": "family_size", "order": "metadata"},
    "plan_study": {"scale": "grades"},
    "stability": {"threshold": "min_tau"},
    "study-comparison": {"family": "correction", "trials": "permutations", "scale": "grades"},
    "study-sota": {"family": "family_size"},
    "study-stability": {"threshold": "min_tau"},
    "submissions": {"condition": "private_condition"},
    "unjudged": {"scale": "max_grade", "pool": "pool_runs", "against": "against_run"},
}
ONLY_IN_COMMANDS = {"metadata", "llm_table", "pool_runs", "against_run"}
"""The form uses other fields for these options."""
VALUES = {"complete": "zero", "intersection": "skip"}
RESULTS: dict[str, dict[str, str]] = {
    "compare_runs": {"family": "family_size"},
    "compare_systems": {"family": "correction", "trials": "permutations"},
    "leaderboard": {"family": "family_size"},
}


def rename_options(kind: str, options: dict[str, Any]) -> dict[str, Any]:
    names = {
        old: new
        for old, new in (EVERYWHERE | OPTIONS.get(kind, {})).items()
        if new not in ONLY_IN_COMMANDS
    }
    renamed = {names.get(name, name): value for name, value in options.items()}
    if "missing_topics" in renamed:
        renamed["missing_topics"] = VALUES.get(renamed["missing_topics"], renamed["missing_topics"])
    return renamed


def rename_in_command(kind: str, command: str) -> str:
    for old, new in (EVERYWHERE | OPTIONS.get(kind, {})).items():
        flag = "--" + new.replace("_", "-")
        command = re.sub(rf"--{old}(?=[ =]|$)", flag, command)
    for old, new in VALUES.items():
        command = re.sub(rf"(--missing-topics[ =]){old}\b", rf"\1{new}", command)
    return command


def rename_in_result(kind: str, result: Any) -> Any:
    names = RESULTS[kind]
    renamed = {names.get(key, key): value for key, value in result.items()}
    if isinstance(renamed.get("settings"), dict):
        renamed["settings"] = {
            names.get(key, key): value for key, value in renamed["settings"].items()
        }
    return renamed


def rename(apps: Any, schema_editor: Any) -> None:
    for report in apps.get_model("analysis", "Report").objects.iterator(chunk_size=100):
        for key in ("options", "values"):  # "values" are settings of studies
            if isinstance(report.parameters.get(key), dict):
                report.parameters[key] = rename_options(report.kind, report.parameters[key])
        report.command = rename_in_command(report.kind, report.command)
        if report.kind in RESULTS and isinstance(report.result, dict):
            report.result = rename_in_result(report.kind, report.result)
        report.save(update_fields=["parameters", "command", "result"])


class Migration(migrations.Migration):
    dependencies = [("analysis", "0004_names_of_kinds")]
    operations = [migrations.RunPython(rename, migrations.RunPython.noop, elidable=True)]

"""Translation of names in releases of format version 1, applied when a release is read."""

from __future__ import annotations

from typing import Any

PARTS = {"llm-judges.json": "machines.json", "llm-labels.tsv": "machine-labels.tsv"}
"""Current file name -> file name in version 1."""
COLUMNS = {"standing": "status", "judge": "type", "machine": "llm_judge"}
"""Column in version 1 -> current column."""
RECIPE_KEYS = {"threshold": "min_relevant", "take_back": "include_excluded"}
"""Key of a recipe in version 1 -> current key."""
TYPES = {"person": "human", "machine": "llm"}
"""Annotator type in version 1 -> current type."""


def translate_cell(column: str, cell: str) -> str:
    """Translate a cell of a version 1 table to the value that is written now."""
    return TYPES.get(cell, cell) if column == "type" else cell


def translate_manifest(about: dict[str, Any]) -> None:
    """Rename keys and values of a version 1 campaign.json in place. Malformed values are left for
    later checks."""
    campaign, recipe, pool = (about.get(name) for name in ("campaign", "recipe", "pool"))
    settings = campaign.get("settings") if isinstance(campaign, dict) else None
    if isinstance(settings, dict) and "threshold" in settings:
        settings["min_relevant"] = settings.pop("threshold")
    if isinstance(recipe, dict):
        for old, new in RECIPE_KEYS.items():
            if old in recipe:
                recipe[new] = recipe.pop(old)
        if isinstance(kinds := recipe.get("judges"), list):
            recipe["judges"] = [
                TYPES.get(kind, kind) if isinstance(kind, str) else kind for kind in kinds
            ]
    if isinstance(pool, dict) and isinstance(parameters := pool.get("parameters"), dict):
        if "machine" in parameters:
            parameters["llm_judge"] = parameters.pop("machine")
        if parameters.get("strata") == "machine":
            parameters["strata"] = "llm"

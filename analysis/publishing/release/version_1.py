"""Names in releases of format version 1. They are translated here, when a release is read."""

from __future__ import annotations

from typing import Any

PARTS = {"llm-judges.json": "machines.json", "llm-labels.tsv": "machine-labels.tsv"}
"""Current file name -> file name in version 1."""
COLUMNS = {"standing": "status", "judge": "type", "machine": "llm_judge"}
"""Column in version 1 -> current column."""
TYPES = {"person": "human", "machine": "llm"}
"""Annotator type in version 1 -> current type."""


def translate_cell(column: str, cell: str) -> str:
    """Return the cell of a current column as written now."""
    return TYPES.get(cell, cell) if column == "type" else cell


def translate_manifest(about: dict[str, Any]) -> None:
    """Rename keys and values of campaign.json in place. What is malformed is left for the checks
    that follow."""
    recipe, pool = about.get("recipe"), about.get("pool")
    if isinstance(recipe, dict) and isinstance(recipe.get("judges"), list):
        recipe["judges"] = [
            TYPES.get(kind, kind) if isinstance(kind, str) else kind for kind in recipe["judges"]
        ]
    if isinstance(pool, dict) and isinstance(parameters := pool.get("parameters"), dict):
        if "machine" in parameters:
            parameters["llm_judge"] = parameters.pop("machine")
        if parameters.get("strata") == "machine":
            parameters["strata"] = "llm"

"""JSON schema of the options of reports and studies, for the OpenAPI document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from assay.options import DeclaredOption

TYPES: dict[str, dict[str, Any]] = {
    "flag": {"type": "boolean"},
    "whole": {"type": "integer"},
    "grade": {"type": "integer"},
    "scale": {"type": "integer"},
    "number": {"type": "number"},
    "texts": {"type": "array", "items": {"type": "string"}},
    "names": {"type": "object", "additionalProperties": {"type": "string"}},
    "systems": {"type": "object", "additionalProperties": {}},
}
"""Types of values by kind of option. All others are strings."""


def make_options_schema(options: Mapping[str, Iterable[DeclaredOption]]) -> dict[str, Any]:
    """Return the schema of an object with the options of all reports or studies.

    options: by report or study. The description of each property names those that have it, because
    schemas per kind would leave generated clients without properties.
    """
    schemas: dict[str, list[dict[str, Any]]] = {}
    owners: dict[str, list[str]] = {}
    for owner, declared in sorted(options.items()):
        for one in declared:
            if (schema := _make_schema(one)) not in schemas.setdefault(one.name, []):
                schemas[one.name].append(schema)
            owners.setdefault(one.name, []).append(owner)
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            name: {**_merge(schemas[name]), "description": f"for {', '.join(owners[name])}"}
            for name in sorted(schemas)
        },
    }


def _make_schema(one: DeclaredOption) -> dict[str, Any]:
    schema = dict(TYPES.get(one.kind, {"type": "string"}))
    if one.values and schema["type"] == "string":
        schema["enum"] = one.values
    return schema


def _merge(schemas: list[dict[str, Any]]) -> dict[str, Any]:
    """Return one schema for an option that has different types or choices in several reports or
    studies."""
    kinds = {schema["type"] for schema in schemas}
    if len(schemas) == 1:
        return schemas[0]
    if len(kinds) > 1:
        return {}
    if all("enum" in schema for schema in schemas):
        values = [value for schema in schemas for value in schema["enum"]]
        return {"type": "string", "enum": list(dict.fromkeys(values))}
    return {"type": kinds.pop()}

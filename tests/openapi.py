"""Validation of responses against the API's OpenAPI document. It is stricter than the document:
properties that are not listed are errors."""

from __future__ import annotations

import functools
import json
import re
from typing import Any

import jsonschema
import pytest
from django.test import Client
from drf_spectacular.generators import SchemaGenerator

API = "/api/v1/"


@functools.cache
def document() -> dict[str, Any]:
    found: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    return found


@functools.cache
def closed_components() -> dict[str, Any]:
    schemas = document()["components"]["schemas"]
    return {
        name: {"additionalProperties": False, **schema} if "properties" in schema else schema
        for name, schema in schemas.items()
    }


@functools.cache
def validator(schema: str) -> jsonschema.Draft202012Validator:
    """Create a validator for a schema given as JSON."""
    whole = {**json.loads(schema), "components": {"schemas": closed_components()}}
    return jsonschema.Draft202012Validator(whole, format_checker=jsonschema.FormatChecker())


def operation_of(method: str, path: str) -> dict[str, Any] | None:
    """Return the operation in the document for a request, None if there is none."""
    for template, operations in document()["paths"].items():
        if re.fullmatch(re.sub(r"\\?\{\w+\\?\}", "[^/]+", re.escape(template)), path):
            found: dict[str, Any] | None = operations.get(method.lower())
            return found
    return None


def faults(method: str, path: str, response: Any) -> list[str]:
    """Return the differences between a response and the document."""
    operation = operation_of(method, path)
    if operation is None:
        return (
            []
            if response.status_code in (404, 405) or method in ("OPTIONS", "HEAD")
            else [f"{method} {path} is not in the document"]
        )
    what = f"{operation['operationId']} {response.status_code}"
    declared = operation["responses"].get(str(response.status_code))
    if declared is None:
        return [f"{what}: this status is not declared"]
    kind, content = (
        response.headers.get("Content-Type", "").partition(";")[0],
        declared.get("content", {}),
    )
    if not content:
        return [f"{what}: has a body"] if response.content else []
    if kind not in content and "*/*" not in content:
        return [f"{what}: {kind} is not declared"]
    if not kind.endswith("json") or response.streaming:
        return []
    errors = validator(json.dumps(content[kind]["schema"])).iter_errors(response.json())
    return [f"{what}: {error.json_path} {error.message}" for error in errors]


def hold_answers(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Any]]:
    """Validate every API response that a test's client gets. Returns the list of (operation ID,
    response) so far."""
    ask, seen = Client.request, []

    def checked(self: Client, **request: Any) -> Any:
        response = ask(self, **request)
        method, path = response.request.get("REQUEST_METHOD", "GET"), response.request["PATH_INFO"]
        if path.startswith(API):
            found = faults(method, path, response)
            assert not found, found
            seen.append(((operation_of(method, path) or {}).get("operationId", ""), response))
        return response

    monkeypatch.setattr(Client, "request", checked)
    return seen

"""Generate the OpenAPI schema at /api/schema, with the possible errors of each operation."""

from __future__ import annotations

from typing import Any

import uritemplate
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework import serializers

from pooling.api.bodies import SlugTextField, StrictSerializer, TextField
from pooling.api.problems import CONTENT_TYPE
from pooling.api.repeats import HEADER, KEY_PATTERN

STATUS_DESCRIPTIONS = {
    400: "The request is not valid. `errors` lists the problem of each field.",
    401: "You are not signed in, or the token is not valid.",
    403: (
        "You don't have permission for this, the token's scopes do not allow it, or the CSRF token "
        "of the session is missing."
    ),
    404: "The resource does not exist, or you don't have access to it.",
    409: "The request conflicts with the current state. `detail` says why.",
    413: (
        "The request body is too large. The limit is five megabytes, except for files, which are "
        "limited by free disk space."
    ),
    415: "This address does not accept request bodies of this type.",
    422: "Another request was sent with this Idempotency-Key.",
    503: "The database or the disk is temporarily unavailable. Repeat the request after the time in Retry-After.",
}
IDEMPOTENCY_KEY_HELP = (
    "Unique text chosen by the client for each object to create. Repeating the request within 24 "
    "hours returns the first response and creates nothing."
)
NOT_BLANK_PATTERN = r"^[^\x00]*[^\s\x00][^\x00]*$"
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")


class ProblemSerializer(serializers.Serializer):
    """An error: the members of RFC 9457 and additional ones."""

    type = serializers.CharField(help_text="address of the page that explains `code`")
    title = serializers.CharField(help_text="name of the HTTP status")
    status = serializers.IntegerField()
    detail = serializers.CharField(help_text="human-readable problem and remedy")
    code = serializers.CharField(help_text="stable identifier of the problem, for programs")
    request = serializers.CharField(
        allow_blank=True, help_text="reference of this request in the server's log"
    )
    server_time = serializers.DateTimeField()
    errors = serializers.JSONField(
        required=False, help_text="problems of each field, with status 400"
    )  # type: ignore[assignment]


def problem_responses(*statuses: int) -> dict[Any, OpenApiResponse]:
    """Return the OpenAPI `responses` of an operation for these errors."""
    return {
        (status, CONTENT_TYPE): OpenApiResponse(
            ProblemSerializer, description=STATUS_DESCRIPTIONS[status]
        )
        for status in statuses
    }


def zip_response(description: str) -> dict[Any, OpenApiResponse]:
    """Return the OpenAPI `responses` of an operation that answers with a zip file. It is also
    declared as bytes, because generated clients do not know the type application/zip."""
    return {
        (200, kind): OpenApiResponse(OpenApiTypes.BINARY, description=description)
        for kind in ("application/zip", "application/octet-stream")
    }


class ApiSchema(AutoSchema):
    """The DEFAULT_SCHEMA_CLASS of REST_FRAMEWORK. Operations declare their success response. Error
    responses follow from their type."""

    def errors(self) -> list[int]:
        """Return the HTTP error statuses that this operation can answer with."""
        reads, changes, repeats = (
            bool(self._get_request_body()),
            self.method not in SAFE_METHODS,
            self._is_repeatable(),
        )
        asks = any(one["in"] == "query" for one in self._get_parameters())
        named = bool(uritemplate.variables(self.path))
        possible = {
            400: reads or asks or repeats,
            401: True,
            403: True,
            404: named,
            409: changes,
            413: changes,
            415: reads,
            422: repeats,
            503: True,
        }
        return [status for status, can in possible.items() if can]

    def map_parsers(self) -> list[str]:
        """Document JSON only. Forms are for pages, and a client generated from three body types
        would send all of them."""
        kinds: list[str] = super().map_parsers()
        return ["application/json"] if "application/json" in kinds else kinds

    def _map_serializer_field(
        self, field: Any, direction: Any, bypass_extensions: bool = False
    ) -> Any:
        schema = super()._map_serializer_field(field, direction, bypass_extensions)
        if (
            direction == "request"
            and getattr(field, "allow_empty", True) is False
            and schema.get("type") == "array"
        ):
            return {**schema, "minItems": 1}
        if (
            direction == "request"
            and isinstance(field, TextField)
            and not isinstance(field, SlugTextField)
            and not field.allow_blank
        ):
            return {**schema, "pattern": NOT_BLANK_PATTERN}
        return schema

    def _map_basic_serializer(self, serializer: Any, direction: Any) -> dict[str, Any]:
        schema: dict[str, Any] = super()._map_basic_serializer(serializer, direction)
        shape = serializer if isinstance(serializer, type) else type(serializer)
        if direction == "request" and issubclass(shape, StrictSerializer):
            schema |= {"additionalProperties": False, **shape.schema}
        return schema

    def get_override_parameters(self) -> list[Any]:
        header = OpenApiParameter(
            HEADER,
            {"type": "string", "pattern": f"^{KEY_PATTERN.pattern}$"},
            OpenApiParameter.HEADER,
            description=IDEMPOTENCY_KEY_HELP,
        )
        return [*super().get_override_parameters(), *([header] if self._is_repeatable() else [])]

    def _is_repeatable(self) -> bool:
        return bool(getattr(getattr(self.view, self.method.lower(), None), "is_repeatable", False))

    def get_operation_id(self) -> str:
        """Return the operation's ID. Actions on an object (addresses without a final slash) are
        named `jobs_cancel`, not `jobs_cancel_create`."""
        name: str = super().get_operation_id()
        return name if self.path.endswith("/") else name.removesuffix("_create")

    def _get_response_bodies(self, direction: Any = "response") -> dict[str, Any]:
        declared: dict[str, Any] = super()._get_response_bodies(direction)
        for (status, media_type), problem in problem_responses(*self.errors()).items():
            declared.setdefault(
                str(status),
                self._get_response_for_code(problem, str(status), [media_type], direction),
            )
        for status in {"201", "202"} & set(declared):
            declared[status].setdefault("headers", {})["Location"] = {
                "description": "address of the created object or of its job",
                "schema": {"type": "string"},
            }
        return declared

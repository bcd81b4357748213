"""The format of API errors: the members of RFC 9457 and three additional ones.

    {"type": "/api/problems#refused", "title": "Conflict", "status": 409, "detail": sentence,
    "code": "refused", "request": ID in the log, "server_time": …}

`type` links to the meaning of the code (config.problem_codes). With status 400, `errors` lists the
problems of each field.
"""

from __future__ import annotations

import json
import logging
from http import HTTPStatus
from typing import Any

from django.core.exceptions import PermissionDenied
from django.core.serializers.json import DjangoJSONEncoder
from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.settings import api_settings
from rest_framework.views import set_rollback

from pooling.platform.requests import current_request_id
from pooling.platform.unavailable import retry_after_seconds, unavailable_reason

log = logging.getLogger(__name__)
CONTENT_TYPE = "application/problem+json"
CODES_PATH = "/api/problems"
"""Address of the page that explains each code."""
TRY_AGAIN_MESSAGE = gettext_lazy("Everything that was saved is safe. Try again in a few seconds.")


def problem_body(status: int, code: str, detail: str, **more: Any) -> dict[str, Any]:
    """Return the members of a problem document."""
    return {
        "type": f"{CODES_PATH}#{code}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "code": code,
        "request": current_request_id(),
        "server_time": timezone.now(),
        **more,
    }


def problem_json(status: int, code: str, detail: str) -> str:
    """Return an error as JSON, for responses outside of views."""
    return json.dumps(problem_body(status, code, detail), cls=DjangoJSONEncoder)


def problem_response(
    status: int, code: str, detail: str, *, headers: dict[str, str] | None = None, **more: Any
) -> Response:
    return Response(
        problem_body(status, code, detail, **more),
        status=status,
        headers=headers,
        content_type=CONTENT_TYPE,
    )


def malformed_error(sentence: str) -> exceptions.ValidationError:
    """Return a 400 error that no single field explains."""
    return exceptions.ValidationError({api_settings.NON_FIELD_ERRORS_KEY: [sentence]})


def unavailable_response(error: Exception) -> Response | None:
    """Return a 503 response if the database or disk is unavailable, otherwise None."""
    said = unavailable_reason(error)
    if not said:
        return None
    log.error("%s %s", said, error)
    return problem_response(
        503,
        "unavailable",
        f"{said} {TRY_AGAIN_MESSAGE}",
        headers={"Retry-After": str(retry_after_seconds())},
    )


def handle_exception(error: Exception, context: dict[str, Any]) -> Response | None:
    """Handle exceptions as REST framework's EXCEPTION_HANDLER. Returns None for internal errors,
    which are logged and answered with 500."""
    set_rollback()
    if isinstance(error, Http404):
        return problem_response(
            404, "not_found", str(error) or _("There is nothing at this address.")
        )
    if isinstance(error, PermissionDenied):
        return problem_response(
            403,
            getattr(error, "code", "forbidden"),
            str(error) or _("You don't have permission to do this."),
        )
    if isinstance(error, exceptions.ValidationError):
        return problem_response(
            400, "malformed", "; ".join(error_sentences(error.detail)), errors=error.detail
        )
    if isinstance(error, exceptions.APIException):
        challenge = getattr(error, "auth_header", None)
        headers = {"WWW-Authenticate": str(challenge)} if challenge else {}
        return problem_response(
            error.status_code, str(error.get_codes()), str(error.detail), headers=headers
        )
    return unavailable_response(error)


def error_sentences(detail: Any, name: str = "") -> list[str]:
    """Return the problems of each field, one sentence each."""
    if isinstance(detail, dict):
        return [text for key, value in detail.items() for text in error_sentences(value, str(key))]
    if isinstance(detail, list):
        return [text for value in detail for text in error_sentences(value, name)]
    return [
        f"{name}: {detail}" if name and name != api_settings.NON_FIELD_ERRORS_KEY else str(detail)
    ]

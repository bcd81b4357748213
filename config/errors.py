"""Error responses for unknown addresses, internal errors, and unavailable databases or disks.

Addresses below /api/ get the API's own format (pooling.api.problems), all others a page.
"""

from __future__ import annotations

import sys
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.template import loader
from django.utils.translation import gettext as _
from django.views import defaults

from pooling.api import problems
from pooling.platform.unavailable import retry_after_seconds, unavailable_reason

API = "/api/"


def _problem_response(status: int, code: str, detail: str, **headers: str) -> HttpResponse:
    return HttpResponse(
        problems.problem_json(status, code, detail),
        status=status,
        content_type=problems.CONTENT_TYPE,
        headers=headers,
    )


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    if request.path.startswith(API):
        return _problem_response(404, "not_found", _("There is nothing at this address."))
    return defaults.page_not_found(request, exception)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    if request.path.startswith(API):
        return _problem_response(
            403, "forbidden", str(exception) or _("You don't have permission to do this.")
        )
    return defaults.permission_denied(request, exception)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    if request.path.startswith(API):
        return _problem_response(400, "malformed", _("The request could not be read."))
    return defaults.bad_request(request, exception)


def too_large(request: HttpRequest) -> HttpResponse:
    """Refuse an API request that is too large before its body is read."""
    most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    return _problem_response(
        413,
        "too_large",
        f"The body has {request.META['CONTENT_LENGTH']} bytes, but the limit (except for files) is {most:,}.",
    )


def server_error(request: HttpRequest, *_rest: Any) -> HttpResponse:
    error = sys.exc_info()[1]
    missing = unavailable_reason(error) if error is not None else ""
    if missing:
        wait = {"Retry-After": str(retry_after_seconds())}
        if request.path.startswith(API):
            return _problem_response(
                503, "unavailable", f"{missing} {problems.TRY_AGAIN_MESSAGE}", **wait
            )
        return HttpResponse(
            loader.get_template("503.html").render({"missing": missing}), status=503, headers=wait
        )
    if request.path.startswith(API):
        return _problem_response(
            500,
            "internal_error",
            _("Something went wrong on our side. If you report this, include the request number."),
        )
    return HttpResponse(
        loader.get_template("500.html").render({"request_id": problems.current_request_id()}),
        status=500,
    )

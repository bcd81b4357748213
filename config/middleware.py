"""Middleware: request IDs and logging, rejection of input that cannot be stored or is too large, a
strict content security policy, and an explanation on pages that preference campaigns do not
support."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import render

from annotation.permissions import NotForPreferences
from config import errors
from pooling.api.problems import CONTENT_TYPE, problem_body
from pooling.platform import requests

access = logging.getLogger("assay.access")

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src "
    "'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; manifest-src 'self'"
)


class RequestLog:
    """Middleware that gives each request an ID and logs method, path, status and milliseconds.
    Queries, bodies and secrets of links are never logged."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        began = time.perf_counter()
        number = requests.start_request(request.headers.get(requests.HEADER, ""))
        response = self.get_response(request)
        response.headers[requests.HEADER] = number
        ms = (time.perf_counter() - began) * 1000
        if access.isEnabledFor(logging.INFO):
            path = requests.loggable_path(request)
            figures = {
                "method": request.method,
                "path": path,
                "status": response.status_code,
                "ms": round(ms, 1),
            }
            access.info(
                "%s %s %s %.1f ms",
                request.method,
                path,
                response.status_code,
                ms,
                extra={"figures": figures},
            )
        return response


class RejectUnreadableRequests:
    """Middleware that refuses requests that no view can handle.

    These are requests with a NUL character in the address, query or session, which PostgreSQL
    cannot store, and API requests whose body is not a file and exceeds Django's limit for forms,
    because REST framework would read it into memory.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if "\0" in request.path_info:
            return errors.not_found(request, Http404())
        if "%00" in request.META.get("QUERY_STRING", "") or "\0" in request.COOKIES.get(
            settings.SESSION_COOKIE_NAME, ""
        ):
            return errors.bad_request(request, BadRequest("a NUL character in the query or cookie"))
        length = request.META.get("CONTENT_LENGTH") or "0"
        is_file = (request.content_type or "").startswith("multipart/")
        if (
            request.path_info.startswith(errors.API)
            and not is_file
            and length.isdigit()
            and int(length) > settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        ):
            return errors.too_large(request)
        return self.get_response(request)


class RejectNulInForms:
    """Middleware that refuses forms with a NUL character, which PostgreSQL cannot store. It covers
    all fields, including those that a view reads without a form class. It must follow the CSRF
    middleware, which has parsed every form."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_view: Any) -> HttpResponse | None:
        # not request.POST, which would read a body that the view reads as a stream
        fields: QueryDict = request.__dict__.get("_post") or QueryDict()
        if any("\0" in value for name in fields for value in [name, *fields.getlist(name)]):
            return errors.bad_request(request, BadRequest("a NUL character in a form field"))
        return None


class ContentSecurityPolicy:
    """Middleware that sets a content security policy without external sources and inline scripts or
    styles, and keeps responses out of shared caches. Static files set their own headers."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", CONTENT_POLICY)
        response.headers.setdefault("Cross-Origin-Opener-Policy", "same-origin")
        response.headers.setdefault(
            "Permissions-Policy", "camera=(), microphone=(), geolocation=()"
        )
        response.headers.setdefault("Cache-Control", "private, no-cache")
        return response


class PreferencesMiddleware:
    """Middleware that explains, in campaigns of preferences, that a page needs grades."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not isinstance(error, NotForPreferences):
            return None
        if request.path.startswith("/api/"):
            detail = "This campaign collects preferences, and this address needs grades."
            body = problem_body(409, "not_for_preferences", detail)
            return JsonResponse(body, status=409, content_type=CONTENT_TYPE)
        context = {"campaign": error.campaign}
        return render(request, "analysis/not_for_preferences.html", context, status=409)

"""Middleware for the user's time zone and language."""

from __future__ import annotations

import functools
import zoneinfo
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone, translation
from django.utils.cache import patch_vary_headers

from annotation import languages


@functools.cache
def available_zones() -> frozenset[str]:
    """Return the names of all time zones, cached because it reads the system's directories."""
    return frozenset(zoneinfo.available_timezones())


class TimeZoneMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        timezone.deactivate()
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_: Any) -> None:
        name = request.session.get("time_zone") if hasattr(request, "session") else None
        if name in available_zones():
            timezone.activate(zoneinfo.ZoneInfo(name))


class LanguageMiddleware:
    """Annotators' pages in the user's language, all others in English (annotation.languages)."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        translation.activate(translation.get_language_from_request(request))
        response = self.get_response(request)
        response.headers.setdefault("Content-Language", translation.get_language() or "en")
        patch_vary_headers(response, ["Accept-Language"])
        return response

    def process_view(self, request: HttpRequest, *_: Any) -> None:
        on_way = languages.is_annotator_path(request.path)
        translation.activate(
            languages.request_language(request) if on_way else settings.LANGUAGE_CODE
        )

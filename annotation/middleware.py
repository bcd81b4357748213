"""Every signed-in person sees times in the time zone of their profile."""

from __future__ import annotations

import functools
import zoneinfo
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils import timezone


@functools.cache
def known_zones() -> frozenset[str]:
    """Reads the system's folders of time zones, so not with every request."""
    return frozenset(zoneinfo.available_timezones())


class OwnTimeZone:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        name = request.session.get("time_zone") if hasattr(request, "session") else None
        if name in known_zones():
            timezone.activate(zoneinfo.ZoneInfo(name))
        else:
            timezone.deactivate()
        return self.get_response(request)

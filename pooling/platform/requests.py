"""Information about the request that this thread answers: its ID, which appears in the log, in the
response header and on error pages, and the client's address behind proxies."""

from __future__ import annotations

import ipaddress
import re
import secrets
from contextvars import ContextVar

from django.conf import settings
from django.http import HttpRequest
from django.urls import Resolver404, resolve

HEADER = "X-Request-ID"
ALL_NETWORKS = ["0.0.0.0/0", "::/0"]
SECRET_PATTERN = re.compile(r"[^/]{20,}")
LINE_BREAK_PATTERN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_request_id: ContextVar[str] = ContextVar("request", default="")


def start_request(request_id: str = "") -> str:
    """Set and return the request ID: the one from a proxy, or a new one."""
    number = (
        request_id if re.fullmatch(r"[A-Za-z0-9._-]{6,64}", request_id) else secrets.token_hex(6)
    )
    _request_id.set(number)
    return number


def current_request_id() -> str:
    """Return the request ID, or an empty string outside of a request."""
    return _request_id.get()


def loggable_path(request: HttpRequest) -> str:
    """Return the path for the log: its pattern if it contains the secret of a link, and without
    long words if it matches no address, because it may be a mistyped link."""
    match = request.resolver_match
    if match is None:  # refused before it was resolved, for example by the redirect to HTTPS
        try:
            match = resolve(request.path_info)
        except Resolver404:
            return loggable_url(request.path)
    return f"/{match.route}" if "token" in match.kwargs else _escape_line_breaks(request.path)


def loggable_url(address: str) -> str:
    """Return an unresolved address for the log, without its query and long words."""
    return _escape_line_breaks(SECRET_PATTERN.sub("…", address.partition("?")[0]))


def _escape_line_breaks(address: str) -> str:
    """Escape line breaks, so that a request cannot write lines into the log."""
    return LINE_BREAK_PATTERN.sub("…", address)


def parse_row_id(written: str | None) -> int:
    """Parse a row ID from a form. Invalid input gives 0, which no row has."""
    return (
        int(written)
        if written and written.isascii() and written.isdigit() and len(written) < 19
        else 0
    )


def client_address(request: HttpRequest) -> str:
    """Return the IP address of the client, or an empty string if the web server does not know it (a
    Unix socket).

    `X-Forwarded-For` is trusted only as far as the proxies of ASSAY_TRUSTED_PROXIES wrote it: from
    its end to the first address that is not one of theirs. Other content is ignored, so clients
    cannot evade limits with it.
    """
    client: str = request.META.get("REMOTE_ADDR", "")
    written = [
        part.strip()
        for part in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")
        if part.strip()
    ]
    for address in reversed(written):
        if not _is_in_networks(client, settings.TRUSTED_PROXIES) or not _is_in_networks(
            address, ALL_NETWORKS
        ):
            break
        client = address
    return client


def is_from_trusted_proxy(request: HttpRequest) -> bool:
    """Return whether the request comes directly from a proxy in ASSAY_TRUSTED_PROXIES, whose
    headers are trusted."""
    return _is_in_networks(request.META.get("REMOTE_ADDR", ""), settings.TRUSTED_PROXIES)


def _is_in_networks(address: str, networks: list[str]) -> bool:
    try:
        client = ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(client in ipaddress.ip_network(name) for name in networks)

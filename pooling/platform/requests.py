"""The request that this thread is answering: its id stands in the log, in the answer's header and
in what the page says of an error; and the address that it came from, where proxies stand
between."""

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


def start_request(wanted: str = "") -> str:
    """A new id, or the one that a proxy before us gave. -> the id"""
    number = wanted if re.fullmatch(r"[A-Za-z0-9._-]{6,64}", wanted) else secrets.token_hex(6)
    _request_id.set(number)
    return number


def current_request_id() -> str:
    """Empty outside of a request."""
    return _request_id.get()


def loggable_path(request: HttpRequest) -> str:
    """The path as a log may have it: its pattern where it holds the secret of a link, and without
    long words where nothing is there, for such an address may be a link with a slip in it."""
    match = request.resolver_match
    if match is None:  # refused before anybody looked, as where HTTPS is asked for
        try:
            match = resolve(request.path_info)
        except Resolver404:
            return loggable_url(request.path)
    return f"/{match.route}" if "token" in match.kwargs else _escape_line_breaks(request.path)


def loggable_url(address: str) -> str:
    """Of which nobody knows what it is: without its query, and without long words."""
    return _escape_line_breaks(SECRET_PATTERN.sub("…", address.partition("?")[0]))


def _escape_line_breaks(address: str) -> str:
    """Who asks for an address with a line end in it writes no line of the log."""
    return LINE_BREAK_PATTERN.sub("…", address)


def parse_row_id(written: str | None) -> int:
    """A row's number as a form has it; 0, which no row has, for everything else."""
    return (
        int(written)
        if written and written.isascii() and written.isdigit() and len(written) < 19
        else 0
    )


def client_address(request: HttpRequest) -> str:
    """Return the address of the visitor's machine; empty only where the web server does not know
    who connects (a Unix socket).

    `X-Forwarded-For` is believed as far as the proxies of ASSAY_TRUSTED_PROXIES wrote it: from its
    end to the first address that is not one of theirs. What anybody else writes there, or what is
    not an address, changes nothing, so no limit can be avoided with it."""
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
    """Whether the machine that asks is one that ASSAY_TRUSTED_PROXIES names: what it writes into
    headers is its own word."""
    return _is_in_networks(request.META.get("REMOTE_ADDR", ""), settings.TRUSTED_PROXIES)


def _is_in_networks(address: str, networks: list[str]) -> bool:
    try:
        client = ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(client in ipaddress.ip_network(name) for name in networks)

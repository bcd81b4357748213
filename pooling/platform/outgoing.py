"""Client for requests to other servers: endpoints of LLM judges, webhooks and search engines.

A request has one time limit, however slowly data arrives. Redirects are not followed, and proxies of
the environment are not used.
"""

from __future__ import annotations

import http.client
import io
import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import urlsplit

MAX_ANSWER_BYTES = 4 << 20
CONNECT_SECONDS = 10.0
POLL_SECONDS = 0.2
"""Seconds between two checks of the time limit and of `stop`."""


class AddressRefused(Exception):
    """Raised if an address must not be called. The message states the reason and a fix."""


class RequestStopped(Exception):
    """Raised if a request was abandoned because `stop` was set."""


@dataclass(frozen=True)
class PublicOnly:
    """A restriction of requests to HTTPS and public IP addresses. networks: further IP networks
    that are allowed, also without HTTPS. setting: the setting that lists them, for messages."""

    networks: Sequence[str] = ()
    setting: str = ""

    def check(self, scheme: str, address: str) -> None:
        """Raise AddressRefused if a server with this IP address must not be called."""
        number = _unwrap(ipaddress.ip_address(address.partition("%")[0]))
        if any(number in ipaddress.ip_network(network) for network in self.networks):
            return
        if not number.is_global or number.is_multicast:
            raise AddressRefused(
                f"the server has the address {number}, which is not public; use a public server, or "
                f"ask the operator to add its network to {self.setting}"
            )
        if scheme != "https":
            raise AddressRefused("the address must begin with https://")


def _unwrap(
    number: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Return the IPv4 address inside an IPv6 address that maps or translates one, otherwise the
    address itself."""
    if isinstance(number, ipaddress.IPv4Address):
        return number
    if number in ipaddress.ip_network("64:ff9b::/96"):  # NAT64
        return ipaddress.IPv4Address(int(number) & 0xFFFFFFFF)
    return number.ipv4_mapped or number.sixtofour or number


def make_printable(text: str, n_characters: int) -> str:
    """Return the beginning of a text from another server, with spaces for control characters."""
    return "".join(c if c.isprintable() else " " for c in text[:n_characters])


@dataclass(frozen=True)
class ServerAnswer:
    """The HTTP response of another server. body: at most MAX_ANSWER_BYTES."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    def describe_body(self, n_characters: int) -> str:
        """Return the beginning of the body as printable text."""
        text = self.body[: 4 * n_characters].decode("utf-8", "replace")
        return make_printable(text, n_characters)


@dataclass(frozen=True)
class OutgoingRequest:
    """An HTTP request with a body to another server. timeout: seconds for the whole call.
    restriction: None for addresses that the operator has configured."""

    url: str
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    method: str = "POST"
    timeout: float = 60.0
    restriction: PublicOnly | None = None

    def send(self, *, stop: threading.Event | None = None) -> ServerAnswer:
        """Send the request and return the answer, whatever its status.

        Raises AddressRefused, RequestStopped once `stop` is set, TimeoutError, and OSError or
        http.client.HTTPException without an answer.
        """
        until = time.monotonic() + self.timeout
        parts = urlsplit(self.url)
        kind = (
            http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        )
        connection = kind(parts.hostname or "", parts.port)
        connected = self._connect(connection.host, connection.port, parts.scheme)
        try:
            connection.sock = _WatchedSocket(connected, until, stop or threading.Event())
            target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            connection.request(self.method, target, body=self.body, headers=dict(self.headers))
            answer = connection.getresponse()
            content = answer.read(MAX_ANSWER_BYTES)
        finally:
            connected.close()
        return ServerAnswer(answer.status, answer.headers, content)

    def _connect(self, host: str, port: int, scheme: str) -> socket.socket:
        """Connect to the first of the host's addresses that answers. All addresses are checked
        first, and only checked ones are used, so that a change of the host's address in DNS cannot
        evade the check."""
        try:
            addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except UnicodeError:
            raise OSError("the host name is invalid") from None
        if self.restriction is not None:
            for *_rest, address in addresses:
                self.restriction.check(scheme, str(address[0]))
        failure: OSError = OSError("the host has no address")
        for *_rest, address in addresses:
            try:
                plain = socket.create_connection(
                    (str(address[0]), port), timeout=min(self.timeout, CONNECT_SECONDS)
                )
            except OSError as error:
                failure = error
                continue
            if scheme != "https":
                return plain
            try:
                return ssl.create_default_context().wrap_socket(plain, server_hostname=host)
            except BaseException:
                plain.close()
                raise
        raise failure


class _WatchedSocket(io.RawIOBase):
    """A connected socket for http.client with a time limit for the whole call. The timeout of a
    plain socket restarts with every byte. Each wait also ends soon after `stop` is set."""

    def __init__(self, connected: socket.socket, until: float, stop: threading.Event) -> None:
        self.socket, self.until, self.stop = connected, until, stop
        connected.settimeout(POLL_SECONDS)

    def _retry_until_ready(self, step: Callable[[], int]) -> int:
        while True:
            if self.stop.is_set():
                raise RequestStopped
            if time.monotonic() > self.until:
                raise TimeoutError("the time limit has passed")
            try:
                return step()
            except TimeoutError:
                continue

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._retry_until_ready(lambda: self.socket.recv_into(buffer))

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(self)

    def sendall(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            left = left[self._retry_until_ready(partial(self.socket.send, left)) :]

    def close(self) -> None:
        """Do nothing, because http.client closes the socket before the answer is read completely.
        The code that connected closes it."""

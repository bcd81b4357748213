"""Faulty clients that hang up during a request. (Slow clients are handled by the proxy:
tests/test_proxies.py.)"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tests.soak.place import Place
from tests.soak.trouble import Trouble

TOKEN = "a" * 32
HANG_UP_EVERY_S = 0.05


def _connected(port: int) -> socket.socket:
    client = socket.create_connection(("127.0.0.1", port), timeout=20)
    client.setsockopt(
        socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
    )  # leaving the context hangs up
    return client


def _form(n_bytes: int) -> bytes:
    head = f"POST /sign-in HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: csrftoken={TOKEN}\r\nX-CSRFToken: {TOKEN}\r\n"
    return f"{head}Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {n_bytes}\r\n\r\n".encode()


def hangs_up(port: int, stop: threading.Event) -> None:
    """Hang up in the header lines, in the body, and before the answer."""
    whole = _form(40) + b"x" * 40
    ends = (30, len(whole) - 20, len(whole))
    n = 0
    while not stop.wait(HANG_UP_EVERY_S):
        with contextlib.suppress(OSError), _connected(port) as client:
            client.sendall(whole[: ends[n % 3]])
        n += 1


@contextmanager
def aborted(place: Place) -> Iterator[str]:
    stop = threading.Event()
    thread = threading.Thread(target=hangs_up, args=(place.installation.port, stop), daemon=True)
    thread.start()
    try:
        yield "20 a second hang up"
    finally:
        stop.set()
        thread.join(timeout=25)


TROUBLES = [Trouble("aborted-clients", aborted, (60, 5))]

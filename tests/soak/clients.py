"""Clients that send a byte a second, take no answer, or hang up in the middle."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.soak.place import Place
from tests.soak.trouble import Trouble

N_SLOW = 12
"""Of each kind; the web server has eight threads."""
TOKEN = "a" * 32
PATIENCE_S, HANG_UP_EVERY_S = 1.0, 0.05


def _connected(port: int) -> socket.socket:
    client = socket.create_connection(("127.0.0.1", port), timeout=20)
    client.setsockopt(
        socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
    )  # closing it is hanging up
    return client


def _form(n_bytes: int) -> bytes:
    head = f"POST /sign-in HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: csrftoken={TOKEN}\r\nX-CSRFToken: {TOKEN}\r\n"
    return f"{head}Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {n_bytes}\r\n\r\n".encode()


def drips(port: int, begin: bytes, stop: threading.Event) -> None:
    """Sends the begin at once and then a byte a second; comes again when it is heard no longer."""
    while not stop.is_set():
        with contextlib.suppress(OSError), _connected(port) as client:
            client.sendall(begin)
            while not stop.wait(PATIENCE_S):
                client.sendall(b"x")


def takes_nothing(port: int, stop: threading.Event) -> None:
    """Asks for much and reads none of it."""
    while not stop.is_set():
        with contextlib.suppress(OSError), _connected(port) as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            client.sendall(b"GET /api/schema HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 4)
            stop.wait(30 * PATIENCE_S)


def hangs_up(port: int, stop: threading.Event) -> None:
    """In the lines, in the body, and before the answer."""
    whole = _form(40) + b"x" * 40
    ends = (30, len(whole) - 20, len(whole))
    n = 0
    while not stop.wait(HANG_UP_EVERY_S):
        with contextlib.suppress(OSError), _connected(port) as client:
            client.sendall(whole[: ends[n % 3]])
        n += 1


@contextmanager
def slow_and_aborted(place: Place) -> Iterator[str]:
    port, stop = place.installation.port, threading.Event()
    jobs: list[tuple[Callable[..., None], tuple[object, ...]]] = [(hangs_up, (port, stop))]
    for _ in range(N_SLOW):
        jobs += [
            (drips, (port, b"GET / HTTP/1.1\r\nX-Long: ", stop)),
            (drips, (port, _form(4000), stop)),
            (takes_nothing, (port, stop)),
        ]
    threads = [
        threading.Thread(target=work, args=arguments, daemon=True) for work, arguments in jobs
    ]
    for thread in threads:
        thread.start()
    try:
        yield f"{N_SLOW} each of three kinds of slow clients, and 20 a second that hang up"
    finally:
        stop.set()
        for thread in threads:
            thread.join(timeout=25)


TROUBLES = [Trouble("slow-and-aborted-clients", slow_and_aborted, (60, 12))]

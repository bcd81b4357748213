"""gunicorn's worker with threads, which also knows how long a request has stood in line and how long a client may take to send one, and which
at a reload goes on answering until its successors can.

    gunicorn config.wsgi:application --worker-class config.web.Worker ...
"""

from __future__ import annotations

import contextlib
import mmap
import socket
import struct
import threading
import time
from typing import Any

from gunicorn.workers.gthread import TConn, ThreadWorker

from config.admission import here

HEADER_SECONDS = 10.0
"""For the lines of a request."""
BODY_SECONDS, BODY_BYTES_PER_SECOND = 20.0, 20_000
"""For its body: so long, and a second more for each so many bytes."""
SEND_SECONDS = 30
"""For a client that takes nothing of an answer."""
DRAIN_SECONDS, DRAIN_BYTES = 5.0, 64 * 1024 * 1024
"""For what is still on its way when a request was answered unread: whoever sends it hears the answer only when he has sent it all, and where we
closed before, a proxy would say 502 in our name."""
LOADING_SECONDS = 180.0
"""For which a worker that was told to end waits for the younger ones."""


class Ages:
    """Two numbers that the master and all its workers see: the age of the youngest worker that was begun, and of the youngest that answers.
    (gunicorn counts workers, and calls that their age: the greater, the younger.)"""

    def __init__(self) -> None:
        self.memory = mmap.mmap(-1, 16)

    def youngest(self) -> tuple[int, int]:
        """(begun, answering)"""
        return struct.unpack("qq", self.memory[:16])

    def begun(self, age: int) -> None:
        self.memory[:8] = struct.pack("q", age)

    def answers(self, age: int) -> None:
        self.memory[8:16] = struct.pack("q", max(age, self.youngest()[1]))


AGES = Ages()
"""Made in the master, before it forks."""


class Worker(ThreadWorker):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        AGES.begun(self.age)
        self.is_answering = False
        self.ends_at: float | None = None  # by time.monotonic: told to end, it waits for its successors until then
        self.ends: dict[TConn, float] = {}  # by time.monotonic: when a client must have sent its request
        self.ends_lock = threading.Lock()

    def run(self) -> None:
        self.is_answering = True
        AGES.answers(self.age)
        super().run()

    def handle_exit(self, sig: int, frame: Any) -> None:
        """At a reload gunicorn begins new workers and ends the old ones at once, though loading the program takes seconds in which nobody
        would be answered."""
        begun, answering = AGES.youngest()
        if not self.is_answering or answering >= begun:
            super().handle_exit(sig, frame)
        elif self.ends_at is None:
            self.ends_at = time.monotonic() + LOADING_SECONDS

    def enqueue_req(self, conn: TConn) -> None:
        conn.queued_at = time.monotonic()
        super().enqueue_req(conn)

    def handle(self, conn: TConn) -> Any:
        here.queued_at = conn.queued_at
        with contextlib.suppress(OSError):
            conn.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", SEND_SECONDS, 0))
        self._must_end(conn, HEADER_SECONDS)
        began = time.monotonic()
        here.began = began
        try:
            return super().handle(conn)
        finally:
            self._must_end(conn, None)

    def handle_request(self, req: Any, conn: TConn) -> Any:
        # What the client took to send its lines was no waiting in line.
        here.queued_at += time.monotonic() - here.began
        length = next((int(value) for name, value in req.headers if name.upper() == "CONTENT-LENGTH" and value.isdigit()), 0)
        self._must_end(conn, BODY_SECONDS + length / BODY_BYTES_PER_SECOND)
        keeps = super().handle_request(req, conn)
        return conn.parser.finish_body(deadline=time.monotonic() + DRAIN_SECONDS, max_bytes=DRAIN_BYTES) and keeps

    def _must_end(self, conn: TConn, seconds: float | None) -> None:
        with self.ends_lock:
            if seconds is None:
                self.ends.pop(conn, None)
            else:
                self.ends[conn] = time.monotonic() + seconds

    def murder_pending(self) -> None:
        """Called about once a second by the main loop: also whoever sends too slowly is heard no longer; an answer may still go out."""
        super().murder_pending()
        now = time.monotonic()
        begun, answering = AGES.youngest()
        if self.ends_at is not None and (answering >= begun or now > self.ends_at):
            super().handle_exit(0, None)
        with self.ends_lock:
            late = [conn for conn, end in self.ends.items() if end < now]
            for conn in late:
                del self.ends[conn]
        for conn in late:
            with contextlib.suppress(OSError):
                conn.sock.shutdown(socket.SHUT_RD)

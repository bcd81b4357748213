"""gunicorn's worker with threads, which also knows how long a request has stood in line and refuses
what would stand there too long, how long a client may take to send one, and which at a reload goes
on answering until its successors can.

    gunicorn config.wsgi:application --worker-class config.web.Worker ...
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import logging
import mmap
import os
import re
import resource
import select
import selectors
import signal
import socket
import struct
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from gunicorn import util
from gunicorn.arbiter import Arbiter
from gunicorn.workers.gthread import TConn, ThreadWorker

from config import environment, kept_modules, logs
from config.connection_shares import SHARES
from config.request_counts import COUNTS, PLACES
from pooling.platform.unavailable import TOO_MANY_FILES

with environment.ending_in_a_sentence():
    from config import admission
    from config.admission import WaitingLine, WholeRequest, here

HEADER_SECONDS = 10.0
"""For the lines of a request."""
BODY_SECONDS, BODY_BYTES_PER_SECOND = 20.0, 20_000
"""For its body: so long, and a second more for each so many bytes."""
FORM_BYTES, TAKES_FILES = (
    5_000_000,
    re.compile(r"/collections/[^/]+/uploads/?$|^/import-campaign/$"),
)
"""Count at most FORM_BYTES of a declared length, unless the path takes large files. Those addresses
check who sends before they read a body."""
SEND_SECONDS = 30
"""For a client that takes nothing of an answer."""
DRAIN_SECONDS, DRAIN_BYTES = 5.0, 64 * 1024 * 1024
"""For what is still on its way when a request was answered unread: whoever sends it hears the
answer only when he has sent it all, and where we closed before, a proxy would say 502 in our
name."""
LOOK_SECONDS, LOOK_BYTES = 0.25, 65_536
"""How often those in line are looked over, and how much of a request is looked at: what is longer
is refused by a thread."""
OWN_FILES = 256
"""What a process has open beside its connections. Those that it may not open wait until others are
closed; before, it ended when it came to that."""
HANDLES_SECONDS = 1.0
"""After which a process that had no file handle left for a connection tries again to take one."""
LOADING_SECONDS = 180.0
"""For which a worker that was told to end waits for all younger ones."""
THREADS_SECONDS = 30.0
"""In which a process begins all its threads."""
AGAIN_SECONDS = 2.0
"""For which a process that could not load the program stays: the master may begin another at
once."""
ORPHANED_SECONDS = 0.5
"""How often a worker that loads the program yet looks whether its master lives. One that answers
looks with each turn of its loop, at least once a second."""


class Ages:
    """Two numbers that the master and all its workers see: the age of the youngest worker that was
    begun, and of the youngest that answers. (gunicorn counts workers, and calls that their age: the
    greater, the younger.)"""

    def __init__(self) -> None:
        self.memory = mmap.mmap(
            -1, 16 + PLACES
        )  # behind the numbers, by age: whether it could not load the program

    def youngest(self) -> tuple[int, int]:
        """(begun, answering)"""
        return struct.unpack("qq", self.memory[:16])

    def begun(self, age: int) -> None:
        self.memory[:8] = struct.pack("q", age)
        self.memory[16 + age % PLACES] = 0

    def failed(self, age: int) -> None:
        """It counts as if it had not been begun."""
        self.memory[16 + age % PLACES] = 1
        youngest, answering = self.youngest()
        while youngest > answering and self.memory[16 + youngest % PLACES]:
            youngest -= 1
        self.memory[:8] = struct.pack("q", youngest)

    def answers(self, age: int) -> None:
        self.memory[8:16] = struct.pack("q", max(age, self.youngest()[1]))


AGES = Ages()
"""Made in the master, before it forks."""


@functools.cache
def check_settings() -> None:
    """SystemExit with a sentence where one makes no sense. They are read by a process of their own,
    for the master, which lives on, must not keep them: whoever it begins at a reload reads them
    anew. Once, since a reload must not end it."""
    child = os.fork()
    if not child:
        try:
            importlib.import_module(os.environ.get("DJANGO_SETTINGS_MODULE", "config.settings"))
        except ImproperlyConfigured as error:
            os.write(2, f"assay: {error}\n".encode())
            os._exit(1)
        finally:
            os._exit(0)  # what else may be wrong is told by whoever cannot load the program
    if os.waitpid(child, 0)[1]:
        raise SystemExit(1)


def body_seconds(path: str, n_bytes: int) -> float:
    """Return the seconds in which a client must have sent a body of this declared length."""
    counted = n_bytes if TAKES_FILES.search(path) else min(n_bytes, FORM_BYTES)
    return BODY_SECONDS + counted / BODY_BYTES_PER_SECOND


class Worker(ThreadWorker):
    sockets: list[Any]
    alive: bool

    @classmethod
    def setup(cls) -> None:
        """Called by the master before it begins anything, and at each reload."""
        check_settings()
        logs.take_over("gunicorn.error", environment.choice("LOG_FORMAT", "line", "json"))
        kept_modules.tell(logging.getLogger("gunicorn.error"))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        AGES.begun(self.age)
        self.is_answering = False
        self.ends_at: float | None = (
            None  # by time.monotonic: told to end, it waits for its successors until then
        )
        self.answering_then = 0  # the youngest that answered when it was told
        self.ends: dict[
            TConn, float
        ] = {}  # by time.monotonic: when a client must have sent its request
        self.ends_lock = threading.Lock()
        self.is_orphan = False
        self.line, self.looked_at = WaitingLine(), 0.0
        self.most_connections, self.accepts_from = (
            self.worker_connections,
            0.0,
        )  # the second by time.monotonic
        self.is_ahead = False  # of another process, in connections

    def init_process(self) -> None:
        COUNTS.take_place(self.age)
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        if most != resource.RLIM_INFINITY:
            self.worker_connections: int = max(
                self.cfg.threads + 1, min(self.cfg.worker_connections, most - OWN_FILES)
            )
            self.most_connections = self.worker_connections
        logging.captureWarnings(True)
        threading.excepthook = self._tell_what_ended_a_thread
        threading.Thread(target=self._end_with_master_while_loading, daemon=True).start()
        try:
            super().init_process()
        except Exception:
            if self.booted:
                raise
            try:
                self.log.exception("the program could not be loaded")
            finally:
                if AGES.youngest()[
                    1
                ]:  # others answer, or did so, and the master must not end for this one
                    time.sleep(AGAIN_SECONDS)
                    AGES.failed(self.age)
                    os._exit(1)
            sys.exit(
                Arbiter.WORKER_BOOT_ERROR
            )  # it cannot be started: the master ends, and whoever starts it hears so

    def _tell_what_ended_a_thread(self, said: Any) -> None:
        self.log.error(
            "an error ended a thread", exc_info=(said.exc_type, said.exc_value, said.exc_traceback)
        )

    def get_thread_pool(self) -> ThreadPoolExecutor:
        """With all its threads from the beginning. One that is begun later can die at once for want
        of memory, and the main loop, which begins it, would wait for ever to hear that it runs.
        Here it does so no longer than the alarm lets it."""
        pool: ThreadPoolExecutor = super().get_thread_pool()
        together = threading.Barrier(self.cfg.threads + 1)
        with self._ended_after(THREADS_SECONDS):
            for _ in range(self.cfg.threads):
                pool.submit(together.wait)
            together.wait()
        return pool

    @contextlib.contextmanager
    def _ended_after(self, seconds: float) -> Iterator[None]:
        """By a signal, for a thread that watches could die, too."""

        def end(*_: Any) -> None:
            self.log.error(
                "the threads of process %d did not begin within %g seconds: it ends, and the master begins another",
                os.getpid(),
                seconds,
            )
            os._exit(1)

        handler = signal.signal(signal.SIGALRM, end)
        timer = signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, *timer)
            signal.signal(signal.SIGALRM, handler)

    def handle_abort(self, sig: int, frame: Any) -> None:
        """The master ends a process that stood still for --timeout seconds. Where its threads stood
        is all that tells why."""
        stacks = (
            "".join(traceback.format_stack(frame)) for frame in sys._current_frames().values()
        )
        self.log.critical(
            "process %d stood still; its threads:\n%s", os.getpid(), "\n".join(stacks)
        )
        super().handle_abort(sig, frame)

    def _end_with_master_while_loading(self) -> None:
        while not self.is_answering:
            if os.getppid() != self.ppid:
                os._exit(0)
            time.sleep(ORPHANED_SECONDS)

    def is_parent_alive(self) -> bool:
        """Whoever is started in the master's place finds the port free at once, not when the last
        request here is answered."""
        if not self.is_orphan and not super().is_parent_alive():
            self.is_orphan = True
            self._leave_port()
        return not self.is_orphan

    def _leave_port(self) -> None:
        """Take whoever has connected already, and listen no more."""
        for listener in self.sockets:
            while (
                self._accepting
                and select.select([listener], [], [], 0)[0]
                and self.nr_conns < self.worker_connections
            ):
                self.accept(listener)
        self.set_accept_enabled(False)
        for listener in self.sockets:
            listener.close()
        self.sockets = []

    def run(self) -> None:
        self.is_answering = True
        AGES.answers(self.age)
        super().run()

    def handle_exit(self, sig: int, frame: Any) -> None:
        """At a reload gunicorn begins new workers and ends the old ones at once, though loading the
        program takes seconds in which nobody would be answered."""
        begun, answering = AGES.youngest()
        if not self.is_answering or answering >= begun:
            super().handle_exit(sig, frame)
        elif self.ends_at is None:
            self.ends_at, self.answering_then = time.monotonic() + LOADING_SECONDS, answering

    def accept(self, listener: socket.socket) -> None:
        """Whoever finds no handle left waits at the door; gunicorn's worker would end, and with it
        all that it is answering. Who has more connections than another process leaves him the
        next."""
        now = time.monotonic()
        self.is_ahead = not self.is_orphan and SHARES.is_ahead(self.nr_conns, now)
        if self.is_ahead:
            self.worker_connections = 0
            return
        try:
            super().accept(listener)
        except OSError as error:
            if error.errno not in TOO_MANY_FILES:
                raise
            self.worker_connections, self.accepts_from = 0, now + HANDLES_SECONDS

    def enqueue_req(self, conn: TConn) -> None:
        """To a thread, or to the end of the line; who would stand there too long hears so at once,
        and no thread is disturbed."""
        if not conn.initialized and not conn.data_ready:
            self._await_request(conn)
            return
        now = time.monotonic()
        asked = self._asked(conn) if self.line.expected_wait(now) else None
        if asked is not None and self.line.refuses(admission.kind_of(asked.path), now):
            self._refuse(conn, asked)
            return
        conn.queued_at = now
        self.line.join(conn, now)
        conn.future = self.tpool.submit(self.handle, conn)
        conn.future.add_done_callback(
            lambda done: self.method_queue.defer(self.finish_request, conn, done)
        )

    def _await_request(self, conn: TConn) -> None:
        """Browsers open connections before they have anything to ask: no thread waits for them."""
        conn.sock.setblocking(False)
        conn.timeout = time.monotonic() + max(HEADER_SECONDS, self.cfg.keepalive)
        self.pending_conns.append(conn)
        self.poller.register(
            conn.sock, selectors.EVENT_READ, partial(self.on_pending_socket_readable, conn)
        )

    def _cap_keepalive(self, deadline: float) -> None:
        super()._cap_keepalive(deadline)
        for conn in self.pending_conns:
            conn.timeout = min(conn.timeout, deadline)

    def _asked(self, conn: TConn) -> WholeRequest | None:
        """The request that this connection has sent, left where it is; None where only a thread can
        tell."""
        if (
            self.cfg.is_ssl
            or conn.is_http2
            or (conn.parser is not None and conn.parser.unreader.buf.getvalue())
        ):
            return None
        try:
            return admission.request_in(
                conn.sock.recv(LOOK_BYTES, socket.MSG_PEEK | socket.MSG_DONTWAIT)
            )
        except OSError:
            return None

    def _refuse(self, conn: TConn, asked: WholeRequest) -> None:
        """In the main loop, without a thread: takes the request from the connection and answers
        it."""
        keeps = asked.keeps and self.alive and len(self.keepalived_conns) < self.max_keepalived
        headers, body = admission.refusal_of(asked.path, asked.number)
        headers = [
            *headers,
            ("Date", util.http_date()),
            ("Connection", "keep-alive" if keeps else "close"),
        ]
        head = "".join(f"{name}: {value}\r\n" for name, value in headers)
        answer = f"HTTP/1.1 {admission.STATUS}\r\n{head}\r\n".encode("latin-1") + (
            b"" if asked.is_head else body
        )
        try:
            conn.sock.recv(asked.n_bytes)
            keeps = conn.sock.send(answer, socket.MSG_DONTWAIT) == len(answer) and keeps
        except OSError:
            keeps = False
        if not keeps:
            self.nr_conns -= 1
            conn.close()
            return
        conn.sock.setblocking(False)
        conn.set_timeout()
        self.keepalived_conns.append(conn)
        self.poller.register(
            conn.sock, selectors.EVENT_READ, partial(self.on_client_socket_readable, conn)
        )

    def _refuse_overdue(self) -> None:
        """Those in line whose time is over while all threads are held, by a database that does not
        answer for example."""
        now = time.monotonic()
        if now - self.looked_at < LOOK_SECONDS:
            return
        self.looked_at = now
        for conn, waited in self.line.older_than(admission.SHORTEST_S, now):
            asked = self._asked(conn)
            if (
                asked is not None
                and waited > admission.BEARABLE_S[admission.kind_of(asked.path)]
                and conn.future.cancel()
            ):
                self.line.drop(conn)
                self._refuse(conn, asked)

    def finish_request(self, conn: TConn, fs: Any) -> None:
        if not fs.cancelled():  # else it is refused, and its connection is another's concern by now
            super().finish_request(conn, fs)

    def handle(self, conn: TConn) -> Any:
        self.line.leave(conn, time.monotonic())
        here.queued_at = conn.queued_at
        with contextlib.suppress(OSError):
            conn.sock.setsockopt(
                socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", SEND_SECONDS, 0)
            )
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
        length = next(
            (
                int(value)
                for name, value in req.headers
                if name.upper() == "CONTENT-LENGTH" and value.isdigit()
            ),
            0,
        )
        self._must_end(conn, body_seconds(req.path, length))
        keeps = super().handle_request(req, conn)
        self._must_end(
            conn, DRAIN_SECONDS
        )  # gunicorn checks the deadline only between chunks, and a trickle keeps one chunk open
        return (
            conn.parser.finish_body(
                deadline=time.monotonic() + DRAIN_SECONDS, max_bytes=DRAIN_BYTES
            )
            and keeps
        )

    def _end_where_a_thread_has(self) -> None:
        """The pool does not replace one that an error ended outside of a request, as want of memory
        may."""
        if self.alive and not all(thread.is_alive() for thread in self.tpool._threads):
            self.log.error(
                (
                    "a thread of process %d has ended: so does the process, when it has answered, and "
                    "the master begins another"
                ),
                os.getpid(),
            )
            self.alive = False

    def _must_end(self, conn: TConn, seconds: float | None) -> None:
        with self.ends_lock:
            if seconds is None:
                self.ends.pop(conn, None)
            else:
                self.ends[conn] = time.monotonic() + seconds

    def murder_pending(self) -> None:
        """Called about once a second by the main loop: also whoever sends too slowly is heard no
        longer; an answer may still go out."""
        super().murder_pending()
        self._refuse_overdue()
        self._end_where_a_thread_has()
        now = time.monotonic()
        self.is_ahead = self.is_ahead and SHARES.is_ahead(self.nr_conns, now)
        if now > self.accepts_from and not self.is_ahead:
            self.worker_connections = self.most_connections
        SHARES.tell(self.age, self.nr_conns if self._accepting and self.alive else None, now)
        begun, answering = AGES.youngest()
        if self.ends_at is not None and (answering >= begun or now > self.ends_at):
            if answering > self.answering_then:
                super().handle_exit(0, None)
            self.ends_at = None  # else nobody has come, and it goes on until it is told again
        with self.ends_lock:
            late = [conn for conn, end in self.ends.items() if end < now]
            for conn in late:
                del self.ends[conn]
        for conn in late:
            with contextlib.suppress(OSError):
                conn.sock.shutdown(socket.SHUT_RD)

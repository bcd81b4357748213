"""A small HTTP receiver on the loopback address that stores the requests it gets."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Received:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    """An HTTP receiver for tests. status, answer, headers: its response to all further requests."""

    url: str = ""
    status: int = 200
    answer: bytes = b"ok"
    headers: dict[str, str] = field(default_factory=dict)
    requests: list[Received] = field(default_factory=list)


@contextmanager
def receiver() -> Iterator[Receiver]:
    stored = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def answer_request(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            names = {name.lower(): value for name, value in self.headers.items()}
            stored.requests.append(Received(self.command, self.path, names, body))
            self.send_response(stored.status)
            for name, value in stored.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(stored.answer)))
            self.end_headers()
            self.wfile.write(stored.answer)

        do_POST = do_PUT = do_GET = answer_request

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    stored.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield stored
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

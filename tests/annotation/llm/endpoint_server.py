"""A small chat-completions endpoint for tests. It replays labels, and delays, fails or answers
wrongly on request."""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Behaviour = Callable[["Replay", tuple[str, str], int], Any]
"""(server, pair, number of the request for this key from 1) -> text of an answer, a status,
(status, headers), bytes as they are, or None: a label."""


class Replay:
    """The labels and behaviour of the endpoint. labels: {(topic, document): grade}, found by `topic
    T` and `document D` in the prompt.

    requests: by idempotency key. executed: by idempotency key; a request with a key that was
    answered before only gets the same answer. seen: the requests received.
    """

    def __init__(
        self, labels: dict[tuple[str, str], int], behaviour: Behaviour | None = None
    ) -> None:
        self.labels, self.behaviour = labels, behaviour
        self.requests: Counter[str] = Counter()
        self.executed: Counter[str] = Counter()
        self.answers: dict[str, str] = {}
        self.seen: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.lock = threading.Lock()
        self.held, self.released = threading.Event(), threading.Event()

    def hold(self) -> None:
        """Hold back answers until the test releases them."""
        self.held.set()
        self.released.wait(60)

    def reply(
        self, key: str, body: dict[str, Any], headers: dict[str, str]
    ) -> tuple[int, dict[str, str], bytes]:
        prompt = body["messages"][-1]["content"]
        topic, document = (re.search(rf"{word} (\w+)", prompt) for word in ("topic", "document"))
        assert topic is not None
        assert document is not None
        pair = (topic[1], document[1])
        with self.lock:
            self.requests[key] += 1
            number = self.requests[key]
            self.seen.append(body)
            self.headers.append(headers)
        told = self.behaviour(self, pair, number) if self.behaviour else None
        if isinstance(told, bytes):
            return 200, {}, told
        if isinstance(told, int):
            return told, {}, b""
        if isinstance(told, tuple):
            return told[0], told[1], b""
        with self.lock:
            if key not in self.answers:
                self.executed[key] += 1
                self.answers[key] = f"Grade: {self.labels[pair]}" if told is None else told
            text = self.answers[key]
        answer = {
            "choices": [{"message": {"role": "assistant", "content": text}}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 4},
        }
        return 200, {}, json.dumps(answer).encode()


@contextmanager
def serving(replay: Replay) -> Iterator[str]:
    """Run the endpoint for the duration of the context, and yield its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            assert self.path == "/v1/chat/completions"
            status, headers, content = replay.reply(
                self.headers["Idempotency-Key"], body, dict(self.headers)
            )
            try:
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
            except OSError:
                pass  # the client has hung up

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
    )
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        replay.released.set()
        server.shutdown()
        server.server_close()
        thread.join()

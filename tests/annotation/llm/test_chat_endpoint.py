"""One call has one deadline and can be given up, whatever the endpoint sends."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from types import TracebackType

import pytest

from annotation.llm.chat_endpoint import CallFailed, CallStopped, Endpoint

HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 4000000\r\n\r\n"
ANSWER = json.dumps({"choices": [{"message": {"content": "Grade: 2"}}]}).encode()


class Trickle:
    """An endpoint that answers each call with `first` at once and then one blank per 0.1 s, until
    the caller hangs up."""

    def __init__(self, first: bytes = HEAD) -> None:
        self.first, self.n_calls = first, 0
        self.is_called, self.over = threading.Event(), threading.Event()
        self.server = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.server.getsockname()[1]}/v1"

    def __enter__(self) -> Trickle:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.over.set()
        self.server.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connected, _ = self.server.accept()
                threading.Thread(target=self._answer, args=(connected,), daemon=True).start()

    def _answer(self, connected: socket.socket) -> None:
        with connected, contextlib.suppress(OSError):
            connected.recv(1 << 16)
            self.n_calls += 1
            connected.sendall(self.first)
            self.is_called.set()
            while not self.over.wait(0.1):
                connected.sendall(b" ")


def call(url: str, *, timeout: float = 30.0, stop: threading.Event | None = None) -> str:
    endpoint = Endpoint(url, "model", timeout=timeout)
    return endpoint.complete(
        [{"role": "user", "content": "x"}], idempotency_key="k", stop=stop
    ).text


@pytest.mark.parametrize(
    "first",
    [
        HEAD,
        b"HTTP/1.1 200 OK\r\nX-Long: ",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
    ],
)
def test_an_answer_that_trickles_in_for_ever_is_given_up_at_the_deadline_of_the_call(
    first: bytes,
) -> None:
    with Trickle(first) as trickle, pytest.raises(CallFailed, match="timed out"):
        call(trickle.url, timeout=0.5)


def test_a_call_ends_once_its_answer_is_not_wanted_any_more() -> None:
    stop = threading.Event()
    with Trickle() as trickle:
        threading.Thread(
            target=lambda: trickle.is_called.wait(20) and stop.set(), daemon=True
        ).start()
        with pytest.raises(CallStopped):
            call(trickle.url, stop=stop)
    assert trickle.n_calls == 1


@pytest.mark.parametrize("length", [b"Content-Length: %d" % len(ANSWER), b"Connection: close"])
def test_an_answer_in_pieces_is_read_whole(length: bytes) -> None:
    server = socket.create_server(("127.0.0.1", 0))

    def answer() -> None:
        connected, _ = server.accept()
        with connected:
            connected.recv(1 << 16)
            for piece in (b"HTTP/1.1 200 OK\r\n", length + b"\r\n\r\n", ANSWER[:20], ANSWER[20:]):
                connected.sendall(piece)
                threading.Event().wait(0.02)
            connected.shutdown(socket.SHUT_WR)
            while connected.recv(
                1 << 16
            ):  # what is left of the request; closing with unread bytes resets the connection
                pass

    with server:
        threading.Thread(target=answer, daemon=True).start()
        assert call(f"http://127.0.0.1:{server.getsockname()[1]}/v1") == "Grade: 2"

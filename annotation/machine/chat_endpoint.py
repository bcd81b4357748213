"""An endpoint in the chat-completions form, as Ollama, vLLM, llama.cpp and hosted services speak
it; the standard library alone.

The key comes from the environment and goes into a header, nowhere else: not into a message, a store
or an error."""

from __future__ import annotations

import http.client
import io
import json
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import urlsplit

MAX_ANSWER_BYTES = 4 << 20
CONNECT_SECONDS = 10.0
POLL_SECONDS = 0.2
"""Between two looks at the clock and at whether the call is still wanted."""


class CallFailure(StrEnum):
    """Why a call brought no answer. All may pass, so the call may be made again."""

    TIMEOUT = "timed out"
    RATE_LIMITED = "rate limited"
    UNREACHABLE = "unreachable"
    SERVER = "server error"
    NO_ANSWER = "no answer in the chat-completions form"


class CallFailed(Exception):
    """wait: seconds that the endpoint asks for, None where it does not say. final: the same call
    would fail again (wrong key, unknown model)."""

    def __init__(
        self,
        trouble: CallFailure,
        detail: str = "",
        *,
        wait: float | None = None,
        final: bool = False,
    ) -> None:
        super().__init__(f"{trouble}{': ' + detail if detail else ''}")
        self.trouble, self.wait, self.final = trouble, wait, final


class CallStopped(Exception):
    """The answer is not wanted any more."""


class ChatReply(NamedTuple):
    """tokens: sent and received as the endpoint counted them, 0 where it does not say. refusal: it
    said so in the field for it."""

    text: str
    tokens_in: int
    tokens_out: int
    refusal: bool


@dataclass(frozen=True)
class Endpoint:
    """url: its base, to which /chat/completions is added. timeout: seconds for a whole call,
    however the answer trickles in. parameters: of sampling, sent as they are."""

    url: str
    model: str
    key: str = field(default="", repr=False)
    timeout: float = 60.0
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def complete(
        self,
        messages: Sequence[Mapping[str, str]],
        *,
        idempotency_key: str,
        stop: threading.Event | None = None,
    ) -> ChatReply:
        """Make one call. CallFailed where there is no answer, CallStopped once `stop` is set."""
        until = time.monotonic() + self.timeout
        parts = urlsplit(self.url.rstrip("/") + "/chat/completions")
        kind = (
            http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        )
        headers = {"Content-Type": "application/json", "Idempotency-Key": idempotency_key}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        body = json.dumps({"model": self.model, "messages": list(messages), **self.parameters})
        connection = kind(
            parts.hostname or "", parts.port, timeout=min(self.timeout, CONNECT_SECONDS)
        )
        connected: socket.socket | None = None
        try:
            connection.connect()
            connected = connection.sock
            connection.sock = _WatchedSocket(connected, until, stop or threading.Event())
            connection.request("POST", parts.path, body=body.encode("utf-8"), headers=headers)
            answer = connection.getresponse()
            content = answer.read(MAX_ANSWER_BYTES)
        except TimeoutError:
            raise CallFailed(CallFailure.TIMEOUT) from None
        except (OSError, http.client.HTTPException) as error:
            raise CallFailed(CallFailure.UNREACHABLE, type(error).__name__) from None
        finally:
            if connected is not None:
                connected.close()
        if answer.status != 200:
            raise _make_failure(answer.status, answer.getheader("Retry-After"))
        return _parse_reply(content)


class _WatchedSocket(io.RawIOBase):
    """A connected socket as http.client uses it. A timeout of the socket itself begins again with
    every byte; here the whole call has one, and each wait ends soon after `stop` is set."""

    def __init__(self, connected: socket.socket, until: float, stop: threading.Event) -> None:
        self.socket, self.until, self.stop = connected, until, stop
        connected.settimeout(POLL_SECONDS)

    def _retry_until_ready(self, step: Callable[[], int]) -> int:
        while True:
            if self.stop.is_set():
                raise CallStopped
            if time.monotonic() > self.until:
                raise CallFailed(CallFailure.TIMEOUT)
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
        """Nothing: http.client closes it before the answer is read whole. Who connected closes the
        socket."""


def _make_failure(status: int, retry_after: str | None) -> CallFailed:
    try:
        wait = max(float(retry_after), 0.0) if retry_after else None
    except ValueError:
        wait = None
    if status == 429:
        return CallFailed(CallFailure.RATE_LIMITED, wait=wait)
    return CallFailed(
        CallFailure.SERVER,
        f"status {status}",
        wait=wait,
        final=400 <= status < 500 and status != 408,
    )


def _parse_reply(content: bytes) -> ChatReply:
    try:
        answer = json.loads(content)
        choice = answer["choices"][0]
        message, usage = choice["message"], answer.get("usage") or {}
        refusal = bool(message.get("refusal")) or choice.get("finish_reason") == "content_filter"
        text = message.get("content") or message.get("refusal") or ""
        if not isinstance(text, str):
            raise TypeError
        return ChatReply(
            text,
            int(usage.get("prompt_tokens") or 0),
            int(usage.get("completion_tokens") or 0),
            refusal,
        )
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        raise CallFailed(CallFailure.NO_ANSWER) from None

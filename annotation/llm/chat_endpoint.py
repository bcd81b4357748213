"""Client of chat-completions endpoints, such as Ollama, vLLM, llama.cpp and hosted services. Uses
only the standard library.

The key is read from the environment and sent in a header. It never appears in messages, stores or
errors.
"""

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
"""Seconds between two checks of the time limit and of `stop`."""


class CallFailure(StrEnum):
    """The reason why a call has no answer. All are temporary, so the call may be repeated."""

    TIMEOUT = "timed out"
    RATE_LIMITED = "rate limited"
    UNREACHABLE = "unreachable"
    SERVER = "server error"
    NO_ANSWER = "no answer in the chat-completions form"


class CallFailed(Exception):
    """A call failed. wait: seconds that the endpoint requests before the next call, None if
    unknown. final: a repetition would fail as well (wrong key, unknown model)."""

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
    """The call was abandoned because `stop` was set."""


class ChatReply(NamedTuple):
    """An answer of the endpoint. tokens: sent and received as counted by the endpoint, 0 if
    unknown. refusal: whether the endpoint marked the answer as a refusal."""

    text: str
    tokens_in: int
    tokens_out: int
    refusal: bool


@dataclass(frozen=True)
class Endpoint:
    """A chat-completions endpoint. url: base URL, to which /chat/completions is added. timeout:
    seconds for a whole call, even if data arrives slowly. parameters: sampling parameters, sent
    unchanged."""

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
        """Make one call. Raises CallFailed without an answer, and CallStopped once `stop` is
        set."""
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
    """A connected socket for http.client with a time limit for the whole call. The timeout of a
    plain socket restarts with every byte. Each wait also ends soon after `stop` is set."""

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
        """Do nothing, because http.client closes the socket before the answer is read completely.
        The code that connected closes it."""


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

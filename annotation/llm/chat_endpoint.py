"""Client of chat-completions endpoints, such as Ollama, vLLM, llama.cpp and hosted services.

The key is read from the environment and sent in a header. It never appears in messages, stores or
errors.
"""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from pooling.platform.outgoing import OutgoingRequest, RequestStopped


class CallFailure(StrEnum):
    """The reason why a call has no answer. All are temporary, so the call may be repeated."""

    TIMEOUT = "timed out"
    RATE_LIMITED = "rate limited"
    UNREACHABLE = "unreachable"
    SERVER = "server error"
    NO_ANSWER = "no answer in the chat-completions form"


class CallFailed(Exception):
    """Raised if a call to the endpoint fails. wait: seconds that the endpoint requests before the
    next call, None if unknown. final: a repetition would fail as well (wrong key, unknown model).
    """

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
    """Raised if a call was abandoned because `stop` was set."""


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
        """Send a prompt to the endpoint and return its answer. Raises CallFailed without an answer,
        and CallStopped once `stop` is set."""
        headers = {"Content-Type": "application/json", "Idempotency-Key": idempotency_key}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        body = json.dumps({"model": self.model, "messages": list(messages), **self.parameters})
        request = OutgoingRequest(
            self.url.rstrip("/") + "/chat/completions",
            body.encode("utf-8"),
            headers,
            timeout=self.timeout,
        )
        try:
            answer = request.send(stop=stop)
        except RequestStopped:
            raise CallStopped from None
        except TimeoutError:
            raise CallFailed(CallFailure.TIMEOUT) from None
        except (OSError, http.client.HTTPException) as error:
            raise CallFailed(CallFailure.UNREACHABLE, type(error).__name__) from None
        if answer.status != 200:
            raise _make_failure(answer.status, answer.headers.get("Retry-After"))
        return _parse_reply(answer.body)


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

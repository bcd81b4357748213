"""Simulation of many annotators' pages in one program. Each page judges and tops up its pairs over
its own connection, and repeats refused requests.

If a request is refused, a page keeps the judgement, waits as long as `Retry-After` says, and sends
the same request again. There is no proxy, but each request has the time stamp of one.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
import uuid
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

TIMEOUT_SECONDS = 20.0
"""Seconds after which a browser's page considers a request lost."""
WINDOW = 3
JUDGEMENT_BODY = {
    "cannot_reason": "",
    "note": "",
    "spans": [],
    "active_ms": 4000,
    "idle_ms": 0,
    "hidden_ms": 0,
    "wall_ms": 4500,
    "guideline_version": 1,
    "device": "keyboard",
}


def proxy_stamp_header() -> str:
    """Return the header line in which a proxy states when it received a request."""
    return f"X-Request-Start: t={time.time():.3f}\r\n"


@dataclass
class RequestDiary:
    """A record of all requests, as (end time, seconds taken, status, 0 for lost), and the keys of
    accepted judgements."""

    asked: list[tuple[float, float, int]] = field(default_factory=list)
    accepted: set[str] = field(default_factory=set)

    def between(self, start: float, end: float) -> list[tuple[float, int]]:
        return [
            (seconds, status) for moment, seconds, status in self.asked if start <= moment < end
        ]


class AnnotatorClient:
    """A simulated judging page of one annotator. cookies: value of the header. csrf: the token in
    it. site: additional header lines of each request."""

    def __init__(self, port: int, slug: str, cookies: str, csrf: str, diary: RequestDiary) -> None:
        self.port, self.slug, self.cookies, self.csrf, self.diary = port, slug, cookies, csrf, diary
        self.held: list[str] = []
        self.unsent: dict[str, Any] | None = None
        self.streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self.site = f"Host: 127.0.0.1:{port}\r\n"

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port)

    async def ask(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, str], Any]:
        """Send a request and return (status, headers, body). Status 0 means no answer in time."""
        return await self._timed(
            f"POST /api/v1/judging/{self.slug}/{path}", json.dumps(body).encode()
        )

    async def look(self, page: str) -> tuple[int, dict[str, str], Any]:
        """Request a page of the campaign. Returns (status, headers, body) as `ask` does."""
        return await self._timed(f"GET /campaigns/{self.slug}/{page}", b"")

    async def _timed(self, line: str, body: bytes) -> tuple[int, dict[str, str], Any]:
        began = time.monotonic()
        try:
            status, headers, text = await asyncio.wait_for(
                self._exchange(line, body), TIMEOUT_SECONDS
            )
        except (TimeoutError, OSError, asyncio.IncompleteReadError, IndexError):
            self.close()
            status, headers, text = 0, {}, b""
        now = time.monotonic()
        self.diary.asked.append((now, now - began, status))
        return status, headers, json.loads(text) if text[:1] == b"{" else None

    async def _exchange(self, line: str, body: bytes) -> tuple[int, dict[str, str], bytes]:
        if self.streams is None or self.streams[0].at_eof():
            self.close()
            self.streams = await self.connect()
        reader, writer = self.streams
        head = (
            f"{line} HTTP/1.1\r\n{self.site}Cookie: {self.cookies}\r\nX-CSRFToken: {self.csrf}\r\n{proxy_stamp_header()}"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        writer.write(head.encode() + body)
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {
            name.lower(): value
            for name, _, value in (line.partition(": ") for line in lines[1:])
            if name
        }
        text = await reader.readexactly(int(headers.get("content-length", 0)))
        if headers.get("connection") == "close":
            self.close()
        return int(lines[0].split()[1]), headers, text

    def close(self) -> None:
        if self.streams is not None:
            self.streams[1].close()
        self.streams = None

    async def step(self) -> float:
        """Take one step: judge a pair, get pairs, or repeat a refused request. Returns the seconds
        to wait before the next step, 0 for none."""
        if self.unsent is None and self.held:
            self.unsent = {
                "key": str(uuid.uuid4()),
                "lease": self.held.pop(0),
                "grade": 1,
                "want": WINDOW,
                **JUDGEMENT_BODY,
            }
        if self.unsent is None:
            status, headers, answer = await self.ask("leases", {"want": WINDOW, "held": []})
        else:
            status, headers, answer = await self.ask(
                "judgements", {**self.unsent, "held": self.held}
            )
        if status == 200:
            if self.unsent is not None:
                self.diary.accepted.add(self.unsent["key"])
                self.unsent = None
            self.held += [pair["lease"] for pair in answer["pairs"]]
            return 0.0
        if status not in (0, 502, 503):
            raise SystemExit(f"{status}: {answer}")
        return float(headers.get("retry-after", 1 + random.random()))

    async def judge_for(self, seconds: float, *, every: float) -> None:
        """Judge once per `every` seconds (0: as soon as the answer arrives). The first judgement is
        at a random time."""
        end, due = time.monotonic() + seconds, time.monotonic() + random.random() * every
        while due < end:
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            wait = await self.step()
            due = time.monotonic() + wait if wait else max(due + every, time.monotonic())


async def run_judging(
    clients: list[AnnotatorClient], seconds: float, *, every: float
) -> tuple[float, float]:
    """Let all pages judge. Returns (start, end) by time.monotonic."""
    began = time.monotonic()
    await asyncio.gather(*(client.judge_for(seconds, every=every) for client in clients))
    return began, time.monotonic()


async def open_pages(
    manager: AnnotatorClient, pages: list[str], seconds: float, *, every: float
) -> None:
    """Open pages one after the other as this manager, one per `every` seconds."""
    end, due, n = time.monotonic() + seconds, time.monotonic() + random.random() * every, 0
    while due < end:
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        await manager.look(pages[n % len(pages)])
        due, n = max(due + every, time.monotonic()), n + 1


async def sign_in_person(
    port: int,
    username: str,
    password: str,
    diary: RequestDiary,
    *,
    after: float,
    repeats: bool = False,
) -> float:
    """Sign in one user after `after` seconds. Returns time.monotonic() at the last answer. repeats:
    repeat refused requests after Retry-After, as the page does."""
    await asyncio.sleep(after)
    while True:
        status, wait = await _sign_in_once(port, username, password, diary)
        if not repeats or status not in (0, 503):
            return time.monotonic()
        await asyncio.sleep(wait)


async def _sign_in_once(
    port: int, username: str, password: str, diary: RequestDiary
) -> tuple[int, float]:
    """Try to sign in once. Returns (status, 0 for lost; seconds after which to repeat)."""
    body, csrf, began = (
        urlencode({"username": username, "password": password}).encode(),
        "a" * 32,
        time.monotonic(),
    )
    head = (
        f"POST /sign-in HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: "
        f"csrftoken={csrf}\r\nX-CSRFToken: {csrf}\r\nAccept: application/json\r\n{proxy_stamp_header()}"
        f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    wait = 1 + random.random()
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(head.encode() + body)
        lines = (
            (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), TIMEOUT_SECONDS))
            .decode("latin-1")
            .split("\r\n")
        )
        status = int(lines[0].split()[1])
        wait = next(
            (
                float(line.split(":")[1])
                for line in lines
                if line.lower().startswith("retry-after:")
            ),
            wait,
        )
        writer.close()
    except (TimeoutError, OSError, IndexError, asyncio.IncompleteReadError):
        status = 0
    now = time.monotonic()
    diary.asked.append((now, now - began, status))
    return status, wait


async def sign_in_everyone(
    port: int, n: int, password: str, diary: RequestDiary, *, within: float, repeats: bool = False
) -> float:
    """Sign in the users crowd0, crowd1, ... (n of them) evenly within `within` seconds. Returns the
    seconds until the last answer."""
    began = time.monotonic()
    ends = await asyncio.gather(
        *(
            sign_in_person(
                port, f"crowd{i}", password, diary, after=i * within / n, repeats=repeats
            )
            for i in range(n)
        )
    )
    return max(ends) - began

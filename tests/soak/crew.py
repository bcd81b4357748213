"""Annotators' pages that judge over HTTP, each in a thread, and repeat what was refused or lost
until it is accepted."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import Counter
from dataclasses import dataclass, field

from benchmarks.judging_clients import AnnotatorClient, RequestDiary
from tests.error_shape import CONTENT_TYPE, MEMBERS

SLUG = "soak"
EVERY_S = 0.4
"""Seconds between two judgements of one page."""


class SoakPage(AnnotatorClient):
    """An annotator's page that checks each refusal for the API's common error format. strange:
    refusals without this format, or final ones."""

    def __init__(self, port: int, session: dict[str, str]) -> None:
        super().__init__(port, SLUG, session["cookies"], session["csrf"], RequestDiary())
        self.strange: Counter[str] = Counter()

    async def _exchange(self, line: str, body: bytes) -> tuple[int, dict[str, str], bytes]:
        status, headers, text = await super()._exchange(line, body)
        if status != 200:
            kind = headers.get("content-type", "")
            if kind != CONTENT_TYPE or set(json.loads(text)) != MEMBERS:
                self.strange[f"{status} as {kind or 'nothing'}"] += 1
            elif status == 503 and not headers.get("retry-after"):
                self.strange["503 without Retry-After"] += 1
        return status, headers, text

    async def step(self) -> float:
        try:
            return await super().step()
        except SystemExit as refusal:  # a response that is neither accepted nor to be repeated
            self.strange[str(refusal)[:160]] += 1
            self.unsent = None
            return 1.0

    async def judge_until(self, stop: threading.Event) -> None:
        while not stop.is_set():
            due = time.monotonic() + (await self.step() or EVERY_S)
            while time.monotonic() < due and not stop.is_set():
                await asyncio.sleep(0.05)
        self.close()


@dataclass
class Crew:
    """Annotators' pages that judge for the duration of the context: with Crew([SoakPage(...),
    ...])."""

    pages: list[SoakPage]
    stop: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None

    def __enter__(self) -> Crew:
        self.thread = threading.Thread(target=lambda: asyncio.run(self._all()), daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        if self.thread is not None:
            self.thread.join(timeout=60)

    async def _all(self) -> None:
        await asyncio.gather(*(page.judge_until(self.stop) for page in self.pages))

    def answers(self) -> Counter[int]:
        return Counter(status for page in self.pages for _, _, status in page.diary.asked)

    def accepted(self) -> list[str]:
        return sorted(key for page in self.pages for key in page.diary.accepted)

    def slowest_since(self, moment: float) -> float:
        """Return the seconds of the slowest answer since this moment, 0 if there was none."""
        asked = (row for page in self.pages for row in page.diary.asked)
        return max(
            (seconds for at, seconds, status in asked if at > moment and status == 200), default=0.0
        )

    def strange(self) -> list[str]:
        whole = sum((page.strange for page in self.pages), Counter())
        return [f"{n} times {what}" for what, n in whole.most_common()]

    def normal_since(self, moment: float) -> float | None:
        """Return the seconds from this moment (time.monotonic) until each page had been answered
        again, None if one was not."""
        first = [
            min(
                (at for at, _, status in list(page.diary.asked) if status == 200 and at > moment),
                default=None,
            )
            for page in self.pages
        ]
        return None if None in first else max(at for at in first if at is not None) - moment

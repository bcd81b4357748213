"""Asking a machine judge about many pairs: several at once, within limits of rate and cost, every
call counted, none made twice.

report = ask_all(pairs, plan, store)              what is in the store already is not asked again
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from annotation.core.machine_prompts import (
    Grade,
    Outcome,
    PromptInput,
    PromptTemplate,
    Reply,
    aggregate_grades,
    estimate_tokens,
    parse_reply,
)
from annotation.machine.chat_endpoint import (
    POLL_SECONDS,
    CallFailed,
    CallStopped,
    ChatReply,
    Endpoint,
)
from assay.cli.base import BadInput

MAX_PAUSE = 60.0
EXPECTED_ANSWER = {"grade": 8, "reasons": 120}
"""Tokens that an answer is expected to have, for the estimate before."""


class AnswerStoreProtocol(Protocol):
    """Where calls and answers are kept, safe from the program's end before each method returns.
    answers, asked: by key."""

    answers: dict[str, dict[str, Any]]
    asked: dict[str, int]

    def ask(self, key: str) -> None: ...

    def failed(self, key: str, trouble: str) -> None: ...

    def answer(self, key: str, row: dict[str, Any]) -> None: ...


class PairToJudge(NamedTuple):
    topic: str
    document: str
    asked: PromptInput


@dataclass(frozen=True)
class LabellingPlan:
    """samples: answers of each pair. attempts: calls until a pair's answer is given up for now.
    per_minute, most_cost: None is no limit.

    price_in, price_out: of a million tokens. pause: seconds before the first repetition, twice as
    many before each further one. name: where several judges may share a setting, so that an
    endpoint that knows idempotency keys answers each anew."""

    endpoint: Endpoint
    template: PromptTemplate
    scale: Sequence[Grade]
    guidelines: str = ""
    samples: int = 1
    threads: int = 4
    attempts: int = 4
    per_minute: float | None = None
    price_in: float = 0.0
    price_out: float = 0.0
    most_cost: float | None = None
    pause: float = 1.0
    name: str = ""

    def setting(self) -> dict[str, Any]:
        """What makes two answers comparable; stands in the first line of the store."""
        told = hashlib.sha256(
            repr((list(self.scale), self.guidelines)).encode("utf-8")
        ).hexdigest()[:16]
        parameters = {str(key): value for key, value in sorted(self.endpoint.parameters.items())}
        prompt = f"{self.template.name} {self.template.version} {self.template.digest}"
        named = {"judge": self.name} if self.name else {}
        return {
            "model": self.endpoint.model,
            "prompt": prompt,
            "scale and guidelines": told,
            "parameters": parameters,
            **named,
        }

    def messages(self, pair: PairToJudge) -> list[dict[str, str]]:
        return self.template.messages(pair.asked, self.scale, self.guidelines)

    def price(self, tokens_in: float, tokens_out: float) -> float:
        return (tokens_in * self.price_in + tokens_out * self.price_out) / 1e6


class CostEstimate(NamedTuple):
    calls: int
    tokens_in: int
    tokens_out: int
    cost: float


def estimate_cost(pairs: Sequence[PairToJudge], plan: LabellingPlan) -> CostEstimate:
    """Before anything is asked."""
    sent = plan.samples * sum(estimate_tokens(plan.messages(pair)) for pair in pairs)
    received = (
        plan.samples
        * len(pairs)
        * EXPECTED_ANSWER.get(plan.template.name, EXPECTED_ANSWER["reasons"])
    )
    return CostEstimate(plan.samples * len(pairs), sent, received, plan.price(sent, received))


@dataclass
class LabellingReport:
    """calls: made now, repetitions included. lost: of a program that was killed, asked again.
    troubles: of calls without an answer. unanswered: pairs and samples left for the next time.
    stopped: why not all were asked."""

    calls: int = 0
    lost: int = 0
    troubles: Counter[str] = field(default_factory=Counter)
    unanswered: int = 0
    stopped: str | None = None


def answer_key(setting: dict[str, Any], pair: PairToJudge, sample: int) -> str:
    text = "\x1f".join([repr(sorted(setting.items())), pair.topic, pair.document, str(sample)])
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:32]


def label_pairs(
    pairs: Sequence[PairToJudge],
    plan: LabellingPlan,
    store: AnswerStoreProtocol,
    *,
    told: Callable[[], None] = lambda: None,
    stop: threading.Event | None = None,
) -> LabellingReport:
    """Ask about every pair and sample that the store has no answer of. BadInput where the endpoint
    says that no call can succeed.

    stop: once it is set no call is begun, and those on their way are given up.
    """
    asker = _Labeller(plan, store, told, stop or threading.Event())
    setting = plan.setting()
    waiting = [
        (key, pair)
        for pair in pairs
        for sample in range(plan.samples)
        if (key := answer_key(setting, pair, sample)) not in store.answers
    ]
    asker.report.lost = sum(key in store.asked for key, _ in waiting)
    with ThreadPoolExecutor(plan.threads) as pool:
        futures = [pool.submit(asker.ask, key, pair) for key, pair in waiting]
        wait(futures, return_when=FIRST_EXCEPTION)
        failed = next(
            (
                error
                for future in futures
                if future.done() and not future.cancelled() and (error := future.exception())
            ),
            None,
        )
        if failed is not None:
            asker.end.set()
            pool.shutdown(cancel_futures=True)
            raise failed
    return asker.report


class _Labeller:
    def __init__(
        self,
        plan: LabellingPlan,
        store: AnswerStoreProtocol,
        told: Callable[[], None],
        stop: threading.Event,
    ) -> None:
        """end: no call is begun any more. stop: nor is any answer wanted."""
        self.plan, self.store, self.told, self.stop = plan, store, told, stop
        self.report, self.lock, self.end = LabellingReport(), threading.Lock(), threading.Event()
        self.next_at = 0.0
        self.spent = sum(self.compute_price(row) for row in store.answers.values())

    def compute_price(self, row: dict[str, Any]) -> float:
        return self.plan.price(row["tokens_in"], row["tokens_out"])

    def ask(self, key: str, pair: PairToJudge) -> None:
        messages = self.plan.messages(pair)
        for attempt in range(self.plan.attempts):
            if not self._may_ask(messages):
                return
            self.store.ask(key)
            start = time.monotonic()
            try:
                said = self.plan.endpoint.complete(messages, idempotency_key=key, stop=self.stop)
            except (
                CallStopped
            ):  # the store knows of the call: next time it is made again under its key
                break
            except CallFailed as error:
                with self.lock:
                    self.report.troubles[str(error.trouble)] += 1
                self.store.failed(key, str(error.trouble))
                if error.final:
                    self.end.set()
                    raise BadInput(
                        f"the endpoint takes no such call ({error}); look at the address, the model's name and the key"
                    ) from None
                pause = self.plan.pause * 2**attempt if error.wait is None else error.wait
                self._wait(min(pause, MAX_PAUSE))
                continue
            self._store_answer(key, pair, said, time.monotonic() - start)
            return
        with self.lock:
            self.report.unanswered += 1

    def _store_answer(self, key: str, pair: PairToJudge, said: ChatReply, seconds: float) -> None:
        reply = (
            Reply(Outcome.REFUSED, None)
            if said.refusal
            else parse_reply(said.text, [grade.value for grade in self.plan.scale])
        )
        row = {
            "topic": pair.topic,
            "document": pair.document,
            "outcome": str(reply.outcome),
            "grade": reply.grade,
            "text": said.text,
            "tokens_in": said.tokens_in,
            "tokens_out": said.tokens_out,
            "seconds": round(seconds, 3),
        }
        with self.lock:
            self.spent += self.compute_price(row)
        self.store.answer(key, row)
        self.told()

    def _wait(self, seconds: float) -> None:
        """For so long, or until an end was called."""
        until = time.monotonic() + seconds
        while (
            not self.stop.is_set()
            and (left := until - time.monotonic()) > 0
            and not self.end.wait(min(left, POLL_SECONDS))
        ):
            pass

    def _may_ask(self, messages: Sequence[dict[str, str]]) -> bool:
        """Waits for the turn that the limit of rate gives; False once an end was called."""
        with self.lock:
            expected = self.plan.price(
                estimate_tokens(messages), EXPECTED_ANSWER.get(self.plan.template.name, 0)
            )
            if self.plan.most_cost is not None and self.spent + expected > self.plan.most_cost:
                self.report.stopped = f"the cost limit ({self.plan.most_cost:g}) would be exceeded"
                self.end.set()
            turn = max(time.monotonic(), self.next_at)
            self.next_at = turn + (60 / self.plan.per_minute if self.plan.per_minute else 0.0)
        self._wait(max(turn - time.monotonic(), 0.0))
        if self.end.is_set() or self.stop.is_set():
            with self.lock:
                self.report.unanswered += 1
            return False
        with self.lock:
            self.report.calls += 1
        return True


def collect_labels(
    pairs: Iterable[PairToJudge], plan: LabellingPlan, store: AnswerStoreProtocol
) -> dict[tuple[str, str], int]:
    """The most frequent grade of each pair's samples, the lowest of several; pairs without a grade
    are not in it."""
    setting, labels = plan.setting(), {}
    for pair in pairs:
        rows = [
            store.answers.get(answer_key(setting, pair, sample)) for sample in range(plan.samples)
        ]
        grade = aggregate_grades(
            [row["grade"] for row in rows if row is not None and row["grade"] is not None]
        )
        if grade is not None:
            labels[pair.topic, pair.document] = grade
    return labels

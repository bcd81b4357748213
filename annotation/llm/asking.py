"""Label many pairs with an LLM judge: parallel calls within rate and cost limits. Every call is
counted, and no answered call is repeated.

    report = label_pairs(pairs, plan, store)     skips pairs that the store has answers for
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

from annotation.core.llm_prompts import (
    Grade,
    Outcome,
    PromptInput,
    PromptTemplate,
    Reply,
    aggregate_grades,
    estimate_tokens,
    parse_reply,
)
from annotation.llm.chat_endpoint import (
    CallFailed,
    CallStopped,
    ChatReply,
    Endpoint,
)
from assay.cli.base import BadInput
from pooling.platform.outgoing import POLL_SECONDS

MAX_PAUSE = 60.0
EXPECTED_ANSWER = {"grade": 8, "reasons": 120}
"""Expected tokens per answer, for estimates."""


class AnswerStoreProtocol(Protocol):
    """A store of calls and answers that is durable when each method returns. answers: the
    row of each answer by key. asked: number of calls by key."""

    answers: dict[str, dict[str, Any]]
    asked: dict[str, int]

    def record_call(self, key: str) -> None: ...

    def record_failure(self, key: str, error: str) -> None: ...

    def record_answer(self, key: str, row: dict[str, Any]) -> None: ...


class PairToJudge(NamedTuple):
    topic: str
    document: str
    prompt_input: PromptInput


@dataclass(frozen=True)
class LabellingPlan:
    """Settings of a labelling run.

    samples: answers per pair. attempts: calls per answer before it is left for the next run.
    per_minute, most_cost: limits, None if there is none. price_in, price_out: price per million
    tokens. pause: seconds before the first repetition, doubled before each further one. name:
    distinguishes judges with equal settings, so that an endpoint with idempotency keys answers each
    separately.
    """

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
        """Return the settings that must be equal for two answers to be comparable. It is the first
        line of the store."""
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
        return self.template.messages(pair.prompt_input, self.scale, self.guidelines)

    def price(self, tokens_in: float, tokens_out: float) -> float:
        return (tokens_in * self.price_in + tokens_out * self.price_out) / 1e6


class CostEstimate(NamedTuple):
    calls: int
    tokens_in: int
    tokens_out: int
    cost: float


def estimate_cost(pairs: Sequence[PairToJudge], plan: LabellingPlan) -> CostEstimate:
    """Estimate the calls, tokens and cost of a labelling run before any call is made."""
    sent = plan.samples * sum(estimate_tokens(plan.messages(pair)) for pair in pairs)
    received = (
        plan.samples
        * len(pairs)
        * EXPECTED_ANSWER.get(plan.template.name, EXPECTED_ANSWER["reasons"])
    )
    return CostEstimate(plan.samples * len(pairs), sent, received, plan.price(sent, received))


@dataclass
class LabellingReport:
    """The result of a labelling run.

    calls: made in this run, including repetitions. lost: calls of an interrupted run that were
    repeated. troubles: errors of calls without an answer. unanswered: pairs and samples left for
    the next run. stopped: why some calls were not made.
    """

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
    on_answer: Callable[[], None] = lambda: None,
    stop: threading.Event | None = None,
) -> LabellingReport:
    """Request an answer for every pair and sample without one in the store. Raises BadInput if the
    endpoint reports that no call can succeed.

    stop: once it is set, no call is started and running calls are abandoned.
    """
    asker = _Labeller(plan, store, on_answer, stop or threading.Event())
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
        on_answer: Callable[[], None],
        stop: threading.Event,
    ) -> None:
        """Create the labeller. If `stop` is set, running calls are abandoned, too, whereas `end`
        only prevents further calls."""
        self.plan, self.store, self.on_answer, self.stop = plan, store, on_answer, stop
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
            self.store.record_call(key)
            start = time.monotonic()
            try:
                said = self.plan.endpoint.complete(messages, idempotency_key=key, stop=self.stop)
            except CallStopped:
                # the store has the call, so that the next run repeats it with the same key
                break
            except CallFailed as error:
                with self.lock:
                    self.report.troubles[str(error.trouble)] += 1
                self.store.record_failure(key, str(error.trouble))
                if error.final:
                    self.end.set()
                    raise BadInput(
                        f"the endpoint refused the call ({error}); check the address, the model's name and the key"
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
        self.store.record_answer(key, row)
        self.on_answer()

    def _wait(self, seconds: float) -> None:
        """Wait for `seconds` or until the end of the run is requested."""
        until = time.monotonic() + seconds
        while (
            not self.stop.is_set()
            and (left := until - time.monotonic()) > 0
            and not self.end.wait(min(left, POLL_SECONDS))
        ):
            pass

    def _may_ask(self, messages: Sequence[dict[str, str]]) -> bool:
        """Wait until the rate limit allows another call. Return False if the end of the run was
        requested."""
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
    """Return the most frequent grade of each pair's samples, the lowest of ties. Pairs without a
    grade are omitted."""
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

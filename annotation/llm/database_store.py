"""Answers of an LLM judge in the database. The thread of the job writes them while other threads
wait for the endpoint.

    report = DatabaseStore(judge, plan, work, topics).run(pairs)     skips answered pairs

A row is stored before a call is made (asked) and after its answer (answered). An interrupted run
can resume, and a lost call is repeated with the same idempotency key.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.llm.asking import (
    LabellingPlan,
    LabellingReport,
    PairToJudge,
    answer_key,
    label_pairs,
)
from annotation.models import LlmJudge, LlmLabel
from pooling.platform.jobs import ClaimedJob, Refused

POLL_SECONDS = 0.2
"""Seconds between two checks for completed calls while there is nothing to write."""
GRACE_SECONDS = 3.0  # less than pooling.platform.jobs.CANCEL_SECONDS
"""Seconds for running calls to complete after the job is stopped, because they are paid for."""


class JobEnded(Exception):
    """Raised if the labelling job was cancelled or taken over, so that no further call is made."""


class PairKey(NamedTuple):
    """Identification of a pair by topic and document. topic: primary key of Topic."""

    topic: int
    document: str
    sample: int


class DatabaseStore:
    """A store of answers in the database. answers, asked: by key, as in
    `asking.AnswerStoreProtocol`. topics: primary key of Topic by topic ID."""

    def __init__(
        self, judge: LlmJudge, plan: LabellingPlan, work: ClaimedJob, topics: dict[str, int]
    ) -> None:
        self.judge, self.plan, self.work, self.topics = judge, plan, work, topics
        self.answers: dict[str, dict[str, Any]] = {}
        self.asked: dict[str, int] = {}
        self.places: dict[str, PairKey] = {}
        self.writes: queue.Queue[tuple[Callable[[], None], Future[None]]] = queue.Queue()
        self.stopped: BaseException | None = None
        self.stopped_at = 0.0
        self.end = threading.Event()

    def run(self, pairs: Sequence[PairToJudge]) -> LabellingReport:
        """Request the missing answers. If the job is stopped, stores the calls that complete within
        GRACE_SECONDS and raises the reason."""
        self._load(pairs)
        total = len(self.places)
        self.work.progress(len(self.answers), total=total, message=self.judge.name, now=True)
        with ThreadPoolExecutor(1) as side:
            calls = side.submit(label_pairs, pairs, self.plan, self, stop=self.end)
            while not (calls.done() and self.writes.empty()):
                self._run_or_stop(lambda: self._process_calls(calls))
                if self.stopped is not None and time.monotonic() - self.stopped_at > GRACE_SECONDS:
                    self.end.set()
        if self.stopped is not None:
            raise self.stopped
        return calls.result()

    def _load(self, pairs: Sequence[PairToJudge]) -> None:
        setting = self.plan.setting()
        for pair in pairs:
            for sample in range(self.plan.samples):
                self.places[answer_key(setting, pair, sample)] = PairKey(
                    self.topics[pair.topic], pair.document, sample
                )
        key_at = {place: key for key, place in self.places.items()}
        for (
            topic,
            document,
            sample,
            state,
            calls,
            grade,
            sent,
            received,
        ) in self.judge.labels.values_list(
            "topic_id", "docno", "sample", "state", "calls", "grade", "tokens_in", "tokens_out"
        ):
            if (key := key_at.get(PairKey(topic, document, sample))) is None:
                continue
            self.asked[key] = calls
            if state != LlmLabel.State.ASKED:
                self.answers[key] = {"grade": grade, "tokens_in": sent, "tokens_out": received}

    def _process_calls(self, calls: Future[LabellingReport]) -> None:
        """Store the next completed call, or wait briefly for one."""
        try:
            write, written = self.writes.get(timeout=POLL_SECONDS)
        except queue.Empty:
            if not calls.done():
                self._run_or_stop(lambda: self.work.progress(len(self.answers)))
            return
        try:
            write()
        except BaseException as error:
            self._stop(error)
            written.set_exception(JobEnded())
        else:
            written.set_result(None)
            self._run_or_stop(lambda: self.work.progress(len(self.answers)))

    def _run_or_stop(self, step: Callable[[], None]) -> None:
        """Run a step of the labelling. If it raises, store the running calls before the error is
        passed on."""
        try:
            step()
        except BaseException as error:
            self._stop(error)

    def _stop(self, reason: BaseException) -> None:
        if self.stopped is None:
            self.stopped, self.stopped_at = reason, time.monotonic()

    def _commit(self, write: Callable[[], None]) -> None:
        done: Future[None] = Future()
        self.writes.put((write, done))
        done.result()

    def record_call(self, key: str) -> None:
        if self.stopped is not None:
            raise JobEnded
        place = self.places[key]

        def write() -> None:
            if self.stopped is not None:
                raise self.stopped
            with self.work.writing():
                self._open()
                named = {
                    "judge": self.judge,
                    "topic_id": place.topic,
                    "docno": place.document,
                    "sample": place.sample,
                }
                LlmLabel.objects.get_or_create(**named, defaults={"key": key})
                LlmLabel.objects.filter(**named).update(calls=F("calls") + 1)

        self._commit(write)
        self.asked[key] = self.asked.get(key, 0) + 1

    def record_failure(self, key: str, error: str) -> None:
        def write() -> None:
            troubles = self.judge.troubles
            troubles[error] = troubles.get(error, 0) + 1
            with self.work.writing():
                LlmJudge.objects.filter(pk=self.judge.pk).update(troubles=troubles)

        self._commit(write)

    def record_answer(self, key: str, row: dict[str, Any]) -> None:
        place = self.places[key]

        def write() -> None:
            with self.work.writing():
                self._open()
                asked = LlmLabel.objects.filter(
                    judge=self.judge,
                    topic_id=place.topic,
                    docno=place.document,
                    sample=place.sample,
                )
                asked.filter(state=LlmLabel.State.ASKED).update(
                    state=row["outcome"],
                    grade=row["grade"],
                    answer=row["text"].replace("\0", ""),
                    tokens_in=row["tokens_in"],
                    tokens_out=row["tokens_out"],
                    seconds=row["seconds"],
                    answered_at=timezone.now(),
                )
            self.answers[key] = row

        self._commit(write)

    def _open(self) -> None:
        """Check, inside a transaction, that the judge exists and is not frozen."""
        if not LlmJudge.objects.filter(pk=self.judge.pk, frozen_at=None).update(name=F("name")):
            raise Refused(
                _("%(name)s is frozen or deleted, so no labels can be added.")
                % {"name": self.judge.name}
            )

"""Simulated annotators that use the judging API of a running server, as fast as it responds."""

from __future__ import annotations

import http.client
import json
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from django.db import connection

from annotation.models import ApiTokenRow, Campaign
from annotation.services.errors import AnswerRefused, CampaignError
from annotation.services.people import tokens
from annotation.services.simulation.annotators import (
    KnownGrades,
    SimulatedAnnotator,
    SimulationReport,
    simulate_judgement,
)

TOKEN_NAME = "simulation"
LEASES_HELD = 2
"""Pairs that an annotator holds, so that the next one is available immediately."""


def run_over_http(
    campaign: Campaign,
    annotators: list[SimulatedAnnotator],
    truth: KnownGrades,
    *,
    url: str,
    reliability: float,
    seconds: float,
    threads: int = 8,
    patience: float = 5.0,
    most: int | None = None,
    on_progress: Callable[[int], None] = lambda n: None,
) -> SimulationReport:
    """Judge in `threads` threads until there are no pairs left and none have been released for
    `patience` seconds.

    API tokens of the annotators are created for the run and deleted afterwards. on_progress: callback that
    receives the number of judgements so far, from time to time.
    """
    began = time.monotonic()
    for annotator in annotators:
        annotator.token = tokens.create_api_token(user=annotator.membership.user, name=TOKEN_NAME)
    crowd = _SharedState(
        url,
        campaign.slug,
        truth,
        annotators,
        reliability=reliability,
        seconds=seconds,
        patience=patience,
        most=most,
        on_progress=on_progress,
    )
    groups = [annotators[i::threads] for i in range(min(threads, len(annotators)))]
    workers = [threading.Thread(target=crowd.work, args=(group,), daemon=True) for group in groups]
    try:
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    finally:
        ApiTokenRow.objects.filter(
            user__in=[a.membership.user_id for a in annotators], name=TOKEN_NAME
        ).delete()
    crowd.report.seconds = time.monotonic() - began
    return crowd.report


class _SharedState:
    """The state of a simulation, shared by its threads."""

    def __init__(
        self,
        url: str,
        slug: str,
        truth: KnownGrades,
        annotators: list[SimulatedAnnotator],
        *,
        reliability: float,
        seconds: float,
        patience: float,
        most: int | None,
        on_progress: Callable[[int], None],
    ) -> None:
        self.url, self.slug, self.truth, self.on_progress = url, slug, truth, on_progress
        self.reliability, self.seconds, self.patience, self.most = (
            reliability,
            seconds,
            patience,
            most,
        )
        self.report = SimulationReport(kinds=Counter(a.kind for a in annotators))
        self.lock = threading.Lock()
        self.last_pair = time.monotonic()

    @property
    def finished(self) -> bool:
        return self.most is not None and self.report.judgements >= self.most

    def work(self, annotators: list[SimulatedAnnotator]) -> None:
        """Run one thread, whose annotators judge in turn."""
        server = ApiConnection(self.url, self.slug)
        hands: dict[int, list[dict[str, Any]]] = {
            annotator.membership.pk: [] for annotator in annotators
        }
        try:
            self.judge_in_turn(server, annotators, hands)
        except (OSError, http.client.HTTPException, CampaignError) as error:
            with self.lock:
                self.report.errors.append(f"{type(error).__name__}: {error}")
        finally:
            server.close()
            connection.close()

    def judge_in_turn(
        self,
        server: ApiConnection,
        annotators: list[SimulatedAnnotator],
        hands: dict[int, list[dict[str, Any]]],
    ) -> None:
        waiting = list(annotators)
        while waiting and not self.finished:
            progressed = False
            for annotator in list(waiting):
                state, judged = self.turn(server, annotator, hands[annotator.membership.pk])
                progressed |= judged
                if state is not None:
                    waiting.remove(annotator)
                    with self.lock:
                        self.report.states[state] += 1
            if progressed:
                self.last_pair = time.monotonic()
                self.on_progress(self.report.judgements)
            elif time.monotonic() - self.last_pair > self.patience:
                with self.lock:
                    self.report.states["nothing_now"] += len(waiting)
                return
            else:
                time.sleep(0.2)

    def turn(
        self, server: ApiConnection, annotator: SimulatedAnnotator, hand: list[dict[str, Any]]
    ) -> tuple[str | None, bool]:
        """Make one judgement for the annotator. Returns (final state of the annotator or None,
        whether a pair was judged)."""
        if annotator.has_left:
            return "dropped out", False
        if not hand:
            leases = server.post(annotator.token, "leases", {"want": LEASES_HELD})
            hand.extend(leases["pairs"])
            if not hand:
                return (
                    None if leases["state"] in ("nothing_now", "judging") else leases["state"]
                ), False
        body = self.judgement(annotator, hand.pop(0)) | {"held": [other["lease"] for other in hand]}
        try:
            answer = server.post(annotator.token, "judgements", body)
        except AnswerRefused as refusal:
            with self.lock:
                self.report.statuses[f"refused: {refusal.code}"] += 1
            return ("refused" if refusal.code in ("closed", "deadline_passed") else None), False
        hand.extend(answer["pairs"])
        with self.lock:
            self.report.judgements += 1
            self.report.statuses[answer["judgement"]["status"]] += 1
        annotator.n_judged += 1
        return None, True

    def judgement(self, annotator: SimulatedAnnotator, pair: dict[str, Any]) -> dict[str, Any]:
        """Return the annotator's judgement of the pair in the format of the API."""
        answer = simulate_judgement(
            annotator,
            self.truth,
            pair["topic"]["id"],
            pair["document"]["id"],
            pair["document"]["text"],
            other=pair.get("other", {}).get("id", ""),
            reliability=self.reliability,
            seconds=self.seconds,
        )
        return {
            "key": str(uuid.uuid4()),
            "lease": pair["lease"],
            "grade": answer.grade,
            "cannot_reason": answer.cannot_reason,
            "answers": answer.answers,
            "spans": answer.spans,
            "active_ms": answer.active_ms,
            "idle_ms": 0,
            "hidden_ms": 0,
            "wall_ms": answer.wall_ms,
            "guideline_version": answer.guideline_version,
            "device": answer.device,
            "want": LEASES_HELD,
        }


class ApiConnection:
    """A persistent connection to the judging API. Raises Refused for an error of the API, and
    OSError if the server does not respond."""

    def __init__(self, url: str, slug: str) -> None:
        parts = urlsplit(url)
        make = (
            http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        )
        self.connection = make(parts.hostname or "127.0.0.1", parts.port, timeout=60)
        self.prefix = f"{parts.path.rstrip('/')}/api/v1/judging/{slug}/"

    def post(self, token: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
        headers = {
            "Authorization": f"Token {token}",
            "Content-Type": "application/json",
            "Accept": "application/json",
        }
        for attempt in (
            1,
            2,
        ):  # the server may have closed an idle connection, and every call can be repeated
            try:
                self.connection.request("POST", self.prefix + path, json.dumps(body), headers)
                answer = self.connection.getresponse()
                text = answer.read()
                break
            except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
                self.connection.close()
                if attempt == 2:
                    raise
        try:
            said = json.loads(text)
        except ValueError:
            raise CampaignError(
                f"{path} returned status {answer.status} without a JSON body"
            ) from None
        if answer.status != 200:
            raise AnswerRefused(said.get("code", "error"), said.get("detail", ""), answer.status)
        return said

    def close(self) -> None:
        self.connection.close()

"""Simulated annotators at work in a campaign, over HTTP or directly through the services.

Campaign and memberships are marked simulated, and stay so. Their times are drawn, not lived through, so the server's clock does
not bound them (annotation.services.judging).
"""

from __future__ import annotations

import heapq
import http.client
import itertools
import json
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from django.contrib.auth import get_user_model
from django.db import connection, transaction
from django.db.models import F, Max, Min, Sum
from django.utils import timezone

from annotation.core import simulation as core
from annotation.core.scale import values
from annotation.models import ApiTokenRow, Campaign, Judgement, Lease, Membership, Pair, Profile
from annotation.services import judging, people, scheduling
from annotation.services.audit import record
from annotation.services.errors import CampaignError, Refused
from pooling.core.columns import Qrels

TOKEN_NAME = "simulation"
LONGEST_SESSION = timedelta(minutes=50)
SESSIONS = 3  # at least so many for everybody's share of the work
PAUSES = 14  # a pause is on average so many times as long as a session
EVENTS_A_TRANSACTION = 50


@dataclass
class Simulated:
    """One simulated annotator. `leaves_after`: judgements after which a dropout goes away for good, leaving its leases."""

    membership: Membership
    kind: str
    rng: np.random.Generator
    leaves_after: int | None = None
    token: str = ""
    n_judged: int = 0
    session_ends: datetime = datetime.min

    @property
    def gone(self) -> bool:
        return self.leaves_after is not None and self.n_judged >= self.leaves_after


@dataclass
class Report:
    """What happened; `states`: how many annotators ended in which state."""

    judgements: int = 0
    seconds: float = 0.0
    standings: Counter[str] = field(default_factory=Counter)
    states: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)


class Truth:
    """Known grades of (topic id, document id), on the campaign's scale."""

    def __init__(self, qrels: Qrels | None, campaign: Campaign) -> None:
        """qrels None: nothing is known, so everything has the lowest grade."""
        self.values = values(campaign.scale)
        self.grades: dict[tuple[str, str], int] = {}
        if qrels is None:
            return
        for number, topic in enumerate(qrels.topics):
            rows = qrels.rows(number)
            self.grades |= {(topic, d.decode()): int(g) for d, g in zip(qrels.documents[rows], qrels.grades[rows], strict=True)}

    def of(self, topic: str, docno: str) -> int:
        return core.truth(self.grades.get((topic, docno)), self.values)


def recruit(campaign: Campaign, n: int, *, weights: dict[str, float], seed: int) -> list[Simulated]:
    """n annotators marked simulated, those of an earlier simulation first; the campaign is marked, too.

    They cannot sign in with a password, have agreed to everything and know the newest guidelines.
    """
    if not campaign.simulated:
        Campaign.objects.filter(pk=campaign.pk).update(simulated=True)
        campaign.simulated = True
        record(campaign, None, "marked as simulated", campaign.name, annotators=n)
    existing = list(campaign.memberships.filter(simulated=True, role="annotator").select_related("campaign", "user").order_by("pk")[:n])
    numbers = itertools.count(1)
    while len(existing) < n:
        name = f"simulated-{campaign.slug}-{next(numbers)}"
        user, made = get_user_model().objects.get_or_create(username=name[:150])
        if made:
            user.set_unusable_password()
            user.save(update_fields=["password"])
            Profile.objects.create(user=user)
        if not Membership.objects.filter(campaign=campaign, user=user).exists():
            member = people.add_member(campaign=campaign, user=user, role=Membership.Role.ANNOTATOR, simulated=True)
            existing.append(member)
    newest = campaign.guidelines.order_by("number").last()
    now = timezone.now()
    chosen = Membership.objects.filter(pk__in=[member.pk for member in existing])
    chosen.update(consented_at=now, guideline_read=newest.number if newest else 0)
    chosen.filter(qualified_at=None).update(qualified_at=now)  # a simulation does not take the test
    streams = np.random.default_rng(seed).spawn(n)
    simulated = []
    for member, kind, rng in zip(existing, core.kinds_of(n, weights), streams, strict=True):
        member.campaign = campaign
        leaves = int(rng.integers(1, 25)) if kind == "dropout" else None
        simulated.append(Simulated(member, kind, rng, leaves))
    return simulated


# --- directly through the services, in simulated time ----------------------------------------------------------------------------


def run_directly(
    campaign: Campaign,
    annotators: list[Simulated],
    truth: Truth,
    *,
    reliability: float,
    seconds: float,
    start: datetime,
    most: int | None = None,
    told: Callable[[int], None] = lambda n: None,
) -> Report:
    """Judge until nobody finds anything, or `most` judgements, in simulated time from `start` on, never past the real now.

    Everybody works in sessions of at most 50 minutes with pauses between, and the leases of dropouts expire in simulated time, so
    others take them over. Arrival is set to the simulated time, too.
    """
    report, began = Report(kinds=Counter(a.kind for a in annotators)), time.monotonic()
    now, numbers, resting = timezone.now(), itertools.count(), list[Simulated]()
    queue: list[tuple[datetime, int, Simulated, tuple[uuid.UUID, judging.Answer] | None]] = []
    slots = campaign.pairs.filter(kind="normal", open_slots__gt=0).aggregate(n=Sum("open_slots"))["n"] or 0
    session = min(LONGEST_SESSION, timedelta(seconds=max(2 * seconds, slots * seconds / len(annotators) / SESSIONS)))
    for annotator in annotators:
        first = start + session * float(annotator.rng.uniform())
        annotator.session_ends = first + session
        heapq.heappush(queue, (first, next(numbers), annotator, None))

    def step() -> None:
        moment, _, annotator, work = heapq.heappop(queue)
        moment, member = min(moment, now), annotator.membership
        if work is not None:
            outcome = judging.submit(member, lease=work[0], key=uuid.uuid4(), answer=work[1], now=moment)
            report.standings[outcome.judgement.standing] += 1
            report.judgements += 1
            annotator.n_judged += 1
        if moment >= annotator.session_ends:
            moment = min(moment + PAUSES * session * float(annotator.rng.exponential()), now)
            annotator.session_ends = moment + session
            heapq.heappush(queue, (moment, next(numbers), annotator, None))
            return
        member.n_counted = Membership.objects.values_list("n_counted", flat=True).get(pk=member.pk)
        if member.goal is not None and member.n_counted >= member.goal:
            report.states["target_reached"] += 1
            return
        lease = scheduling.claim(member, now=moment)
        if lease is None:
            resting.append(annotator)
        elif annotator.gone:
            report.states["dropped out"] += 1
        else:
            topic, docno = Pair.objects.values_list("entry__topic__topic_id", "entry__docno").get(pk=lease.pair_id)
            true_grade = truth.of(topic, docno)
            behaviour = core.behave(annotator.kind, true_grade, truth.values, reliability=reliability, seconds=seconds, rng=annotator.rng)
            answer = _answer(behaviour, member)
            done = moment + timedelta(milliseconds=answer.wall_ms or 0)
            heapq.heappush(queue, (done, next(numbers), annotator, (lease.token, answer)))

    while queue and (most is None or report.judgements < most):
        # One commit for many events: on SQLite a commit costs more than a judgement.
        with transaction.atomic() if connection.vendor == "sqlite" else nullcontext():
            for _ in range(EVENTS_A_TRANSACTION):
                if queue:
                    step()
        told(report.judgements)
        if not queue and resting:
            # Nobody found anything, but leases of those who dropped out end some time: ask again after the last.
            last = Lease.objects.filter(pair__campaign=campaign, state=Lease.State.LIVE).aggregate(last=Max("expires_at"))["last"]
            if last is not None and last <= now:
                for annotator in resting:
                    annotator.session_ends = last + session
                    heapq.heappush(queue, (last, next(numbers), annotator, None))
            else:
                report.states["done"] += len(resting)
            resting.clear()
    simulated = Judgement.objects.filter(membership__in=[a.membership.pk for a in annotators])
    simulated.filter(judged_at__lt=F("received_at")).update(received_at=F("judged_at"))
    first = simulated.aggregate(first=Min("judged_at"))["first"]
    if first is not None:
        Campaign.objects.filter(pk=campaign.pk, opened_at__gt=first).update(opened_at=first)
    report.seconds = time.monotonic() - began
    return report


def _answer(behaviour: core.Behaviour, member: Membership) -> judging.Answer:
    return judging.Answer(
        grade=behaviour.grade,
        active_ms=behaviour.active_ms,
        idle_ms=0,
        hidden_ms=0,
        wall_ms=behaviour.active_ms + 400,
        guideline_version=member.guideline_read,
        device="simulated",
    )


# --- over HTTP -------------------------------------------------------------------------------------------------------------------


def run_over_http(
    campaign: Campaign,
    annotators: list[Simulated],
    truth: Truth,
    *,
    url: str,
    reliability: float,
    seconds: float,
    threads: int = 8,
    patience: float = 5.0,
    most: int | None = None,
    told: Callable[[int], None] = lambda n: None,
) -> Report:
    """The same over the judging API of a running server, as fast as it answers, in `threads` threads.

    Ends when nobody gets a pair any more: for `patience` seconds nothing has come back from others. The annotators' API tokens are
    made for this and dropped at the end.
    """
    report, began = Report(kinds=Counter(a.kind for a in annotators)), time.monotonic()
    for annotator in annotators:
        annotator.token = people.create_api_token(user=annotator.membership.user, name=TOKEN_NAME)
    lock, last_pair = threading.Lock(), [time.monotonic()]

    def one(mine: list[Simulated]) -> None:
        server = Server(url, campaign.slug)
        waiting = list(mine)
        hands: dict[int, list[dict[str, Any]]] = {annotator.membership.pk: [] for annotator in mine}
        try:
            while waiting and (most is None or report.judgements < most):
                progressed = False
                for annotator in list(waiting):
                    state, progressed_now = _turn(
                        server, annotator, hands[annotator.membership.pk], truth, reliability, seconds, report, lock
                    )
                    progressed |= progressed_now
                    if state is not None:
                        waiting.remove(annotator)
                        with lock:
                            report.states[state] += 1
                if progressed:
                    last_pair[0] = time.monotonic()
                    told(report.judgements)
                elif time.monotonic() - last_pair[0] > patience:
                    with lock:
                        report.states["nothing_now"] += len(waiting)
                    return
                else:
                    time.sleep(0.2)
        except (OSError, http.client.HTTPException, CampaignError) as error:
            with lock:
                report.errors.append(f"{type(error).__name__}: {error}")
        finally:
            server.close()
            connection.close()

    groups = [annotators[i::threads] for i in range(min(threads, len(annotators)))]
    workers = [threading.Thread(target=one, args=(group,), daemon=True) for group in groups]
    try:
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    finally:
        ApiTokenRow.objects.filter(user__in=[a.membership.user_id for a in annotators], name=TOKEN_NAME).delete()
    report.seconds = time.monotonic() - began
    return report


def _turn(
    server: Server,
    annotator: Simulated,
    hand: list[dict[str, Any]],
    truth: Truth,
    reliability: float,
    seconds: float,
    report: Report,
    lock: threading.Lock,
) -> tuple[str | None, bool]:
    """One judgement of one annotator: (the state in which this annotator is finished, or None; whether something was judged)."""
    if annotator.gone:
        return "dropped out", False
    if not hand:
        answer = server.post(annotator.token, "leases", {"want": 2})
        hand.extend(answer["pairs"])
        if not hand:
            return (None if answer["state"] in ("nothing_now", "judging") else answer["state"]), False
    pair = hand.pop(0)
    true_grade = truth.of(pair["topic"]["id"], pair["document"]["id"])
    behaviour = core.behave(annotator.kind, true_grade, truth.values, reliability=reliability, seconds=seconds, rng=annotator.rng)
    noted = _answer(behaviour, annotator.membership)
    body = {
        "key": str(uuid.uuid4()),
        "lease": pair["lease"],
        "grade": noted.grade,
        "active_ms": noted.active_ms,
        "idle_ms": 0,
        "hidden_ms": 0,
        "wall_ms": noted.wall_ms,
        "guideline_version": noted.guideline_version,
        "device": noted.device,
        "want": 2,
        "held": [other["lease"] for other in hand],
    }
    try:
        answer = server.post(annotator.token, "judgements", body)
    except Refused as refusal:
        with lock:
            report.standings[f"refused: {refusal.code}"] += 1
        return ("refused" if refusal.code in ("closed", "deadline_passed") else None), False
    hand.extend(answer["pairs"])
    with lock:
        report.judgements += 1
        report.standings[answer["judgement"]["standing"]] += 1
    annotator.n_judged += 1
    return None, True


class Server:
    """One kept-alive connection to the judging API. Raises Refused for an error of the API, OSError when nothing answers."""

    def __init__(self, url: str, slug: str) -> None:
        parts = urlsplit(url)
        make = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self.connection = make(parts.hostname or "127.0.0.1", parts.port, timeout=60)
        self.prefix = f"{parts.path.rstrip('/')}/api/v1/judging/{slug}/"

    def post(self, token: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
        headers = {"Authorization": f"Token {token}", "Content-Type": "application/json", "Accept": "application/json"}
        for attempt in (1, 2):  # a kept-alive connection may have been closed by the server; every call can be repeated
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
            found = json.loads(text)
        except ValueError:
            raise CampaignError(f"{path} answered {answer.status} and no JSON") from None
        if answer.status != 200:
            error = found.get("error", {})
            raise Refused(error.get("code", "error"), error.get("message", ""), answer.status)
        return found

    def close(self) -> None:
        self.connection.close()

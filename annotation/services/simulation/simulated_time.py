"""Simulated annotators that use the services directly, in simulated time."""

from __future__ import annotations

import heapq
import itertools
import time
import uuid
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from datetime import datetime, timedelta

from django.db import connection, transaction
from django.db.models import F, Max, Min, Sum
from django.utils import timezone

from annotation.core.preferences import is_swapped
from annotation.models import Campaign, Judgement, Lease, Membership, Pair
from annotation.selectors.pairs import get_kept_pairs
from annotation.services.judging import scheduling, submission
from annotation.services.simulation.annotators import (
    KnownGrades,
    SimulatedAnnotator,
    SimulationReport,
    simulate_judgement,
)

MAX_SESSION = timedelta(minutes=50)
SESSIONS_PER_DAY = 3  # minimum number of sessions for each annotator's share of the work
PAUSES = 14  # mean length of a pause, in sessions
EVENTS_PER_TRANSACTION = 50


def run_directly(
    campaign: Campaign,
    annotators: list[SimulatedAnnotator],
    truth: KnownGrades,
    *,
    reliability: float,
    seconds: float,
    start: datetime,
    most: int | None = None,
    on_progress: Callable[[int], None] = lambda n: None,
) -> SimulationReport:
    """Judge until no pairs are left or `most` judgements are made, in simulated time from `start`
    to the present.

    Annotators work in sessions of at most 50 minutes with pauses between them. Leases of dropouts
    expire in simulated time, so other annotators get their pairs. The time of arrival is simulated
    as well. on_progress: callback that receives the number of judgements so far, from time to time.
    """
    began = time.monotonic()
    agenda = _Agenda(
        campaign, annotators, truth, reliability=reliability, seconds=seconds, start=start
    )
    report = agenda.report
    while agenda.events and (most is None or report.judgements < most):
        # One commit covers many events, because on SQLite a commit costs more than a judgement.
        with transaction.atomic() if connection.vendor == "sqlite" else nullcontext():
            for _ in range(EVENTS_PER_TRANSACTION):
                if agenda.events:
                    agenda.step()
        on_progress(report.judgements)
        if not agenda.events:
            agenda.reschedule()
    _backdate_judgements(campaign, annotators)
    report.seconds = time.monotonic() - began
    return report


class _Agenda:
    """The queue of simulated events. An event is an annotator who requests a pair or, with `work`,
    has judged one.

    events: a heap of (time, number, annotator, work). The number keeps events with equal times in
    order.
    """

    def __init__(
        self,
        campaign: Campaign,
        annotators: list[SimulatedAnnotator],
        truth: KnownGrades,
        *,
        reliability: float,
        seconds: float,
        start: datetime,
    ) -> None:
        self.campaign, self.truth, self.reliability, self.seconds = (
            campaign,
            truth,
            reliability,
            seconds,
        )
        self.report = SimulationReport(kinds=Counter(a.kind for a in annotators))
        self.now = timezone.now()
        self.numbers = itertools.count()
        self.resting: list[SimulatedAnnotator] = []
        self.events: list[
            tuple[datetime, int, SimulatedAnnotator, tuple[uuid.UUID, submission.Answer] | None]
        ] = []
        slots = (
            get_kept_pairs(campaign)
            .filter(kind="normal", open_slots__gt=0)
            .aggregate(n=Sum("open_slots"))["n"]
            or 0
        )
        self.sitting = min(
            MAX_SESSION,
            timedelta(
                seconds=max(2 * seconds, slots * seconds / len(annotators) / SESSIONS_PER_DAY)
            ),
        )
        for annotator in annotators:
            self.start_session(annotator, start + self.sitting * float(annotator.rng.uniform()))

    def note(
        self,
        moment: datetime,
        annotator: SimulatedAnnotator,
        work: tuple[uuid.UUID, submission.Answer] | None = None,
    ) -> None:
        heapq.heappush(self.events, (moment, next(self.numbers), annotator, work))

    def start_session(self, annotator: SimulatedAnnotator, moment: datetime) -> None:
        annotator.session_ends = moment + self.sitting
        self.note(moment, annotator)

    def step(self) -> None:
        """Process the next simulated event."""
        moment, _, annotator, work = heapq.heappop(self.events)
        moment, member = min(moment, self.now), annotator.membership
        if work is not None:
            self.submit(annotator, *work, moment)
        if moment >= annotator.session_ends:
            pause = PAUSES * self.sitting * float(annotator.rng.exponential())
            self.start_session(annotator, min(moment + pause, self.now))
            return
        member.n_judged = Membership.objects.values_list("n_judged", flat=True).get(pk=member.pk)
        if member.goal is not None and member.n_judged >= member.goal:
            self.report.states["target_reached"] += 1
            return
        lease = scheduling.claim_pair(member, now=moment)
        if lease is None:
            self.resting.append(annotator)
        elif annotator.has_left:
            self.report.states["dropped out"] += 1
        else:
            answer = self.answer(annotator, lease)
            self.note(
                moment + timedelta(milliseconds=answer.wall_ms or 0),
                annotator,
                (lease.token, answer),
            )

    def submit(
        self,
        annotator: SimulatedAnnotator,
        lease: uuid.UUID,
        answer: submission.Answer,
        moment: datetime,
    ) -> None:
        outcome = submission.submit_judgement(
            annotator.membership, lease=lease, key=uuid.uuid4(), answer=answer, now=moment
        )
        self.report.statuses[outcome.judgement.status] += 1
        self.report.judgements += 1
        annotator.n_judged += 1

    def answer(self, annotator: SimulatedAnnotator, lease: Lease) -> submission.Answer:
        columns = (
            *("topic_row", "entry__topic__topic_id", "entry__docno", "entry__other_docno"),
            "entry__document__text",
        )
        row, topic, docno, other, text = Pair.objects.values_list(*columns).get(pk=lease.pair_id)
        if other and is_swapped(seed=annotator.membership.seed, topic=row):
            docno, other = other, docno
        return simulate_judgement(
            annotator,
            self.truth,
            topic,
            docno,
            text or "",
            other=other,
            reliability=self.reliability,
            seconds=self.seconds,
        )

    def reschedule(self) -> None:
        """Reschedule the annotators if none of them finds a pair. All try again after the last
        lease of a dropout expires, or finish if there is none."""
        live = Lease.objects.filter(pair__campaign=self.campaign, state=Lease.State.LIVE)
        last = live.aggregate(last=Max("expires_at"))["last"]
        if last is not None and last <= self.now:
            for annotator in self.resting:
                self.start_session(annotator, last)
        else:
            self.report.states["done"] += len(self.resting)
        self.resting.clear()


def _backdate_judgements(campaign: Campaign, annotators: list[SimulatedAnnotator]) -> None:
    """Set the arrival of judgements to the simulated time, and the opening of the campaign before
    the first."""
    simulated = Judgement.objects.filter(membership__in=[a.membership.pk for a in annotators])
    simulated.filter(judged_at__lt=F("received_at")).update(received_at=F("judged_at"))
    first = simulated.aggregate(first=Min("judged_at"))["first"]
    if first is not None:
        Campaign.objects.filter(pk=campaign.pk, opened_at__gt=first).update(opened_at=first)

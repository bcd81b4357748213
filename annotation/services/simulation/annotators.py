"""Simulated annotators of a campaign: recruitment, known grades and answers.

They work directly through the services (simulated_time) or over HTTP (api_clients). Campaign and
memberships are permanently marked as simulated. The server's clock does not limit their times,
which are drawn at random (annotation.services.judging.submission).
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np
from django.contrib.auth import get_user_model
from django.utils import timezone

from annotation.core import simulation as core
from annotation.core.audit_actions import AuditAction
from annotation.models import Campaign, Membership, Profile
from annotation.services.audit import record_event
from annotation.services.judging import submission
from annotation.services.people import accounts
from assay.column_types import QrelsColumns
from assay.comparison.unjudged_documents import iterate_grades
from assay.labels.annotator_types import AnnotatorType


@dataclass
class SimulatedAnnotator:
    """A simulated annotator. leaves_after: judgements after which a dropout leaves for good, with
    active leases."""

    membership: Membership
    kind: str
    rng: np.random.Generator
    leaves_after: int | None = None
    token: str = ""
    n_judged: int = 0
    session_ends: datetime = datetime.min

    @property
    def has_left(self) -> bool:
        return self.leaves_after is not None and self.n_judged >= self.leaves_after


@dataclass
class SimulationReport:
    """The result of a simulation. states: number of annotators by final state."""

    judgements: int = 0
    seconds: float = 0.0
    statuses: Counter[str] = field(default_factory=Counter)
    states: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)


class KnownGrades:
    """Known grades by (topic ID, document ID), on the campaign's scale, and known answers to its
    further questions."""

    def __init__(
        self,
        qrels: QrelsColumns | None,
        campaign: Campaign,
        further: Mapping[str, QrelsColumns] | None = None,
    ) -> None:
        """Map qrels to the campaign's scale, and the qrels of further questions (by key) to theirs.
        Pairs without a grade in the qrels, and all pairs without qrels, have the lowest grade."""
        self.values = campaign.grades.values
        self.grades = _grades_by_pair(qrels)
        self.further = [
            (question, _grades_by_pair((further or {}).get(question.key)))
            for question in campaign.questions_after_grade
        ]

    def get_grade(self, topic: str, docno: str, other: str = "") -> int:
        """Return the grade of a document, or the preference between two, of which `docno` is on the
        left."""
        if other:
            return core.prefer(self.grades.get((topic, docno)), self.grades.get((topic, other)))
        return core.map_to_scale(self.grades.get((topic, docno)), self.values)


def _grades_by_pair(qrels: QrelsColumns | None) -> dict[tuple[str, str], int]:
    rows = () if qrels is None else iterate_grades(qrels)
    return {(topic, document): grade for topic, document, grade in rows}


def recruit_annotators(
    campaign: Campaign, n: int, *, weights: dict[str, float], seed: int
) -> list[SimulatedAnnotator]:
    """Create n simulated annotators, reusing those of an earlier simulation, and mark the campaign
    as simulated.

    They cannot sign in with a password, have given consent and have read the newest guidelines.
    """
    if not campaign.simulated:
        campaign.annotator_type = AnnotatorType.SIMULATED
        Campaign.objects.filter(pk=campaign.pk).update(annotator_type=campaign.annotator_type)
        record_event(campaign, None, AuditAction.MARKED_AS_SIMULATED, campaign.name, annotators=n)
    earlier = campaign.memberships.filter(
        annotator_type=AnnotatorType.SIMULATED, role=Membership.Role.ANNOTATOR
    )
    existing = list(earlier.select_related("campaign", "user").order_by("pk")[:n])
    numbers = itertools.count(1)
    while len(existing) < n:
        name = f"simulated-{campaign.slug}-{next(numbers)}"
        user, made = get_user_model().objects.get_or_create(username=name[:150])
        if made:
            user.set_unusable_password()
            user.save(update_fields=["password"])
            Profile.objects.create(user=user)
        if not Membership.objects.filter(campaign=campaign, user=user).exists():
            member = accounts.add_member(
                campaign=campaign,
                user=user,
                role=Membership.Role.ANNOTATOR,
                annotator_type=AnnotatorType.SIMULATED,
            )
            existing.append(member)
    newest = campaign.guidelines.order_by("number").last()
    now = timezone.now()
    chosen = Membership.objects.filter(pk__in=[member.pk for member in existing])
    chosen.update(consented_at=now, guideline_read=newest.number if newest else 0)
    # simulated annotators skip the qualification test
    chosen.filter(qualified_at=None).update(qualified_at=now)
    streams = np.random.default_rng(seed).spawn(n)
    simulated = []
    for member, kind, rng in zip(existing, core.assign_kinds(n, weights), streams, strict=True):
        member.campaign = campaign
        leaves = int(rng.integers(1, 25)) if kind == "dropout" else None
        simulated.append(SimulatedAnnotator(member, kind, rng, leaves))
    return simulated


def simulate_judgement(
    annotator: SimulatedAnnotator,
    truth: KnownGrades,
    topic: str,
    docno: str,
    text: str,
    *,
    other: str = "",
    reliability: float,
    seconds: float,
) -> submission.Answer:
    """Simulate the annotator's answers to all questions about a pair. other: right document of a
    battle, whose left one is `docno`. seconds: median active time of a judgement."""
    behaviour = core.simulate_answer(
        annotator.kind,
        truth.get_grade(topic, docno, other),
        truth.values,
        reliability=reliability,
        seconds=seconds,
        rng=annotator.rng,
    )
    answer = make_answer(behaviour, annotator, text)
    answers = {}
    for question, known in truth.further:
        if question.is_asked(answer.grade):
            values = question.grades.values
            answers[question.key] = core.simulate_answer(
                annotator.kind,
                core.map_to_scale(known.get((topic, docno)), values),
                values,
                reliability=reliability,
                seconds=seconds,
                rng=annotator.rng,
            ).grade
    return replace(answer, answers=answers)


def make_answer(
    behaviour: core.SimulatedAnswer, annotator: SimulatedAnnotator, text: str
) -> submission.Answer:
    """Return an answer, with a passage of the text if the campaign requires one for the grade. If
    there is no text to mark, the answer is that the document cannot be judged."""
    member, grade = annotator.membership, behaviour.grade
    asked = member.campaign.spans == Campaign.Spans.REQUIRED and grade >= member.campaign.spans_from
    marked = core.draw_passage(text, annotator.rng) if asked else None
    empty = asked and marked is None
    return submission.Answer(
        grade=None if empty else grade,
        cannot_reason="document" if empty else "",
        spans=[marked] if marked else [],
        active_ms=behaviour.active_ms,
        idle_ms=0,
        hidden_ms=0,
        wall_ms=behaviour.active_ms + 400,
        guideline_version=member.guideline_read,
        device="simulated",
    )

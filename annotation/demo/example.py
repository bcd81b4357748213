"""The example: a finished campaign of the demo with simulated annotators. It is created empty, and
a job fills it (analysis.results.example)."""

from __future__ import annotations

from pathlib import Path

from django.contrib.auth.models import AnonymousUser, User

from annotation.models import Campaign, Membership
from annotation.services.campaigns.control_pairs import add_known_pairs
from annotation.services.simulation.annotators import (
    KnownGrades,
    SimulatedAnnotator,
    recruit_annotators,
)
from assay.formats.qrels import read_qrels
from assay.labels.annotator_types import AnnotatorType
from pooling.models import Job

SLUG, TO_JUDGE_SLUG = "example-finished-campaign", "try-judging"
SETTINGS = {
    "slug": SLUG,
    "name": "Example: finished campaign",
    "description": (
        "Simulated annotators judged this campaign, one of them carelessly. Look around and change "
        "anything."
    ),
    "target_per_annotator": 110,
    "invitations": [],
}
"""The example's keys of the campaign file that differ from those of the campaign to try judging."""
FILL_JOB = "fill example"
QRELS = Path(__file__).with_name("qrels.txt")
"""Grades of the pairs in the demo's pool, described in README.md in the same folder."""
N_GOLD = 8
"""Gold questions, with the grades of QRELS."""
N_ANNOTATORS, KINDS, SEED = 14, {"reliable": 13.0, "clicker": 1.0}, 3


def choose_gold_questions(example: Campaign, *, actor: User) -> None:
    """Turn N_GOLD pairs of the example campaign, drawn evenly over the grades, into gold questions."""
    rows = [
        {"topic": topic, "document": name, "grade": int(grade)}
        for topic, _, name, grade in map(str.split, QRELS.read_text(encoding="utf-8").splitlines())
    ]
    add_known_pairs(example, rows, n_gold=N_GOLD, n_qualification=0, actor=actor)


def recruit(example: Campaign) -> list[SimulatedAnnotator]:
    """Create the example campaign's simulated annotators, one of whom grades at random."""
    return recruit_annotators(example, N_ANNOTATORS, weights=KINDS, seed=SEED)


def read_true_grades(example: Campaign) -> KnownGrades:
    return KnownGrades(read_qrels(QRELS), example)


def is_example(campaign: Campaign) -> bool:
    return campaign.slug == SLUG and campaign.simulated


def find_example(user: User | AnonymousUser) -> Campaign | None:
    """Return the demo's example campaign if it exists and the user manages it."""
    if not user.is_authenticated:
        return None
    return Campaign.objects.filter(
        slug=SLUG,
        annotator_type=AnnotatorType.SIMULATED,
        memberships__user=user,
        memberships__role=Membership.Role.MANAGER,
    ).first()


def find_filling_job(example: Campaign) -> Job | None:
    """Return the queued or running job that fills the example campaign, if there is one."""
    return Job.objects.filter(kind=FILL_JOB, campaign_id=example.pk, state__in=Job.ACTIVE).first()

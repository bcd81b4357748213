"""A campaign with one example of everything that can happen to a judgement, for tests of exports
and releases."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import F

from annotation.models import Campaign, Judgement, Membership, Pair
from annotation.services.judging import submission
from annotation.services.judging.submission import Answer
from annotation.services.people import exclusion
from tests.builders import lease_of, make_annotator, make_campaign, submit

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
EXAMPLES = {  # methods/aggregation.md: pair -> judgements; graded label and decision; binary label and decision
    ("t1", "d1"): ([2, 2, 2], 2, "unanimous", 1, "unanimous"),
    ("t1", "d2"): ([1, 2, 2], 2, "majority", 1, "majority"),
    ("t1", "d3"): ([0, 2, 3], 0, "lowest_grade", 1, "majority"),
    ("t2", "d1"): ([1, 2], 1, "lowest_grade", 0, "lowest_grade"),
    ("t2", "d2"): ([0, 1], 0, "lowest_grade", 0, "unanimous"),
    ("t2", "d3"): ([1, 1, 3, 3, 0], 1, "lowest_grade", 0, "majority"),
}
GRADED = "t1 0 d1 2\nt1 0 d2 2\nt1 0 d3 0\nt2 0 d1 1\nt2 0 d2 0\nt2 0 d3 1\n"
BINARY = "t1 0 d1 1\nt1 0 d2 1\nt1 0 d3 1\nt2 0 d1 0\nt2 0 d2 0\nt2 0 d3 0\n"


def judged(
    person: Membership, pair: Pair, grade: int | None, *, now: datetime, **answer: Any
) -> Judgement:
    """Store a judgement made one minute after the pair was assigned."""
    return submit(
        person, lease_of(person, pair, now=now - timedelta(minutes=1)), grade, now=now, **answer
    ).judgement


def pair_of(campaign: Campaign, topic: str, document: str) -> Pair:
    return campaign.pairs.get(entry__topic__topic_id=topic, entry__docno=document)


def examples_campaign(**settings: object) -> Campaign:
    """Create an open campaign with the six examples of methods/aggregation.md as judgements of five
    annotators."""
    campaign = make_campaign(
        n_topics=2,
        n_documents=3,
        judgements_per_pair=5,
        guideline="# Read this",
        spans="optional",
        **settings,
    )
    people = [make_annotator(campaign) for _ in range(5)]
    moment = START
    Campaign.objects.filter(pk=campaign.pk).update(deadline=None)
    for (topic, document), (grades, *_) in EXAMPLES.items():
        for person, grade in zip(people, grades, strict=False):
            moment += timedelta(seconds=70)
            judged(
                person,
                pair_of(campaign, topic, document),
                grade,
                now=moment,
                active_ms=20_000,
                guideline_version=1,
                device="keyboard",
            )
    return Campaign.objects.select_related("collection", "pool").get(pk=campaign.pk)


def with_everything(campaign: Campaign) -> Campaign:
    """Add to the examples campaign the judgements that never enter labels: of an excluded
    annotator, too fast, extra, cannot judge, and superseded."""
    wild, quick, late = (make_annotator(campaign) for _ in range(3))
    moment = START + timedelta(days=1)
    judged(wild, pair_of(campaign, "t1", "d1"), 0, now=moment, active_ms=9_000)
    exclusion.exclude_annotator(wild, reason="answers at random", actor=None)
    judged(quick, pair_of(campaign, "t1", "d2"), 0, now=moment, active_ms=100)
    extra = judged(late, pair_of(campaign, "t2", "d2"), 3, now=moment, active_ms=9_000, note="=1+1")
    Judgement.objects.filter(pk=extra.pk).update(status=Judgement.Status.EXTRA)
    Pair.objects.filter(pk=extra.pair_id).update(
        counted=F("counted") - 1, open_slots=F("open_slots") + 1
    )
    judged(late, pair_of(campaign, "t2", "d1"), None, now=moment, active_ms=9_000)
    first = Judgement.objects.get(
        pair=pair_of(campaign, "t1", "d3"), membership__pseudonym="A001", current=True
    )
    submission.revise_judgement(
        first.membership,
        first.pk,
        key=uuid.uuid4(),
        answer=Answer(grade=3, spans=[[0, 4]]),
        now=moment,
    )
    second = Judgement.objects.get(
        pair=pair_of(campaign, "t1", "d3"), membership__pseudonym="A001", current=True
    )
    submission.revise_judgement(
        second.membership,
        second.pk,
        key=uuid.uuid4(),
        answer=Answer(grade=0),
        now=moment + timedelta(minutes=1),
    )
    return campaign

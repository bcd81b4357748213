"""A campaign whose eight annotators include a random clicker, a speeder, a contrarian and one who
confuses Related and Partly answers."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

import numpy as np
from django.utils import timezone

from annotation.models import Campaign, Membership
from annotation.services.campaigns.pairs import set_pair_kind
from annotation.services.judging import scheduling
from annotation.services.judging.submission import Answer, submit_judgement
from tests.builders import make_annotator, make_campaign

BAD = ("random", "speeder", "contrarian", "confuser")
KINDS = (*["good"] * 8, *BAD)


def campaign_with_bad_annotators(
    *, n_judgements: int | None = None, step_s: int = 20, n_gold: int = 0, **settings: Any
) -> tuple[Campaign, dict[str, str]]:
    """Create the campaign. Returns (campaign, pseudonym of each bad annotator by kind).

    Judging began two days ago, with one judgement per step_s seconds, until each pair has four
    judgements or there are n_judgements. n_gold: number of pairs with a known grade. settings: for
    make_campaign.
    """
    random = np.random.default_rng(5)
    settings = {
        "n_topics": 8,
        "n_documents": 26,
        "judgements_per_pair": 4,
        "min_active_seconds": 0.5,
        "annotator_type": "simulated",
    } | settings
    campaign = make_campaign(**settings)
    truth: dict[int, int] = {}
    for pair in list(campaign.pairs.order_by("position")[:n_gold]):
        truth[pair.pk] = int(random.integers(4))
        set_pair_kind(
            pair,
            "gold",
            gold_grade=truth[pair.pk],
            explanation="As the second sentence says.",
            actor=campaign.created_by,
        )
    members = [(make_annotator(campaign, annotator_type="simulated"), kind) for kind in KINDS]
    for seed, (member, _) in enumerate(
        members
    ):  # drawn at random in reality; here every run has the same annotators
        Membership.objects.filter(pk=member.pk).update(seed=seed)
    names = {kind: member.pseudonym for member, kind in members}
    moment = timezone.now() - timedelta(days=2)
    made = 0
    while members and made != n_judgements:
        for i in random.permutation(len(members)).tolist():  # else always the same four
            if made == n_judgements:
                break
            member, kind = members[i]
            moment += timedelta(seconds=step_s)
            lease = scheduling.claim_pair(member, now=moment)
            if lease is None:
                members.remove((member, kind))
                break
            grade = truth.setdefault(lease.pair_id, int(random.integers(4)))
            if kind == "random" or kind == "speeder":
                grade = int(random.integers(4))
            elif kind == "contrarian":
                grade = 3 - grade
            elif kind == "confuser" and grade in (1, 2):
                grade = 3 - grade if random.random() < 0.85 else grade
            elif random.random() < 0.12:
                grade = int(np.clip(grade + random.choice([-1, 1]), 0, 3))
            seconds = random.uniform(0.6, 3) if kind == "speeder" else random.uniform(10, 60)
            ms = int(seconds * 1000)
            answer = Answer(
                grade=grade, active_ms=ms, wall_ms=ms, judged_at=None, guideline_version=1
            )
            made += 1
            submit_judgement(
                member,
                lease=lease.token,
                key=uuid.uuid4(),
                answer=answer,
                now=moment + timedelta(milliseconds=ms + 300),
            )
    return campaign, {kind: names[kind] for kind in BAD}

"""What the judging page needs once of a campaign; and what a manager's trial of it shows, which is stored nowhere."""

from __future__ import annotations

from typing import Any

from django.db.models import Min

from annotation.markup import markdown
from annotation.models import Campaign, Membership, Pair
from annotation.selectors import qualification
from annotation.selectors.guidelines import guideline, newest_guideline
from annotation.selectors.judging import pair_shown, pair_text
from annotation.selectors.pairs import kept_pairs

SETTINGS = (
    "slug", "name", "deadline", "grace_minutes", "spans", "spans_from", "rotate_text", "truncate_words", "idle_seconds",
    "lease_minutes", "lease_window", "continue_after_target", "simulated", "threshold",
)  # fmt: skip
TRIAL_TOPICS, TRIAL_PAIRS_A_TOPIC = 3, 4


def campaign_setup(campaign: Campaign, *, read: int) -> dict[str, Any]:
    """Settings, scale, terms and the newest guidelines. read: the version of them that the person has read last."""
    version = newest_guideline(campaign)
    return {
        "campaign": {name: getattr(campaign, name) for name in SETTINGS} | {"text_format": (version.campaign if version else campaign).collection.text_format},
        "scale": campaign.scale,
        "guideline": {**guideline(version), "acknowledged": read} if version else None,
        "consent_html": markdown(campaign.consent_text) if campaign.consent_text else "",
    }


def trial_pairs(campaign: Campaign) -> list[Pair]:
    """The pairs of a trial: those of the qualification, then the first four of each of three topics, as the pool has them."""
    pairs = kept_pairs(campaign).filter(without_text=False).select_related("entry__topic", "entry__document").order_by("position")
    tests = list(pairs.filter(kind=Pair.Kind.QUALIFICATION)) if campaign.qualification_pass else []
    others = pairs.exclude(kind=Pair.Kind.QUALIFICATION)
    topics = others.order_by().values("topic_row").annotate(first=Min("position")).order_by("first")[:TRIAL_TOPICS]
    return tests + [pair for row in topics for pair in others.filter(topic_row=row["topic_row"])[:TRIAL_PAIRS_A_TOPIC]]


def trial(campaign: Campaign, annotator: Membership) -> dict[str, Any]:
    """Everything that the judging page asks the server for in a trial, at once: the browser plays the server's part.

    annotator: of nobody, not stored; no lease, no slot and no judgement is made. Pairs of the qualification come with their known grade.
    """
    pairs = trial_pairs(campaign)
    n_tests = sum(pair.kind == Pair.Kind.QUALIFICATION for pair in pairs)
    shown = []
    for pair in pairs:
        known = {"grade": pair.gold_grade, "explanation": pair.gold_explanation} if pair.kind == Pair.Kind.QUALIFICATION else None
        shown.append({**pair_shown(pair_text(pair), annotator), "known": known})
    return {
        **campaign_setup(campaign, read=0),
        "min_active_ms": round(campaign.min_active_seconds * 1000),
        "needed": qualification.needed(campaign, n_tests) if n_tests else 0,
        "pairs": shown,
    }

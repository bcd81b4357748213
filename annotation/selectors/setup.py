"""Data of a campaign that the judging page loads once, and the data of a manager's trial, which is
never stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Min
from django.utils.translation import gettext as _

from annotation.core.gold_rules import right_grades
from annotation.core.preferences import BOTH_BAD, LEFT, RIGHT, TIE
from annotation.markup import markdown
from annotation.models import Campaign, GuidelineVersion, Membership, Pair
from annotation.selectors import judging, near_duplicates, qualification
from annotation.selectors.annotator_quotas import annotator_quota
from annotation.selectors.guidelines import render_guideline
from annotation.selectors.pairs import get_kept_pairs
from annotation.services.judging.statements import fetch_rows

SETTINGS = (
    "slug",
    "name",
    "deadline",
    "grace_minutes",
    "spans",
    "spans_from",
    "rotate_text",
    "show_near_duplicates",
    "truncate_words",
    "idle_seconds",
    "lease_minutes",
    "lease_window",
    "continue_after_target",
    "simulated",
    "min_relevant",
    "task",
)
TRIAL_TOPICS, TRIAL_PAIRS_A_TOPIC = 3, 4


SETUP_SQL = """SELECT k.text_format, g.number, g.text, g.note,
    EXISTS (SELECT 1 FROM annotation_feedback f WHERE f.membership_id = %(me)s),
    EXISTS (SELECT 1 FROM annotation_message s WHERE s.membership_id = %(me)s AND s.read_at IS NULL)
  FROM annotation_campaign c JOIN pooling_collection k ON k.id = c.collection_id
    LEFT JOIN annotation_guidelineversion g ON g.campaign_id = c.id AND g.number = c.newest_guideline
  WHERE c.id = %(campaign)s"""


def get_setup(annotator: Membership) -> dict[str, Any]:
    """Return the campaign's settings, scale, terms and newest guidelines, and the annotator's
    settings, feedback and unread messages.

    For an unsaved annotator (a trial), only the campaign's data are returned.
    """
    campaign = annotator.campaign
    [row] = fetch_rows(SETUP_SQL, {"me": annotator.pk or 0, "campaign": campaign.pk})
    text_format, number, text, note, has_given_feedback, has_messages = row
    version = (
        render_guideline(GuidelineVersion(number=number, text=text, note=note)) if number else None
    )
    unread = annotator.messages.filter(read_at=None).order_by("created_at") if has_messages else ()
    return {
        "campaign": {name: getattr(campaign, name) for name in SETTINGS}
        | {"text_format": text_format},
        "scale": _translate_answers(campaign.scale) if campaign.is_preferences else campaign.scale,
        "further_questions": campaign.further_questions,
        "guideline": {**version, "acknowledged": annotator.guideline_read} if version else None,
        "consent_html": markdown(campaign.consent_text) if campaign.consent_text else "",
        "profile": judging.get_display_settings(annotator),
        "pseudonym": annotator.pseudonym,
        "part": annotator_quota(annotator),
        "feedback_given": bool(has_given_feedback),
        "has_judged": annotator.pk is not None and judging.has_judgements(annotator),
        "messages": [{"id": row.pk, "text": row.text, "at": row.created_at} for row in unread],
    }


def _translate_answers(scale: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the possible answers of a preference task in the language of the request."""
    words = {
        LEFT: (_("Left is better"), _("The left document answers the query better.")),
        TIE: (_("Equally good"), _("You would accept either document.")),
        RIGHT: (_("Right is better"), _("The right document answers the query better.")),
        BOTH_BAD: (_("Both bad"), _("Neither document answers the query.")),
    }
    return [
        {**grade, "name": words[grade["value"]][0], "explanation": words[grade["value"]][1]}
        for grade in scale
    ]


def get_trial_pairs(campaign: Campaign) -> list[Pair]:
    """Return the pairs of a trial: the qualification pairs, then the first four pairs of each of
    three topics, in the pool's order."""
    pairs = (
        get_kept_pairs(campaign)
        .filter(without_text=False)
        .select_related("campaign", "entry__topic", "entry__document", "entry__other_document")
        .order_by("position")
    )
    tests = list(pairs.filter(kind=Pair.Kind.QUALIFICATION)) if campaign.qualification_pass else []
    others = pairs.exclude(kind=Pair.Kind.QUALIFICATION)
    topics = (
        others.order_by()
        .values("topic_row")
        .annotate(first=Min("position"))
        .order_by("first")[:TRIAL_TOPICS]
    )
    return tests + [
        pair
        for row in topics
        for pair in others.filter(topic_row=row["topic_row"])[:TRIAL_PAIRS_A_TOPIC]
    ]


def _render_known_grade(pair: Pair) -> dict[str, Any] | None:
    """Return the known grade of a qualification pair, the grades that count as correct, and the
    explanation."""
    if pair.kind != Pair.Kind.QUALIFICATION or pair.gold_grade is None:
        return None
    right = right_grades(pair.campaign.gold_rule, pair.gold_grade, pair.campaign.grades)
    return {"grade": pair.gold_grade, "right": right, "explanation": pair.gold_explanation}


def get_trial(campaign: Campaign, annotator: Membership) -> dict[str, Any]:
    """Return everything that the judging page requests from the server during a trial. The browser
    simulates the server.

    annotator: unsaved. No lease, slot or judgement is created. Qualification pairs include their
    known grade.
    """
    pairs = get_trial_pairs(campaign)
    near = (
        near_duplicates.find_near_duplicates_among(campaign, pairs)
        if campaign.show_near_duplicates
        else {}
    )
    n_tests = sum(pair.kind == Pair.Kind.QUALIFICATION for pair in pairs)
    shown = []
    for pair in pairs:
        shown.append(
            {
                **judging.render_pair(judging.get_pair_text(pair), annotator),
                "known": _render_known_grade(pair),
                "near": near.get(pair.pk, []),
            }
        )
    of_annotators_alone = ("pseudonym", "part", "feedback_given", "has_judged", "messages")
    return {
        **{
            name: value
            for name, value in get_setup(annotator).items()
            if name not in of_annotators_alone
        },
        "min_active_ms": round(campaign.min_active_seconds * 1000),
        "needed": qualification.required_correct(campaign, n_tests) if n_tests else 0,
        "pairs": shown,
    }

"""Annotators' questions, for the judging page and for managers."""

from __future__ import annotations

from typing import Any

from django.db.models import F, QuerySet

from annotation.models import Campaign, Judgement, Membership, Pair, Question

MAX_SHOWN = 100
SHOWN_ROWS = (
    *("membership", "pair__entry__topic"),
    *("pair__entry__document", "pair__entry__other_document"),
)


def get_questions(campaign: Campaign) -> QuerySet[Question]:
    """Return a campaign's questions: unanswered ones, oldest first, followed by answered ones,
    latest first."""
    rows = Question.objects.filter(pair__campaign=campaign).select_related(*SHOWN_ROWS)
    return rows.order_by(F("answered_at").desc(nulls_first=True), "pk")


def count_unanswered(campaign: Campaign) -> int:
    """Count unanswered questions of a campaign. The query starts from its annotators, because they
    are fewer than its pairs."""
    return Question.objects.filter(membership__campaign=campaign, answered_at=None).count()


def get_own_questions(annotator: Membership) -> list[dict[str, Any]]:
    """Return the annotator's own questions, latest first, at most 100."""
    rows = Question.objects.filter(membership=annotator).select_related(*SHOWN_ROWS)[:MAX_SHOWN]
    judged = Judgement.objects.filter(
        membership=annotator, current=True, pair__in=[row.pair_id for row in rows]
    )
    newest = dict(judged.exclude(pair__kind=Pair.Kind.QUALIFICATION).values_list("pair_id", "pk"))
    return [{**render_question(row), "judgement": newest.get(row.pair_id)} for row in rows]


def render_question(row: Question) -> dict[str, Any]:
    """Return a question with its answer, without the annotator. `document` names both documents of
    a battle."""
    entry = row.pair.entry
    title = entry.document.title if entry.document else ""
    return {
        "id": row.pk,
        "pair": row.pair_id,
        "topic": {"id": entry.topic.topic_id, "text": entry.topic.text},
        "document": {
            "id": entry.label,
            "title": " / ".join(row.document_names) if entry.other_docno else title,
        },
        "text": row.text,
        "asked_at": row.asked_at,
        "answer": row.answer,
        "answered_at": row.answered_at,
        "is_read": row.read_at is not None,
        "example_in": row.example_in,
    }

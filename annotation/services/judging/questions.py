"""Annotators' questions about pairs: asking, answering, and publishing an answer as an example in
the guidelines."""

from __future__ import annotations

import uuid

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.core.audit_actions import AuditAction
from annotation.core.webhook_messages import WebhookEvent
from annotation.models import Campaign, GuidelineVersion, Lease, Membership, Question
from annotation.services.audit import record_event
from annotation.services.campaigns.lifecycle import save_guideline
from annotation.services.errors import AnswerRefused, CampaignError, ContradictionError
from annotation.services.webhook_events import queue_event

MAX_OPEN = 30  # unanswered questions per annotator
MAX_CHARACTERS = 2000
HEADING = "## Examples from questions"


def ask_question(annotator: Membership, *, pair_id: int, key: uuid.UUID, text: str) -> Question:
    """Store a question about a pair that was assigned to the annotator. The same key returns the
    same question.

    Raises AnswerRefused if the annotator is excluded, the pair was never assigned, the text is
    empty or too long, or too many questions are unanswered.
    """
    text = text.strip()
    if annotator.status == Membership.Status.EXCLUDED:
        raise AnswerRefused("excluded", _("You no longer take part in this campaign."), 403)
    if not text:
        raise AnswerRefused("question_empty", _("Enter a question."))
    if len(text) > MAX_CHARACTERS:
        figures = {"n": f"{len(text):,}", "most": f"{MAX_CHARACTERS:,}"}
        raise AnswerRefused(
            "question_too_long",
            _("The question has %(n)s characters. The limit is %(most)s.") % figures,
        )
    known = Question.objects.filter(membership=annotator, key=key).first()
    if known is not None:
        return known
    if not Lease.objects.filter(membership=annotator, pair_id=pair_id).exists():
        raise AnswerRefused(
            "pair_unknown", _("This document was not assigned to you in this campaign."), 404
        )
    if Question.objects.filter(membership=annotator, answered_at=None).count() >= MAX_OPEN:
        raise AnswerRefused(
            "too_many_questions",
            _(
                "%(n)s of your questions are waiting for an answer. Ask again after some have been answered."
            )
            % {"n": MAX_OPEN},
            409,
        )
    with transaction.atomic():
        question, is_new = Question.objects.get_or_create(
            membership=annotator, key=key, defaults={"pair_id": pair_id, "text": text}
        )
        if is_new:
            queue_event(
                annotator.campaign,
                WebhookEvent.QUESTION_ASKED,
                key=f"question/{question.pk}",
                data={"annotator": annotator.pseudonym, "question": question.pk},
                page="campaign-questions",
            )
    return question


def answer_question(question: Question, answer: str, *, actor: User | None) -> Question:
    """Store the manager's answer, replacing an earlier one, and notify the annotator. Raises
    CampaignError if it is empty."""
    answer = answer.strip()
    if not answer:
        raise ContradictionError(_("Enter an answer."))
    with transaction.atomic():
        question.answer, question.answered_by, question.answered_at, question.read_at = (
            answer,
            actor,
            timezone.now(),
            None,
        )
        question.save(update_fields=["answer", "answered_by", "answered_at", "read_at"])
        _recount_unread(question.membership)
        record_event(
            question.membership.campaign,
            actor,
            AuditAction.ANSWERED_A_QUESTION,
            str(question.pair.entry),
            question=question.pk,
        )
    return question


def withdraw_question(annotator: Membership, question_id: int) -> None:
    """Withdraw a question without an answer. Does nothing if it does not exist. Raises
    AnswerRefused if it has been answered."""
    own = Question.objects.filter(pk=question_id, membership=annotator)
    if not own.filter(answered_at=None).delete()[0] and own.exists():
        raise AnswerRefused(
            "question_answered",
            _("This question can't be withdrawn. A manager has already answered it."),
            409,
        )


def mark_answer_read(annotator: Membership, question_id: int) -> None:
    """Record that the annotator has read the answer. Raises AnswerRefused if there is no such
    question with an answer."""
    own = Question.objects.filter(pk=question_id, membership=annotator).exclude(answered_at=None)
    if not own.exists():
        raise AnswerRefused("question_unknown", _("Question not found, or not answered yet."), 404)
    with transaction.atomic():
        own.filter(read_at=None).update(read_at=timezone.now())
        _recount_unread(annotator)


def _recount_unread(annotator: Membership) -> None:
    unread = (
        Question.objects.filter(membership=annotator, read_at=None)
        .exclude(answered_at=None)
        .count()
    )
    Membership.objects.filter(pk=annotator.pk).update(unread_answers=unread)
    annotator.unread_answers = unread


def publish_example(question: Question, *, actor: User | None) -> GuidelineVersion:
    """Add question and answer to the guidelines as an example, without the annotator's name.
    Annotators see a notice of one line. Raises CampaignError without an answer, or if it is already
    an example."""
    campaign = question.membership.campaign
    if question.answered_at is None:
        raise CampaignError(_("Answer the question first."))
    with transaction.atomic():
        locked = Question.objects.select_for_update(of=("self",)).get(pk=question.pk)
        if locked.example_in is not None:
            raise CampaignError(
                _("This has been an example since version %(number)s of the guidelines.")
                % {"number": locked.example_in}
            )
        Campaign.objects.select_for_update().get(pk=campaign.pk)
        newest = campaign.guidelines.order_by("number").last()
        text = newest.text.rstrip() if newest else ""
        heading = "" if HEADING in text else f"{HEADING}\n\n"
        version = save_guideline(
            campaign,
            f"{text}\n\n{heading}{format_example(question)}\n".lstrip(),
            note=_guideline_note(question),
            adds_example=True,
            actor=actor,
        )
        question.example_in = version.number
        question.save(update_fields=["example_in"])
    return version


def _one_line(text: str) -> str:
    return " ".join(text.split())


def format_example(question: Question) -> str:
    """Return question and answer as a Markdown paragraph of two lines."""
    names = [f"“{_one_line(name)}”" for name in question.document_names]
    documents = f"document{'s' * (len(names) > 1)} {' and '.join(names)}"
    about = f"**“{_one_line(question.pair.entry.topic.text)}”, {documents}.**"
    return f"{about} {_one_line(question.text)}  \n*Answer:* {_one_line(question.answer)}"


def _guideline_note(question: Question) -> str:
    said = f"a question about “{_one_line(question.pair.entry.topic.text)}”: {_one_line(question.answer)}"
    return said if len(said) <= 200 else f"{said[:199]}…"

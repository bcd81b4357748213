"""Judgements: submission, revision, skipping, and the manager's adjudication.

The status of a judgement is decided here, under the pair's lock:

- *counted*: fills one of the pair's slots. A late answer, whose lease has expired, counts if a slot
  is still free.
- *extra*: the pair was complete. Kept but never part of the labels, even if a slot becomes free.
- *too fast*: the active time is below the campaign's minimum. Fills no slot, is never counted, and
  the pair is not assigned to this annotator again. A revision adds the time of all openings, so
  spending more time can correct it.
- *cannot judge* (no grade): fills no slot, because the pair still needs grades from others. After
  as many such answers about its query or document as it needs judgements, the pair is no longer
  assigned (`Pair.unjudgeable`).
- *excluded*: the annotator was excluded.

A revision of a counted judgement remains counted while it has a grade, and one of an extra
judgement remains extra. Judgements of gold and calibration pairs are counted without limit. Those
of qualification pairs are extra.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.core import timing
from annotation.core.audit_actions import AuditAction
from annotation.core.campaign_questions import find_answer_problem
from annotation.core.document_display import merge_spans
from annotation.core.preferences import is_swapped, mirror_answer
from annotation.models import AuditEvent, Campaign, Judgement, Lease, Membership, Pair, Skip
from annotation.selectors import qualification as known_pairs
from annotation.selectors.judging import count_judged_today
from annotation.selectors.paused_annotators import TOO_FAST
from annotation.services.audit import record_event
from annotation.services.errors import AnswerRefused, CampaignError
from annotation.services.judging import qualification, slots
from annotation.services.judging.opened_pairs import (
    JUDGEMENT_PAIR_SQL,
    LEASE_PAIR_SQL,
    Opening,
    open_pair,
)
from annotation.services.judging.statements import (
    execute_pipeline,
    make_insert,
    mark_stored,
    to_database_time,
    to_database_value,
)
from annotation.services.people import exclusion

__all__ = [
    "Answer",
    "AnswerOutcome",
    "AnswerRefused",
    "adjudicate_pair",
    "revise_judgement",
    "skip_pair",
    "submit_judgement",
]

CANNOT_JUDGE_REASONS = ("query", "document", "language", "expertise", "other")
END_LEASE_SQL = """UPDATE annotation_lease SET state = 'submitted', ended_at = %(now)s
  WHERE pair_id = %(pair)s AND membership_id = %(me)s AND state = 'live' RETURNING id"""


@dataclass(frozen=True)
class Answer:
    """An answer from the page. grade: None for "cannot judge", with a reason. answers: to further
    questions, by key. Durations are milliseconds of this opening of the pair. Times are by the
    page's clock."""

    grade: int | None
    cannot_reason: str = ""
    answers: Mapping[str, int | None] = field(default_factory=dict)
    note: str = ""
    spans: list[tuple[int, int]] = field(default_factory=list)
    active_ms: int | None = None
    idle_ms: int | None = None
    hidden_ms: int | None = None
    wall_ms: int | None = None
    judged_at: datetime | None = None
    sent_at: datetime | None = None
    guideline_version: int = 0
    device: str = ""


@dataclass(frozen=True)
class AnswerOutcome:
    judgement: Judgement
    message: str
    feedback: dict[str, object] | None = None


def submit_judgement(
    annotator: Membership,
    *,
    lease: uuid.UUID,
    key: uuid.UUID,
    answer: Answer,
    now: datetime | None = None,
) -> AnswerOutcome:
    """Store one judgement for a lease. The same key returns the stored judgement without any
    change.

    A pair that the annotator has already judged (two devices can hold the same lease) gets a
    revision, unless the other judgement was made later, so that no work is lost.

    `annotator` and its campaign are refreshed from the database. Raises Refused: 400 for an answer
    that is invalid for the campaign, 404 for an unknown lease, 409 if the annotator has judged the
    pair since or the campaign accepts no more judgements.
    """
    now = now or timezone.now()

    def work() -> AnswerOutcome:
        opening = open_pair(
            annotator, key, LEASE_PAIR_SQL, to_database_value(Lease, "token", lease)
        )
        if opening.stored_judgement_id is not None:
            return _stored_outcome(opening.stored_judgement_id)
        # Ended leases are included: an answer given before its lease ended may arrive later.
        served = next((own for own in opening.leases if own.token == lease), None)
        if served is None:
            raise AnswerRefused(
                "lease_unknown", _("This document was not assigned to you in this campaign."), 404
            )
        old = None
        if opening.current_judgement_id is not None:
            old = Judgement.objects.get(pk=opening.current_judgement_id)
            # A second attempt at the qualification test judges the same pairs again, which is no
            # duplicate.
            if not qualification.is_from_earlier_attempt(
                opening.annotator, opening.pair, opening.current_judgement_id
            ):
                return _resolve_duplicate(
                    opening, old, answer, key=key, since=served.served_at, now=now
                )
        late = served.state != Lease.State.LIVE or served.expires_at <= now
        revision = old.revision + 1 if old is not None else 1
        judgement = Judgement(
            key=key, lease=served, late=late, served_at=served.served_at, revision=revision
        )
        return _accept_answer(opening, judgement, answer, since=served.served_at, now=now, old=old)

    return _run_once(work, annotator, key)


def revise_judgement(
    annotator: Membership,
    judgement_id: int,
    *,
    key: uuid.UUID,
    answer: Answer,
    now: datetime | None = None,
) -> AnswerOutcome:
    """Add a revision to the annotator's own judgement, identified by any of its revisions. All are
    kept, and the last one counts.

    Raises Refused: 404 for judgements of others, 409 for a qualification pair or if the campaign
    accepts no more judgements.
    """
    now = now or timezone.now()

    def work() -> AnswerOutcome:
        opening = open_pair(annotator, key, JUDGEMENT_PAIR_SQL, judgement_id)
        if opening.stored_judgement_id is not None:
            return _stored_outcome(opening.stored_judgement_id)
        if opening.current_judgement_id is None:
            raise AnswerRefused("judgement_unknown", _("Judgement not found."), 404)
        return _add_revision(
            opening,
            Judgement.objects.get(pk=opening.current_judgement_id),
            answer,
            key=key,
            now=now,
        )

    return _run_once(work, annotator, key)


def _add_revision(
    opening: Opening,
    old: Judgement,
    answer: Answer,
    *,
    key: uuid.UUID,
    now: datetime,
    since: datetime | None = None,
) -> AnswerOutcome:
    """Add a revision to the judgement `old`. since: start of this opening if it was not after
    `old`."""
    if opening.annotator.status == Membership.Status.EXCLUDED:
        raise AnswerRefused("excluded", _("You no longer take part in this campaign."), 403)
    if opening.pair.kind == Pair.Kind.QUALIFICATION:
        raise AnswerRefused(
            "qualification_final",
            _(
                "Answers in the qualification test can't be changed, because the solution has been shown."
            ),
            409,
        )
    judgement = Judgement(
        key=key,
        lease_id=old.lease_id,
        revision=old.revision + 1,
        late=old.late,
        served_at=old.served_at,
    )
    return _accept_answer(
        opening, judgement, answer, since=since or old.received_at, now=now, old=old
    )


def _resolve_duplicate(
    opening: Opening,
    old: Judgement,
    answer: Answer,
    *,
    key: uuid.UUID,
    since: datetime,
    now: datetime,
) -> AnswerOutcome:
    """Handle a lease already judged on another device: add a revision to `old`, unless this answer
    was given earlier."""
    sent_at = answer.sent_at
    if (
        timing.estimate_judged_at(
            client_judged_at=answer.judged_at,
            client_sent_at=sent_at,
            received_at=now,
            served_at=since,
        )
        < old.judged_at
    ):
        raise AnswerRefused(
            "already_judged",
            _(
                "You have since judged this document on another device or in another tab. That judgement is kept."
            ),
            409,
        )
    outcome = _add_revision(opening, old, answer, key=key, now=now, since=since)
    return replace(
        outcome,
        message=f"{outcome.message} {_('You had already judged this document on another device. The latest judgement counts.')}",
    )


def _accept_answer(
    opening: Opening,
    judgement: Judgement,
    answer: Answer,
    *,
    since: datetime,
    now: datetime,
    old: Judgement | None = None,
) -> AnswerOutcome:
    """Decide the status of the judgement, store it and update the counters. since: start of this
    opening by the server's clock. old: the previous revision."""
    annotator, pair = opening.annotator, opening.pair
    campaign = annotator.campaign
    n = campaign.judgements_per_pair
    spans = _check_answer(answer, campaign, pair)
    moment = timing.estimate_judged_at(
        client_judged_at=answer.judged_at,
        client_sent_at=answer.sent_at,
        received_at=now,
        served_at=judgement.served_at if old is None else old.judged_at,
    )
    judgement.after_deadline = _check_in_time(campaign, moment, now)
    times = _answer_times(
        answer, annotator, timing.elapsed_ms(since, now) if annotator.is_person else None
    )
    had_slot, fills = _end_live_lease(opening.leases, pair), slots.takes_slots(annotator)
    if old is not None:
        # A revision adds to the time spent on the pair. Its old status no longer counts, so that
        # the slot is free when the new one is decided.
        times = timing.add_times(
            timing.Times(old.active_ms, old.idle_ms, old.hidden_ms, old.wall_ms, old.server_ms),
            times,
        )
        pair.counted -= fills and old.status == Judgement.Status.COUNTED
        Judgement.objects.filter(pk=old.pk).update(current=False)
    if old is not None and old.status == Judgement.Status.CANNOT:
        # Without the old answer the pair may be judgeable again, which affects the status below.
        slots.recount_unjudgeable(pair, n)
    # An extra judgement remains extra: a revision must not take a slot that it never had.
    if old is not None and old.status == Judgement.Status.EXTRA and answer.grade is not None:
        status = Judgement.Status.EXTRA
    else:
        was_counted = old is not None and old.status == Judgement.Status.COUNTED
        status = _judgement_status(
            annotator, pair, answer.grade, times, n=n, has_slot=had_slot, was_counted=was_counted
        )
    judgement.pair, judgement.membership, judgement.status, judgement.judged_at = (
        pair,
        annotator,
        status,
        moment,
    )
    _fill_judgement(judgement, answer, spans, times)
    if campaign.is_preferences:
        _store_by_document(judgement)
    pair.counted += fills and status == Judgement.Status.COUNTED
    if status == Judgement.Status.CANNOT:
        # This answer is not stored yet, so the count in the database lacks it.
        slots.recount_unjudgeable(pair, n, one_more=answer.cannot_reason in slots.PAIR_REASONS)
    slots.balance_slots(pair, n)
    _store_judgement(opening, judgement, _progress_after(annotator, judgement, old, now), now)
    if status == Judgement.Status.TOO_FAST:
        pause_if_too_fast(annotator, now)
    feedback = None
    if pair.kind == Pair.Kind.QUALIFICATION:
        feedback = known_pairs.answer_feedback(pair, answer.grade, annotator)
        qualification.decide_qualification(annotator, now)
    return AnswerOutcome(judgement, judgement_message(judgement, pair), feedback)


def _store_judgement(
    opening: Opening, judgement: Judgement, progress: dict[str, Any], now: datetime
) -> None:
    """Store the judgement, end the lease, and update the counters of pair and annotator, in one
    round trip to the database."""
    annotator, pair = opening.annotator, opening.pair
    insert, values = make_insert(judgement)
    values |= {"me": annotator.pk, "pair": pair.pk, "now": to_database_time(now)}
    values |= {f"pair_{name}": getattr(pair, name) for name in slots.COUNTERS}
    values |= {
        f"own_{name}": to_database_time(value) if isinstance(value, datetime) else value
        for name, value in progress.items()
    }
    changes = [
        insert,
        (
            f"UPDATE annotation_pair SET "
            f"{', '.join(f'{name} = %(pair_{name})s' for name in slots.COUNTERS)} WHERE id = %(pair)s "
            f"RETURNING id"
        ),
        (
            f"UPDATE annotation_membership SET "
            f"{', '.join(f'{name} = %(own_{name})s' for name in progress)} WHERE id = %(me)s "
            f"RETURNING id"
        ),
    ]
    if any(lease.state == Lease.State.LIVE for lease in opening.leases):
        changes.append(END_LEASE_SQL)
    if opening.skipped:
        changes.append(
            "DELETE FROM annotation_skip WHERE pair_id = %(pair)s AND membership_id = %(me)s RETURNING id"
        )
    mark_stored(judgement, execute_pipeline(changes, values, waits_for_disk=False)[0])
    for name, value in progress.items():
        setattr(annotator, name, value)


def skip_pair(annotator: Membership, *, lease: uuid.UUID, now: datetime | None = None) -> None:
    """Skip the pair: release the lease and assign the pair to this annotator only after all others.
    Repeating the call changes nothing."""
    now = now or timezone.now()

    def work() -> None:
        served = Lease.objects.select_for_update().filter(token=lease, membership=annotator).first()
        if served is None:
            raise AnswerRefused(
                "lease_unknown", _("This document was not assigned to you in this campaign."), 404
            )
        if served.state == Lease.State.LIVE:
            slots.end_leases([served], Lease.State.RELEASED, now)
            Skip.objects.update_or_create(
                pair_id=served.pair_id, membership=annotator, defaults={"created_at": now}
            )
            Skip.objects.filter(pair_id=served.pair_id, membership=annotator).update(created_at=now)

    slots.run_with_retries(work)


def adjudicate_pair(
    pair: Pair, grade: int | None, *, reason: str, actor: User | None, now: datetime | None = None
) -> Pair:
    """Set the manager's label, which overrides the aggregated one. None removes it. Judgements are
    unchanged."""
    campaign = pair.campaign
    if grade is not None and grade not in campaign.grades.values:
        raise CampaignError(_("The grade must be on the campaign's scale."))

    def work() -> Pair:
        row = slots.lock_pairs([pair.pk])[pair.pk]
        before = row.adjudicated_grade
        row.adjudicated_grade = grade
        row.adjudicated_by = actor if grade is not None else None
        row.adjudicated_at = (now or timezone.now()) if grade is not None else None
        row.adjudicated_reason = reason if grade is not None else ""
        row.save(
            update_fields=[
                "adjudicated_grade",
                "adjudicated_by",
                "adjudicated_at",
                "adjudicated_reason",
            ]
        )
        action = (
            AuditAction.ADJUDICATED if grade is not None else AuditAction.WITHDREW_AN_ADJUDICATION
        )
        record_event(
            campaign,
            actor,
            action,
            str(row.entry),
            pair=row.pk,
            before=before,
            grade=grade,
            reason=reason,
        )
        return row

    return slots.run_with_retries(work)


def judgement_message(judgement: Judgement, pair: Pair) -> str:
    """Return a sentence for the annotator: whether the judgement counts, and if not, why."""
    if pair.kind == Pair.Kind.QUALIFICATION:
        return _("Saved.")
    if judgement.status == Judgement.Status.TOO_FAST:
        return _("Saved, but it was too fast to count. Take your time.")
    if judgement.status == Judgement.Status.EXTRA and judgement.late:
        return _(
            "Saved as an extra judgement. The document had been assigned to another annotator and needs no more judgements."
        )
    if judgement.status == Judgement.Status.EXTRA:
        return _("Saved as an extra judgement. The document needs no more judgements.")
    if judgement.status == Judgement.Status.EXCLUDED:
        return _("Saved, but you no longer take part in this campaign.")
    if judgement.status == Judgement.Status.CANNOT:
        return _("Saved as “cannot judge”. Other annotators will get this document.")
    if judgement.late:
        return _("Saved. It arrived late, but it still counts.")
    return _("Saved.")


def _run_once(
    work: slots.Callable[[], AnswerOutcome], annotator: Membership, key: uuid.UUID
) -> AnswerOutcome:
    """Run `work`, which stores an answer. If a concurrent request has stored the same key, return
    that request's outcome."""
    try:
        return slots.run_with_retries(work)
    except IntegrityError:
        known = (
            Judgement.objects.filter(membership=annotator, key=key)
            .values_list("pk", flat=True)
            .first()
        )
        if known is None:
            raise
        return _stored_outcome(known)


def _stored_outcome(number: int) -> AnswerOutcome:
    """Return the response for a judgement that is already stored."""
    judgement = Judgement.objects.select_related("pair", "membership__campaign").get(pk=number)
    is_test = judgement.pair.kind == Pair.Kind.QUALIFICATION
    feedback = (
        known_pairs.answer_feedback(judgement.pair, judgement.grade, judgement.membership)
        if is_test
        else None
    )
    return AnswerOutcome(judgement, judgement_message(judgement, judgement.pair), feedback)


def _answer_times(answer: Answer, annotator: Membership, server_ms: int | None) -> timing.Times:
    """Return the durations of an answer, limited by the server's time between lease and submission.
    server_ms: None for simulated annotators, whose times are drawn at random and not limited."""
    return timing.bound_times(
        active_ms=answer.active_ms,
        idle_ms=answer.idle_ms,
        hidden_ms=answer.hidden_ms,
        wall_ms=answer.wall_ms,
        server_ms=server_ms,
    )


def _check_answer(answer: Answer, campaign: Campaign, pair: Pair) -> list[list[int]]:
    """Validate the answer for the campaign and return its spans, merged. Raises Refused."""
    if answer.grade is None:
        if answer.cannot_reason not in CANNOT_JUDGE_REASONS:
            raise AnswerRefused(
                "reason_missing", _("Choose a reason why you can't judge this document.")
            )
    elif answer.cannot_reason:
        raise AnswerRefused(
            "grade_and_reason",
            _("Give either a grade or a reason why the document can't be judged, not both."),
        )
    elif answer.grade not in campaign.grades.values:
        raise AnswerRefused(
            "grade_unknown",
            _("%(grade)s is not a grade of this campaign.") % {"grade": answer.grade},
        )
    _check_further_answers(answer, campaign)
    spans: list[list[int]] = []
    if answer.spans:
        if campaign.spans == Campaign.Spans.OFF:
            raise AnswerRefused("spans_off", _("Passages can't be marked in this campaign."))
        document = pair.entry.document
        try:
            spans = merge_spans(
                [(start, end) for start, end in answer.spans],
                length=len(document.text) if document else 0,
            )
        except ValueError as error:
            raise AnswerRefused(
                "span_outside",
                _("A marked passage is outside the document: %(reason)s.") % {"reason": error},
            ) from None
    required = (
        campaign.spans == Campaign.Spans.REQUIRED
        and answer.grade is not None
        and answer.grade >= campaign.spans_from
    )
    if required and not spans:
        name = next(grade["name"] for grade in campaign.scale if grade["value"] == answer.grade)
        raise AnswerRefused(
            "span_required",
            _("Mark the passage that makes the document %(grade)s.") % {"grade": name},
        )
    return spans


def _check_further_answers(answer: Answer, campaign: Campaign) -> None:
    """Raise Refused if an answer to a further question is missing or invalid."""
    problem = find_answer_problem(campaign.questions_after_grade, answer.grade, answer.answers)
    if problem is None:
        return
    messages = {
        "unknown_question": _("This campaign has no question “%(question)s”."),
        "not_asked": _("The question “%(question)s” is not asked after this answer."),
        "answer_missing": _("Answer the question “%(question)s”."),
        "answer_outside_scale": _("This is not an answer to the question “%(question)s”."),
    }
    raise AnswerRefused(problem.code, messages[problem.code] % {"question": problem.question[:60]})


def _too_late_message(grace_minutes: int) -> str:
    return ngettext(
        "You judged this in time, but your judgement arrived more than %(n)s minute after the campaign ended.",
        "You judged this in time, but your judgement arrived more than %(n)s minutes after the campaign ended.",
        grace_minutes,
    ) % {"n": grace_minutes}


def _check_in_time(campaign: Campaign, moment: datetime, now: datetime) -> bool:
    """Return whether the answer arrived in the grace period after the end, for a judgement made
    before it. Raises Refused if it is too late."""
    if campaign.state == Campaign.State.DRAFT:
        raise AnswerRefused("draft", _("This campaign is not open yet."), 409)
    ends = [(campaign.deadline, "deadline_passed", _("You judged this after the deadline."))]
    if campaign.state == Campaign.State.CLOSED:
        ends.append(
            (campaign.closed_at, "closed", _("You judged this after the campaign was closed."))
        )
    after = False
    for end, code, sentence in ends:
        if end is not None and now > end:
            if moment > end:
                raise AnswerRefused(code, sentence, 409)
            if now > end + timedelta(minutes=campaign.grace_minutes):
                raise AnswerRefused(code, _too_late_message(campaign.grace_minutes), 409)
            after = True
    if campaign.state == Campaign.State.CLOSED:
        after = True  # also if the clock was set back to before the end
    return after


def _end_live_lease(own_leases: list[Lease], pair: Pair) -> bool:
    """Remove the annotator's active lease from the pair's counters and return whether it held a
    slot. `_store_judgement` ends the lease."""
    live = [lease for lease in own_leases if lease.state == Lease.State.LIVE]
    pair.held -= sum(lease.takes_slot for lease in live)
    return any(lease.takes_slot for lease in live)


def _judgement_status(
    annotator: Membership,
    pair: Pair,
    grade: int | None,
    times: timing.Times,
    *,
    n: int,
    has_slot: bool,
    was_counted: bool = False,
) -> Judgement.Status:
    if pair.kind == Pair.Kind.QUALIFICATION:
        return Judgement.Status.EXTRA
    if annotator.status == Membership.Status.EXCLUDED:
        return Judgement.Status.EXCLUDED
    if grade is None:
        return Judgement.Status.CANNOT
    if was_counted:
        return Judgement.Status.COUNTED
    if timing.is_too_fast(
        times.active_ms, min_active_seconds=annotator.campaign.min_active_seconds
    ):
        return Judgement.Status.TOO_FAST
    if pair.kind in (Pair.Kind.GOLD, Pair.Kind.EVERYONE):
        return Judgement.Status.COUNTED
    slots.balance_slots(pair, n)
    # a slot reserved before the pair was removed or left out is still filled
    room = (
        slots.needed_judgements(pair, n)
        if pair.removed or pair.is_excluded_by_depth
        else pair.needed
    )
    free = pair.counted < room if has_slot else pair.open_slots > 0
    return Judgement.Status.COUNTED if free else Judgement.Status.EXTRA


def _fill_judgement(
    judgement: Judgement, answer: Answer, spans: list[list[int]], times: timing.Times
) -> None:
    judgement.grade = answer.grade
    judgement.cannot_reason = answer.cannot_reason
    judgement.answers = dict(answer.answers)
    judgement.note = answer.note
    judgement.spans = spans
    (
        judgement.active_ms,
        judgement.idle_ms,
        judgement.hidden_ms,
        judgement.wall_ms,
        judgement.server_ms,
    ) = times
    judgement.guideline_version = answer.guideline_version
    judgement.device = answer.device


def _store_by_document(judgement: Judgement) -> None:
    """Convert a preference from the sides that the annotator saw to the pair's documents."""
    swapped = is_swapped(seed=judgement.membership.seed, topic=judgement.pair.topic_row)
    judgement.presentation = {"left": "b" if swapped else "a"}
    if swapped:
        judgement.grade = mirror_answer(judgement.grade)


def _progress_after(
    annotator: Membership, judgement: Judgement, old: Judgement | None, now: datetime
) -> dict[str, Any]:
    """Return the annotator's counters after the judgement: pairs judged (without too fast and
    qualification ones), pairs judged today, and the time the target was reached."""
    changes: dict[str, Any] = {"last_seen": now}
    if judgement.pair.kind == Pair.Kind.QUALIFICATION:
        return changes
    worth = int(judgement.status != Judgement.Status.TOO_FAST) - int(
        old is not None and old.status != Judgement.Status.TOO_FAST
    )
    changes["n_judged"] = annotator.n_judged + worth
    if old is not None:
        return {
            **changes,
            "today_since": None,
        }  # its time has changed, so it is recounted on demand
    changes["today_since"], changes["n_today"] = count_judged_today(annotator, now)
    changes["n_today"] += worth and judgement.judged_at >= changes["today_since"]
    if (
        worth
        and annotator.goal is not None
        and changes["n_judged"] >= annotator.goal
        and annotator.finished_at is None
    ):
        changes["finished_at"] = now
    return changes


def pause_if_too_fast(annotator: Membership, now: datetime) -> bool:
    """Pause the annotator after too many too fast judgements since a manager last resumed them.
    Returns whether the annotator is paused now."""
    most = annotator.campaign.pause_after_fast
    if not most or annotator.status != Membership.Status.ACTIVE:
        return False
    resumed = AuditEvent.objects.filter(
        campaign_id=annotator.campaign_id,
        action=AuditAction.RESUMED_AN_ANNOTATOR,
        subject=annotator.pseudonym,
    )
    last = resumed.order_by("-at").values_list("at", flat=True).first()
    fast = Judgement.objects.filter(
        membership=annotator, current=True, status=Judgement.Status.TOO_FAST
    )
    n = (fast.filter(received_at__gt=last) if last else fast).count()
    if n < most:
        return False
    exclusion.pause_annotator(annotator, reason=f"{TOO_FAST}{n}", actor=None, now=now)
    return True

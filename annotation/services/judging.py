"""Taking judgements: submitting, revising, judging later, and the manager's own label.

What a judgement is worth (its standing) is decided here, under the pair's lock:
- *counted*: fills one of the pair's slots. A late answer, whose lease had expired, counts if a slot is still free.
- *extra*: the pair was full; kept, never in labels, also when a slot becomes free later.
- *too fast*: active time below the campaign's minimum; fills no slot, counts nowhere, and the pair is not offered to this annotator
  again. A revision counts the time of all openings together, so taking more time can mend it.
- *cannot judge* (no grade): fills no slot, for the pair still needs its grades from others. When as many annotators as the pair
  needs said that its query is unclear or its document broken, it is not offered to anybody any more (`Pair.unjudgeable`).
- *excluded*: the annotator was excluded meanwhile.
A revision of a counted judgement stays counted while it has a grade; one of an extra stays extra.
Judgements of gold and everyone pairs are counted without limit; those of qualification pairs are extra.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import IntegrityError
from django.db.models import F
from django.utils import timezone

from annotation.core import scale as scales
from annotation.core import timing
from annotation.core.display import merged_spans
from annotation.models import Campaign, Judgement, Lease, Membership, Pair, Skip
from annotation.selectors import qualification as known_pairs
from annotation.services import qualification, slots
from annotation.services.audit import record
from annotation.services.errors import CampaignError, Refused

__all__ = ["Answer", "Outcome", "Refused", "adjudicate", "revise", "skip", "submit"]

REASONS = ("query", "document", "language", "expertise", "other")
Standing = Judgement.Standing


@dataclass(frozen=True)
class Answer:
    """What the page sends. grade None: cannot judge, with the reason. Times in milliseconds of this opening of the pair; the
    moments are by the page's own clock."""

    grade: int | None
    cannot_reason: str = ""
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
class Outcome:
    judgement: Judgement
    message: str
    feedback: dict[str, object] | None = None


def submit(membership: Membership, *, lease: uuid.UUID, key: uuid.UUID, answer: Answer, now: datetime | None = None) -> Outcome:
    """Take one judgement for one lease. The same key again returns the same judgement and changes nothing.

    Raises Refused: 400 for an answer that does not fit the campaign, 404 for an unknown lease, 409 where the annotator has judged
    the pair already or the campaign takes no more judgements.
    """
    now = now or timezone.now()

    def work() -> Outcome:
        member = _locked(membership)
        known = _known(member, key)
        if known is not None:
            return known
        pair_id = Lease.objects.filter(token=lease, membership=member).values_list("pair_id", flat=True).first()
        if pair_id is None:
            raise Refused("lease_unknown", "This pair was not given to you by this campaign.", 404)
        own_leases = _own_leases(member, pair_id)
        served = next(own for own in own_leases if own.token == lease)
        pair = slots.locked([pair_id])[pair_id]
        n = slots.per_pair(pair.campaign_id)
        if Judgement.objects.filter(pair=pair, membership=member, current=True).exists():
            raise Refused("already_judged", "You have judged this pair already; change it in your history.", 409)
        spans = _checked(answer, member.campaign, pair)
        moment = timing.judged_at(
            client_judged_at=answer.judged_at, client_sent_at=answer.sent_at, received_at=now, served_at=served.served_at
        )
        after_deadline = _in_time(member.campaign, moment, now)
        late = served.state != Lease.State.LIVE or served.expires_at <= now
        had_slot = _end_live(own_leases, pair, now)
        times = _times(answer, member, None if member.simulated else _ms(now - served.served_at))
        standing = _standing(member, pair, answer.grade, times, n=n, has_slot=had_slot)
        judgement = Judgement(
            key=key,
            pair=pair,
            membership=member,
            lease=served,
            late=late,
            after_deadline=after_deadline,
            served_at=served.served_at,
            judged_at=moment,
            standing=standing,
        )
        _fill(judgement, answer, spans, times)
        judgement.save(force_insert=True)
        if standing == Standing.COUNTED:
            pair.counted += 1
        if standing == Standing.CANNOT:
            slots.recount_unjudgeable(pair, n)
        slots.save(pair, n)
        Skip.objects.filter(pair=pair, membership=member).delete()
        _note_progress(member, pair, standing, now)
        feedback = known_pairs.feedback(pair, answer.grade) if pair.kind == Pair.Kind.QUALIFICATION else None
        if feedback is not None:
            qualification.settle(member, now)
        return Outcome(judgement, message(judgement, pair), feedback)

    return _once(work, membership, key)


def revise(membership: Membership, judgement_id: int, *, key: uuid.UUID, answer: Answer, now: datetime | None = None) -> Outcome:
    """Add a revision to one's own judgement (any revision's id will do); all are kept, the last counts.

    Raises Refused: 404 unless it is one's own, 409 for a qualification pair or when the campaign takes no more judgements.
    """
    now = now or timezone.now()

    def work() -> Outcome:
        member = _locked(membership)
        known = _known(member, key)
        if known is not None:
            return known
        named = Judgement.objects.filter(pk=judgement_id, membership=member).values_list("pair_id", flat=True).first()
        if named is None:
            raise Refused("judgement_unknown", "There is no such judgement of yours.", 404)
        if member.standing == Membership.Standing.EXCLUDED:
            raise Refused("excluded", "You no longer take part in this campaign.", 403)
        own_leases = _own_leases(member, named)
        pair = slots.locked([named])[named]
        n = slots.per_pair(pair.campaign_id)
        if pair.kind == Pair.Kind.QUALIFICATION:
            raise Refused("qualification_final", "Answers to qualification pairs cannot be changed, for their solution was shown.", 409)
        old = Judgement.objects.get(pair=pair, membership=member, current=True)
        spans = _checked(answer, member.campaign, pair)
        moment = timing.judged_at(
            client_judged_at=answer.judged_at, client_sent_at=answer.sent_at, received_at=now, served_at=old.judged_at
        )
        after_deadline = _in_time(member.campaign, moment, now)
        had_slot = _end_live(own_leases, pair, now)
        opening = _times(answer, member, None if member.simulated else max(0, _ms(now - old.received_at)))
        earlier = timing.Times(old.active_ms, old.idle_ms, old.hidden_ms, old.wall_ms, old.server_ms)
        times = timing.added(earlier, opening)
        pair.counted -= old.standing == Standing.COUNTED
        Judgement.objects.filter(pk=old.pk).update(current=False)
        if old.standing == Standing.CANNOT:
            slots.recount_unjudgeable(pair, n)
        if old.standing == Standing.EXTRA and answer.grade is not None:
            standing = Standing.EXTRA
        else:
            standing = _standing(member, pair, answer.grade, times, n=n, has_slot=had_slot, was_counted=old.standing == Standing.COUNTED)
        pair.counted += standing == Standing.COUNTED
        judgement = Judgement(
            key=key,
            pair=pair,
            membership=member,
            lease_id=old.lease_id,
            revision=old.revision + 1,
            late=old.late,
            after_deadline=after_deadline,
            served_at=old.served_at,
            judged_at=moment,
            standing=standing,
        )
        _fill(judgement, answer, spans, times)
        judgement.save(force_insert=True)
        if standing == Standing.CANNOT:
            slots.recount_unjudgeable(pair, n)
        slots.save(pair, n)
        worth = int(standing != Standing.TOO_FAST) - int(old.standing != Standing.TOO_FAST)
        if worth:
            Membership.objects.filter(pk=member.pk).update(n_counted=F("n_counted") + worth)
        return Outcome(judgement, message(judgement, pair))

    return _once(work, membership, key)


def skip(membership: Membership, *, lease: uuid.UUID, now: datetime | None = None) -> None:
    """Judge later: give the lease back and do not offer the pair before there is nothing else. Repeating it changes nothing."""
    now = now or timezone.now()

    def work() -> None:
        served = Lease.objects.select_for_update().filter(token=lease, membership=membership).first()
        if served is None:
            raise Refused("lease_unknown", "This pair was not given to you by this campaign.", 404)
        if served.state == Lease.State.LIVE:
            slots.end_leases([served], Lease.State.RELEASED, now)
            Skip.objects.update_or_create(pair_id=served.pair_id, membership=membership, defaults={"created_at": now})
            Skip.objects.filter(pair_id=served.pair_id, membership=membership).update(created_at=now)

    slots.retrying(work)


def adjudicate(pair: Pair, grade: int | None, *, reason: str, actor: User | None, now: datetime | None = None) -> Pair:
    """The manager's own label, which overrides the aggregated one; None takes it back. Judgements are not touched."""
    campaign = pair.campaign
    if grade is not None and grade not in scales.values(campaign.scale):
        raise CampaignError("The grade must be one of the scale.")

    def work() -> Pair:
        row = slots.locked([pair.pk])[pair.pk]
        before = row.adjudicated_grade
        row.adjudicated_grade = grade
        row.adjudicated_by = actor if grade is not None else None
        row.adjudicated_at = (now or timezone.now()) if grade is not None else None
        row.adjudicated_reason = reason if grade is not None else ""
        row.save(update_fields=["adjudicated_grade", "adjudicated_by", "adjudicated_at", "adjudicated_reason"])
        action = "adjudicated" if grade is not None else "withdrew an adjudication"
        record(campaign, actor, action, str(row.entry), pair=row.pk, before=before, grade=grade, reason=reason)
        return row

    return slots.retrying(work)


def message(judgement: Judgement, pair: Pair) -> str:
    """One sentence for the annotator: whether it counts, and why not."""
    if pair.kind == Pair.Kind.QUALIFICATION:
        return "Saved."
    if judgement.standing == Standing.TOO_FAST:
        return "Saved, but it was faster than anybody reads, so it does not count. Take your time."
    if judgement.standing == Standing.EXTRA and judgement.late:
        return "Saved as extra: the pair had been offered to somebody else meanwhile, and is complete."
    if judgement.standing == Standing.EXTRA:
        return "Saved as extra: the pair is complete already."
    if judgement.standing == Standing.EXCLUDED:
        return "Saved, but you no longer take part in this campaign."
    if judgement.standing == Standing.CANNOT:
        return "Saved: cannot judge. Others will be asked."
    if judgement.late:
        return "Saved. It came late, but its place was still free: it counts."
    return "Saved."


def _once(work: slots.Callable[[], Outcome], membership: Membership, key: uuid.UUID) -> Outcome:
    """Where the same key arrives twice at the same moment, the second gets the first one's answer."""
    try:
        return slots.retrying(work)
    except IntegrityError:
        known = _known(membership, key)
        if known is None:
            raise
        return known


def _known(member: Membership, key: uuid.UUID) -> Outcome | None:
    number = Judgement.objects.filter(membership=member, key=key).values_list("pk", flat=True).first()
    if number is None:
        return None
    judgement = Judgement.objects.select_related("pair").get(pk=number)
    is_test = judgement.pair.kind == Pair.Kind.QUALIFICATION
    return Outcome(
        judgement, message(judgement, judgement.pair), known_pairs.feedback(judgement.pair, judgement.grade) if is_test else None
    )


def _locked(membership: Membership) -> Membership:
    return Membership.objects.select_for_update(of=("self",)).select_related("campaign").get(pk=membership.pk)


def _ms(span: timedelta) -> int:
    return round(span.total_seconds() * 1000)


def _times(answer: Answer, member: Membership, server_ms: int | None) -> timing.Times:
    """A simulated annotator's times are drawn, not lived through: the server's clock does not bound them."""
    return timing.bounded(
        active_ms=answer.active_ms, idle_ms=answer.idle_ms, hidden_ms=answer.hidden_ms, wall_ms=answer.wall_ms, server_ms=server_ms
    )


def _checked(answer: Answer, campaign: Campaign, pair: Pair) -> list[list[int]]:
    """The spans, merged; Refused when the answer does not fit the campaign."""
    if answer.grade is None:
        if answer.cannot_reason not in REASONS:
            raise Refused("reason_missing", "Say why it cannot be judged.")
    elif answer.cannot_reason:
        raise Refused("grade_and_reason", "Either a grade or a reason why it cannot be judged, not both.")
    elif answer.grade not in scales.values(campaign.scale):
        raise Refused("grade_unknown", f"{answer.grade} is not a grade of this campaign.")
    spans: list[list[int]] = []
    if answer.spans:
        if campaign.spans == Campaign.Spans.OFF:
            raise Refused("spans_off", "This campaign does not ask for marked text.")
        document = pair.entry.document
        try:
            spans = merged_spans([(start, end) for start, end in answer.spans], length=len(document.text) if document else 0)
        except ValueError as error:
            raise Refused("span_outside", f"Marked text is outside the document: {error}.") from None
    required = campaign.spans == Campaign.Spans.REQUIRED and answer.grade is not None and answer.grade >= campaign.spans_from
    if required and not spans:
        name = next(grade["name"] for grade in campaign.scale if grade["value"] == answer.grade)
        raise Refused("span_required", f"Mark the text that makes it {name}.")
    return spans


def _in_time(campaign: Campaign, moment: datetime, now: datetime) -> bool:
    """Whether it arrived in the grace after the end, for a judgement made before it. Refused when it is too late."""
    if campaign.state == Campaign.State.DRAFT:
        raise Refused("draft", "The campaign is not open yet.", 409)
    ends = [(campaign.deadline, "deadline_passed", "The deadline was over when this was judged.")]
    if campaign.state == Campaign.State.CLOSED:
        ends.append((campaign.closed_at, "closed", "The campaign was closed when this was judged."))
    after = False
    for end, code, sentence in ends:
        if end is not None and now > end:
            if moment > end:
                raise Refused(code, sentence, 409)
            if now > end + timedelta(minutes=campaign.grace_minutes):
                raise Refused(code, f"This was judged in time, but arrived more than {campaign.grace_minutes} minutes after the end.", 409)
            after = True
    return after


def _own_leases(member: Membership, pair_id: int) -> list[Lease]:
    """All the annotator's leases of one pair, locked; called before the pair is locked."""
    return list(Lease.objects.select_for_update().filter(membership=member, pair_id=pair_id).order_by("pk"))


def _end_live(own_leases: list[Lease], pair: Pair, now: datetime) -> bool:
    """End the annotator's live lease of the pair, if there is one; whether it had reserved a slot. The caller stores the pair."""
    had_slot = False
    for lease in own_leases:
        if lease.state == Lease.State.LIVE:
            Lease.objects.filter(pk=lease.pk).update(state=Lease.State.SUBMITTED, ended_at=now)
            pair.held -= lease.takes_slot
            had_slot |= lease.takes_slot
    return had_slot


def _standing(
    member: Membership, pair: Pair, grade: int | None, times: timing.Times, *, n: int, has_slot: bool, was_counted: bool = False
) -> Judgement.Standing:
    if pair.kind == Pair.Kind.QUALIFICATION:
        return Standing.EXTRA
    if member.standing == Membership.Standing.EXCLUDED:
        return Standing.EXCLUDED
    if grade is None:
        return Standing.CANNOT
    if was_counted:
        return Standing.COUNTED
    if timing.too_fast(times.active_ms, min_active_seconds=member.campaign.min_active_seconds):
        return Standing.TOO_FAST
    if pair.kind in (Pair.Kind.GOLD, Pair.Kind.EVERYONE):
        return Standing.COUNTED
    slots.settle(pair, n)
    free = pair.counted < pair.needed if has_slot else pair.open_slots > 0
    return Standing.COUNTED if free else Standing.EXTRA


def _fill(judgement: Judgement, answer: Answer, spans: list[list[int]], times: timing.Times) -> None:
    judgement.grade = answer.grade
    judgement.cannot_reason = answer.cannot_reason
    judgement.note = answer.note
    judgement.spans = spans
    judgement.active_ms, judgement.idle_ms, judgement.hidden_ms, judgement.wall_ms, judgement.server_ms = times
    judgement.guideline_version = answer.guideline_version
    judgement.device = answer.device


def _note_progress(member: Membership, pair: Pair, standing: str, now: datetime) -> None:
    """The annotator's own count: pairs judged, other than too fast and qualification ones; and when the target was reached."""
    changes: dict[str, object] = {"last_seen": now}
    if pair.kind != Pair.Kind.QUALIFICATION and standing != Standing.TOO_FAST:
        changes["n_counted"] = F("n_counted") + 1
        target = member.goal
        if target is not None and member.n_counted + 1 >= target and member.finished_at is None:
            changes["finished_at"] = now
    Membership.objects.filter(pk=member.pk).update(**changes)

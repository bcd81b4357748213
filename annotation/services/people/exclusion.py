"""Pausing and excluding annotators, reversibly, with the reason."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.core.audit_actions import AuditAction
from annotation.models import Judgement, Lease, Membership, Pair
from annotation.services.audit import record
from annotation.services.errors import CampaignError
from annotation.services.judging import slots


@dataclass(frozen=True)
class Inclusion:
    """What an inclusion has changed. `counted`: judgements that entered the labels; `extra`: that
    are kept as extra because others have filled their slots."""

    counted: int
    extra: int


def exclude_annotator(
    annotator: Membership, *, reason: str, actor: User | None, now: datetime | None = None
) -> int:
    """Take all the annotator's judgements out of the labels and give their slots back; returns how
    many counted until now.

    Nothing is deleted: the rows stand as excluded, and `include_annotator` reverses it.
    """
    if not reason.strip():
        raise CampaignError(_("Give the reason; it is stored with the exclusion and exported."))
    moment = now or timezone.now()

    def work() -> int:
        locked = _locked(annotator)
        locked.standing, locked.standing_reason = Membership.Standing.EXCLUDED, reason
        locked.save(update_fields=["standing", "standing_reason"])
        _release(locked, moment)
        rows = list(
            Judgement.objects.filter(
                membership=locked, current=True, standing=Judgement.Standing.COUNTED
            ).values_list("pk", "pair_id")
        )
        pairs = slots.locked([*(pair_id for _, pair_id in rows), *_said_cannot(locked)])
        # Only what still counts under the locks: its pair was locked by nobody else, and the
        # annotator's own answers wait for us.
        for _row, pair_id in rows:
            pairs[pair_id].counted -= slots.takes_slots(locked)
        _set_standing([pk for pk, _ in rows], Judgement.Standing.EXCLUDED)
        slots.settle_unjudgeable(pairs.values(), slots.per_pair(locked.campaign_id))
        slots.save_all(pairs.values(), locked.campaign_id)
        record(
            locked.campaign,
            actor,
            AuditAction.EXCLUDED_AN_ANNOTATOR,
            locked.pseudonym,
            reason=reason,
            judgements=len(rows),
        )
        return len(rows)

    done = slots.retrying(work)
    annotator.refresh_from_db(fields=["standing", "standing_reason"])
    return done


def exclude_together(annotators: Iterable[Membership], *, reason: str, actor: User | None) -> int:
    """Exclude those who are not excluded yet, each for the same reason; returns how many judgements
    counted until now."""
    return sum(
        exclude_annotator(member, reason=reason, actor=actor)
        for member in annotators
        if member.standing != Membership.Standing.EXCLUDED
    )


def include_annotator(annotator: Membership, *, actor: User | None, reason: str = "") -> Inclusion:
    """Reverse an exclusion: judgements count again where their slot is still free, else they are
    extra. Returns what happened."""

    def work() -> Inclusion:
        locked = _locked(annotator)
        if locked.standing != Membership.Standing.EXCLUDED:
            raise CampaignError(
                _("%(pseudonym)s is not excluded.") % {"pseudonym": locked.pseudonym}
            )
        locked.standing, locked.standing_reason = Membership.Standing.ACTIVE, ""
        locked.save(update_fields=["standing", "standing_reason"])
        rows = list(
            Judgement.objects.filter(
                membership=locked, current=True, standing=Judgement.Standing.EXCLUDED
            )
            .order_by("pk")
            .values_list("pk", "pair_id")
        )
        pairs = slots.locked([*(pair_id for _, pair_id in rows), *_said_cannot(locked)])
        n = slots.per_pair(locked.campaign_id)
        slots.settle_unjudgeable(pairs.values(), n)
        counted, extra = [], []
        for pk, pair_id in rows:
            pair = pairs[pair_id]
            slots.balance_slots(pair, n)
            if (
                pair.kind != Pair.Kind.NORMAL
                or pair.open_slots > 0
                or pair.is_left
                or not slots.takes_slots(locked)
            ):
                pair.counted += slots.takes_slots(locked)
                counted.append(pk)
            else:
                extra.append(pk)
        _set_standing(counted, Judgement.Standing.COUNTED)
        _set_standing(extra, Judgement.Standing.EXTRA)
        slots.save_all(pairs.values(), locked.campaign_id)
        record(
            locked.campaign,
            actor,
            AuditAction.INCLUDED_AN_ANNOTATOR_AGAIN,
            locked.pseudonym,
            reason=reason,
            counted=len(counted),
            extra=len(extra),
        )
        return Inclusion(len(counted), len(extra))

    done = slots.retrying(work)
    annotator.refresh_from_db(fields=["standing", "standing_reason"])
    return done


def pause_annotator(
    annotator: Membership, *, reason: str, actor: User | None, now: datetime | None = None
) -> None:
    """No more pairs for this annotator until resumed; the reason is shown to the annotator, so it
    is needed."""
    if not reason.strip():
        raise CampaignError(_("Give the reason; it is what the annotator is shown."))
    _change(
        annotator,
        Membership.Standing.PAUSED,
        reason,
        actor,
        AuditAction.PAUSED_AN_ANNOTATOR,
        now or timezone.now(),
    )


def resume_annotator(annotator: Membership, *, actor: User | None) -> None:
    _change(
        annotator,
        Membership.Standing.ACTIVE,
        "",
        actor,
        AuditAction.RESUMED_AN_ANNOTATOR,
        timezone.now(),
    )


def _change(
    annotator: Membership,
    standing: str,
    reason: str,
    actor: User | None,
    action: AuditAction,
    now: datetime,
) -> None:
    def work() -> None:
        locked = _locked(annotator)
        if locked.standing == Membership.Standing.EXCLUDED:
            raise CampaignError(
                _("%(pseudonym)s is excluded; include the annotator again first.")
                % {"pseudonym": locked.pseudonym}
            )
        locked.standing, locked.standing_reason = standing, reason
        locked.save(update_fields=["standing", "standing_reason"])
        if standing != Membership.Standing.ACTIVE:
            _release(locked, now)
        record(locked.campaign, actor, action, locked.pseudonym, reason=reason)

    slots.retrying(work)
    annotator.refresh_from_db(fields=["standing", "standing_reason"])


def _said_cannot(annotator: Membership) -> list[int]:
    """Pairs of which the annotator says that nobody can judge them: it is not heard while the
    annotator is excluded."""
    return list(
        Judgement.objects.filter(slots.SAYS_SO, membership=annotator).values_list(
            "pair_id", flat=True
        )
    )


def _locked(annotator: Membership) -> Membership:
    return (
        Membership.objects.select_for_update(of=("self",))
        .select_related("campaign")
        .get(pk=annotator.pk)
    )


def _release(annotator: Membership, now: datetime) -> None:
    live = (
        Lease.objects.select_for_update()
        .filter(membership=annotator, state=Lease.State.LIVE)
        .order_by("pk")
    )
    slots.end_leases(list(live), Lease.State.RELEASED, now)


def _set_standing(ids: list[int], standing: str) -> None:
    for start in range(0, len(ids), slots.BATCH):
        Judgement.objects.filter(pk__in=ids[start : start + slots.BATCH]).update(standing=standing)

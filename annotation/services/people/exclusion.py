"""Pausing and excluding annotators, reversibly and with a reason."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.core.audit_actions import AuditAction
from annotation.models import Judgement, Lease, Membership, Pair
from annotation.services.audit import record_event
from annotation.services.errors import CampaignError
from annotation.services.judging import slots


@dataclass(frozen=True)
class InclusionResult:
    """The effect of an inclusion. counted: judgements that count again. extra: judgements kept as
    extra because other annotators have filled their slots."""

    counted: int
    extra: int


def exclude_annotator(
    annotator: Membership, *, reason: str, actor: User | None, now: datetime | None = None
) -> int:
    """Exclude all judgements of the annotator and free their slots. Returns the number of
    judgements that counted before.

    Nothing is deleted: the rows get the status excluded, and `include_annotator` reverses it.
    """
    if not reason.strip():
        raise CampaignError(_("Enter a reason. It is stored with the exclusion and exported."))
    moment = now or timezone.now()

    def work() -> int:
        locked = _lock_membership(annotator)
        locked.status, locked.status_reason = Membership.Status.EXCLUDED, reason
        locked.save(update_fields=["status", "status_reason"])
        _release_leases(locked, moment)
        rows = list(
            Judgement.objects.filter(
                membership=locked, current=True, status=Judgement.Status.COUNTED
            ).values_list("pk", "pair_id")
        )
        pairs = slots.lock_pairs(
            [*(pair_id for _, pair_id in rows), *_pairs_reported_unjudgeable(locked)]
        )
        # Select what still counts now that the locks are held. Another transaction may have changed
        # the pairs, but the annotator's own answers wait for these locks.
        for _row, pair_id in rows:
            pairs[pair_id].counted -= slots.takes_slots(locked)
        _set_status([pk for pk, _ in rows], Judgement.Status.EXCLUDED)
        slots.update_unjudgeable(pairs.values(), slots.get_judgements_per_pair(locked.campaign_id))
        slots.save_pairs(pairs.values(), locked.campaign_id)
        record_event(
            locked.campaign,
            actor,
            AuditAction.EXCLUDED_AN_ANNOTATOR,
            locked.pseudonym,
            reason=reason,
            judgements=len(rows),
        )
        return len(rows)

    done = slots.run_with_retries(work)
    annotator.refresh_from_db(fields=["status", "status_reason"])
    return done


def exclude_annotators(annotators: Iterable[Membership], *, reason: str, actor: User | None) -> int:
    """Exclude annotators who are not excluded yet, with the same reason. Returns the number of
    judgements that counted before."""
    return sum(
        exclude_annotator(member, reason=reason, actor=actor)
        for member in annotators
        if member.status != Membership.Status.EXCLUDED
    )


def include_annotator(
    annotator: Membership, *, actor: User | None, reason: str = ""
) -> InclusionResult:
    """Reverse an exclusion. Judgements count again if their slot is still free, otherwise they are
    extra."""

    def work() -> InclusionResult:
        locked = _lock_membership(annotator)
        if locked.status != Membership.Status.EXCLUDED:
            raise CampaignError(
                _("%(pseudonym)s is not excluded.") % {"pseudonym": locked.pseudonym}
            )
        locked.status, locked.status_reason = Membership.Status.ACTIVE, ""
        locked.save(update_fields=["status", "status_reason"])
        rows = list(
            Judgement.objects.filter(
                membership=locked, current=True, status=Judgement.Status.EXCLUDED
            )
            .order_by("pk")
            .values_list("pk", "pair_id")
        )
        pairs = slots.lock_pairs(
            [*(pair_id for _, pair_id in rows), *_pairs_reported_unjudgeable(locked)]
        )
        n = slots.get_judgements_per_pair(locked.campaign_id)
        slots.update_unjudgeable(pairs.values(), n)
        counted, extra = [], []
        for pk, pair_id in rows:
            pair = pairs[pair_id]
            slots.balance_slots(pair, n)
            if (
                pair.kind != Pair.Kind.NORMAL
                or pair.open_slots > 0
                or pair.is_excluded_by_depth
                or not slots.takes_slots(locked)
            ):
                pair.counted += slots.takes_slots(locked)
                counted.append(pk)
            else:
                extra.append(pk)
        _set_status(counted, Judgement.Status.COUNTED)
        _set_status(extra, Judgement.Status.EXTRA)
        slots.save_pairs(pairs.values(), locked.campaign_id)
        record_event(
            locked.campaign,
            actor,
            AuditAction.INCLUDED_AN_ANNOTATOR_AGAIN,
            locked.pseudonym,
            reason=reason,
            counted=len(counted),
            extra=len(extra),
        )
        return InclusionResult(len(counted), len(extra))

    done = slots.run_with_retries(work)
    annotator.refresh_from_db(fields=["status", "status_reason"])
    return done


def pause_annotator(
    annotator: Membership, *, reason: str, actor: User | None, now: datetime | None = None
) -> None:
    """Stop assigning pairs to the annotator until a manager resumes them. A reason is required,
    because the annotator sees it."""
    if not reason.strip():
        raise CampaignError(_("Enter a reason. The annotator will see it."))
    _change_status(
        annotator,
        Membership.Status.PAUSED,
        reason,
        actor,
        AuditAction.PAUSED_AN_ANNOTATOR,
        now or timezone.now(),
    )


def resume_annotator(annotator: Membership, *, actor: User | None) -> None:
    _change_status(
        annotator,
        Membership.Status.ACTIVE,
        "",
        actor,
        AuditAction.RESUMED_AN_ANNOTATOR,
        timezone.now(),
    )


def _change_status(
    annotator: Membership,
    status: str,
    reason: str,
    actor: User | None,
    action: AuditAction,
    now: datetime,
) -> None:
    def work() -> None:
        locked = _lock_membership(annotator)
        if locked.status == Membership.Status.EXCLUDED:
            raise CampaignError(
                _("%(pseudonym)s is excluded. Include them again first.")
                % {"pseudonym": locked.pseudonym}
            )
        locked.status, locked.status_reason = status, reason
        locked.save(update_fields=["status", "status_reason"])
        if status != Membership.Status.ACTIVE:
            _release_leases(locked, now)
        record_event(locked.campaign, actor, action, locked.pseudonym, reason=reason)

    slots.run_with_retries(work)
    annotator.refresh_from_db(fields=["status", "status_reason"])


def _pairs_reported_unjudgeable(annotator: Membership) -> list[int]:
    """Return the pairs for which the annotator answered that they cannot be judged. Such answers do
    not count while the annotator is excluded."""
    return list(
        Judgement.objects.filter(slots.SAYS_CANNOT_JUDGE, membership=annotator).values_list(
            "pair_id", flat=True
        )
    )


def _lock_membership(annotator: Membership) -> Membership:
    return (
        Membership.objects.select_for_update(of=("self",))
        .select_related("campaign")
        .get(pk=annotator.pk)
    )


def _release_leases(annotator: Membership, now: datetime) -> None:
    live = (
        Lease.objects.select_for_update()
        .filter(membership=annotator, state=Lease.State.LIVE)
        .order_by("pk")
    )
    slots.end_leases(list(live), Lease.State.RELEASED, now)


def _set_status(ids: list[int], status: str) -> None:
    for start in range(0, len(ids), slots.BATCH):
        Judgement.objects.filter(pk__in=ids[start : start + slots.BATCH]).update(status=status)

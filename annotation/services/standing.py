"""Pausing and excluding annotators, reversibly, with the reason; and what each would change, before it is done."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db.models import F
from django.utils import timezone

from annotation.models import Judgement, Lease, Membership, Pair
from annotation.services import slots
from annotation.services.audit import record
from annotation.services.errors import CampaignError

Standing = Judgement.Standing


@dataclass(frozen=True)
class Preview:
    """What an exclusion or inclusion would change. `counted`: judgements that would leave or enter the labels; `extra`: that would
    be kept as extra because others have filled their slots; `pairs_short`: pairs that would have fewer judgements than needed."""

    counted: int
    extra: int
    pairs_short: int


def preview_exclusion(membership: Membership) -> Preview:
    own = Judgement.objects.filter(membership=membership, current=True, standing=Standing.COUNTED)
    return Preview(counted=own.count(), extra=0, pairs_short=own.filter(pair__counted__lte=F("pair__needed")).count())


def preview_inclusion(membership: Membership) -> Preview:
    own = Judgement.objects.filter(membership=membership, current=True, standing=Standing.EXCLUDED)
    special = own.filter(pair__kind__in=[Pair.Kind.GOLD, Pair.Kind.EVERYONE]).count()
    free = own.filter(pair__kind=Pair.Kind.NORMAL, pair__open_slots__gt=0).count()
    short = own.filter(pair__kind=Pair.Kind.NORMAL, pair__counted__lt=F("pair__needed") - 1).count()
    return Preview(counted=special + free, extra=own.count() - special - free, pairs_short=short)


def exclude_annotator(membership: Membership, *, reason: str, actor: User | None, now: datetime | None = None) -> int:
    """Take all the annotator's judgements out of the labels and give their slots back; returns how many counted until now.

    Nothing is deleted: the rows stand as excluded, and `include_annotator` reverses it.
    """
    if not reason.strip():
        raise CampaignError("Give the reason; it is stored with the exclusion and exported.")
    moment = now or timezone.now()

    def work() -> int:
        member = _locked(membership)
        member.standing, member.standing_reason = Membership.Standing.EXCLUDED, reason
        member.save(update_fields=["standing", "standing_reason"])
        _release(member, moment)
        rows = list(Judgement.objects.filter(membership=member, current=True, standing=Standing.COUNTED).values_list("pk", "pair_id"))
        pairs = slots.locked(pair_id for _, pair_id in rows)
        # Only what still counts under the locks: its pair was locked by nobody else, and the member's own answers wait for us.
        for _, pair_id in rows:
            pairs[pair_id].counted -= 1
        _set_standing([pk for pk, _ in rows], Standing.EXCLUDED)
        slots.save_all(pairs.values(), member.campaign_id)
        record(member.campaign, actor, "excluded an annotator", member.pseudonym, reason=reason, judgements=len(rows))
        return len(rows)

    done = slots.retrying(work)
    membership.refresh_from_db(fields=["standing", "standing_reason"])
    return done


def include_annotator(membership: Membership, *, actor: User | None, reason: str = "") -> Preview:
    """Reverse an exclusion: judgements count again where their slot is still free, else they are extra. Returns what happened."""

    def work() -> Preview:
        member = _locked(membership)
        if member.standing != Membership.Standing.EXCLUDED:
            raise CampaignError(f"{member.pseudonym} is not excluded.")
        member.standing, member.standing_reason = Membership.Standing.ACTIVE, ""
        member.save(update_fields=["standing", "standing_reason"])
        rows = list(
            Judgement.objects.filter(membership=member, current=True, standing=Standing.EXCLUDED)
            .order_by("pk")
            .values_list("pk", "pair_id")
        )
        pairs = slots.locked(pair_id for _, pair_id in rows)
        n = slots.per_pair(member.campaign_id)
        counted, extra = [], []
        for pk, pair_id in rows:
            pair = pairs[pair_id]
            slots.settle(pair, n)
            if pair.kind != Pair.Kind.NORMAL or pair.open_slots > 0:
                pair.counted += 1
                counted.append(pk)
            else:
                extra.append(pk)
        _set_standing(counted, Standing.COUNTED)
        _set_standing(extra, Standing.EXTRA)
        slots.save_all(pairs.values(), member.campaign_id)
        short = sum(pair.counted < pair.needed for pair in pairs.values())
        record(
            member.campaign, actor, "included an annotator again", member.pseudonym, reason=reason, counted=len(counted), extra=len(extra)
        )
        return Preview(len(counted), len(extra), short)

    done = slots.retrying(work)
    membership.refresh_from_db(fields=["standing", "standing_reason"])
    return done


def pause_annotator(membership: Membership, *, reason: str, actor: User | None, now: datetime | None = None) -> None:
    """No more pairs for this annotator until resumed; the reason is shown to the annotator, so it is needed."""
    if not reason.strip():
        raise CampaignError("Give the reason; it is what the annotator is shown.")
    _change(membership, Membership.Standing.PAUSED, reason, actor, "paused an annotator", now or timezone.now())


def resume_annotator(membership: Membership, *, actor: User | None) -> None:
    _change(membership, Membership.Standing.ACTIVE, "", actor, "resumed an annotator", timezone.now())


def _change(membership: Membership, standing: str, reason: str, actor: User | None, action: str, now: datetime) -> None:
    def work() -> None:
        member = _locked(membership)
        if member.standing == Membership.Standing.EXCLUDED:
            raise CampaignError(f"{member.pseudonym} is excluded; include the annotator again first.")
        member.standing, member.standing_reason = standing, reason
        member.save(update_fields=["standing", "standing_reason"])
        if standing != Membership.Standing.ACTIVE:
            _release(member, now)
        record(member.campaign, actor, action, member.pseudonym, reason=reason)

    slots.retrying(work)
    membership.refresh_from_db(fields=["standing", "standing_reason"])


def _locked(membership: Membership) -> Membership:
    return Membership.objects.select_for_update(of=("self",)).select_related("campaign").get(pk=membership.pk)


def _release(member: Membership, now: datetime) -> None:
    live = Lease.objects.select_for_update().filter(membership=member, state=Lease.State.LIVE).order_by("pk")
    slots.end_leases(list(live), Lease.State.RELEASED, now)


def _set_standing(ids: list[int], standing: str) -> None:
    for start in range(0, len(ids), slots.BATCH):
        Judgement.objects.filter(pk__in=ids[start : start + slots.BATCH]).update(standing=standing)

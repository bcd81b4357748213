"""Counting anew what the services keep as counters: pairs' judgements and leases, annotators' judgements. Only for `manage.py verify --mend`."""

from __future__ import annotations

from django.db import transaction
from django.db.models import Count

from annotation.models import Campaign, Judgement, Lease, Membership, Pair
from annotation.services import slots

SETTLED = [*slots.COUNTERS, "beyond_depth"]


def recount(campaign: Campaign) -> int:
    """Make every counter of the campaign what its rows say, while people judge: each pair is locked as by a judgement. -> how many were wrong

    Rows are the truth: no judgement and no lease is changed.
    """
    ids = list(Pair.objects.filter(campaign=campaign).order_by("pk").values_list("pk", flat=True))
    wrong = 0
    for start in range(0, len(ids), slots.BATCH):
        wrong += _recount_pairs(campaign, ids[start : start + slots.BATCH])
    for membership_id in campaign.memberships.values_list("pk", flat=True):
        wrong += _recount_annotator(membership_id)
    return wrong


@transaction.atomic
def _recount_pairs(campaign: Campaign, ids: list[int]) -> int:
    pairs = slots.locked(ids)
    current = Judgement.objects.filter(slots.TAKING, pair__in=ids, current=True, standing=Judgement.Standing.COUNTED)
    counted = dict(current.values_list("pair").annotate(n=Count("pk")).order_by())
    live = Lease.objects.filter(pair__in=ids, state=Lease.State.LIVE, takes_slot=True)
    held = dict(live.values_list("pair").annotate(n=Count("pk")).order_by())
    least = slots.least_priority(campaign.pk)
    before = {pair.pk: [getattr(pair, name) for name in SETTLED] for pair in pairs.values()}
    for pair in pairs.values():
        pair.counted, pair.held = counted.get(pair.pk, 0), held.get(pair.pk, 0)
        pair.beyond_depth = slots.is_beyond(pair.priority, least)
    Pair.objects.bulk_update(pairs.values(), ["beyond_depth"], batch_size=slots.BATCH)
    slots.save_all(pairs.values(), campaign.pk)
    return sum(before[pair.pk] != [getattr(pair, name) for name in SETTLED] for pair in pairs.values())


@transaction.atomic
def _recount_annotator(membership_id: int) -> int:
    member = Membership.objects.select_for_update().get(pk=membership_id)
    own = Judgement.objects.filter(membership=member, current=True).exclude(standing=Judgement.Standing.TOO_FAST)
    n = own.exclude(pair__kind=Pair.Kind.QUALIFICATION).count()
    return Membership.objects.filter(pk=member.pk).exclude(n_judged=n).update(n_judged=n)

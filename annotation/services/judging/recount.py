"""Recount of all stored counters from the rows, for `assay verify --fix`: judgements and leases of
pairs, fields copied from pool entries, judgements and unread answers of annotators, uses of
invitations, and totals of the campaign."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import Count

from annotation.models import Campaign, Judgement, Lease, Membership, Pair
from annotation.selectors import kept_figures
from annotation.services.judging import slots

COPIED_FIELDS = ["topic_row", "priority", "position", "without_text", "removed"]
SETTLED_FIELDS = [*slots.COUNTERS, "beyond_depth", *COPIED_FIELDS]


def recount_campaign(campaign: Campaign) -> int:
    """Correct the campaign's counters while annotators judge. Each pair is locked as for a
    judgement. Returns the number of pairs and annotators that were wrong.

    Judgements and leases are taken as correct and are not changed.
    """
    ids = list(Pair.objects.filter(campaign=campaign).order_by("pk").values_list("pk", flat=True))
    wrong = sum(
        _recount_pairs(campaign, ids[start : start + slots.BATCH])
        for start in range(0, len(ids), slots.BATCH)
    )
    wrong += sum(
        _recount_annotator(membership_id)
        for membership_id in campaign.memberships.values_list("pk", flat=True)
    )
    Campaign.objects.filter(pk=campaign.pk).update(**kept_figures.count_campaign_figures(campaign))
    _recount_invitations(campaign)
    return wrong


@transaction.atomic
def _recount_invitations(campaign: Campaign) -> None:
    # locks the rows, so that no one joins by these invitations meanwhile
    list(campaign.invitations.select_for_update().order_by("pk").values_list("pk", flat=True))
    for pk, n_uses in kept_figures.find_wrong_use_counts(campaign).items():
        campaign.invitations.filter(pk=pk).update(n_uses=n_uses)


@transaction.atomic
def _recount_pairs(campaign: Campaign, ids: list[int]) -> int:
    pairs = slots.lock_pairs(ids)
    current = Judgement.objects.filter(
        slots.TAKES_SLOT, pair__in=ids, current=True, status=Judgement.Status.COUNTED
    )
    counted = dict(current.values_list("pair").annotate(n=Count("pk")).order_by())
    live = Lease.objects.filter(pair__in=ids, state=Lease.State.LIVE, takes_slot=True)
    held = dict(live.values_list("pair").annotate(n=Count("pk")).order_by())
    least = slots.get_min_priority(campaign.pk)
    as_entry_says = {
        pair.pk: kept_figures.current_entry_fields(pair)
        for pair in Pair.objects.filter(pk__in=ids).select_related("entry__topic")
    }
    before = {pair.pk: [getattr(pair, name) for name in SETTLED_FIELDS] for pair in pairs.values()}
    for pair in pairs.values():
        for name, value in as_entry_says[pair.pk].items():
            setattr(pair, name, value)
        pair.counted, pair.held = counted.get(pair.pk, 0), held.get(pair.pk, 0)
        pair.beyond_depth = slots.is_beyond_depth(pair.priority, least)
    slots.update_unjudgeable(pairs.values(), slots.get_judgements_per_pair(campaign.pk))
    Pair.objects.bulk_update(
        pairs.values(), ["beyond_depth", *COPIED_FIELDS], batch_size=slots.BATCH
    )
    slots.save_pairs(pairs.values(), campaign.pk)
    return sum(
        before[pair.pk] != [getattr(pair, name) for name in SETTLED_FIELDS]
        for pair in pairs.values()
    )


@transaction.atomic
def _recount_annotator(membership_id: int) -> int:
    member = Membership.objects.select_for_update().get(pk=membership_id)
    one = Membership.objects.filter(pk=member.pk)
    own = Judgement.objects.filter(membership=member, current=True).exclude(
        status=Judgement.Status.TOO_FAST
    )
    so: dict[str, Any] = {"n_judged": own.exclude(pair__kind=Pair.Kind.QUALIFICATION).count()}
    so["unread_answers"] = kept_figures.count_unread_answers(one).get(member.pk, 0)
    if member.today_since is not None and member.n_today != kept_figures.count_judged_today(
        one
    ).get(member.pk, 0):
        so["today_since"] = None  # recounted at the next request
    changes = {name: value for name, value in so.items() if getattr(member, name) != value}
    return one.update(**changes) if changes else 0

"""Judging depth of a campaign, which can be reduced and increased while the campaign runs. Unjudged
pairs beyond the depth are not assigned."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from annotation.core.audit_actions import AuditAction
from annotation.models import Campaign, Pair
from annotation.services.audit import record_event
from annotation.services.campaigns.pairs import set_pair_field
from annotation.services.errors import CampaignError


def full_depth_reason(campaign: Campaign) -> str:
    """Return why the campaign must judge its whole pool, or an empty string if it need not."""
    if campaign.pool is None:
        return _("The campaign has no pool yet.")
    if campaign.pool.is_sampled:
        return _(
            "The depth of a sampled pool can't be reduced because its estimates need every "
            "drawn pair."
        )
    if campaign.pool.is_staged:
        return _(
            "The depth of a prioritised pool can't be reduced. To stop earlier, plan no "
            "further batches."
        )
    return ""


def set_depth(campaign: Campaign, least_priority: int | None, *, actor: User | None) -> int:
    """Judge only pairs of this priority or higher (None: the whole pool). Returns the number of
    pairs whose assignment the change affects.

    Judgements of pairs beyond the limit are kept. Pairs with a judgement are completed, so that
    every label has the same number of judgements, and judgements in progress are accepted.
    Repeating the call completes an interrupted change. It is safe while annotators judge.
    """
    if why := full_depth_reason(campaign):
        raise CampaignError(why)
    before = campaign.least_priority
    campaign.least_priority = least_priority
    campaign.save(update_fields=["least_priority"])
    changed = sum(
        _mark_beyond_depth(campaign, pairs, beyond)
        for beyond, pairs in _pairs_crossing_depth(campaign)
    )
    if changed or before != least_priority:
        words = (
            "the whole pool"
            if least_priority is None
            else f"{campaign.level_word} {campaign.level_of(least_priority)}"
        )
        record_event(
            campaign,
            actor,
            AuditAction.CHANGED_THE_DEPTH,
            words,
            least_priority=[before, least_priority],
            pairs=changed,
        )
    return changed


def _pairs_crossing_depth(campaign: Campaign) -> list[tuple[bool, QuerySet[Pair]]]:
    pairs, least = Pair.objects.filter(campaign=campaign), campaign.least_priority
    beyond = Q(priority__lt=least) if least is not None else Q(pk__in=[])
    return [
        (True, pairs.filter(beyond, beyond_depth=False)),
        (False, pairs.filter(beyond_depth=True).exclude(beyond)),
    ]


def _mark_beyond_depth(campaign: Campaign, pairs: QuerySet[Pair], beyond: bool) -> int:
    ids = list(pairs.order_by("pk").values_list("pk", flat=True))
    set_pair_field(campaign, ids, "beyond_depth", beyond)
    return len(ids)

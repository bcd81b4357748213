"""Create complete campaigns from a preset or as a copy of another campaign."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.core.campaign_file import SETTINGS
from annotation.core.presets import Preset, guidelines_text
from annotation.models import Campaign, Membership, Pair
from annotation.selectors.campaign_description import describe_campaign
from annotation.services.campaigns import lifecycle
from annotation.services.campaigns.control_pairs import KnownPairsResult, add_known_pairs
from annotation.services.errors import CampaignError
from annotation.services.people import accounts
from assay.pools.pool_kinds import PoolKind
from pooling.models import Collection, Pool

NOT_COPIED = {"name", "completion_code", "publication"}
"""Settings that are not copied."""


def start_campaign(
    preset: Preset,
    *,
    name: str,
    collection: Collection,
    pool: Pool,
    actor: User,
    settings: Mapping[str, Any],
    control_rows: Sequence[dict[str, Any]] = (),
    n_gold: int = 0,
    n_qualification: int = 0,
    counts_as: Mapping[int, int | None] | None = None,
    with_link: bool = False,
    guidelines: str = "",
) -> tuple[Campaign, KnownPairsResult | None]:
    """Create a draft with the preset's scale, rules and guidelines, the pairs of the pool, gold and
    qualification pairs, and an invitation link.

    settings, guidelines: override those of the preset. control_rows, counts_as: see `add_known_pairs`.
    Raises CampaignError, in which case nothing is created.
    """
    if not pool.n_pairs:
        raise CampaignError(_("The pool is still being built. Try again in a moment."))
    with transaction.atomic():
        campaign = lifecycle.create_campaign(
            name=name, collection=collection, actor=actor, **{**preset.settings, **settings}
        )
        lifecycle.set_pool(campaign, pool, actor=actor)
        text = guidelines.strip() or guidelines_text(
            campaign.scale, spans=campaign.spans, spans_from=campaign.spans_from
        )
        lifecycle.save_guideline(campaign, text, actor=actor)
        taken = None
        if control_rows and (
            n_gold or n_qualification or any(row.get("kind") for row in control_rows)
        ):
            taken = add_known_pairs(
                campaign,
                control_rows,
                n_gold=n_gold,
                n_qualification=n_qualification,
                counts_as=counts_as,
                actor=actor,
            )
        if with_link:
            accounts.create_invitation(campaign=campaign, actor=actor)
    return campaign, taken


def duplicate_campaign(
    campaign: Campaign, *, name: str, actor: User, with_people: bool = False
) -> Campaign:
    """Create a draft with the settings, newest guidelines, pool and control pairs of another
    campaign.

    with_people: also copy its active annotators. Judgements, invitations and a past deadline are
    not copied, nor is a pool whose order depends on the judgements of one campaign.
    """
    said = describe_campaign(campaign)
    settings = {key.name: said[key.name] for key in SETTINGS if key.name not in NOT_COPIED}
    if settings["deadline"] is not None and settings["deadline"] <= timezone.now():
        settings["deadline"] = None
    shared = campaign.pool is not None and campaign.pool.kind != PoolKind.ORDERED
    if not shared:
        settings["qualification_pass"] = 0.0  # without the pool, its pairs are not copied either
    with transaction.atomic():
        copy = lifecycle.create_campaign(
            name=name, collection=campaign.collection, actor=actor, **settings
        )
        if "guidelines" in said:
            lifecycle.save_guideline(copy, said["guidelines"], actor=actor)
        if shared and campaign.pool is not None:
            lifecycle.set_pool(copy, campaign.pool, actor=actor)
            _copy_known_pairs(copy, said["gold"], actor)
        if with_people:
            _copy_people(campaign, copy)
    return copy


def _copy_known_pairs(copy: Campaign, rows: Sequence[Mapping[str, Any]], actor: User) -> None:
    pairs = copy.pairs.select_related("campaign", "entry__topic").filter(
        entry__docno__in={row["document"] for row in rows}
    )
    pair_of = {(pair.entry.topic.topic_id, pair.entry.docno): pair for pair in pairs}
    for row in rows:
        pair: Pair = pair_of[row["topic"], row["document"]]
        lifecycle.set_pair_kind(
            pair, row["kind"], gold_grade=row["grade"], explanation=row["explanation"], actor=actor
        )
    copy.refresh_from_db()


def _copy_people(campaign: Campaign, copy: Campaign) -> None:
    """Add the active annotators of another campaign under new pseudonyms, so that pseudonyms do not
    link people across campaigns."""
    here = set(copy.memberships.values_list("user_id", flat=True))
    rows = campaign.memberships.filter(
        status=Membership.Status.ACTIVE, annotator_type="human"
    ).exclude(user_id__in=here)
    for member in rows.select_related("user").order_by("pk"):
        accounts.add_member(campaign=copy, user=member.user, role=member.role)

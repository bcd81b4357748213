"""Description of stored campaigns in the format of campaign files (annotation.core.campaign_file)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django.db.models import QuerySet

from annotation.core.campaign_file import (
    FURTHER_QUESTION,
    GRADE,
    PANEL,
    PUBLICATION,
    SETTINGS,
    WEBHOOK,
    CampaignDescription,
)
from annotation.core.control_pairs import is_scale_uncertain
from annotation.models import Campaign, GuestPanel, Pair
from annotation.selectors.pairs import get_kept_pairs
from pooling.selectors.collection_description import describe_collection, describe_pool


def describe_all(campaign: Campaign) -> CampaignDescription:
    """Describe the campaign, its collection and its pool as completely as a file can."""
    pool = describe_pool(campaign.pool) if campaign.pool is not None else {}
    settings = describe_campaign(campaign)
    for name in ("further_questions", "webhooks"):  # tables are omitted if empty
        if not settings[name]:
            del settings[name]
    if not campaign.is_preferences:
        del settings["task"]
    return CampaignDescription(describe_collection(campaign.collection), pool, settings)


def describe_campaign(campaign: Campaign) -> dict[str, Any]:
    newest = campaign.guidelines.order_by("number").last()
    settings: dict[str, Any] = {
        "slug": campaign.slug,
        **{key.name: getattr(campaign, key.name) for key in SETTINGS},
    }
    settings["scale"] = _describe_grades(campaign.scale)
    settings["further_questions"] = [
        {key.name: question.get(key.name, key.default) for key in FURTHER_QUESTION}
        | {"scale": _describe_grades(question["scale"])}
        for question in campaign.further_questions
    ]
    settings["publication"] = {
        key.name: campaign.publication.get(key.name, key.default) for key in PUBLICATION
    }
    settings |= {"seed": campaign.seed, "annotator_type": campaign.annotator_type}
    if newest is not None:
        settings["guidelines"] = newest.text
    gold = describe_known_pairs(get_kept_pairs(campaign))
    if is_scale_uncertain(
        own := {row["grade"] for row in gold if row["grade"] is not None}, campaign.grades
    ):  # already on the campaign's scale
        settings["gold_grades"] = [{"file_grade": grade, "grade": grade} for grade in sorted(own)]
    settings |= {
        "gold": gold,
        "people": _describe_people(campaign),
        "invitations": _describe_invitations(campaign),
        "webhooks": _describe_webhooks(campaign),
        "state": campaign.state,
    }
    if panel := GuestPanel.objects.filter(campaign=campaign).first():
        settings["panel"] = _describe_panel(panel)
    if campaign.state == Campaign.State.PAUSED:
        settings["paused_reason"] = campaign.paused_reason
    return settings


def _describe_grades(scale: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key.name: grade.get(key.name, key.default) for key in GRADE} for grade in scale]


def describe_known_pairs(pairs: QuerySet[Pair]) -> list[dict[str, Any]]:
    """Describe the campaign's gold, qualification and calibration pairs, in the pool's order."""
    rows = pairs.exclude(kind=Pair.Kind.NORMAL).order_by("position", "pk")
    columns = ("entry__topic__topic_id", "entry__docno", "kind", "gold_grade", "gold_explanation")
    names = ("topic", "document", "kind", "grade", "explanation")
    return [dict(zip(names, row, strict=True)) for row in rows.values_list(*columns)]


def _describe_people(campaign: Campaign) -> list[dict[str, Any]]:
    rows = campaign.memberships.order_by("role", "pseudonym").values_list(
        "user__username", "role", "pseudonym", "status", "status_reason"
    )
    names = ("user", "role", "pseudonym", "status", "reason")
    return [dict(zip(names, row, strict=True)) for row in rows]


def _describe_invitations(campaign: Campaign) -> list[dict[str, Any]]:
    """Describe the invitations that were not withdrawn."""
    names = ("name", "email", "role", "max_uses", "expires_at")
    rows = (
        campaign.invitations.filter(revoked_at=None)
        .order_by("created_at", "pk")
        .values_list(*names)
    )
    return [dict(zip(names, row, strict=True)) for row in rows]


def _describe_webhooks(campaign: Campaign) -> list[dict[str, Any]]:
    """Describe the webhooks without their secrets and without the paths of their addresses."""
    return [
        {key.name: getattr(one, key.name) for key in WEBHOOK} | {"url": one.shown_address}
        for one in campaign.webhooks.order_by("name")
    ]


def _describe_panel(panel: GuestPanel) -> dict[str, Any]:
    """Describe the settings of a panel without its secret and link."""
    values = {key.name: getattr(panel, key.name) for key in PANEL}
    return {
        name: float(value) if isinstance(value, Decimal) else value
        for name, value in values.items()
    }

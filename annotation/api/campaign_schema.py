"""API schemas of campaigns and campaign documents. A document has the keys of a campaign file, and
annotation.core.campaign_file validates it. These serializers only describe it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from rest_framework import serializers

from annotation.core.campaign_file import CAMPAIGN
from annotation.models import Campaign
from pooling.api.bodies import StrictSerializer
from pooling.core.collection_file import COLLECTION, FILE_KEYS, POOL
from pooling.core.declaration import Key

OMITTED_KEYS = FILE_KEYS | {"guidelines_file", "gold_file", "topic_check"}
"""Keys that name files, or that request work longer than a request."""


def make_field(key: Key, name: str) -> serializers.Field:
    common: dict[str, Any] = {
        "help_text": key.help,
        "required": key.required,
        "allow_null": key.none is not None,
    }
    if key.kind == "rows":
        return make_table_serializer(name, key.row)(many=True, required=False, help_text=key.help)
    if key.kind == "table":
        return make_table_serializer(name, key.row)(required=False, help_text=key.help)
    if key.kind in ("texts", "numbers"):
        child = serializers.CharField() if key.kind == "texts" else serializers.FloatField()
        return serializers.ListField(child=child, **common)
    if key.kind == "text":
        if key.choices:
            return serializers.RegexField(f"^({'|'.join(map(re.escape, key.choices))})$", **common)
        return serializers.CharField(allow_blank=not key.required, trim_whitespace=False, **common)
    if key.kind in ("whole", "number"):
        bounds: dict[str, Any] = {
            f"{which}_value": value
            for which, value in (("min", key.least), ("max", key.most))
            if value is not None
        }
        if key.kind == "whole":
            bounds = {which: int(value) for which, value in bounds.items()}
            return serializers.IntegerField(**common, **bounds)
        return serializers.FloatField(**common, **bounds)
    simple: dict[str, type[serializers.Field]] = {
        "flag": serializers.BooleanField,
        "moment": serializers.DateTimeField,
        "day": serializers.DateField,
    }
    return simple[key.kind](**common)


def make_table_serializer(name: str, keys: Sequence[Key]) -> type[serializers.Serializer]:
    fields = {
        key.name: make_field(key, name + key.name.title().replace("_", ""))
        for key in keys
        if key.name not in OMITTED_KEYS
    }
    return type(
        f"{name}Serializer",
        (StrictSerializer,),
        {**fields, "__doc__": f"A table of a campaign's document: {name}."},
    )


CollectionTable = make_table_serializer("DocumentCollection", COLLECTION)
PoolTable = make_table_serializer("DocumentPool", POOL)
CampaignTable = make_table_serializer("DocumentCampaign", CAMPAIGN)


class DocumentSerializer(StrictSerializer):
    """The wanted state. Omitted keys are not changed. Files, topic checks and pools are created by
    separate requests."""

    collection = CollectionTable()
    pool = PoolTable(required=False)
    campaign = CampaignTable(required=False)


class ChangeSerializer(serializers.Serializer):
    table = serializers.CharField(help_text="collection, pool or campaign")
    key = serializers.CharField()
    words = serializers.CharField(help_text="human-readable description of the change")

    def get_fields(self) -> dict[str, serializers.Field]:
        """Add two fields whose names are, or could become, reserved in Python."""
        return {
            **super().get_fields(),
            "from": serializers.JSONField(),
            "to": serializers.JSONField(),
        }


class AppliedSerializer(serializers.Serializer):
    """The changes made or, with dry_run, planned. Empty if the campaign already matches the
    document."""

    campaign = serializers.CharField(allow_null=True, help_text="slug")
    collection = serializers.CharField(help_text="slug")
    changes = ChangeSerializer(many=True)
    unnamed = serializers.ListField(
        child=serializers.CharField(),
        help_text="descriptions of existing objects that the document does not list; they are kept",
    )
    warnings = serializers.ListField(
        child=serializers.CharField(),
        help_text="warnings about gold questions that a single repeated grade would pass",
    )
    applied = serializers.BooleanField()
    dry_run = serializers.BooleanField()


class CampaignSerializer(serializers.ModelSerializer):
    collection: Any = serializers.SlugRelatedField(slug_field="slug", read_only=True)
    pool: Any = serializers.SlugRelatedField(slug_field="name", read_only=True, allow_null=True)
    state = serializers.CharField(read_only=True, help_text="draft, open, paused or closed")
    annotator_type = serializers.CharField(read_only=True, help_text="human, simulated or llm")

    class Meta:
        model = Campaign
        fields = (
            "slug",
            "name",
            "description",
            "collection",
            "pool",
            "state",
            "annotator_type",
            "judgements_per_pair",
            "deadline",
            "n_pairs",
            "n_topics",
            "created_at",
            "opened_at",
            "closed_at",
        )
        read_only_fields = fields

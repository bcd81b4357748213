"""What bodies of requests have in common: a key that is not known and a number in place of a text
are refused, each by its name.

The judging page's own bodies are no Body: a page that was opened before an upgrade may send a key
that is gone, and no judgement is lost for that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from django.db import models
from rest_framework import serializers


class TextField(serializers.CharField):
    """REST framework's own keeps the number 0 as the text "0"."""

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        text: str = super().to_internal_value(data)
        return text


class SlugTextField(TextField, serializers.SlugField):
    """A slug that is a text."""


class StrictSerializer(serializers.Serializer):
    # No docstring: it would describe each body without one of its own in the API's document.
    schema: ClassVar[dict[str, Any]] = {}
    """What else the API's document says of this body: what fields alone do not say, such as that
    one excludes another."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping) and (
            unknown := sorted(set(map(str, data)) - set(self.fields) - {"csrfmiddlewaretoken"})
        ):
            known = ", ".join(name for name, field in self.fields.items() if not field.read_only)
            raise serializers.ValidationError(
                {name: [f"There is no such key. There are {known}."] for name in unknown}
            )
        return super().to_internal_value(data)


class StrictModelSerializer(StrictSerializer, serializers.ModelSerializer):
    serializer_field_mapping = {
        **serializers.ModelSerializer.serializer_field_mapping,
        models.CharField: TextField,
        models.TextField: TextField,
        models.SlugField: SlugTextField,
    }


ONE_OF_CAMPAIGN_AND_COLLECTION = {
    "if": {"required": ["campaign"]},
    "then": {"not": {"required": ["collection"]}},
    "else": {"required": ["collection"]},
}
"""Not `oneOf`, of which programs that make clients make a union without properties."""

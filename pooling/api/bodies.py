"""Base classes of request bodies. They refuse unknown keys and numbers instead of text, and the
error names the key.

The judging page's bodies are not based on Body. A page opened before an upgrade may send a key that
no longer exists, and its judgements must not be lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from django.db import models
from rest_framework import serializers


class TextField(serializers.CharField):
    """A text field that refuses numbers. REST framework's own accepts 0 as the text "0"."""

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        text: str = super().to_internal_value(data)
        return text


class SlugTextField(TextField, serializers.SlugField):
    """A slug field that refuses numbers."""


class StrictSerializer(serializers.Serializer):
    # No docstring: it would become the API description of every body without its own.
    schema: ClassVar[dict[str, Any]] = {}
    """Additional schema of this body that its fields do not express, such as mutually exclusive
    keys."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping) and (
            unknown := sorted(set(map(str, data)) - set(self.fields) - {"csrfmiddlewaretoken"})
        ):
            known = ", ".join(name for name, field in self.fields.items() if not field.read_only)
            raise serializers.ValidationError(
                {name: [f"Unknown key. Known keys: {known}."] for name in unknown}
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
"""Schema of two exclusive keys. It avoids `oneOf`, from which client generators make a union
without properties."""

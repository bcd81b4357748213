"""The form of a campaign's further questions, which are asked after the grade."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.core.campaign_questions import (
    KEY_PATTERN,
    MAX_PROMPT,
    MAX_TITLE,
    MOST_FURTHER_QUESTIONS,
)
from annotation.core.scale import SHAPES
from annotation.fields import ProseField

SHAPES_BY_SIZE = {2: ("cross", "disc"), 3: ("cross", "half", "disc")}
"""Signs of scales with few values. Others have the signs of a scale of grades in order."""
VALUE_SEPARATOR = ": "


class FurtherQuestionForm(forms.Form):
    """Form of a further question, which is asked after the grade. A form without a title is
    ignored."""

    title = forms.CharField(max_length=MAX_TITLE, required=False)
    key = forms.CharField(
        required=False,
        label=_("Field name in files"),
        help_text=_("Lower-case letters, digits and underscores. Default: from the title."),
    )
    prompt = forms.CharField(
        max_length=MAX_PROMPT,
        required=False,
        label=_("Question"),
        help_text=_("Shown above the buttons. Up to 48 characters fit on one line of a phone."),
    )
    values = ProseField(
        required=False,
        label=_("Values, lowest first"),
        help_text=_("One per line, 2 to 9. Add a colon to explain a value: “Easy: clear at once”."),
        widget=forms.Textarea(attrs={"rows": 4}),
    )
    min_relevant = forms.IntegerField(
        required=False,
        min_value=1,
        label=_("Minimum relevant value"),
        help_text=_("Lowest value that counts as 1 in binary labels. The first value is 0."),
    )
    asked_from = forms.TypedChoiceField(
        required=False, coerce=int, empty_value=None, label=_("Ask this question")
    )
    required = forms.BooleanField(required=False, label=_("An answer is required"))

    def __init__(self, *args: Any, scale: Sequence[Mapping[str, Any]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choice: Any = self.fields["asked_from"]
        choice.choices = [("", _("always"))] + [
            (
                grade["value"],
                _("only if the grade is at least %(grade)s") % {"grade": grade["name"]},
            )
            for grade in scale[1:]
        ]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if not data.get("title"):
            return data
        for name in ("prompt", "values"):
            if not data.get(name) and name not in self.errors:
                self.add_error(name, _("This field is required."))
        data["key"] = data.get("key") or make_key(data["title"])
        if not KEY_PATTERN.fullmatch(data["key"]):
            self.add_error("key", _("Enter a key of lower-case letters, digits and underscores."))
        if data.get("min_relevant") is None and "min_relevant" not in self.errors:
            data["min_relevant"] = 1
        return data


class BaseFurtherQuestions(forms.BaseFormSet):
    def questions(self, stored: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return the questions as a campaign stores them. stored: the previous questions, whose
        values, examples and signs are kept if the number of values is unchanged."""
        before = {question["key"]: question for question in stored}
        return [
            {
                "key": data["key"],
                "title": data["title"],
                "prompt": data["prompt"],
                "scale": read_values(data["values"], before.get(data["key"], {}).get("scale", ())),
                "min_relevant": data["min_relevant"],
                "required": data["required"],
                "asked_from": data["asked_from"],
            }
            for form in self.forms
            if (data := form.cleaned_data).get("title")
        ]


FurtherQuestionFormSet = forms.formset_factory(
    FurtherQuestionForm,
    formset=BaseFurtherQuestions,
    extra=0,
    max_num=MOST_FURTHER_QUESTIONS,
)


def make_key(title: str) -> str:
    """Derive a question's key from its title, empty if the title has no Latin letters."""
    return re.sub(r"[^a-z0-9]+", "_", title.lower()).strip("_")[:30]


def read_values(text: str, stored: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Parse a question's scale from text with one value per line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    shapes = SHAPES_BY_SIZE.get(len(lines), SHAPES)
    kept = stored if len(stored) == len(lines) else [{}] * len(lines)
    scale = []
    for place, line in enumerate(lines):
        name, _separator, explanation = line.partition(VALUE_SEPARATOR)
        scale.append(
            {
                "value": place,
                "example": "",
                "shape": shapes[place % len(shapes)],
                **kept[place],
                "name": name.strip(),
                "explanation": explanation.strip(),
            }
        )
    return scale


def format_values(scale: Sequence[Mapping[str, Any]]) -> str:
    """Format a question's scale as text with one value per line."""
    rows = ((grade["name"], grade.get("explanation", "")) for grade in scale)
    return "\n".join(f"{name}{VALUE_SEPARATOR}{said}" if said else name for name, said in rows)


def make_initial(stored: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the initial data of the forms, with an empty form for each question not yet asked."""
    return [
        {"required": True, **question, "values": format_values(question["scale"])}
        for question in stored
    ] + [{"required": True}] * (MOST_FURTHER_QUESTIONS - len(stored))

"""The form for requesting a study. Its fields are the keys of the study's TOML file, except those
that the campaign or collection supplies."""

from __future__ import annotations

import tomllib
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from analysis.studies.inputs import StudyInputs, store_uploads, uploaded_keys, value_keys
from analysis.studies.settings import keys_by_name
from analysis.studies.study import Study
from analysis.systems.forms import FilesField
from analysis.systems.inputs import list_campaign_references
from annotation.models import Campaign
from assay.options import DeclaredOption
from pooling.models import Collection, Qrels

SHOWN_KEYS = ("title", "measures", "correction")
"""Keys whose form fields are always visible, not folded."""
CHOICE_KEYS = ("runs", "qrels", "clicks")


class StudyForm(forms.Form):
    def __init__(
        self,
        *args: Any,
        study: Study,
        collection: Collection,
        campaign: Campaign | None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.study, self.collection, self.campaign = study, collection, campaign
        self.keys = keys_by_name(study)
        by_campaign = campaign is not None
        self.uploads = uploaded_keys(study, by_campaign=by_campaign)
        self.values = value_keys(study, by_campaign=by_campaign)
        self._add_choices()
        for name, multiple in self.uploads.items():
            self.fields[name] = FilesField(
                multiple=multiple,
                required=False,
                label=field_label(name),
                help_text=self.keys[name].about.help,
            )
        for name in self.values:
            self.fields[name] = option_field(self.keys[name])

    def _add_choices(self) -> None:
        if "runs" in self.keys:
            runs = list(self.collection.runs.values_list("pk", "tag"))
            self.fields["runs"] = forms.TypedMultipleChoiceField(
                label=_("Runs"),
                choices=runs,
                coerce=int,
                widget=forms.CheckboxSelectMultiple,
                initial=[pk for pk, _ in runs],
                required=False,
            )
        rows = list(self.collection.qrels.order_by("name"))
        own = list_campaign_references(self.campaign) if self.campaign else []
        imported = [
            (f"imported:{row.pk}", f"{row.name} ({row.get_kind_display()}, {row.n_rows:,} pairs)")
            for row in rows
        ]
        clicks = [f"imported:{row.pk}" for row in rows if row.kind == Qrels.Kind.CLICKS]
        if "qrels" in self.keys:
            choices = own + imported
            if self.keys["qrels"].kind == "named":
                first = (
                    [choices[0][0]]
                    if own
                    else [reference for reference, _ in imported if reference not in clicks]
                )
                self._several(
                    "qrels", "Qrels; the first are those of the leaderboard", choices, first
                )
            else:
                judged = [reference for reference, _ in choices if reference not in clicks] or [
                    reference for reference, _ in choices
                ]
                self.fields["qrels"] = forms.ChoiceField(
                    label=_("Qrels"),
                    choices=choices,
                    initial=judged[0] if judged else None,
                    required=False,
                )
        if "clicks" in self.keys and clicks:
            self._several(
                "clicks",
                "Qrels from clicks",
                [choice for choice in imported if choice[0] in clicks],
                clicks,
            )

    def _several(
        self, name: str, label: str, choices: list[tuple[str, str]], initial: list[str]
    ) -> None:
        self.fields[name] = forms.MultipleChoiceField(
            label=label,
            choices=choices,
            widget=forms.CheckboxSelectMultiple,
            initial=initial,
            required=False,
        )

    def given(self) -> StudyInputs:
        """Return the form's inputs for `request_study`. Empty fields keep the study's default."""
        data = self.cleaned_data
        uploads, files = store_uploads(
            {
                name: [(file.name, file.read()) for file in data.get(name) or []]
                for name in self.uploads
            }
        )
        values = {
            name: value
            for name in self.values
            if (value := data.get(name)) not in (None, "", [], {}, False)
        }
        qrels = data.get("qrels") or []
        return StudyInputs(
            values={
                name: value for name, value in values.items() if value != self.keys[name].default
            },
            uploads=uploads,
            files=files,
            runs=data["runs"] if "runs" in self.fields else None,
            qrels=[qrels] if isinstance(qrels, str) else qrels,
            clicks=data["clicks"] if "clicks" in self.fields else None,
        )

    def choice_fields(self) -> list[Any]:
        return [self[name] for name in CHOICE_KEYS if name in self.fields]

    def file_fields(self) -> list[Any]:
        return [self[name] for name in self.uploads]

    def option_fields(self) -> list[Any]:
        return [self[name] for name in self.values if name in SHOWN_KEYS]

    def further_fields(self) -> list[Any]:
        return [self[name] for name in self.values if name not in SHOWN_KEYS]


def field_label(name: str) -> str:
    return name.replace("_", " ").capitalize()


def option_field(key: DeclaredOption) -> forms.Field:
    of: DeclaredOption | None = key.about.more["of"]
    usual = key.default if of is None or of.default in (None, (), False) else of.default
    common: dict[str, Any] = {
        "label": of.about.label if of else field_label(key.name),
        "help_text": of.about.hint if of else key.about.help,
        "required": False,
        "initial": key.default,
    }
    least = key.about.least
    if key.values:
        return forms.ChoiceField(
            choices=[
                ("", _("default: %(value)s") % {"value": usual} if usual else _("default")),
                *((value, value) for value in key.values),
            ],
            **common,
        )
    if key.kind == "whole":
        field: forms.Field = forms.IntegerField(
            min_value=None if least is None else int(least), max_value=2**62, **common
        )
        return with_placeholder(field, usual)
    if key.kind == "number":
        return with_placeholder(forms.FloatField(min_value=least, **common), usual)
    if key.kind == "flag":
        return forms.BooleanField(**common)
    if key.kind in ("names", "systems"):
        return NamesField(**common)
    if key.kind == "texts":
        return LinesField(**common)
    if key.name == "conditions":
        return forms.CharField(
            max_length=20_000,
            widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false"}),
            **common,
        )
    return with_placeholder(forms.CharField(max_length=400, **common), usual)


def with_placeholder(field: forms.Field, usual: Any) -> forms.Field:
    """Show the default of a field as its placeholder."""
    if usual not in (None, ""):
        field.widget.attrs["placeholder"] = str(usual)
    return field


class LinesField(forms.CharField):
    """A form field for several texts, one per line."""

    widget = forms.Textarea

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=20_000, **kwargs)
        self.widget.attrs.update(rows=3, spellcheck="false")

    def clean(self, value: Any) -> Any:
        return [line.strip() for line in super().clean(value).splitlines() if line.strip()]


class NamesField(LinesField):
    """A form field for lines of the form `name = words`."""

    def clean(self, value: Any) -> dict[str, str]:
        names = {}
        for number, line in enumerate(super().clean(value), 1):
            name, equals, said = line.partition("=")
            if not equals or not name.strip() or not said.strip():
                raise forms.ValidationError(
                    _("Line %(number)s, %(line)s: expected name = words.")
                    % {"number": number, "line": repr(line)}
                )
            names[strip_quotes(name.strip())] = strip_quotes(said.strip())
        return names


def strip_quotes(text: str) -> str:
    """Remove the quotation marks around a text, as TOML does."""
    if len(text) > 1 and text[0] == text[-1] == '"':
        try:
            return str(tomllib.loads(f"x = {text}")["x"])
        except tomllib.TOMLDecodeError:
            return text
    return text

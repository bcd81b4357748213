"""What a manager chooses for an export, a recipe, an archive to import."""

from __future__ import annotations

from typing import Any

from django import forms

from analysis.core.aggregation import METHODS
from analysis.models import Recipe
from analysis.selectors.exports import Choices
from analysis.services import exports
from analysis.services.archive import Plan
from annotation.models import Campaign

METHOD_WORDS = {
    "majority": "Majority; ties take the lowest grade",
    "median": "Median; of an even number the lower middle",
    "dawid-skene": "Dawid-Skene (1979)",
}


class ChoicesForm(forms.Form):
    """Which judgements make labels. Everything has a default, so that an address without parameters is a valid choice."""

    method = forms.ChoiceField(label="Labels by", choices=[(name, METHOD_WORDS.get(name, name)) for name in METHODS], required=False)
    min_judgements = forms.IntegerField(
        label="Judgements a pair needs", min_value=1, max_value=1000, required=False, help_text="Pairs with fewer that count get no label."
    )
    threshold = forms.TypedChoiceField(label="Lowest relevant grade", coerce=int, empty_value=None, required=False)
    min_seconds = forms.FloatField(
        label="Leave out judgements faster than",
        min_value=0,
        max_value=86_400,
        required=False,
        help_text="Seconds of active time, beyond the campaign's own limit.",
    )
    exclude = forms.MultipleChoiceField(
        label="Leave out annotators",
        required=False,
        help_text="Beside those that are excluded from the campaign. Hold Ctrl or Cmd to choose several.",
    )
    without_gold = forms.BooleanField(label="Leave out gold pairs", required=False)

    def __init__(self, data: Any = None, *, campaign: Campaign, prefix: str | None = None) -> None:
        initial = {"method": "majority", "min_judgements": 2, "threshold": campaign.threshold, "min_seconds": 0}
        super().__init__(data, initial=initial, prefix=prefix)
        self.campaign = campaign
        grades = [(grade["value"], f"{grade['value']} {grade['name']}") for grade in campaign.scale[1:]]
        self.fields["threshold"].choices = grades  # type: ignore[attr-defined]
        people = campaign.memberships.filter(role="annotator").order_by("pseudonym").values_list("pseudonym", flat=True)
        self.fields["exclude"].choices = [(name, name) for name in people]  # type: ignore[attr-defined]
        self.fields["exclude"].widget.attrs["size"] = min(max(len(self.fields["exclude"].choices), 2), 6)  # type: ignore[attr-defined]

    def choices(self) -> Choices:
        given = {name: value for name, value in self.cleaned_data.items() if value not in (None, "", [])}
        return Choices.of(given | {"with_gold": not given.get("without_gold", False)})


class WantedForm(ChoicesForm):
    """The choices for single files."""

    comments = forms.BooleanField(
        label="Begin qrels with comment lines",
        required=False,
        help_text="Lines with # that say how the labels were made. Many tools refuse them.",
    )
    spreadsheet = forms.BooleanField(
        label="For a spreadsheet", required=False, help_text="Cells that a spreadsheet would run as formulas get an apostrophe."
    )

    def wanted(self) -> exports.Wanted:
        return exports.Wanted(self.choices(), comments=self.cleaned_data["comments"], spreadsheet=self.cleaned_data["spreadsheet"])


class RecipeForm(ChoicesForm):
    name = forms.CharField(label="Name of the recipe", max_length=200)
    documents = forms.BooleanField(
        label="Put the documents' texts in", required=False, help_text="Only where their licence lets you publish them."
    )
    notes = forms.BooleanField(
        label="Put annotators' notes in", required=False, help_text="Read them first: people may have written names."
    )
    field_order = ("name",)

    def plan(self) -> Plan:
        given = self.cleaned_data
        return Plan(given["name"], self.choices(), documents=given["documents"], notes=given["notes"])

    def clean_name(self) -> str:
        name = self.cleaned_data["name"].strip()
        if Recipe.objects.filter(campaign=self.campaign, name=name).exists():
            raise forms.ValidationError("There is a recipe of this name; choose another.")
        return name


class ArchiveForm(forms.Form):
    archive = forms.FileField(label="Archive", help_text="A release that this or another installation built.")

"""Forms for exports, recipes and imported releases."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from analysis.judgements.labels import ALL_JUDGES, LabelChoices
from analysis.models import Recipe
from analysis.publishing import exports
from analysis.publishing.release.parts import OPTIONAL_CONTENT, ReleasePlan
from annotation.core.campaign_questions import PRIMARY_KEY
from annotation.models import Campaign, Membership
from annotation.services.judging import import_guard
from assay.labels.aggregation import METHODS
from assay.labels.annotator_types import LABELLING_TYPES, AnnotatorType, check_types, sort_types
from assay.labels.annotator_types import TYPE_LABELS as JUDGES

METHOD_WORDS = {
    "majority": _("Majority (ties: lowest grade)"),
    "median": _("Median (even numbers: lower middle)"),
    "dawid-skene": "Dawid-Skene (1979)",
    "mace": "MACE (Hovy et al. 2013)",
}


class ChoicesForm(forms.Form):
    """A form of label choices. Every field has a default, so that an address without parameters is
    valid."""

    question = forms.ChoiceField(
        label=_("Question"),
        required=False,
        help_text=_(
            "Adjudicated and known grades apply only to the grade, not to further questions."
        ),
    )
    method = forms.ChoiceField(
        label=_("Aggregation method"),
        choices=[(name, METHOD_WORDS.get(name, name)) for name in METHODS],
        required=False,
    )
    min_judgements = forms.IntegerField(
        label=_("Judgements per label"),
        min_value=1,
        max_value=1000,
        required=False,
        help_text=_("Pairs with fewer counted judgements get no label."),
    )
    min_relevant = forms.TypedChoiceField(
        label=_("Minimum relevant grade"), coerce=int, empty_value=None, required=False
    )
    min_seconds = forms.FloatField(
        label=_("Minimum time (s)"),
        min_value=0,
        max_value=86_400,
        required=False,
        help_text=_(
            "Leave out judgements with less active time than this, in addition to the campaign's own limit."
        ),
    )
    exclude = forms.MultipleChoiceField(
        label=_("Leave out annotators"),
        required=False,
        help_text=_(
            "In addition to annotators excluded from the campaign. Hold Ctrl or Cmd to select "
            "several."
        ),
    )
    include_excluded = forms.MultipleChoiceField(
        label=_("Include excluded annotators"),
        required=False,
        help_text=_(
            "Judgements by the selected annotators count in these labels, in addition to the "
            "judgements that replaced them. The annotators remain excluded from the campaign."
        ),
    )
    judges = forms.MultipleChoiceField(
        label=_("Annotator types"),
        choices=[(kind.value, capfirst(JUDGES[kind])) for kind in AnnotatorType],
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_(
            "Labels by LLM judges are stored separately and never mixed with human labels."
        ),
    )
    without_gold = forms.BooleanField(label=_("Leave out gold questions"), required=False)

    def __init__(self, data: Any = None, *, campaign: Campaign, prefix: str | None = None) -> None:
        initial = {
            "method": "majority",
            "min_judgements": 2,
            "min_relevant": campaign.min_relevant,
            "min_seconds": 0,
            "judges": list(LABELLING_TYPES),
        }
        super().__init__(data, initial=initial, prefix=prefix)
        self.campaign = campaign
        self._offer_questions(str((data or {}).get(self.add_prefix("question")) or PRIMARY_KEY))
        people = (
            campaign.memberships.filter(role="annotator")
            .order_by("pseudonym")
            .values_list("pseudonym", flat=True)
        )
        self.fields["exclude"].choices = [(name, name) for name in people]  # type: ignore[attr-defined]
        self.fields["exclude"].widget.attrs["size"] = min(max(len(people), 2), 6)

        back = self.fields["include_excluded"]
        out = campaign.memberships.filter(
            role="annotator", status=Membership.Status.EXCLUDED
        ).order_by("pseudonym")
        back.choices = [  # type: ignore[attr-defined]
            (ALL_JUDGES, _("All excluded annotators")),
            *((name, name) for name in out.values_list("pseudonym", flat=True)),
        ]
        back.widget.attrs["size"] = min(max(len(back.choices), 2), 6)  # type: ignore[attr-defined]

    def _offer_questions(self, chosen: str) -> None:
        """Offer the campaign's questions, and the grades of the selected question."""
        scales: dict[str, Any] = {PRIMARY_KEY: self.campaign.scale}
        questions = self.campaign.questions_after_grade
        scales |= {question.key: question.scale for question in questions}
        titles = [(PRIMARY_KEY, _("Grade")), *((one.key, one.title) for one in questions)]
        self.fields["question"].choices = titles  # type: ignore[attr-defined]
        if not questions:
            self.fields["question"].widget = forms.HiddenInput()
        self.fields["min_relevant"].choices = [  # type: ignore[attr-defined]
            (grade["value"], f"{grade['value']} {grade['name']}")
            for grade in scales.get(chosen, self.campaign.scale)[1:]
        ]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if both := sorted(
            set(cleaned.get("exclude", [])) & set(cleaned.get("include_excluded", []))
        ):
            self.add_error(
                "include_excluded",
                _("%(both)s: you can't both leave out and include an annotator.")
                % {"both": ", ".join(both)},
            )
        return cleaned

    def clean_judges(self) -> list[str]:
        kinds = sort_types(self.cleaned_data["judges"] or LABELLING_TYPES)
        if wrong := check_types(kinds):
            raise forms.ValidationError(wrong)
        return list(kinds)

    def choices(self) -> LabelChoices:
        given = {
            name: value for name, value in self.cleaned_data.items() if value not in (None, "", [])
        }
        return LabelChoices.from_json(given | {"with_gold": not given.get("without_gold", False)})


class ExportOptionsForm(ChoicesForm):
    """A form of the options of exported files."""

    comments = forms.BooleanField(
        label=_("Add comment lines to qrels"),
        required=False,
        help_text=_(
            "Lines beginning with # describe how the labels were made. Some tools reject them."
        ),
    )
    spreadsheet = forms.BooleanField(
        label=_("Escape spreadsheet formulas"),
        required=False,
        help_text=_("Adds an apostrophe to cells that a spreadsheet would run as formulas."),
    )

    def export_options(self) -> exports.ExportOptions:
        return exports.ExportOptions(
            self.choices(),
            comments=self.cleaned_data["comments"],
            spreadsheet=self.cleaned_data["spreadsheet"],
        )


class RecipeForm(ChoicesForm):
    name = forms.CharField(label=_("Name"), max_length=200)
    documents = forms.BooleanField(
        label=_("Include document texts"),
        required=False,
        help_text=_("Only if their licence allows publication."),
    )
    notes = forms.BooleanField(
        label=_("Include notes"),
        required=False,
        help_text=_(
            "Read the notes before you publish them. Annotators may have mentioned people by name."
        ),
    )
    runs = forms.BooleanField(
        label=_("Include runs"),
        required=False,
        help_text=_("All runs of the collection, with groups and descriptions."),
    )
    clicks = forms.BooleanField(
        label=_("Include click qrels"),
        required=False,
        help_text=_("Only if the click log's licence allows publication."),
    )
    main_names = ("name", *OPTIONAL_CONTENT)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        del self.fields["question"]  # a release contains the labels of all questions

    @property
    def main_fields(self) -> list[Any]:
        return [self[name] for name in self.main_names]

    @property
    def option_fields(self) -> list[Any]:
        return [self[name] for name in self.fields if name not in self.main_names]

    def plan(self) -> ReleasePlan:
        given = self.cleaned_data
        return ReleasePlan(
            given["name"], self.choices(), **{name: given[name] for name in OPTIONAL_CONTENT}
        )

    def clean_name(self) -> str:
        name = self.cleaned_data["name"].strip()
        if Recipe.objects.filter(campaign=self.campaign, name=name).exists():
            raise forms.ValidationError(
                _("A recipe with this name already exists. Choose another name.")
            )
        return name


class ReleaseForm(forms.Form):
    release = forms.FileField(
        label=_("Release or judgements"),
        help_text=_(
            "A release from any installation, or judgements in the format of Assay, FiRA, "
            "crowd-kit, HiCAL, Label Studio, Potato or Quepid."
        ),
    )
    name = forms.CharField(
        max_length=200,
        required=False,
        help_text=_("For judgements made elsewhere. Default: the name of the file."),
    )
    scale = forms.IntegerField(
        min_value=2,
        max_value=9,
        initial=4,
        required=False,
        label=_("Number of grades"),
        help_text=_("For judgements made elsewhere. Grades count from 0."),
    )
    min_relevant = forms.IntegerField(
        min_value=1,
        max_value=8,
        initial=2,
        required=False,
        label=_("Minimum relevant grade"),
        help_text=_("For judgements made elsewhere."),
    )
    anyway = forms.BooleanField(
        required=False,
        label=_("Import while annotators are judging"),
        help_text=_(
            "If Assay uses an SQLite database, annotators' judgements are saved only after "
            "the import. This takes a few seconds per thousand imported judgements. If this "
            "is not selected, large files are refused while annotators are active."
        ),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not import_guard.has_one_writer():
            del self.fields["anyway"]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        scale, min_relevant = (
            cleaned.get("scale") or 4,
            cleaned.get("min_relevant") or min(2, (cleaned.get("scale") or 4) - 1),
        )
        if min_relevant >= scale:
            self.add_error(
                "min_relevant",
                _("The minimum relevant grade must be from 1 to %(highest)s.")
                % {"highest": scale - 1},
            )
        return {**cleaned, "scale": scale, "min_relevant": min_relevant}

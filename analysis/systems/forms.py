"""Forms of reports: runs, qrels, options and seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from analysis.judgements.campaign_sample import is_sampled
from analysis.judgements.labels import is_own_labels
from analysis.models import Report
from analysis.systems.inputs import (
    campaign_qrels_path,
    list_campaign_references,
    name_from_path,
)
from analysis.systems.kinds import ReportKind
from analysis.systems.lists import read_lists
from annotation.models import Campaign
from assay.file_paths import make_path
from assay.formats.errors import FormatError
from assay.measures.measures import (
    UnknownMeasure,
    format_measure_names,
    limit_cutoffs,
    parse_measure,
    parse_measures,
    refuse_estimates,
    refuse_indivisible,
)
from assay.number_words import format_count
from assay.options import DeclaredOption
from pooling.models import Collection, Qrels


def is_binary_reference(reference: str) -> bool:
    """Return whether a reference to qrels means a campaign's binary labels."""
    return is_own_labels(reference) and reference.split(":")[1] == "binary"


class ReportForm(forms.Form):
    """The form for requesting one kind of report. Its fields follow from the kind."""

    def __init__(
        self,
        *args: Any,
        kind: ReportKind,
        collection: Collection,
        campaign: Campaign | None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.given_lists: dict[str, str] = {}
        self.kind, self.collection, self.campaign = kind, collection, campaign
        self.runs = list(collection.runs.all())
        self.own = dict(list_campaign_references(campaign) if campaign else [])
        self.imported = {f"imported:{row.pk}": row for row in collection.qrels.all()}
        self._add_runs()
        self._add_qrels()
        on_sample = campaign is not None and is_sampled(campaign)
        for one in (
            field for field in kind.fields if on_sample or "of_samples" not in field.about.more
        ):
            self.fields[one.name] = self._option(one)
        if kind.seeded:
            self.fields["seed"] = forms.IntegerField(
                label=_("Seed"),
                min_value=0,
                max_value=2**62,
                initial=0,
                help_text=_("The same seed gives the same result."),
            )

    def _add_runs(self) -> None:
        choices = [(run.pk, run.tag) for run in self.runs]
        if self.kind.pair:
            for place, name, label in ((0, "run_a", "Run A"), (1, "run_b", "Run B")):
                first = choices[place][0] if place < len(choices) else None
                self.fields[name] = forms.TypedChoiceField(
                    label=label, choices=choices, coerce=int, initial=first
                )
        elif self.kind.least_runs:
            self.fields["runs"] = forms.TypedMultipleChoiceField(
                label=_("Runs"),
                choices=choices,
                coerce=int,
                widget=forms.CheckboxSelectMultiple,
                initial=[pk for pk, _ in choices],
            )

    def _add_qrels(self) -> None:
        """Add the field for qrels. If the kind of report needs click qrels or private qrels, add
        fields for them too."""
        own = list(self.own.items())
        named = {
            reference: f"{row.name} ({row.get_kind_display()}, {format_count(row.n_rows, 'pair')})"
            for reference, row in self.imported.items()
        }
        clicks = [
            (reference, words)
            for reference, words in named.items()
            if self.imported[reference].kind == Qrels.Kind.CLICKS
        ]
        judged = [pair for pair in named.items() if not self.kind.click_qrels or pair not in clicks]
        self._qrels_field(
            "qrels", self.kind.qrels_label, own + judged, multiple=self.kind.qrels[1] != 1
        )
        if self.kind.click_qrels:
            self._qrels_field(
                "click_qrels",
                str(_("Qrels from clicks")),
                clicks,
                multiple=True,
                initial=[reference for reference, _ in clicks],
            )
        if self.kind.private_qrels:
            self._qrels_field(
                "private_qrels", str(_("Private qrels")), own + list(named.items()), multiple=False
            )

    def _qrels_field(
        self,
        name: str,
        label: str,
        choices: list[tuple[str, str]],
        *,
        multiple: bool,
        initial: Any = None,
    ) -> None:
        first = (
            initial
            if initial is not None
            else [choices[0][0]]
            if choices and multiple
            else choices[0][0]
            if choices
            else None
        )
        if multiple:
            self.fields[name] = forms.MultipleChoiceField(
                label=label, choices=choices, widget=forms.CheckboxSelectMultiple, initial=first
            )
        else:
            self.fields[name] = forms.ChoiceField(label=label, choices=choices, initial=first)

    def _option(self, one: DeclaredOption) -> forms.Field:
        """Return the form field of an option. If its choices are rows of the collection, they are
        filled in here."""
        more = one.about.more
        if one.kind == "tags":
            tags = [(run.tag, run.tag) for run in self.runs if "," not in run.tag]
            return tags_field(
                one,
                tags,
                initial=[
                    run.tag
                    for run in self.runs
                    if "marked" in more and getattr(run, more["marked"])
                ],
            )
        if one.kind == "tag":
            return DefaultedField(
                label=one.about.label,
                help_text=one.about.hint,
                required=False,
                initial=one.default,
                choices=[
                    *more.get("choices", one.about.choices),
                    *((run.tag, run.tag) for run in self.runs),
                ],
            )
        if one.kind in ("pool", "report"):
            rows = (
                self._pool_choices() if one.kind == "pool" else self._report_choices(more["report"])
            )
            return forms.TypedChoiceField(
                label=one.about.label,
                help_text=one.about.hint,
                required=False,
                choices=[("", "—"), *rows],
                coerce=int,
                empty_value=None,
            )
        field = build_form_field(one, campaign=self.campaign)
        if one.kind == "conditions" and (paths := self._qrels_paths()):
            field.help_text = (
                f"{field.help_text} Qrels are called {', '.join(map(name_from_path, paths))}."
            )
        return field

    def _pool_choices(self) -> list[tuple[int, str]]:
        return [
            (pool.pk, f"{pool.name} ({format_count(pool.n_pairs, 'pair')})")
            for pool in self.collection.pools.exclude(built_at=None)
        ]

    def _report_choices(self, kind: str) -> list[tuple[int, str]]:
        finished = Report.objects.filter(
            collection=self.collection, campaign=self.campaign, kind=kind
        ).exclude(finished_at=None)
        return [
            (report.pk, f"{report.title} (number {report.pk})")
            for report in finished.only("pk", "title")
        ]

    def _qrels_paths(self) -> list[str]:
        own = (
            [campaign_qrels_path(self.campaign, reference) for reference in self.own]
            if self.campaign
            else []
        )
        return own + [
            make_path("qrels", row.name, ".qrels", set()) for row in self.imported.values()
        ]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        files = {one.name: cleaned.get(one.name) or [] for one in self.kind.fields if one.uploaded}
        try:
            self.given_lists = read_lists(self.kind, files)
        except FormatError as error:
            self.add_error(None, "; ".join(error.lines()))
        for one in self.kind.fields:
            if "implies" in one.about.more and files.get(one.name):
                option, value = one.about.more["implies"]
                cleaned[option] = value
        if not self.errors:
            self._some_grade_is_relevant(cleaned)
            if len(self.qrels()) < self.kind.min_qrels:
                self.add_error("qrels", _("Choose at least %(n)s.") % {"n": self.kind.qrels[0]})
            if (
                self.kind.least_runs
                and not self.kind.pair
                and len(cleaned["runs"]) < self.kind.least_runs
            ):
                self.add_error("runs", _("Choose at least %(n)s.") % {"n": self.kind.least_runs})
        return cleaned

    def _some_grade_is_relevant(self, cleaned: dict[str, Any]) -> None:
        """Check that the qrels have a relevant grade. If the minimum relevant grade exceeds all
        grades, every document is non-relevant and every measure 0."""
        for one in self.kind.fields:
            grade = cleaned.get(one.name)
            if one.kind != "grade" or grade is None:
                continue
            chosen = self._judged_qrels() if "judged_only" in one.about.more else self.qrels()
            if (
                self.campaign
                and grade == self.campaign.min_relevant
                and all(map(is_binary_reference, chosen))
            ):
                grade = cleaned[one.name] = (
                    # the field still holds the minimum relevant grade of the graded labels, from
                    # which
                    # the binary labels are derived
                    1
                )
            for reference in chosen:
                words, highest = self._named_with_highest_grade(reference)
                if highest is not None and highest < grade:
                    way_out = (
                        " " + _("Enter %(n)s, or choose other qrels.") % {"n": highest}
                        if highest
                        else ""
                    )
                    says = _(
                        "No label of “%(words)s” has grade %(grade)s or higher. The highest grade is %(highest)s.%(way_out)s"
                    )
                    self.add_error(
                        one.name,
                        says
                        % {"words": words, "grade": grade, "highest": highest, "way_out": way_out},
                    )

    def _named_with_highest_grade(self, reference: str) -> tuple[str, int | None]:
        """Return the name and highest grade of the selected qrels. The grade is None if grades were
        not counted."""
        if reference in self.imported:
            row = self.imported[reference]
            return row.name, max(map(int, row.grades), default=None)
        assert self.campaign is not None, "its labels are offered only with it"
        return self.own[reference], 1 if is_binary_reference(reference) else max(
            grade["value"] for grade in self.campaign.scale
        )

    def _judged_qrels(self) -> list[str]:
        chosen = self.cleaned_data["qrels"]
        return [chosen] if isinstance(chosen, str) else list(chosen)

    def qrels(self) -> list[str]:
        chosen = self._judged_qrels() + self.cleaned_data.get("click_qrels", [])
        return chosen + ([self.cleaned_data["private_qrels"]] if self.kind.private_qrels else [])

    def parameters(self) -> dict[str, Any]:
        """Return the form's parameters for `request_report`."""
        data = self.cleaned_data
        runs = [data["run_a"], data["run_b"]] if self.kind.pair else data.get("runs", [])
        options = {}
        for one in self.kind.fields:
            value: Any = data.get(one.name)
            if one.uploaded or value in (None, "", []):
                continue
            options[one.name] = (
                value.isoformat()
                if one.kind == "date"
                else ",".join(value)
                if one.kind == "tags"
                else value
            )
        return {"runs": runs, "qrels": self.qrels(), "options": options}

    def lists(self) -> dict[str, str]:
        """Return the uploaded lists for `request_report`: text by path."""
        return self.given_lists

    @property
    def seed(self) -> int:
        return self.cleaned_data.get("seed") or 0

    def option_fields(self) -> list[Any]:
        return [
            self[name]
            for name in self.fields
            if name not in ("runs", "run_a", "run_b", "qrels", "click_qrels", "private_qrels")
        ]

    def choice_fields(self) -> list[Any]:
        return [
            self[name]
            for name in ("run_a", "run_b", "runs", "qrels", "click_qrels", "private_qrels")
            if name in self.fields
        ]


def build_form_field(one: DeclaredOption, *, campaign: Campaign | None) -> forms.Field:
    """Build the form field of an option whose choices do not depend on rows of the collection."""
    common: dict[str, Any] = {
        "label": one.about.label,
        "help_text": one.about.hint,
        "required": False,
        "initial": one.about.more.get("begins", "" if one.default is None else one.default),
    }
    if "graded" in one.about.more and campaign is not None and len(campaign.scale) > 2:
        common["initial"] = one.about.more["graded"]
    if one.kind == "grade" and campaign is not None:
        common["initial"] = campaign.min_relevant  # the form starts with the graded labels
        common["help_text"] = (
            f"{one.about.hint} Default: {campaign.min_relevant} on this campaign's "
            f"{len(campaign.scale)} grades, 1 on two grades."
        ).strip()
    if one.kind == "scale" and campaign is not None:
        common["initial"] = len(campaign.scale)
    if one.kind in ("measures", "measure") and campaign is not None:
        usual = limit_cutoffs(parse_measures(str(common["initial"])), campaign.judged_depth)
        common["initial"] = " ".join(map(str, usual))
    return FIELD_BUILDERS.get(one.kind, text_field)(one, common)


def text_field(one: DeclaredOption, common: dict[str, Any]) -> forms.Field:
    return forms.CharField(max_length=200, **common)


def form_bounds(one: DeclaredOption) -> tuple[float | None, float | None]:
    about = one.about
    return about.least, about.most if about.most_in_form is None else about.most_in_form


def integer_field(one: DeclaredOption, common: dict[str, Any]) -> forms.Field:
    least, most = (None if bound is None else int(bound) for bound in form_bounds(one))
    return forms.IntegerField(min_value=least, max_value=most, **common)


def decimal_field(one: DeclaredOption, common: dict[str, Any]) -> forms.Field:
    least, most = form_bounds(one)
    return forms.FloatField(min_value=least, max_value=most, **common)


def checkbox_field(one: DeclaredOption, common: dict[str, Any]) -> forms.Field:
    return forms.BooleanField(**common)


def choice_field(one: DeclaredOption, common: dict[str, Any]) -> forms.Field:
    return DefaultedField(
        choices=one.about.choices,
        **(common | {"required": all(value for value, _ in one.about.choices)}),
    )


def date_field(one: DeclaredOption, common: dict[str, Any]) -> forms.Field:
    return forms.DateField(widget=forms.DateInput(attrs={"type": "date"}), **common)


def textarea_field(one: DeclaredOption, common: dict[str, Any]) -> forms.Field:
    return forms.CharField(
        max_length=20_000, widget=forms.Textarea(attrs={"rows": 5, "spellcheck": "false"}), **common
    )


def upload_field(one: DeclaredOption, common: dict[str, Any]) -> forms.Field:
    return FilesField(multiple=one.kind == "lists", **common)


def measures_field(one: DeclaredOption, common: dict[str, Any]) -> forms.Field:
    return MeasuresField(
        single=one.kind == "measure",
        divisible="divisible" in one.about.more,
        max_length=400,
        **common,
    )


FIELD_BUILDERS: dict[str, Callable[[DeclaredOption, dict[str, Any]], forms.Field]] = {
    "whole": integer_field,
    "grade": integer_field,
    "scale": integer_field,
    "number": decimal_field,
    "flag": checkbox_field,
    "choice": choice_field,
    "date": date_field,
    "conditions": textarea_field,
    "list": upload_field,
    "lists": upload_field,
    "rows": upload_field,
    "measures": measures_field,
    "measure": measures_field,
}
"""Field builders by type of the option. Other options are one line of text."""


class DefaultedField(forms.ChoiceField):
    """A choice field whose value is its default if the request lacks it."""

    def clean(self, value: Any) -> Any:
        return super().clean(value or self.initial)


def tags_field(
    one: DeclaredOption, choices: list[tuple[str, str]], *, initial: list[str]
) -> forms.Field:
    return forms.MultipleChoiceField(
        label=one.about.label,
        help_text=one.about.hint,
        required=False,
        choices=choices,
        initial=initial,
        widget=forms.CheckboxSelectMultiple,
    )


class FilesInput(forms.FileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    """A file field for one or several files, whose value is a list."""

    def __init__(self, *, multiple: bool, **kwargs: Any) -> None:
        super().__init__(widget=FilesInput(attrs={"multiple": multiple}), **kwargs)

    def clean(self, data: Any, initial: Any = None) -> list[Any]:  # type: ignore[override]  # the base class cleans one file
        return [super(FilesField, self).clean(file) for file in data or []]


class MeasuresField(forms.CharField):
    """A field for space-separated names of measures in any common spelling. Its value has the
    canonical names."""

    def __init__(self, *, single: bool, divisible: bool = False, **kwargs: Any) -> None:
        self.single, self.check = single, refuse_indivisible if divisible else refuse_estimates
        super().__init__(**kwargs)

    def clean(self, value: Any) -> str:
        text = " ".join(super().clean(value).split()) or str(self.initial)
        try:
            if self.single:
                return str(parse_measure(text))
            self.check(parse_measures(text))
            return format_measure_names(text)
        except UnknownMeasure as error:
            raise forms.ValidationError(str(error)) from None

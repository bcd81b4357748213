"""What a person chooses for a report: runs, qrels, options, a seed."""

from __future__ import annotations

from typing import Any

from django import forms

from analysis.core.measures import UnknownMeasure, parse_measure, parse_measures
from analysis.models import Report
from analysis.reports.inputs import campaign_references, name_in, path_of, qrels_path
from analysis.reports.kinds import Kind
from analysis.reports.lists import lists_of
from analysis.reports.options import Field
from annotation.models import Campaign
from pooling.formats.errors import FormatError
from pooling.models import Collection
from pooling.models import Qrels as QrelsRow


class ReportForm(forms.Form):
    """The form of one kind of report; its fields follow from the kind."""

    def __init__(self, *args: Any, kind: Kind, collection: Collection, campaign: Campaign | None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.given_lists: dict[str, str] = {}
        self.kind, self.collection, self.campaign = kind, collection, campaign
        runs = [(run.pk, run.tag) for run in collection.runs.all()]
        if kind.pair:
            for place, name, label in ((0, "run_a", "Run A"), (1, "run_b", "Run B")):
                first = runs[place][0] if place < len(runs) else None
                self.fields[name] = forms.TypedChoiceField(label=label, choices=runs, coerce=int, initial=first)
        elif kind.least_runs:
            self.fields["runs"] = forms.TypedMultipleChoiceField(
                label="Runs", choices=runs, coerce=int, widget=forms.CheckboxSelectMultiple, initial=[pk for pk, _ in runs]
            )
        own = campaign_references(campaign) if campaign else []
        imported = [(f"imported:{row.pk}", row) for row in collection.qrels.all()]
        self.own, self.imported = dict(own), dict(imported)
        named = [(reference, f"{row.name} ({row.get_kind_display()}, {row.n_rows:,} pairs)") for reference, row in imported]
        clicks = [pair for pair, (_, row) in zip(named, imported, strict=True) if row.kind == QrelsRow.Kind.CLICKS]
        judged = [pair for pair in named if pair not in clicks] if kind.click_qrels else named
        several = kind.qrels[1] != 1
        self._qrels_field("qrels", kind.qrels_label, own + judged, several=several)
        if kind.click_qrels:
            self._qrels_field("click_qrels", "Qrels from clicks", clicks, several=True, initial=[reference for reference, _ in clicks])
        if kind.private_qrels:
            self._qrels_field("private_qrels", "Private qrels", own + named, several=False)
        tags = [(run.tag, run.tag) for run in collection.runs.all() if "," not in run.tag]
        for one in kind.fields:
            if one.kind == "tags":
                marked = list(collection.runs.filter(baseline=True).values_list("tag", flat=True)) if one.name == "baselines" else []
                self.fields[one.name] = tags_field(one, tags, initial=marked)
            elif one.kind in ("pool", "report"):
                rows = self._pools() if one.kind == "pool" else self._bootstraps()
                self.fields[one.name] = forms.TypedChoiceField(
                    label=one.label, help_text=one.hint, required=False, choices=[("", "—"), *rows], coerce=int, empty_value=None
                )
            else:
                self.fields[one.name] = form_field(one, campaign=campaign)
        if "conditions" in self.fields:
            paths = [qrels_path(campaign, reference) for reference, _ in own] if campaign else []
            paths += [path_of("qrels", row.name, ".qrels", set()) for _, row in imported]
            self.fields["conditions"].help_text += f" Qrels are called {', '.join(map(name_in, paths))}." if paths else ""
        if kind.seeded:
            self.fields["seed"] = forms.IntegerField(
                label="Seed", min_value=0, max_value=2**62, initial=0, help_text="The same seed gives the same answer."
            )

    def _pools(self) -> list[tuple[int, str]]:
        return [(pool.pk, f"{pool.name} ({pool.n_pairs:,} pairs)") for pool in self.collection.pools.exclude(built_at=None)]

    def _bootstraps(self) -> list[tuple[int, str]]:
        done = Report.objects.filter(collection=self.collection, campaign=self.campaign, kind="bootstrap").exclude(finished_at=None)
        return [(report.pk, f"{report.title} (number {report.pk})") for report in done.only("pk", "title")]

    def _qrels_field(self, name: str, label: str, choices: list[tuple[str, str]], *, several: bool, initial: Any = None) -> None:
        first = initial if initial is not None else [choices[0][0]] if choices and several else choices[0][0] if choices else None
        if several:
            self.fields[name] = forms.MultipleChoiceField(label=label, choices=choices, widget=forms.CheckboxSelectMultiple, initial=first)
        else:
            self.fields[name] = forms.ChoiceField(label=label, choices=choices, initial=first)

    def clean(self) -> dict[str, Any]:
        found = super().clean() or {}
        files = {one.name: found.get(one.name) or [] for one in self.kind.fields if one.kind in ("list", "lists")}
        try:
            self.given_lists = lists_of(self.kind, files)
        except FormatError as error:
            self.add_error(None, "; ".join(error.lines()))
        if files.get("docids"):
            found["documents"] = "list"
        if not self.errors:
            self._some_grade_is_relevant(found)
            n = len(self.qrels())
            if n < self.kind.qrels[0] + self.kind.click_qrels + self.kind.private_qrels:
                self.add_error("qrels", f"Choose at least {self.kind.qrels[0]}.")
            if self.kind.least_runs and not self.kind.pair and len(found["runs"]) < self.kind.least_runs:
                self.add_error("runs", f"Choose at least {self.kind.least_runs}.")
        return found

    def _some_grade_is_relevant(self, found: dict[str, Any]) -> None:
        """A lowest relevant grade that qrels never reach would make all of their documents non-relevant, and every measure 0."""
        for name, chosen in (("level", self.qrels()), ("threshold", self._judged_qrels())):
            grade = found.get(name)
            if not isinstance(grade, int):
                continue
            for reference in chosen:
                words, highest = self._named_with_highest_grade(reference)
                if highest is not None and highest < grade:
                    self.add_error(name, f"No label of “{words}” is {grade} or more; its highest is {highest}.")

    def _named_with_highest_grade(self, reference: str) -> tuple[str, int | None]:
        """None where no grades were counted."""
        if reference in self.imported:
            row = self.imported[reference]
            return row.name, max(map(int, row.grades), default=None)
        assert self.campaign is not None, "its labels are offered only with it"
        binary = reference.startswith("campaign:binary:")
        return self.own[reference], 1 if binary else max(grade["value"] for grade in self.campaign.scale)

    def _judged_qrels(self) -> list[str]:
        found = self.cleaned_data["qrels"]
        return [found] if isinstance(found, str) else list(found)

    def qrels(self) -> list[str]:
        chosen = self._judged_qrels() + self.cleaned_data.get("click_qrels", [])
        return chosen + ([self.cleaned_data["private_qrels"]] if self.kind.private_qrels else [])

    def parameters(self) -> dict[str, Any]:
        """As `ask_for_report` takes them."""
        data = self.cleaned_data
        runs = [data["run_a"], data["run_b"]] if self.kind.pair else data.get("runs", [])
        options = {}
        for one in self.kind.fields:
            value: Any = data.get(one.name)
            if one.kind in ("list", "lists") or value in (None, "", []):
                continue
            options[one.name] = value.isoformat() if one.kind == "date" else ",".join(value) if one.kind == "tags" else value
        return {"runs": runs, "qrels": self.qrels(), "options": options}

    def lists(self) -> dict[str, str]:
        """As `ask_for_report` takes them: path -> text."""
        return self.given_lists

    @property
    def seed(self) -> int:
        return self.cleaned_data.get("seed") or 0

    def option_fields(self) -> list[Any]:
        return [self[name] for name in self.fields if name not in ("runs", "run_a", "run_b", "qrels", "click_qrels", "private_qrels")]

    def choice_fields(self) -> list[Any]:
        return [self[name] for name in ("run_a", "run_b", "runs", "qrels", "click_qrels", "private_qrels") if name in self.fields]


def form_field(one: Field, *, campaign: Campaign | None) -> forms.Field:
    common: dict[str, Any] = {"label": one.label, "help_text": one.hint, "required": False, "initial": one.default}
    if one.name in ("level", "threshold") and campaign is not None and one.kind == "whole":
        common["initial"] = campaign.threshold  # the labels with all grades are what the form begins with
        common["help_text"] = (
            f"{one.hint} With this campaign's {len(campaign.scale)} grades it is {campaign.threshold}; with 2 grades 1.".strip()
        )
    if one.kind == "whole":
        return forms.IntegerField(
            min_value=int(one.least) if one.least is not None else None, max_value=int(one.most) if one.most else None, **common
        )
    if one.kind == "number":
        return forms.FloatField(min_value=one.least, max_value=one.most, **common)
    if one.kind == "yes":
        return forms.BooleanField(**common)
    if one.kind == "choice":
        return DefaultedField(choices=one.choices, **(common | {"required": all(value for value, _ in one.choices)}))
    if one.kind == "date":
        return forms.DateField(widget=forms.DateInput(attrs={"type": "date"}), **common)
    if one.kind == "lines":
        return forms.CharField(max_length=20_000, widget=forms.Textarea(attrs={"rows": 5, "spellcheck": "false"}), **common)
    if one.kind in ("list", "lists"):
        return FilesField(several=one.kind == "lists", **common)
    if one.kind in ("measures", "measure"):
        return MeasuresField(single=one.kind == "measure", max_length=400, **common)
    return forms.CharField(max_length=200, **common)


class DefaultedField(forms.ChoiceField):
    """A choice that is its default where nothing was sent."""

    def clean(self, value: Any) -> Any:
        return super().clean(value or self.initial)


def tags_field(one: Field, choices: list[tuple[str, str]], *, initial: list[str]) -> forms.Field:
    return forms.MultipleChoiceField(
        label=one.label, help_text=one.hint, required=False, choices=choices, initial=initial, widget=forms.CheckboxSelectMultiple
    )


class FilesInput(forms.FileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    """Files, or one: their list."""

    def __init__(self, *, several: bool, **kwargs: Any) -> None:
        super().__init__(widget=FilesInput(attrs={"multiple": several}), **kwargs)

    def clean(self, data: Any, initial: Any = None) -> list[Any]:  # type: ignore[override]  # the base class cleans one file
        return [super(FilesField, self).clean(file) for file in data or []]


class MeasuresField(forms.CharField):
    """Names of measures between blanks."""

    def __init__(self, *, single: bool, **kwargs: Any) -> None:
        self.single = single
        super().__init__(**kwargs)

    def clean(self, value: Any) -> str:
        text = " ".join(super().clean(value).split()) or str(self.initial)
        try:
            if self.single:
                parse_measure(text)
            else:
                parse_measures(text)
        except UnknownMeasure as error:
            raise forms.ValidationError(str(error)) from None
        return text

"""Forms of collections. They check the syntax of input, and services check its meaning."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from assay.labels.clicks import CLICK_MODEL_CHOICES, check_thresholds
from assay.pools.batches import DEFAULT_AUDIT, DEFAULT_SIZE, BatchGoal
from assay.pools.pool_kinds import MAX_AUDIT, MAX_IN_BATCH, PoolKind
from assay.pools.stages import LLM_STRATA
from pooling.models import Collection, Qrels, Run, Upload
from pooling.services.file_recognition import RECOGNISE_KIND
from pooling.services.uploads import MODES


def parse_rates(text: str) -> list[float]:
    """Parse `0.04, 0.30` as ascending numbers of at least 0. An empty text gives an empty list.
    Raises ValidationError for anything else."""
    try:
        shares = [float(part) for part in text.split(",")] if text.strip() else []
    except ValueError:
        shares = [-1.0]
    if not all(0 <= rate < math.inf for rate in shares) or shares != sorted(set(shares)):
        raise forms.ValidationError(
            _("ascending rates of at least 0, separated by commas, such as 0.04, 0.30")
        )
    return shares


class CollectionForm(forms.Form):
    name = forms.CharField(max_length=200, help_text=_("Example: NFCorpus."))
    description = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text=_("Source, licence and origin of the runs."),
    )
    n_documents = forms.IntegerField(
        label=_("Documents in the full collection"),
        required=False,
        min_value=1,
        max_value=10**12,
        help_text=_(
            "Needed only if your files contain only part of the collection. Used in the "
            "campaign statistics."
        ),
    )
    text_format = forms.ChoiceField(
        label=_("Text format"),
        required=False,
        choices=Collection.TextFormat.choices,
        help_text=_(
            "Markdown: annotators see formatted headings, lists, emphasis and code. The "
            "stored text is not changed."
        ),
    )


class ManagerForm(forms.Form):
    username = forms.CharField(
        label=_("Username"),
        max_length=150,
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}
        ),
    )


class UploadForm(forms.Form):
    """Form for the options of an uploaded file. `options()` returns those of its kind."""

    kind = forms.ChoiceField(
        choices=[(RECOGNISE_KIND, _("Detect automatically")), *Upload.Kind.choices]
    )
    mode = forms.ChoiceField(choices=[(mode, mode) for mode in MODES], required=False)
    tag = forms.CharField(max_length=200, required=False)
    order = forms.ChoiceField(choices=[("score", _("score")), ("rank", _("rank"))], required=False)
    lenient = forms.BooleanField(required=False)
    group = forms.CharField(max_length=200, required=False)
    description = forms.CharField(max_length=5000, required=False)
    submitted_on = forms.DateField(required=False)
    baseline = forms.BooleanField(required=False)
    name = forms.CharField(max_length=200, required=False)
    qrels_kind = forms.ChoiceField(choices=Qrels.Kind, required=False)
    click_model = forms.ChoiceField(choices=CLICK_MODEL_CHOICES, required=False)
    thresholds = forms.CharField(max_length=200, required=False)
    min_dwell = forms.FloatField(min_value=0, max_value=86_400, required=False)

    def clean_thresholds(self) -> list[float]:
        rates = parse_rates(self.cleaned_data["thresholds"])
        try:
            check_thresholds(self.cleaned_data.get("click_model") or "dctr", rates)
        except ValueError as error:
            raise forms.ValidationError(str(error)) from None
        return rates

    def options(self, kind: str) -> dict[str, Any]:
        """Return the import options that apply to this kind of file."""
        data = self.cleaned_data
        if kind == Upload.Kind.RUN:
            chosen = {
                name: data[name]
                for name in ("tag", "order", "lenient", "group", "description", "baseline")
            }
            chosen["submitted_on"] = (
                data["submitted_on"].isoformat() if data["submitted_on"] else ""
            )
        elif kind == Upload.Kind.QRELS:
            chosen = {"name": data["name"], "kind": data["qrels_kind"], "lenient": data["lenient"]}
            chosen |= {name: data[name] for name in ("click_model", "thresholds", "min_dwell")}
        elif kind == Upload.Kind.SET:
            chosen = {"name": data["name"]}
        else:
            chosen = {}
        return {name: value for name, value in chosen.items() if value}

    def upload_mode(self) -> str:
        """Return the selected mode of the upload: inspect, careful or import."""
        return self.cleaned_data["mode"] or "careful"


class RunForm(forms.ModelForm):
    class Meta:
        model = Run
        fields = ["group", "description", "submitted_on", "baseline"]
        widgets = {
            "submitted_on": forms.DateInput(attrs={"type": "date"}),
            "description": forms.Textarea(attrs={"rows": 3}),
        }
        labels = {"submitted_on": _("Date"), "baseline": _("Organisers' baseline")}
        help_texts = {"group": _("Group that submitted the run.")}

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        n_lines = self.instance.description.count("\n") + 1  # an ir_metadata head has many
        self.fields["description"].widget.attrs["rows"] = min(max(n_lines, 3), 16)


class PercentagesField(forms.CharField):
    """Form field of percentages separated by spaces or commas, converted to shares."""

    def clean(self, value: Any) -> list[float]:
        try:
            return [
                float(one.rstrip("%")) / 100
                for one in super().clean(value).replace(",", " ").split()
            ]
        except ValueError:
            raise forms.ValidationError(
                _("Enter percentages separated by spaces, such as 10 20.")
            ) from None


STRATA_CHOICES = [
    ("rank", _("By best rank within each topic")),
    ("votes", _("By number of votes, across all topics (better for the first ten ranks)")),
]
BATCH_HELP = _(
    "The order is updated after each batch. Smaller batches adapt faster; larger batches "
    "mean fewer waits for annotators."
)
AUDIT_HELP = _(
    "Pairs drawn at random from all remaining pairs, to estimate how many relevant documents "
    "are left. Enter 0 for no audit sample and no estimate."
)


class PoolForm(forms.Form):
    """Form for the settings of a new pool. `runs` are runs of the collection."""

    depth = forms.IntegerField(
        min_value=1,
        max_value=1000,
        initial=10,
        help_text=_("Number of top ranks of each run to judge."),
    )
    runs = forms.ModelMultipleChoiceField(
        queryset=Run.objects.none(), widget=forms.CheckboxSelectMultiple
    )
    kind = forms.ChoiceField(
        label=_("Pair selection"),
        choices=[
            (
                PoolKind.DEPTH.value,
                _(
                    "By rank: all pairs at rank 1, then rank 2, down to the pool depth. Best "
                    "for complete rankings of systems"
                ),
            ),
            (
                PoolKind.ORDERED.value,
                _(
                    "Most likely relevant first: batches of probably relevant pairs. Best for training data, high recall and systematic reviews"
                ),
            ),
            (
                PoolKind.SAMPLED.value,
                _(
                    "Random sample: pairs drawn with known probabilities. Best for comparing "
                    "systems with fewer judgements"
                ),
            ),
        ],
        initial=PoolKind.DEPTH.value,
        required=False,
        widget=forms.RadioSelect,
    )
    stages = PercentagesField(
        label=_("Sampling stages"),
        initial="10 20",
        required=False,
        help_text=_(
            "Percentage of the pool judged at the end of each stage. You can draw more "
            "stages later."
        ),
    )
    strata = forms.ChoiceField(
        label=_("Sampling strata"),
        choices=STRATA_CHOICES,
        required=False,
    )
    goal = forms.ChoiceField(
        label=_("Batch goal"),
        choices=[
            ("relevant", _("The most likely relevant pairs of all topics")),
            ("equal", _("The same share of each topic")),
        ],
        required=False,
    )
    llm_judge = forms.ChoiceField(
        label=_("LLM judge"),
        required=False,
        help_text=_(
            "Lists only frozen LLM judges with a label for every pair of these runs at this depth."
        ),
    )
    batch = forms.IntegerField(
        label=_("Pairs per batch"),
        min_value=1,
        max_value=MAX_IN_BATCH,
        initial=DEFAULT_SIZE,
        required=False,
        help_text=BATCH_HELP,
    )
    audit = forms.FloatField(
        label=_("Audit sample (% of each batch)"),
        min_value=0,
        max_value=100 * MAX_AUDIT,
        initial=100 * DEFAULT_AUDIT,
        required=False,
        help_text=AUDIT_HELP,
    )
    name = forms.CharField(
        max_length=200,
        required=False,
        help_text=_("Leave empty for a name such as “Depth 5, 5 runs”."),
    )
    seed = forms.IntegerField(
        required=False,
        initial=0,
        min_value=0,
        max_value=2**63 - 1,
        help_text=_("Determines the order of topics."),
    )

    def __init__(
        self,
        *args: Any,
        collection: Collection,
        judges: Sequence[tuple[str, str]] = (),
        **kwargs: Any,
    ) -> None:
        """Create the form. judges: names and labels of the LLM judges whose grades may define
        strata."""
        super().__init__(*args, **kwargs)
        if judges:
            self.fields["llm_judge"].choices = judges  # type: ignore[attr-defined]
            by_llm = _(
                "By votes and LLM grades, across all topics (for prediction-powered inference)"
            )
            self.fields["strata"].choices = [*STRATA_CHOICES, (LLM_STRATA, by_llm)]  # type: ignore[attr-defined]
        else:
            del self.fields["llm_judge"]
        runs = collection.runs.all()
        self.fields["runs"].queryset = runs  # type: ignore[attr-defined]
        self.fields["runs"].initial = [run.pk for run in runs]

    def clean_kind(self) -> str:
        return self.cleaned_data["kind"] or PoolKind.DEPTH.value

    def clean_strata(self) -> str:
        return self.cleaned_data["strata"] or "rank"

    def clean(self) -> dict[str, Any]:
        """Keep the LLM judge only if strata are defined by its grades."""
        data = super().clean() or {}
        return data | {
            "llm_judge": data.get("llm_judge", "") if data.get("strata") == LLM_STRATA else ""
        }

    def clean_batch(self) -> int:
        return self.cleaned_data["batch"] or DEFAULT_SIZE

    def clean_audit(self) -> float:
        """Return the share of pairs that is sampled at random."""
        percent = self.cleaned_data["audit"]
        return DEFAULT_AUDIT if percent is None else percent / 100

    def clean_goal(self) -> str:
        return self.cleaned_data["goal"] or BatchGoal.RELEVANT.value


class StageForm(forms.Form):
    percent = forms.FloatField(
        label=_("Target share (% of the pool)"),
        min_value=0.01,
        max_value=100,
        help_text=_("Pairs drawn so far count towards this share and remain in the sample."),
    )


class ExtendForm(forms.Form):
    depth = forms.IntegerField(min_value=1, max_value=1000)
    runs = forms.ModelMultipleChoiceField(
        queryset=Run.objects.none(),
        widget=forms.CheckboxSelectMultiple,
        required=False,
        label=_("Additional runs"),
    )

    def __init__(self, *args: Any, pool: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["runs"].queryset = pool.collection.runs.exclude(pools=pool)  # type: ignore[attr-defined]
        self.fields["depth"].initial = pool.least_depth
        self.fields["depth"].min_value = pool.least_depth  # type: ignore[attr-defined]
        if pool.is_sampled:  # the depth stays, and unpooled runs become strata of their own
            self.fields["depth"].widget, self.fields["runs"].label = (
                forms.HiddenInput(),
                _("Unpooled runs"),
            )


class CostForm(forms.Form):
    judgements = forms.IntegerField(
        label=_("Judgements per pair"), min_value=1, max_value=50, initial=3
    )
    seconds = forms.FloatField(
        label=_("Expected seconds per judgement"), min_value=1, max_value=3600, initial=48
    )

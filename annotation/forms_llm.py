"""Forms of LLM judges: one that is called at an endpoint, and one whose labels are uploaded as a
file."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from annotation.services.llm_judges.judges import CallLimits, JudgeOptions

PROMPT_CHOICES = [
    ("grade", _("Grade only (short and cheap)")),
    ("reasons", _("Reasons, then grade (about 15 times as many output tokens)")),
    ("own", _("Custom prompt")),
]
RELATED_HELP = _(
    "Comma-separated tags or groups of runs built with this model. Don't evaluate these runs "
    "with the LLM judge. Reports mark them."
)


class LabelFileForm(forms.Form):
    name = forms.CharField(
        max_length=100,
        help_text=_("Name shown here and in files. Example: GPT-4o, prompt 2."),
    )
    model = forms.CharField(
        max_length=200,
        help_text=_("Model and version, exact enough for others to repeat the run."),
    )
    file = forms.FileField(
        help_text=_(
            "Qrels, TREC format with six columns (including confidence), or umbrela output. "
            "Labels for pairs outside the pool are skipped."
        )
    )
    related = forms.CharField(
        label=_("Related systems"), max_length=500, required=False, help_text=RELATED_HELP
    )


class EndpointForm(forms.Form):
    name = forms.CharField(max_length=100, help_text=_("Name shown here and in files."))
    endpoint = forms.ChoiceField(
        help_text=_("Endpoints are configured by the operator of this installation.")
    )
    model = forms.CharField(max_length=200, help_text=_("The model's name at the endpoint."))
    prompt = forms.ChoiceField(
        choices=PROMPT_CHOICES,
        initial="grade",
        help_text=_("The built-in prompts contain the campaign's current scale and guidelines."),
    )
    own_prompt = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 6}),
        max_length=20_000,
        help_text=_("Available placeholders: $query, $need, $guidelines, $scale, $document."),
    )
    samples = forms.IntegerField(
        label=_("Answers per pair"),
        min_value=1,
        max_value=50,
        initial=1,
        help_text=_("The most frequent grade becomes the label."),
    )
    temperature = forms.FloatField(min_value=0, max_value=2, initial=0)
    most_tokens = forms.IntegerField(
        label=_("Maximum tokens per answer"), min_value=1, max_value=100_000, initial=400
    )
    per_minute = forms.IntegerField(
        label=_("Maximum calls per minute"), min_value=1, max_value=100_000, required=False
    )
    price_in = forms.FloatField(
        label=_("Price per million input tokens"), min_value=0, max_value=1e6, required=False
    )
    price_out = forms.FloatField(
        label=_("Price per million output tokens"), min_value=0, max_value=1e6, required=False
    )
    most_cost = forms.FloatField(label=_("Cost limit"), min_value=0, max_value=1e9, required=False)
    related = forms.CharField(
        label=_("Related systems"), max_length=500, required=False, help_text=RELATED_HELP
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        chosen: Any = self.fields["endpoint"]
        chosen.choices = [(address, address) for address in settings.LLM_ENDPOINTS]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if data.get("prompt") == "own" and not data.get("own_prompt", "").strip():
            self.add_error("own_prompt", _("Enter a prompt, or choose a built-in one."))
        return data

    def judge_options(self) -> JudgeOptions:
        data = self.cleaned_data
        limits = CallLimits(
            per_minute=data["per_minute"],
            price_in=data["price_in"] or 0.0,
            price_out=data["price_out"] or 0.0,
            most_cost=data["most_cost"],
        )
        prompt = data["own_prompt"] if data["prompt"] == "own" else data["prompt"]
        same = {
            name: data[name]
            for name in (
                "name",
                "model",
                "endpoint",
                "temperature",
                "most_tokens",
                "samples",
                "related",
            )
        }
        return JudgeOptions(prompt=prompt, limits=limits, **same)

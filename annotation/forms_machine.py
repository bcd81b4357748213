"""Forms of machine judges: one that is asked at an endpoint, one whose labels come as a file."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from annotation.services.llm_judges.judges import CallLimits, JudgeOptions

PROMPT_CHOICES = [
    ("grade", _("Grade alone: short, cheap")),
    ("reasons", _("Reasons first, then the grade: about fifteen times as many tokens received")),
    ("own", _("An own prompt")),
]
RELATED_HELP = _(
    "Tags or groups of runs that were built with this model, with commas between. A machine may "
    "not judge them; reports say so."
)


class LabelFileForm(forms.Form):
    name = forms.CharField(
        max_length=100,
        help_text=_("What it is called here and in files, such as GPT-4o, prompt 2."),
    )
    model = forms.CharField(
        max_length=200,
        help_text=_("Which model, in which version: what another person needs to ask it again."),
    )
    file = forms.FileField(
        help_text=_(
            "Qrels, TREC's six columns with a confidence, or umbrela's lines of judged passages. "
            "Labels of pairs that are not in the pool are left out."
        )
    )
    related = forms.CharField(
        label=_("Related systems"), max_length=500, required=False, help_text=RELATED_HELP
    )


class EndpointForm(forms.Form):
    name = forms.CharField(max_length=100, help_text=_("What it is called here and in files."))
    endpoint = forms.ChoiceField(
        help_text=_("Those that the operator of this installation has named.")
    )
    model = forms.CharField(max_length=200, help_text=_("Its name at the endpoint."))
    prompt = forms.ChoiceField(
        choices=PROMPT_CHOICES,
        initial="grade",
        help_text=_("Both of ours hold the campaign's scale and guidelines as they are now."),
    )
    own_prompt = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 6}),
        max_length=20_000,
        help_text=_("With $query, $need, $guidelines, $scale, $document."),
    )
    samples = forms.IntegerField(
        label=_("Answers of each pair"),
        min_value=1,
        max_value=50,
        initial=1,
        help_text=_("The most frequent grade is the label."),
    )
    temperature = forms.FloatField(min_value=0, max_value=2, initial=0)
    most_tokens = forms.IntegerField(
        label=_("Tokens of an answer, at most"), min_value=1, max_value=100_000, initial=400
    )
    per_minute = forms.IntegerField(
        label=_("Calls a minute, at most"), min_value=1, max_value=100_000, required=False
    )
    price_in = forms.FloatField(
        label=_("Price of a million tokens sent"), min_value=0, max_value=1e6, required=False
    )
    price_out = forms.FloatField(
        label=_("Price of a million tokens received"), min_value=0, max_value=1e6, required=False
    )
    most_cost = forms.FloatField(
        label=_("End before this sum is passed"), min_value=0, max_value=1e9, required=False
    )
    related = forms.CharField(
        label=_("Related systems"), max_length=500, required=False, help_text=RELATED_HELP
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        chosen: Any = self.fields["endpoint"]
        chosen.choices = [(address, address) for address in settings.MACHINE_ENDPOINTS]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if data.get("prompt") == "own" and not data.get("own_prompt", "").strip():
            self.add_error("own_prompt", _("Write the prompt, or choose one of ours."))
        return data

    def wanted(self) -> JudgeOptions:
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

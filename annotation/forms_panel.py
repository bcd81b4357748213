"""The form of a campaign's panel."""

from __future__ import annotations

import copy
from typing import Any

from django import forms
from django.core.validators import URLValidator
from django.utils.translation import gettext_lazy as _

from annotation.core.campaign_file import PANEL_CODES
from annotation.fields import ProseField
from annotation.models import Campaign, GuestPanel
from annotation.services.people.panel_settings import find_panel_problems

MAX_PLACES, MAX_JUDGEMENTS = 100_000, 1_000_000


class PanelForm(forms.ModelForm):
    consent_text = ProseField(
        label=_("Consent"),
        strip=False,
        required=False,
        widget=forms.Textarea(attrs={"rows": 6}),
        help_text=_("Markdown. This is the consent text of the campaign, for all annotators."),
    )
    places = forms.IntegerField(
        label=_("Places"),
        min_value=1,
        max_value=MAX_PLACES,
        help_text=_("Maximum number of guests, as in the study."),
    )
    judgements = forms.IntegerField(
        label=_("Judgements per guest"),
        min_value=1,
        max_value=MAX_JUDGEMENTS,
        help_text=_("Guests finish after this number of judgements."),
    )
    return_address = forms.CharField(
        label=_("Return URL"),
        required=False,
        max_length=300,
        validators=[URLValidator(schemes=["http", "https"])],
        help_text=_("CODE stands for the completion code. Leave empty to show only the code."),
    )
    secret = forms.CharField(
        label=_("Webhook secret"),
        required=False,
        max_length=200,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
    )

    class Meta:
        model = GuestPanel
        fields = [
            *("name", "is_open", "places", "judgements", "reward", "min_hourly_pay", *PANEL_CODES),
            *("secret", "participant_parameter", "submission_parameter", "return_address"),
        ]
        labels = {
            "name": _("Panel"),
            "is_open": _("Admit new guests"),
            "reward": _("Payment per guest"),
            "min_hourly_pay": _("Minimum hourly pay"),
            "done_code": _("Code: finished"),
            "failed_code": _("Code: failed the qualification test"),
            "declined_code": _("Code: no consent"),
            "full_code": _("Code: campaign full"),
            "participant_parameter": _("Participant ID parameter"),
            "submission_parameter": _("Submission ID parameter"),
        }
        help_texts = {
            "is_open": _("If off, new guests get the code for a full campaign."),
            "reward": _("Payment per participant in the study, without the currency."),
            "min_hourly_pay": _("The People page shows a warning if guests earn less."),
            "submission_parameter": _("Leave empty if the links have no such parameter."),
        }

    usual = ("name", "places", "judgements", "reward", "min_hourly_pay", "is_open")
    advanced = ("participant_parameter", "submission_parameter", "return_address")

    def __init__(
        self, campaign: Campaign, panel: GuestPanel | None, data: Any = None, **kwargs: Any
    ) -> None:
        kwargs["initial"] = {"consent_text": campaign.consent_text}
        super().__init__(data, instance=copy.copy(panel) or GuestPanel(campaign=campaign), **kwargs)
        if panel is None:
            self.initial["judgements"] = min(campaign.target_per_annotator or 50, 50)
        self.fields["secret"].help_text = (
            _("A secret is saved. Leave empty to keep it.")
            if self.instance.secret
            else _("Without a secret, events from the panel are rejected.")
        )
        for name in ("reward", "min_hourly_pay"):
            money: Any = self.fields[name]
            money.min_value = 0
            money.widget.attrs["min"] = 0

    def usual_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.usual]

    def code_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in PANEL_CODES]

    def advanced_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.advanced]

    def has_advanced_errors(self) -> bool:
        return any(self[name].errors for name in self.advanced)

    def clean_secret(self) -> str:
        """Keep the saved secret if none was entered, because the page does not show it."""
        return self.cleaned_data["secret"] or self.initial.get("secret", "")

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        for name, problem in find_panel_problems(data):
            self.add_error(name, problem)
        for name in ("reward", "min_hourly_pay"):
            if (data.get(name) or 0) < 0:
                self.add_error(name, _("The amount must not be negative."))
        return data

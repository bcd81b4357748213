"""Form fields that normalise texts and reject mistyped dates from browsers."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

FIRST_YEAR, LAST_YEAR = 2000, 2999


class ProseField(forms.CharField):
    """A text of several lines with carriage returns removed. Browsers add them, so an unchanged
    text would appear to be edited."""

    widget = forms.Textarea

    def to_python(self, value: Any) -> str:
        text = (super().to_python(value) or "").replace("\r\n", "\n").replace("\r", "\n")
        return text if text.strip() else ""


class MomentField(forms.DateTimeField):
    """A date and time in the user's time zone. Years with two digits arrive as 0026 and are
    rejected."""

    widget = forms.DateTimeInput(
        attrs={
            "type": "datetime-local",
            "min": f"{FIRST_YEAR}-01-01T00:00",
            "max": f"{LAST_YEAR}-12-31T23:59",
        },
        format="%Y-%m-%dT%H:%M",
    )

    def to_python(self, value: Any) -> datetime | None:
        moment = super().to_python(value)
        if moment is not None and not FIRST_YEAR <= moment.year <= LAST_YEAR:
            raise forms.ValidationError(
                _("Enter a year with four digits, from %(first)s to %(last)s.")
                % {"first": FIRST_YEAR, "last": LAST_YEAR}
            )
        return moment


def check_future(moment: datetime | None) -> datetime | None:
    """Validate that a moment is in the future, and return it. Raises ValidationError."""
    if moment is not None and moment <= timezone.now():
        raise forms.ValidationError(_("Choose a date in the future, or leave the field empty."))
    return moment

"""Rules for the settings of a panel, for its page and for campaign files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from annotation.core.campaign_file import PANEL_CODES
from annotation.core.panel_events import PANEL_DEFAULTS

CODE_PATTERN = re.compile(r"[A-Za-z0-9_-]+")
PARAMETER_PATTERN = re.compile(r"[A-Za-z0-9._-]+")


def find_panel_problems(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return (field, problem) for each value of a panel that its columns allow but guests or the
    panel could not use."""
    problems = [
        (name, _("Use only letters, digits, hyphens and underscores."))
        for name in PANEL_CODES
        if values.get(name) and not CODE_PATTERN.fullmatch(values[name])
    ]
    names = [values.get(f"{kind}_parameter") for kind in ("participant", "submission")]
    problems += [
        (f"{kind}_parameter", _("Use only letters, digits, dots, hyphens and underscores."))
        for kind, name in zip(("participant", "submission"), names, strict=True)
        if name and not PARAMETER_PATTERN.fullmatch(name)
    ]
    if names[0] and names[0] == names[1]:
        problems.append(
            (
                "submission_parameter",
                _("The parameters for the participant ID and the submission ID must differ."),
            )
        )
    if values.get("return_address") and "CODE" not in values["return_address"]:
        example = PANEL_DEFAULTS["return_address"]
        says = _("The address must contain CODE, such as %(example)s.") % {"example": example}
        problems.append(("return_address", says))
    return problems

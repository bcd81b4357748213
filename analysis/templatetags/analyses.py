"""The list of analyses on the Results pages, in groups."""

from __future__ import annotations

from typing import Any

from django import template
from django.utils.translation import gettext_lazy as _

from analysis.studies.papers import STUDY_NAMES, get_study
from analysis.systems.kinds import KINDS

register = template.Library()
GROUPS = {
    "compare": _("Compare"),
    "trust": _("Trust"),
    "plan": _("Plan"),
    "leaderboards": _("Leaderboards"),
}


@register.simple_tag
def analysis_groups() -> list[dict[str, Any]]:
    """Return the groups of analyses, each with its kinds of reports and its paper studies."""
    studies = [get_study(name) for name in STUDY_NAMES]
    return [
        {
            "title": title,
            "kinds": [kind for kind in KINDS.values() if kind.group == group],
            "studies": [study for study in studies if study.group == group],
        }
        for group, title in GROUPS.items()
    ]

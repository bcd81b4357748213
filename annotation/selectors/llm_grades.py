"""Labels of frozen LLM judges for the strata of a sampled pool
(docs/reference/methods/sampling.md)."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from annotation.models import LlmJudge
from annotation.permissions import visible_campaigns
from annotation.selectors.llm_judges import get_labels
from pooling.hooks import FrozenLabels, LlmSource
from pooling.models import Collection
from pooling.platform.jobs import Refused


def _managed_judges(collection: Collection, user: Any) -> QuerySet[LlmJudge]:
    """Return the LLM judges of the collection's campaigns that the user manages. user: None for all
    campaigns."""
    judges = LlmJudge.objects.filter(campaign__collection=collection).select_related("campaign")
    if user is None:
        return judges
    return judges.filter(campaign__in=visible_campaigns(user))


def judge_path(judge: LlmJudge) -> str:
    return f"{judge.campaign.slug}/{judge.name}"


def list_frozen_judges(collection: Collection, user: Any) -> list[tuple[str, str]]:
    """List the frozen LLM judges as (name for use in a pool, description)."""
    judges = (
        _managed_judges(collection, user).exclude(frozen_at=None).order_by("campaign__slug", "name")
    )
    return [
        (judge_path(judge), f"{judge.name} ({judge.model}), of {judge.campaign.name}")
        for judge in judges
    ]


def get_frozen_labels(collection: Collection, name: str, user: Any) -> FrozenLabels:
    """Return the labels of the frozen LLM judge with the name campaign/judge. Raises Refused if the
    user does not manage such a campaign, or if the judge is not frozen."""
    slug, _slash, own = name.partition("/")
    judge = _managed_judges(collection, user).filter(campaign__slug=slug, name=own).first()
    if judge is None:
        known = ", ".join(one for one, _words in list_frozen_judges(collection, user))
        says = (
            _("No LLM judge of this collection is named %(name)s. Choose one of %(known)s.")
            if known
            else _(
                "No LLM judge of this collection is named %(name)s. No LLM judge is frozen "
                "yet. Freeze one first."
            )
        )
        raise Refused(says % {"name": repr(name[:100]), "known": known})
    if judge.frozen_at is None:
        says = _(
            "%(judge)s is not frozen, so its labels could still change after the sample is drawn. "
            "Freeze it on the LLM judges page first."
        )
        raise Refused(says % {"judge": judge.name})
    highest = max(int(grade["value"]) for grade in judge.scale)
    at = judge.frozen_at.isoformat(timespec="seconds")
    return FrozenLabels(
        judge_path(judge), judge.model, judge.digest, at, highest + 1, get_labels(judge)
    )


SOURCE = LlmSource(list_frozen_judges, get_frozen_labels)

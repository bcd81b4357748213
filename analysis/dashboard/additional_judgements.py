"""Preview of the cost of additional judgements for selected pairs."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from analysis.dashboard.planning_options import Outlook, read_outlook_inputs
from analysis.judgements.live import get_snapshot
from annotation.models import Campaign
from annotation.services.judging import additional_judgements


@dataclass(frozen=True)
class AdditionalJudgementsPreview:
    """The effect of requesting or withdrawing additional judgements.

    now, after: the campaign's outlook before and after. seconds: expected work in total, from the
    campaign's expected seconds per judgement.
    """

    chosen: additional_judgements.SelectionResult
    now: Outlook
    after: Outlook
    seconds: float

    @property
    def n(self) -> int:
        """Return the number of judgements requested or withdrawn."""
        return len(self.chosen.ids)


def preview_additional_judgements(
    campaign: Campaign, ids: Collection[int], *, is_withdrawal: bool = False
) -> AdditionalJudgementsPreview:
    """Compute the effect of requesting or withdrawing judgements, without changing anything. Raises
    CampaignError if this is possible for none of the pairs."""
    chosen = additional_judgements.check_selection(campaign, ids, is_withdrawal=is_withdrawal)
    live = get_snapshot(campaign, fresh=0.0)
    base = read_outlook_inputs(campaign, live)
    missing = base.missing()
    changed = np.isin(live.pairs.ids[live.pairs.normal], chosen.ids)
    after = np.maximum(missing + np.where(changed, -1 if is_withdrawal else 1, 0), 0)
    return AdditionalJudgementsPreview(
        chosen,
        base.outlook(missing),
        base.outlook(after),
        len(chosen.ids) * campaign.expected_seconds,
    )

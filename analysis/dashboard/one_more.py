"""What one more judgement of chosen pairs costs, before anybody is asked for it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from analysis.dashboard.levers import Outlook, base_of
from analysis.judgements.live import live_rows
from annotation.models import Campaign
from annotation.services.judging import one_more


@dataclass(frozen=True)
class OneMorePreview:
    """now, after: the outlook as it is, and then. seconds: of work, at the campaign's expected
    seconds a judgement."""

    chosen: one_more.Chosen
    now: Outlook
    after: Outlook
    seconds: float

    @property
    def n(self) -> int:
        """Judgements asked for, or taken back."""
        return len(self.chosen.ids)


def preview(campaign: Campaign, ids: Collection[int], *, back: bool = False) -> OneMorePreview:
    """Nothing is changed. Raises CampaignError where it cannot be done to any of these pairs."""
    chosen = one_more.chosen(campaign, ids, back=back)
    live = live_rows(campaign, fresh=0.0)
    base = base_of(campaign, live)
    missing = base.missing()
    changed = np.isin(live.pairs.ids[live.pairs.normal], chosen.ids)
    after = np.maximum(missing + np.where(changed, -1 if back else 1, 0), 0)
    return OneMorePreview(
        chosen,
        base.outlook(missing),
        base.outlook(after),
        len(chosen.ids) * campaign.expected_seconds,
    )

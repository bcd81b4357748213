"""What the home page shows of a person's campaigns, in a number of queries that does not grow with them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db.models import Count, Q
from django.utils import timezone

from annotation.models import Campaign, Membership


@dataclass(frozen=True)
class MyCampaign:
    """One card of the home page. `share` is judged / target, at most 1; None without a target."""

    membership: Membership
    campaign: Campaign
    judged: int
    target: int | None
    deadline: datetime | None

    @property
    def share(self) -> float | None:
        return min(1.0, self.judged / self.target) if self.target else None

    @property
    def left(self) -> int:
        return max(0, (self.target or 0) - self.judged)

    @property
    def overdue(self) -> bool:
        return self.deadline is not None and self.deadline <= timezone.now()

    @property
    def may_judge(self) -> bool:
        return self.campaign.state == Campaign.State.OPEN and not self.overdue and self.membership.standing == Membership.Standing.ACTIVE


def my_campaigns(user: User) -> tuple[list[MyCampaign], list[Membership]]:
    """-> (campaigns to judge in, the open and nearest deadline first; memberships as manager, the newest first)."""
    judged = Count("judgements", filter=Q(judgements__current=True))
    memberships = user.memberships.select_related("campaign", "campaign__collection").annotate(n_judged=judged)
    judging = [
        MyCampaign(m, m.campaign, m.n_judged, m.target or m.campaign.target_per_annotator or None, m.campaign.deadline)
        for m in memberships.filter(role=Membership.Role.ANNOTATOR).exclude(campaign__state=Campaign.State.DRAFT)
    ]
    judging.sort(key=lambda card: (not card.may_judge, card.deadline is None, card.deadline or timezone.now(), card.campaign.name))
    managing: list[Membership] = list(memberships.filter(role=Membership.Role.MANAGER).order_by("-campaign__created_at"))
    return judging, managing

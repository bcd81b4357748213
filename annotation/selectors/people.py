"""A user's campaigns on the home page, in a constant number of queries."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotation.models import Campaign, Invitation, Membership
from annotation.models.members import MAX_INVITATION_LENGTH
from annotation.selectors.annotator_quotas import annotator_quotas
from annotation.selectors.paused_annotators import format_status_reason


@dataclass(frozen=True)
class CampaignCard:
    """A card of the home page. judged, target: as on the judging page (without qualification and
    too fast judgements). share: judged / target, at most 1, None without a target."""

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
    def pause_reason(self) -> str:
        return format_status_reason(self.membership.status_reason)

    @property
    def may_judge(self) -> bool:
        return (
            self.campaign.state == Campaign.State.OPEN
            and not self.overdue
            and self.membership.status == Membership.Status.ACTIVE
        )


def get_viewed_campaigns(user: User) -> list[Campaign]:
    """Return campaigns in which the user is a viewer, newest first, without drafts."""
    viewing = Campaign.objects.filter(
        memberships__user=user, memberships__role=Membership.Role.VIEWER
    )
    return list(viewing.exclude(state=Campaign.State.DRAFT).order_by("-created_at"))


def get_annotator_campaigns(user: User) -> list[CampaignCard]:
    """Return the campaigns in which the user is an annotator, open ones and nearest deadlines
    first."""
    rows = user.memberships.select_related("campaign", "campaign__collection").filter(
        role=Membership.Role.ANNOTATOR
    )
    own = list(rows.exclude(campaign__state=Campaign.State.DRAFT))
    judging = [
        CampaignCard(m, m.campaign, m.n_judged, part, m.campaign.deadline)
        for m, part in zip(own, annotator_quotas(own), strict=True)
    ]
    judging.sort(
        key=lambda card: (
            not card.may_judge,
            card.deadline is None,
            card.deadline or timezone.now(),
            card.campaign.name,
        )
    )
    return judging


def get_managed_campaigns(user: User) -> list[Campaign]:
    """Return campaigns that the user manages as a member, newest first, with collection and pool
    loaded."""
    own = user.memberships.filter(role=Membership.Role.MANAGER).values("campaign")
    return list(
        Campaign.objects.filter(pk__in=own)
        .select_related("collection", "pool", "created_by__profile")
        .order_by("-created_at")
    )


def get_open_invitations(campaign: Campaign) -> QuerySet[Invitation]:
    """Return invitations that are neither withdrawn nor expired and have uses left. Their end can
    be used as `ends` for ordering."""
    ends = Coalesce(F("expires_at"), F("created_at") + MAX_INVITATION_LENGTH)  # Invitation.ends_at
    valid = campaign.invitations.annotate(ends=ends).filter(
        revoked_at=None, ends__gt=timezone.now()
    )
    return valid.filter(Q(max_uses=None) | Q(n_uses__lt=F("max_uses")))


def get_shared_invitation(campaign: Campaign) -> Invitation | None:
    """Return the newest open invitation that anyone can use to join as an annotator."""
    shared = get_open_invitations(campaign).filter(
        role=Membership.Role.ANNOTATOR, name="", email=""
    )
    return shared.order_by("-created_at").first()

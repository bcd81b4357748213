"""Links at which the results of a campaign are read without an account: made, revoked, and which
one came with a request."""

from __future__ import annotations

import secrets
from datetime import timedelta

from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.core.audit_actions import AuditAction
from annotation.models import Campaign, ResultsLink
from annotation.services.audit import record_event
from annotation.services.errors import CampaignError
from annotation.services.people.tokens import USE_NOTED_EVERY, digest_token

MAX_LINKS = 50
"""Of one campaign that are good."""


def create_results_link(campaign: Campaign, *, name: str, days: int, actor: User | None) -> str:
    """A new link's token, good for so many days. It is returned once; only its digest is stored.
    CampaignError for too many."""
    if (
        campaign.results_links.filter(revoked_at=None, expires_at__gt=timezone.now()).count()
        >= MAX_LINKS
    ):
        raise CampaignError(
            _(
                "The campaign has the maximum of %(most)s results links. Withdraw one that is "
                "no longer needed."
            )
            % {"most": MAX_LINKS}
        )
    token = secrets.token_urlsafe(32)
    ends = timezone.now() + timedelta(days=days)
    ResultsLink.objects.create(
        campaign=campaign, name=name, digest=digest_token(token), expires_at=ends, created_by=actor
    )
    record_event(campaign, actor, AuditAction.MADE_A_RESULTS_LINK, name, days=days)
    return token


def revoke_results_link(link: ResultsLink, *, actor: User | None) -> None:
    link.revoked_at = timezone.now()
    link.save(update_fields=["revoked_at"])
    record_event(link.campaign, actor, AuditAction.REVOKED_A_RESULTS_LINK, link.name)


def get_valid_results_link(token: str) -> ResultsLink | None:
    """The link with `campaign` and its collection and pool; None for one that is over or was never
    made. Notes that it was used."""
    rows = ResultsLink.objects.select_related("campaign__collection", "campaign__pool")
    link = rows.filter(digest=digest_token(token)).first()
    if link is None or link.is_over:
        return None
    now = timezone.now()
    if link.last_used_at is None or now - link.last_used_at > USE_NOTED_EVERY:
        ResultsLink.objects.filter(pk=link.pk).update(last_used_at=now)
    return link

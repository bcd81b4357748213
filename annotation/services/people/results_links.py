"""Results links, which show the results of a campaign without an account: creation, revocation and
lookup."""

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
"""Maximum number of valid links per campaign."""


def create_results_link(campaign: Campaign, *, name: str, days: int, actor: User | None) -> str:
    """Create a link that is valid for `days` days and return its token. Only the digest of the
    token is stored. Raises CampaignError if there are too many links."""
    if (
        campaign.results_links.filter(revoked_at=None, expires_at__gt=timezone.now()).count()
        >= MAX_LINKS
    ):
        raise CampaignError(
            _(
                "The campaign has the maximum of %(most)s results links. Revoke one that is "
                "no longer needed."
            )
            % {"most": MAX_LINKS}
        )
    token = secrets.token_urlsafe(32)
    ends = timezone.now() + timedelta(days=days)
    ResultsLink.objects.create(
        campaign=campaign, name=name, digest=digest_token(token), expires_at=ends, created_by=actor
    )
    record_event(campaign, actor, AuditAction.CREATED_A_RESULTS_LINK, name, days=days)
    return token


def revoke_results_link(link: ResultsLink, *, actor: User | None) -> None:
    link.revoked_at = timezone.now()
    link.save(update_fields=["revoked_at"])
    record_event(link.campaign, actor, AuditAction.REVOKED_A_RESULTS_LINK, link.name)


def get_valid_results_link(token: str) -> ResultsLink | None:
    """Return a results link with `campaign`, collection and pool loaded, and record its use. None
    if it has expired or does not exist."""
    rows = ResultsLink.objects.select_related("campaign__collection", "campaign__pool")
    link = rows.filter(digest=digest_token(token)).first()
    if link is None or link.is_over:
        return None
    now = timezone.now()
    if link.last_used_at is None or now - link.last_used_at > USE_NOTED_EVERY:
        ResultsLink.objects.filter(pk=link.pk).update(last_used_at=now)
    return link

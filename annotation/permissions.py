"""Permissions of users in campaigns, for pages and API. Each function returns the object or raises.

Raises Http404 if the user must not learn that the object exists, and PermissionDenied if the user
can see it but lacks this permission. Superusers have all permissions.
"""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404
from django.utils.translation import gettext as _

from annotation.models import Campaign, Membership, Profile
from annotation.services.judging.statements import ModelReader, fetch_rows, split_row
from pooling.models import Collection
from pooling.permissions import can_create

__all__ = [
    "can_create",
    "get_annotator",
    "get_managed_campaign",
    "get_membership",
    "get_person",
    "get_results_campaign",
    "is_manager",
    "visible_campaigns",
]

OFFERED_FOR_PREFERENCES = frozenset(
    (
        *("campaign", "campaign-battles", "campaign-battles-file"),
        *("campaign-people", "campaign-people-chosen", "campaign-person"),
        *("campaign-audit", "campaign-feedback"),
        *("campaign-settings", "campaign-step", "campaign-delete", "campaign-duplicate"),
        *("campaign-state", "campaign-guideline", "campaign-invitations", "campaign-invite"),
        *("campaign-panel", "campaign-remind", "campaign-questions", "campaign-webhooks"),
        *("judge", "judge-try", "api-campaign", "api-campaign-document", "api-campaign-trial"),
        *("api-questions", "api-question-answer"),
    )
)
"""Names of the addresses of a campaign of preferences. All others need grades."""


class NotForPreferences(Exception):
    """Raised if the requested page needs grades and its campaign collects preferences. Handled by
    config.middleware."""

    def __init__(self, campaign: Campaign) -> None:
        super().__init__(campaign.slug)
        self.campaign = campaign


MEMBER, CAMPAIGN = ModelReader(Membership, "m"), ModelReader(Campaign, "c")
PROFILE = ModelReader(Profile, "f")
MEMBERSHIP_SQL = f"""SELECT {MEMBER.columns}, {CAMPAIGN.columns}, {PROFILE.columns}
  FROM annotation_campaign c JOIN annotation_membership m ON m.campaign_id = c.id
    LEFT JOIN annotation_profile f ON f.user_id = m.user_id
  WHERE c.slug = %(slug)s AND m.user_id = %(user)s"""
"""Prepared statement for every request of the judging page. The ORM needs more time to build its
own than the database to answer it (docs/decisions/0009-standard-parts.md)."""


def get_person(request_or_user: Any) -> Any:
    """Return the user of a request. A user is returned unchanged."""
    return getattr(request_or_user, "user", request_or_user)


def get_membership(request_or_user: Any, slug: str) -> Membership:
    """Return the user's membership in the campaign, with `campaign`, `user` and profile loaded in
    one statement. Raises Http404 for other users."""
    user = get_person(request_or_user)
    if not user.is_authenticated:
        raise Http404(_("Campaign not found."))
    rows = fetch_rows(MEMBERSHIP_SQL, {"slug": slug, "user": user.pk})
    if not rows:
        raise Http404(_("Campaign not found."))
    member, campaign, profile = split_row(rows[0], MEMBER, CAMPAIGN, PROFILE)
    membership: Membership = MEMBER.instance(member)
    membership.campaign, membership.user = CAMPAIGN.instance(campaign), user
    if profile[0] is not None:
        user.profile = PROFILE.instance(profile)
    return membership


def get_annotator(request_or_user: Any, slug: str) -> Membership:
    """Return the user's membership as an annotator. Raises Http404 for non-members, and
    PermissionDenied for managers and viewers."""
    annotator = get_membership(request_or_user, slug)
    if annotator.role == Membership.Role.VIEWER:
        raise PermissionDenied(_("Viewers can see the results of the campaign but can't judge."))
    if annotator.role != Membership.Role.ANNOTATOR:
        raise PermissionDenied(
            _(
                "Managers can't judge in their own campaigns. "
                "Select “Try judging” to see the judging page."
            )
        )
    return annotator


def get_managed_campaign(request_or_user: Any, slug: str) -> Campaign:
    """Return the campaign for its managers and superusers. Raises Http404 for non-members, and
    PermissionDenied for annotators and viewers."""
    return _get_campaign(
        request_or_user,
        slug,
        {Membership.Role.MANAGER},
        "Only managers of this campaign may do this.",
    )


def get_results_campaign(request_or_user: Any, slug: str) -> Campaign:
    """Return the campaign for users who may read its results: viewers, managers and superusers.
    Raises Http404 for non-members, and PermissionDenied for annotators."""
    readers = {Membership.Role.MANAGER, Membership.Role.VIEWER}
    return _get_campaign(
        request_or_user,
        slug,
        readers,
        "Only viewers and managers of this campaign see its results.",
    )


def _get_campaign(
    request_or_user: Any, slug: str, roles: set[Membership.Role], refusal: str
) -> Campaign:
    user = get_person(request_or_user)
    if not user.is_authenticated:
        raise Http404(_("Campaign not found."))
    campaign = Campaign.objects.select_related("collection", "pool").filter(slug=slug).first()
    if campaign is None:
        raise Http404(_("Campaign not found."))
    role = (
        None
        if user.is_superuser
        else Membership.objects.filter(campaign=campaign, user=user)
        .values_list("role", flat=True)
        .first()
    )
    if role is None and not user.is_superuser:
        raise Http404(_("Campaign not found."))
    if role is not None and role not in roles:
        raise PermissionDenied(refusal)
    if campaign.is_preferences and not _is_offered_for_preferences(request_or_user):
        raise NotForPreferences(campaign)
    return campaign


def _is_offered_for_preferences(request_or_user: Any) -> bool:
    match = getattr(getattr(request_or_user, "_request", request_or_user), "resolver_match", None)
    return match is None or match.url_name in OFFERED_FOR_PREFERENCES


def visible_campaigns(user: User) -> QuerySet[Campaign]:
    """Return the campaigns that the user manages, or all for superusers."""
    if user.is_superuser:
        return Campaign.objects.all()
    own = user.memberships.filter(role=Membership.Role.MANAGER)
    return Campaign.objects.filter(pk__in=own.values("campaign"))


def is_manager(request_or_user: Any) -> bool:
    """Return whether the user manages a campaign or collection, or may create one. Uses one query."""
    user = get_person(request_or_user)
    if not user.is_authenticated:
        return False
    makes = Profile.objects.filter(user=user, may_create=True).values("pk").order_by()
    manages = (
        Membership.objects.filter(user=user, role=Membership.Role.MANAGER).values("pk").order_by()
    )
    keeps = Collection.objects.filter(managers=user).values("pk").order_by()
    return bool(user.is_superuser or makes.union(manages, keeps, all=True).exists())

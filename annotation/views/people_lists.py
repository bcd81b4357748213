"""The pages of lists of a campaign's members and invitations."""

from __future__ import annotations

from django.db.models import F
from django.http import HttpRequest
from django.utils.translation import gettext as _

from annotation.models import Campaign, Membership
from annotation.selectors.people import get_open_invitations
from pooling.platform.listing import ListPage, RowFilter


def invitations_page(request: HttpRequest, campaign: Campaign) -> ListPage:
    """Return a page of the open invitations, newest first: neither withdrawn nor expired, and with
    uses left."""
    return ListPage(
        request,
        get_open_invitations(campaign),
        search=("name", "email", "code"),
        sort={
            "for": "name",
            "role": "role",
            "used": "n_uses",
            "ends": "ends",
            "made": "created_at",
        },
        choices=[
            RowFilter(
                "role",
                _("Role"),
                Membership.Role.choices,
                lambda rows, value: rows.filter(role=value),
            )
        ],
        default="-made",
        prefix="invited-",
        part="invitations",
    )


def accepted_page(request: HttpRequest, campaign: Campaign) -> ListPage:
    """Return a page of the invitations that have no uses left, newest first."""
    return ListPage(
        request,
        campaign.invitations.filter(max_uses__isnull=False, n_uses__gte=F("max_uses")),
        search=("name", "email"),
        sort={"for": "name", "role": "role", "used": "n_uses", "made": "created_at"},
        default="-made",
        prefix="accepted-",
        part="accepted",
    )


def members_page(request: HttpRequest, campaign: Campaign) -> ListPage:
    """Return a page of all members, ordered by role and pseudonym."""
    return ListPage(
        request,
        campaign.memberships.select_related("user"),
        search=("pseudonym", "user__username"),
        sort={
            "pseudonym": "pseudonym",
            "account": "user__username",
            "role": ("role", "pseudonym"),
            "status": ("status", "pseudonym"),
            "joined": "joined_at",
        },
        choices=[
            RowFilter(
                "role",
                _("Role"),
                Membership.Role.choices,
                lambda rows, value: rows.filter(role=value),
            ),
            RowFilter(
                "status",
                _("Status"),
                Membership.Status.choices,
                lambda rows, value: rows.filter(status=value),
            ),
        ],
        default="role",
        prefix="member-",
        part="members",
    )

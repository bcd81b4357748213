"""Who may see and do what in a campaign. Pages and API ask here; each function returns the object or raises.

`Http404` where the person may not even know that the thing exists, `PermissionDenied` where he knows it but may not do this.
Superusers may everything."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.core.exceptions import PermissionDenied
from django.http import Http404

from annotation.models import Campaign, Membership, Profile
from pooling.models import Collection

Person = AbstractBaseUser | AnonymousUser


def person(request_or_user: Any) -> Any:
    """The user behind a request, or the user itself."""
    return getattr(request_or_user, "user", request_or_user)


def membership(request_or_user: Any, slug: str) -> Membership:
    """The person's membership in the campaign, with `campaign` loaded. 404 for everybody who is not a member."""
    user = person(request_or_user)
    if not user.is_authenticated:
        raise Http404("No such campaign.")
    found = Membership.objects.select_related("campaign").filter(campaign__slug=slug, user=user).first()
    if found is None:
        raise Http404("No such campaign.")
    return found


def annotating(request_or_user: Any, slug: str) -> Membership:
    """The person's membership as an annotator. 404 for strangers, 403 for a manager who does not annotate."""
    found = membership(request_or_user, slug)
    if found.role != Membership.Role.ANNOTATOR:
        raise PermissionDenied("Managers do not judge in their own campaign; join it as an annotator with another sign-in.")
    return found


def managed_campaign(request_or_user: Any, slug: str) -> Campaign:
    """The campaign, for its managers and superusers. 404 for strangers, 403 for its annotators."""
    user = person(request_or_user)
    if not user.is_authenticated:
        raise Http404("No such campaign.")
    campaign = Campaign.objects.select_related("collection", "pool").filter(slug=slug).first()
    if campaign is None:
        raise Http404("No such campaign.")
    if user.is_superuser:
        return campaign
    role = Membership.objects.filter(campaign=campaign, user=user).values_list("role", flat=True).first()
    if role is None:
        raise Http404("No such campaign.")
    if role != Membership.Role.MANAGER:
        raise PermissionDenied("Only managers of this campaign may do this.")
    return campaign


def manages_something(request_or_user: Any) -> bool:
    """Whether the person may make, or manages, any campaign or collection: in one query."""
    user = person(request_or_user)
    if not user.is_authenticated:
        return False
    makes = Profile.objects.filter(user=user, may_create=True).values("pk").order_by()
    manages = Membership.objects.filter(user=user, role=Membership.Role.MANAGER).values("pk").order_by()
    keeps = Collection.objects.filter(managers=user).values("pk").order_by()
    return bool(user.is_superuser or makes.union(manages, keeps, all=True).exists())


def may_create(request_or_user: Any) -> bool:
    """Whether the person may make collections and campaigns."""
    user = person(request_or_user)
    if not user.is_authenticated:
        return False
    return bool(user.is_superuser or Profile.objects.filter(user=user, may_create=True).exists())

"""Permissions on collections and jobs. Pages and API call these functions, which return the object
or raise.

`Http404` is raised if the user may not know that the object exists. Superusers have all
permissions. Annotators have none on collections. They access content through their campaign.
"""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from pooling import hooks
from pooling.models import Collection, Job


class SignedInRequest(HttpRequest):
    """Type of the requests that views with `login_required` receive."""

    user: User


def get_person(request_or_user: Any) -> Any:
    """Return the user of a request. A user is returned unchanged."""
    return getattr(request_or_user, "user", request_or_user)


def can_create(request_or_user: Any) -> bool:
    """Return whether the user may create collections and campaigns: superusers, and users with the
    creator right."""
    user = get_person(request_or_user)
    if not user.is_authenticated:
        return False
    return bool(user.is_superuser or getattr(getattr(user, "profile", None), "may_create", False))


def require_creator(request_or_user: Any) -> Any:
    """Return the user if they may create collections. Raises PermissionDenied otherwise."""
    if not can_create(request_or_user):
        raise PermissionDenied(
            _(
                "You can't create collections. Ask an administrator of this installation for "
                "permission."
            )
        )
    return get_person(request_or_user)


def require_administrator(request_or_user: Any) -> Any:
    """Return the user if they are an administrator of the installation. Raises PermissionDenied
    otherwise."""
    user = get_person(request_or_user)
    if not user.is_superuser:
        raise PermissionDenied(
            _("Only administrators can see the accounts and the state of this installation.")
        )
    return user


def get_row_or_404(rows: Any, **named: Any) -> Any:
    """Return the one row of a QuerySet or manager that matches. Raises Http404 with the name of the
    model otherwise."""
    try:
        return rows.get(**named)
    except rows.model.DoesNotExist:
        raise Http404(f"{capfirst(rows.model._meta.verbose_name)} not found.") from None


def visible_collections(request_or_user: Any) -> QuerySet[Collection]:
    """Return the collections that the user may see."""
    user = get_person(request_or_user)
    if not user.is_authenticated:
        return Collection.objects.none()
    return (
        Collection.objects.all() if user.is_superuser else Collection.objects.filter(managers=user)
    )


def get_managed_collection(request_or_user: Any, slug: str) -> Collection:
    """Return the collection for its managers and superusers. Raises Http404 for others."""
    collection = visible_collections(request_or_user).filter(slug=slug).first()
    if collection is None:
        raise Http404("Collection not found.")
    return collection


def visible_jobs(request_or_user: Any) -> QuerySet[Job]:
    """Return the jobs that the user requested, and those of collections that they manage."""
    user = get_person(request_or_user)
    if not user.is_authenticated:
        return Job.objects.none()
    if user.is_superuser:
        return Job.objects.all()
    return Job.objects.filter(
        Q(created_by=user) | Q(collection__in=Collection.objects.filter(managers=user))
    )


def get_visible_job(request_or_user: Any, pk: int) -> Job:
    """Return the job for its requester, managers of its collection or campaign, and superusers.
    Raises Http404 for others."""
    user = get_person(request_or_user)
    job = Job.objects.select_related("collection", "created_by").filter(pk=pk).first()
    if job is None or not user.is_authenticated:
        raise Http404("Job not found.")
    if visible_jobs(user).filter(pk=pk).exists() or any(
        rule(user, job) for rule in hooks.job_readers
    ):
        return job
    raise Http404("Job not found.")

"""Who may see and do what with collections and jobs. Pages and API ask here; each function returns
the object or raises.

`Http404` where the person may not even know that the thing exists. Superusers may everything.
Annotators have no business with collections: what they need reaches them through their campaign.
"""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest
from django.utils.translation import gettext as _

from pooling import hooks
from pooling.models import Collection, Job


class SignedInRequest(HttpRequest):
    """What a view behind `login_required` is given."""

    user: User


def get_person(request_or_user: Any) -> Any:
    """The user behind a request, or the user itself."""
    return getattr(request_or_user, "user", request_or_user)


def can_create(request_or_user: Any) -> bool:
    """Whether the person may make collections and campaigns: superusers, and whom an administrator
    gave the right."""
    user = get_person(request_or_user)
    if not user.is_authenticated:
        return False
    return bool(user.is_superuser or getattr(getattr(user, "profile", None), "may_create", False))


def require_creator(request_or_user: Any) -> Any:
    """The person, if he may make collections. 403 otherwise."""
    if not can_create(request_or_user):
        raise PermissionDenied(
            _(
                "You can't create collections. Ask an administrator of this installation for "
                "permission."
            )
        )
    return get_person(request_or_user)


def require_administrator(request_or_user: Any) -> Any:
    """The person, if he is an administrator of the installation. 403 otherwise."""
    user = get_person(request_or_user)
    if not user.is_superuser:
        raise PermissionDenied(
            _("Only administrators can see the accounts and the state of this installation.")
        )
    return user


def get_row_or_404(rows: Any, **named: Any) -> Any:
    """The row of a QuerySet or a manager. 404 in our words if there is none."""
    try:
        return rows.get(**named)
    except rows.model.DoesNotExist:
        raise Http404(f"No such {rows.model._meta.verbose_name}.") from None


def visible_collections(request_or_user: Any) -> QuerySet[Collection]:
    """The collections that the person may see."""
    user = get_person(request_or_user)
    if not user.is_authenticated:
        return Collection.objects.none()
    return (
        Collection.objects.all() if user.is_superuser else Collection.objects.filter(managers=user)
    )


def get_managed_collection(request_or_user: Any, slug: str) -> Collection:
    """The collection, for its managers and superusers. 404 for everybody else."""
    collection = visible_collections(request_or_user).filter(slug=slug).first()
    if collection is None:
        raise Http404("No such collection.")
    return collection


def visible_jobs(request_or_user: Any) -> QuerySet[Job]:
    """Jobs that the person asked for, and those of collections that he manages."""
    user = get_person(request_or_user)
    if not user.is_authenticated:
        return Job.objects.none()
    if user.is_superuser:
        return Job.objects.all()
    return Job.objects.filter(
        Q(created_by=user) | Q(collection__in=Collection.objects.filter(managers=user))
    )


def get_visible_job(request_or_user: Any, pk: int) -> Job:
    """The job, for whom asked for it, managers of its collection or campaign, and superusers. 404
    for everybody else."""
    user = get_person(request_or_user)
    job = Job.objects.select_related("collection", "created_by").filter(pk=pk).first()
    if job is None or not user.is_authenticated:
        raise Http404("No such job.")
    if visible_jobs(user).filter(pk=pk).exists() or any(
        rule(user, job) for rule in hooks.job_readers
    ):
        return job
    raise Http404("No such job.")

"""People whom their institution signs in: which account is theirs, and what the groups that they
are in let them do."""

from __future__ import annotations

import logging
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from annotation.models import InstitutionAccount
from annotation.services.people.accounts import PeopleError, get_profile, set_creator

log = logging.getLogger(__name__)
NO_PACKAGE_MESSAGE = (
    "OpenID Connect (ASSAY_OIDC_ISSUER) needs the package mozilla-django-oidc beside Assay: pip "
    "install mozilla-django-oidc"
)


class InstitutionIdentity(NamedTuple):
    """What the institution says of a person. subject: who it is for good; name: as the person is
    called there now."""

    subject: str
    name: str
    email: str
    groups: frozenset[str]


def sign_in_options() -> dict[str, Any]:
    """What the sign-in page offers."""
    return {
        "institution": settings.INSTITUTION,
        "by_header": bool(settings.USER_HEADER),
        "by_oidc": bool(settings.OIDC_ISSUER),
    }


def get_account(identity: InstitutionIdentity) -> User:
    """The person's account, made at the first sign-in, with the rights of today's groups.

    PeopleError with the reason where there can be none. An account that was made here is never
    handed to whom the institution calls by the same name: an administrator connects the two."""
    known = (
        InstitutionAccount.objects.select_related("user").filter(subject=identity.subject).first()
    )
    if known is None:
        user = _create_account(identity)
    else:
        user = known.user
        if not user.is_active:
            raise PeopleError(
                _("Your account is closed. Contact an administrator of this installation.")
            )
    _apply_group_rights(user, identity.groups)
    return user


def _create_account(identity: InstitutionIdentity) -> User:
    name = identity.name.strip()
    try:
        UnicodeUsernameValidator()(name)
        validate_email(identity.email or "nobody@example.org")
    except ValidationError:
        raise PeopleError(
            _(
                "Your institution sent a name or an email address that an account can't have. Contact an administrator of this installation."
            )
        ) from None
    if not name or len(name) > 150:
        raise PeopleError(
            _(
                "Your institution sent no name, or a name that is too long. Contact an administrator of this installation."
            )
        )
    taken = _(
        "An account named %(name)s already exists and is not linked to your institution. Ask an administrator to link it."
    ) % {"name": name}
    if get_user_model().objects.filter(username__iexact=name).exists():
        raise PeopleError(taken)
    try:
        with transaction.atomic():
            user = get_user_model().objects.create_user(
                username=name, email=identity.email
            )  # without a password: none is good
            InstitutionAccount.objects.create(user=user, subject=identity.subject)
            get_profile(user)
    except (
        IntegrityError
    ):  # somebody of that name, or the same person in another window, came at the same moment
        raise PeopleError(f"{taken} {_('Or try again.')}") from None
    log.warning("%s has an account by %s", user, settings.INSTITUTION)
    return user


def _apply_group_rights(user: User, groups: frozenset[str]) -> None:
    """What the settings give to groups is given and taken at every sign-in; what they do not speak
    of stays as it is."""
    if settings.CREATOR_GROUPS:
        set_creator(user, may_create=bool(groups & set(settings.CREATOR_GROUPS)), actor=None)
    if settings.ADMIN_GROUPS:
        is_administrator = bool(groups & set(settings.ADMIN_GROUPS))
        if user.is_superuser != is_administrator or user.is_staff != is_administrator:
            user.is_superuser = user.is_staff = is_administrator
            user.save(update_fields=["is_superuser", "is_staff"])
            log.warning(
                "%s is %s administrator, by the groups of %s",
                user,
                "an" if is_administrator else "no longer an",
                settings.INSTITUTION,
            )

"""Single sign-on: accounts of identities at the institution, and rights granted by groups there."""

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
    "OpenID Connect (ASSAY_OIDC_ISSUER) needs the package mozilla-django-oidc: pip "
    "install mozilla-django-oidc"
)


class InstitutionIdentity(NamedTuple):
    """The identity of a user at the institution. subject: permanent identifier. name: current
    username there."""

    subject: str
    name: str
    email: str
    groups: frozenset[str]


def sign_in_options() -> dict[str, Any]:
    """Return the sign-in options that the sign-in page offers."""
    return {
        "institution": settings.INSTITUTION,
        "by_header": bool(settings.USER_HEADER),
        "by_oidc": bool(settings.OIDC_ISSUER),
    }


def get_account(identity: InstitutionIdentity) -> User:
    """Return the user's account, created at the first sign-in, with the rights of the current
    groups.

    Raises PeopleError with the reason if no account can be created. An existing local account with
    the same name is never taken over: an administrator must connect the two.
    """
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
                "Your institution provided a name or an email address that is not valid for "
                "an account. Contact an administrator of this installation."
            )
        ) from None
    if not name or len(name) > 150:
        raise PeopleError(
            _(
                "Your institution did not provide your name, or the name is too long. Contact "
                "an administrator of this installation."
            )
        )
    taken = _(
        "An account named %(name)s already exists and is not linked to your institution. Ask an administrator to link it."
    ) % {"name": name}
    if get_user_model().objects.filter(username__iexact=name).exists():
        raise PeopleError(taken)
    try:
        with transaction.atomic():
            # without a password, so that none is valid for the account
            user = get_user_model().objects.create_user(username=name, email=identity.email)
            InstitutionAccount.objects.create(user=user, subject=identity.subject)
            get_profile(user)
    except IntegrityError:
        # another user with that name, or the same user in another window, came at the same time
        raise PeopleError(_("Another sign-in with this name was in progress. Try again.")) from None
    log.warning("%s has an account through %s", user, settings.INSTITUTION)
    return user


def _apply_group_rights(user: User, groups: frozenset[str]) -> None:
    """Grant and revoke the rights that the settings assign to groups. Other rights are
    unchanged."""
    if settings.CREATOR_GROUPS:
        set_creator(user, may_create=bool(groups & set(settings.CREATOR_GROUPS)), actor=None)
    if settings.ADMIN_GROUPS:
        is_administrator = bool(groups & set(settings.ADMIN_GROUPS))
        if user.is_superuser != is_administrator or user.is_staff != is_administrator:
            user.is_superuser = user.is_staff = is_administrator
            user.save(update_fields=["is_superuser", "is_staff"])
            log.warning(
                "%s is %s administrator, according to the groups of %s",
                user,
                "an" if is_administrator else "no longer an",
                settings.INSTITUTION,
            )

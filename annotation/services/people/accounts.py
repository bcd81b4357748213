"""Invitations, members, accounts and sign-in links."""

from __future__ import annotations

import csv
import io
import logging
import re
import secrets
from datetime import datetime
from typing import NamedTuple

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.core.exceptions import ValidationError
from django.core.mail import get_connection, send_mail
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.db.models import F, Q
from django.utils import timezone, translation
from django.utils.http import urlsafe_base64_decode, urlsafe_base64_encode
from django.utils.translation import gettext as _

from annotation import languages
from annotation.core.audit_actions import AuditAction
from annotation.models import Campaign, Invitation, Membership, Message, Profile
from annotation.services.audit import record_event
from annotation.services.errors import CampaignError
from annotation.services.judging import leases
from annotation.services.people.messages import MAIL_ERRORS
from assay.formats.errors import FileProblem, FormatError
from assay.labels.annotator_types import AnnotatorType

log = logging.getLogger(__name__)
CODE_ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # without letters that look like digits
MAX_NAMES = 5000
LONGEST_NAME, LONGEST_EMAIL = 200, 254
"""Maximum lengths in an invitation's columns."""
MAX_NOTE = 2000


class PeopleError(Exception):
    """Raised for an error that the user can fix. The message is one sentence for display."""


class InvitedPerson(NamedTuple):
    invitation: Invitation
    name: str
    email: str


def create_invitation(
    *,
    campaign: Campaign,
    actor: User | None,
    role: str = Membership.Role.ANNOTATOR,
    name: str = "",
    email: str = "",
    max_uses: int | None = None,
    expires_at: datetime | None = None,
) -> Invitation:
    """Create an invitation with a link and a code. It is personal if `max_uses` is 1, and valid for
    six months if `expires_at` is omitted."""
    for _try in range(10):
        code = "".join(secrets.choice(CODE_ALPHABET) for _place in range(8))
        try:
            with transaction.atomic():
                invitation = Invitation.objects.create(
                    campaign=campaign,
                    role=role,
                    name=name,
                    email=email,
                    max_uses=max_uses,
                    expires_at=expires_at,
                    code=code,
                    created_by=actor,
                )
                record_event(
                    campaign,
                    actor,
                    AuditAction.INVITED,
                    name or "anyone with the link",
                    role=role,
                    uses=max_uses,
                    invitation=invitation.pk,
                )
                return invitation
        except IntegrityError:
            continue  # the code is in use
    raise RuntimeError("no free invitation code in ten tries")


def read_names(text: str, *, file: str = "names.csv") -> list[tuple[str, str]]:
    """Read (name, email) from CSV: one column of names, or a header with `name` and optionally
    `email`.

    Raises FormatError with every empty name, malformed or repeated address, and if there are too
    many rows.
    """
    text = text.removeprefix("\ufeff")
    first = text.lstrip().partition("\n")[0]
    delimiter = max("\t,;", key=first.count)
    try:  # newline: lines of old Mac files end with a carriage return only
        table = list(csv.reader(io.StringIO(text, newline=None), delimiter=delimiter))
    except csv.Error as error:
        raise FormatError.single(
            file,
            None,
            f"not a table ({error})",
            "one name per line, or a header with name and email",
        ) from None
    rows = [
        (number, [cell.strip() for cell in row])
        for number, row in enumerate(table, start=1)
        if any(row)
    ]
    if not rows:
        raise FormatError.single(
            file, None, "no names", "one name per line, or a header with name and email"
        )
    header = [cell.lower() for cell in rows[0][1]]
    if "name" in header or "email" in header:
        name_at, email_at = (header.index(k) if k in header else None for k in ("name", "email"))
        rows = rows[1:]
    else:
        name_at, email_at = 0, 1 if len(header) > 1 else None
    people: list[tuple[str, str]] = []
    problems: list[FileProblem] = []
    seen: set[str] = set()
    for number, cells in rows:
        name = cells[name_at] if name_at is not None and name_at < len(cells) else ""
        email = cells[email_at] if email_at is not None and email_at < len(cells) else ""
        if not name and not email:
            problems.append(
                FileProblem(number, "missing name and email address", "a name", ",".join(cells))
            )
            continue
        if len(name) > LONGEST_NAME or len(email) > LONGEST_EMAIL:
            limits = f"at most {LONGEST_NAME} and {LONGEST_EMAIL} characters"
            problems.append(
                FileProblem(
                    number, "name or email address is too long", limits, ",".join(cells)[:200]
                )
            )
            continue
        if email:
            try:
                validate_email(email)
            except ValidationError:
                problems.append(
                    FileProblem(
                        number,
                        f"{email!r} is not an email address",
                        "an address such as ada@example.org",
                        ",".join(cells),
                    )
                )
                continue
            if email.lower() in seen:
                problems.append(
                    FileProblem(
                        number, f"{email} appears twice", "each address once", ",".join(cells)
                    )
                )
                continue
            seen.add(email.lower())
        people.append((name or email.partition("@")[0], email))
    if len(people) > MAX_NAMES:
        problems.append(FileProblem(None, f"{len(people)} names", f"at most {MAX_NAMES} at once"))
    if problems:
        raise FormatError(file, problems)
    return people


@transaction.atomic
def create_invitations(
    *,
    campaign: Campaign,
    actor: User | None,
    people: list[tuple[str, str]],
    expires_at: datetime | None = None,
) -> list[InvitedPerson]:
    """Create a personal invitation, valid for one use, for each (name, email)."""
    return [
        InvitedPerson(
            create_invitation(
                campaign=campaign,
                actor=actor,
                name=name,
                email=email,
                max_uses=1,
                expires_at=expires_at,
            ),
            name,
            email,
        )
        for name, email in people
    ]


def revoke_invitation(*, invitation: Invitation, actor: User | None) -> None:
    invitation.revoked_at = timezone.now()
    invitation.save(update_fields=["revoked_at"])
    record_event(invitation.campaign, actor, AuditAction.WITHDREW_AN_INVITATION, str(invitation))


def find_invitation(*, token: str = "", code: str = "") -> Invitation:
    """Return the invitation for a link's token or a typed code. Raises PeopleError with the reason
    if it is not valid."""
    query = Q(token=token) if token else Q(code=re.sub(r"[^A-Z0-9]", "", code.upper()))
    invitation = (
        Invitation.objects.select_related("campaign").filter(query).first()
        if token or code
        else None
    )
    if invitation is None:
        raise PeopleError(
            _("Invitation not found. Check the link or the code, or ask the person who sent it.")
        )
    if invitation.revoked_at:
        raise PeopleError(
            _("This invitation has been withdrawn. Ask the person who sent it for a new one.")
        )
    if invitation.ends_at <= timezone.now():
        raise PeopleError(
            _("This invitation has expired. Ask the person who sent it for a new one.")
        )
    if invitation.max_uses is not None and invitation.n_uses >= invitation.max_uses:
        raise PeopleError(
            _(
                "This invitation has already been used. If you used it, sign in. Otherwise ask for a new one."
            )
        )
    return invitation


def join_campaign(*, invitation: Invitation, user: User) -> Membership:
    """Make the user a member. Joining again changes nothing. Raises PeopleError if the invitation
    has been used up."""
    existing = Membership.objects.filter(campaign=invitation.campaign, user=user).first()
    if existing is not None:
        return existing
    for _try in range(20):
        try:
            with transaction.atomic():
                free = Q(max_uses__isnull=True) | Q(n_uses__lt=F("max_uses"))
                if not Invitation.objects.filter(free, pk=invitation.pk, revoked_at=None).update(
                    n_uses=F("n_uses") + 1
                ):
                    raise PeopleError(
                        _("This invitation has already been used. Ask for a new one.")
                    )
                return add_member(
                    campaign=invitation.campaign,
                    user=user,
                    role=invitation.role,
                    invitation=invitation,
                )
        except IntegrityError:
            existing = Membership.objects.filter(campaign=invitation.campaign, user=user).first()
            if existing is not None:
                # The same user joined in another window. The failed insert was rolled back together
                # with
                # the use of the invitation.
                return existing
    raise RuntimeError("no free pseudonym in twenty tries")


def add_member(
    *,
    campaign: Campaign,
    user: User,
    role: str,
    annotator_type: str = AnnotatorType.HUMAN,
    pseudonym: str = "",
    invitation: Invitation | None = None,
) -> Membership:
    """Create a membership under the given or a free pseudonym. Raises IntegrityError if another
    transaction takes it at the same time."""
    membership = Membership.objects.create(
        campaign=campaign,
        user=user,
        role=role,
        pseudonym=pseudonym or next_pseudonym(campaign, role),
        annotator_type=annotator_type,
        seed=secrets.randbelow(2**62),
    )
    by = {"invitation": invitation.pk} if invitation else {}
    record_event(campaign, user, AuditAction.JOINED, membership.pseudonym, role=role, **by)
    if annotator_type == AnnotatorType.SIMULATED and not campaign.simulated:
        campaign.annotator_type = AnnotatorType.SIMULATED
        campaign.save(update_fields=["annotator_type"])
    return membership


def remove_member(membership: Membership, *, actor: User | None) -> None:
    """Remove an annotator or viewer from the campaign and keep the account, except that of a guest.
    Raises CampaignError for managers and for annotators who have judged."""
    with transaction.atomic():
        member = (
            Membership.objects.select_for_update().select_related("campaign").get(pk=membership.pk)
        )
        if member.role == Membership.Role.MANAGER:
            raise CampaignError(
                _("%(pseudonym)s is a manager and can't be removed.")
                % {"pseudonym": member.pseudonym}
            )
        if member.judgements.exists():
            says = _(
                "%(pseudonym)s has judgements and can't be removed. Exclude or pause the annotator instead."
            )
            raise CampaignError(says % {"pseudonym": member.pseudonym})
        leases.release_leases(member)
        viewer = member.role == Membership.Role.VIEWER
        record_event(
            member.campaign,
            actor,
            AuditAction.REMOVED_A_VIEWER if viewer else AuditAction.REMOVED_AN_ANNOTATOR,
            member.pseudonym,
        )
        (member.user if member.is_guest else member).delete()


def next_pseudonym(campaign: Campaign, role: str) -> str:
    """Return the first free pseudonym: `A001`, `A002`, … for annotators, `M01` for managers and
    `V01` for viewers."""
    letter, width = {
        Membership.Role.MANAGER.value: ("M", 2),
        Membership.Role.VIEWER.value: ("V", 2),
    }.get(role, ("A", 3))
    taken = set(
        campaign.memberships.filter(pseudonym__startswith=letter).values_list(
            "pseudonym", flat=True
        )
    )
    number = len(taken) + 1
    while f"{letter}{number:0{width}d}" in taken:
        number += 1
    return f"{letter}{number:0{width}d}"


def send_message(*, membership: Membership, text: str, actor: User | None) -> Message:
    """Send a message that the judging page shows until the annotator has read it. Raises
    CampaignError if it is empty."""
    if not text.strip():
        raise CampaignError(_("Enter a message."))
    message = Message.objects.create(
        membership=membership, text=text.strip()[:5000], created_by=actor
    )
    record_event(
        membership.campaign,
        actor,
        AuditAction.SENT_A_MESSAGE,
        membership.pseudonym,
        text=message.text,
    )
    return message


def write_note(membership: Membership, text: str, *, actor: User | None) -> None:
    """Save the managers' note on an annotator. An empty text removes it. The audit log records
    the change but not the text."""
    text = text.strip()[:MAX_NOTE]
    if membership.note != text:
        membership.note = text
        membership.save(update_fields=["note"])
        record_event(membership.campaign, actor, AuditAction.WROTE_A_NOTE, membership.pseudonym)


def register_account(
    *, invitation: Invitation, username: str, password: str, email: str = ""
) -> Membership:
    """Create an account with a profile and join the campaign. Raises PeopleError if the invitation
    is no longer valid, and then creates nothing.

    The form has validated name and password. The password is hashed before the transaction, because
    hashing is slow.
    """
    people, hashed = get_user_model(), make_password(password)
    user = people(
        username=people.normalize_username(username),
        password=hashed,
        email=people.objects.normalize_email(email),
    )
    with transaction.atomic():
        _save_new_user(user)
        return join_campaign(invitation=invitation, user=user)


def create_account(
    *,
    username: str,
    email: str = "",
    password: str | None = None,
    is_administrator: bool = False,
    may_create: bool = False,
) -> User:
    """Create an account with a profile and without a campaign. Without a password, it can be
    opened by a sign-in link only. Raises PeopleError if the username is taken.

    A form has validated name, address and password.
    """
    people = get_user_model()
    user = people(
        username=people.normalize_username(username),
        password=make_password(password),
        email=people.objects.normalize_email(email),
        is_staff=is_administrator,
        is_superuser=is_administrator,
    )
    with transaction.atomic():
        _save_new_user(user)
        if may_create:
            set_creator(user, may_create=True, actor=None)
    return user


def _save_new_user(user: User) -> None:
    """Save a new account with a profile. Raises PeopleError if the username is taken."""
    try:
        with transaction.atomic():
            user.save(force_insert=True)
    except IntegrityError:  # another user took the name after the validation
        raise PeopleError(
            _("This username is taken. If it is yours, sign in. Otherwise choose another one.")
        ) from None
    Profile.objects.create(user=user)


def set_creator(user: User, *, may_create: bool, actor: User | None) -> None:
    """Grant or revoke the right to create collections and campaigns. Existing ones are kept."""
    profile = get_profile(user)
    if profile.may_create != may_create:
        profile.may_create = may_create
        profile.save(update_fields=["may_create"])
        log.warning(
            "%s %s create campaigns, set by %s",
            user,
            "may" if may_create else "may no longer",
            actor or "the command line",
        )


def set_language(user: User, code: str) -> None:
    """Set the language of annotators' pages and emails for this user. code: see
    annotation.languages.known_language."""
    profile = get_profile(user)
    profile.language = code
    profile.save(update_fields=["language"])


def notify_old_address(user: User, old: str) -> None:
    """Send a notice to the account's former address. Raises MAIL_ERRORS."""
    with translation.override(languages.user_language(user)):
        subject = _("Your email address has been changed")
        text = _(
            "Hello %(name)s,\n\n"
            "The email address of your account has been changed. No more emails will be sent to this "
            "address. If you did not make this change, contact the administrator of this "
            "installation at once.\n"
        ) % {"name": user.get_username()}
    send_mail(subject, text, settings.DEFAULT_FROM_EMAIL, [old])


def get_profile(user: User) -> Profile:
    return Profile.objects.get_or_create(user=user)[0]


class SignInLinks(PasswordResetTokenGenerator):
    """Tokens of sign-in links. A link is valid once, because a sign-in changes last_login, and for
    30 minutes."""

    key_salt = "annotation.services.people.accounts.SignInLinks"
    minutes = 30

    def _make_hash_value(self, user: User, timestamp: int) -> str:
        """Include microseconds of last_login. Django uses seconds, so a link would remain valid
        within the same second."""
        return f"{super()._make_hash_value(user, timestamp)}{user.last_login}"

    def check_token(self, user: User | None, token: str | None) -> bool:
        if not super().check_token(user, token):
            return False
        moment = int((token or "0").partition("-")[0], 36)
        return self._num_seconds(self._now()) - moment <= self.minutes * 60


sign_in_links = SignInLinks()


def sign_in_path(user: User) -> str:
    """Return `<user>/<token>`, the end of the URL that signs in this user."""
    return f"{urlsafe_base64_encode(str(user.pk).encode())}/{sign_in_links.make_token(user)}"


def get_sign_in_link_user(identifier: str, token: str) -> User | None:
    try:
        user = get_user_model().objects.get(
            pk=int(urlsafe_base64_decode(identifier)), is_active=True
        )
    except (ValueError, OverflowError, get_user_model().DoesNotExist):
        return None
    return user if sign_in_links.check_token(user, token) else None


def use_sign_in_link(user: User) -> bool:
    """Use up a sign-in link. Returns False if a concurrent request has used it. user: as read by
    `get_sign_in_link_user`."""
    rows = get_user_model().objects.filter(pk=user.pk, last_login=user.last_login)
    return bool(rows.update(last_login=timezone.now()))


def send_sign_in_link(*, email: str, address: str) -> None:
    """Send a link to every active account with this address, except single sign-on accounts. Does
    nothing if there is none, so that addresses cannot be probed. Raises MAIL_ERRORS.

    address: absolute URL prefix to which `<user>/<token>` is added.
    """
    connection = get_connection()
    connection.open()
    for user in (
        get_user_model()
        .objects.filter(email__iexact=email, is_active=True, institution=None)
        .exclude(email="")
        .select_related("profile")
    ):
        with translation.override(languages.user_language(user)):
            subject = _("Your sign-in link")
            text = _(
                "Hello %(name)s,\n\n"
                "Use this link to sign in. It works once and expires in %(minutes)s minutes:\n\n%(link)s\n\n"
                "If you did not request it, ignore this email.\n"
            ) % {
                "name": user.get_username(),
                "minutes": sign_in_links.minutes,
                "link": address + sign_in_path(user),
            }
        try:
            send_mail(
                subject, text, settings.DEFAULT_FROM_EMAIL, [user.email], connection=connection
            )
        except MAIL_ERRORS:
            log.exception("no sign-in link could be sent to %s", user)
    connection.close()

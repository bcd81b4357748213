"""Invitations, joining, accounts and sign-in links."""

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
from assay.labels.judges import JudgeKind

log = logging.getLogger(__name__)
CODE_ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # no letters that look like digits
MAX_NAMES = 5000
LONGEST_NAME, LONGEST_EMAIL = 200, 254
"""Of an invitation's columns."""
MAX_NOTE = 2000


class PeopleError(Exception):
    """A person's mistake, as one sentence that can be shown."""


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
    """An invitation by link and by code; for one person when `max_uses` is 1. Without `expires_at`
    it is good for half a year."""
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
            continue  # the code is taken
    raise RuntimeError("no free invitation code in ten tries")


def read_names(text: str, *, file: str = "names.csv") -> list[tuple[str, str]]:
    """(name, email) from CSV: a column of names, or a header with `name` and optionally `email`.

    Raises FormatError with every mistake: an empty name, a malformed or repeated address, too many
    rows."""
    text = text.removeprefix("\ufeff")
    first = text.lstrip().partition("\n")[0]
    delimiter = max("\t,;", key=first.count)
    try:  # newline: a line of an old Mac ends with a carriage return alone
        table = list(csv.reader(io.StringIO(text, newline=None), delimiter=delimiter))
    except csv.Error as error:
        raise FormatError.single(
            file,
            None,
            f"not a table ({error})",
            "one name in each line, or a header with name and email",
        ) from None
    rows = [
        (number, [cell.strip() for cell in row])
        for number, row in enumerate(table, start=1)
        if any(row)
    ]
    if not rows:
        raise FormatError.single(
            file, None, "no names", "one name in each line, or a header with name and email"
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
                FileProblem(number, "neither name nor address", "a name", ",".join(cells))
            )
            continue
        if len(name) > LONGEST_NAME or len(email) > LONGEST_EMAIL:
            limits = f"at most {LONGEST_NAME} and {LONGEST_EMAIL} characters"
            problems.append(
                FileProblem(
                    number, "a name or address that is too long", limits, ",".join(cells)[:200]
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
    """A personal invitation, good for one use, for each (name, email)."""
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
    record_event(invitation.campaign, actor, AuditAction.REVOKED_AN_INVITATION, str(invitation))


def find_invitation(*, token: str = "", code: str = "") -> Invitation:
    """The invitation behind a link's token or a typed code. Raises PeopleError with the reason when
    it is no longer good."""
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
    """Make the user a member; joining twice changes nothing. Raises PeopleError when the invitation
    is used up meanwhile."""
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
                # the same person joined in another window; the use was rolled back with the failed
                # insert
                return existing
    raise RuntimeError("no free pseudonym in twenty tries")


def add_member(
    *,
    campaign: Campaign,
    user: User,
    role: str,
    judge_kind: str = JudgeKind.PERSON,
    pseudonym: str = "",
    invitation: Invitation | None = None,
) -> Membership:
    """A new membership under this pseudonym, or a free one (IntegrityError when somebody else took
    it at the same moment)."""
    membership = Membership.objects.create(
        campaign=campaign,
        user=user,
        role=role,
        pseudonym=pseudonym or next_pseudonym(campaign, role),
        judge_kind=judge_kind,
        seed=secrets.randbelow(2**62),
    )
    by = {"invitation": invitation.pk} if invitation else {}
    record_event(campaign, user, AuditAction.JOINED, membership.pseudonym, role=role, **by)
    if judge_kind == JudgeKind.SIMULATED and not campaign.simulated:
        campaign.judge_kind = JudgeKind.SIMULATED
        campaign.save(update_fields=["judge_kind"])
    return membership


def remove_member(membership: Membership, *, actor: User | None) -> None:
    """The person is no annotator or viewer of the campaign any more; the account stays.
    CampaignError for who has judged, or manages."""
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
        member.delete()


def next_pseudonym(campaign: Campaign, role: str) -> str:
    """`A001`, `A002`, … for annotators, `M01` for managers and `V01` for viewers: the first number
    not taken."""
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
    """A message that the annotator sees on the judging page until it is read. CampaignError when it
    is empty."""
    if not text.strip():
        raise CampaignError(_("Enter a message."))
    message = Message.objects.create(
        membership=membership, text=text.strip()[:5000], created_by=actor
    )
    record_event(
        membership.campaign,
        actor,
        AuditAction.WROTE_A_MESSAGE,
        membership.pseudonym,
        text=message.text,
    )
    return message


def write_note(membership: Membership, text: str, *, actor: User | None) -> None:
    """What the managers want to remember of the annotator; empty takes the note away. The trail
    says that there is one, not what it says."""
    text = text.strip()[:MAX_NOTE]
    if membership.note != text:
        membership.note = text
        membership.save(update_fields=["note"])
        record_event(membership.campaign, actor, AuditAction.WROTE_A_NOTE, membership.pseudonym)


def register_account(
    *, invitation: Invitation, username: str, password: str, email: str = ""
) -> Membership:
    """A new account with its profile, and a member; who comes too late for the invitation
    (PeopleError) gets neither. The form has validated name and password, whose hash takes a while
    and is therefore made before the transaction."""
    people, hashed = get_user_model(), make_password(password)
    user = people(
        username=people.normalize_username(username),
        password=hashed,
        email=people.objects.normalize_email(email),
    )
    with transaction.atomic():
        try:
            user.save(force_insert=True)
        except IntegrityError:  # somebody else took the name after the form had looked
            raise PeopleError(
                _("This username is taken. If it is yours, sign in. Otherwise choose another one.")
            ) from None
        Profile.objects.create(user=user)
        return join_campaign(invitation=invitation, user=user)


def set_creator(user: User, *, may_create: bool, actor: User | None) -> None:
    """Give the right to make collections and campaigns, or take it back; what was made stays."""
    profile = get_profile(user)
    if profile.may_create != may_create:
        profile.may_create = may_create
        profile.save(update_fields=["may_create"])
        log.warning(
            "%s %s make campaigns, says %s",
            user,
            "may" if may_create else "may no longer",
            actor or "the command line",
        )


def set_language(user: User, code: str) -> None:
    """What the pages of the annotator's way, and mails to this person, are written in. code:
    annotation.languages.known_language"""
    profile = get_profile(user)
    profile.language = code
    profile.save(update_fields=["language"])


def notify_old_address(user: User, old: str) -> None:
    """Mail to the address that the account no longer has. Raises MAIL_FAILS."""
    with translation.override(languages.user_language(user)):
        subject = _("Your email address has been changed")
        text = _(
            "Hello %(name)s,\n\n"
            "the email address of your account has been changed. No more emails will be sent to this "
            "address. If you did not make this change, contact the administrator of this "
            "installation at once.\n"
        ) % {"name": user.get_username()}
    send_mail(subject, text, settings.DEFAULT_FROM_EMAIL, [old])


def get_profile(user: User) -> Profile:
    return Profile.objects.get_or_create(user=user)[0]


class SignInLinks(PasswordResetTokenGenerator):
    """Links that sign one in: good once (a sign-in changes last_login) and for half an hour."""

    key_salt = "annotation.services.people.accounts.SignInLinks"
    minutes = 30

    def _make_hash_value(self, user: User, timestamp: int) -> str:
        """To the microsecond: of last_login Django takes the second, so that within one a link was
        good again."""
        return f"{super()._make_hash_value(user, timestamp)}{user.last_login}"

    def check_token(self, user: User | None, token: str | None) -> bool:
        if not super().check_token(user, token):
            return False
        moment = int((token or "0").partition("-")[0], 36)
        return self._num_seconds(self._now()) - moment <= self.minutes * 60


sign_in_links = SignInLinks()


def sign_in_path(user: User) -> str:
    """`<user>/<token>`: the end of the address that signs this person in."""
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
    """Whether it is this one's turn: of several who open the same link at once one signs in. user:
    as `get_sign_in_link_user` read it."""
    rows = get_user_model().objects.filter(pk=user.pk, last_login=user.last_login)
    return bool(rows.update(last_login=timezone.now()))


def send_sign_in_link(*, email: str, address: str) -> None:
    """Mail a link to every active account with this address (but those that the institution signs
    in); silent when there is none, so that nobody can probe for addresses. Raises MAIL_FAILS where
    the mail server is away.

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
                "use this link to sign in. It works once and expires in %(minutes)s minutes:\n\n%(link)s\n\n"
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
            log.exception("no sign-in link could be mailed to %s", user)
    connection.close()

"""Pages of the user's own account: details, password, sessions and tokens."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from annotation.forms import AccountForm, AccountOwner, PasswordForm, TokenForm
from annotation.languages import SESSION_KEY, request_language
from annotation.models import ApiTokenRow, Guest, InstitutionAccount, OpenSession, Profile
from annotation.permissions import is_manager
from annotation.services.people import account_mails, accounts, sessions, tokens
from pooling import tasks
from pooling.permissions import SignedInRequest
from pooling.platform.requests import parse_row_id


@sensitive_post_parameters("current", "new", "password")
@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def account(request: SignedInRequest) -> HttpResponse:
    user, profile = request.user, accounts.get_profile(request.user)
    if Guest.objects.filter(membership__user=user).exists():
        raise PermissionDenied(_("Participants from a panel have no account settings."))
    action = request.POST.get("action", "")
    initial = {
        "email": user.email,
        "time_zone": profile.time_zone,
        "language": profile.language,
        "to_do_mail": bool(profile.to_do_address),
    }
    by_institution = InstitutionAccount.objects.filter(
        user=user
    ).exists()  # single sign-on accounts cannot get another way to sign in, not even by link
    owner = AccountOwner(user, came_now=sessions.has_just_signed_in(request, user))
    details = AccountForm(
        request.POST if action == "details" else None,
        initial=initial,
        owner=None if by_institution else owner,
    )
    password = PasswordForm(
        owner, request.POST if action == "password" and not by_institution else None
    )
    token_form = TokenForm(request.POST if action == "token" else None)
    new_token = ""
    if action == "details" and details.is_valid():
        _change_details(request, profile, details)
        return redirect("account")
    if action == "password" and password.is_valid():
        _change_password(request, password)
        return redirect("account")
    if action == "drop-token":
        ApiTokenRow.objects.filter(user=user, pk=parse_row_id(request.POST.get("token"))).delete()
        messages.success(request, _("Token revoked."))
        return redirect("account")
    if action in ("end-session", "end-others"):
        _end_sessions(request, action)
        return redirect("account")
    if action == "token" and token_form.is_valid():
        new_token = _make_token(request, token_form)
    context = {
        "details": details,
        "manages": is_manager(request),
        "by_institution": settings.INSTITUTION if by_institution else "",
        "password": password,
        "sessions": sessions.get_open_sessions(user),
        "this_session": request.session.session_key,
        "token_form": token_form,
        "tokens": user.api_tokens.order_by("-created_at"),
        "new_token": new_token,
    }
    bad = any(form.is_bound and form.errors for form in (details, password, token_form))
    return render(request, "annotation/account.html", context, status=400 if bad else 200)


def _change_details(request: SignedInRequest, profile: Profile, form: AccountForm) -> None:
    if (job := account_mails.change_address(request.user, form.cleaned_data["email"])) is not None:
        tasks.send(job)
    profile.time_zone = form.cleaned_data["time_zone"]
    profile.language = form.cleaned_data["language"]
    profile.to_do_address = (
        request.build_absolute_uri("/") if form.cleaned_data["to_do_mail"] else ""
    )
    profile.save(update_fields=["time_zone", "language", "to_do_address"])
    request.session["time_zone"], request.session[SESSION_KEY] = profile.time_zone, profile.language
    translation.activate(request_language(request))
    messages.success(request, _("Saved."))


def _change_password(request: SignedInRequest, form: PasswordForm) -> None:
    request.user.set_password(form.cleaned_data["new"])
    request.user.save(update_fields=["password"])
    update_session_auth_hash(request, request.user)
    sessions.remember_session(request, request.user)
    n = sessions.end_sessions(_other_sessions(request))
    messages.success(
        request,
        _("Password changed. All other browsers have been signed out.")
        if n
        else _("Password changed."),
    )


def _other_sessions(request: SignedInRequest) -> QuerySet[OpenSession]:
    """Return the user's sessions except the current one."""
    return sessions.get_open_sessions(request.user).exclude(session=request.session.session_key)


def _end_sessions(request: SignedInRequest, action: str) -> None:
    rows = _other_sessions(request)
    n = sessions.end_sessions(
        rows.filter(pk=parse_row_id(request.POST.get("session")))
        if action == "end-session"
        else rows
    )
    messages.success(
        request,
        ngettext("One browser has been signed out.", "%(n)s browsers have been signed out.", n)
        % {"n": n}
        if n
        else _("No other browser was signed in."),
    )


def _make_token(request: SignedInRequest, form: TokenForm) -> str:
    """Create a token. If there are too many, add an error to the form and return an empty
    string."""
    wanted = form.cleaned_data
    try:
        return tokens.create_api_token(
            user=request.user,
            name=wanted["name"],
            scopes=wanted["scopes"],
            days=int(wanted["days"]),
        )
    except accounts.PeopleError as error:
        form.add_error(None, str(error))
        return ""

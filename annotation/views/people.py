"""Pages for signing in and out, joining a campaign, the home page, and rights of users."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import authenticate, get_user_model, login, logout
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from annotation import languages
from annotation.forms import CodeForm, LinkForm, RegisterForm, SignInForm
from annotation.models import Membership
from annotation.selectors.annotator_quotas import annotator_quota
from annotation.services.errors import CampaignError
from annotation.services.people import account_mails, attempts, single_sign_on
from annotation.services.people import accounts as people
from annotation.services.people import messages as mails
from annotation.services.people.attempts import hashing_slot
from pooling import tasks
from pooling.api import problems
from pooling.permissions import SignedInRequest, require_administrator
from pooling.platform.listing import ListPage, RowFilter
from pooling.platform.page_files import render_page
from pooling.platform.requests import client_address, parse_row_id
from pooling.platform.unavailable import ProcessBusy, retry_after_seconds

LINK_BACKEND = "django.contrib.auth.backends.ModelBackend"


def next_page(request: HttpRequest) -> str:
    target = request.POST.get("next") or request.GET.get("next") or ""
    return (
        target
        if url_has_allowed_host_and_scheme(target, {request.get_host()}, request.is_secure())
        else reverse("home")
    )


def start_session(request: HttpRequest, user: User) -> None:
    """Start a session under a new key, even if the same user was signed in, because Django would
    then keep the key."""
    if request.user.is_authenticated:
        request.session.cycle_key()
    login(request, user, backend=LINK_BACKEND)
    profile = people.get_profile(user)
    request.session["time_zone"] = profile.time_zone
    request.session[languages.SESSION_KEY] = profile.language or languages.known_language(
        request.COOKIES.get(settings.LANGUAGE_COOKIE_NAME)
    )


def _remember_browser(user: User, response: HttpResponse) -> HttpResponse:
    """Mark the browser as known to this account, so that failed attempts of others do not lock it
    out."""
    secure = settings.SESSION_COOKIE_SECURE
    response.set_cookie(
        attempts.COOKIE,
        attempts.make_browser_cookie(user),
        max_age=attempts.COOKIE_SECONDS,
        secure=secure,
        httponly=True,
        samesite="Lax",
        path="/sign-in",
    )
    return response


@sensitive_post_parameters("password")
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    """Show the sign-in page. For JSON requests from the judging page's dialog, it answers 204, 400
    or 503."""
    wants_json = "application/json" in request.headers.get("Accept", "")
    form, status, headers = SignInForm(request.POST or None), 200, dict[str, str]()
    if request.method == "POST":
        try:
            user = _authenticate(request, form) if form.is_valid() else None
            status = 400
        except ProcessBusy as busy:
            form.add_error(None, str(busy))
            user, status, headers = None, 503, {"Retry-After": str(retry_after_seconds())}
        if user is not None:
            return _remember_browser(
                user,
                HttpResponse(status=204)
                if wants_json
                else HttpResponseRedirect(next_page(request)),
            )
    if wants_json:
        code, message = (
            "busy" if status == 503 else "not_signed_in",
            " ".join(map(str, form.non_field_errors())),
        )
        problem = problems.problem_body(
            max(400, status), code, message or _("Enter your username and password.")
        )
        return JsonResponse(
            problem, status=problem["status"], content_type=problems.CONTENT_TYPE, headers=headers
        )
    if request.user.is_authenticated and request.method != "POST":
        return HttpResponseRedirect(next_page(request))
    if request.headers.get("HX-Request"):
        # a partial update was redirected here: the page remains and shows a notice
        answer = render_page(request, "annotation/_signed_out.html")
        for name, value in (
            ("Retarget", "#signed-out"),
            ("Reselect", "unset"),
            ("Reswap", "innerHTML"),
        ):
            answer.headers[f"HX-{name}"] = value
        return answer
    page = render_page(
        request,
        "annotation/sign_in.html",
        {"form": form, "next": next_page(request), **single_sign_on.sign_in_options()},
        status=status,
    )
    return _add_headers(page, headers)


def _add_headers(response: HttpResponse, headers: dict[str, str]) -> HttpResponse:
    for name, value in headers.items():
        response.headers[name] = value
    return response


def _authenticate(request: HttpRequest, form: SignInForm) -> User | None:
    """Sign in the account of the valid form. If it is refused, add the reason to the form and
    return None. Raises ProcessBusy if too many users are signing in."""
    username = form.cleaned_data["username"]
    with hashing_slot():
        attempt = attempts.SignInAttempt(
            username,
            address=client_address(request),
            cookie=request.COOKIES.get(attempts.COOKIE, ""),
        )
        if attempt.is_refused():
            form.add_error(None, _("Too many failed attempts. Wait five minutes and try again."))
            return None
        user: User | None = authenticate(
            request, username=username, password=form.cleaned_data["password"]
        )
        if user is None:
            attempt.record_failure()
            form.add_error(None, _("Username and password do not match. Both are case-sensitive."))
            return None
    attempt.record_success()
    start_session(request, user)
    return user


@require_POST
def choose_language(request: HttpRequest) -> HttpResponse:
    """Set the language for this browser and, if signed in, for the account."""
    code = languages.known_language(request.POST.get("language"))
    home = (
        next_page(request)
        if request.user.is_authenticated or request.POST.get("next")
        else reverse("sign-in")
    )
    response = HttpResponseRedirect(home)
    if code:
        if request.user.is_authenticated:
            people.set_language(request.user, code)
        request.session[languages.SESSION_KEY] = code
        response.set_cookie(
            settings.LANGUAGE_COOKIE_NAME,
            code,
            max_age=settings.LANGUAGE_COOKIE_AGE,
            secure=settings.LANGUAGE_COOKIE_SECURE,
            samesite="Lax",
        )
    return response


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    logout(request)
    messages.success(request, _("You are signed out."))
    return redirect("sign-in")


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def ask_for_link(request: HttpRequest) -> HttpResponse:
    form, told = LinkForm(request.POST or None), {"printed": mails.is_console_backend()}
    if request.method == "POST" and form.is_valid():
        if attempts.can_send_mail(form.cleaned_data["email"], address=client_address(request)):
            try:
                job = account_mails.request_sign_in_link(
                    email=form.cleaned_data["email"],
                    address=request.build_absolute_uri("/sign-in/link/"),
                )
                if job is not None:
                    tasks.send(job)
            except CampaignError as error:
                form.add_error("email", str(error))
                return render_page(
                    request, "annotation/link_ask.html", {**told, "form": form}, status=503
                )
        return render_page(
            request,
            "annotation/link_sent.html",
            {**told, "email": form.cleaned_data["email"], "minutes": people.sign_in_links.minutes},
        )
    return render_page(
        request,
        "annotation/link_ask.html",
        {**told, "form": form},
        status=400 if form.errors else 200,
    )


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def use_link(request: HttpRequest, identifier: str, token: str) -> HttpResponse:
    """Sign in by link. A GET asks for confirmation, because mail scanners follow links, and the
    POST signs in."""
    user = people.get_sign_in_link_user(identifier, token)
    if user is None or (request.method == "POST" and not people.use_sign_in_link(user)):
        return render_page(request, "annotation/link_bad.html", status=410)
    if request.method == "POST":
        start_session(request, user)
        return _remember_browser(user, redirect("home"))
    return render_page(request, "annotation/link_use.html", {"name": user.get_username()})


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def join_by_code(request: HttpRequest) -> HttpResponse:
    form = CodeForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        code = attempts.CodeAttempt(
            request.user if request.user.is_authenticated else None, address=client_address(request)
        )
        try:
            if code.is_refused():
                raise people.PeopleError(
                    _("Too many wrong codes. Wait five minutes, or open your invitation link.")
                )
            return redirect("join", people.find_invitation(code=form.cleaned_data["code"]).token)
        except people.PeopleError as error:
            code.record_failure()
            form.add_error("code", str(error))
    return render_page(
        request, "annotation/join_code.html", {"form": form}, status=400 if form.errors else 200
    )


@sensitive_post_parameters("password")
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def join(request: HttpRequest, token: str) -> HttpResponse:
    """Join a campaign by invitation. Signed-in users confirm, and others sign in or create an
    account."""
    try:
        invitation = people.find_invitation(token=token)
    except people.PeopleError as error:
        return render_page(request, "annotation/join_bad.html", {"reason": str(error)}, status=410)
    campaign = invitation.campaign
    form = None
    member = request.user if request.user.is_authenticated else None
    if member is not None:
        existing = Membership.objects.filter(campaign=campaign, user=member).first()
        if existing is not None:
            return redirect(_start_url(existing))
    else:
        form = RegisterForm(request.POST or None, initial={"email": invitation.email})
    status, headers = 400 if form is not None and form.errors else 200, dict[str, str]()
    if request.method == "POST" and (form is None or form.is_valid()):
        try:
            if form is None:
                assert member is not None, "who is not signed in has the form"
                membership = people.join_campaign(invitation=invitation, user=member)
            else:
                with hashing_slot():
                    membership = people.register_account(invitation=invitation, **form.cleaned_data)
        except people.PeopleError as error:
            return render_page(
                request, "annotation/join_bad.html", {"reason": str(error)}, status=410
            )
        except ProcessBusy as busy:
            assert form is not None, "only who registers waits for a turn"
            form.add_error(None, str(busy))
            headers, status = {"Retry-After": str(retry_after_seconds())}, 503
        else:
            answer = redirect(_start_url(membership))
            if form is None:
                return answer
            start_session(request, membership.user)
            return _remember_browser(membership.user, answer)
    part = (
        annotator_quota(Membership(campaign=campaign))
        if invitation.role == Membership.Role.ANNOTATOR
        else None
    )
    context = {
        "invitation": invitation,
        "campaign": campaign,
        "form": form,
        "part": part,
        "guideline": campaign.guidelines.last(),
    }
    return _add_headers(
        render_page(request, "annotation/join.html", context, status=status), headers
    )


def _start_url(membership: Membership) -> str:
    start = {
        Membership.Role.MANAGER.value: "campaign",
        Membership.Role.VIEWER.value: "campaign-results",
    }
    return reverse(start.get(membership.role, "judge"), args=[membership.campaign.slug])


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def accounts(request: SignedInRequest) -> HttpResponse:
    """List all accounts for administrators, with the right to create collections and campaigns."""
    require_administrator(request)
    if request.method == "POST":
        user = get_object_or_404(get_user_model(), pk=parse_row_id(request.POST.get("user")))
        give = request.POST.get("action") == "give"
        people.set_creator(user, may_create=give, actor=request.user)
        sentence = (
            _("%(name)s can now create collections and campaigns.")
            if give
            else _("%(name)s can no longer create collections and campaigns.")
        )
        messages.success(request, sentence % {"name": user.get_username()})
        return redirect(request.get_full_path())
    rights = {
        "creators": Q(profile__may_create=True) | Q(is_superuser=True),
        "administrators": Q(is_superuser=True),
        "inactive": Q(is_active=False),
    }
    words = [
        ("creators", _("Campaign creator")),
        ("administrators", _("Administrator")),
        ("inactive", _("Inactive")),
    ]
    shown = ListPage(
        request,
        get_user_model().objects.select_related("profile"),
        search=("username",),
        sort={
            "name": "username",
            "last": "last_login",
            "makes": ("is_superuser", "profile__may_create", "username"),
        },
        choices=[
            RowFilter("who", _("Role"), words, lambda rows, value: rows.filter(rights[value]))
        ],
        default="name",
    )
    return render_page(request, "annotation/accounts.html", {"people": shown})

"""Single sign-on by a header from a trusted proxy or by OpenID Connect. Both answer 404 if they are
not configured."""

from __future__ import annotations

import importlib
import logging
import re
from typing import Any

from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation.services.people import single_sign_on
from annotation.services.people.accounts import PeopleError
from annotation.services.people.single_sign_on import InstitutionIdentity
from annotation.views.people import next_page, start_session
from pooling.platform.requests import is_from_trusted_proxy

log = logging.getLogger(__name__)


@never_cache
@require_safe
def by_header(request: HttpRequest) -> HttpResponse:
    """Sign in the user that the trusted proxy names in a header. The header is ignored from any
    other address."""
    if not settings.USER_HEADER:
        raise Http404
    if not is_from_trusted_proxy(request):
        log.warning("a request for sign-in by %s bypassed the trusted proxy", settings.USER_HEADER)
        return _render_refusal(
            request, _("This sign-in works only through the institution's proxy."), status=403
        )
    name = request.headers.get(settings.USER_HEADER, "").strip()
    if not name:
        return _render_refusal(
            request,
            _("%(institution)s did not confirm your identity.")
            % {"institution": settings.INSTITUTION},
            status=403,
        )
    groups = request.headers.get(settings.GROUPS_HEADER, "") if settings.GROUPS_HEADER else ""
    identity = InstitutionIdentity(
        f"header {name}", name, "", frozenset(word for word in re.split(r"[,;\s]+", groups) if word)
    )
    return _sign_in_identity(request, identity, next_page(request))


@never_cache
@require_safe
def oidc_ask(request: HttpRequest) -> HttpResponse:
    """Redirect to the OpenID Connect provider with a state, a nonce and a challenge, which are kept
    in the session."""
    if not settings.OIDC_ISSUER:
        raise Http404
    try:
        package = importlib.import_module("mozilla_django_oidc.views")
    except ImportError:
        log.error(single_sign_on.NO_PACKAGE_MESSAGE)
        return _render_refusal(
            request,
            _(
                "Single sign-on is not available because a package is not installed. Contact an administrator of this installation."
            ),
            status=503,
        )
    answer: HttpResponse = package.OIDCAuthenticationRequestView.as_view()(request)
    return answer


@never_cache
@require_safe
def oidc_back(request: HttpRequest) -> HttpResponse:
    """Complete the sign-in after the provider's redirect. Each state in the session can be used
    once."""
    if not settings.OIDC_ISSUER:
        raise Http404
    states: dict[str, Any] = request.session.get("oidc_states", {})
    sent = states.pop(request.GET.get("state", ""), None)
    request.session["oidc_states"] = states
    if sent is None:
        return _render_refusal(
            request,
            _(
                "This sign-in was not started in this browser, or it has already been completed. Sign in again."
            ),
            status=400,
        )
    if "code" not in request.GET:
        return _render_refusal(
            request,
            _("%(institution)s did not sign you in.") % {"institution": settings.INSTITUTION},
            status=403,
        )
    request.session.save()
    oidc = importlib.import_module("annotation.oidc")
    try:
        identity: InstitutionIdentity = oidc.OidcProvider().identify(
            request, nonce=sent["nonce"], code_verifier=sent["code_verifier"]
        )
    except oidc.PROVIDER_ERRORS as error:
        log.warning(
            "sign-in by %s failed: %s: %s",
            settings.OIDC_ISSUER,
            type(error).__name__,
            error if isinstance(error, SuspiciousOperation) else "",
        )
        sentence = _(
            "%(institution)s could not sign you in. Try again. If it fails again, contact an administrator."
        )
        return _render_refusal(
            request, sentence % {"institution": settings.INSTITUTION}, status=502
        )
    wanted = request.session.get("oidc_login_next") or ""
    good = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, request.is_secure())
    return _sign_in_identity(request, identity, wanted if good else reverse("home"))


def _sign_in_identity(
    request: HttpRequest, identity: InstitutionIdentity, onward: str
) -> HttpResponse:
    try:
        user = single_sign_on.get_account(identity)
    except PeopleError as error:
        return _render_refusal(request, str(error), status=403)
    start_session(request, user)
    return HttpResponseRedirect(onward)


def _render_refusal(request: HttpRequest, reason: str, *, status: int) -> HttpResponse:
    return render(request, "annotation/institution_refused.html", {"reason": reason}, status=status)

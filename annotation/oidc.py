"""OpenID Connect through the package mozilla-django-oidc, if installed, with the checks that it
leaves to applications.

The package exchanges the code (with PKCE) and checks signature, expiry and nonce. This module
checks issuer and audience, and that the userinfo response has the subject of the token.
"""

from __future__ import annotations

from typing import Any

import jwt
import requests
from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest
from mozilla_django_oidc.auth import OIDCAuthenticationBackend

from annotation.services.people.single_sign_on import InstitutionIdentity

PROVIDER_ERRORS = (
    SuspiciousOperation,
    jwt.PyJWTError,
    requests.RequestException,
    KeyError,
    TypeError,
    ValueError,
    AttributeError,
)
"""Exceptions raised if a provider is unavailable or sends an invalid response."""


class OidcProvider(OIDCAuthenticationBackend):
    """A client of the OpenID Connect provider, called by the sign-in view. It is not registered as
    a backend of Django, so passwords are never passed to it."""

    identity: InstitutionIdentity | None = None

    def identify(
        self, request: HttpRequest, *, nonce: str, code_verifier: str
    ) -> InstitutionIdentity:
        """Return the identity of the user who returned with the code of this request. Raises one of
        PROVIDER_ERRORS."""
        self.authenticate(request, nonce=nonce, code_verifier=code_verifier)
        if self.identity is None:
            raise SuspiciousOperation("the provider did not identify the user")
        return self.identity

    def get_or_create_user(self, access_token: str, id_token: str, payload: dict[str, Any]) -> None:
        """Check the content of the ID token. Called by the package after it has verified the
        signature."""
        audience = payload["aud"] if isinstance(payload["aud"], list) else [payload["aud"]]
        if payload["iss"] != settings.OIDC_ISSUER:
            raise SuspiciousOperation("the token is from another issuer")
        if (
            settings.OIDC_RP_CLIENT_ID not in audience
            or payload.get("azp", settings.OIDC_RP_CLIENT_ID) != settings.OIDC_RP_CLIENT_ID
        ):
            raise SuspiciousOperation("the token is for another client")
        if "exp" not in payload:
            raise SuspiciousOperation("the token has no expiry")
        said = self.get_userinfo(access_token, id_token, payload)
        if said["sub"] != payload["sub"]:
            raise SuspiciousOperation(
                "the token and the user information belong to different users"
            )
        groups = said.get(settings.OIDC_GROUPS_CLAIM, payload.get(settings.OIDC_GROUPS_CLAIM)) or []
        self.identity = InstitutionIdentity(
            subject=f"oidc {payload['iss']} {payload['sub']}",
            name=str(
                said.get(settings.OIDC_NAME_CLAIM) or payload.get(settings.OIDC_NAME_CLAIM) or ""
            ),
            email=str(said.get("email") or "") if said.get("email_verified", True) is True else "",
            groups=frozenset(map(str, [groups] if isinstance(groups, str) else groups)),
        )

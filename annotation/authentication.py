"""API tokens for scripts: `Authorization: Bearer …` (or `Token …`). Only the digest of a token is
stored, and its scopes limit its access."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import APIException, AuthenticationFailed
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from annotation.models import ApiTokenRow, Scope
from annotation.services.people import tokens


class ApiToken(BaseAuthentication):
    """Authentication by API token. Sets `request.auth` to the token's database row."""

    keywords = ("bearer", "token")

    def authenticate(self, request: Request) -> tuple[User, ApiTokenRow] | None:
        parts = get_authorization_header(request).decode("latin-1").split()
        if not parts or parts[0].lower() not in self.keywords:
            return None
        row = tokens.get_token(parts[1]) if len(parts) == 2 else None
        if row is None:
            raise AuthenticationFailed(
                "This token is not valid. Create a new one on the account page."
            )
        if row.is_over:
            raise AuthenticationFailed(
                f"This token expired on {row.expires_at:%Y-%m-%d}. Create a new one on the account page."
            )
        return row.user, row

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class OutOfScope(APIException):
    status_code, default_code = 403, "out_of_scope"


class HasTokenScope(BasePermission):
    """Permission for all API views: a token grants what its owner may do, limited to its scopes.
    Sessions have all scopes.

    Views for judging set `judging = True`.
    """

    def has_permission(self, request: Request, view: Any) -> bool:
        row = request.auth
        if not isinstance(row, ApiTokenRow):
            return True
        judging, changes = getattr(view, "judging", False), request.method not in SAFE_METHODS
        if tokens.sufficient_scopes(row.scopes, judging=judging, changes=changes):
            return True
        needed = Scope.JUDGE if judging else Scope.MANAGE if changes else Scope.READ
        has = " and ".join(row.scopes.split())
        raise OutOfScope(
            f"This token has the scope {has}, but this request needs {needed}. Create another token on the account page."
        )


class ApiTokenScheme(OpenApiAuthenticationExtension):
    target_class = ApiToken
    name = "token"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        said = (
            "A token from the account page, with scopes: read, judge, manage (which includes read)."
        )
        return {"type": "http", "scheme": "bearer", "description": said}

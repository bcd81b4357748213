"""API tokens for scripts: `Authorization: Token …`; only the token's digest is stored."""

from __future__ import annotations

from django.contrib.auth.models import User
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from annotation.services.people import user_of_api_token


class ApiToken(BaseAuthentication):
    keyword = "Token"

    def authenticate(self, request: Request) -> tuple[User, str] | None:
        parts = get_authorization_header(request).decode("latin-1").split()
        if not parts or parts[0].lower() != self.keyword.lower():
            return None
        user = user_of_api_token(parts[1]) if len(parts) == 2 else None
        if user is None:
            raise AuthenticationFailed("This token is not valid; make a new one on the account page.")
        return user, parts[1]

    def authenticate_header(self, request: Request) -> str:
        return self.keyword


class ApiTokenScheme(OpenApiAuthenticationExtension):
    target_class = ApiToken
    name = "token"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {"type": "apiKey", "in": "header", "name": "Authorization", "description": "`Token <token>`, made on the account page."}

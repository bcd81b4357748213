"""Checks of the settings for single sign-on. An invalid combination stops the start with a
message."""

from __future__ import annotations

import re

from django.core.exceptions import ImproperlyConfigured

from config import environment

REQUIRED_OIDC_SETTINGS = (
    "OIDC_CLIENT",
    "OIDC_AUTHORIZE",
    "OIDC_TOKENS",
    "OIDC_USERINFO",
    "OIDC_KEYS",
)


def check_settings(
    user_header: str, groups_header: str, *, trusted_proxies: list[str], issuer: str, secret: str
) -> None:
    """Raise ImproperlyConfigured for invalid settings of single sign-on: a user header without a
    trusted proxy, since anyone could send the header, or an incomplete provider."""
    for name, header in (("USER_HEADER", user_header), ("GROUPS_HEADER", groups_header)):
        if header and not re.fullmatch(r"[A-Za-z][A-Za-z0-9-]*", header):
            raise ImproperlyConfigured(
                f"ASSAY_{name}={header!r} must be a header name such as X-Remote-User"
            )
    if user_header and not trusted_proxies:
        raise ImproperlyConfigured(
            "ASSAY_USER_HEADER requires ASSAY_TRUSTED_PROXIES; set it to the address of your proxy, or unset both"
        )
    if user_header and issuer:
        raise ImproperlyConfigured(
            "ASSAY_USER_HEADER and ASSAY_OIDC_ISSUER cannot be used together; unset one of them"
        )
    missing = [f"ASSAY_{name}" for name in REQUIRED_OIDC_SETTINGS if not environment.text(name)] + (
        [] if secret else ["ASSAY_OIDC_SECRET"]
    )
    if issuer and missing:
        raise ImproperlyConfigured(f"ASSAY_OIDC_ISSUER is set, but not {', '.join(missing)}")

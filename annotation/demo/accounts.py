"""The demo's sign-ins: made at the first start, remembered in a file that only the owner can read,
printed at every start for as long as they are valid."""

from __future__ import annotations

import json
import os
import secrets
from pathlib import Path

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import User

PASSWORD_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"  # no letters that look like digits


def sign_ins_file() -> Path:
    return Path(settings.DATA_DIR) / "demo-sign-ins.json"


def make_password() -> str:
    """Four groups of four: easy to read off a terminal, 79 bits."""
    return "-".join("".join(secrets.choice(PASSWORD_ALPHABET) for _ in range(4)) for _ in range(4))


def create_accounts(roles: dict[str, str]) -> dict[str, User]:
    """One account for each user name; role -> what it is printed as. Remembers the generated
    passwords."""
    users, remembered = {}, []
    for name, role in roles.items():
        password = make_password()
        users[name] = get_user_model().objects.create_user(username=name, password=password)
        remembered.append([role, name, password])
    path = sign_ins_file()
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as out:
        json.dump(remembered, out)
    return users


def read_sign_ins() -> list[tuple[str, str, str]]:
    """(role, user name, password) of the demo accounts whose generated password still works."""
    try:
        rows = json.loads(sign_ins_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    valid = []
    for role, name, password in rows:
        user = get_user_model().objects.filter(username=name, is_active=True).first()
        if user is not None and user.check_password(password):
            valid.append((role, name, password))
    return valid

"""Accounts of the demo. They are created at the first start, stored in a file that only its owner
can read, and printed at every start while they are valid."""

from __future__ import annotations

import json
import os
import secrets
from pathlib import Path

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import User

from annotation.models import Profile

PASSWORD_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"  # without letters that look like digits


def sign_ins_file() -> Path:
    return Path(settings.DATA_DIR) / "demo-sign-ins.json"


def make_password() -> str:
    """Return a password of four groups of four characters (79 bits), which is easy to copy from a
    terminal."""
    return "-".join("".join(secrets.choice(PASSWORD_ALPHABET) for _ in range(4)) for _ in range(4))


def create_accounts(roles: dict[str, str]) -> dict[str, User]:
    """Create one account per username and store the generated passwords. roles: username -> printed
    role."""
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


def create_demo_accounts() -> User:
    """Create the demo's manager and annotator, and return the manager."""
    manager = create_accounts({"manager": "manager", "annotator": "annotator"})["manager"]
    Profile.objects.create(user=manager, may_create=True)
    return manager


def read_sign_ins() -> list[tuple[str, str, str]]:
    """Return (role, username, password) of the demo accounts whose generated password is still
    valid."""
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

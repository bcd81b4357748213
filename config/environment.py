"""Settings come from environment variables of one prefix; a value that makes no sense stops the
start with a sentence."""

from __future__ import annotations

import ipaddress
import os
import re
import secrets
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

PREFIX = "ASSAY_"
TRUE, FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off", ""}


@contextmanager
def exit_on_bad_setting(status: int = 1) -> Iterator[None]:
    """End the process with the sentence alone if a setting makes no sense, for programs that are not
    commands of Django."""
    try:
        yield
    except ImproperlyConfigured as error:
        sys.stderr.write(f"assay: {error}\n")
        raise SystemExit(status) from None


def text(name: str, default: str = "") -> str:
    return os.environ.get(PREFIX + name, default).strip()


def format_shell_variables(*names: str) -> str:
    """Those of the settings that are given, as they stand before a command in a shell, ended by a
    blank; `` where none is."""
    return "".join(f"{PREFIX}{name}={shlex.quote(text(name))} " for name in names if text(name))


def flag(name: str, default: bool = False) -> bool:
    value = text(name, "1" if default else "0").lower()
    if value in TRUE:
        return True
    if value in FALSE:
        return False
    raise ImproperlyConfigured(f"{PREFIX}{name}={value!r} is neither yes nor no; use 1 or 0")


def number(name: str, default: int, *, least: int = 0, most: int | None = None) -> int:
    value = text(name, str(default))
    try:
        result = int(value)
    except ValueError:
        raise ImproperlyConfigured(f"{PREFIX}{name}={value!r} is not a whole number") from None
    if result < least:
        raise ImproperlyConfigured(f"{PREFIX}{name}={value!r} must be at least {least}")
    if most is not None and result > most:
        raise ImproperlyConfigured(f"{PREFIX}{name}={value!r} must be at most {most}")
    return result


def choice(name: str, *allowed: str) -> str:
    """One of the words allowed, of which the first is the default."""
    value = text(name, allowed[0]).lower()
    if value not in allowed:
        raise ImproperlyConfigured(f"{PREFIX}{name}={value!r} is not one of {', '.join(allowed)}")
    return value


def words(name: str, default: str = "") -> list[str]:
    return [word for word in text(name, default).replace(",", " ").split() if word]


def endpoints(name: str) -> dict[str, str]:
    """Base addresses of endpoints, each with the name of the variable that has its key:
    `https://host/v1=ASSAY_MACHINE_KEY`, or without one."""
    endpoint_of = {}
    for word in words(name):
        address, _, variable = (
            word.rpartition("=") if re.search(r"=[A-Z_][A-Z0-9_]*$", word) else (word, "", "")
        )
        parts = urlsplit(address)
        if (
            parts.scheme not in ("http", "https")
            or not parts.hostname
            or parts.username
            or parts.query
        ):
            raise ImproperlyConfigured(
                f"{PREFIX}{name}: {address!r} is no address such as http://127.0.0.1:11434/v1; a "
                f"key is named, as in ADDRESS=VARIABLE"
            )
        endpoint_of[address.rstrip("/")] = variable
    return endpoint_of


def networks(name: str) -> list[str]:
    """Addresses or networks (10.0.0.0/8), checked."""
    for word in words(name):
        try:
            ipaddress.ip_network(word)
        except ValueError:
            raise ImproperlyConfigured(
                f"{PREFIX}{name}: {word!r} is neither an address nor a network such as 10.0.0.0/8"
            ) from None
    return words(name)


def worker_niceness() -> int:
    """By how much background work stands back."""
    return number("WORKER_NICE", 10, least=0)


def user_folder() -> Path:
    """Where a program that was installed keeps a person's data."""
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "assay"


def secret_key(data_dir: Path) -> str:
    """The configured key, or one generated once into the data folder, readable by the owner
    alone."""
    configured = text("SECRET_KEY")
    if configured:
        return configured
    path = data_dir / "secret-key"
    try:
        return path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        pass
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        key = secrets.token_urlsafe(50)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        # A command on plain files needs no data folder; a key for this process alone is enough
        # there.
        return secrets.token_urlsafe(50)
    with os.fdopen(handle, "w", encoding="ascii") as out:
        out.write(key + "\n")
    return key

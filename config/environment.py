"""Reading of settings from environment variables with the prefix ASSAY_. An invalid value stops the
start with a message."""

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

from config.setting_list import DEFAULTS

PREFIX = "ASSAY_"
TRUE, FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off", ""}


@contextmanager
def exit_on_bad_setting(status: int = 1) -> Iterator[None]:
    """Exit with only the message if a setting is invalid. Used by programs that are not Django
    commands."""
    try:
        yield
    except ImproperlyConfigured as error:
        sys.stderr.write(f"assay: {error}\n")
        raise SystemExit(status) from None


def text(name: str) -> str:
    """Return the text of a setting of `config.setting_list`, or its default."""
    return os.environ.get(PREFIX + name, DEFAULTS[name]).strip()


def format_shell_variables(*names: str) -> str:
    """Format settings as variable assignments in front of a shell command, with a trailing space.
    Settings without a value are left out. Empty if none has one."""
    return "".join(f"{PREFIX}{name}={shlex.quote(text(name))} " for name in names if text(name))


def flag(name: str) -> bool:
    value = text(name).lower()
    if value in TRUE:
        return True
    if value in FALSE:
        return False
    raise ImproperlyConfigured(f"{PREFIX}{name}={value!r} must be 1 or 0")


def number(name: str, *, least: int = 0, most: int | None = None) -> int:
    value = text(name)
    try:
        result = int(value)
    except ValueError:
        raise ImproperlyConfigured(f"{PREFIX}{name}={value!r} must be a whole number") from None
    if result < least:
        raise ImproperlyConfigured(f"{PREFIX}{name}={value!r} must be at least {least}")
    if most is not None and result > most:
        raise ImproperlyConfigured(f"{PREFIX}{name}={value!r} must be at most {most}")
    return result


def choice(name: str, *allowed: str) -> str:
    """Return the value of a setting that must be one of the allowed words."""
    value = text(name).lower()
    if value not in allowed:
        raise ImproperlyConfigured(f"{PREFIX}{name}={value!r} must be one of {', '.join(allowed)}")
    return value


def words(name: str) -> list[str]:
    return [word for word in text(name).replace(",", " ").split() if word]


def endpoints(name: str) -> dict[str, str]:
    """Parse a setting that lists endpoints. Maps each base address to the variable that holds its
    key, or to an empty string."""
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
                f"{PREFIX}{name}: {address!r} is not an address such as "
                f"http://127.0.0.1:11434/v1; name a key as ADDRESS=VARIABLE"
            )
        endpoint_of[address.rstrip("/")] = variable
    return endpoint_of


def networks(name: str) -> list[str]:
    """Parse a setting that lists IP addresses or networks (10.0.0.0/8). Raises ImproperlyConfigured
    for any other value."""
    for word in words(name):
        try:
            ipaddress.ip_network(word)
        except ValueError:
            raise ImproperlyConfigured(
                f"{PREFIX}{name}: {word!r} is neither an address nor a network such as 10.0.0.0/8"
            ) from None
    return words(name)


def worker_niceness() -> int:
    """Return the niceness of background work (process priority)."""
    return number("WORKER_NICE", least=0)


def user_folder() -> Path:
    """Return the folder for the user's data if the program was installed from a wheel."""
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "assay"


def secret_key(data_dir: Path) -> str:
    """Return the configured secret key, or one that is generated once and kept in the data folder,
    readable only by its owner."""
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
        # Commands on files need no data folder. A key for this process is enough for them.
        return secrets.token_urlsafe(50)
    with os.fdopen(handle, "w", encoding="ascii") as out:
        out.write(key + "\n")
    return key

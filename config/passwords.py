"""Password hashing that leaves processor time for annotators.

Hashing is expensive by design, and a class that signs in at nine o'clock needs a hundred hashes
within a minute. Two rules protect other requests. The parameters are OWASP's minimum for Argon2id
(19 MiB, two passes, one lane), while Django's defaults use 100 MiB and eight threads. Only one
password is hashed at a time on this machine, across all threads and processes, so at most one core
is busy.
"""

from __future__ import annotations

import fcntl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.hashers import Argon2PasswordHasher, PBKDF2PasswordHasher

process_lock = threading.Lock()


def lock_path() -> Path:
    return Path(settings.DATA_DIR) / "hashing.lock"


@contextmanager
def hashing_turn() -> Iterator[None]:
    """Wait for the lock that lets one password be hashed at a time, across all threads and
    processes of this data folder.

    The system releases the lock of a killed process. If the folder is not writable, the lock only
    covers the threads of this process.
    """
    with process_lock:
        try:
            lock = lock_path().open("ab")
        except OSError:
            yield
            return
        with lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


class Argon2(Argon2PasswordHasher):
    """Argon2id password hasher. Hashes with other parameters are accepted and renewed at the next
    sign-in."""

    time_cost, memory_cost, parallelism = 2, 19_456, 1

    def encode(self, password: str, salt: str) -> str:
        with hashing_turn():
            encoded: str = super().encode(password, salt)
        return encoded

    def verify(self, password: str, encoded: str) -> bool:
        with hashing_turn():
            same: bool = super().verify(password, encoded)
        return same


class PBKDF2(PBKDF2PasswordHasher):
    """PBKDF2 password hasher, for accounts that were created elsewhere."""

    def encode(self, password: str, salt: str, iterations: Any = None) -> str:
        with hashing_turn():  # the last step of `verify`
            encoded: str = super().encode(password, salt, iterations)
        return encoded

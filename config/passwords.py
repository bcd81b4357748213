"""Hashing of passwords that leaves the machine to those who judge.

A hash is made to be dear, and a class that signs in at nine o'clock makes a hundred within a
minute. Two things keep that from the others:
the parameters are OWASP's minimum for Argon2id (19 MiB, two passes, one lane; Django's own take 100
MiB and eight threads), and one password is hashed at a time on this machine, by whatever thread or
process, so that no more than one core works at it."""

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
    """Waits for its turn among all threads of all processes of this data folder. The system lets go
    of a lock whose process was killed. Where the folder cannot be written the threads of this
    process wait for each other alone."""
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
    """Hashes with other parameters are known, too, and made anew when their owner signs in."""

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
    """Of accounts that were made elsewhere."""

    def encode(self, password: str, salt: str, iterations: Any = None) -> str:
        with hashing_turn():  # `verify` ends here
            encoded: str = super().encode(password, salt, iterations)
        return encoded

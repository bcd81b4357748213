"""However many sign in, one password is hashed at a time on a machine, with parameters that OWASP
still allows."""

from __future__ import annotations

import fcntl
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.contrib.auth.hashers import (
    Argon2PasswordHasher,
    PBKDF2PasswordHasher,
    check_password,
    make_password,
)

from config import passwords
from config import settings as own


@pytest.fixture(autouse=True)
def real_hashers(settings):
    settings.PASSWORD_HASHERS = own.PASSWORD_HASHERS


def test_the_parameters_are_owasps_minimum():
    assert make_password("secret of ada").startswith("argon2$argon2id$v=19$m=19456,t=2,p=1$")


@pytest.mark.parametrize("hasher", [Argon2PasswordHasher(), PBKDF2PasswordHasher()])
def test_hashes_made_by_django_are_known_and_made_anew(hasher):
    encoded, anew = hasher.encode("secret of ada", hasher.salt()), []
    assert not check_password("another secret", encoded, setter=anew.append)
    assert check_password("secret of ada", encoded, setter=anew.append)
    assert anew == ["secret of ada"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("plain", "method"),
    [
        (Argon2PasswordHasher, "verify"),
        (Argon2PasswordHasher, "encode"),
        (PBKDF2PasswordHasher, "encode"),
    ],
)
def test_one_is_hashed_at_a_time_on_this_machine(monkeypatch, plain, method):
    known = {
        hasher.algorithm: hasher.encode("secret of ada", hasher.salt())
        for hasher in (passwords.Argon2(), passwords.PBKDF2())
    }
    running, most, held, other = [0], [0], [], threading.Event()
    real = getattr(plain, method)

    def hashing(*arguments, **more):
        running[0] += 1
        most[0] = max(most[0], running[0])
        other.wait(0.02)  # never set: time for another thread to come in, if it could
        with passwords.lock_path().open("ab") as file:  # as another process would find it
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                held.append(1)
        running[0] -= 1
        return real(*arguments, **more)

    monkeypatch.setattr(plain, method, hashing)
    if plain is Argon2PasswordHasher and method == "encode":
        works = [lambda: bool(make_password("secret of ada"))] * 6
    else:
        works = [
            lambda: check_password(
                "secret of ada", known[plain.algorithm], preferred=plain.algorithm
            )
        ] * 6
    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(lambda work: work(), works))
    assert (most[0], len(held)) == (1, 6)


def test_people_sign_in_where_the_folder_cannot_be_written(monkeypatch, tmp_path):
    monkeypatch.setattr(
        passwords, "lock_path", lambda: tmp_path / "no such folder" / "hashing.lock"
    )
    assert check_password("secret of ada", make_password("secret of ada"))

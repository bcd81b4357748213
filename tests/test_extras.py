"""Packages that are no part of the program: without them it starts and says which is missing, with
them `doctor` is silent about them."""

from __future__ import annotations

import os
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.installation import ROOT, Installation

OIDC = {
    f"OIDC_{name}": f"https://login.example.org/{name.lower()}"
    for name in ("ISSUER", "AUTHORIZE", "TOKENS", "USERINFO", "KEYS")
}
OIDC |= {"OIDC_CLIENT": "assay", "OIDC_SECRET": "a secret", "INSTITUTION": "the University"}
STORE = {"STORAGE": "s3://bucket/files"}
BLOCKED = ("mozilla_django_oidc", "storages", "boto3", "botocore")


@pytest.fixture
def without_extras(tmp_path: Path) -> str:
    """PYTHONPATH of an installation in which nobody installed them: every Python that begins there
    finds none."""
    folder = tmp_path / "without"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(
        f"import sys\nsys.modules.update(dict.fromkeys({BLOCKED!r}))\n", encoding="utf-8"
    )
    return os.pathsep.join((str(folder), str(ROOT)))


def doctor(assay: Installation) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "manage.py", "doctor"],
        cwd=ROOT,
        env=assay.env,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout


def asked(url: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


@pytest.mark.slow
def test_without_the_package_of_openid_connect_everything_else_works_and_page_log_and_doctor_say_so(
    without_extras, tmp_path
):
    assay = Installation(tmp_path / "data", prepared=True, **OIDC)
    assay.env["PYTHONPATH"] = without_extras
    with assay:
        assert asked(assay.url + "/readyz")[0] == 200
        status, page = asked(assay.url + "/sign-in")
        assert (status, "the University" in page) == (200, True)
        status, page = asked(assay.url + "/sign-in/oidc")
        assert (
            status,
            "a package is not installed. Contact an administrator" in page,
        ) == (503, True)
        status, told = doctor(assay)
        assert status == 1
        assert (
            "WRONG  OpenID Connect (ASSAY_OIDC_ISSUER) needs the package mozilla-django-oidc"
            in told
        )
        assert (
            "pip install mozilla-django-oidc. Until then, sign-in by the University does not work."
            in told
        )
    assert "needs the package mozilla-django-oidc" in assay.log.read_text(encoding="utf-8")
    assay.env["PYTHONPATH"] = str(ROOT)
    assert "mozilla-django-oidc" not in doctor(assay)[1]


@pytest.mark.long
def test_without_the_package_of_an_object_store_doctor_and_the_commands_say_so(
    without_extras, tmp_path
):
    assay = Installation(tmp_path / "data", **STORE)
    assay.env["PYTHONPATH"] = without_extras
    status, told = doctor(assay)
    assert status == 1
    assert (
        "WRONG  Files cannot be stored: ASSAY_STORAGE names an object store, for which "
        "django-storages[s3] has to be installed"
    ) in told
    assay.env |= {
        "PYTHONPATH": str(ROOT),
        "AWS_ACCESS_KEY_ID": "k",
        "AWS_SECRET_ACCESS_KEY": "s",
        "AWS_ENDPOINT_URL_S3": "http://127.0.0.1:9",
    }
    told = doctor(assay)[1]
    assert "django-storages" not in told
    assert (
        "WRONG  Files cannot be stored: bucket bucket: the object store is not responding" in told
    )

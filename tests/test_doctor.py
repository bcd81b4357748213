"""What `manage.py doctor` finds, each by an installation that has this one thing wrong."""

from __future__ import annotations

import os
import time
from collections import namedtuple
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from config import doctor, health
from pooling.models import Job
from pooling.platform import liveness, sqlite_log
from tests.builders import make_campaign, make_user
from tests.commands import call_command
from tests.pooling.conftest import RUN_A, bring_in

pytestmark = pytest.mark.django_db
Usage = namedtuple("Usage", "total used free")


@pytest.fixture
def sound(settings, tmp_path, monkeypatch):
    """An installation behind a proxy with nothing wrong."""
    settings.DATA_DIR, settings.MEDIA_ROOT, settings.STATIC_ROOT = (
        tmp_path,
        tmp_path / "files",
        tmp_path / "static",
    )
    settings.ALLOWED_HOSTS, settings.HTTPS, settings.TRUSTED_PROXIES = (
        ["assay.example.org"],
        True,
        ["127.0.0.1"],
    )
    settings.SECRET_KEY, settings.DEBUG, settings.BROKER_URL, settings.METRICS_TOKEN = (
        "k" * 50,
        False,
        "",
        "",
    )
    settings.SESSION_COOKIE_SECURE = settings.CSRF_COOKIE_SECURE = settings.SECURE_SSL_REDIRECT = (
        True
    )
    settings.SECURE_HSTS_SECONDS = 1000
    for program in (liveness.WEB_SERVER, liveness.WORKER):
        liveness.write_heartbeat(program)
    (tmp_path / "last-backup").write_text(timezone.now().isoformat(timespec="seconds"))
    (tmp_path / "static").mkdir()
    (tmp_path / "static" / "staticfiles.json").touch()
    monkeypatch.setenv("ASSAY_EMAIL_HOST", "mail.example.org")
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda _: Usage(10**12, 0, 10**12))
    monkeypatch.setattr(doctor.checks, "run_checks", lambda **_: [])
    make_user("root", superuser=True)
    return settings


def told() -> list[str]:
    return [
        f"{'wrong' if finding.is_problem else 'note'}: {finding.sentence}"
        for finding in doctor.run_checks()
    ]


def run() -> tuple[int, str]:
    out = StringIO()
    try:
        call_command("doctor", stdout=out)
    except SystemExit as ended:
        return int(ended.code or 0), out.getvalue()
    return 0, out.getvalue()


def test_a_sound_installation_is_left_alone(sound):
    assert run() == (0, "no problems\n")


@pytest.mark.parametrize(
    ("changes", "kind", "sentence"),
    [
        ({"DEBUG": True}, "wrong", "ASSAY_DEBUG=1 shows settings and code"),
        ({"ALLOWED_HOSTS": ["*"]}, "wrong", "ASSAY_ALLOWED_HOSTS=*"),
        ({"HTTPS": False}, "wrong", "passwords can be read in transit"),
        ({"ALLOWED_HOSTS": ["127.0.0.1"]}, "wrong", "lists only this machine"),
        ({"TRUSTED_PROXIES": []}, "note", "ASSAY_TRUSTED_PROXIES is not set"),
        ({"METRICS_TOKEN": "guess"}, "note", "ASSAY_METRICS_TOKEN is too short"),
        ({"SECRET_KEY": "short"}, "wrong", "ASSAY_SECRET_KEY is shorter"),
        ({"BROKER_URL": "redis://127.0.0.1:1/0"}, "wrong", "The message broker is not responding"),
        ({"MEDIA_ROOT": "/proc/nothing"}, "wrong", "Files cannot be stored"),
        ({"STATIC_ROOT": "/nowhere"}, "wrong", "manage.py collectstatic"),
    ],
)
def test_a_setting_that_is_wrong_is_told(sound, changes, kind, sentence):
    for name, value in changes.items():
        setattr(sound, name, value)
    [only] = told()
    assert only.startswith(f"{kind}: ")
    assert sentence in only
    assert run()[0] == (kind == "wrong")


def test_a_key_that_others_can_read_is_told(sound, tmp_path, monkeypatch):
    monkeypatch.delenv("ASSAY_SECRET_KEY", raising=False)
    key = tmp_path / "secret-key"
    key.touch(mode=0o600)
    assert told() == []
    key.chmod(0o644)
    [only] = told()
    assert f"chmod 600 {key}" in only


def test_a_disk_that_fills_a_log_that_grows_and_few_files_are_told(sound, monkeypatch):
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda _: Usage(10**12, 10**12 - 10**9, 10**9))
    monkeypatch.setattr(sqlite_log, "get_log_size_bytes", lambda: sqlite_log.WARN_BYTES + 1)
    monkeypatch.setattr(doctor.resource, "getrlimit", lambda _: (256, 4096))
    sentences = "\n".join(told())
    assert "Only 1.0 GB of disk space are free" in sentences
    assert "The SQLite log has 256 MB" in sentences
    assert "may open only 256 files" in sentences


def test_campaigns_without_a_manager_are_told(sound):
    make_campaign()
    assert told() == []
    campaign = make_campaign(name="Autumn")
    campaign.memberships.filter(role="manager").delete()
    [only] = told()
    assert only.startswith(
        f"note: 1 campaign has no manager, so only administrators see it: {campaign.slug}. "
    )
    assert run()[0] == 0


@pytest.mark.parametrize(
    ("mounts", "kind"),
    [
        ("server:/x /data nfs4 rw 0 0\n", "nfs4"),
        ("/dev/sda1 /data ext4 rw 0 0\n", "ext4"),
        ("", "btrfs"),
    ],
)
def test_the_file_system_is_that_of_the_deepest_mount(monkeypatch, mounts, kind):
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: f"/dev/sda / btrfs rw 0 0\n{mounts}")
    assert doctor.file_system_type(Path("/data/assay")) == kind


def test_sqlite_on_a_network_is_told(sound, monkeypatch):
    monkeypatch.setattr(doctor, "file_system_type", lambda _: "nfs4")
    [only] = told()
    assert "The SQLite file is on nfs4" in only


def test_an_installation_without_an_administrator_is_told(sound, django_user_model):
    django_user_model.objects.all().delete()
    assert told() == ["note: There is no administrator. Run: manage.py createsuperuser"]


def test_jobs_that_nobody_takes_are_told(sound):
    job = Job.objects.create(kind="x", label="import of a.run")
    assert told() == []
    Job.objects.filter(pk=job.pk).update(created_at=timezone.now() - timedelta(minutes=3))
    [only] = told()
    assert "Jobs are not processed: “import of a.run” has been waiting since" in only
    Job.objects.create(kind="x", label="", state="running", heartbeat=timezone.now())
    assert told() == [], "a worker lives, and has its hands full"
    Job.objects.filter(state="running").update(heartbeat=timezone.now() - timedelta(minutes=3))
    assert any("1 job lost the worker and must be restarted" in sentence for sentence in told())


@pytest.mark.parametrize(
    ("program", "name"), [("web-server", "web server"), ("worker", "background worker")]
)
def test_a_program_that_does_not_run_is_told(sound, tmp_path, program, name):
    (sign,) = tmp_path.glob(f"alive-{program}-*")
    os.utime(sign, (time.time() - 59, time.time() - 59))
    assert told() == []
    os.utime(sign, (1_700_000_000, 1_700_000_000))
    assert told() == [
        (
            f"wrong: The {name} is not running (last active 2023-11-14 22:13 UTC). Start it with "
            f"`make run` or its systemd unit."
        )
    ]
    (tmp_path / f"alive-{program}-another-machine").touch()
    assert told() == []
    for one in tmp_path.glob(f"alive-{program}-*"):
        one.unlink()
    assert told() == [f"note: No {name} has used the data folder {tmp_path} yet."]


def test_an_old_backup_and_none_are_told(sound, tmp_path):
    mark = tmp_path / "last-backup"
    mark.write_text((timezone.now() - timedelta(days=9, hours=1)).isoformat(timespec="seconds"))
    assert told() == ["note: The last backup by assay backup is 9 days old."]
    mark.unlink()
    assert told() == ["note: This installation has no backup yet. Run: assay backup"]
    sound.ALLOWED_HOSTS, sound.HTTPS = ["localhost"], False
    assert told() == []


def test_a_machine_that_does_not_see_the_files_is_told(sound, tmp_path):
    from pooling.services.collections import create_collection

    user = make_user("maker", may_create=True)
    bring_in(create_collection(name="C", user=user), "run", RUN_A, user=user)
    assert told() == []
    sound.MEDIA_ROOT = tmp_path / "another"
    [only] = told()
    assert "does not see the files of the installation" in only


def test_a_database_that_is_away_or_of_another_version_is_told_and_nothing_else_is_asked_of_it(
    sound, monkeypatch
):
    def refuse(*_: object) -> None:
        raise OperationalError("connection refused")

    with connection.execute_wrapper(refuse):
        [only] = told()
    assert "The database is not responding (connection refused). Check ASSAY_DATABASE_URL" in only
    monkeypatch.setitem(health.CHECKS, "migrations", lambda: "2 to apply; run manage.py migrate")
    [only] = told()
    assert (
        only
        == "wrong: The database does not match this version: 2 to apply; run manage.py migrate."
    )


@pytest.mark.parametrize("skew", [0, 60])
def test_clocks_that_differ_and_too_many_connections_are_told(sound, monkeypatch, skew):
    class Cursor:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def execute(self, _):
            pass

        def fetchone(self):
            return timezone.now() - timedelta(seconds=skew), 20 if skew else 100, 150000

    monkeypatch.setattr(
        doctor,
        "connection",
        type("PostgreSQL", (), {"vendor": "postgresql", "cursor": lambda: Cursor()}),
    )
    sentences = [finding.sentence for finding in doctor.postgresql() if finding.is_problem]
    assert len(sentences) == (2 if skew else 0)
    if skew:
        assert "60 s apart" in sentences[0]
        assert "may open 21 connections, but PostgreSQL allows 20" in sentences[1]

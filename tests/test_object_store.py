"""Files in an object store: what the storage promises, and an installation of two machines that
share nothing but database, broker and store."""

from __future__ import annotations

import contextlib
import copy
import hashlib
import io
import os
import shutil
import subprocess
import sys
import time
import uuid
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from django.core.exceptions import ImproperlyConfigured
from django.core.files.base import ContentFile

from config import file_stores, installation
from config.management.commands.up import gunicorn_command, worker_command
from pooling.platform.file_storage import IN_USE_SECONDS, FolderStorage, ObjectStorage
from tests.databases import own_database
from tests.installation import free_port
from tests.migrated import collected_folder, fill_migrated
from tests.pooling.conftest import DOCUMENTS, RUN_A, RUN_B, TOPICS

ROOT = Path(__file__).resolve().parent.parent
ADA = "from django.contrib.auth.models import User; User.objects.create_superuser('ada', password='a long password')"
KEYS = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_REGION": "us-east-1",
}


@pytest.fixture(scope="module")
def moto_server() -> Iterator[str]:
    """moto imitates Amazon's store; it is no store that anybody should use."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=free_port(), verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def bucket(moto_server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    import boto3

    for name, value in {**KEYS, "AWS_ENDPOINT_URL_S3": moto_server}.items():
        monkeypatch.setenv(name, value)
    name = f"assay-{uuid.uuid4().hex[:12]}"
    boto3.client("s3", region_name="us-east-1").create_bucket(Bucket=name)
    return name


@pytest.fixture
def machine(bucket: str, settings: Any, tmp_path: Path) -> Callable[..., ObjectStorage]:
    """A machine's own view of the bucket, with a cache of its own."""

    def made(name: str, *, cache_bytes: int = 10_000) -> ObjectStorage:
        settings.MEDIA_ROOT = tmp_path / name
        store = ObjectStorage(
            bucket_name=bucket, prefix="one/place", addressing_style="path", cache_bytes=cache_bytes
        )
        assert store.location == str(tmp_path / name)
        return store

    return made


@pytest.mark.long
def test_what_one_machine_keeps_another_opens(machine):
    ours, theirs = machine("ours"), machine("theirs")
    name = ours.save("runs/2026/11/a.npz", ContentFile(b"columns"))
    place = ours.place("runs/2026/11/b.npz")
    place.write_bytes(b"more columns")
    assert not theirs.exists("runs/2026/11/b.npz"), "what is not complete is nobody's"
    ours.keep("runs/2026/11/b.npz")
    assert Path(theirs.path("runs/2026/11/b.npz")).read_bytes() == b"more columns"
    with theirs.open(name, "rb") as source:
        assert source.read() == b"columns"
    assert (theirs.size(name), theirs.exists("runs/2026/11/c.npz")) == (7, False)
    assert [(one.name, one.n_bytes) for one in theirs.each()] == [
        ("runs/2026/11/a.npz", 7),
        ("runs/2026/11/b.npz", 12),
    ]
    assert theirs.listdir("runs/2026/11")[1] == ["a.npz", "b.npz"]
    theirs.delete(name)
    assert not ours.exists(name)
    assert not Path(theirs.location, name).exists()
    with pytest.raises(FileNotFoundError):
        theirs.open(name, "rb")


@pytest.mark.long
def test_a_cache_keeps_within_its_bound_what_was_asked_for_last(machine):
    ours = machine("ours")
    for name in "abc":
        ours.save(name, ContentFile(name.encode() * 400))
    theirs = machine("theirs", cache_bytes=1_000)
    for age, name in enumerate("ab"):
        long_ago = time.time() - 3 * IN_USE_SECONDS + age
        os.utime(theirs.path(name), (long_ago, long_ago))
    theirs.path("a")  # asked for again, just now
    theirs.path("c")
    assert sorted(path.name for path in Path(theirs.location).iterdir()) == ["a", "c"]
    assert Path(theirs.path("b")).read_bytes() == b"b" * 400, (
        "brought again; what is in use stays, even beyond the bound"
    )
    assert sorted(path.name for path in Path(theirs.location).iterdir()) == ["a", "b", "c"]


@pytest.mark.long
def test_a_store_that_does_not_answer_or_has_no_such_bucket_is_said(machine, monkeypatch):
    store = machine("ours")
    assert store.problem() == ""
    without = ObjectStorage(bucket_name="nobodys-bucket", addressing_style="path", cache_bytes=1)
    assert without.problem().startswith("bucket nobodys-bucket: the object store is not responding")
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", f"http://127.0.0.1:{free_port()}")
    away = machine("theirs")
    with pytest.raises(OSError, match="the object store is not responding"):
        away.exists("a")
    with pytest.raises(OSError, match="the object store is not responding"):
        away.save("a", ContentFile(b"a"))
    assert not Path(away.location, "a").exists(), "nothing half-written"


@pytest.mark.parametrize(
    "address",
    [
        "/srv/files",
        "s3://",
        "http://bucket",
        "s3://key:secret@bucket",
        "s3://bucket?addressing=other",
        "s3://bucket?key=1",
    ],
)
def test_an_address_that_makes_no_sense_stops_the_start(address):
    with pytest.raises(ImproperlyConfigured, match="ASSAY_STORAGE"):
        file_stores.storage_settings(address, cache_gigabytes=1)


def test_the_folder_is_the_default_and_is_a_store_like_the_other(settings, tmp_path):
    assert file_stores.storage_settings("", cache_gigabytes=1) == {
        "BACKEND": "pooling.platform.file_storage.FolderStorage"
    }
    settings.MEDIA_ROOT = tmp_path / "files"
    folder = FolderStorage()
    folder.save("a/b", ContentFile(b"xyz"))
    assert [(one.name, one.n_bytes) for one in folder.each()] == [("a/b", 3)]


@pytest.mark.django_db
def test_the_page_of_the_installation_says_what_the_folder_is_a_cache_of(
    bucket, settings, tmp_path
):
    settings.MEDIA_ROOT = tmp_path
    assert installation.measure_storage()["store"] == ""
    settings.STORAGES = {
        **settings.STORAGES,
        "default": file_stores.storage_settings(
            f"s3://{bucket}/x?addressing=path", cache_gigabytes=1
        ),
    }
    assert (installation.measure_storage()["store"], installation.measure_storage()["folder"]) == (
        f"the bucket {bucket}/x",
        tmp_path,
    )


class Visitor:
    """Somebody who is signed in by the first machine's pages."""

    def __init__(self, url: str, username: str, password: str) -> None:
        self.url, self.session = url, requests.Session()
        self.session.trust_env = False
        self.session.get(url + "/sign-in")
        answer = self.session.post(
            f"{url}/sign-in", data={"username": username, "password": password}, headers=self.head
        )
        assert answer.ok, answer.text

    @property
    def head(self) -> dict[str, str]:
        return {"X-CSRFToken": self.session.cookies["csrftoken"], "Accept": "application/json"}

    def get(self, path: str) -> requests.Response:
        answer = self.session.get(self.url + path)
        assert answer.status_code == 200, answer.text
        return answer

    def post(self, path: str, **said: Any) -> dict[str, Any]:
        answer = self.session.post(self.url + path, headers=self.head, **said)
        assert answer.status_code in (200, 201, 202), answer.text
        return answer.json()

    def at(self, url: str) -> Visitor:
        """The same browser with the same cookies, sent to another web server."""
        other = copy.copy(self)
        other.url = url
        return other

    def done(self, job: dict[str, Any]) -> dict[str, Any]:
        """The job, once the second machine has done it."""
        end = time.monotonic() + 120
        while job["state"] not in ("done", "failed", "cancelled"):
            assert time.monotonic() < end, job
            time.sleep(0.2)
            job = self.get(f"/api/v1/jobs/{job['id']}/").json()
        assert job["state"] == "done", job
        return job


@pytest.mark.slow
@pytest.mark.postgresql
@pytest.mark.redis
@pytest.mark.timeout(600)
def test_two_machines_that_share_nothing_but_database_broker_and_store(
    bucket, postgresql_url, redis_url, tmp_path
):
    """The web server on one, the worker on the other; then the store is all that a third machine
    needs, and a worker without it does not start."""
    with own_database("postgresql", folder=tmp_path, server=postgresql_url) as database:
        shared = shared_settings(bucket, database, redis_url)
        web, worker = (
            {**shared, "ASSAY_DATA_DIR": str(tmp_path / name)} for name in ("web", "worker")
        )
        fill_migrated(database)
        shutil.copytree(collected_folder(), tmp_path / "web")
        manage(web, "shell", "--no-imports", "-c", ADA)
        port = free_port()
        started = [
            started_with(gunicorn_command("127.0.0.1", port), web),
            started_with(worker_command(), worker),
        ]
        try:
            wait_for(f"http://127.0.0.1:{port}/readyz")
            ada = Visitor(f"http://127.0.0.1:{port}", "ada", "a long password")
            ada.post("/api/v1/collections/", json={"name": "Mine", "slug": "mine"})
            base = "/api/v1/collections/mine/"
            for kind, content in (
                ("topics", TOPICS),
                ("run", RUN_A),
                ("run", RUN_B),
                ("documents", DOCUMENTS),
                ("qrels", "051 0 a 1\n051 0 b 0\n"),
            ):
                sent = {
                    "files": {"file": (f"{kind}.txt", content.encode())},
                    "data": {"kind": kind, "mode": "import"},
                }
                assert ada.done(ada.post(base + "uploads/", **sent))["report"]["stored"] is True
            ada.done(ada.post(base + "pools/", json={"depth": 1, "name": "p"}))
            pool = ada.get(base + "pools/").json()["results"][0]
            entries = ada.get(f"{base}pools/{pool['id']}/entries").json()["results"]
            assert {(one["topic"], one["docno"], one["has_text"]) for one in entries} == {
                ("051", "a", True),
                ("051", "b", True),
                ("7", "x", False),
            }
            [qrels] = ada.get(base + "qrels/").json()["results"]
            runs = [one["id"] for one in ada.get(base + "runs/").json()["results"]]
            asked = {
                "kind": "evaluate",
                "collection": "mine",
                "runs": runs,
                "qrels": [f"imported:{qrels['id']}"],
                "options": {"measures": "AP"},
            }
            report = ada.post("/api/v1/reports/", json=asked)
            ada.done(ada.get(f"/api/v1/jobs/{report['job']}/").json())
            answer = ada.get(f"/api/v1/reports/{report['id']}/").json()["result"]
            # The only relevant document, a, is the first of A and not in B.
            assert list(answer["qrels"].values()) == [{"A": {"AP": 1.0}, "B": {"AP": 0.0}}]
        finally:
            end(started)
        columns = {path.name for path in (tmp_path / "worker" / "files" / "runs").rglob("*.npz")}
        assert len(columns) == 2, "written by the worker"
        third = {**shared, "ASSAY_DATA_DIR": str(tmp_path / "third")}
        assert manage(third, "verify") == "no problems\n"
        manage(third, "backup", str(tmp_path / "copy"))
        assert columns <= {
            path.name for path in (tmp_path / "copy" / "files" / "runs").rglob("*.npz")
        }
        alone = {**shared, "ASSAY_STORAGE": "", "ASSAY_DATA_DIR": str(tmp_path / "alone")}
        done = subprocess.run(
            worker_command(),
            cwd=ROOT,
            env=alone,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode != 0
        assert "this machine does not see the files of the installation" in done.stderr
        assert "ASSAY_STORAGE" in done.stderr


@pytest.mark.slow
@pytest.mark.postgresql
@pytest.mark.redis
@pytest.mark.timeout(600)
def test_two_web_servers_and_a_worker_each_with_its_own_folder(
    bucket, postgresql_url, redis_url, tmp_path
):
    """What is brought to one web server is worked on by a third machine, and judged and downloaded
    at the other; one session is good for both."""
    with own_database("postgresql", folder=tmp_path, server=postgresql_url) as database:
        shared = shared_settings(bucket, database, redis_url)
        here_env, there_env, worker = (
            {**shared, "ASSAY_DATA_DIR": str(tmp_path / name)}
            for name in ("here", "there", "worker")
        )
        fill_migrated(database)
        for name in ("here", "there"):
            shutil.copytree(collected_folder(), tmp_path / name)
        manage(
            here_env,
            "shell",
            "--no-imports",
            "-c",
            f"{ADA}; User.objects.create_user('bob', password='another password')",
        )
        ports = free_port(), free_port()
        here_url, there_url = (f"http://127.0.0.1:{port}" for port in ports)
        started = [
            started_with(gunicorn_command("127.0.0.1", port), env)
            for port, env in zip(ports, (here_env, there_env), strict=True)
        ]
        started.append(started_with(worker_command(), worker))
        try:
            for url in (here_url, there_url):
                wait_for(f"{url}/readyz")
            here = Visitor(here_url, "ada", "a long password")
            there = here.at(there_url)
            brought_to_one_is_seen_at_the_other(here, there)
            judged_at_both(here, there_url)
            a_release_is_the_same_from_both(here, there, tmp_path)
        finally:
            end(started)
        assert manage(here_env, "verify") == "no problems\n"


def brought_to_one_is_seen_at_the_other(here: Visitor, there: Visitor) -> None:
    """Files uploaded to either, a pool, its table and page, and a run's page, which reads its
    columns."""
    here.post("/api/v1/collections/", json={"name": "Mine", "slug": "mine"})
    (
        bring(here, "topics", TOPICS),
        bring(there, "run", RUN_A),
        bring(here, "run", RUN_B),
        bring(there, "documents", DOCUMENTS),
    )
    here.done(here.post("/api/v1/collections/mine/pools/", json={"depth": 1, "name": "p"}))
    [pool] = there.get("/api/v1/collections/mine/pools/").json()["results"]
    table = there.get(f"/collections/mine/pools/{pool['id']}/pool.tsv").text
    # The first of A for either topic, and the first of B.
    assert sorted(line.split("\t")[:2] for line in table.splitlines()[1:]) == [
        ["051", "a"],
        ["051", "b"],
        ["7", "x"],
    ]
    assert table == here.get(f"/collections/mine/pools/{pool['id']}/pool.tsv").text
    for one in (here, there):
        assert "<h1" in one.get(f"/collections/mine/pools/{pool['id']}/").text
        for run in one.get("/api/v1/collections/mine/runs/").json()["results"]:
            assert run["tag"] in one.get(f"/collections/mine/runs/{run['id']}/").text


def bring(visitor: Visitor, kind: str, content: str) -> None:
    sent = {
        "files": {"file": (f"{kind}.txt", content.encode())},
        "data": {"kind": kind, "mode": "import"},
    }
    assert (
        visitor.done(visitor.post("/api/v1/collections/mine/uploads/", **sent))["report"]["stored"]
        is True
    )


def judged_at_both(here: Visitor, there_url: str) -> None:
    """Bob is given pairs by one server; the other takes his answers, and each twice without
    counting it twice."""
    rules = {
        "slug": "c",
        "name": "C",
        "judgements_per_pair": 1,
        "min_active_seconds": 0,
        "lease_window": 2,
        "state": "open",
    }
    said = {
        "collection": {"slug": "mine"},
        "pool": {"name": "p"},
        "campaign": {**rules, "people": [{"user": "bob"}]},
    }
    here.post("/api/v1/campaigns/", json=said)
    bob = Visitor(there_url, "bob", "another password")
    also = bob.at(here.url)
    assert bob.get("/judge/c/").ok
    pairs = bob.post("/api/v1/judging/c/leases", json={"want": 2, "held": []})["pairs"]
    assert {pair["document"]["text"] for pair in pairs} == {
        "<script>alert(1)</script> text of a",
        "text of b",
    }, "x has no text yet"
    for one, again, pair in ((bob, also, pairs[0]), (also, bob, pairs[1])):
        grade = 2 if "of a" in pair["document"]["text"] else 0
        answer = {
            "lease": pair["lease"],
            "key": str(uuid.uuid4()),
            "grade": grade,
            "active_ms": 2000,
            "wall_ms": 2000,
            "want": 0,
            "held": [],
        }
        first = one.post("/api/v1/judging/c/judgements", json=answer)["judgement"]
        assert again.post("/api/v1/judging/c/judgements", json=answer)["judgement"] == first
    for one in (bob, also):
        assert one.get("/api/v1/judging/c/setup").json()["progress"]["judged"] == 2
        figures = requests.get(
            f"{one.url}/metrics", headers={"Authorization": "Bearer a token"}, timeout=30
        ).text
        assert {
            "assay_judgements_total 2",
            "assay_claims_total 2",
            "assay_leases_live 0",
            'assay_jobs{state="queued"} 0',
        } <= set(figures.splitlines())


def a_release_is_the_same_from_both(here: Visitor, there: Visitor, folder: Path) -> None:
    recipe = here.post(
        "/api/v1/campaigns/c/recipes/", json={"name": "r", "min_judgements": 1, "documents": True}
    )
    there.done(there.post(f"/api/v1/campaigns/c/recipes/{recipe['id']}/build?anyway=true"))
    [release] = here.get("/api/v1/campaigns/c/recipes/").json()[0]["releases"]
    files = [
        one.get(f"/api/v1/campaigns/c/releases/{release['id']}.zip").content
        for one in (here, there)
    ]
    assert [hashlib.sha256(file).hexdigest() for file in files] == [release["sha256"]] * 2
    with zipfile.ZipFile(io.BytesIO(files[1])) as content:
        [name] = [name for name in content.namelist() if name.endswith("qrels.txt")]
        assert sorted(content.read(name).decode().splitlines()) == ["051 0 a 2", "051 0 b 0"]
    page = there.get("/campaigns/c/export/").text
    assert release["sha256"][:12] in page


def end(processes: list[subprocess.Popen[bytes]]) -> None:
    """By force where a busy machine takes too long: how they end is no question here."""
    for process in processes:
        process.terminate()
    for process in processes:
        try:
            process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def shared_settings(bucket: str, database: str, broker: str) -> dict[str, str]:
    """What all machines of an installation have in common."""
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")},
        "PYTHONPATH": str(ROOT),
        "ASSAY_SECRET_KEY": uuid.uuid4().hex * 2,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "ASSAY_DATABASE_URL": database,
        "ASSAY_BROKER_URL": broker,
        "ASSAY_STORAGE": f"s3://{bucket}/files?addressing=path",
        "ASSAY_METRICS_TOKEN": "a token",
    }


def started_with(command: list[str], env: dict[str, str]) -> subprocess.Popen[bytes]:
    with Path(f"{env['ASSAY_DATA_DIR']}.log").open("ab") as out:
        return subprocess.Popen(command, cwd=ROOT, env=env, stdout=out, stderr=out)


def wait_for(url: str) -> None:
    end = time.monotonic() + 120
    while True:
        with contextlib.suppress(requests.RequestException):
            answer = requests.get(url, timeout=30)
            if answer.ok:
                return
        assert time.monotonic() < end, url
        time.sleep(0.3)


def manage(env: dict[str, str], *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout

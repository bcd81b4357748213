"""Real worker processes, killed with -9, without a broker and on a real Redis."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlparse

import pytest

from tests.migrated import fill_migrated, migrated_file

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("workers")]

ROOT = Path(__file__).resolve().parents[3]
COMMAND = ["-A", "config", "worker", "--pool", "prefork", "--concurrency", "2"]
COMMAND += ["--without-gossip", "--without-mingle"]
PLAIN = """
import importlib, sys, django
django.setup()
for name in sys.argv[1:]:
    importlib.import_module(name)
from django.core.management import call_command
call_command("worker", "--processes=2")
"""


class Installation:
    """A data folder with its own database, and the worker processes that a test starts on it."""

    def __init__(self, folder: Path, broker: str, database: str = "") -> None:
        self.folder, self.database, self.diary = folder, database, folder / "diary"
        self.env = dict(
            os.environ,
            DJANGO_SETTINGS_MODULE="config.settings",
            PYTHONPATH=str(ROOT),
            ASSAY_LOG_LEVEL="WARNING",
        )
        self.env.update(
            ASSAY_DATA_DIR=str(folder), ASSAY_BROKER_URL=broker, ASSAY_DATABASE_URL=database
        )
        self.workers: list[subprocess.Popen[bytes]] = []

    def manage(self, *arguments: str) -> str:
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.env,
            check=True,
            capture_output=True,
            text=True,
            timeout=120,
        ).stdout

    def enqueue(
        self, kind: str = "slow count", *, n: int = 1, steps: int = 1, seconds: float = 0
    ) -> None:
        self.manage(
            "shell",
            "-c",
            "import tests.pooling.jobs.slow\n"
            "from pooling import tasks\n"
            f"for i in range({n}):\n"
            f"    tasks.enqueue({kind!r}, dict(diary={str(self.diary)!r}, steps={steps}, "
            f"seconds={seconds}), label='slow', user=None)\n",
        )

    def start_worker(self, *modules: str) -> subprocess.Popen[bytes]:
        """modules: loaded by it beside the slow kind of job."""
        modules = ("tests.pooling.jobs.slow", *modules)
        name = f"w{len(self.workers)}-{self.folder.name}@%h"
        celery = ["-m", "celery", *COMMAND, "-I", ",".join(modules), "-n", name]
        command = celery if self.env["ASSAY_BROKER_URL"] else ["-c", PLAIN, *modules]
        with (self.folder / "worker.log").open("ab") as out:
            worker = subprocess.Popen(
                [sys.executable, *command],
                cwd=ROOT,
                env=self.env,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
        self.workers.append(worker)
        return worker

    def kill(self, worker: subprocess.Popen[bytes]) -> None:
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait(timeout=30)

    def sql(self, statement: str) -> list[tuple]:
        if self.database:
            import psycopg

            with psycopg.connect(self.database) as database:
                found = database.execute(statement)
                return found.fetchall() if found.description else []
        with sqlite3.connect(self.folder / "assay.sqlite3", timeout=20) as database:
            return database.execute(statement).fetchall()

    def jobs(self) -> list[tuple[str, int]]:
        return self.sql("SELECT state, attempt FROM pooling_job ORDER BY id")

    def let_time_pass(self) -> None:
        """As if the last signs of life were an hour old."""
        earlier = (
            "heartbeat - interval '1 hour'" if self.database else "datetime(heartbeat, '-1 hour')"
        )
        self.sql(f"UPDATE pooling_job SET heartbeat = {earlier} WHERE state = 'running'")

    def lines(self, word: str) -> list[str]:
        text = self.diary.read_text(encoding="utf-8") if self.diary.exists() else ""
        return [line.split()[1] for line in text.splitlines() if line.startswith(word)]

    def wait(self, condition: Callable[[], bool], seconds: float = 120) -> None:
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                pytest.fail(
                    f"jobs {self.jobs()}; log: {(self.folder / 'worker.log').read_text()[-3000:]}"
                )
            time.sleep(0.1)


@pytest.fixture(scope="module")
def migrated() -> Path:
    return migrated_file()


@pytest.fixture
def installation(tmp_path: Path, migrated: Path) -> Iterator[Callable[[str], Installation]]:
    made: list[Installation] = []

    def make(broker: str, database: str = "") -> Installation:
        (tmp_path / "assay.sqlite3").write_bytes(migrated.read_bytes())
        made.append(Installation(tmp_path, broker, database))
        return made[-1]

    yield make
    for one in made:
        for worker in one.workers:
            if worker.poll() is None:
                one.kill(worker)


@pytest.fixture
def empty_redis(redis_url: str) -> Iterator[str]:
    """A database of the Redis server that no other test process uses."""
    import redis

    url = urlparse(redis_url)._replace(path=f"/{10 + os.getpid() % 6}").geturl()
    server = redis.Redis.from_url(url)
    server.flushdb()
    yield url
    server.flushdb()
    server.close()


def finish_after_a_kill(place: Installation) -> None:
    """Two of three jobs are begun when their worker is killed; the next does all three once, and
    stops on one signal."""
    place.enqueue(n=3, steps=15, seconds=0.1)
    first = place.start_worker()
    place.wait(lambda: len(place.lines("begun")) >= 2)
    place.kill(first)
    place.let_time_pass()
    second = place.start_worker()
    place.wait(lambda: all(state == "done" for state, _ in place.jobs()))
    assert sorted(place.lines("done")) == ["1", "2", "3"]
    assert sorted(attempt for _, attempt in place.jobs()) == [1, 2, 2]
    second.send_signal(signal.SIGTERM)
    assert second.wait(timeout=60) == 0


def test_jobs_of_a_worker_killed_with_9_are_done_once_by_the_next_without_a_broker(installation):
    finish_after_a_kill(installation(""))


def test_a_worker_whose_processes_are_all_at_long_jobs_does_urgent_ones_and_ends_long_ones_that_are_cancelled(
    installation,
):
    """One of them ends for no exception, so its process is killed, and another takes its place."""
    place = installation("")
    place.enqueue(seconds=600)
    place.enqueue("stubborn sleep")
    place.start_worker("tests.pooling.jobs.impatient")
    place.wait(lambda: len(place.lines("begun")) == 2)
    place.enqueue("urgent note")
    place.wait(lambda: place.jobs() == [("running", 1), ("running", 1), ("done", 1)])
    place.sql("UPDATE pooling_job SET cancel_requested = 1 WHERE state = 'running'")
    place.wait(lambda: place.jobs() == [("cancelled", 1), ("cancelled", 1), ("done", 1)])
    place.enqueue(n=2)
    place.wait(lambda: sorted(place.lines("done")) == ["3", "4", "5"])


def running_below(pid: int) -> list[int]:
    """Processes that this one began and that have not ended."""
    listed = subprocess.run(
        ["ps", "-A", "-o", "pid=,sid=,stat="], capture_output=True, text=True, check=True
    )
    rows = [line.split() for line in listed.stdout.splitlines()]
    return [
        int(one)
        for one, session, stat in rows
        if int(session) == pid and int(one) != pid and not stat.startswith("Z")
    ]


def kill_all(processes: list[int]) -> None:
    for process in processes:
        os.kill(process, signal.SIGKILL)


def test_processes_that_were_killed_with_9_are_replaced_and_their_jobs_done_by_others(
    installation,
):
    place = installation("")
    worker = place.start_worker()
    place.enqueue(n=1, steps=1, seconds=0.01)
    place.wait(lambda: place.jobs() == [("done", 1)])
    kill_all(running_below(worker.pid))  # idle ones
    place.enqueue(n=2, steps=50, seconds=0.1)
    place.wait(lambda: len(place.lines("begun")) == 3)
    kill_all(running_below(worker.pid))
    place.wait(lambda: all(state == "done" for state, _ in place.jobs()))
    assert sorted(place.lines("done")) == ["1", "2", "3"]
    assert [attempt for _, attempt in place.jobs()] == [1, 2, 2]
    assert worker.poll() is None
    assert "starting another one" in (place.folder / "worker.log").read_text()


def test_a_worker_that_is_asked_to_end_finishes_its_jobs_and_takes_no_other(installation):
    place = installation("")
    worker = place.start_worker()
    place.enqueue(n=3, steps=30, seconds=0.1)
    place.wait(lambda: len(place.lines("begun")) == 2)
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(timeout=60) == 0
    assert place.jobs() == [("done", 1), ("done", 1), ("queued", 0)]
    assert running_below(worker.pid) == []


def test_processes_of_a_worker_that_was_killed_alone_finish_their_jobs_and_end(installation):
    place = installation("")
    worker = place.start_worker()
    place.enqueue(n=3, steps=20, seconds=0.1)
    place.wait(lambda: len(place.lines("begun")) == 2)
    worker.kill()
    place.wait(lambda: running_below(worker.pid) == [])
    assert place.jobs() == [("done", 1), ("done", 1), ("queued", 0)]


def test_celery_without_a_broker_says_what_to_start_instead(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "celery", *COMMAND],
        cwd=ROOT,
        env={**os.environ, "ASSAY_DATA_DIR": str(tmp_path), "ASSAY_BROKER_URL": ""},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode != 0
    assert "start `assay worker` instead" in done.stderr


@pytest.mark.redis
def test_jobs_of_a_worker_killed_with_9_are_done_once_by_the_next_over_redis(
    installation, empty_redis
):
    finish_after_a_kill(installation(empty_redis))


@pytest.fixture
def empty_database(postgresql_url: str) -> Iterator[str]:
    """A new database on the PostgreSQL server."""
    import psycopg

    name = f"assay_jobs_{os.getpid()}"
    with psycopg.connect(postgresql_url, autocommit=True) as server:
        server.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        server.execute(f"CREATE DATABASE {name}")
    yield urlparse(postgresql_url)._replace(path=f"/{name}").geturl()
    with psycopg.connect(postgresql_url, autocommit=True) as server:
        server.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


@pytest.mark.postgresql
def test_workers_without_a_broker_on_postgresql_do_each_job_once_though_one_is_killed_with_9(
    installation, empty_database
):
    place = installation("", empty_database)
    fill_migrated(empty_database)
    first = place.start_worker()
    place.start_worker()
    place.enqueue(n=4, steps=10, seconds=0.1)
    place.wait(lambda: len(place.lines("begun")) >= 3)
    place.kill(first)
    place.let_time_pass()
    place.wait(lambda: all(state == "done" for state, _ in place.jobs()))
    assert sorted(place.lines("done")) == ["1", "2", "3", "4"]


@pytest.mark.redis
def test_two_workers_and_an_emptied_broker_do_each_job_once(installation, empty_redis):
    import redis

    place = installation(empty_redis)
    place.enqueue(n=6, steps=3, seconds=0.05)
    redis.Redis.from_url(empty_redis).flushdb()  # the hints are lost; the rows are not
    place.start_worker()
    place.start_worker()
    place.wait(lambda: all(state == "done" for state, _ in place.jobs()))
    assert sorted(place.lines("begun")) == ["1", "2", "3", "4", "5", "6"]
    assert sorted(place.lines("done")) == ["1", "2", "3", "4", "5", "6"]


def test_a_worker_that_does_not_see_the_files_says_so_and_does_not_start(installation):
    place = installation("")
    place.manage(
        "shell",
        "-c",
        "from pooling.models import Collection, Run\n"
        "c = Collection.objects.create(slug='c', name='c')\n"
        "Run.objects.create(collection=c, tag='a', source_name='a', "
        "columns='runs/2026/01/none.npz', digest='', n_rows=1, n_topics=1)\n",
    )
    worker = place.start_worker()
    assert worker.wait(timeout=120) != 0
    assert (
        "this machine does not see the files of the installation"
        in (place.folder / "worker.log").read_text()
    )

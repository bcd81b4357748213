"""A whole installation in its own folder, with a campaign and annotators' sessions, and the servers
that it needs."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.installation import ROOT, Installation
from tests.soak.crew import Crew, SoakPage
from tests.soak.servers import (
    OwnPostgreSQL,
    OwnRedis,
    Unavailable,
    children,
    signal_all,
    tree,
    wait_for,
)
from tests.soak.set_clock import SetClock

N_ANNOTATORS = 6
N_JOB, JOB_SECONDS = 20_000, 300
"""Number of documents that a job imports, and seconds that it may take after its fault. A worker
that takes no job ends after 90 seconds and is restarted."""
TMPFS_MB = 180
N_RELEASE = 5_000
"""Number of judgements in the release that is imported while people judge."""

CAMPAIGN = f"""
import json
from benchmarks.request_load import create_session
campaign = make_campaign(n_topics=100, n_documents=60, judgements_per_pair=2, name="Soak")
print(json.dumps([create_session(make_annotator(campaign, f"soak{{i}}")) for i in range({N_ANNOTATORS})]))
"""
JOB = """
import json
from django.core.files.base import ContentFile
from pooling import tasks
from pooling.models import Collection
from pooling.services import uploads
text = "".join(json.dumps({"_id": f"NAME-{i}", "text": "a text of some words " * 20}) + "\\n" for i in range(N))
collection = Collection.objects.order_by("pk").first()
upload = uploads.store_upload(collection, kind="documents", file=ContentFile(text.encode(), "NAME.jsonl"), name="NAME.jsonl", user=None)
tasks.send(uploads.request_import(upload, mode="import", options={}, user=None))
"""
LOOK = """
import json
from annotation.models import Campaign, Judgement
from config import verification
from pooling.models import DocumentFile, Job
from tests.annotation.storm import facts
print(json.dumps({
    **facts(Campaign.objects.get(slug="soak")),
    "faults": [fault.sentence for fault in verification.find_faults(fix=False)],
    "keys": [str(key) for key in Judgement.objects.values_list("key", flat=True)],
    "jobs": {job.parameters["file"]: [job.state, job.attempt, job.message] for job in Job.objects.all()},
    "imported": sum(DocumentFile.objects.filter(name="NAME.jsonl").values_list("n_documents", flat=True)),
}))
"""


def _memory_mb(pids: list[int]) -> float:
    rolled_up = "\n".join(Path(f"/proc/{pid}/smaps_rollup").read_text() for pid in pids)
    return (
        sum(int(line.split()[1]) for line in rolled_up.splitlines() if line.startswith("Pss:"))
        / 1000
    )


class Place:
    """An installation in which faults are caused.

    needs: 'redis' (job notifications use a separate Redis server), 'small disk' (the folder is a
    memory disk of TMPFS_MB), 'no override' (root cannot write read-only files), 'clock' (its
    processes have a clock that can be set), 'release' (a release of N_RELEASE judgements is
    available). checkout: of the program to run, if not this one.
    """

    def __init__(
        self, vendor: str, needs: frozenset[str] = frozenset(), *, checkout: Path = ROOT
    ) -> None:
        self.vendor, self.needs, self.checkout = vendor, needs, checkout
        self.base = Path(tempfile.mkdtemp(prefix="soak-"))
        self.folder = self.base / "data"
        self.folder.mkdir()
        self.postgresql: OwnPostgreSQL | None = None
        self.redis: OwnRedis | None = None
        self.sessions: list[dict[str, str]] = []
        self.n_jobs = 0

    def __enter__(self) -> Place:
        try:
            self._start()
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end()

    def _start(self) -> None:
        settings: dict[str, str] = {"WEB_WORKERS": "2", "WEB_THREADS": "4", "WORKER_PROCESSES": "1"}
        if self.vendor == "postgresql":
            self.postgresql = OwnPostgreSQL()
            self.postgresql.start()
            settings["DATABASE_URL"] = self.postgresql.url
        if "redis" in self.needs:
            self.redis = OwnRedis()
            self.redis.start()
            settings["BROKER_URL"] = self.redis.url
        if "small disk" in self.needs:
            self._mount()
        self.installation = Installation(
            self.folder, program=self._program(), checkout=self.checkout, prepared=True, **settings
        )
        if "clock" in self.needs:
            self.clock = SetClock(self.base)
            self.installation.env |= self.clock.environment
        self.installation.log = self.base / "server.log"
        self.installation.__enter__()
        self.sessions = json.loads(self.installation.run(CAMPAIGN))
        if "release" in self.needs:
            self._make_release()

    def _make_release(self) -> None:
        judged, self.release = self.base / "judged.csv", self.base / "release.zip"
        rows = (f"q{n // 50},d{n % 50 // 2},{'ab'[n % 2]},{n % 4}" for n in range(N_RELEASE))
        judged.write_text(
            "\n".join(["topic,document,annotator,grade", *rows, ""]), encoding="utf-8"
        )
        bring, build = (
            ("import_judgements", str(judged), "--name", "elsewhere"),
            (
                "export_campaign",
                "--force",
                "--campaign",
                "elsewhere",
                "--output",
                str(self.release),
            ),
        )
        for command in (bring, build):
            status, text = self.manage(*command)
            if status:
                raise RuntimeError(text)

    def crew(self) -> Crew:
        return Crew([SoakPage(self.installation.port, session) for session in self.sessions])

    def _program(self) -> list[str] | None:
        if "no override" not in self.needs or os.getuid() != 0:
            return None
        if shutil.which("setpriv") is None:
            raise Unavailable("setpriv is not installed, and root may write everywhere")
        dropped = "-dac_override,-dac_read_search"
        return [
            "setpriv",
            f"--bounding-set={dropped}",
            f"--inh-caps={dropped}",
            sys.executable,
            str(self.checkout / "manage.py"),
        ]

    def _mount(self) -> None:
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={TMPFS_MB}m", "none", str(self.folder)],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise Unavailable(f"a small disk needs the right to mount one ({done.stderr.strip()})")

    def end(self) -> None:
        """End everything that was started."""
        installation = getattr(self, "installation", None)
        if installation is not None:
            signal_all(self.processes(), signal.SIGCONT)
            installation.stop()
            signal_all(self.processes(), signal.SIGKILL)
        for server in (self.postgresql, self.redis):
            if server is not None:
                server.end()
        if "small disk" in self.needs:
            subprocess.run(["umount", "-l", str(self.folder)], capture_output=True, check=False)
        shutil.rmtree(self.base, ignore_errors=True)

    # --- its processes
    # --------------------------------------------------------------------------------------------------------------

    def processes(self) -> list[int]:
        """Return all processes that were started for this folder. They are recognised by their
        environment, because their parents may have ended."""
        mark = f"ASSAY_DATA_DIR={self.folder}".encode()
        marked = []
        for entry in Path("/proc").iterdir():
            try:
                if (
                    entry.name.isdigit()
                    and mark in (entry / "environ").read_bytes().split(b"\0")
                    and int(entry.name) != os.getpid()
                ):
                    marked.append(int(entry.name))
            except OSError:  # the process has ended, or belongs to another user
                continue
        return marked

    @property
    def up(self) -> int:
        assert self.installation.server is not None
        return self.installation.server.pid

    def _child(self, word: bytes) -> int:
        def named() -> list[int]:
            return [
                pid
                for pid in children(self.up)
                if word in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            ]

        wait_for(lambda: bool(named()), 60, f"no process of {word!r} is left")
        return named()[0]

    def web_master(self) -> int:
        return self._child(b"gunicorn")

    def web_workers(self) -> list[int]:
        return children(self.web_master())

    def background(self) -> list[int]:
        """Return the background worker and its children."""
        return tree(self._child(b"worker"))

    def memory_mb(self) -> tuple[float, float]:
        """Return the memory of (web server, background worker) over all their processes. Memory
        shared by n processes counts as one nth for each."""
        return _memory_mb(tree(self.web_master())), _memory_mb(self.background())

    def log_end(self) -> str:
        return self.installation.log.read_text(errors="replace")[-6000:]

    # --- what it did
    # ----------------------------------------------------------------------------------------------------------------

    def manage(self, *arguments: str) -> tuple[int, str]:
        """Run a management command. Returns (status, everything that it printed)."""
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=self.checkout,
            env=self.installation.env,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    def begin_job(self) -> str:
        """Start a background job and return the name of its file."""
        self.n_jobs += 1
        self.installation.run(
            JOB.replace("NAME", f"file{self.n_jobs}").replace("range(N)", f"range({N_JOB})")
        )
        return f"file{self.n_jobs}.jsonl"

    def look(self) -> dict[str, Any]:
        """Read facts from the database: the campaign, all jobs, the number of documents imported by
        the last job, and the problems found by `assay verify`."""
        facts: dict[str, Any] = json.loads(
            self.installation.run(LOOK.replace("NAME", f"file{self.n_jobs}"))
        )
        return facts

"""A stability report on the web with one and with two workers, on a real Redis and one database.

The elements `assessments` and `documents` of the multi-element protocol on TREC-COVID's complete
qrels (from ASSAY_TEST_DATA) with the ten generated runs of bench_stability. Workers are `celery
worker` processes with one child each, started before the measurement. The measured time is that of
the job from claim to end, including reading, combining and charts. One and two workers alternate,
and their results must be equal. The time only falls if the machine has idle cores.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
BROKER = os.environ.get("ASSAY_TEST_BROKER_URL", "redis://127.0.0.1:6379/8")
ROUNDS = 2
# pairs of sub-collections per level, four times the protocol's, so that computing outweighs
# reading and charts
PAIRS = 200
WORKER_ARGUMENTS = [
    "-m",
    "celery",
    "-A",
    "config",
    "worker",
    "--pool",
    "prefork",
    "--concurrency",
    "1",
    "--without-gossip",
    "--without-mingle",
]

SETUP_SCRIPT = """
from benchmarks.bench_stability import generate_collection
from assay.formats.qrels import save_qrels
from assay.formats.runs import save_run
from pooling.models import Collection
from pooling.services.stored_columns import store_columns
qrels, runs, _ = generate_collection()
collection = Collection.objects.create(slug="covid", name="TREC-COVID")
for run in runs:
    name, digest = store_columns("runs", lambda target: save_run(run, target))
    collection.runs.create(tag=run.tag, columns=name, digest=digest, n_rows=len(run), n_topics=len(run.topics))
name, digest = store_columns("qrels", lambda target: save_qrels(qrels, target))
collection.qrels.create(name="judged", columns=name, digest=digest, n_rows=len(qrels), n_topics=len(qrels.topics))
"""

ASK_SCRIPT = """
from analysis.systems.kinds import KINDS
from analysis.systems import reports
from pooling.models import Collection
from pooling.tasks import send
collection = Collection.objects.get()
report = reports.request_report(
    KINDS["stability"], collection=collection, campaign=None, seed=5, user=None,
    parameters=dict(
        runs=[r.pk for r in collection.runs.all()],
        qrels=["imported:%d" % collection.qrels.get().pk],
        options=dict(element={element!r}, pairs={pairs}),
    ),
)
send(report.job)
print(report.pk)
"""

SEEN_SCRIPT = """
import json
from analysis.models import Report
report = Report.objects.select_related("job").get(pk={pk})
job = report.job
seconds = (job.finished_at - job.started_at).total_seconds() if job.finished_at else None
print(json.dumps([job.state, seconds, report.result if job.state == "done" else job.message]))
"""


class WorkerInstallation:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = dict(
            os.environ,
            ASSAY_DATA_DIR=str(folder),
            ASSAY_BROKER_URL=BROKER,
            ASSAY_DATABASE_URL="",
            ASSAY_SECRET_KEY="only for a benchmark",
        )
        self.env |= {
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "PYTHONPATH": str(ROOT),
            "OPENBLAS_NUM_THREADS": "1",
        }

    def manage(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.env,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
        return done.stdout.strip()

    def shell(self, code: str) -> str:
        return self.manage("shell", "-v", "0", "-c", code)

    def wait_for(self, pk: int) -> None:
        """Wait until the job ends, by polling only its row. Starting a Django process every second
        would take a core from the workers."""
        state = "SELECT state FROM pooling_job WHERE id = (SELECT job_id FROM analysis_report WHERE id = ?)"
        with contextlib.closing(sqlite3.connect(self.folder / "assay.sqlite3")) as database:
            while database.execute(state, [pk]).fetchone()[0] in ("queued", "running"):
                time.sleep(0.2)

    def measure_report(self, n_workers: int, *, element: str, pairs: int) -> tuple[float, Any]:
        """Compute a report with this number of workers. Returns the seconds taken and the report's
        result."""
        with (self.folder / "worker.log").open("ab") as log:
            workers = [
                subprocess.Popen(
                    [sys.executable, *WORKER_ARGUMENTS, "-n", f"b{i}@%h"],
                    cwd=ROOT,
                    env=self.env,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
                for i in range(n_workers)
            ]
            try:
                time.sleep(12)  # the workers are up and idle
                pk = int(
                    self.shell(ASK_SCRIPT.format(element=element, pairs=pairs)).splitlines()[-1]
                )
                self.wait_for(pk)
                state, seconds, result = json.loads(
                    self.shell(SEEN_SCRIPT.format(pk=pk)).splitlines()[-1]
                )
                if state != "done":
                    raise RuntimeError(f"{state}: {result}")
                return seconds, result
            finally:
                for worker in workers:
                    worker.terminate()
                for worker in workers:
                    worker.wait(timeout=60)


def main(quick: bool = False) -> list[dict[str, object]]:
    import redis

    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as folder:
        place = WorkerInstallation(Path(folder))
        server = redis.Redis.from_url(BROKER)
        place.manage("migrate", "-v", "0")
        place.shell(SETUP_SCRIPT)
        for element in ("assessments",) if quick else ("assessments", "documents"):
            seconds: dict[int, list[float]] = {1: [], 2: []}
            results = []
            for _ in range(1 if quick else ROUNDS):
                for n_workers, taken in seconds.items():
                    server.flushdb()
                    lasted, result = place.measure_report(
                        n_workers, element=element, pairs=10 if quick else PAIRS
                    )
                    taken.append(lasted)
                    results.append(result)
            if any(result != results[0] for result in results):
                raise RuntimeError("the answer depends on the number of workers")
            one, two = (median(taken) for taken in seconds.values())
            rows.append(
                {
                    "work": f"web report of stability over {element}, two workers",
                    "peer": "the same report with one worker; the results are identical",
                    "ratio": one / two,
                    "at_least": 1.3,
                    "aim": 1.8,
                    "note": f"{two:.1f} s compared with {one:.1f} s, two cores, one Redis",
                    "figures": {"seconds": {str(n): taken for n, taken in seconds.items()}},
                }
            )
        server.flushdb()
        server.close()
    return rows

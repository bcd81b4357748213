"""Two real workers on a real Redis share the pieces of a report; the answer is the command's."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.analysis.systems.builders import qrels_text, run_texts
from tests.pooling.jobs.test_workers import (  # noqa: F401  fixtures
    ROOT,
    empty_redis,
    installation,
    migrated,
)

SETUP = """
import sys
from pathlib import Path
from pooling.models import Collection
from assay.formats.qrels import read_qrels, save_qrels
from assay.formats.runs import read_run, save_run
from pooling.services.stored_columns import store_columns
from analysis.systems.kinds import KINDS
from analysis.systems import reports
from pooling.tasks import send
folder = Path({folder!r})
collection = Collection.objects.create(slug="small", name="Small")
for path in sorted(folder.glob("*.run")):
    run = read_run(path)
    name, digest = store_columns("runs", lambda target: save_run(run, target))
    collection.runs.create(tag=run.tag, columns=name, digest=digest, n_rows=len(run), n_topics=len(run.topics))
qrels = read_qrels(folder / "judged.qrels")
name, digest = store_columns("qrels", lambda target: save_qrels(qrels, target))
row = collection.qrels.create(name="judged", columns=name, digest=digest, n_rows=len(qrels), n_topics=len(qrels.topics))
report = reports.request_report(
    KINDS["stability"], collection=collection, campaign=None, seed=5, user=None,
    parameters=dict(
        runs=[r.pk for r in collection.runs.all()],
        qrels=["imported:%d" % row.pk],
        options=dict(element="assessments", pairs={pairs}),
    ),
)
send(report.job)
"""


@pytest.mark.long
@pytest.mark.redis
def test_two_workers_share_a_report_and_give_the_commands_answer(
    installation,  # noqa: F811
    empty_redis,  # noqa: F811
    tmp_path: Path,
) -> None:
    files = tmp_path / "files-of-the-command"
    files.mkdir()
    for tag, text in run_texts().items():
        (files / f"{tag}.run").write_text(text)
    (files / "judged.qrels").write_text("".join(sorted(qrels_text(1, 3).splitlines(keepends=True))))
    place = installation(empty_redis)
    place.start_worker()
    place.start_worker()
    place.manage("shell", "-c", SETUP.format(folder=str(files), pairs=400))
    place.wait(lambda: [state for state, _ in place.jobs()] == ["done"], seconds=120)
    (text,) = place.sql("SELECT result FROM analysis_report")[0]
    command = [
        sys.executable,
        "manage.py",
        "stability",
        str(files / "judged.qrels"),
        *map(str, sorted(files.glob("*.run"))),
    ]
    said = subprocess.run(
        [*command, "--element", "assessments", "--pairs", "400", "--seed", "5", "--json"],
        cwd=ROOT,
        env=place.env,
        check=True,
        capture_output=True,
        text=True,
    )
    assert json.loads(text) == json.loads(said.stdout)

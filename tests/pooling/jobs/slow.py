"""A kind of job for tests with real workers: counts slowly and leaves a line in a file for each time it was begun and done."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from pooling import jobs
from pooling.jobs import Work


@jobs.kind("slow count", unit="steps")
def slow_count(work: Work) -> dict[str, Any]:
    diary = Path(work.parameters["diary"])
    note(diary, f"begun {work.job.pk} {os.getpid()}")
    steps = work.parameters["steps"]
    for step in range(steps):
        time.sleep(work.parameters["seconds"])
        work.progress(step + 1, total=steps, now=True)
    with work.finishing() as report:
        report["steps"] = steps
    note(diary, f"done {work.job.pk} {os.getpid()}")
    return report


def note(diary: Path, line: str) -> None:
    with diary.open("a", encoding="utf-8") as out:
        out.write(line + "\n")

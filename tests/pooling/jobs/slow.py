"""Kinds of jobs for tests with real workers. Each writes a line to a file whenever it begins and
ends."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import Any

from pooling.platform import jobs
from pooling.platform.jobs import ClaimedJob


@jobs.register_job_kind("slow count", unit="steps")
def slow_count(work: ClaimedJob) -> dict[str, Any]:
    diary = Path(work.parameters["diary"])
    note(diary, f"begun {work.job.pk} {os.getpid()}")
    steps = work.parameters["steps"]
    for step in range(steps):
        time.sleep(work.parameters["seconds"])
        work.progress(step + 1, total=steps, now=True)
    with work.completion_transaction() as report:
        report["steps"] = steps
    note(diary, f"done {work.job.pk} {os.getpid()}")
    return report


@jobs.register_job_kind("stubborn sleep", unit="steps")
def stubborn_sleep(work: ClaimedJob) -> None:
    """Sleep and ignore all exceptions that should end the job."""
    note(Path(work.parameters["diary"]), f"begun {work.job.pk} {os.getpid()}")
    while True:
        with contextlib.suppress(BaseException):
            time.sleep(600)


@jobs.register_job_kind("urgent note", unit="steps", urgent=True)
def urgent_note(work: ClaimedJob) -> None:
    note(Path(work.parameters["diary"]), f"done {work.job.pk} {os.getpid()}")


def note(diary: Path, line: str) -> None:
    with diary.open("a", encoding="utf-8") as out:
        out.write(line + "\n")

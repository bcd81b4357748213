"""A summary of where a test run spent its time, printed after each run of more than a minute, so
that it is always current."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

LEAST_SECONDS = 60.0
MOST_FOLDERS = 12


def seconds_by_folder(reports: Iterable[Any]) -> list[tuple[str, float]]:
    """Return (folder, seconds of its tests over all processes, including set-up), slowest first.
    Each file directly in tests/ counts as a folder."""
    seconds: Counter[str] = Counter()
    for report in reports:
        if hasattr(report, "duration") and hasattr(report, "nodeid"):
            path = report.nodeid.partition("::")[0]
            folder = path.rpartition("/")[0]
            seconds[path if folder == "tests" else folder] += report.duration
    return seconds.most_common()


def told(reports: Iterable[Any]) -> list[str]:
    """Return the lines of the summary at the end of a run, none after a short one."""
    by_folder = seconds_by_folder(reports)
    if sum(seconds for _, seconds in by_folder) < LEAST_SECONDS:
        return []
    return [f"{seconds:7.0f} s  {folder}" for folder, seconds in by_folder[:MOST_FOLDERS]]

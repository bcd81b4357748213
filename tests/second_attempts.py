"""One more attempt for tests that drive real parts, where processes share a machine: a browser that
comes late beside two other test processes is no defect of the program. What failed first is told by
name and reason at the end of the run, and wants its cause found. A test of pure computation has one
attempt, and so has every test that runs alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

REAL_PARTS = ("browser", "postgresql", "redis", "slow")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if hasattr(config, "workerinput"):
        for item in items:
            if any(item.get_closest_marker(name) for name in REAL_PARTS):
                item.add_marker(pytest.mark.flaky(reruns=1))


def told(reports: Iterable[Any]) -> list[str]:
    """Of each attempt that was followed by another: the test, and the last lines of why."""
    return [
        f"{report.nodeid}\n    " + "\n    ".join(str(report.longrepr).splitlines()[-6:])
        for report in reports
    ]


@pytest.hookimpl(trylast=True)
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """In the process that shares the tests out: who waits for the end of a long run has the name at
    once."""
    if (report.failed or report.outcome == "rerun") and hasattr(report, "node"):  # type: ignore[comparison-overlap]  # the outcome of rerunfailures
        print(f"\n{report.outcome}: {report.nodeid}", flush=True)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    lines = told(terminalreporter.stats.get("rerun", []))
    if lines:
        terminalreporter.section(
            "failed at the first attempt: find out why", sep="!", yellow=True, bold=True
        )
        for line in lines:
            terminalreporter.write_line(line)

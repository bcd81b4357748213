"""A second attempt for tests that drive real programs while processes share a machine. A browser
that responds late next to two other test processes is not a defect of Assay.

The first failure is reported by name and reason at the end of the run, and its cause should be
found. Tests of pure computation have only one attempt, as do all tests that run alone.
"""

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
    """Describe each repeated attempt: the test, and the last lines of the failure."""
    return [
        f"{report.nodeid}\n    " + "\n    ".join(str(report.longrepr).splitlines()[-6:])
        for report in reports
    ]


@pytest.hookimpl(trylast=True)
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Print each failed or repeated attempt at once in the process that distributes the tests, so
    that its name is known before a long run ends."""
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

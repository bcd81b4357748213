"""`make screenshots`, the tasks: each done in the first version and in this one, a picture of where
it ends in var/screenshots/tasks, and the table of actions and pages there and in docs/evidence/usability.md.

    python -m tests.tasks [word …]      only the tasks whose name has one of the words;
    docs/evidence/usability.md stays as it is
    python -m tests.tasks --only-now …  this version alone
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from benchmarks.bench_requests import EARLIER_COMMIT, checkout
from tests.browser.chromium import FLAGS, browser_path
from tests.installation import ROOT, Installation
from tests.tasks.doing import at_the_start, filled, photograph
from tests.tasks.every import TASKS
from tests.tasks.task import Task

OUT, DOCUMENT = ROOT / "var" / "screenshots" / "tasks", ROOT / "docs" / "evidence" / "usability.md"
MARK = "<!-- measured -->\n"


@dataclass(frozen=True)
class Done:
    """The cost of a completed task. failed: why it was not completed, or empty."""

    actions: int
    loads: int
    note: str = ""
    failed: str = ""

    def __str__(self) -> str:
        return "failed" if self.failed else f"{self.actions} / {self.loads}"


def do_all(
    tasks: list[Task], browser: Browser, assay: Installation, version: str
) -> dict[str, Done]:
    given, done = filled(assay), {}
    for number, task in enumerate(TASKS, start=1):
        if task not in tasks:
            continue
        with at_the_start(browser, assay.url, given, task) as hands:
            failed = ""
            try:
                getattr(task, version)(hands)
            except Exception:  # other tasks continue; the screenshot shows the failure
                failed = traceback.format_exc()
                sys.stderr.write(f"{task.name}, {version}:\n{failed}\n")
            photograph(
                hands.page, OUT / f"{number:02d}-{task.name.replace('_', '-')}-{version}.png"
            )
            done[task.name] = Done(hands.actions, hands.loads, hands.note, failed)
            sys.stdout.write(f"{version:6} {task.name}: {done[task.name]}\n")
    return done


@contextmanager
def first_version(folder: Path) -> Iterator[Installation | None]:
    """Start the demo of the version BEFORE. None if the repository has no history."""
    with checkout(EARLIER_COMMIT) as code:
        if code is None:
            sys.stderr.write(
                f"NO HISTORY HERE, so the first version ({EARLIER_COMMIT}) is left out: a full clone has it.\n"
            )
            yield None
            return
        shutil.copytree(ROOT / "tests" / "tasks", code / "tests" / "tasks")
        with Installation(folder, demo=True, checkout=code, answers="/sign-in") as assay:
            yield assay


def table(tasks: list[Task], before: dict[str, Done], now: dict[str, Done]) -> str:
    lines = ["| task | version 0.1.0 | now | notes on version 0.1.0 |", "|---|---|---|---|"]
    for task in tasks:
        then = before.get(task.name)
        words = "; ".join(
            part
            for part in (
                task.not_before,
                then.note if then else "",
                task.published and f"earlier count: {task.published}",
            )
            if part
        )
        was = "not measured" if then is None else "not possible" if task.not_before else str(then)
        is_now = f"{now[task.name]}{f' ({now[task.name].note})' if now[task.name].note else ''}"
        lines.append(f"| {task.says} | {was} | {is_now} | {words} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("words", nargs="*")
    parser.add_argument("--only-now", action="store_true")
    options = parser.parse_args()
    path = browser_path()
    if path is None:
        sys.stderr.write("No Chromium was found in PATH or at ASSAY_TEST_CHROMIUM.\n")
        return 1
    tasks = [
        task
        for task in TASKS
        if not options.words or any(word in task.name for word in options.words)
    ]
    before: dict[str, Done] = {}
    with (
        tempfile.TemporaryDirectory(prefix="assay-tasks-") as folder,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        if not options.only_now:
            with first_version(Path(folder) / "before") as assay:
                before = do_all(tasks, browser, assay, "before") if assay else {}
        with Installation(Path(folder) / "now", demo=True) as assay:
            now = do_all(tasks, browser, assay, "now")
        browser.close()
    text = table(tasks, before, now)
    (OUT / "README.md").write_text(text, encoding="utf-8")
    if before and len(tasks) == len(TASKS):
        head = DOCUMENT.read_text(encoding="utf-8").partition(MARK)[0]
        DOCUMENT.write_text(head + MARK + "\n" + text, encoding="utf-8")
    sys.stdout.write(text)
    return int(any(one.failed for one in (*before.values(), *now.values())))


if __name__ == "__main__":
    raise SystemExit(main())

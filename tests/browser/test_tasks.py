"""Each task of managers and annotators, done in a browser, with at most so many actions
(docs/evidence/usability.md)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.chromium import browser_path
from tests.conftest import absent
from tests.installation import Installation
from tests.tasks.doing import at_the_start, filled
from tests.tasks.every import TASKS
from tests.tasks.task import Task

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.xdist_group("tasks")]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Installation, dict[str, str]]]:
    if browser_path() is None:
        absent("browser", "no Chromium was found in PATH or at ASSAY_TEST_CHROMIUM")
    with Installation(tmp_path_factory.mktemp("tasks"), demo=True, prepared=True) as assay:
        yield assay, filled(assay)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_a_task_is_done_with_no_more_actions_than_this(
    task: Task, site: tuple[Installation, dict[str, str]], chromium: Browser
) -> None:
    assay, given = site
    with at_the_start(chromium, assay.url, given, task) as hands:
        task.now(hands)
        assert hands.actions <= task.at_most

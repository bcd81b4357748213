"""Doing a task in a browser, and taking a screenshot of the page where it ends."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page

from tests.installation import Installation
from tests.tasks.hands import Hands
from tests.tasks.task import Task

DESKTOP: dict[str, Any] = {"viewport": {"width": 1280, "height": 860}}
PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "has_touch": True,
    "is_mobile": True,
}


def filled(assay: Installation) -> dict[str, str]:
    """Fill an installation that has the demo. Returns the values for addresses."""
    made: dict[str, str] = json.loads(
        assay.run("from tests.tasks.site import prepare; prepare()").strip().splitlines()[-1]
    )
    return made


@contextmanager
def signed_in(
    browser: Browser, url: str, given: dict[str, str], who: str, screen: dict[str, Any]
) -> Iterator[BrowserContext]:
    context = browser.new_context(
        base_url=url, reduced_motion="reduce", accept_downloads=True, locale="en-GB", **screen
    )
    context.set_default_timeout(30_000)
    if who != "nobody":
        context.add_cookies(
            [{"name": "sessionid", "value": given[f"session of {who}"], "url": url}]
        )
    yield context
    context.close()


@contextmanager
def at_the_start(browser: Browser, url: str, given: dict[str, str], task: Task) -> Iterator[Hands]:
    """Return the hands of a person on the page where the task begins."""
    with ExitStack() as people:

        def as_other(who: str, address: str) -> Page:
            page = people.enter_context(signed_in(browser, url, given, who, DESKTOP)).new_page()
            page.goto(address)
            return page

        page = people.enter_context(
            signed_in(browser, url, given, task.who, PHONE if task.phone else DESKTOP)
        ).new_page()
        page.goto(task.start.format_map(given))
        yield Hands(page, given, as_other=as_other)


def photograph(page: Page, path: Path) -> None:
    """Take a screenshot of the whole page, or for the judging page, whose bar stays at the bottom,
    of the visible part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if "/judge/" not in page.url:
        page.wait_for_load_state("networkidle")
    page.screenshot(path=path, full_page="/judge/" not in page.url)

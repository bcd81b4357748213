"""Fixtures for tests with a real Chromium and a real server in this process.

ASSAY_TEST_CHROMIUM names the browser. Otherwise it is searched for in PATH. With
ASSAY_SCREENSHOTS=folder, each call of `photograph` stores screenshots in light and dark mode, for
desktop and phone. Either way, axe-core checks the page.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Error,
    Page,
    Playwright,
    expect,
    sync_playwright,
)

from tests.browser.axe import problems_in_both_schemes
from tests.browser.chromium import FLAGS, browser_path, quick_browser_path
from tests.browser.profiles import Profiles
from tests.conftest import absent
from tests.installation import Installation

# Playwright's synchronous interface keeps an event loop in this thread, in which Django would
# refuse to use the database.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")

expect.set_options(
    timeout=30_000
)  # long enough for a loaded machine; times are measured by benchmarks, not by tests

DESKTOP, PHONE = {"width": 1280, "height": 860}, {"width": 390, "height": 844}
SCREENS: list[dict[str, Any]] = [
    {"viewport": DESKTOP},
    {"viewport": PHONE, "has_touch": True, "is_mobile": True},
]


@pytest.fixture(scope="session")
def chromium_path() -> str:
    path = quick_browser_path()
    if path is None:
        absent("browser", "no Chromium was found in PATH or at ASSAY_TEST_CHROMIUM")
    return str(path)


@pytest.fixture(scope="session")
def driver() -> Iterator[Playwright]:
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def chromium(driver: Playwright, chromium_path: str) -> Iterator[Browser]:
    browser = driver.chromium.launch(executable_path=chromium_path, args=FLAGS)
    yield browser
    browser.close()


@pytest.fixture
def plain_browser(
    driver: Playwright, chromium_path: str, tmp_path: Path
) -> Iterator[BrowserContext]:
    """Start a browser without emulation, in which a page behind another tab is hidden, as for
    people. The usual browser of tests keeps all pages visible."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        browser_path() or chromium_path,
        *FLAGS,
        "--headless",
        f"--remote-debugging-port={port}",
        f"--user-data-dir={tmp_path / 'profile'}",
        "about:blank",
    ]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/json/version", timeout=1).close()
                break
            except OSError:
                time.sleep(0.1)
        browser = driver.chromium.connect_over_cdp(f"http://127.0.0.1:{port}", no_defaults=True)
        yield browser.contexts[0]
        browser.close()
    finally:
        process.terminate()
        process.wait(timeout=60)


def make_context(browser: Browser, errors: list[str], **options: Any) -> BrowserContext:
    """Create a browser profile. Errors thrown by its pages, and whatever the content security
    policy blocks, are appended to `errors`."""
    context = browser.new_context(**{"viewport": DESKTOP, **options})
    context.set_default_timeout(30_000)
    context.on("weberror", lambda error: errors.append(str(error.error)))
    context.on(
        "console",
        lambda message: errors.append(message.text)
        if "Content Security Policy" in message.text
        else None,
    )
    return context


def stop_routes(context: BrowserContext) -> None:
    for page in context.pages:
        with contextlib.suppress(Error):  # the test may have crashed it
            page.unroute_all(behavior="ignoreErrors")


@pytest.fixture
def new_context(chromium: Browser) -> Iterator[Callable[..., BrowserContext]]:
    """Return a function that creates a browser profile. Errors of its pages fail the test."""
    contexts: list[BrowserContext] = []
    errors: list[str] = []

    def make(**options: Any) -> BrowserContext:
        contexts.append(make_context(chromium, errors, **options))
        return contexts[-1]

    yield make
    for context in contexts:
        stop_routes(context)
        context.close()
    assert errors == []


@pytest.fixture(scope="session")
def page_errors() -> list[str]:
    """Collect errors of pages in profiles that tests share."""
    return []


@pytest.fixture(scope="session")
def profiles(chromium: Browser, page_errors: list[str], live_server: Any) -> Profiles:
    """Return the browser profiles that tests use one after another."""
    return Profiles(partial(make_context, chromium, page_errors), live_server.url)


@pytest.fixture
def page(new_context: Callable[..., BrowserContext]) -> Page:
    return new_context().new_page()


@pytest.fixture(scope="module")
def one_page(chromium: Browser) -> Iterator[Page]:
    page = chromium.new_page()
    yield page
    page.close()


@pytest.fixture
def signed_in_page(
    profiles: Profiles, page_errors: list[str], live_server: Any
) -> Iterator[Callable[..., Page]]:
    """Return a function that opens a page signed in as a user: signed_in_page(user, viewport=…,
    color_scheme=…, has_touch=…). Relative addresses work. Scripts and styles may be cached."""

    def make(user: User, **options: Any) -> Page:
        context = profiles.take(**options)
        context.add_cookies([session_cookie(user, live_server.url)])
        return context.new_page()

    yield make
    for _, kept in profiles.taken:
        stop_routes(kept.context)
    profiles.give_back()
    errors = [*page_errors]
    page_errors.clear()
    assert errors == []


@pytest.fixture
def uncached_page(
    new_context: Callable[..., BrowserContext], live_server: Any
) -> Callable[..., Page]:
    """Return a function like `signed_in_page` that opens the page in a browser that has never
    visited the site."""

    def make(user: User, **options: Any) -> Page:
        context = new_context(base_url=live_server.url, **options)
        context.add_cookies([session_cookie(user, live_server.url)])
        return context.new_page()

    return make


def session_cookie(user: User, url: str) -> dict[str, str]:
    client = Client()
    client.force_login(user)
    return {"name": "sessionid", "value": client.cookies["sessionid"].value, "url": url}


@pytest.fixture(scope="session")
def assay(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Start an installation that tests share. Each test creates its own manager and collection."""
    if browser_path() is None:
        absent("browser", "no Chromium was found in PATH or at ASSAY_TEST_CHROMIUM")
    with Installation(tmp_path_factory.mktemp("assay"), prepared=True) as installation:
        yield installation


@pytest.fixture
def photograph(request: pytest.FixtureRequest) -> Callable[[Page, str], None]:
    """Return a function that checks the current state of a page by axe-core in light and dark mode.
    With ASSAY_SCREENSHOTS set, it also stores screenshots, 1280 and 390 pixels wide."""
    folder = os.environ.get("ASSAY_SCREENSHOTS", "")

    def take(page: Page, name: str) -> None:
        assert problems_in_both_schemes(page) == {}, name
        if not folder:
            return
        page.wait_for_timeout(
            500
        )  # as long as a person looks; by then answers have arrived and key presses apply again
        Path(folder).mkdir(parents=True, exist_ok=True)
        before = page.viewport_size
        for size, viewport in (("desktop", DESKTOP), ("phone", PHONE)):
            page.set_viewport_size(viewport)
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                page.wait_for_timeout(250)
                try:
                    page.screenshot(path=str(Path(folder) / f"{name}-{size}-{scheme}.png"))
                except Error as error:
                    raise AssertionError(f"no picture of {name}: {error}") from error
        page.emulate_media(color_scheme="light")
        if before:
            page.set_viewport_size(before)
        page.wait_for_timeout(100)

    return take

"""Browser profiles that tests use one after another."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from playwright.sync_api import BrowserContext, Error, Page

HAS_OWN_CLOCK = "Boolean(globalThis.__pwClock)"
NewContext = Callable[..., BrowserContext]


def is_reusable(page: Page) -> bool:
    """Return whether the page's process still runs and its clock was not replaced."""
    try:
        return not page.evaluate(HAS_OWN_CLOCK)
    except Error:  # crashed
        return False


class Profiles:
    """Browser profiles of one site. A test gets new pages without cookies or stored values of
    earlier tests. Cached scripts and the renderer process are kept, because creating them takes
    longer than most tests."""

    def __init__(self, make_context: NewContext, url: str) -> None:
        self.make_context, self.url = make_context, url
        self.free: dict[str, list[Page]] = {}
        self.taken: list[tuple[str, Page]] = []

    def take(self, **options: Any) -> BrowserContext:
        """Return a profile that no other page of this test uses. Its first page belongs to this
        class: the renderer process of the site ends with its last page."""
        key = json.dumps(options, sort_keys=True)
        free = self.free.setdefault(key, [])
        if free:
            kept = free.pop()
        else:
            kept = self.make_context(base_url=self.url, **options).new_page()
            kept.goto("/healthz")
        self.taken.append((key, kept))
        return kept.context

    def give_back(self) -> None:
        """Clear the profiles of the test that ends. Profiles are closed if their process crashed,
        or if they have a replaced clock, which Playwright cannot remove."""
        for key, kept in self.taken:
            context = kept.context
            if not is_reusable(kept):
                context.close()
                continue
            for page in context.pages:
                if page != kept:
                    page.close()
            context.set_offline(False)
            context.clear_cookies()
            kept.evaluate("localStorage.clear()")
            self.free[key].append(kept)
        self.taken.clear()

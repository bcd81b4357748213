"""Simulated hands of a person on a page, whose actions are counted."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Download, Locator, Page, expect

JOB_MS = 120_000
"""Maximum milliseconds until the background worker has finished a small job on a busy machine."""
READY = """() => { const grade = document.querySelector('#grades button'), pressed = performance.getEntriesByName('assay:next').at(-1);
  return grade && !grade.disabled && performance.now() - (pressed ? pressed.startTime + pressed.duration : 0) > 320; }"""
"""Condition for a key press to apply to the shown document: no answer is outstanding, and it was
painted 300 ms ago."""
N_PAINTED = "() => performance.getEntriesByName('assay:next').length"
ANOTHER = (
    "before => document.querySelector('#panel')?.hidden === false || "
    "performance.getEntriesByName('assay:next').length > before"
)


class Hands:
    """Actions of a person in a browser, with counts. An action is a click or tap, a filled field, a
    choice, a key that is not text, or dropped files. A load is a page that the browser fetches as a
    whole.

    given: values of the installation. as_other(who, address): opens a page of another user, whose
    actions are counted separately.
    """

    def __init__(
        self,
        page: Page,
        given: dict[str, str],
        *,
        as_other: Callable[[str, str], Page] | None = None,
    ) -> None:
        self.page, self.given, self.as_other = page, given, as_other
        self.actions = self.loads = 0
        self.note = ""
        page.on("load", self._loaded)
        page.on("dialog", lambda dialog: dialog.accept())

    def _loaded(self, _: Page) -> None:
        self.loads += 1

    def begin(self) -> None:
        """Start counting. Earlier actions only led to the page where the task begins."""
        self.actions = self.loads = 0

    def one(
        self,
        role: str,
        name: str | re.Pattern[str],
        *,
        within: Locator | None = None,
        exact: bool = False,
    ) -> Locator:
        return (within or self.page).get_by_role(role, name=name, exact=exact).first  # type: ignore[arg-type]

    def click(
        self,
        role: str,
        name: str | re.Pattern[str],
        *,
        within: Locator | None = None,
        exact: bool = False,
    ) -> None:
        self.touch(self.one(role, name, within=within, exact=exact))

    def touch(self, what: Locator) -> None:
        self.actions += 1
        what.click()

    def fill(self, label: str, text: str, *, within: Locator | None = None) -> None:
        self.type_into((within or self.page).get_by_label(label, exact=True).first, text)

    def type_into(self, field: Locator, text: str) -> None:
        self.actions += 1
        field.fill(text)

    def choose(self, field: Locator, **option: str) -> None:
        self.actions += 1
        field.select_option(**option)

    def key(self, name: str) -> None:
        """Press a key once the page's scripts have loaded."""
        self.page.wait_for_load_state()
        self.actions += 1
        self.page.keyboard.press(name)

    def drop(self, *files: Path, on: str = "#upload-file") -> None:
        self.actions += 1
        self.page.set_input_files(on, [str(file) for file in files])

    def drop_text(self, text: str, name: str, *, on: str) -> None:
        self.actions += 1
        self.page.set_input_files(
            on, [{"name": name, "mimeType": "text/plain", "buffer": text.encode()}]
        )

    def take(self, link: Locator) -> Download:
        """Click a link and wait for the downloaded file."""
        with self.page.expect_download(timeout=JOB_MS) as coming:
            self.touch(link)
        return coming.value

    def see(self, text: str | re.Pattern[str], *, within: Locator | None = None) -> None:
        expect((within or self.page).get_by_text(text).first).to_be_visible(timeout=JOB_MS)

    def grade(self, key: str) -> None:
        """Judge the shown document, and wait until the next one is painted, past the card of a new
        query."""
        self.page.wait_for_function(READY)
        before = self.page.evaluate(N_PAINTED)
        self.key(key)
        self.page.wait_for_function(ANOTHER, arg=before)
        panel = self.page.locator("#panel")
        if panel.is_visible() and panel.get_attribute("data-state") == "card":
            self.key("Enter")
            panel.wait_for(state="hidden")

    def judging(self) -> None:
        """Wait until the page is ready for judging."""
        self.page.locator("html[data-complete]").wait_for()
        self.page.locator(".doc .doc-title").wait_for()

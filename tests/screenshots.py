"""`make screenshots`: photograph every page of a demo installation of its own into var/screenshots,
light and dark, 1280 and 390 pixels wide, and renew the pictures of the documentation in
docs/pictures.

    python -m tests.screenshots [word …]      only the pages of these names, or whose name has one
    of the words
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.browser.chromium import FLAGS, browser_path
from tests.installation import ROOT, Installation
from tests.pages import PAGES, SMALL_CAMPAIGN, WHO

OUT, PICTURES = ROOT / "var" / "screenshots", ROOT / "docs" / "pictures"
SIZES = {"desktop": {"width": 1280, "height": 800}, "phone": {"width": 390, "height": 844}}
FOR_DOCS = {
    "judge": "judge.png",
    "campaign": "progress.png",
    "pool": "pool.png",
    "campaign-people": "people.png",
    "campaign-agreement": "agreement.png",
}


def main() -> int:
    path = browser_path()
    if path is None:
        sys.stderr.write("No Chromium was found in PATH or at ASSAY_TEST_CHROMIUM.\n")
        return 1
    words = sys.argv[1:]
    names = [
        name
        for name in PAGES
        if not words or any(word in name if word not in PAGES else word == name for word in words)
    ]
    with (
        tempfile.TemporaryDirectory(prefix="assay-screenshots-") as folder,
        Installation(Path(folder), demo=True) as assay,
        sync_playwright() as playwright,
    ):
        given = json.loads(assay.run(SMALL_CAMPAIGN).strip().splitlines()[-1])
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        photograph(browser, assay.url, given, names)
        browser.close()
    return 0


def photograph(browser: Browser, url: str, given: dict[str, str], names: list[str]) -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    PICTURES.mkdir(parents=True, exist_ok=True)
    for role in WHO:
        mine = [name for name in names if PAGES[name][0] == role]
        for size, viewport in SIZES.items():
            for scheme in ("light", "dark"):
                with profile(
                    browser, url, given, role, viewport=viewport, color_scheme=scheme
                ) as context:
                    page = context.new_page()
                    for name in mine:
                        show(page, PAGES[name][1].format_map(given))
                        page.screenshot(
                            path=OUT / f"{name.replace(' ', '-')}-{size}-{scheme}.png",
                            full_page=True,
                        )
                        if (size, scheme) == ("desktop", "light") and name in FOR_DOCS:
                            page.screenshot(path=PICTURES / FOR_DOCS[name])
        sys.stdout.write(f"{len(mine)} pages as {role}\n")


@contextmanager
def profile(
    browser: Browser, url: str, given: dict[str, str], role: str, **options: object
) -> Iterator[BrowserContext]:
    """A browser profile that is signed in."""
    context = browser.new_context(base_url=url, reduced_motion="reduce", **options)  # type: ignore[arg-type]
    if WHO[role]:
        context.add_cookies(
            [{"name": "sessionid", "value": given[f"session of {WHO[role]}"], "url": url}]
        )
    yield context
    context.close()


def show(page: Page, address: str) -> None:
    page.goto(address)
    if "/judge/" in address and not address.endswith("history"):
        page.locator("html[data-complete]").wait_for()
    page.wait_for_load_state("networkidle")


if __name__ == "__main__":
    raise SystemExit(main())

"""`make screenshots`: photograph every page of a demo installation of its own into var/screenshots,
light and dark, 1280 and 390 pixels wide, and renew the pictures of the documentation in
docs/pictures.

    python -m tests.screenshots [word …]      only the pages of these names, or whose name has one
    of the words; docs: the documentation's pictures of the example
"""

from __future__ import annotations

import io
import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.browser.chromium import FLAGS, browser_path
from tests.installation import ROOT, Installation
from tests.pages import PAGES, SMALL_CAMPAIGN, WHO

OUT, PICTURES = ROOT / "var" / "screenshots", ROOT / "docs" / "pictures"
SIZES = {"desktop": {"width": 1280, "height": 800}, "phone": {"width": 390, "height": 844}}
EXAMPLE = "/campaigns/example-finished-campaign/"
FROM_EXAMPLE = {
    "home": "/",
    "overview": EXAMPLE,
    "people": EXAMPLE + "people/",
    "agreement": EXAMPLE + "agreement/",
    "results": EXAMPLE + "systems/",
    "export": EXAMPLE + "export/",
    "new-campaign": "/campaigns/new?collection=1&pool=1",
}
"""Pictures of the documentation that are taken as the manager on the first start, before there are
other campaigns: name -> address. The judging page is taken with the other pages."""
READY = """
import time
from django.contrib.auth.models import User
from django.test import Client
from pooling.models import Job
end = time.monotonic() + 180
while Job.objects.filter(state__in=Job.ACTIVE).exists() and time.monotonic() < end:
    time.sleep(1)
client = Client()
client.force_login(User.objects.get(username="manager"))
print(client.cookies["sessionid"].value)
"""
"""Script that waits until the example is filled and its results are computed, and prints a session
of the manager."""


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
        Installation(Path(folder), demo=True, example=True) as assay,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        session = assay.run(READY).strip().splitlines()[-1]
        if not words or "docs" in words:
            photograph_example(browser, assay.url, session)
        given = json.loads(assay.run(SMALL_CAMPAIGN).strip().splitlines()[-1])
        photograph(browser, assay.url, given, names)
        browser.close()
    return 0


def photograph_example(browser: Browser, url: str, session: str) -> None:
    given = {"session of manager": session}
    with profile(
        browser, url, given, "manager", viewport=SIZES["desktop"], color_scheme="light"
    ) as context:
        page = context.new_page()
        for name, address in FROM_EXAMPLE.items():
            show(page, address)
            save_picture(page, name)


def save_picture(page: Page, name: str) -> None:
    """Save a screenshot for the documentation with 128 colours, to a third of the size in bytes."""
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    PICTURES.mkdir(parents=True, exist_ok=True)
    picture.quantize(128).save(PICTURES / f"{name}.png", optimize=True)


def photograph(browser: Browser, url: str, given: dict[str, str], names: list[str]) -> None:
    OUT.mkdir(parents=True, exist_ok=True)
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
                        if (size, scheme, name) == ("desktop", "light", "judge"):
                            save_picture(page, "judge")
        sys.stdout.write(f"{len(mine)} pages as {role}\n")


@contextmanager
def profile(
    browser: Browser, url: str, given: dict[str, str], role: str, **options: object
) -> Iterator[BrowserContext]:
    """Create a browser profile that is signed in."""
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

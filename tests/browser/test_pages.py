"""Every page of an installation with a small campaign: axe-core finds nothing of WCAG 2 A and AA,
in light and in dark, nothing is written to the console, nothing makes the page scroll sideways at
320, 390 and 1280 pixels, on a phone no list in it does, and no page is longer than it may be."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.axe import CONTRAST, LEVELS, violations
from tests.browser.chromium import browser_path
from tests.conftest import absent
from tests.installation import Installation
from tests.pages import PAGES, SMALL_CAMPAIGN, WHO

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("pages")]
COLOURS_HAVE_ARRIVED = """async () => {
  const atMost2s = (promise) => Promise.race([promise, new Promise((resolve) => setTimeout(resolve, 2000))]);
  for (let frame = 0; frame < 2; frame++) await atMost2s(new Promise(requestAnimationFrame));
  const ending = document.getAnimations().filter((one) => one.effect.getComputedTiming().iterations !== Infinity);
  await atMost2s(Promise.all(ending.map((one) => one.finished.catch(() => null))));
}"""
"""A frame may never be drawn, and an animation never end, in a browser that has too little time:
axe looks twice then."""
WIDTHS = (1280, 390, 320)
MAX_HEIGHT = 3200
"""Of a page at 1280 pixels: 3,000, and 200 for other fonts. On a phone, pages hide more of their
lists when they are opened, which no change of the width does."""
SCROLLED = """() => [...document.querySelectorAll('.table-wrap:has(> .card-rows)')].filter((wrap) => wrap.scrollWidth > wrap.clientWidth + 1)
  .map((wrap) => wrap.getAttribute('aria-label') || wrap.innerText.slice(0, 60))"""
"""Lists whose rows are cards in a narrow window, and are nevertheless wider than it."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Installation, dict[str, str]]]:
    """The installation, and what stands in the addresses: {"exclusion": "7", ...}."""
    if browser_path() is None:
        absent("browser", "no Chromium was found in PATH or at ASSAY_TEST_CHROMIUM")
    with Installation(tmp_path_factory.mktemp("pages"), demo=True, prepared=True) as installation:
        yield installation, json.loads(installation.run(SMALL_CAMPAIGN).strip().splitlines()[-1])


@pytest.fixture(scope="module")
def page_of(
    site: tuple[Installation, dict[str, str]], chromium: Browser
) -> Iterator[Callable[[str], tuple[Page, list[str]]]]:
    """page_of(role): one page, signed in, and what it writes to the console as it grows."""
    installation, given = site
    pages: dict[str, tuple[Page, list[str]]] = {}

    def get(role: str) -> tuple[Page, list[str]]:
        if role in pages:
            return pages[role]
        context = chromium.new_context(base_url=installation.url, reduced_motion="reduce")
        context.set_default_timeout(30_000)
        if WHO[role]:
            session = given[f"session of {WHO[role]}"]
            context.add_cookies([{"name": "sessionid", "value": session, "url": installation.url}])
        page, said = context.new_page(), list[str]()
        page.on(
            "console",
            lambda message: said.append(message.text)
            if message.type in {"error", "warning"}
            else None,
        )
        page.on("pageerror", lambda error: said.append(str(error)))
        pages[role] = (page, said)
        return pages[role]

    yield get
    for page, _ in pages.values():
        page.context.close()


def kind_of(name: str) -> str:
    """What a page is about: the first word of its name, in the singular."""
    return re.split(r"[ -]", name)[0].removesuffix("s")


KINDS = {kind: [name for name in PAGES if kind_of(name) == kind] for kind in map(kind_of, PAGES)}


@pytest.mark.timeout(900)
@pytest.mark.parametrize("kind", KINDS)
def test_pages_are_accessible_fit_every_width_and_have_no_errors(
    kind: str,
    site: tuple[Installation, dict[str, str]],
    page_of: Callable[[str], tuple[Page, list[str]]],
) -> None:
    wrong = {}
    for name in KINDS[kind]:
        role, path, status = PAGES[name]
        page, said = page_of(role)
        said.clear()
        page.set_viewport_size({"width": 1280, "height": 800})
        page.emulate_media(color_scheme="light")
        answer = page.goto(path.format_map(site[1]))
        assert answer is not None
        assert answer.status == status, name
        if name in ("judge", "judge-try"):
            page.locator("html[data-complete]").wait_for()
        if name == "judge-history":
            page.locator("#history-page .skeleton").wait_for(state="detached")
        found = [*misfits(page), *inaccessible(page), *(said if status < 400 else [])]
        if found:
            wrong[name] = found
    assert wrong == {}


def misfits(page: Page) -> list[str]:
    """What makes the page scroll sideways, which lists do so on a phone, and the height of a page
    that is too long."""
    found = []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        if (needed := page.evaluate("document.documentElement.scrollWidth")) > width:
            found.append(f"needs {needed} of {width} pixels")
        height = page.evaluate("document.documentElement.scrollHeight")
        if width == WIDTHS[0] and height > MAX_HEIGHT:
            found.append(f"is {height} pixels high")
        if width <= 640:
            found += [f"list wider than {width}: {name}" for name in page.evaluate(SCROLLED)]
    page.set_viewport_size({"width": 1280, "height": 800})
    return found


def inaccessible(page: Page) -> list[tuple[str, str, str, str]]:
    """Scheme, rule, element and reason of what axe-core finds."""
    wrong = []
    for scheme, rules in (("light", LEVELS), ("dark", CONTRAST)):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        page.evaluate(COLOURS_HAVE_ARRIVED)
        found = violations(page, rules)
        # on a loaded machine a part of the page may still have the colours of before; what is
        # wrong stays wrong
        if found:
            page.wait_for_timeout(1000)
            found = violations(page, rules)
        wrong += [
            (scheme, rule["id"], node["html"][:200], node.get("failureSummary", "")[:300])
            for rule in found
            for node in rule["nodes"]
        ]
    return wrong


def test_the_list_of_pages_has_every_address_that_answers_with_a_page(
    site: tuple[Installation, dict[str, str]],
) -> None:
    names = set(site[0].run("from tests.pages import named_pages; print(*named_pages())").split())
    assert names == {name.partition(" ")[0] for name in PAGES if not name.startswith("error")}


def test_the_installation_wrote_no_error(site: tuple[Installation, dict[str, str]]) -> None:
    text = Path(site[0].log).read_text(errors="replace")
    assert "Traceback" not in text

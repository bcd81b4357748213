"""Accessibility checks of a page by axe-core, for WCAG 2.2 level A and AA."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

ONLY_WRONG = {"resultTypes": ["violations"]}
"""Options that omit passed checks from the results."""
LEVELS = {
    "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]},
    **ONLY_WRONG,
}
CONTRAST = {"runOnly": {"type": "rule", "values": ["color-contrast"]}, **ONLY_WRONG}
"""Options that run the only check that depends on the colour scheme."""
TO_THE_END = (
    "() => document.querySelectorAll('dialog[open]').forEach((dialog) => { dialog.scrollTop = "
    "dialog.scrollHeight; })"
)
NO_TRANSITIONS = """async () => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync('*, *::before, *::after { transition: none !important }');
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
}"""
"""Script that skips transitions. Contrast is not checked in the middle of a change of colours,
however slowly a busy machine paints."""
SHORT_MOVES_END = """() => { for (const one of document.getAnimations()) {
  const { endTime } = one.effect.getComputedTiming();
  if (one.playState === 'running' && endTime < 5000) one.finish();
} }"""


def violations(page: Page, options: dict[str, Any]) -> list[dict[str, Any]]:
    if not page.evaluate("typeof window.axe === 'object'"):
        page.evaluate(AXE_SCRIPT)
    found: list[dict[str, Any]] = page.evaluate(
        "async (options) => (await axe.run(options)).violations", options
    )
    return found


def problems(page: Page, options: dict[str, Any] = LEVELS) -> list[str]:
    """Return the problems that axe-core finds on the page. Open dialogs are scrolled to their end
    first, because axe-core would report targets that are partly scrolled under the dialog's footer
    as too small."""
    page.evaluate(TO_THE_END)
    found = violations(page, options)
    return [
        f"{one['id']}: {one['help']} at {', '.join(str(node['target']) for node in one['nodes'][:4])}"
        for one in found
    ]


def problems_in_both_schemes(page: Page) -> dict[str, list[str]]:
    """Return the problems of the page in light and, as far as colours matter, in dark mode, after
    the transition between the two."""
    found = {}
    for scheme, options in (("dark", CONTRAST), ("light", LEVELS)):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        page.evaluate(NO_TRANSITIONS)
        page.evaluate(SHORT_MOVES_END)
        found[scheme] = problems(page, options)
    return {scheme: told for scheme, told in found.items() if told}

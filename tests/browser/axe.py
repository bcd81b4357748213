"""What axe-core finds wrong with a page, of WCAG 2.2 level A and AA."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

LEVELS = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}}


def violations(page: Page, options: dict[str, Any]) -> list[dict[str, Any]]:
    return Axe().run(page, options=options).response["violations"]


TO_THE_END = "() => document.querySelectorAll('dialog[open]').forEach((dialog) => { dialog.scrollTop = dialog.scrollHeight; })"


def problems(page: Page) -> list[str]:
    """Open dialogs are scrolled to their end: what is scrolled under their foot is not a small target, it is further down."""
    page.evaluate(TO_THE_END)
    found = violations(page, LEVELS)
    return [f"{one['id']}: {one['help']} at {', '.join(str(node['target']) for node in one['nodes'][:4])}" for one in found]

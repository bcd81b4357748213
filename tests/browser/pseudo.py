"""A pseudo-language for tests: German, with every message between ⟦ and ⟧. Text outside of the
marks is missing from the catalogue, and text inside has the length of German.

Texts by users (queries, documents, names, grades) are Greek, so Latin letters outside of a message
are words of the program. The language uses the code of Esperanto, which Django and browsers know
and Assay does not offer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.utils.translation import trans_real
from playwright.sync_api import BrowserContext, Page, Route

from config import catalogues

CODE = "eo"


class Pseudo(trans_real.DjangoTranslation):
    """The translations of the pseudo-language: those of Django's and Assay's German catalogues,
    between the marks. Messages without a translation are in English without marks."""

    def __init__(self) -> None:
        super().__init__(CODE)
        self.known = trans_real.DjangoTranslation("de")._catalog

    def gettext(self, message: str) -> str:
        for key in (message, (message, 0)):
            if key in self.known:
                return f"⟦{self.known[key]}⟧"
        return message

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        key = (msgid1, int(n != 1))
        return f"⟦{self.known[key]}⟧" if key in self.known else msgid1


def words() -> dict[str, Any]:
    """Return the translations for scripts as static/words/<code>.json holds them."""
    told = json.loads((catalogues.ROOT / "static/words/de.json").read_text(encoding="utf-8"))
    return {
        text: f"⟦{known}⟧"
        if isinstance(known, str)
        else {form: f"⟦{one}⟧" for form, one in known.items()}
        for text, known in told.items()
    }


DATES = """() => {
  for (const name of ["toLocaleString", "toLocaleDateString", "toLocaleTimeString"]) {
    const told = Date.prototype[name];
    Date.prototype[name] = function (...how) { return `⟦${told.apply(this, how)}⟧`; };
  }
  const relative = Intl.RelativeTimeFormat.prototype.format;
  Intl.RelativeTimeFormat.prototype.format = function (...how) { return `⟦${relative.apply(this, how)}⟧`; };
}"""
"""Script that replaces the browser's words for dates, which are not messages of Assay."""

BARE = """() => {
  const SHOWN = ["aria-label", "aria-description", "aria-roledescription", "aria-valuetext", "title", "placeholder", "alt", "data-confirm"];
  const SILENT = "script, style, kbd, code, [lang]:not(html), [name=time_zone] option, [name=language] option";
  // keys are called as they are printed, languages as they call themselves
  const NAMES = /\\b(Assay|Aa|UTC|GMT|JavaScript|A\\d+|v\\d+)\\b/g;
  const found = [];
  let depth = 0;
  const outside = (text) => {
    let bare = "";
    for (const sign of text) {
      if (sign === "⟦") depth += 1;
      else if (sign === "⟧") depth -= 1;
      else if (depth === 0) bare += sign;
    }
    return bare;
  };
  const look = (text, where) => {
    const bare = outside(text).replace(NAMES, "").trim();
    if (/\\p{Script=Latin}/u.test(bare)) found.push(`${where}: ${bare.replace(/\\s+/g, " ").slice(0, 120)}`);
  };
  const path = (node) => [node.closest("[id]")?.id ?? "", node.localName, ...node.classList].join(" ");
  const texts = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const parent = texts.currentNode.parentElement;
    if (!parent.closest(SILENT)) look(parent.closest("noscript") ? texts.currentNode.data.replace(/<[^>]*>/g, "") : texts.currentNode.data, path(parent));
  }
  if (depth) found.push(`a mark is not closed: ${depth}`);
  for (const one of document.querySelectorAll("*")) for (const name of SHOWN) {
    depth = 0;
    if (one.hasAttribute(name) && !one.closest(SILENT)) look(one.getAttribute(name), `${path(one)} [${name}]`);
  }
  return [...new Set(found)];
}"""


@pytest.fixture
def pseudo(settings: Any) -> Iterator[None]:
    """Let the server offer the pseudo-language to browsers that ask for it."""
    settings.LANGUAGES = [*settings.LANGUAGES, (CODE, "⟦Pseudo⟧")]
    trans_real._translations[CODE] = Pseudo()
    yield
    trans_real._translations.pop(CODE, None)


@pytest.fixture
def speaks_pseudo(
    pseudo: None, new_context: Callable[..., BrowserContext], live_server: Any
) -> Callable[..., BrowserContext]:
    """Return a function that creates a browser that asks for the pseudo-language and loads its
    translations for scripts."""

    def make(**options: Any) -> BrowserContext:
        context = new_context(base_url=live_server.url, locale=CODE, **options)
        told = json.dumps(words())
        context.route(f"**/words/{CODE}.json", lambda route: _answer(route, told))
        context.add_init_script(f"({DATES})()")
        return context

    return make


def _answer(route: Route, text: str) -> None:
    route.fulfill(body=text, content_type="application/json")


def bare(page: Page) -> list[str]:
    """Return the places where the page shows words that are not from a catalogue, with the
    words."""
    assert page.evaluate("document.documentElement.lang") == CODE
    found: list[str] = page.evaluate(BARE)
    return found

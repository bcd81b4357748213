"""Pages and pictures of hostile texts and endless words, in a browser: nothing of them runs, and
nothing is wider than its window."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import models
from django.db.models import Value
from django.db.models.functions import Concat
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import BrowserContext, Dialog, Page

from analysis.models import Recipe, Report
from annotation.models import Campaign, Membership
from pooling.models import Collection, Job, Pool, Qrels, Run, Topic
from tests.browser.conftest import DESKTOP, PHONE, session_cookie
from tests.browser.test_pictures import OUTSIDE
from tests.hostile_world import brought, fill
from tests.pages import named_pages
from tests.test_urls_by_role import World, every_pattern, make_world, status_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.slow]
PRINTS_PICTURES = True
WORD = "W" * 80
"""Ids of the world have about 110 signs, and with it less than 200, which is what the tables
hold."""
NAMES: list[tuple[type[models.Model], str]] = [
    *((model, "name") for model in (Campaign, Collection, Pool, Qrels, Recipe)),
    *(
        (model, field)
        for model, field in ((Job, "label"), (Report, "title"), (Run, "group"), (Topic, "text"))
    ),
]
RAN = "window.zq = () => { window.zqRan = true; };"
CAME_THROUGH = """() => [
  ...(window.zqRan ? ['a script of a text ran'] : []),
  ...[...document.querySelectorAll('*')].filter((one) => one.localName.includes('zq') || [...one.attributes].some((each) => each.name.includes('zq')))
    .map((one) => `<${one.localName}> of a text`),
]"""
OPENED = (
    "() => document.querySelectorAll('details:not(.menu)').forEach((one) => { one.open = true; })"
)
TOO_WIDE = """() => {
  if (document.documentElement.scrollWidth <= innerWidth) return '';
  const held = (one) => { for (let box = one.parentElement; box; box = box.parentElement) if (getComputedStyle(box).overflowX !== 'visible') return true; };
  const beyond = [...document.querySelectorAll('body *')].filter((one) => one.getBoundingClientRect().right > innerWidth + 1 && !held(one));
  const words = beyond.slice(-3).map((one) => `${one.localName}.${one.getAttribute('class')} in ${one.parentElement.localName}.${one.parentElement.className}`);
  return `${document.documentElement.scrollWidth} of ${innerWidth} px: ${words.join('; ')}`;
}"""


@pytest.fixture
def world(settings: Any, tmp_path: Path) -> World:
    settings.MEDIA_ROOT = tmp_path / "files"
    world = make_world(brought(tail=WORD))
    fill(world)
    for model, field in NAMES:
        model._default_manager.update(**{field: Concat(field, Value(WORD))})
    User.objects.update(first_name=Concat("first_name", Value(WORD[:50])))
    return world


def pages_of(world: World) -> list[tuple[str, str, str]]:
    """(role, name, address): all that an annotator sees, all that a manager sees, and of others
    what those two do not see."""
    routes, seen, found = every_pattern(), set(), []
    for role in ("manager", "annotator", "superuser", "anonymous"):
        names = [
            name
            for name in named_pages()
            if status_of(name, role) == 200 and (role == "annotator" or name not in seen)
        ]
        seen |= set(names)
        found += [(role, name, world.address(name, routes[name])) for name in names]
    return found


def look(page: Page) -> list[str]:
    page.evaluate(OPENED)
    found = list(page.evaluate(CAME_THROUGH)) + [
        f"cut in a picture: {text:.40}" for text in page.evaluate(OUTSIDE)
    ]
    for viewport in (DESKTOP, PHONE):
        page.set_viewport_size(viewport)
        found += [wide] if (wide := page.evaluate(TOO_WIDE)) else []
    return found


class Visitor:
    """One page of one browser, for whoever asks next."""

    def __init__(self, context: BrowserContext, world: World, url: str) -> None:
        self.context, self.world, self.url, self.role = context, world, url, ""
        context.add_init_script(RAN)
        self.page, self.said = context.new_page(), list[str]()
        self.page.on(
            "console",
            lambda message: self.said.append(message.text) if message.type == "error" else None,
        )
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", self._dismiss)

    def _dismiss(self, dialog: Dialog) -> None:
        self.said.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    def found(self, role: str, name: str, address: str) -> list[str]:
        """What is wrong with a page."""
        self.said.clear()
        if role != self.role:
            self.context.clear_cookies()
            person = self.world.people[role]
            self.context.add_cookies([session_cookie(person, self.url)] if person else [])
            self.role = role
        answer = self.page.goto(address)
        assert answer is not None
        assert answer.status == 200, (role, name)
        if name.startswith("judge") and name != "judge-history":
            self.page.locator("html[data-complete]").wait_for()
        return [*look(self.page), *self.said]


def test_no_hostile_text_runs_or_makes_a_page_wider_than_its_window(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any, tmp_path: Path
) -> None:
    visitor, asked = (
        Visitor(new_context(base_url=live_server.url), world, live_server.url),
        pages_of(world),
    )
    assert len(asked) > 80
    wrong = {
        (role, name): found
        for role, name, address in asked
        if (found := visitor.found(role, name, address))
    }
    Membership.objects.update(consented_at=timezone.now(), guideline_read=1)
    if found := visitor.found("annotator", "judge, reading", f"/judge/{world.campaign.slug}/"):
        wrong["annotator", "reading"] = found
    visitor.page.locator(".doc-title").wait_for()
    visitor.found("manager", "home", "/")  # whose cookie the pictures need
    report = world.numbers["report"]["pk"]
    pictures = [name for name in Report.objects.get(pk=report).files if name.endswith(".svg")]
    assert pictures
    for name in pictures:
        answer = visitor.context.request.get(reverse("report-figure", args=[report, name]))
        (tmp_path / name).write_bytes(answer.body())
        visitor.page.goto((tmp_path / name).as_uri())
        assert visitor.page.evaluate("document.documentElement.localName") == "svg"
        if found := visitor.page.evaluate(CAME_THROUGH):
            wrong["manager", name] = found
    assert wrong == {}, "\n".join(
        f"{role} {name}: {found}" for (role, name), found in wrong.items()
    )

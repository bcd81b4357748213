"""Forms and buttons as hurried people use them: pressed twice, gone back to, after the session has
ended, and where there is no clipboard."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.urls import reverse
from playwright.sync_api import Page, Route, expect

from annotation.models import Campaign
from annotation.services.people import accounts
from annotation.services.people.attempts import hashing_slot
from pooling.models import Collection
from tests.builders import (
    PASSWORD,
    judge,
    make_annotator,
    make_campaign,
    make_collection,
    make_pool,
    make_user,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Signed = Callable[..., Page]


def until(page: Page, holds: Callable[[], bool]) -> None:
    for _ in range(300):
        if holds():
            return
        page.wait_for_timeout(100)
    raise AssertionError("it did not come to be")


def test_a_form_pressed_twice_is_sent_once_and_can_be_sent_again_after_going_back(
    signed_in_page: Signed,
) -> None:
    manager = make_user(may_create=True)
    make_pool(make_collection(manager=manager, slug="twice"))
    page = signed_in_page(manager)
    asked: list[Route] = []
    page.route(
        "**/campaigns/new*",
        lambda route: asked.append(route) if route.request.method == "POST" else route.continue_(),
    )
    page.goto(f"/campaigns/new?collection={Collection.objects.get().pk}")
    button = page.get_by_role("button", name="Create campaign")
    page.get_by_label("Name", exact=True).fill("Once")
    # While an answer is on its way the driver's own hands wait for it, so the page presses twice
    # itself.
    page.evaluate(
        "for (const ms of [0, 300]) setTimeout(() => document.querySelector('[name=way]').click(), ms)"
    )
    until(page, lambda: bool(asked))
    page.wait_for_timeout(1000)  # in which a second request would be sent
    asked[0].continue_()
    page.wait_for_url(re.compile(r"/campaigns/[^/]+/$"))
    assert len(asked) == 1
    assert [campaign.name for campaign in Campaign.objects.all()] == ["Once"]
    page.go_back()
    page.get_by_label("Name", exact=True).fill("And again")
    button.click(no_wait_after=True)
    until(page, lambda: len(asked) == 2)
    asked[1].continue_()
    page.wait_for_url(re.compile(r"/campaigns/[^/]+/$"))
    assert Campaign.objects.count() == 2


def test_a_busy_server_is_asked_again_by_itself_with_what_was_typed(
    page: Page, live_server: Any
) -> None:
    """Both turns at hashing passwords are taken; then they are free."""
    make_user("ada")
    page.goto(live_server.url + "/sign-in?next=/account")
    page.get_by_label("Username").fill("ada")
    page.get_by_label("Password").fill("not this one")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("do not match")
    page.get_by_label("Password").fill(PASSWORD)
    with hashing_slot(), hashing_slot():
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_text("This page tries again automatically.")).to_be_visible()
        expect(page.get_by_label("Password")).to_have_value(PASSWORD)
    page.wait_for_url("**/account")


def test_an_invitation_is_copied_where_the_browser_keeps_its_clipboard_to_itself(
    signed_in_page: Signed,
) -> None:
    """As on a server without https: `navigator.clipboard` is not there."""
    campaign = make_campaign(state="draft")
    manager = campaign.memberships.get().user
    invitation = accounts.create_invitation(campaign=campaign, actor=manager)
    page = signed_in_page(manager)
    page.add_init_script(
        "Object.defineProperty(Navigator.prototype, 'clipboard', { value: undefined })"
    )
    page.goto(f"/campaigns/{campaign.slug}/settings/people/")
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    field = page.get_by_label("Names, one per line")
    field.click()
    page.keyboard.press("Control+v")
    expect(field).to_have_value(
        page.url.split("/campaigns/")[0] + reverse("join", args=[invitation.token])
    )


def test_a_page_that_renews_itself_says_when_the_session_has_ended(signed_in_page: Signed) -> None:
    campaign = make_campaign()
    judge(make_annotator(campaign), 2)  # from then on the page renews itself
    page = signed_in_page(campaign.memberships.get(role="manager").user)
    page.goto(f"/campaigns/{campaign.slug}/")
    before = page.get_by_role("heading", level=1).inner_text()
    Session.objects.all().delete()
    expect(page.get_by_text("You are signed out.")).to_be_visible()
    expect(page.get_by_label("Password")).to_have_count(0)
    assert page.get_by_role("heading", level=1).all_inner_texts() == [before]
    page.get_by_role("status").get_by_role("link", name="Sign in").click()
    page.wait_for_url(f"**/sign-in?next=/campaigns/{campaign.slug}/")


def dropped(page: Page, place: str, *paths: Path) -> None:
    """As a hand drops them from the file manager, folders among them."""
    box = page.locator(place).bounding_box()
    assert box is not None
    session = page.context.new_cdp_session(page)
    data: dict[str, Any] = {
        "items": [],
        "files": [str(path) for path in paths],
        "dragOperationsMask": 1,
    }
    for kind in ("dragEnter", "dragOver", "drop"):
        session.send(
            "Input.dispatchDragEvent",
            {"type": kind, "x": box["x"] + 20, "y": box["y"] + 20, "data": data},
        )


def test_a_folder_and_a_session_that_has_ended_are_told_from_a_broken_connection(
    signed_in_page: Signed, tmp_path: Path
) -> None:
    manager = make_user(may_create=True)
    collection = make_collection(manager=manager)
    folder, run = tmp_path / "runs", tmp_path / "a.run"
    folder.mkdir()
    run.write_text("t1 Q0 d1 1 2.0 a\n")
    page = signed_in_page(manager)
    page.goto(f"/collections/{collection.slug}/")
    Session.objects.all().delete()
    dropped(page, "[data-drop]", folder, run)
    items = page.locator(".upload-item")
    folder_says, run_says = (
        "Folders can't be uploaded. Drop the files themselves, or a zip file.",
        "You are signed out. Sign in again in another tab.",
    )
    expect(items).to_have_text([f"runs{folder_says}", f"a.run{run_says}"])

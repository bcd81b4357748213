"""What is at hand while one judges: what a grade means at the grade itself, and one's own rhythm,
which nobody else sees."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from django.apps import apps
from playwright.sync_api import Page, Request, expect

from annotation.api.judging import SubmitSerializer
from annotation.models import Profile
from tests.browser.conftest import DESKTOP
from tests.browser.judging import JudgingPage, make_job, own_judgements

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Signed = Callable[..., Page]

SCALE = [
    {
        "value": 0,
        "name": "Not relevant",
        "explanation": "Not about the topic.",
        "example": "",
        "shape": "cross",
    },
    {
        "value": 1,
        "name": "Partly answers",
        "explanation": "Answers a part.",
        "example": "A trial of walking, for it says nothing of diabetes.\nA review without figures.",
        "shape": "half",
    },
]


def test_shift_and_a_digit_show_what_a_grade_means_and_judge_nothing(
    signed_in_page: Signed, photograph: Callable[[Page, str], None]
) -> None:
    campaign, ada = make_job(scale=SCALE, min_relevant=1)
    page = signed_in_page(ada.user, viewport=DESKTOP)
    judging = JudgingPage(page, campaign).open()
    title = judging.title.inner_text()
    box = page.locator(".grade-examples")
    page.keyboard.press("Shift+Digit2")
    expect(box).to_contain_text("Answers a part.")
    expect(box.locator("li")).to_have_text(
        ["A trial of walking, for it says nothing of diabetes.", "A review without figures."]
    )
    photograph(page, "grade-examples")
    page.keyboard.press("Shift+Digit1")
    expect(box).to_contain_text("No examples here")
    page.keyboard.press("Escape")
    expect(box).to_have_count(0)
    assert judging.title.inner_text() == title
    page.keyboard.press("Shift+Digit2")
    judging.judge("2")  # another key puts it away, and does what it does
    expect(box).to_have_count(0)
    judging.saved()
    assert [row.grade for row in own_judgements(ada)] == [1]


def test_a_long_press_shows_what_a_grade_means_and_a_short_one_judges(
    signed_in_page: Signed,
) -> None:
    """At 390 pixels by touch: test_judging_by_thumb.py."""
    width = 360
    campaign, ada = make_job(scale=SCALE, min_relevant=1)
    page = signed_in_page(ada.user, viewport={"width": width, "height": 780})
    judging = JudgingPage(page, campaign).open()
    title = judging.title.inner_text()
    button = page.locator("#grades button").nth(1)
    button.click(delay=700)
    box = page.locator(".grade-examples")
    expect(box).to_be_in_viewport(ratio=1)
    place = box.bounding_box()
    assert place
    assert place["x"] >= 0
    assert place["x"] + place["width"] <= width
    assert judging.title.inner_text() == title
    judging.unhurried()
    button.click()
    expect(judging.title).not_to_have_text(title)
    expect(box).to_have_count(0)


PACES = [7_654_321 + n for n in range(20)]
"""Milliseconds of twenty judgements before; with five quick ones the median of all 25 is the eighth
of these: 127.57 minutes, 2.1 hours."""
TOLD = {
    "setup": set(),
    "leases": {"want", "held", "continue_after_target", "offline"},
    "renew": {"leases"},
    "judgements": set(SubmitSerializer().fields),
    "profile": {
        *(
            "keys",
            "text_size",
            "measure",
            "leading",
            "font",
            "terms",
            "theme",
            "highlight",
            "confirm",
            "cards",
            "shortcuts",
            "offline",
            "guidelines",
            "need",
        ),
        "break_minutes",
    },
}
"""What the page may send, by the end of the address: nothing that is reckoned in it."""


def test_the_rhythm_stays_in_the_browser_and_a_break_is_offered_to_who_asked(
    signed_in_page: Signed,
) -> None:
    """Every request is one of those known, holds only what it is known to hold, and of the pace
    nothing; nor does the database."""
    campaign, ada = make_job(n_documents=20, target_per_annotator=20)
    page = signed_in_page(ada.user, viewport=DESKTOP)
    name = f"assay:{ada.user.pk}:{campaign.slug}:pace"
    page.add_init_script(
        f"localStorage.getItem('{name}') ?? localStorage.setItem('{name}', '{json.dumps(PACES)}')"
    )
    sent: list[Request] = []
    page.on(
        "request", lambda request: sent.append(request) if "/static/" not in request.url else None
    )
    judging = JudgingPage(page, campaign).open()
    line = page.locator("#rhythm")
    page.locator("#menu > summary").click()
    expect(line).to_have_text(
        "Today: 0 judged. About 2.1 h per document, about 43 h to your target."
    )
    page.get_by_role("button", name="Settings and keys").click()
    with page.expect_response(lambda response: response.url.endswith("/profile")):
        page.get_by_label("Remind me to take a break").select_option("20")
    page.get_by_role("button", name="Done").click()
    for _ in range(5):
        judging.judge("2")
    judging.saved()
    page.locator("#menu > summary").click()
    expect(line).to_have_text(
        "Today: 5 judged, less than a minute on this device. About 2.1 h per document, about 32 h to your target."
    )
    choices = Profile.objects.get(user=ada.user).choices
    assert choices["break_minutes"] == "20"
    assert set(choices) <= TOLD["profile"]
    for request in sent:
        what, body = (
            request.url.partition("?")[0].rstrip("/").rpartition("/")[2],
            json.loads(request.post_data or "{}"),
        )
        assert "?" not in request.url, request.url
        assert set(body) <= (TOLD[what] if "/api/" in request.url else set()), (
            request.url,
            set(body),
        )
    assert {request.url.rpartition("/")[2] for request in sent} >= {
        "setup",
        "leases",
        "judgements",
        "profile",
    }
    kept = "\n".join(f"{request.url} {request.headers} {request.post_data}" for request in sent)
    rows = "\n".join(
        str(row) for model in apps.get_models() for row in model._default_manager.values()
    )
    for mark in (*map(str, PACES), "2.1 h", "43 h", "32 h"):
        assert mark not in kept, mark
        assert mark not in rows, mark


def test_after_the_minutes_that_were_chosen_a_line_offers_a_pause(signed_in_page: Signed) -> None:
    campaign, ada = make_job(n_documents=8)
    Profile.objects.filter(user=ada.user).update(choices={"break_minutes": "20"})
    page = signed_in_page(ada.user, viewport=DESKTOP)
    judging = JudgingPage(page, campaign).open()
    page.evaluate(
        "() => { const now = Date.now.bind(Date); window.ahead = 0; Date.now = () => now() + window.ahead; }"
    )
    for _ in range(6):
        judging.judge("2")
        judging.saved()
        page.evaluate("() => { window.ahead += 4.5 * 60000; }")
    line = page.locator(".banner[data-name=break]")
    expect(line).to_contain_text("You have been judging for 20 minutes.")
    line.get_by_role("button", name="Pause").click()
    judging.shows_state("user-pause")

"""The annotator's way in other languages: every word of it comes from a catalogue, and in Arabic
and German it is as accessible and as narrow as in English; dates and numbers are the same in pages
and scripts."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.utils import formats, translation
from playwright.sync_api import BrowserContext, Page

from annotation.models import Membership
from annotation.services.people import accounts, messages
from config import catalogues
from tests.browser import pseudo as languages
from tests.browser.axe import problems
from tests.browser.pseudo import pseudo, speaks_pseudo  # noqa: F401  # fixtures
from tests.browser.way import make_greek_job, walk
from tests.builders import PASSWORD, make_annotator, make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
CODES = sorted(catalogues.LANGUAGES)
NARROW = {"width": 320, "height": 640}
TWO_FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
WIDE = (
    "() => [...document.querySelectorAll('body *')].filter(e => { const r = "
    "e.getBoundingClientRect(); return r.width && (r.right > 321 || r.left < -1)"
)
WIDE += (
    " && !e.closest('.table-wrap, .tabs, .visually-hidden, .skip-link, .menu-list, "
    "dialog:not([open])'); }).map(e => e.outerHTML.slice(0, 90)).slice(0, 4)"
)


OF_WORDS = {
    "runOnly": {
        "type": "rule",
        "values": [
            "button-name",
            "html-lang-valid",
            "label",
            "link-name",
            "scrollable-region-focusable",
            "target-size",
        ],
    },
    "resultTypes": ["violations"],
}
"""What other words in the same places, or their direction, may break; in English the places are
looked at in all rules."""


def misfits(page: Page) -> list[str]:
    """What axe-core finds by rules of words, and what makes the page scroll sideways at 320 pixels."""
    before = page.viewport_size
    found = problems(page, OF_WORDS)
    page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    page.evaluate(TWO_FRAMES)
    if page.evaluate("document.documentElement.scrollWidth") > NARROW["width"]:
        found.append(f"scrolls sideways, {page.evaluate(WIDE)}")
    page.set_viewport_size(before)  # type: ignore[arg-type]
    return found


@pytest.mark.slow
def test_every_word_on_the_annotators_way_comes_from_a_catalogue_and_fits_320_pixels_in_german(
    speaks_pseudo: Callable[..., BrowserContext],  # noqa: F811
) -> None:
    """In German whose every message is marked, nothing of the program stands outside of the
    marks."""
    found: list[str] = []

    def look(page: Page, name: str) -> None:
        wrong = [*languages.bare(page), *misfits(page)]
        found.extend(f"{name}: {one}" for one in wrong)

    walk(speaks_pseudo(reduced_motion="reduce"), look)
    assert not found, "\n".join(sorted(set(found)))


def test_words_outside_of_a_catalogue_would_be_found(
    speaks_pseudo: Callable[..., BrowserContext],  # noqa: F811
) -> None:
    make_user("κανείς")
    page = speaks_pseudo().new_page()
    page.goto("/sign-in")
    assert languages.bare(page) == []
    page.evaluate("document.querySelector('main').append('Some words')")
    page.evaluate("document.querySelector('main h1').title = 'A hint'")
    assert [line.partition(": ")[2] for line in languages.bare(page)] == ["Some words", "A hint"]


def test_mails_and_errors_of_the_way_come_from_a_catalogue(pseudo: None) -> None:  # noqa: F811
    campaign, _ = make_greek_job()
    member = make_annotator(campaign, "άννα")
    accounts.set_language(member.user, languages.CODE)
    member.user.email = "1@2.ελ"
    member.user.save()
    accounts.send_sign_in_link(email="1@2.ελ", address="/")
    messages.deliver_reminders(
        campaign,
        Membership.objects.filter(pk=member.pk),
        "Έλα.",
        address="/",
        actor=campaign.created_by,
    )
    client = Client(headers={"Accept-Language": languages.CODE})
    client.login(username="άννα", password=PASSWORD)
    address = f"/api/v1/judging/{campaign.slug}/"
    told = [text for one in mail.outbox for text in (one.subject, one.body)]
    assert len(told) == 4
    for path, body in (
        (
            "judgements",
            {
                "lease": "00000000-0000-0000-0000-000000000000",
                "key": "00000000-0000-0000-0000-000000000000",
                "grade": 1,
            },
        ),
        ("guideline/acknowledge", {"number": 99}),
        ("questions", {"pair": 0, "key": "00000000-0000-0000-0000-000000000000", "text": "?"}),
        ("settings", []),
        ("skipped", {"lease": "00000000-0000-0000-0000-000000000000"}),
        ("messages/0/read", {}),
        ("feedback", {"score": "?"}),
    ):
        answer = client.post(address + path, body, content_type="application/json")
        if answer.status_code >= 400:
            told.append(answer.json()["detail"])
    assert len(told) > 7
    assert [text for text in told if "⟦" not in text] == []


@pytest.mark.slow
def test_the_way_in_arabic_is_accessible_and_fits_320_pixels(
    new_context: Callable[..., BrowserContext], live_server: Any
) -> None:
    found: list[str] = []

    def look(page: Page, name: str) -> None:
        assert page.evaluate("document.documentElement.lang") == "ar"
        found.extend(f"{name}: {problem}" for problem in misfits(page))

    walk(new_context(base_url=live_server.url, locale="ar", reduced_motion="reduce"), look)
    assert not found, "\n".join(found)


COUNTRIES = {"en": "en-US", "de": "de-CH", "fr": "fr-CA", "es": "es-MX", "ar": "ar-EG"}
NUMBERS = (7, 1234, 1234567, 0.5)


def test_scripts_write_numbers_and_dates_as_the_server_does(
    new_context: Callable[..., BrowserContext], live_server: Any
) -> None:
    """Whatever country the browser is of: a page must not say 1.234 in one place and 1,234 in
    another."""
    assert sorted(COUNTRIES) == sorted(["en", *CODES])
    make_user("somebody")
    for code, country in COUNTRIES.items():
        page = new_context(base_url=live_server.url, locale=country, timezone_id="UTC").new_page()
        page.goto("/sign-in")
        assert page.evaluate("document.documentElement.lang") == code
        told = page.evaluate(
            "async (numbers) => { const { number } = await import('/static/js/words.js'); return numbers.map(number); }",
            NUMBERS,
        )
        months = page.evaluate(
            """async () => { const { locale } = await import('/static/js/words.js'); return [...Array(12).keys()].map((month) =>
              new Date(Date.UTC(2026, month, 9, 21, 5)).toLocaleString(locale, { day: "numeric", month: "long", hour: "2-digit", minute: "2-digit" })); }"""
        )
        with translation.override(code):
            assert told == [formats.number_format(n, force_grouping=True) for n in NUMBERS], code
            for month, text in enumerate(months, 1):
                moment = datetime(2026, month, 9, 21, 5, tzinfo=UTC)
                parts = [formats.date_format(moment, one) for one in ("j", "F", "H:i")]
                # one month, two spellings
                missing = [part for part in parts if part.replace("إبريل", "أبريل") not in text]
                assert missing == [], (code, text)

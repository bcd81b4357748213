"""Actions and queries that tests of the judging page share."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

from playwright.sync_api import Error, Page, Route, expect

from annotation.models import Campaign, Judgement, Membership, Pair
from annotation.services.campaigns import lifecycle
from pooling.models import Document
from tests.builders import make_annotator, make_campaign, make_collection, make_user

WORDS = (
    "Regular walking lowers blood sugar in people with type 2 diabetes. A trial of twelve weeks "
    "compared brisk walks after each meal "
    "with one long walk a day, and found the short ones better for the evening values.\n\n"
    "Strength training helped as well, most of all when it was combined with a diet poor in "
    "sugar. The authors warn that older people "
    "should begin slowly."
)


def make_job(
    *,
    texts: Sequence[str] = (),
    n_documents: int = 6,
    n_topics: int = 1,
    titles: Sequence[str] = (),
    **settings: Any,
) -> tuple[Campaign, Membership]:
    """Create an open campaign with realistic texts, and an annotator. The minimum time is off
    unless the test sets it."""
    settings.setdefault("min_active_seconds", 0)
    settings.setdefault("target_per_annotator", 300)
    settings.setdefault("name", "Spring campaign")
    settings.setdefault(
        "guideline",
        "## How to judge\n\nRead the *whole* document. Judge the document, not its source.",
    )
    manager = make_user(may_create=True)
    collection = make_collection(
        n_topics=n_topics,
        n_documents=n_documents,
        manager=manager,
        texts=[*texts, *[WORDS] * max(0, n_documents - len(texts))],
    )
    queries = ["diabetes type 2 exercise", "knee pain in runners", "sleep and shift work"]
    for topic, query in zip(
        collection.topics.order_by("position"), queries * n_topics, strict=False
    ):
        topic.text = query
        topic.description = f"Which evidence is there about {query}?"
        topic.narrative = "Relevant are trials and reviews; opinions are not."
        topic.save()
    for number, document in enumerate(
        Document.objects.filter(collection=collection).order_by("pk")
    ):
        document.title = (
            titles[number]
            if number < len(titles)
            else f"Exercise and blood sugar, part {number + 1}"
        )
        document.save()
    campaign = make_campaign(collection=collection, manager=manager, **settings)
    return campaign, make_annotator(campaign)


def make_practice(
    n: int, *, explanation: str = "It reports a trial.", **settings: Any
) -> tuple[Campaign, Membership]:
    """Create a job of four documents. The first n are a qualification test that the annotator still
    has to pass. Each has the grade Fully answers, and half of the answers have to be right."""
    campaign, member = make_job(n_documents=4, qualification_pass=0.5, **settings)
    for pair in Pair.objects.filter(campaign=campaign).order_by("position")[:n]:
        lifecycle.set_pair_kind(
            pair,
            Pair.Kind.QUALIFICATION,
            gold_grade=3,
            explanation=explanation,
            actor=campaign.created_by,
        )
    Membership.objects.filter(pk=member.pk).update(qualified_at=None)
    return campaign, member


# A repeated key press before this is ignored as a double press.
PAINTED_A_WHILE_AGO = """() => { const pressed = performance.getEntriesByName('assay:next').at(-1);
  return performance.now() - (pressed ? pressed.startTime + pressed.duration : 0) > 320; }"""

NOTES_WHEN_IT_SHOWS = """new MutationObserver((_, observer) => { if (!document.querySelector('.doc .doc-title')) return;
  window.shownAt = Date.now(); observer.disconnect(); }).observe(document, { childList: true, subtree: true });"""


class JudgingPage:
    """The judging page in a browser, as an annotator uses it."""

    def __init__(self, page: Page, campaign: Campaign) -> None:
        self.page, self.campaign = page, campaign
        self.title = page.locator(".doc .doc-title")
        self.panel = page.locator("#panel")
        self.chip = page.locator("#chip")
        self.bar_message = page.locator("#bar-message")
        self.toast = page.locator("#toast")

    def open(self, *, shows: str = ".doc .doc-title") -> JudgingPage:
        self.page.goto(f"/judge/{self.campaign.slug}/")
        self.page.locator(shows).first.wait_for()
        if shows.startswith(".doc"):
            self.page.locator("html[data-complete]").wait_for()
        return self

    def open_with_a_clock_that_stands(self) -> JudgingPage:
        """Open the page with a clock that only page.clock.run_for advances, so that times do not
        depend on the machine's speed."""
        self.page.clock.install()
        self.page.add_init_script(NOTES_WHEN_IT_SHOWS)
        self.open()
        for _ in range(100):  # the clock may be past the time at which it should stop
            with contextlib.suppress(Error):
                self.page.clock.pause_at(
                    (self.page.evaluate("Date.now()") + 200) / 1000
                )  # in seconds, unlike Playwright's other times
                return self
        raise AssertionError("the clock could not be stopped")

    def shown_ms(self) -> float:
        """Return the milliseconds by the page's clock since the first document was shown."""
        return float(self.page.evaluate("Date.now() - window.shownAt"))

    def press(self, *keys: str) -> None:
        for key in keys:
            if key.isdigit():
                self.page.wait_for_function(PAINTED_A_WHILE_AGO)
            self.page.keyboard.press(key)

    def judge(self, key: str) -> None:
        """Press a grade and wait until another document, or a state, is shown."""
        self.unhurried()
        before = self.page.evaluate("document.querySelector('.doc-title')?.textContent ?? ''")
        painted = self.page.evaluate("performance.getEntriesByName('assay:next').length")
        self.press(key)
        self.page.wait_for_function(
            "before => { const title = document.querySelector('.doc .doc-title');"
            " return (title && title.textContent !== before) || document.querySelector('#panel')?.hidden === false; }",
            arg=before,
        )
        self.page.wait_for_function(
            "n => document.querySelector('#panel')?.hidden === false || performance.getEntriesByName('assay:next').length > n",
            arg=painted,
        )
        self.start()

    def start(self) -> None:
        """Go from the card of a new query, if one is shown, to its first document."""
        if self.panel.get_attribute("data-state") == "card" and self.panel.is_visible():
            self.page.keyboard.press("Enter")
            self.panel.wait_for(state="hidden")

    def unhurried(self) -> None:
        """Wait until a key press applies to the shown document: no answer is outstanding, and it
        was painted 300 ms ago."""
        self.page.wait_for_function(
            "() => document.querySelector('#grades button')?.disabled === false"
        )
        self.page.wait_for_function(PAINTED_A_WHILE_AGO)

    def judge_all_of_query(self, key: str) -> None:
        """Judge documents until another query is shown."""
        query = self.page.locator("#query-text")
        before = query.inner_text()
        while query.inner_text() == before:
            self.judge(key)

    def judge_all(self, key: str) -> None:
        """Judge the assigned documents until a state is shown instead of a document."""
        while self.panel.is_hidden():
            self.judge(key)

    def saved(self) -> None:
        expect(self.chip).to_have_attribute("data-status", "saved")

    def shows_state(self, state: str) -> None:
        expect(self.panel).to_have_attribute("data-state", state)
        expect(self.panel).to_be_visible()

    def pretend(
        self,
        what: str,
        answer: dict[str, Any] | Callable[[Route], None],
        *,
        times: int | None = None,
        status: int = 200,
    ) -> None:
        """Answer requests to the judging API whose address ends in `what` instead of the server."""

        def handle(route: Route) -> None:
            if callable(answer):
                answer(route)
            else:
                route.fulfill(status=status, json=answer)

        self.page.route(
            lambda url: "/api/v1/judging/" in url and url.split("?")[0].endswith(what),
            handle,
            times=times,
        )


def own_judgements(member: Membership) -> list[Judgement]:
    """Return the judgements by position in the pool, with the versions of each pair in order.
    Answers sent at the same time may arrive in any order."""
    return list(Judgement.objects.filter(membership=member).order_by("pair__position", "revision"))

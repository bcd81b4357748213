"""A walk through everything that an annotator does: sign-in, invitation, practice, judging and its
dialogs, questions, own judgements, account.

The walk does not depend on the pages' texts, so it works in every language. `look(page, name)` is
called at each place that an annotator would read.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from django.contrib.sessions.models import Session
from django.utils import timezone
from playwright.sync_api import BrowserContext, Page, expect

from annotation.models import Campaign, Invitation, Membership, Message, Pair, Question
from annotation.services.campaigns import lifecycle
from annotation.services.judging import questions
from annotation.services.people import accounts, exclusion
from tests.browser.judging import JudgingPage, make_job
from tests.builders import make_user

Look = Callable[[Page, str], None]
PASSWORD = "1234567890-λόγος"
TEXT = (
    "Ο περίπατος μετά το φαγητό βοηθά. Δώδεκα εβδομάδες κράτησε η δοκιμή, και οι σύντομοι "
    "περίπατοι ήταν καλύτεροι το βράδυ.\n\n"
    "Και η άσκηση με βάρη ωφέλησε. Οι μεγαλύτεροι ας αρχίζουν αργά."
)
GRADES = ["Καθόλου", "Θέμα", "Εν μέρει", "Πλήρως"]
QUERIES = ["περίπατος και ζάχαρη", "πόνος στο γόνατο"]


def make_greek_job() -> tuple[Campaign, Invitation]:
    """Create an open campaign in which all texts by users are Greek, with a practice pair, and an
    invitation to it."""
    manager = make_user("διευθύντρια", may_create=True)
    scale = [
        {
            "value": n,
            "name": name,
            "explanation": f"{name}: έτσι.",
            "example": "Λόγος.",
            "shape": "disc",
        }
        for n, name in enumerate(GRADES)
    ]
    settings = {
        "spans": "optional",
        "show_near_duplicates": True,
        "consent_text": "Συμφωνείτε;",
        "thanks_text": "Ευχαριστούμε.",
        "completion_code": "123",
        "block_length": 3,
    }
    campaign, _ = make_job(
        texts=[TEXT] * 8,
        titles=[f"Κείμενο {n}" for n in range(1, 9)],
        n_documents=8,
        n_topics=2,
        name="Άνοιξη",
        guideline="Διαβάστε όλο το κείμενο.",
        scale=scale,
        qualification_pass=0.5,
        deadline=timezone.now() + timedelta(days=3),
        judgements_per_pair=1,
        **settings,
    )
    campaign.description = "Περίπατοι."
    campaign.save()
    for topic, query in zip(campaign.collection.topics.order_by("position"), QUERIES, strict=True):
        topic.text, topic.description, topic.narrative = query, f"Τι ξέρουμε: {query};", "Δοκιμές."
        topic.save()
    for pair in Pair.objects.filter(campaign=campaign).order_by("position")[:2]:
        lifecycle.set_pair_kind(
            pair,
            Pair.Kind.QUALIFICATION,
            gold_grade=3,
            explanation="“Δώδεκα εβδομάδες”.",
            actor=manager,
        )
    return campaign, accounts.create_invitation(campaign=campaign, actor=manager, name="Άννα")


def arrive(context: BrowserContext, invitation: Invitation, look: Look) -> Page:
    """Go from the sign-in page to an account by an invitation. Returns the judging page, which asks
    for consent."""
    page = context.new_page()
    for address, name in (
        ("/sign-in", "sign in"),
        ("/sign-in/link", "ask for a link"),
        ("/sign-in/link/MQ/none", "a bad link"),
        ("/join", "join by code"),
        ("/join/none", "a bad invitation"),
    ):
        page.goto(address)
        look(page, name)
    page.goto("/sign-in")
    page.locator("[name=username]").fill("κανείς")
    page.locator("[name=password]").fill("0")
    page.locator("main form button").first.click()
    look(page, "sign in refused")
    page.goto("/join")
    page.locator("main [name=code]").fill("0")
    page.locator("main form button").first.click()
    look(page, "code refused")
    page.goto("/sign-in/link")
    page.locator("[name=email]").fill("1@δοκιμή.ελ")
    page.locator("main form button").first.click()
    look(page, "link sent")
    page.goto(f"/join/{invitation.token}")
    look(page, "invitation")
    page.locator("[name=username]").fill("διευθύντρια")
    page.locator("[name=password]").fill("123")
    page.locator("main form button").first.click()
    look(page, "invitation with mistakes")
    page.locator("[name=username]").fill("άννα")
    page.locator("[name=password]").fill(PASSWORD)
    page.locator("main form button").first.click()
    page.wait_for_url("**/judge/**")
    return page


def practise(judging: JudgingPage, look: Look) -> None:
    """Give consent, read the guidelines, and answer one practice pair right and one wrong."""
    page = judging.page
    judging.shows_state("consent_needed")
    look(page, "consent")
    page.locator("#panel [data-action=consent]").click()
    page.locator("#guideline-dialog[open]").wait_for()
    look(page, "guidelines to read")
    page.locator("#guideline-read").click()
    page.locator("html[data-complete]").wait_for()
    page.locator(".doc .doc-title").wait_for()
    look(page, "practice")
    for key in ("4", "1"):
        judging.unhurried()
        judging.press(key)
        expect(page.locator("#practice")).to_be_visible()
        look(page, f"practice answered with {key}")
        page.wait_for_timeout(400)  # an earlier key press would be ignored as a slip
        judging.press("Enter")
        expect(page.locator("#practice")).to_be_hidden()
        judging.start()


def read_dialogs(judging: JudgingPage, look: Look) -> None:
    """Open everything that a key or the menu opens over a document, and the messages at the bar."""
    page = judging.page
    look(page, "judging")
    for key, name in (("?", "shortcuts"), ("n", "note"), ("q", "question"), ("t", "query so far")):
        judging.press(key)
        page.locator("dialog[open]").wait_for()
        page.wait_for_timeout(200)
        look(page, name)
        if name == "question":
            page.locator("#ask-text").fill("Μετρά;")
            page.keyboard.press("Control+Enter")
            page.locator("#ask-dialog li").first.wait_for()
            look(page, "question asked")
        page.keyboard.press("Escape")
        page.locator("dialog[open]").wait_for(state="detached")
    for action in ("settings", "history"):
        page.evaluate(f"document.querySelector('#menu [data-action={action}]').click()")
        page.locator("dialog[open]").wait_for()
        page.wait_for_timeout(200)
        look(page, action)
        page.keyboard.press("Escape")
    for keys, name in (
        ("i", "information need"),
        ("/", "finder"),
        ("0", "reasons"),
        ("s", "passage by keys"),
        ("p", "pause"),
    ):
        judging.press(keys)
        page.wait_for_timeout(150)
        look(page, name)
        page.keyboard.press("i" if keys == "i" else "Escape")
        page.wait_for_timeout(150)
    page.keyboard.press("Shift+Digit2")
    page.locator(".grade-examples").wait_for()
    look(page, "examples of a grade")
    page.keyboard.press("Escape")
    page.locator("#menu > summary").click()
    page.locator("#menu [data-action=span]").click()
    page.wait_for_timeout(150)
    look(page, "words to tap")
    page.keyboard.press("Escape")
    page.locator("#menu > summary").click()
    look(page, "menu")
    page.keyboard.press("Escape")
    page.locator("#reading > summary").click()
    look(page, "reading")
    page.keyboard.press("Escape")


AWAY = """() => {
  const now = Date.now;
  Date.now = () => now.call(Date) + 3600000;
  window.dispatchEvent(new Event('focus')); // the page looks whether somebody is there
  window.back = () => { Date.now = now; };
}"""


def interrupt(judging: JudgingPage, look: Look) -> None:
    """Go through the interruptions of judging: pace, being away, a second tab, the end of the
    session."""
    page, campaign = judging.page, judging.campaign
    judging.start()
    Campaign.objects.filter(pk=campaign.pk).update(min_active_seconds=600)
    judging.unhurried()
    judging.press("2")
    page.locator(".banner[data-name=status]").wait_for()
    look(page, "too fast")
    Campaign.objects.filter(pk=campaign.pk).update(min_active_seconds=0)
    judging.saved()
    judging.start()
    judging.unhurried()
    judging.press("p")
    judging.shows_state("user-pause")
    look(page, "veil of a pause")
    page.keyboard.press("Escape")
    expect(judging.title).to_be_visible()
    page.evaluate(AWAY)
    judging.shows_state("idle")
    look(page, "veil after a while")
    page.evaluate("window.back()")
    page.keyboard.press("Escape")
    expect(judging.title).to_be_visible()
    other = JudgingPage(page.context.new_page(), campaign)
    other.page.goto(f"/judge/{campaign.slug}/")
    other.shows_state("other-tab")
    look(other.page, "a second tab")
    other.page.close()
    page.bring_to_front()
    Session.objects.all().delete()
    judging.unhurried()
    judging.press("3")
    dialog = page.locator("#sign-in-dialog")
    expect(dialog).to_be_visible()
    look(page, "session ended")
    error = page.locator("#sign-in-error")
    page.locator("#sign-in-again").click()
    expect(error).to_be_visible()
    look(page, "session ended, not signed in elsewhere")
    said = error.inner_text()
    page.locator("#sign-in-password").fill("0")
    page.keyboard.press("Enter")
    expect(error).not_to_have_text(said)
    look(page, "session ended, a wrong password")
    page.locator("#sign-in-password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(dialog).to_be_hidden()
    judging.saved()


def judge_all(judging: JudgingPage, look: Look) -> None:
    """Judge to the end, with a skipped pair, a reopened one, a lost connection and a card between
    queries."""
    page = judging.page
    judging.judge("2")
    look(page, "judged")
    page.locator(".near-line").wait_for()
    look(page, "near-duplicate")
    judging.press("c")
    page.locator("#compare-dialog[open] article").nth(1).wait_for()
    look(page, "near-duplicates side by side")
    page.keyboard.press("Escape")
    page.locator("dialog[open]").wait_for(state="detached")
    judging.judge("l")
    look(page, "put aside")
    judging.judge("3")
    judging.saved()
    judging.press("z")
    page.locator("[data-name=review]").wait_for()
    look(page, "opened again")
    judging.judge("4")
    judging.saved()
    look(page, "changed")
    page.context.set_offline(True)
    judging.judge("1")
    page.wait_for_timeout(300)
    look(page, "offline")
    page.context.set_offline(False)
    judging.saved()
    interrupt(judging, look)
    for _ in range(30):
        page.wait_for_timeout(350)
        state = (
            page.locator("#panel").get_attribute("data-state")
            if page.locator("#panel").is_visible()
            else ""
        )
        if state == "card":
            look(page, "card of a new query")
            page.keyboard.press("Enter")
        elif state:
            break
        else:
            judging.unhurried()
            judging.press("2")
    look(page, f"end: {state}")


def walk(context: BrowserContext, look: Look) -> None:
    """Go through the whole walk. Everything else in the campaign is created here."""
    campaign, invitation = make_greek_job()
    page = arrive(context, invitation, look)
    judging = JudgingPage(page, campaign)
    practise(judging, look)
    read_dialogs(judging, look)
    judge_all(judging, look)
    member = Membership.objects.get(campaign=campaign, user__username="άννα")
    for question in Question.objects.filter(membership=member):
        questions.answer_question(question, "Ναι.", actor=campaign.created_by)
    Message.objects.create(membership=member, text="Προσοχή.", created_by=campaign.created_by)
    page.goto(f"/judge/{campaign.slug}/")
    page.locator(".banner").first.wait_for()
    look(page, "answer and message")
    page.goto(f"/judge/{campaign.slug}/history")
    page.locator("tbody tr").first.wait_for()
    look(page, "own judgements")
    page.goto("/")
    look(page, "home")
    page.goto("/account")
    look(page, "account")
    page.locator("#id_email").fill("0")
    page.locator("main form button").first.click()
    look(page, "account with a mistake")
    for address, name in (
        ("/none", "no such page"),
        (f"/campaigns/{campaign.slug}/", "not allowed"),
    ):
        page.goto(address)
        if page.evaluate("document.documentElement.lang") != "en":
            look(page, name)
    lifecycle.pause_campaign(campaign, actor=campaign.created_by, reason="Διάλειμμα.")
    page.goto(f"/judge/{campaign.slug}/")
    judging.shows_state("paused")
    look(page, "paused")
    lifecycle.resume_campaign(campaign, actor=campaign.created_by)
    exclusion.exclude_annotator(member, reason="Λόγος.", actor=campaign.created_by)
    page.goto(f"/judge/{campaign.slug}/")
    judging.shows_state("excluded")
    look(page, "excluded")
    exclusion.include_annotator(member, reason="Λόγος.", actor=campaign.created_by)
    lifecycle.close_campaign(campaign, actor=campaign.created_by)
    page.goto(f"/judge/{campaign.slug}/")
    judging.shows_state("closed")
    look(page, "closed")
    page.goto("/")
    look(page, "home with a closed campaign")

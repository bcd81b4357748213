"""What is stored of a marked passage, against Python's own slicing (which counts code points); and
how documents are shown."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from pooling.models import Document
from tests.browser.conftest import DESKTOP, PHONE
from tests.browser.judging import WORDS, JudgingPage, make_job, own_judgements

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Signed = Callable[..., Page]

EMOJI = "Zwölf 🏃‍♀️ laufen 👨‍👩‍👧‍👦 nach Hause 🇩🇪. Ende 😀."
COMBINING = "Cafe\u0301 au lait, nai\u0308ve re\u0301sume\u0301 and ศิลปะ."
ARABIC = "المشي السريع يخفض السكر في الدم.\n\nThe walk is short. المشي مفيد 🚶 جدا."


def select(page: Page, passage: str, *, cut: int = 0) -> None:
    """Selects a passage in the document as the mouse would; `cut` units further than its end (into
    the middle of a character)."""
    page.evaluate(
        """([passage, cut]) => {
          const walker = document.createTreeWalker(document.querySelector('.doc-body'), NodeFilter.SHOW_TEXT);
          for (let node = walker.nextNode(); node; node = walker.nextNode()) {
            const at = node.data.indexOf(passage);
            if (at < 0) continue;
            document.getSelection().setBaseAndExtent(node, at, node, at + passage.length + cut);
            document.querySelector('.doc-body').dispatchEvent(new MouseEvent('mouseup', {bubbles: true, detail: 1}));
            return;
          }
          throw new Error('not found: ' + passage);
        }""",
        [passage, cut],
    )


def stored(page: Page) -> None:
    expect(page.locator("#marks")).to_be_visible()


def test_marked_passages_are_stored_as_code_points_of_whole_characters(
    signed_in_page: Signed,
) -> None:
    """What is selected in each text, by how much further, and what is stored of it."""
    cases = [
        (EMOJI, ["laufen", "👨‍👩‍👧‍👦 nach", "🇩🇪", "Ende 😀"], 0, None),
        (COMBINING, ["nai\u0308ve", "ศิลปะ"], 0, None),
        (ARABIC, ["يخفض السكر", "🚶 جدا"], 0, None),
        (EMOJI, ["laufen "], 3, ["laufen 👨‍👩‍👧‍👦"]),  # into the family of seven code points
        (COMBINING, ["Cafe"], 0, ["Cafe\u0301"]),  # the accent is a code point of its own
    ]
    campaign, ada = make_job(
        texts=[text for text, *_ in cases], n_documents=len(cases), spans="optional"
    )
    judging = JudgingPage(signed_in_page(ada.user), campaign).open()
    for _, passages, cut, _ in cases:
        for number, passage in enumerate(passages, 1):
            select(judging.page, passage, cut=cut)
            expect(judging.page.locator("#marks li")).to_have_count(number)
        judging.judge("3")
    judging.saved()
    for row, (text, passages, _, whole) in zip(own_judgements(ada), cases, strict=True):
        assert [text[start:end] for start, end in row.spans] == (whole or passages)


def test_passages_by_mouse_are_whole_words_painted_listed_joined_and_removed(
    signed_in_page: Signed, photograph: Callable[[Page, str], None]
) -> None:
    campaign, ada = make_job(n_documents=3, spans="optional")
    page = signed_in_page(ada.user)
    judging = JudgingPage(page, campaign).open()
    box = page.locator(".doc-body p").first.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 2, box["y"] + 14)
    page.mouse.down()
    page.mouse.move(box["x"] + 200, box["y"] + 14, steps=5)
    page.mouse.up()
    stored(page)
    select(page, "Strength training")
    expect(page.locator("#marks li")).to_have_count(2)
    photograph(page, "passages")
    assert page.evaluate("CSS.highlights.get('span').size") == 2
    select(page, "training helped")
    expect(page.locator("#marks li")).to_have_count(2)
    expect(page.locator("#marks li").nth(1)).to_contain_text("Strength training helped")
    page.locator("#marks li button").first.click()
    expect(page.locator("#marks li")).to_have_count(1)
    page.keyboard.press("Delete")
    expect(page.locator("#marks")).to_be_hidden()
    select(page, "older people")
    stored(page)
    judging.judge("4")
    where = page.evaluate(
        """() => { const range = document.createRange(), node = document.querySelector('.doc-body p').firstChild;
          const middle = (word) => { const at = node.data.indexOf(word); range.setStart(node, at + 3); range.setEnd(node, at + 4);
            const box = range.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; };
          return ['walking', 'sugar', 'people'].map(middle); }"""
    )
    page.mouse.move(*where[0])
    page.mouse.down()
    page.mouse.move(*where[1], steps=6)
    page.mouse.up()
    expect(page.locator("#marks q")).to_have_text("walking lowers blood sugar")
    page.mouse.dblclick(*where[2])
    assert page.evaluate("document.getSelection().toString().trim()") == "people"
    expect(page.locator("#marks li")).to_have_count(1)
    page.get_by_role("button", name="Mark this passage").click()
    expect(page.locator("#marks q")).to_have_text(["walking lowers blood sugar", "people"])
    judging.judge("3")
    judging.saved()
    rows = own_judgements(ada)
    assert [WORDS[start:end] for start, end in rows[0].spans] == ["older people"]
    assert [WORDS[start:end] for start, end in rows[1].spans] == [
        "walking lowers blood sugar",
        "people",
    ]


def test_direction_follows_the_text_and_the_ends_of_a_passage_the_arrows(
    signed_in_page: Signed, photograph: Callable[[Page, str], None]
) -> None:
    campaign, ada = make_job(
        texts=[ARABIC], titles=["المشي والسكر"], n_documents=2, spans="optional"
    )
    judging = JudgingPage(signed_in_page(ada.user), campaign).open()
    direction = "element => getComputedStyle(element).direction"
    assert judging.title.evaluate(direction) == "rtl"
    assert judging.page.locator(".doc-body p").first.evaluate(direction) == "rtl"
    photograph(judging.page, "right-to-left")
    judging.press("s", "ArrowUp", "Shift+ArrowLeft", "ArrowRight", "ArrowRight")  # of six words
    photograph(judging.page, "passage-rtl")
    judging.press("s")
    stored(judging.page)
    judging.judge("3")
    judging.saved()
    [row] = own_judgements(ada)
    words = ARABIC.split()
    assert [ARABIC[start:end] for start, end in row.spans] == [" ".join(words[1:4])]


def test_rotated_text_is_mapped_back_to_the_stored_one(
    signed_in_page: Signed, photograph: Callable[[Page, str], None]
) -> None:
    text = "😀 Alpha one. Beta two. Gamma three. Delta four."
    campaign, ada = make_job(texts=[text], n_documents=2, spans="optional", rotate_text=True)
    judging = JudgingPage(signed_in_page(ada.user), campaign)
    turn = text.index("Gamma")

    def rotated(route: Any) -> None:
        answer = route.fetch().json()
        for pair in answer["pairs"]:
            pair["document"]["rotation"] = turn if pair["document"]["text"] == text else 0
        route.fulfill(json=answer)

    judging.pretend("leases", rotated)
    judging.open()
    shown = [
        part.strip() for part in judging.page.locator(".doc-body p:not(.seam)").all_inner_texts()
    ]
    assert shown == ["Gamma three. Delta four.", "😀 Alpha one. Beta two."]
    expect(judging.page.locator(".doc-body > :first-child")).to_have_text(
        "The beginning is further down."
    )
    photograph(judging.page, "rotated")
    # from "Delta" over the seam to "Alpha": two passages of the stored text
    judging.page.evaluate(
        """() => {
          const [first, second] = [...document.querySelectorAll('.doc-body p:not(.seam)')].map(p => p.firstChild);
          document.getSelection().setBaseAndExtent(first, first.data.indexOf('Delta'), second, second.data.indexOf('Alpha') + 5);
          document.querySelector('.doc-body').dispatchEvent(new MouseEvent('mouseup', {bubbles: true, detail: 1}));
        }"""
    )
    stored(judging.page)
    judging.press("3")
    judging.saved()
    [row] = own_judgements(ada)
    assert [text[start:end] for start, end in row.spans] == ["😀 Alpha", "Delta four."]


def test_truncated_text_says_what_was_cut_and_shows_it_on_demand(
    signed_in_page: Signed, photograph: Callable[[Page, str], None]
) -> None:
    text = " ".join(f"word{number}" for number in range(1, 1201))
    campaign, ada = make_job(texts=[text], n_documents=2, truncate_words=100)
    judging = JudgingPage(signed_in_page(ada.user), campaign).open()
    page = judging.page
    assert page.locator(".doc-body").inner_text().split()[-1] == "word100"
    expect(page.locator(".doc-cut")).to_contain_text("Showing the first 100 of 1,200 words.")
    photograph(page, "truncated")
    judging.press("/")
    page.keyboard.type("word1199")
    expect(page.locator("#find-count")).to_contain_text("1 in hidden text")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Show all 1,200 words").click()
    expect(page.locator(".doc-body")).to_have_text(re.compile(r"\bword1200\s*$"))


def test_hostile_text_is_text_and_nothing_remote_is_loaded(signed_in_page: Signed) -> None:
    hostile = (
        '<img src="http://evil.example/x.png" '
        'onerror="window.hit=1"><script>window.hit=1</script> <b>bold</b> &amp; \u202eevil'
    )
    campaign, ada = make_job(
        texts=[hostile], titles=["<svg onload='window.hit=1'>"], n_documents=2, spans="optional"
    )
    document = Document.objects.filter(text=hostile).get()
    document.fields = {
        "<i>field</i>": "<a href='javascript:window.hit=1'>x</a>",
        "url": "http://evil.example",
    }
    document.save()
    page = signed_in_page(ada.user)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    judging = JudgingPage(page, campaign).open()
    expect(page.locator(".doc-body")).to_contain_text('<img src="http://evil.example/x.png"')
    expect(judging.title).to_have_text("<svg onload='window.hit=1'>")
    expect(page.locator(".doc-fields")).to_contain_text("<a href='javascript:window.hit=1'>x</a>")
    select(page, "<script>window.hit=1</script>")
    expect(page.locator("#marks")).to_contain_text("<script>window.hit=1</script>")
    assert page.evaluate("window.hit") is None
    assert not [url for url in asked if "evil" in url]


BROKEN_TWICE = (
    "the walkers of the trial were seen by two nurses\nevery week.  those who came less\nthan "
    "three times were asked why, and most had\n"
    "forgotten.  nothing else\nkept them away from the ward in all twelve weeks, and\nnobody was lost.  the others\n"
    "stayed at home, as they had been told, and\nwere seen at the end."
)
LINES = """(p) => { const range = document.createRange(); range.selectNodeContents(p);
  const ends = new Map(); for (const { top, right } of range.getClientRects()) ends.set(Math.round(top), right);
  return [p.getBoundingClientRect().right, [...ends.values()]]; }"""
PAINTED_WITH = """const measure = performance.measure.bind(performance);
  performance.measure = (...what) => { window.paintedWith = document.querySelectorAll('.doc-body p').length; return measure(...what); };"""
TABLE = "name      n     mean\nwalk     12     5.31\nstrength 10     5.80"
CODE = ">>> import bisect\n>>> bisect.insort(rows, 3)\n>>> rows\n[1, 2, 3]"
INDENTED = (
    "for (i = 0; i < n; i++) {\n    total += x[i];\n    if (x[i] > 3) {\n        big = 1;\n    }\n}"
)
PROSE = (
    "   The effects of slipstream on a wing were measured\nin a wind tunnel, and the lift was found to be\n"
    "   larger than theory says; the reasons are given."
)
LINES_OF_VERSE = "Short lines\nof a poem\nstay lines"
VERSE = (
    "the barley bent before the rain,\nand all of us who stood there at the gate\nremembered "
    "how the cart came home,\nthough it was late."
)


def test_documents_of_every_form_are_shown_as_they_are_meant(
    signed_in_page: Signed, photograph: Callable[[Page, str], None]
) -> None:
    """Tables and code keep their columns, prose that was wrapped becomes no code; lines that a
    machine broke fill the column at any width, those of a poem stay; an empty text is said to be
    empty; of a very long one the first paint, which the benchmark measures, waits for what fills
    the window only."""
    forms = "\n\n".join([TABLE, CODE, INDENTED, PROSE, LINES_OF_VERSE])
    long = "\n\n".join(
        f"Paragraph {number}. " + "Words about exercise and sugar. " * 30 for number in range(1000)
    )
    texts = [forms, f"{BROKEN_TWICE}\n\n{VERSE}", "  ", long]
    campaign, ada = make_job(texts=texts, n_documents=5)
    page = signed_in_page(ada.user, viewport=DESKTOP)
    page.add_init_script(PAINTED_WITH)
    judging = JudgingPage(page, campaign).open()
    paragraphs = page.locator(".doc-body p")
    kinds = paragraphs.evaluate_all("all => all.map(p => p.className)")
    assert kinds == ["fixed", "fixed", "fixed", "wrapped", "prose"]
    photograph(page, "tables-and-code")
    assert paragraphs.nth(4).inner_text().splitlines() == LINES_OF_VERSE.splitlines()

    judging.judge("1")
    joined, kept = paragraphs.all()
    for screen in (DESKTOP, PHONE):
        page.set_viewport_size(screen)  # type: ignore[arg-type]
        edge, ends = joined.evaluate(LINES)
        assert len(ends) >= 4
        # every line but the last ends within a long word of the column's edge
        assert [end for end in ends[:-1] if end < edge - 120] == [], screen
        assert kept.inner_text().splitlines() == VERSE.splitlines()
        assert page.evaluate("document.documentElement.scrollWidth") <= screen["width"]
    page.set_viewport_size(DESKTOP)  # type: ignore[arg-type]

    judging.judge("2")
    expect(page.locator(".doc-empty")).to_contain_text("no text")
    photograph(page, "empty-document")
    judging.judge("1")
    expect(paragraphs).to_have_count(1000)
    assert 1 <= page.evaluate("window.paintedWith") <= 200

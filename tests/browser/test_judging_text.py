"""What is stored of a marked passage, against Python's own slicing (which counts code points); and
how documents are shown."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from playwright.sync_api import Page, expect

from annotation.core import display
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


@pytest.mark.parametrize(
    ("text", "passage"),
    [
        (EMOJI, "laufen"),
        (EMOJI, "👨‍👩‍👧‍👦 nach"),
        (EMOJI, "🇩🇪"),
        (EMOJI, "Ende 😀"),
        (COMBINING, "nai\u0308ve"),
        (COMBINING, "ศิลปะ"),
        (ARABIC, "يخفض السكر"),
        (ARABIC, "🚶 جدا"),
    ],
)
def test_marked_passage_is_stored_as_code_points_of_the_stored_text(
    signed_in_page: Signed, text: str, passage: str
) -> None:
    campaign, ada = make_job(texts=[text], n_documents=2, spans="optional")
    judging = JudgingPage(signed_in_page(ada.user), campaign).open()
    select(judging.page, passage)
    stored(judging.page)
    judging.judge("3")
    judging.saved()
    [row] = own_judgements(ada)
    [[start, end]] = row.spans
    assert text[start:end] == passage


def test_selection_that_cuts_a_character_takes_all_of_it(signed_in_page: Signed) -> None:
    campaign, ada = make_job(texts=[EMOJI, COMBINING], n_documents=3, spans="optional")
    judging = JudgingPage(signed_in_page(ada.user), campaign).open()
    select(judging.page, "laufen ", cut=3)  # ends inside the family of seven code points
    stored(judging.page)
    judging.judge("3")
    select(judging.page, "Cafe")  # without the accent that follows as a code point of its own
    stored(judging.page)
    judging.judge("3")
    judging.saved()
    first, second = own_judgements(ada)
    assert [EMOJI[start:end] for start, end in first.spans] == ["laufen 👨‍👩‍👧‍👦"]
    assert [COMBINING[start:end] for start, end in second.spans] == ["Cafe\u0301"]


def test_passages_by_mouse_are_painted_listed_joined_and_removed(
    signed_in_page: Signed, photograph: Callable[[Page, str], None]
) -> None:
    campaign, ada = make_job(n_documents=2, spans="optional")
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
    judging.saved()
    [row] = own_judgements(ada)
    assert [WORDS[start:end] for start, end in row.spans] == ["older people"]


def test_marks_by_mouse_are_whole_words_and_a_double_click_marks_only_when_asked(
    signed_in_page: Signed,
) -> None:
    campaign, ada = make_job(n_documents=2, spans="optional")
    page = signed_in_page(ada.user)
    judging = JudgingPage(page, campaign).open()
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
    [row] = own_judgements(ada)
    assert [WORDS[start:end] for start, end in row.spans] == [
        "walking lowers blood sugar",
        "people",
    ]


def test_passage_by_touch_is_marked_with_a_button(
    signed_in_page: Signed, photograph: Callable[[Page, str], None]
) -> None:
    campaign, ada = make_job(n_documents=2, spans="optional")
    page = signed_in_page(
        ada.user, viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True
    )
    judging = JudgingPage(page, campaign).open()
    page.locator(".doc-title").tap()
    page.evaluate(
        "() => { const n = document.querySelector('.doc-body p').firstChild; "
        "document.getSelection().setBaseAndExtent(n, 8, n, 15); }"
    )
    button = page.get_by_role("button", name="Mark this passage")
    expect(button).to_be_visible()
    photograph(page, "mark-by-touch")
    page.set_viewport_size({"width": 390, "height": 800})
    button.tap()
    expect(button).to_be_hidden()
    page.locator("#grades button").nth(2).tap()
    judging.saved()
    [row] = own_judgements(ada)
    assert [WORDS[start:end] for start, end in row.spans] == ["walking"]
    assert row.device == "touch"


def test_passage_by_keyboard_in_right_to_left_text_follows_the_arrows(
    signed_in_page: Signed, photograph: Callable[[Page, str], None]
) -> None:
    campaign, ada = make_job(texts=[ARABIC], n_documents=2, spans="optional")
    judging = JudgingPage(signed_in_page(ada.user), campaign).open()
    judging.press("s", "ArrowLeft", "Enter", "ArrowLeft", "ArrowLeft")
    photograph(judging.page, "word-cursor-rtl")
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


def test_page_and_server_agree_where_a_cut_text_ends_and_begins(signed_in_page: Signed) -> None:
    campaign, ada = make_job(n_documents=1)
    page = JudgingPage(signed_in_page(ada.user), campaign).open().page

    @settings(max_examples=60, deadline=None)
    @given(
        text=st.lists(
            st.text(alphabet="ab🦄é.!? \n\u00a0\ufeff\x1f\x85”中文。カ\u3099𠀀สวัสดี", max_size=12),
            min_size=1,
            max_size=12,
        ).map(" ".join),
        seed=st.integers(0, 2**32),
        words=st.integers(1, 12),
    )
    def agree(text: str, seed: int, words: int) -> None:
        turn, end = display.rotation(text, seed, words=words), display.shown_end(text, words)
        pieces = page.evaluate(
            """async ([text, end, turn]) => {
              const early = [...document.scripts].map(s => s.src).find(s => s.includes('judge/early'));
              const { StoredText, pieces } = await import(early.replace(/early[^/]*$/, 'text.js'));
              const stored = new StoredText(text);
              return pieces(text, { shownEnd: stored.toUnit(end), rotateAt: stored.toUnit(turn) })
                .filter(p => !p.rest).map(p => [stored.toPoint(p.start), stored.toPoint(p.end)]);
            }""",
            [text, end, turn],
        )
        assert pieces == ([[turn, end], [0, turn]] if turn else [[0, end]])

    agree()


def test_truncated_text_says_what_was_cut_and_shows_it_on_demand(
    signed_in_page: Signed, photograph: Callable[[Page, str], None]
) -> None:
    text = " ".join(f"word{number}" for number in range(1, 1201))
    campaign, ada = make_job(texts=[text], n_documents=2, truncate_words=100)
    judging = JudgingPage(signed_in_page(ada.user), campaign).open()
    page = judging.page
    assert page.locator(".doc-body").inner_text().split()[-1] == "word100"
    expect(page.locator(".doc-cut")).to_contain_text("Shown: the first 100 of 1,200 words.")
    photograph(page, "truncated")
    judging.press("/")
    page.keyboard.type("word1199")
    expect(page.locator("#find-count")).to_contain_text("1 in the part not shown")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Show the other 1,100 words").click()
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


def test_tables_and_code_keep_their_columns_and_wrapped_prose_does_not_become_code(
    signed_in_page: Signed, photograph: Callable[[Page, str], None]
) -> None:
    table = "name      n     mean\nwalk     12     5.31\nstrength 10     5.80"
    code = ">>> import bisect\n>>> bisect.insort(rows, 3)\n>>> rows\n[1, 2, 3]"
    indented = "for (i = 0; i < n; i++) {\n    total += x[i];\n    if (x[i] > 3) {\n        big = 1;\n    }\n}"
    prose = (
        "   The effects of slipstream on a wing were measured\nin a wind tunnel, and the lift was found to be\n"
        "   larger than theory says; the reasons are given."
    )
    poem = "Short lines\nof a poem\nstay lines"
    campaign, ada = make_job(
        texts=["\n\n".join([table, code, indented, prose, poem])], n_documents=2
    )
    judging = JudgingPage(signed_in_page(ada.user), campaign).open()
    kinds = judging.page.locator(".doc-body p").evaluate_all("all => all.map(p => p.className)")
    assert kinds == ["fixed", "fixed", "fixed", "wrapped", "prose"]
    photograph(judging.page, "tables-and-code")
    assert judging.page.locator(".doc-body p").nth(4).inner_text().splitlines() == poem.splitlines()


BROKEN_TWICE = (
    "the walkers of the trial were seen by two nurses\nevery week.  those who came less\nthan "
    "three times were asked why, and most had\n"
    "forgotten.  nothing else\nkept them away from the ward in all twelve weeks, and\nnobody was lost.  the others\n"
    "stayed at home, as they had been told, and\nwere seen at the end."
)
LINES = """(p) => { const range = document.createRange(); range.selectNodeContents(p);
  const ends = new Map(); for (const { top, right } of range.getClientRects()) ends.set(Math.round(top), right);
  return [p.getBoundingClientRect().right, [...ends.values()]]; }"""


@pytest.mark.parametrize(
    "screen",
    [{"viewport": DESKTOP}, {"viewport": PHONE, "has_touch": True, "is_mobile": True}],
    ids=["desktop", "phone"],
)
def test_lines_that_a_machine_broke_fill_the_column_and_those_of_a_poem_stay(
    signed_in_page: Signed, screen: dict[str, Any]
) -> None:
    """Every line but the last ends within a long word of the column's edge, whatever the width."""
    poem = (
        "the barley bent before the rain,\nand all of us who stood there at the gate\nremembered "
        "how the cart came home,\nthough it was late."
    )
    campaign, ada = make_job(texts=[f"{BROKEN_TWICE}\n\n{poem}"], n_documents=2)
    page = signed_in_page(ada.user, **screen)
    JudgingPage(page, campaign).open()
    joined, kept = page.locator(".doc-body p").all()
    edge, ends = joined.evaluate(LINES)
    assert len(ends) >= 4
    assert [end for end in ends[:-1] if end < edge - 120] == []
    assert kept.inner_text().splitlines() == poem.splitlines()
    assert page.evaluate("document.documentElement.scrollWidth") <= screen["viewport"]["width"]


PAINTED_WITH = """const measure = performance.measure.bind(performance);
  performance.measure = (...what) => { window.paintedWith = document.querySelectorAll('.doc-body p').length; return measure(...what); };"""


def test_very_long_document_is_shown_at_once_and_completed(signed_in_page: Signed) -> None:
    """Its first paint, which the benchmark measures, waits for what fills the window and not for
    the rest."""
    text = "\n\n".join(
        f"Paragraph {number}. " + "Words about exercise and sugar. " * 30 for number in range(1000)
    )
    campaign, ada = make_job(texts=["short", text], n_documents=3)
    page = signed_in_page(ada.user)
    page.add_init_script(PAINTED_WITH)
    judging = JudgingPage(page, campaign).open()
    judging.judge("1")
    expect(page.locator(".doc-body p")).to_have_count(1000)
    assert 1 <= page.evaluate("window.paintedWith") <= 200


def test_direction_follows_the_text(
    signed_in_page: Signed, photograph: Callable[[Page, str], None]
) -> None:
    campaign, ada = make_job(texts=[ARABIC], titles=["المشي والسكر"], n_documents=2)
    judging = JudgingPage(signed_in_page(ada.user), campaign).open()
    direction = "element => getComputedStyle(element).direction"
    assert judging.title.evaluate(direction) == "rtl"
    assert judging.page.locator(".doc-body p").first.evaluate(direction) == "rtl"
    photograph(judging.page, "right-to-left")


def test_empty_document_says_so(
    signed_in_page: Signed, photograph: Callable[[Page, str], None]
) -> None:
    campaign, ada = make_job(texts=["  "], n_documents=2)
    judging = JudgingPage(signed_in_page(ada.user), campaign).open()
    expect(judging.page.locator(".doc-empty")).to_contain_text("no text")
    photograph(judging.page, "empty-document")


def test_query_words_are_found_with_endings_accents_and_other_scripts(scripts: Page) -> None:
    found = scripts.evaluate(
        """async () => {
          const { terms, occurrences, phrases } = await import('/static/js/judge/highlight.js');
          const hits = (query, text) => occurrences(text, terms(query)).map(([a, b]) => text.slice(a, b));
          return [
            hits('exercises for the knees', 'Exercise your knee. Exercising for hours.'),
            hits('Café', 'The cafe and the CAFÉS'),
            hits('to be or not', 'to not'),
            hits('the of', 'of the'),
            hits('糖尿', '预防糖尿病的方法'),
            hits('vitamin b 12', 'B vitamins, 12 of them'),
            phrases('a.b A.B a\\n b', 'a.b').length, phrases('two  words two\\nwords', 'two words').length,
          ];
        }"""
    )
    assert found == [
        ["Exercise", "knee", "Exercising"],
        ["cafe", "CAFÉS"],
        ["to", "not"],
        ["of", "the"],
        ["糖尿"],
        ["vitamins", "12"],
        2,
        2,
    ]

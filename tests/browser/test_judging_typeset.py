"""Texts set for reading, while passages keep their places in the stored text."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from pooling.models import Collection, Document
from tests.browser.conftest import DESKTOP, PHONE
from tests.browser.judging import JudgingPage, make_job, own_judgements
from tests.browser.test_judging_text import select, stored

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Signed = Callable[..., Page]

MARKDOWN = """# Walking and sugar

A trial of **twelve weeks** &ndash; with *diabetes* type&nbsp;2 &ndash; where $p \\leq 0.05$.

- brisk walks
- one [long walk](http://example.org/walk) a day
  - in the evening

1. lower values

> quoted &lt;words&gt;

```
dose = 2 * x
```

<script>window.hurt = true</script>
"""


def one_document(text: str, **fields: object) -> None:
    Document.objects.update(text=text, fields=fields)


def test_markdown_is_rendered_if_enabled_and_runs_no_scripts(
    signed_in_page: Signed, photograph: Callable[[Page, str], None]
) -> None:
    campaign, ada = make_job(n_documents=2, spans="optional")
    one_document(MARKDOWN)
    Collection.objects.update(text_format="markdown")
    page = signed_in_page(ada.user, viewport=DESKTOP)
    judging = JudgingPage(page, campaign).open()
    body = page.locator(".doc-body")
    expect(body.locator("h3")).to_have_text("Walking and sugar")
    expect(body.locator("p").first).to_have_text(
        "A trial of twelve weeks – with diabetes type\u00a02 – where p ≤ 0.05."
    )
    expect(body.locator("strong")).to_have_text("twelve weeks")
    expect(body.locator("[class^=item]")).to_have_text(
        ["brisk walks", "one long walk a day", "in the evening"]
    )
    expect(body.locator(".quoted")).to_have_text("quoted <words>")
    expect(body.locator(".fixed")).to_have_text("dose = 2 * x")
    expect(body.locator("a, script, img")).to_have_count(0)
    expect(body).to_contain_text("<script>window.hurt = true</script>")
    assert page.evaluate("window.hurt") is None
    photograph(page, "typeset")
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    select(page, "weeks")
    stored(page)
    judging.press(
        "s", "ArrowUp", "ArrowLeft", "Enter"
    )  # and without the last word of a sentence by keyboard
    judging.judge("2")
    judging.saved()
    [row] = own_judgements(ada)
    assert [MARKDOWN[slice(*span)] for span in row.spans] == ["Walking and", "weeks"]


def test_plain_text_stays_with_its_language_and_a_passage_over_entities_is_that_of_the_stored_text(
    signed_in_page: Signed,
) -> None:
    text = "Caf&eacute;s &amp; bars where $x^2$ grows. It costs $5 and $10 &undefined; here."
    plain, arabic = "# No heading\n\nA *star* and R&D; 2 < 3.", "123 المشي السريع يخفض السكر."
    campaign, ada = make_job(texts=[plain, arabic, text], n_documents=4, spans="optional")
    Document.objects.filter(text=arabic).update(fields={"lang": "ar"})
    page = signed_in_page(ada.user)
    judging = JudgingPage(page, campaign).open()
    paragraph = page.locator(".doc-body p")
    expect(paragraph).to_have_text(["# No heading", "A *star* and R&D; 2 < 3."])
    judging.judge("1")
    expect(page.locator("article.doc")).to_have_attribute("lang", "ar")
    expect(paragraph).to_have_attribute("dir", "rtl")
    assert paragraph.evaluate("(p) => getComputedStyle(p).direction") == "rtl"
    judging.judge("3")
    expect(paragraph).to_have_text(
        "Cafés & bars where x² grows. It costs $5 and $10 &undefined; here."
    )
    page.evaluate("""() => { const p = document.querySelector('.doc-body p'), nodes = [...p.childNodes].flatMap((one) => one.firstChild ?? one);
        document.getSelection().setBaseAndExtent(nodes[0], 1, nodes.find((one) => one.data.startsWith(' grows')), 3);
        p.dispatchEvent(new MouseEvent('mouseup', {bubbles: true, detail: 1})); }""")
    stored(page)
    judging.judge("2")
    judging.saved()
    row = own_judgements(ada)[2]
    passage = "Caf&eacute;s &amp; bars where $x^2$ grows"
    assert [text[slice(*span)] for span in row.spans] == [passage]
    page.keyboard.press("z")  # and it is painted again where it was
    expect(page.locator("#marks q")).to_have_text(passage)


def test_a_direction_that_the_collection_gives_is_that_of_title_and_text_on_a_phone_too(
    signed_in_page: Signed,
) -> None:
    """Letters and language would say left to right; the page in English stays as it is, and a
    document without the field goes by its letters."""
    campaign, ada = make_job(n_documents=2)
    first, second = Document.objects.order_by("pk")
    for document, fields in ((first, {"lang": "en", "dir": "rtl"}), (second, {})):
        document.text, document.title, document.fields = "Walks, transcribed.", "A title", fields
        document.save()
    page = signed_in_page(ada.user, viewport=PHONE, has_touch=True, is_mobile=True)
    judging = JudgingPage(page, campaign).open()
    directions = (
        "() => ['.doc-title', '.doc-body p', '#grades'].map((name) => "
        "getComputedStyle(document.querySelector(name)).direction)"
    )
    assert page.evaluate(directions) == ["rtl", "rtl", "ltr"]
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.locator("#grades button").first.tap()
    page.wait_for_function("() => performance.getEntriesByName('assay:next').length > 0")
    assert page.evaluate(directions) == ["ltr", "ltr", "ltr"]
    expect(page.locator("article.doc")).to_have_attribute("lang", "")
    judging.saved()

"""Text of people in Markdown, read again by markdown-it: the words as they were, and no mark-up."""

from __future__ import annotations

import html
import re

import pytest
from markdown_it import MarkdownIt

from assay.markdown import escape_line, escape_paragraphs

READER = MarkdownIt("gfm-like", {"linkify": False})
HOSTILE = [
    "# no heading",
    "1. no list",
    "12) no list",
    "- no list",
    "+ no list",
    "> no quotation",
    "---",
    "===",
    "~~~ no code",
    "    no block of code",
    "a | b | c",
    "*no* _stress_ **here** ~~at all~~",
    "[no link](http://example.org) ![no picture](x.png)",
    "[no: target]: x",
    "<script>alert(1)</script>",
    "<http://example.org>",
    "a `code` b",
    "AT&amp;T &lt;b&gt; &#35;",
    "back\\slash \\* at the end \\",
    "$no$ formula",
    "nDCG@10 & P@5: 0.5 + 0.25 = 0.75",
]


def read(markdown: str, tag: str) -> str:
    """The text of one element without anything inside."""
    rendered = READER.render(markdown).strip()
    inner = re.fullmatch(rf"<{tag}>([^<]*)</{tag}>", rendered)
    assert inner, rendered
    return html.unescape(inner[1])


@pytest.mark.parametrize("text", HOSTILE)
def test_a_heading_a_cell_and_a_paragraph_hold_the_words_and_nothing_else(text: str) -> None:
    words = " ".join(text.split())
    assert read(f"# {escape_line(text)}", "h1") == words
    assert read(escape_paragraphs(text), "p") == words
    table = READER.render(
        f"| {escape_line(text)} | b |\n| --- | --- |\n| {escape_line(text)} | c |"
    )
    assert [html.unescape(cell) for cell in re.findall(r"<t[hd]>([^<]*)</t[hd]>", table)] == [
        words,
        "b",
        words,
        "c",
    ]


def test_paragraphs_stay_apart_and_lines_are_joined() -> None:
    assert escape_paragraphs("one\ntwo\r\n\r\n \n# three\n") == "one two\n\n\\# three"
    assert escape_paragraphs(" \n ") == ""

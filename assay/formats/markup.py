"""Extract text from untrusted markup: tagged TREC text with unclosed tags, and HTML."""

from __future__ import annotations

import re
from html import unescape

TAG_PATTERN = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9_:-]*)(\s[^<>]*)?>")
SPACES_PATTERN = re.compile(r"[ \t\f\v\r\u00a0]+")
TAG_NAME_PATTERN = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9:-]*)")
HIDDEN_TAGS = frozenset(
    ("script", "style", "template", "noscript", "iframe", "object", "svg", "math", "title")
)
BLOCK_TAGS = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "br",
        "dd",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hr",
        "li",
        "main",
        "nav",
        "ol",
        "p",
        "pre",
        "section",
        "table",
        "td",
        "th",
        "tr",
        "ul",
    ]
)


def parse_tagged_fields(text: str) -> list[tuple[str, str]]:
    """Return (tag, text) of each field of a record whose tags may be unclosed.

    A field ends where the next tag begins. Text before the first tag has an empty tag.
    """
    fields: list[tuple[str, str]] = []
    tag, begin = "", 0
    for mark in TAG_PATTERN.finditer(text):
        fields.append((tag, text[begin : mark.start()]))
        tag = "" if mark[1] else mark[2].lower()
        begin = mark.end()
    fields.append((tag, text[begin:]))
    return [(tag, unescape(value).strip()) for tag, value in fields if value.strip()]


def collapse_spaces(text: str) -> str:
    """Replace every run of white space, including line ends, by one space."""
    return " ".join(text.split())


def extract_html_text(markup: str) -> tuple[str, str]:
    """Return (title, text) of an HTML page: the visible text with one line per block, without
    scripts, styles and comments.

    The text is plain: `&lt;b&gt;` in the page becomes `<b>`, so it must be escaped when shown. The
    page is read once, in time linear in its length (a tag ends at the next `>`).
    """
    parts: list[str] = []
    title = ""
    at, preformatted = 0, 0
    while at < len(markup):
        begin = markup.find("<", at)
        data = unescape(markup[at:] if begin < 0 else markup[at:begin])
        parts.append(data if preformatted > 0 else SPACES_PATTERN.sub(" ", data.replace("\n", " ")))
        if begin < 0:
            break
        tag = TAG_NAME_PATTERN.match(markup, begin)
        if tag is None:
            comment = markup.startswith("<!--", begin)
            if not comment and markup[begin + 1 : begin + 2] not in ("!", "?"):
                parts.append("<")
                at = begin + 1
                continue
            end = markup.find("-->" if comment else ">", begin)
            at = len(markup) if end < 0 else end + (3 if comment else 1)
            continue
        closing, name = tag[1], tag[2].lower()
        end = markup.find(">", begin)
        at = len(markup) if end < 0 else end + 1
        if name in HIDDEN_TAGS and not closing:
            after = re.compile(rf"</{name}\b", re.IGNORECASE).search(markup, at)
            if name == "title" and after and not title:
                title = collapse_spaces(unescape(markup[at : after.start()]))
            at = after.start() if after else len(markup)
        if name == "pre":
            preformatted += -1 if closing else 1
        if name in BLOCK_TAGS:
            parts.append("\n")
    kept: list[str] = []
    for line in "".join(parts).split("\n"):
        line = line.rstrip()
        if line or (kept and kept[-1]):
            kept.append(line)
    return title, "\n".join(kept).strip("\n")

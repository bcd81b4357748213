"""Safe HTML from the Markdown of guidelines, consent and thanks: no scripts, styles, images or
remote content."""

from __future__ import annotations

from functools import lru_cache

import nh3
from markdown_it import MarkdownIt

ALLOWED_TAGS = {
    "a",
    "abbr",
    "b",
    "blockquote",
    "br",
    "code",
    "dd",
    "del",
    "dl",
    "dt",
    "em",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "i",
    "kbd",
    "li",
    "mark",
    "ol",
    "p",
    "pre",
    "s",
    "strong",
    "sub",
    "sup",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "ul",
}


@lru_cache(maxsize=64)
def markdown(text: str) -> str:
    """Return HTML for a Markdown text (CommonMark with tables and strikethrough). Raw HTML is
    escaped."""
    html = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).render(text)
    return nh3.clean(
        html,
        tags=ALLOWED_TAGS,
        attributes={"a": {"href", "title"}, "th": {"align"}, "td": {"align"}},
        url_schemes={"http", "https", "mailto"},
    )

"""Rows of a list as cards: what a narrow window shows of a `<table class="… card-rows">` in place
of columns that it would have to scroll.

The middleware says at each cell what its column is called (`data-label`) and which part of a card
it is (`data-card`): the title, the box to choose it by, or nothing to show. The style sheet
(components.css) does the rest, so that a template says `card-rows` and no more."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape, unescape

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

TABLE = re.compile(r'<table class="[^"]*\bcard-rows\b[^"]*".*?</table>', re.DOTALL)
HEAD = re.compile(r"<thead\b.*?</thead>", re.DOTALL)
ROW = re.compile(r"<tr\b.*?</tr>", re.DOTALL)
CELL = re.compile(r"<(t[dh])\b([^>]*)>(.*?)</\1>", re.DOTALL)
UNSEEN = re.compile(r'<span class="visually-hidden">.*?</span>', re.DOTALL)
TAG = re.compile(r"<[^>]*>")
SPAN = re.compile(r'\bcolspan="(\d+)"')
NUMBER = re.compile(r"[\d,.]+")


def with_labels(table: str) -> str:
    """The table with the name of its column at each cell of its body; a cell over several columns
    has none."""
    head = HEAD.search(table)
    if head is None:
        return table
    names = [_words(UNSEEN.sub("", cell[3])) for cell in CELL.finditer(head[0])]
    labels = [f' data-label="{escape(name)}"' if name else "" for name in names]
    return table[: head.end()] + ROW.sub(lambda row: _labelled(row[0], labels), table[head.end() :])


def _labelled(row: str, labels: list[str]) -> str:
    column, titled = 0, False

    def cell(match: re.Match[str]) -> str:
        nonlocal column, titled
        kind, attributes, content = match.groups()
        over = SPAN.search(attributes) if attributes else None
        told = "" if over or column >= len(labels) else labels[column]
        column += int(over[1]) if over else 1
        if not content or content.isspace():
            told = ' data-card="none"'
        elif 'type="checkbox"' in content and not _words(content):
            told = ' data-card="choose"'
        elif not titled:
            titled = True
            if kind == "th" or not NUMBER.fullmatch(_words(content)):
                told = ' data-card="title"'
        return f"<{kind}{attributes}{told}>{content}</{kind}>"

    return CELL.sub(cell, row)


def _words(html: str) -> str:
    return " ".join(unescape(TAG.sub(" ", html)).split())


class TableCards:
    """Middleware: see the module."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if (
            isinstance(response, HttpResponse)
            and response.headers.get("Content-Type", "").startswith("text/html")
            and b" card-rows" in response.content
        ):
            response.content = TABLE.sub(
                lambda table: with_labels(table[0]), response.content.decode()
            ).encode()
        return response

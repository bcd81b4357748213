"""Where a template says something: its text nodes and visible attributes, and which of them no translator would ever see.

unmarked('<p title="A tip">Two words</p>')    ["A tip", "Two words"]
unmarked('<p>{% translate "Two words" %}</p>')    []
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

TEMPLATE = re.compile(r"\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}", re.DOTALL)
VISIBLE = re.compile(r"""\b(aria-label|aria-description|aria-roledescription|title|placeholder|alt|data-confirm)=("|')""")
SILENT = {"code", "pre", "kbd", "samp", "script", "style", "svg", "template"}
"""What stands in these is typed as it is, or no text."""
INLINE = {
    "a",
    "abbr",
    "b",
    "em",
    "i",
    "q",
    "small",
    "span",
    "strong",
    "sub",
    "sup",
    "u",
    "br",
    *SILENT - {"pre", "script", "style", "svg", "template"},
}
NAMES = {"Aa", "Assay", "API", "CSV", "JSON", "LaTeX", "OpenAPI", "PDF", "PNG", "SVG", "TREC", "UTC", "ZIP"}
"""Alike in every language; and "Aa", the sign for how text looks."""
WORD = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True)
class Piece:
    """Of a template, from start to end: kind "text", "value", "block", "comment", or "tag", whose name is that of an HTML element ("/p": its end)."""

    kind: str
    start: int
    end: int
    name: str = ""


def pieces(source: str) -> Iterator[Piece]:
    at = 0
    while at < len(source):
        inner = TEMPLATE.match(source, at)
        if inner:
            word = (inner[0][2:-2].split() or [""])[0]
            yield Piece(
                {"{%": "block", "{{": "value", "{#": "comment"}[inner[0][:2]], at, inner.end(), word if inner[0].startswith("{%") else ""
            )
            at = inner.end()
        elif source.startswith("<!--", at):
            end = source.find("-->", at) + 3
            yield Piece("comment", at, end)
            at = end
        elif tag := re.compile(r"<(/?[a-zA-Z][\w-]*|!doctype)").match(source, at):
            end = _end_of_tag(source, tag.end())
            yield Piece("tag", at, end, tag[1].lower())
            at = end
        else:
            following = re.compile(r"\{%|\{\{|\{#|<(?=[/!a-zA-Z])").search(source, at + 1)
            end = following.start() if following else len(source)
            yield Piece("text", at, end)
            at = end


def _end_of_tag(source: str, at: int) -> int:
    quote = ""
    while at < len(source):
        inner = TEMPLATE.match(source, at)
        if inner:
            at = inner.end()
            continue
        if source[at] == quote:
            quote = ""
        elif not quote and source[at] in "\"'":
            quote = source[at]
        elif not quote and source[at] == ">":
            return at + 1
        at += 1
    return at


def attributes(source: str, tag: Piece) -> Iterator[tuple[int, int]]:
    """(start, end) of the values of its visible attributes."""
    at = tag.start
    while match := VISIBLE.search(source, at, tag.end):
        at = match.end()
        while source[at] != match[2]:
            inner = TEMPLATE.match(source, at)
            at = inner.end() if inner else at + 1
        yield match.end(), at


def says_something(text: str) -> bool:
    """Whether it has words to translate."""
    return any(
        word not in NAMES for word in WORD.findall(re.sub(r"&\w+;|\b[\w*-]+\.[a-z]{2,5}\b", " ", text))
    )  # no entities, no names of files


def unmarked(source: str) -> list[str]:
    """The texts that no tag marks for translation, in turn."""
    found = []
    silent: list[str] = []
    marked = False
    for piece in pieces(source):
        if piece.kind == "block" and (piece.name in ("blocktranslate", "comment") or "block body_class" in source[piece.start : piece.end]):
            marked = True
        elif piece.kind == "block" and piece.name in ("endblocktranslate", "endcomment", "endblock"):
            marked = False
        elif marked:
            continue
        elif piece.kind == "tag":
            for start, end in attributes(source, piece):
                found += unmarked(source[start:end])
            if silent and piece.name == f"/{silent[-1]}":
                silent.pop()
            elif piece.name in SILENT and not source[: piece.end].endswith("/>"):
                silent.append(piece.name)
        elif piece.kind == "text" and not silent and says_something(source[piece.start : piece.end]):
            found.append(" ".join(source[piece.start : piece.end].split()))
    return found

"""Escape users' text for Markdown files, so that it is shown as written and not read as Markdown or
HTML."""

from __future__ import annotations

import re

SPECIAL_PATTERN = re.compile(r"([\\|*_`\[\]<>&~#$])")
"""Characters with a meaning anywhere in a line. All may be escaped by a backslash (CommonMark 0.31,
2.4)."""
BLOCK_START_PATTERN = re.compile(r"^([-+=]|\d+(?=[.)]))")
"""Characters with a meaning only at the start of a line: lists, underlines of headings."""


def escape_line(text: str) -> str:
    """Escape text for one line: a heading, a table cell or part of a sentence. Line breaks become
    spaces."""
    return SPECIAL_PATTERN.sub(r"\\\1", " ".join(text.split()))


def escape_paragraphs(text: str) -> str:
    """Escape text of several lines. Paragraphs are kept, and no line starts a list, heading or code
    block."""
    return "\n\n".join(
        _escape_paragraph(part)
        for part in re.split(r"\n\s*\n", text.replace("\r\n", "\n").strip())
        if part.strip()
    )


def _escape_paragraph(text: str) -> str:
    words = escape_line(text)
    begins = BLOCK_START_PATTERN.match(words)
    if begins is None:
        return words
    number = begins[0].isdigit()
    return f"{begins[0]}\\{words[begins.end() :]}" if number else f"\\{words}"

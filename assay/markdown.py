"""Text of people in a Markdown file: shown as they wrote it, never read as Markdown or HTML."""

from __future__ import annotations

import re

SPECIAL_PATTERN = re.compile(r"([\\|*_`\[\]<>&~#$])")
"""Characters with a meaning anywhere in a line (CommonMark 0.31, 2.4: each may stand behind a
backslash)."""
BLOCK_START_PATTERN = re.compile(r"^([-+=]|\d+(?=[.)]))")
"""With a meaning at the beginning of a line only: lists, underlines of headings."""


def escape_line(text: str) -> str:
    """One line, for a heading, a cell of a table or within a sentence; a line break is a blank."""
    return SPECIAL_PATTERN.sub(r"\\\1", " ".join(text.split()))


def escape_paragraphs(text: str) -> str:
    """Text of several lines: paragraphs stay apart, and nothing begins a list, a heading or a block
    of code."""
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

"""Text of people in a Markdown file: shown as they wrote it, never read as Markdown or HTML."""

from __future__ import annotations

import re

SPECIAL = re.compile(r"([\\|*_`\[\]<>&~#$])")
"""Characters with a meaning anywhere in a line (CommonMark 0.31, 2.4: each may stand behind a
backslash)."""
BEGINNING = re.compile(r"^([-+=]|\d+(?=[.)]))")
"""With a meaning at the beginning of a line only: lists, underlines of headings."""


def escaped(text: str) -> str:
    """One line, for a heading, a cell of a table or within a sentence; a line break is a blank."""
    return SPECIAL.sub(r"\\\1", " ".join(text.split()))


def paragraphs(text: str) -> str:
    """Text of several lines: paragraphs stay apart, and nothing begins a list, a heading or a block
    of code."""
    return "\n\n".join(
        _paragraph(part)
        for part in re.split(r"\n\s*\n", text.replace("\r\n", "\n").strip())
        if part.strip()
    )


def _paragraph(text: str) -> str:
    words = escaped(text)
    begins = BEGINNING.match(words)
    if begins is None:
        return words
    number = begins[0].isdigit()
    return f"{begins[0]}\\{words[begins.end() :]}" if number else f"\\{words}"

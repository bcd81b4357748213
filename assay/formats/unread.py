"""Files of nuggets and of generated answers: recognised, so that a person learns what they are, and
not read yet."""

from __future__ import annotations

import re

from assay.formats.errors import FormatError

NUGGETS = re.compile(r'"(?:nuggets|nugget_bank)"\s*:')
ANSWER = re.compile(r'"(?:answer|responses)"\s*:\s*\[\s*\{')
CITATIONS = re.compile(r'"citations"\s*:')


def unread_content(head: str) -> str:
    """`nuggets`, `answers`, or nothing, for the begin of a JSON or JSONL file."""
    if head.lstrip()[:1] not in ("{", "["):
        return ""
    if NUGGETS.search(head):
        return "nuggets"
    return "answers" if ANSWER.search(head) and CITATIONS.search(head) else ""


def refuse_unread(head: bytes, called: str, expected: str) -> None:
    """Raise FormatError for such a file. expected: what the reader takes."""
    if head.lstrip()[:1] in (b"{", b"[") and (
        content := unread_content(head.decode("utf-8", "replace"))
    ):
        raise FormatError.single(
            called, 1, f"this file holds {content}; Assay does not read them yet", expected
        )

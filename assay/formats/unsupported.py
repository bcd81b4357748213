"""Recognise files of nuggets and generated answers, which are not supported yet, to report what
they are."""

from __future__ import annotations

import re

from assay.formats.errors import FormatError

NUGGETS_PATTERN = re.compile(r'"(?:nuggets|nugget_bank)"\s*:')
ANSWER_PATTERN = re.compile(r'"(?:answer|responses)"\s*:\s*\[\s*\{')
CITATIONS_PATTERN = re.compile(r'"citations"\s*:')


def detect_unsupported(head: str) -> str:
    """Return `nuggets`, `answers` or an empty string for the start of a JSON or JSONL file."""
    if head.lstrip()[:1] not in ("{", "["):
        return ""
    if NUGGETS_PATTERN.search(head):
        return "nuggets"
    return "answers" if ANSWER_PATTERN.search(head) and CITATIONS_PATTERN.search(head) else ""


def refuse_unsupported(head: bytes, called: str, expected: str) -> None:
    """Raise FormatError for an unsupported file. expected: what the reader accepts."""
    if head.lstrip()[:1] in (b"{", b"[") and (
        content := detect_unsupported(head.decode("utf-8", "replace"))
    ):
        raise FormatError.single(
            called, 1, f"this file contains {content}, which Assay cannot read", expected
        )

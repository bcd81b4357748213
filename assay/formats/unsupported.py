"""Recognise files of nuggets, rubrics and generated answers where topics, runs or qrels are
expected, to report what they are and which commands read them."""

from __future__ import annotations

import re

from assay.formats.errors import FormatError

PATTERNS = {
    "nuggets": (re.compile(r'"(?:nuggets|nugget_bank)"\s*:'),),
    "rubrics": (re.compile(r'"rubrics"\s*:\s*\['),),
    "answers": (
        re.compile(r'"(?:answer|responses)"\s*:\s*\[\s*\{'),
        re.compile(r'"citations"\s*:'),
    ),
}
"""Patterns of the fields that a file of each content has."""


def detect_unsupported(head: str) -> str:
    """Return `nuggets`, `rubrics`, `answers` or an empty string for the start of a JSON or JSONL
    file."""
    if head.lstrip()[:1] not in ("{", "["):
        return ""
    return next(
        (
            content
            for content, patterns in PATTERNS.items()
            if all(one.search(head) for one in patterns)
        ),
        "",
    )


def refuse_unsupported(head: bytes, file_name: str, expected: str) -> None:
    """Raise FormatError for a file of nuggets, rubrics or answers. expected: what the reader accepts."""
    if head.lstrip()[:1] in (b"{", b"[") and (
        content := detect_unsupported(head.decode("utf-8", "replace"))
    ):
        raise FormatError.single(
            file_name,
            1,
            f"this is a file of {content}, which only the commands `assay answers …` read",
            expected,
        )

"""The documentation avoids constructions that readers stumble over (language of the style guide)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.documented import DOCS

BANNED = {
    "told": r"\b(?:is|are|was) told\b",
    "clause as subject": r"(?m)^(?:[-*] )?(?:Who|Whoever) (?!is |are |needs |changed )",
    "negated noun": r"(?<!there )\bis no (?!longer\b|more\b)",
    "mend": r"\bmend(?:s|ed|ing|ings)?\b",
    "for want of": r"\bfor want of\b|\bwanting\b",
    "anew": r"\banew\b",
    "ours": r"\bours\b|\bof yours\b",
    "so many": r"\b[Ss]o many\b",
    "between blanks": r"\bbetween blanks\b",
    "stands": r"\bstands? (?:here|on|in|below|there|beside|above)\b",
    "telegraphic default": r"(?m)^(?:Empty|0): ",
    "space before %": r"\d %",
    "literary word": r"\b(?:beside|whom|bears?|heed|mere|thereof)\b",
    "one per line": r"\b(?:one|judgements?|row|answer) a (?:line|pair|row|topic|day|person)\b(?! needs)",
    "internal reference": r"\b(?:METHODS|SAMPLING) \d|\bsets X, Y\b",
}
TITLES = ("A machine beside people",)
"""Titles of the interface that tables repeat."""
NOT_YET_REWRITTEN: set[str] = set()
PAGES = [
    path
    for path in [
        *(DOCS.parent / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
        DOCS.parent / "CHANGELOG.md",
        *sorted(DOCS.rglob("*.md")),
    ]
    if str(path.relative_to(DOCS.parent)) not in NOT_YET_REWRITTEN
]


def prose(text: str) -> str:
    """The text without output of commands, code blocks, quoted code and names of pages and buttons."""
    text = re.sub(r"(?ms)^<!-- study: .*?<!-- end: [\w-]+ -->$", "", text)
    text = re.sub(r"(?m)(?<= -->\n)(?:^\|.*\n)+", "", text)
    text = re.sub(r"(?ms)^(```|:::).*?^\1$", "", text)
    text = re.sub(r"(?m)^ {4}.*$", "", text)
    for title in TITLES:
        text = text.replace(title, "")
    return re.sub(r"`[^`\n]+`|\*[^*\n]+\*", "", text)


def violations(path: Path) -> list[str]:
    text = prose(path.read_text(encoding="utf-8"))
    return [
        f"{name}: {text[max(0, match.start() - 40) : match.end() + 30]!r}"
        for name, pattern in BANNED.items()
        for match in re.finditer(pattern, text)
    ]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(DOCS.parent)))
def test_no_banned_construction(path: Path) -> None:
    assert violations(path) == []


def test_the_list_of_pages_that_are_not_rewritten_holds_no_others() -> None:
    assert [name for name in NOT_YET_REWRITTEN if not violations(DOCS.parent / name)] == []


@pytest.mark.parametrize(
    "sentence",
    [
        "The number is told on the page.",
        "This is no list of numbers.",
        "Whoever has it reads it.",
        "One a line is one a day.",
        "It covers 95 % of them.",
        "It stands in the table.",
    ],
)
def test_the_patterns_find_what_they_ban(sentence: str) -> None:
    assert any(re.search(pattern, sentence) for pattern in BANNED.values())

"""Documentation and the interface avoid constructions that readers stumble over (style guide)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po
from django.template.base import Lexer, TokenType

from config import catalogues
from tests.documented import DOCS

BANNED = {
    "told": r"\b(?:is|are|was) told\b",
    "clause as subject": r"(?m)^(?:[-*] )?(?:Who|Whoever) (?!is |are |needs |changed )",
    "negated noun": r"(?<![Tt]here )\bis no (?!longer\b|more\b)",
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
BANNED_IN_MESSAGES = BANNED | {
    "nobody": r"(?i)\b(?:nobody|somebody|anybody|everybody)\b",
    "not found": r"(?i)\bno such\b",
    "semicolon": r";",
    "take back": r"(?i)\b(?:take|taken|put) (?:back|aside)\b",
    "email": r"(?i)\b(?:a|the|no|your) mails?\b(?! server)|\buser name\b",
    "practice": r"(?i)\bpractice\b",
    "fragment": r"^[,.;:)]|[,:]$",
}
"""Of short messages more is banned than of prose."""
LABELS_WITH_COLON = {
    *("Answer:", "Example:", "Expected:", "What changed:", "You:", "Judging page:"),
    *("Your completion code:", "Hello %(name)s,"),
}
PAGES = [
    *(
        DOCS.parent / name
        for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
    ),
    *sorted(DOCS.rglob("*.md")),
]


def prose(text: str) -> str:
    """The text without output of commands, code blocks, quoted code and names of pages and buttons."""
    text = re.sub(r"(?ms)^<!-- study: .*?<!-- end: [\w-]+ -->$", "", text)
    text = re.sub(r"(?m)(?<= -->\n)(?:^\|.*\n)+", "", text)
    text = re.sub(r"(?ms)^(```|:::).*?^\1$", "", text)
    text = re.sub(r"(?m)^ {4}.*$", "", text)
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


BANNED_FOR_MANAGERS = BANNED | {
    "nobody": r"(?i)\b(?:nobody|somebody|anybody|everybody|whoever)\b",
    "negated noun": r"(?i)(?<!there )\bis no (?!longer\b|more\b)",
    "everyday verb": r"(?i)\b(?:bring|brought|(?:take|taken|give|given|put) back|let in|go on)\b",
    "told": r"(?i)\b(?:told|tells)\b",
    "home-made preposition": r"(?i)\b(?:in place of|but for|good until)\b",
    "existence": r"(?i)\bthere already\b|\bany ?more\b|\bis there\b",
    "where for if": r"(?i)(?:^| )where (?:there|no|it|one)\b",
    "machine": r"(?i)\bmachines?(?:'s)? (?:judges?|labels?|grades?)\b|\bby machine\b",
    "replaced term": (
        r"(?i)\b(?:late runs?|holes?|standing|levers?|everyone pairs?|known pairs?|doors?"
        r"|lowest relevant grade|user name|minutes of grace|level by level)\b"
    ),
    "email": r"(?i)\bmails?\b(?! server)",
    "everyday make": r"(?i)\bmake (?:a|the|an) (?:campaign|collection|links?|pool|study)\b",
    "fragment": r"^[,.;:]|[,;]$",
}
"""Of messages more is banned than of prose: also terms that the glossary replaced."""
PACKAGES = ("assay", "analysis", "annotation", "pooling", "config")


def manager_messages() -> Iterator[str]:
    """What managers and administrators read, without names of values."""
    for message in catalogues.list_messages(catalogues.manager_catalog()):
        for text in catalogues.plural_forms(message.id):
            yield re.sub(r"%\(\w+\)s", "…", text)


def constant_text(node: ast.expr) -> str:
    """The text of a string or f-string, its values as {}; else empty."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    parts = node.values if isinstance(node, ast.JoinedStr) else []
    return "".join(
        constant_text(part) if isinstance(part, ast.Constant) else "{}" for part in parts
    )


def literal_strings() -> Iterator[str]:
    """Texts of the code: messages, help, captions and errors, without docstrings."""
    for package in PACKAGES:
        for path in sorted((catalogues.ROOT / package).rglob("*.py")):
            if {"migrations", "demo"} & set(path.parts):
                continue
            tree = ast.parse(path.read_text(encoding="utf-8"))
            skipped = {
                id(part)
                for node in ast.walk(tree)
                for part in (
                    [node.value] if isinstance(node, ast.Expr) else getattr(node, "values", [])
                )
            }
            expressions = (node for node in ast.walk(tree) if isinstance(node, ast.expr))
            texts = (constant_text(node) for node in expressions if id(node) not in skipped)
            yield from (text for text in texts if " " in text)


def find_banned(texts: Iterator[str], patterns: dict[str, str]) -> list[str]:
    return [
        f"{name}: {text}"
        for text in texts
        for name, pattern in patterns.items()
        if re.search(pattern, text)
    ]


def test_no_message_to_managers_has_a_banned_construction() -> None:
    assert len(list(manager_messages())) > 1500
    assert find_banned(manager_messages(), BANNED_FOR_MANAGERS) == []


def test_a_sentence_to_managers_has_at_most_25_words() -> None:
    sentences = [
        sentence
        for text in manager_messages()
        for sentence in re.split(r"(?<=[.?!:])\s+", re.sub(r"<[^>]*>", "", text))
    ]
    assert [one for one in sentences if len(one.split()) > 25] == []


def test_no_text_in_the_code_has_a_banned_construction() -> None:
    assert len(list(literal_strings())) > 5000
    patterns = {
        name: BANNED_FOR_MANAGERS[name] for name in BANNED_FOR_MANAGERS if name != "fragment"
    }
    assert find_banned(literal_strings(), patterns) == []


def test_templates_of_managers_hold_no_sentence_outside_the_catalogue() -> None:
    found = [
        f"{path.name}: {text}"
        for path in sorted((catalogues.ROOT / "templates").rglob("*.html"))
        if catalogues.is_manager_file(path.relative_to(catalogues.ROOT).as_posix())
        for text in literal_texts(path.read_text(encoding="utf-8"))
        if len(re.findall(r"[A-Za-z]{2,}", text)) >= 3 and '="' not in text
    ]
    assert found == []


def literal_texts(template: str) -> Iterator[str]:
    """The texts between tags that no {% translate %} or {% blocktranslate %} marks."""
    plain, is_marked = "", False
    for token in Lexer(template).tokenize():
        name = token.contents.split(" ")[0]
        if token.token_type == TokenType.BLOCK and name in ("blocktranslate", "endblocktranslate"):
            is_marked = name == "blocktranslate"
        elif token.token_type == TokenType.TEXT and not is_marked:
            plain += token.contents
        else:
            plain += "\x00"
    text = re.sub(
        r"(?s)<(?:script|style|code|svg).*?</(?:script|style|code|svg)>|<[^>]*>", "\x00", plain
    )
    yield from (piece.strip() for piece in re.split(r"\x00|\n\n", text) if piece.strip())


def annotator_messages() -> list[str]:
    """Each text that annotators read, in English."""
    return [
        text
        for catalog in (catalogues.program_catalog(), catalogues.script_catalog())
        for message in catalogues.list_messages(catalog)
        for text in catalogues.plural_forms(message.id)
        if text not in LABELS_WITH_COLON
    ]


def test_no_message_to_annotators_has_a_banned_construction() -> None:
    assert [
        f"{name}: {text}"
        for text in annotator_messages()
        for name, pattern in BANNED_IN_MESSAGES.items()
        if re.search(pattern, text)
    ] == []


def test_a_sentence_to_annotators_begins_with_a_capital_letter_and_has_at_most_25_words() -> None:
    sentences = [
        sentence
        for text in annotator_messages()
        for sentence in re.split(r"(?<=[.?!])\s+", text.strip())
        if text.rstrip().endswith(".")
    ]
    assert len(sentences) > 300
    assert [one for one in sentences if re.match(r"[a-z]", one)] == []
    assert [one for one in sentences if len(one.split()) > 25] == []


def read_catalog(code: str, name: str) -> Catalog:
    path = catalogues.LOCALE / code / "LC_MESSAGES" / name
    with path.open("rb") as file:
        return read_po(file, locale=code, abort_invalid=True)


@pytest.mark.parametrize("name", ["django.po", "javascript.po"])
@pytest.mark.parametrize("code", catalogues.LANGUAGES)
def test_every_message_to_annotators_is_translated_in_all_plural_forms(
    code: str, name: str
) -> None:
    catalog = read_catalog(code, name)
    assert [
        message.id
        for message in catalogues.list_messages(catalog)
        if not catalogues.is_translated(message)
        or (message.pluralizable and len(message.string) != catalog.num_plurals)
    ] == []


def test_no_translation_has_a_space_before_the_per_cent_sign() -> None:
    assert [
        text
        for code in catalogues.LANGUAGES
        for name in ("django.po", "javascript.po")
        for message in catalogues.list_messages(read_catalog(code, name))
        for text in catalogues.plural_forms(message.string)
        if re.search(BANNED["space before %"], text)
    ] == []


def test_the_places_of_annotators_messages_exist() -> None:
    """After a renaming, the messages of a file would silently lose their translations."""
    assert [
        place for place in catalogues.ANNOTATOR_PATHS if not (catalogues.ROOT / place).is_file()
    ] == []
    places = [
        path.relative_to(catalogues.ROOT).as_posix()
        for folder, suffix, _ in catalogues.SOURCES
        for path in (catalogues.ROOT / folder).rglob(f"*{suffix}")
    ]
    assert [
        start
        for start in catalogues.MANAGER_PATHS
        if not any(place.startswith(start) for place in places)
    ] == []


REPLACED_NAMES = re.compile(
    r"(?<![a-z])standings?(?![a-z])|Standing|Machine(?:Judge|Label|Source)|machine_(?:judge|label)"
    r"|MACHINE|(?:of|by|one_and)_machine|machines?\.(?:json|html)|machine-(?:judge|label)"
    r"|['\"]machines?['\"]|\.machines?\b(?! )|AnnotatorType\.PERSON"
    r"|(?:campaign|scale|choices|made)\.threshold|takes?_back|['\"]looks['\"]|n_looks"
)
"""Terms that the glossary replaced, in names and texts of the program."""


def test_no_name_in_the_program_is_a_replaced_term() -> None:
    """Migrations and columns of older releases keep the names they had."""
    found = [
        f"{path.relative_to(catalogues.ROOT)}:{number}: {line.strip()}"
        for folder in (
            "pooling",
            "annotation",
            "analysis",
            "config",
            "assay",
            "static",
            "templates",
        )
        for path in sorted((catalogues.ROOT / folder).rglob("*"))
        if path.suffix in (".py", ".html", ".txt", ".js", ".css")
        and not {"migrations", "vendor", "words"} & set(path.parts)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if path.name != "version_1.py" and REPLACED_NAMES.search(line)
    ]
    assert found == []


def test_pages_say_cant_and_commands_say_cannot() -> None:
    """One spelling each. The name of the answer “cannot judge” is a term."""
    pages = [text for text in manager_messages() if re.search(r"(?i)\bcannot (?!judge\b)", text)]
    assert pages == []
    commands = [
        str(path)
        for package in ("assay", "config/management", "pooling/management", "annotation/management")
        for path in sorted((catalogues.ROOT / package).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.expr) and re.search(r"\bcan't\b", constant_text(node))
    ]
    assert commands == []

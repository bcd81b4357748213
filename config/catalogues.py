"""The translations: found in Python, templates and scripts, merged into locale/, compiled into what Django and the judging page read.

    make words        # finds, merges, compiles; fails where a translation is missing or wrong

For each language there are three files of which people edit none but the first two: `django.po` (Python and templates), `javascript.po`,
`django.mo`; and `static/words/<code>.json` is what scripts fetch. Python alone is needed, no gettext package.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from django.template.base import Lexer, Token, TokenType
from django.utils.text import smart_split
from django.utils.translation import trim_whitespace

from config import po_files
from config.po_files import Entry

ROOT = Path(__file__).resolve().parent.parent
PLURALS = {
    "de": ("nplurals=2; plural=(n != 1);", ("one", "other")),
    "fr": ("nplurals=2; plural=(n > 1);", ("one", "other")),
    "es": ("nplurals=2; plural=(n != 1);", ("one", "other")),
    "ar": (
        "nplurals=6; plural=(n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 && n%100<=99 ? 4 : 5);",
        ("zero", "one", "two", "few", "many", "other"),
    ),
}
"""Language -> the rule of gettext, and what CLDR calls its forms in the same order. English stands in the program."""
CALLS = {"gettext", "gettext_lazy", "ngettext", "ngettext_lazy", "pgettext_lazy", "_"}
FOLDERS = ("pooling", "annotation", "analysis", "config")
ENGLISH_ONLY = ("templates/analysis/", "templates/pooling/", "templates/config/", "templates/annotation/campaign", "templates/annotation/machine")
"""Managers' pages are marked, where they are, but not translated yet (annotation/languages.py)."""
BUT = {"templates/analysis/home.html"}  # everybody's home
SCRIPT = re.compile(r"""(?<![\w.])t\(\s*"((?:[^"\\]|\\.)*)"|(?<![\w.])tn\(\s*"((?:[^"\\]|\\.)*)",\s*"((?:[^"\\]|\\.)*)\"""")
NAMED = re.compile(r"%\(\w+\)s|\{\w+\}|</?\w+[^>]*>")
"""What must stand in a translation as in the English: values and tags."""


@dataclass
class Catalogue:
    """Messages by (singular, plural), with the files that have them."""

    places: dict[tuple[str, str], set[str]] = field(default_factory=dict)

    def add(self, singular: str, plural: str, place: str) -> None:
        if singular:
            self.places.setdefault((singular, plural), set()).add(place)


def in_python(source: str) -> Iterator[tuple[str, str]]:
    """(singular, plural) of each call with constant texts; what has a context begins with it (po_files.IN)."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CALLS:
            texts = [argument.value for argument in node.args[:2] if isinstance(argument, ast.Constant) and isinstance(argument.value, str)]
            if node.func.id.startswith("p"):
                yield po_files.IN.join(texts), ""
            elif texts:
                yield texts[0], texts[1] if node.func.id.startswith("n") else ""


def in_template(source: str) -> Iterator[tuple[str, str]]:
    """(singular, plural) of {% translate %}, {% blocktranslate trimmed %} and _("...") in tags and filters."""
    parts: list[str] | None = None
    plural_at = 0
    for token in Lexer(source).tokenize():
        words = list(smart_split(token.contents)) if token.token_type == TokenType.BLOCK else []
        if parts is None:
            yield from ((text, "") for text in re.findall(r"""_\("([^"]+)"\)""", token.contents) if token.token_type != TokenType.TEXT)
        if words[:1] == ["translate"] and words[1][0] in "\"'":
            yield words[1][1:-1], ""
        elif words[:1] == ["blocktranslate"]:
            parts, plural_at = [], 0
        elif words[:1] == ["endblocktranslate"]:
            assert parts is not None
            forms = ["".join(parts[:plural_at]), "".join(parts[plural_at:])] if plural_at else ["".join(parts), ""]
            yield trim_whitespace(forms[0]), trim_whitespace(forms[1])
            parts = None
        elif words[:1] == ["plural"] and parts is not None:
            plural_at = len(parts)
        elif parts is not None:
            parts.append(_inside(token))


def _inside(token: Token) -> str:
    """As Django asks for it in the catalogue."""
    return f"%({token.contents})s" if token.token_type == TokenType.VAR else token.contents.replace("%", "%%")


def in_script(source: str) -> Iterator[tuple[str, str]]:
    """(singular, plural) of t("...") and tn("...", "...")."""
    for match in SCRIPT.finditer(source):
        alone, one, many = (json.loads(f'"{text}"') if text else "" for text in match.groups())
        yield (alone, "") if alone else (one, many)


def of_program(*, english_only: bool = False) -> Catalogue:
    """What Python and templates say. english_only: of the pages that are not translated, nothing else."""
    catalogue = Catalogue()
    for path in [] if english_only else [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]:
        for singular, plural in in_python(path.read_text(encoding="utf-8")):
            catalogue.add(singular, plural, path.relative_to(ROOT).as_posix())
    for path in sorted((ROOT / "templates").rglob("*.html")):
        name = path.relative_to(ROOT).as_posix()
        if (name.startswith(ENGLISH_ONLY) and name not in BUT) == english_only:
            for singular, plural in in_template(path.read_text(encoding="utf-8")):
                catalogue.add(singular, plural, name)
    return catalogue


def of_scripts() -> Catalogue:
    catalogue = Catalogue()
    for path in sorted((ROOT / "static" / "js").rglob("*.js")):
        for singular, plural in in_script(path.read_text(encoding="utf-8")):
            catalogue.add(singular, plural, path.relative_to(ROOT).as_posix())
    return catalogue


def merged(catalogue: Catalogue, old: dict[str, Entry], code: str) -> list[Entry]:
    """The messages of the program with the translations that are known; what the program does not say any more is left out."""
    entries = []
    for (singular, plural), places in sorted(catalogue.places.items(), key=lambda item: (sorted(item[1])[0], item[0])):
        forms = len(PLURALS[code][1]) if plural else 1
        known = old.get(singular)
        texts = known.texts if known is not None and len(known.texts) == forms else [""] * forms
        entries.append(Entry(singular, plural, texts, sorted(places)))
    return entries


def mistakes(entries: list[Entry]) -> Iterator[str]:
    """What is missing or wrong, a sentence each."""
    for one in entries:
        wanted = set(NAMED.findall(one.singular)) | set(NAMED.findall(one.plural))
        for text in one.texts:
            given = set(NAMED.findall(text))
            if not text:
                yield f"not translated: {one.singular}"
            elif given - wanted or (not one.plural and wanted - given):
                yield f"other values or tags than in English: {one.singular} -> {text}"
            elif one.singular.startswith("\n") != text.startswith("\n") or one.singular.endswith("\n") != text.endswith("\n"):
                yield f"another line break at an end: {one.singular!r}"


def for_scripts(entries: list[Entry], code: str) -> str:
    """The JSON that static/js/words.js fetches."""
    words: dict[str, str | dict[str, str]] = {}
    for one in entries:
        words[one.singular] = dict(zip(PLURALS[code][1], one.texts, strict=True)) if one.plural else one.texts[0]
    return json.dumps(words, ensure_ascii=False, sort_keys=True, indent=0) + "\n"


def files_of(code: str) -> tuple[dict[Path, bytes], list[str]]:
    """(what the files of a language should hold, what is wrong with its translations)"""
    folder = ROOT / "locale" / code / "LC_MESSAGES"
    made: dict[Path, bytes] = {}
    wrong: list[str] = []
    entries: dict[str, list[Entry]] = {}
    for name, catalogue in (("django", of_program()), ("javascript", of_scripts())):
        path = folder / f"{name}.po"
        old = {one.singular: one for one in po_files.read(path.read_text(encoding="utf-8"))} if path.exists() else {}
        entries[name] = merged(catalogue, old, code)
        made[path] = po_files.written(entries[name], code, PLURALS[code][0]).encode()
        wrong += [f"{code}/{path.name}: {sentence}" for sentence in mistakes(entries[name])]
    made[folder / "django.mo"] = po_files.compiled(entries["django"], code, PLURALS[code][0])
    made[ROOT / "static" / "words" / f"{code}.json"] = for_scripts(entries["javascript"], code).encode()
    return made, wrong


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Find, merge and compile the translations.")
    parser.parse_args(arguments)
    wrong = []
    for code in PLURALS:
        made, complaints = files_of(code)
        wrong += complaints
        for path, data in made.items():
            if not path.exists() or path.read_bytes() != data:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
                print(f"written: {path.relative_to(ROOT)}")
    print("\n".join(wrong), file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

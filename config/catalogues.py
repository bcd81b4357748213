"""The translations: found in Python, templates and scripts, merged into locale/, compiled into what
Django and the judging page read.

    make words        # finds, merges, compiles; fails where a translation is missing or wrong

For each language there are three files of which people edit none but the first two: `django.po`
(Python and templates), `javascript.po`, `django.mo`; and `static/words/<code>.json` is what scripts
fetch. Python alone is needed, no gettext package.

They hold what annotators read, and nothing of it may be missing. What only managers read is in
`locale/managers.pot`: who translates that begins with a copy of it as
`locale/<code>/LC_MESSAGES/managers.po`, and what is translated there goes into the same compiled
files."""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from django.template.base import Lexer, Token, TokenType
from django.utils.text import smart_split
from django.utils.translation import trim_whitespace

from config import po_files
from config.po_files import Entry

ROOT = Path(__file__).resolve().parent.parent
LOCALE = ROOT / "locale"
PLURALS = {
    "de": ("nplurals=2; plural=(n != 1);", ("one", "other")),
    "fr": ("nplurals=2; plural=(n > 1);", ("one", "other")),
    "es": ("nplurals=2; plural=(n != 1);", ("one", "other")),
    "ar": (
        (
            "nplurals=6; plural=(n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : "
            "n%100>=11 && n%100<=99 ? 4 : 5);"
        ),
        ("zero", "one", "two", "few", "many", "other"),
    ),
}
"""Language -> the rule of gettext, and what CLDR calls its forms in the same order. English stands
in the program."""
CALLS = {"gettext", "gettext_lazy", "ngettext", "ngettext_lazy", "pgettext_lazy", "_"}
FOLDERS = ("pooling", "annotation", "analysis", "config")
MANAGERS = (
    *(
        "templates/analysis/",
        "templates/pooling/",
        "templates/config/",
        "templates/api_docs",
        "templates/_delete_form",
        "templates/_list_",
        "templates/_shape",
    ),
    *(
        f"templates/annotation/{name}"
        for name in (
            "_campaign",
            "_held_back",
            "_known_fields",
            "_machine",
            "_state_badge",
            "_waiting",
            "accounts",
            "campaign",
        )
    ),
    *(
        f"templates/annotation/{name}"
        for name in ("guideline", "machine", "readers", "remind", "welcome")
    ),
    *("analysis/", "config/", "pooling/", "annotation/", "static/js/manage/", "static/js/pooling/"),
)
"""What begins so is read by managers: marked, but not translated yet (annotation/languages.py)."""
ANNOTATORS = {
    "templates/analysis/home.html",  # everybody's home
    *(
        "pooling/templatetags/pooling.py",
        "pooling/unavailable.py",
        "pooling/api/problems.py",
        "config/errors.py",
    ),
    *(
        f"annotation/services/{name}.py"
        for name in (
            "institution",
            "judging",
            "later",
            "messages",
            "participation",
            "password_turns",
        )
    ),
    *(f"annotation/services/{name}.py" for name in ("account_mails", "people", "questions")),
    *(
        "annotation/views/account.py",
        "annotation/views/institution.py",
        "annotation/views/people.py",
        "annotation/api/judging.py",
    ),
    *(
        "annotation/models/campaigns.py",
        "annotation/models/profiles.py",
        "annotation/models/sessions.py",
        "annotation/selectors/judging.py",
        "annotation/forms.py",
    ),
    *("annotation/api/near_duplicates.py", "annotation/permissions.py"),
}
"""Of these, what annotators read, too."""
SCRIPT = re.compile(
    r"""(?<![\w.])t\(\s*"((?:[^"\\]|\\.)*)"|(?<![\w.])tn\(\s*"((?:[^"\\]|\\.)*)",\s*"((?:[^"\\]|\\.)*)\""""
)
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
    """(singular, plural) of each call with constant texts; what has a context begins with it
    (po_files.IN)."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CALLS:
            texts = [
                argument.value
                for argument in node.args[:2]
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
            ]
            if node.func.id.startswith("p"):
                yield po_files.IN.join(texts), ""
            elif texts:
                yield texts[0], texts[1] if node.func.id.startswith("n") else ""


def in_template(source: str) -> Iterator[tuple[str, str]]:
    """(singular, plural) of {% translate %}, {% blocktranslate trimmed %} and _("...") in tags and
    filters."""
    parts: list[str] | None = None
    plural_at = 0
    for token in Lexer(source).tokenize():
        words = list(smart_split(token.contents)) if token.token_type == TokenType.BLOCK else []
        if parts is None:
            yield from (
                (text, "")
                for text in re.findall(r"""_\("([^"]+)"\)""", token.contents)
                if token.token_type != TokenType.TEXT
            )
        if words[:1] == ["translate"] and words[1][0] in "\"'":
            yield words[1][1:-1].replace("%", "%%"), ""  # as Django asks for it
        elif words[:1] == ["blocktranslate"]:
            parts, plural_at = [], 0
        elif words[:1] == ["endblocktranslate"]:
            assert parts is not None
            forms = (
                ["".join(parts[:plural_at]), "".join(parts[plural_at:])]
                if plural_at
                else ["".join(parts), ""]
            )
            yield trim_whitespace(forms[0]), trim_whitespace(forms[1])
            parts = None
        elif words[:1] == ["plural"] and parts is not None:
            plural_at = len(parts)
        elif parts is not None:
            parts.append(_inside(token))


def _inside(token: Token) -> str:
    """As Django asks for it in the catalogue."""
    return (
        f"%({token.contents})s"
        if token.token_type == TokenType.VAR
        else token.contents.replace("%", "%%")
    )


def in_script(source: str) -> Iterator[tuple[str, str]]:
    """(singular, plural) of t("...") and tn("...", "...")."""
    for match in SCRIPT.finditer(source):
        alone, one, many = (json.loads(f'"{text}"') if text else "" for text in match.groups())
        yield (alone, "") if alone else (one, many)


def is_for_managers(place: str) -> bool:
    return place.startswith(MANAGERS) and place not in ANNOTATORS


@cache
def _messages() -> dict[str, list[tuple[str, str]]]:
    """What each file says, by its place."""
    python = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    pages, scripts = (
        sorted((ROOT / "templates").rglob("*.html")),
        sorted((ROOT / "static" / "js").rglob("*.js")),
    )
    readers = ((python, in_python), (pages, in_template), (scripts, in_script))
    return {
        path.relative_to(ROOT).as_posix(): [*reader(path.read_text(encoding="utf-8"))]
        for paths, reader in readers
        for path in paths
    }


def _collected(wanted: Callable[[str], bool]) -> Catalogue:
    catalogue = Catalogue()
    for place, messages in _messages().items():
        for singular, plural in messages if wanted(place) else []:
            catalogue.add(singular, plural, place)
    return catalogue


def of_program() -> Catalogue:
    """What Python and templates say to annotators."""
    return _collected(lambda place: not place.endswith(".js") and not is_for_managers(place))


def of_scripts() -> Catalogue:
    """What scripts say to them."""
    return _collected(lambda place: place.endswith(".js") and not is_for_managers(place))


def of_managers() -> Catalogue:
    """What only managers read: of pages, Python and scripts."""
    catalogue = _collected(is_for_managers)
    for known in [*of_program().places, *of_scripts().places]:
        catalogue.places.pop(known, None)
    return catalogue


def merged(catalogue: Catalogue, old: dict[str, Entry], code: str) -> list[Entry]:
    """The messages of the program with the translations that are known; what the program does not
    say any more is left out."""
    entries = []
    for (singular, plural), places in sorted(
        catalogue.places.items(), key=lambda item: (sorted(item[1])[0], item[0])
    ):
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
            elif one.singular.startswith("\n") != text.startswith("\n") or one.singular.endswith(
                "\n"
            ) != text.endswith("\n"):
                yield f"another line break at an end: {one.singular!r}"


def for_scripts(entries: list[Entry], code: str) -> str:
    """The JSON that static/js/words.js fetches."""
    words: dict[str, str | dict[str, str]] = {}
    for one in entries:
        words[one.singular] = (
            dict(zip(PLURALS[code][1], one.texts, strict=True)) if one.plural else one.texts[0]
        )
    return json.dumps(words, ensure_ascii=False, sort_keys=True, indent=0) + "\n"


def _known(path: Path) -> dict[str, Entry]:
    return (
        {one.singular: one for one in po_files.read(path.read_text(encoding="utf-8"))}
        if path.exists()
        else {}
    )


def files_of(code: str) -> tuple[dict[Path, bytes], list[str]]:
    """(what the files of a language should hold, what is wrong with its translations)"""
    folder = LOCALE / code / "LC_MESSAGES"
    made: dict[Path, bytes] = {}
    wrong: list[str] = []
    entries: dict[str, list[Entry]] = {}
    begun = [("managers", of_managers())] if (folder / "managers.po").exists() else []
    for name, catalogue in (("django", of_program()), ("javascript", of_scripts()), *begun):
        path = folder / f"{name}.po"
        entries[name] = merged(catalogue, _known(path), code)
        made[path] = po_files.written(entries[name], code, PLURALS[code][0]).encode()
        checked = [one for one in entries[name] if name != "managers" or all(one.texts)]
        wrong += [f"{code}/{path.name}: {sentence}" for sentence in mistakes(checked)]
    more = [one for one in entries.get("managers", []) if all(one.texts)]
    spoken = [one for one in more if any(place.endswith(".js") for place in one.places)]
    made[folder / "django.mo"] = po_files.compiled(
        [*entries["django"], *more], code, PLURALS[code][0]
    )
    made[ROOT / "static" / "words" / f"{code}.json"] = for_scripts(
        [*entries["javascript"], *spoken], code
    ).encode()
    return made, wrong


def managers_template() -> tuple[Path, bytes]:
    """locale/managers.pot: with what a translation of managers' pages begins."""
    entries = [
        Entry(one.singular, one.plural, ["", ""] if one.plural else [""], one.places)
        for one in merged(of_managers(), {}, "de")
    ]
    return LOCALE / "managers.pot", po_files.written(
        entries, "", "nplurals=INTEGER; plural=EXPRESSION;"
    ).encode()


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Find, merge and compile the translations.")
    parser.parse_args(arguments)
    wrong = []
    for made, complaints in (
        (dict([managers_template()]), []),
        *(files_of(code) for code in PLURALS),
    ):
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

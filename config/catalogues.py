"""The translations: found in Python, templates and scripts, merged into locale/, compiled into what
Django and the judging page read.

    make words        # finds, merges, compiles; fails where a translation is missing or wrong

Babel does the work. For each language there are three files of which people edit none but the first
two: `django.po` (Python and templates), `javascript.po`, `django.mo`; and
`static/words/<code>.json` is what scripts fetch.

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
from collections.abc import Callable, Generator, Iterable, Iterator
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from babel.messages import extract
from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.utils.translation.template import templatize

ROOT = Path(__file__).resolve().parent.parent
LOCALE = ROOT / "locale"
HEADER = "# Translations of Assay: edit the msgstr lines, then run `make words`."
LANGUAGES = ("ar", "de", "es", "fr")
"""Those with a catalogue; English stands in the program."""
PLURAL_NAMES = {2: ("one", "other"), 6: ("zero", "one", "two", "few", "many", "other")}
"""Number of plural forms of a catalogue -> what CLDR, and so a browser, calls them in its order."""
FOLDERS = ("pooling", "annotation", "analysis", "config")
MANAGER_PATHS = (
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
ANNOTATOR_PATHS = {
    "templates/analysis/home.html",  # everybody's home
    *(
        "pooling/templatetags/pooling.py",
        "pooling/platform/unavailable.py",
        "pooling/api/problems.py",
        "config/errors.py",
    ),
    *(
        f"annotation/services/people/{name}.py"
        for name in (
            "account_mails",
            "accounts",
            "institution",
            "messages",
            "participation",
            "attempts",
        )
    ),
    *(f"annotation/services/judging/{name}.py" for name in ("questions", "serving", "submission")),
    *(
        "annotation/views/account.py",
        "annotation/views/single_sign_on.py",
        "annotation/views/people.py",
        "annotation/api/judging.py",
    ),
    *(
        "annotation/models/campaigns.py",
        "annotation/models/accounts.py",
        "annotation/selectors/judging.py",
        "annotation/forms.py",
    ),
    "annotation/permissions.py",
}
"""Of these, what annotators read, too."""
PLACEHOLDER_PATTERN = re.compile(r"%\(\w+\)s|\{\w+\}|</?\w+[^>]*>")
"""What must stand in a translation as in the English: values and tags."""


KEYWORDS = {
    **extract.DEFAULT_KEYWORDS,
    "gettext_lazy": None,
    "ngettext_lazy": (1, 2),
    "pgettext_lazy": ((1, "c"), 2),
    "t": None,
    "tn": (1, 2),
}
"""The calls that mark a message and which of their arguments it is, as Babel wants them told; the
last two are those of scripts."""
SCRIPT_PATTERN = re.compile(
    r"""(?<![\w.])(tn?)\(\s*"((?:[^"\\]|\\.)*)"(?:,\s*"((?:[^"\\]|\\.)*)\")?"""
)
Extracted = Generator[Any, None, None]


def extract_python(file: BinaryIO, keywords: Any, *_: Any, **options: Any) -> Extracted:
    """Babel's own extractor passes over calls in f-strings and texts in brackets."""
    for node in ast.walk(ast.parse(file.read())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            texts = [one.value if isinstance(one, ast.Constant) else None for one in node.args]
            if node.func.id in keywords:
                yield node.lineno, node.func.id, texts, []


def extract_template(file: BinaryIO, keywords: Any, *_: Any, **options: Any) -> Extracted:
    """Django turns a template into calls of gettext between Xs, which Babel reads as Python that is
    not indented."""
    calls = re.sub(r"[^\S\n ]", " ", templatize(file.read().decode()))
    flat = re.sub(r"^ +", "", calls, flags=re.MULTILINE)
    yield from extract.extract_python(BytesIO(flat.encode()), keywords, [], {})


def extract_script(file: BinaryIO, *_: Any, **options: Any) -> Extracted:
    """Babel's own extractor loses its place in template strings with braces in them."""
    for call, *texts in SCRIPT_PATTERN.findall(file.read().decode()):
        yield 0, call, [json.loads(f'"{text}"') for text in texts], []


SOURCES: tuple[tuple[str, str, Any], ...] = (
    *((folder, ".py", extract_python) for folder in FOLDERS),
    ("templates", ".html", extract_template),
    ("static/js", ".js", extract_script),
)
"""Folder, what files of it end with, how messages are found in them."""


def extract_messages(source: bytes, suffix: str) -> list[Message]:
    """The messages of a file whose name ends so, in the order of the alphabet."""
    method = next(method for _, of, method in SOURCES if of == suffix)
    extracted = extract.extract(method, BytesIO(source), keywords=KEYWORDS)
    return sorted(Message(message, context=context) for _, message, _, context in extracted)


@cache
def _messages_by_file() -> dict[str, list[Message]]:
    """What each file says, by its place."""
    return {
        path.relative_to(ROOT).as_posix(): extract_messages(path.read_bytes(), suffix)
        for folder, suffix, _ in SOURCES
        for path in (ROOT / folder).rglob(f"*{suffix}")
    }


def is_manager_file(place: str) -> bool:
    return place.startswith(MANAGER_PATHS) and place not in ANNOTATOR_PATHS


def _collect_messages(wanted: Callable[[str], bool]) -> Catalog:
    catalog = Catalog()
    for place, messages in sorted(_messages_by_file().items()):
        for message in messages if wanted(place) else []:
            catalog.add(message.id, locations=[(place, 0)], context=message.context)
    return catalog


def program_catalog() -> Catalog:
    """What Python and templates say to annotators."""
    return _collect_messages(lambda place: not place.endswith(".js") and not is_manager_file(place))


def script_catalog() -> Catalog:
    """What scripts say to them."""
    return _collect_messages(lambda place: place.endswith(".js") and not is_manager_file(place))


def manager_catalog() -> Catalog:
    """What only managers read: of pages, Python and scripts."""
    catalog = _collect_messages(is_manager_file)
    for known in [*list_messages(program_catalog()), *list_messages(script_catalog())]:
        catalog.delete(known.id, known.context)
    return catalog


def list_messages(catalog: Catalog) -> list[Message]:
    """Without the header, which has no id."""
    return [message for message in catalog if message.id]


def plural_forms(texts: str | Iterable[str] | None) -> list[str]:
    """Of an id or a translation: one, or one per plural form."""
    return [texts or ""] if isinstance(texts, str) or texts is None else [*texts]


def is_translated(message: Message) -> bool:
    return not message.fuzzy and all(plural_forms(message.string))


def merge_catalog(path: Path, template: Catalog, code: str | None) -> Catalog:
    """The messages of the program with the translations that the file has; what the program does
    not say any more is left out."""
    catalog = Catalog(locale=code, header_comment=HEADER, project="Assay", fuzzy=False)
    if path.exists():
        with path.open("rb") as file:
            catalog = read_po(file, locale=code, abort_invalid=True)
    catalog.update(template, no_fuzzy_matching=True, update_creation_date=False)
    return catalog


def find_mistakes(catalog: Catalog) -> Iterator[str]:
    """What is missing or wrong, a sentence each."""
    for message in list_messages(catalog):
        english, texts = plural_forms(message.id), plural_forms(message.string)
        wanted = set(PLACEHOLDER_PATTERN.findall(" ".join(english)))
        if message.fuzzy:
            yield f"somebody has to look at this translation: {english[0]}"
        if not all(texts) or len(texts) < (catalog.num_plurals if message.pluralizable else 1):
            yield f"not translated: {english[0]}"
        for text in filter(None, texts):
            given = set(PLACEHOLDER_PATTERN.findall(text))
            if given - wanted or (not message.pluralizable and wanted - given):
                yield f"other values or tags than in English: {english[0]} -> {text}"
            elif _outer_line_breaks(english[0]) != _outer_line_breaks(text):
                yield f"another line break at an end: {english[0]!r}"


def _outer_line_breaks(text: str) -> tuple[bool, bool]:
    return text.startswith("\n"), text.endswith("\n")


def format_script_messages(catalog: Catalog, messages: Iterable[Message]) -> str:
    """The JSON that static/js/words.js fetches."""
    words: dict[str, str | dict[str, str]] = {}
    for message in messages:
        texts = plural_forms(message.string)
        words[plural_forms(message.id)[0]] = (
            dict(zip(PLURAL_NAMES[catalog.num_plurals], texts, strict=False))
            if message.pluralizable
            else texts[0]
        )
    return json.dumps(words, ensure_ascii=False, sort_keys=True, indent=0) + "\n"


def _to_bytes(write: Callable[..., None], catalog: Catalog, **how: Any) -> bytes:
    file = BytesIO()
    write(file, catalog, **how)
    return file.getvalue()


def format_po(catalog: Catalog) -> bytes:
    """Without numbers of lines and dates, so that it changes only where messages do."""
    return _to_bytes(write_po, catalog, width=0, ignore_obsolete=True, include_lineno=False)


def make_language_files(code: str) -> tuple[dict[Path, bytes], list[str]]:
    """(what the files of a language should hold, what is wrong with its translations)"""
    folder = LOCALE / code / "LC_MESSAGES"
    made: dict[Path, bytes] = {}
    wrong: list[str] = []
    program = merge_catalog(folder / "django.po", program_catalog(), code)
    scripts = merge_catalog(folder / "javascript.po", script_catalog(), code)
    for name, catalog in (("django.po", program), ("javascript.po", scripts)):
        made[folder / name] = format_po(catalog)
        wrong += [f"{code}/{name}: {sentence}" for sentence in find_mistakes(catalog)]
    spoken = list_messages(scripts)
    if (path := folder / "managers.po").exists():
        managers = merge_catalog(path, manager_catalog(), code)
        made[path] = format_po(managers)
        for message in list_messages(managers):
            if not is_translated(message):
                managers.delete(message.id, message.context)
        wrong += [f"{code}/managers.po: {sentence}" for sentence in find_mistakes(managers)]
        more = list_messages(managers)
        spoken += [one for one in more if any(place.endswith(".js") for place, _ in one.locations)]
        for message in more:
            program[message.id] = message
    made[folder / "django.mo"] = _to_bytes(write_mo, program)
    made[ROOT / "static" / "words" / f"{code}.json"] = format_script_messages(
        scripts, spoken
    ).encode()
    return made, wrong


def make_managers_template() -> tuple[Path, bytes]:
    """locale/managers.pot: with what a translation of managers' pages begins."""
    path = LOCALE / "managers.pot"
    return path, format_po(merge_catalog(path, manager_catalog(), None))


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Find, merge and compile the translations.")
    parser.parse_args(arguments)
    wrong = []
    made = dict([make_managers_template()])
    for code in LANGUAGES:
        files, complaints = make_language_files(code)
        made |= files
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

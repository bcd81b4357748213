"""Maintain the translations: extract messages from Python, templates and scripts, merge them into
locale/, and compile what Django and the judging page read.

    make words        # extract, merge, compile; fails if a translation is missing or wrong

Babel does the work. Each language has `django.po` (Python and templates) and `javascript.po`, which
people edit, and the compiled `django.mo` and `static/words/<code>.json`, which scripts fetch.

These catalogues hold what annotators read and must be complete. Messages that only managers read
are in `locale/managers.pot`. To translate them, copy it to `locale/<code>/LC_MESSAGES/managers.po`.
Its translations are compiled into the same files.
"""

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
"""Languages with a catalogue. English is in the source code."""
PLURAL_NAMES = {2: ("one", "other"), 6: ("zero", "one", "two", "few", "many", "other")}
"""Number of plural forms of a catalogue -> names of the forms in CLDR and browsers, in order."""
FOLDERS = ("pooling", "annotation", "analysis", "config")
MANAGER_PATHS = (
    *(
        "templates/analysis/",
        "templates/pooling/",
        "templates/config/",
        "templates/api_docs",
        "templates/_delete_form",
        "templates/_list_",
        "templates/_search_",
        "templates/_shape",
    ),
    *(
        f"templates/annotation/{name}"
        for name in (
            "_campaign",
            "_held_back",
            "_known_fields",
            "_llm",
            "_state_badge",
            "_waiting",
            "accounts",
            "campaign",
        )
    ),
    *(
        f"templates/annotation/{name}"
        for name in ("guideline", "llm_judge", "readers", "remind", "search", "webhooks", "welcome")
    ),
    *("analysis/", "config/", "pooling/", "annotation/", "static/js/manage/", "static/js/pooling/"),
)
"""Prefixes of files whose messages only managers read. They are marked but not translated yet
(annotation/languages.py)."""
ANNOTATOR_PATHS = {
    "templates/analysis/home.html",  # the home page of all users
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
            "guests",
            "messages",
            "participation",
            "attempts",
            "single_sign_on",
        )
    ),
    *(
        f"annotation/services/judging/{name}.py"
        for name in ("assignment", "questions", "submission")
    ),
    *(
        "annotation/views/account.py",
        "annotation/views/guests.py",
        "annotation/views/single_sign_on.py",
        "annotation/views/people.py",
        "annotation/api/judging.py",
    ),
    *(
        "annotation/models/campaigns.py",
        "annotation/models/accounts.py",
        "annotation/selectors/judging.py",
        "annotation/selectors/paused_annotators.py",
        "annotation/selectors/setup.py",
        "annotation/forms.py",
    ),
    "annotation/permissions.py",
}
"""Exceptions to MANAGER_PATHS that annotators read too."""
PLACEHOLDER_PATTERN = re.compile(r"%\(\w+\)s|\{\w+\}|</?\w+[^>]*>")
"""Placeholders and tags, which a translation must contain as the English message does."""


KEYWORDS = {
    **extract.DEFAULT_KEYWORDS,
    "gettext_lazy": None,
    "ngettext_lazy": (1, 2),
    "pgettext_lazy": ((1, "c"), 2),
    "npgettext_lazy": ((1, "c"), 2, 3),
    "t": None,
    "tn": (1, 2),
}
"""Functions that mark a message and the positions of their arguments, as Babel expects them. The
last two are used in scripts."""
SCRIPT_PATTERN = re.compile(
    r"""(?<![\w.])(tn?)\(\s*"((?:[^"\\]|\\.)*)"(?:,\s*"((?:[^"\\]|\\.)*)\")?"""
)
Extracted = Generator[Any, None, None]


def extract_python(file: BinaryIO, keywords: Any, *_: Any, **options: Any) -> Extracted:
    """Extract messages from Python. Used because Babel's own extractor skips calls in f-strings and
    parenthesised texts."""
    for node in ast.walk(ast.parse(file.read())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            texts = [one.value if isinstance(one, ast.Constant) else None for one in node.args]
            if node.func.id in keywords:
                yield node.lineno, node.func.id, texts, []


def extract_template(file: BinaryIO, keywords: Any, *_: Any, **options: Any) -> Extracted:
    """Extract messages from a template. Django converts it to calls of gettext, which Babel then
    reads as unindented Python."""
    calls = re.sub(r"[^\S\n ]", " ", templatize(file.read().decode()))
    flat = re.sub(r"^ +", "", calls, flags=re.MULTILINE)
    yield from extract.extract_python(BytesIO(flat.encode()), keywords, [], {})


def extract_script(file: BinaryIO, *_: Any, **options: Any) -> Extracted:
    """Extract messages from JavaScript. Used because Babel's own extractor fails on template
    strings that contain braces."""
    for call, *texts in SCRIPT_PATTERN.findall(file.read().decode()):
        yield 0, call, [json.loads(f'"{text}"') for text in texts], []


SOURCES: tuple[tuple[str, str, Any], ...] = (
    *((folder, ".py", extract_python) for folder in FOLDERS),
    ("templates", ".html", extract_template),
    ("static/js", ".js", extract_script),
)
"""Folder, file suffix, and the function that extracts messages."""


def extract_messages(source: bytes, suffix: str) -> list[Message]:
    """Return the messages of a source file's content, sorted alphabetically. suffix: of the file
    name."""
    method = next(method for _, of, method in SOURCES if of == suffix)
    extracted = extract.extract(method, BytesIO(source), keywords=KEYWORDS)
    return sorted(Message(message, context=context) for _, message, _, context in extracted)


@cache
def _messages_by_file() -> dict[str, list[Message]]:
    """Return the messages of each source file, by path."""
    return {
        path.relative_to(ROOT).as_posix(): extract_messages(path.read_bytes(), suffix)
        for folder, suffix, _ in SOURCES
        for path in (ROOT / folder).rglob(f"*{suffix}")
    }


def is_manager_file(place: str) -> bool:
    return place.startswith(MANAGER_PATHS) and place not in ANNOTATOR_PATHS


def _collect_messages(is_included: Callable[[str], bool]) -> Catalog:
    catalog = Catalog()
    for place, messages in sorted(_messages_by_file().items()):
        for message in messages if is_included(place) else []:
            catalog.add(message.id, locations=[(place, 0)], context=message.context)
    return catalog


def program_catalog() -> Catalog:
    """Return the messages for annotators that occur in Python and templates."""
    return _collect_messages(lambda place: not place.endswith(".js") and not is_manager_file(place))


def script_catalog() -> Catalog:
    """Return the messages for annotators that occur in scripts."""
    return _collect_messages(lambda place: place.endswith(".js") and not is_manager_file(place))


def manager_catalog() -> Catalog:
    """Return the messages that only managers read, from templates, Python and scripts."""
    catalog = _collect_messages(is_manager_file)
    for known in [*list_messages(program_catalog()), *list_messages(script_catalog())]:
        catalog.delete(known.id, known.context)
    return catalog


def list_messages(catalog: Catalog) -> list[Message]:
    """Return a catalogue's messages without the header, whose ID is empty."""
    return [message for message in catalog if message.id]


def plural_forms(texts: str | Iterable[str] | None) -> list[str]:
    """Return the plural forms of a message ID or a translation as a list, of length one if it has
    no plural."""
    return [texts or ""] if isinstance(texts, str) or texts is None else [*texts]


def is_translated(message: Message) -> bool:
    return not message.fuzzy and all(plural_forms(message.string))


def merge_catalog(path: Path, template: Catalog, code: str | None) -> Catalog:
    """Merge the program's messages with the translations of a language's file. Messages that no
    longer occur in the program are dropped."""
    catalog = Catalog(locale=code, header_comment=HEADER, project="Assay", fuzzy=False)
    if path.exists():
        with path.open("rb") as file:
            catalog = read_po(file, locale=code, abort_invalid=True)
    catalog.update(template, no_fuzzy_matching=True, update_creation_date=False)
    return catalog


def find_mistakes(catalog: Catalog) -> Iterator[str]:
    """Yield one sentence for each missing or wrong translation in a catalogue."""
    for message in list_messages(catalog):
        english, texts = plural_forms(message.id), plural_forms(message.string)
        wanted = set(PLACEHOLDER_PATTERN.findall(" ".join(english)))
        if message.fuzzy:
            yield f"fuzzy translation to check: {english[0]}"
        if not all(texts) or len(texts) < (catalog.num_plurals if message.pluralizable else 1):
            yield f"not translated: {english[0]}"
        for text in filter(None, texts):
            given = set(PLACEHOLDER_PATTERN.findall(text))
            if given - wanted or (not message.pluralizable and wanted - given):
                yield f"values or tags differ from English: {english[0]} -> {text}"
            elif _outer_line_breaks(english[0]) != _outer_line_breaks(text):
                yield f"line breaks at the ends differ from English: {english[0]!r}"


def _outer_line_breaks(text: str) -> tuple[bool, bool]:
    return text.startswith("\n"), text.endswith("\n")


def format_script_messages(catalog: Catalog, messages: Iterable[Message]) -> str:
    """Return translations for scripts as the JSON that static/js/words.js fetches."""
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
    """Format a catalogue as a .po file without line numbers and dates, so that the file changes
    only if messages do."""
    return _to_bytes(write_po, catalog, width=0, ignore_obsolete=True, include_lineno=False)


def make_language_files(code: str) -> tuple[dict[Path, bytes], list[str]]:
    """Compute the expected files of a language. Returns (content by path, problems with its
    translations)."""
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
    """Return the content of locale/managers.pot, the template for translations of managers'
    pages."""
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

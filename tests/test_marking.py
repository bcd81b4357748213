"""Every page can be translated: what a template says is marked, on managers' pages, too, which are English as long as nobody has translated them."""

from __future__ import annotations

import ast
import gettext
import re
import shutil
from pathlib import Path

import pytest

from config import catalogues, po_files
from tests.marking import says_something, unmarked

ROOT = Path(__file__).resolve().parents[1]
PARTS_OF_TAGS = {"analysis/_when_done.html", "pooling/_fresh.html"}
"""Hold attributes of an element, and no words."""


def test_what_templates_say_is_marked() -> None:
    texts = {
        path.relative_to(ROOT / "templates").as_posix(): unmarked(path.read_text(encoding="utf-8"))
        for path in sorted((ROOT / "templates").rglob("*.html"))
    }
    assert {name: said for name, said in texts.items() if said and name not in PARTS_OF_TAGS} == {}


def unmarked_in_python(source: str) -> list[str]:
    """Labels and help texts of forms, and what a view tells by a message, as they stand in the program without gettext."""
    told: list[ast.expr] = []
    for call in (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)):
        told += [word.value for word in call.keywords if word.arg in ("label", "help_text", "empty_label")]
        if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name) and call.func.value.id == "messages":
            told += call.args[1:2]
    told += [part for one in told if isinstance(one, ast.IfExp) for part in (one.body, one.orelse)]
    texts = [ast.unparse(one) for one in told if isinstance(one, ast.JoinedStr) or (isinstance(one, ast.Constant) and one.value is not None)]
    return [text for text in texts if says_something(text)]


def test_what_forms_and_messages_of_managers_say_is_marked() -> None:
    paths = [path for folder in catalogues.FOLDERS for path in sorted((ROOT / folder).rglob("*.py")) if {"views", "forms"} & set(re.split(r"[/_.]", str(path)))]
    found = {path.relative_to(ROOT).as_posix(): unmarked_in_python(path.read_text(encoding="utf-8")) for path in paths}
    assert len(found) > 30
    assert {name: said for name, said in found.items() if said} == {}


def test_what_is_not_marked_in_python_is_found() -> None:
    source = """
a = CharField(label="A name", help_text=_("A hint"), initial="words here")
messages.success(request, f"{n} are deleted.")
messages.error(request, "Not done." if bad else _("Done."))
messages.info(request, str(error))
"""
    assert unmarked_in_python(source) == ["'A name'", "f'{n} are deleted.'", "'Not done.'"]


@pytest.mark.parametrize(
    ("template", "texts"),
    [
        ("<p>Two words</p>", ["Two words"]),
        ('<p title="A tip">{{ name }}</p>', ["A tip"]),
        ('<p>{% translate "Two words" %}: {{ n }}</p>', []),
        ("<p>{% blocktranslate %}Two <b>words</b>{% endblocktranslate %} more</p>", ["more"]),
        ("<input aria-label=\"{% if a %}Find{% else %}{% translate 'All' %}{% endif %}\">", ["Find"]),
        ("<code>assay up</code> <kbd>Enter</kbd> · Assay, UTC &nbsp; file.tsv", []),
        ("{% if a > b %}<script>let a = 1;</script>{% endif %}{# a comment #}", []),
        ('<a class="button {% if a %}primary{% endif %}" href="{% url "home" %}">Home</a>', ["Home"]),
    ],
)
def test_words_that_are_not_marked_are_found(template: str, texts: list[str]) -> None:
    assert unmarked(template) == texts


def test_managers_words_are_in_a_file_with_which_a_translation_begins() -> None:
    """Else: make words."""
    path, content = catalogues.managers_template()
    assert path.read_bytes() == content
    entries = po_files.read(content.decode())
    assert not any(text for one in entries for text in one.texts)
    annotators = {*catalogues.of_program().places, *catalogues.of_scripts().places}
    assert not annotators & {(one.singular, one.plural) for one in entries}


def test_a_translation_of_managers_pages_may_be_begun_and_is_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(catalogues.LOCALE / "de", tmp_path / "de")
    monkeypatch.setattr(catalogues, "LOCALE", tmp_path)
    _, template = catalogues.managers_template()
    first, *_others = (one for one in po_files.read(template.decode()) if not one.plural and not catalogues.NAMED.findall(one.singular))
    begun = tmp_path / "de" / "LC_MESSAGES" / "managers.po"
    begun.write_text(
        po_files.written([po_files.Entry(first.singular, "", ["Das ist ein Anfang."], [])], "de", catalogues.PLURALS["de"][0]),
        encoding="utf-8",
    )
    made, wrong = catalogues.files_of("de")
    assert wrong == []  # what is missing is no mistake here
    assert made[begun].decode().count("msgid ") > 2  # and stands there to be translated
    compiled = tmp_path / "de" / "LC_MESSAGES" / "django.mo"
    compiled.write_bytes(made[compiled])
    assert gettext.translation("django", tmp_path, ["de"]).gettext(first.singular) == "Das ist ein Anfang."

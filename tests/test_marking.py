"""Every page can be translated: what a template says is marked, on managers' pages, too, which are
English as long as nobody has translated them."""

from __future__ import annotations

import gettext
import shutil
from io import BytesIO
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po

from config import catalogues
from tests.marking import sentences_in_python, unmarked, unmarked_in_python

ROOT = Path(__file__).resolve().parents[1]
PARTS_OF_TAGS = {"analysis/_when_done.html", "pooling/_fresh.html"}
"""Hold attributes of an element, and no words."""


def test_what_templates_say_is_marked() -> None:
    texts = {
        path.relative_to(ROOT / "templates").as_posix(): unmarked(path.read_text(encoding="utf-8"))
        for path in sorted((ROOT / "templates").rglob("*.html"))
    }
    assert {name: said for name, said in texts.items() if said and name not in PARTS_OF_TAGS} == {}


OTHERS = {"migrations", "management", "core", "formats", "commandline", "papers", "api"}
"""Folders whose sentences are no page's: docs/developing.md says which side a sentence is on."""
NOT_OF_PAGES = {
    "assay/cli/base.py",
    "annotation/services/simulation/api_clients.py",
    "annotation/authentication.py",
    "annotation/api_urls.py",
}
STORED = {
    *(
        "annotation/models/judgements.py",
        "annotation/models/llm_judges.py",
    ),  # labels of choices that files alone have
    # the answers of the survey, which releases hold as they were given
    "annotation/models/members.py",
}
WHOLE = (
    *(f"analysis/dashboard/{name}.py" for name in ("headline", "planning_options", "to_do_list")),
    "analysis/systems/answer_page.py",
    "annotation/selectors/drafts.py",
    *(
        "annotation/services/campaigns/depth.py",
        "annotation/services/judging/additional_judgements.py",
        "annotation/services/campaigns/control_pairs.py",
    ),
)
"""Made of what pages say and of nothing else: no sentence there is unmarked."""
NO_SENTENCES = {
    *("deadline at risk", "paused by rule"),  # names of kinds in the API
    *("the whole pool", "D j M, H:i", "D j M Y, H:i", "D j M Y", "D j M"),  # in the audit; formats
}


def python_files() -> dict[str, str]:
    paths = [
        path.relative_to(ROOT)
        for folder in catalogues.FOLDERS
        for path in sorted((ROOT / folder).rglob("*.py"))
    ]
    read = [
        path
        for path in paths
        if not OTHERS & set(path.parts)
        and path.as_posix() not in NOT_OF_PAGES
        and "api" not in path.stem
    ]
    return {path.as_posix(): (ROOT / path).read_text(encoding="utf-8") for path in read}


def test_what_forms_messages_refusals_and_lists_say_is_marked() -> None:
    found = {
        name: unmarked_in_python(source)
        for name, source in python_files().items()
        if name not in STORED
    }
    assert len(found) > 200
    assert {name: said for name, said in found.items() if said} == {}


@pytest.mark.parametrize("name", WHOLE)
def test_no_sentence_is_unmarked_where_sentences_are_made(name: str) -> None:
    source = (ROOT / name).read_text(encoding="utf-8")
    assert "import gettext" in source or "import ngettext" in source
    assert [said for said in sentences_in_python(source) if said not in NO_SENTENCES] == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        (
            'a = CharField(label="A name", help_text=_("A hint"), initial="words here")',
            ["'A name'"],
        ),
        ('class Meta:\n    labels = {"seed": "Seed", "name": _("Name")}', ["'Seed'"]),
        ('messages.success(request, f"{n} are deleted.")', ["f'{n} are deleted.'"]),
        ('messages.error(request, "Not done." if bad else _("Done."))', ["'Not done.'"]),
        ("messages.info(request, str(error))", []),
        ('raise Refused("nothing was asked for")', ["'nothing was asked for'"]),
        ("raise jobs.Refused(str(error))", []),
        ('raise CampaignError(f"{n:,} are too many.") from None', ["f'{n:,} are too many.'"]),
        ('raise CampaignError(_(f"{n:,} are too many."))', ["f'{n:,} are too many.'"]),
        ('raise CampaignError(_("%(n)s are too many.") % {"n": n})', []),
        ('raise CampaignError(why or "It has changed.")', ["'It has changed.'"]),
        ('raise CampaignError("It is " + _("closed") + ".")', ["'It is '"]),
        ('raise Refused(f"{name}: {why}")', []),
        ('raise AnswerRefused("lease_unknown", "Not yours.", 404)', ["'Not yours.'"]),
        ('raise AnswerRefused("lease_unknown", _("Not yours."), 404)', []),
        ('raise serializers.ValidationError("for programs")', []),
        (
            'RowFilter("state", "State", [("done", "done"), ("over", _("ended"))], keep)',
            ["'State'", "'done'"],
        ),
        (
            'class S(models.TextChoices):\n    A = "a", _("Aye")\n    B = "bee"\n    C = "c", "See"',
            ["'bee'", "'See'"],
        ),
        ('ToDoAction("Look", address)', ["'Look'"]),
    ],
)
def test_what_is_not_marked_in_python_is_found(source: str, found: list[str]) -> None:
    assert sorted(unmarked_in_python(source)) == sorted(found)


def test_sentences_are_told_from_what_programmers_read() -> None:
    source = '''
def told(n):
    """A docstring of many words."""
    assert n, "only what is there"
    if n == 1:
        return _("One is left here.")
    if n == 2:
        raise ValueError("this is a programmer's mistake")
    return live.derived("leave one out", f) or f"There are {n} left."
'''
    assert sentences_in_python(source) == ["There are   left."]


@pytest.mark.parametrize(
    ("template", "texts"),
    [
        ("<p>Two words</p>", ["Two words"]),
        ('<p title="A tip">{{ name }}</p>', ["A tip"]),
        ('<p>{% translate "Two words" %}: {{ n }}</p>', []),
        ("<p>{% blocktranslate %}Two <b>words</b>{% endblocktranslate %} more</p>", ["more"]),
        (
            "<input aria-label=\"{% if a %}Find{% else %}{% translate 'All' %}{% endif %}\">",
            ["Find"],
        ),
        ("<code>assay up</code> <kbd>Enter</kbd> · Assay, UTC &nbsp; file.tsv", []),
        ("{% if a > b %}<script>let a = 1;</script>{% endif %}{# a comment #}", []),
        (
            '<a class="button {% if a %}primary{% endif %}" href="{% url "home" %}">Home</a>',
            ["Home"],
        ),
    ],
)
def test_words_that_are_not_marked_are_found(template: str, texts: list[str]) -> None:
    assert unmarked(template) == texts


def test_managers_words_are_in_a_file_with_which_a_translation_begins() -> None:
    """Else: make words."""
    path, content = catalogues.make_managers_template()
    assert path.read_bytes() == content
    messages = catalogues.list_messages(read_po(BytesIO(content)))
    assert len(messages) > 1000
    assert not any(text for one in messages for text in catalogues.plural_forms(one.string))
    for annotators in (catalogues.program_catalog(), catalogues.script_catalog()):
        assert not [one.id for one in messages if annotators.get(one.id, one.context)]


def test_a_translation_of_managers_pages_may_be_begun_and_is_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(catalogues.LOCALE / "de", tmp_path / "de")
    monkeypatch.setattr(catalogues, "LOCALE", tmp_path)
    first, *_others = (
        one.id
        for one in catalogues.list_messages(catalogues.manager_catalog())
        if not one.pluralizable and not catalogues.PLACEHOLDER_PATTERN.findall(one.id)
    )
    begun = tmp_path / "de" / "LC_MESSAGES" / "managers.po"
    catalog = Catalog(locale="de")
    catalog.add(first, "Das ist ein Anfang.")
    begun.write_bytes(catalogues.format_po(catalog))
    made, wrong = catalogues.make_language_files("de")
    assert wrong == []  # what is missing is no mistake here
    assert made[begun].decode().count("msgid ") > 2  # and stands there to be translated
    compiled = tmp_path / "de" / "LC_MESSAGES" / "django.mo"
    compiled.write_bytes(made[compiled])
    assert gettext.translation("django", tmp_path, ["de"]).gettext(first) == "Das ist ein Anfang."

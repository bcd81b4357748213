"""The catalogues hold what pages, mails and scripts say, each message with its translation; and a
person gets the language that was chosen."""

from __future__ import annotations

import gettext
import json
import re
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from django.conf import settings
from django.core import mail
from django.test import Client
from django.utils import translation
from django.utils.dates import MONTHS, MONTHS_3, MONTHS_AP, WEEKDAYS, WEEKDAYS_ABBR

from annotation.services.people import accounts, messages
from config import catalogues
from pooling.models import Pool
from tests.builders import make_annotator, make_campaign, make_user

ROOT = Path(__file__).resolve().parents[1]
CODES = sorted(catalogues.LANGUAGES)


@pytest.mark.parametrize("code", CODES)
def test_every_message_is_translated_with_its_values_and_tags_and_the_files_are_compiled(
    code: str,
) -> None:
    """Else: make words, translate what it names in locale/, make words."""
    made, wrong = catalogues.make_language_files(code)
    assert wrong == []
    assert [path.name for path, data in made.items() if path.read_bytes() != data] == []


@pytest.mark.parametrize("code", CODES)
def test_no_message_takes_the_place_of_a_month_or_a_day_of_the_week_in_dates(code: str) -> None:
    """Django looks for those in our catalogues first: "May" as "has the right to" made it a month
    in every date."""
    with translation.override(None):
        theirs = {
            str(name)
            for names in (MONTHS, MONTHS_3, MONTHS_AP, WEEKDAYS, WEEKDAYS_ABBR)
            for name in names.values()
        }
    ours = gettext.GNUTranslations(
        (ROOT / "locale" / code / "LC_MESSAGES" / "django.mo").open("rb")
    )._catalog
    assert "May" in theirs
    assert sorted(name for name in theirs if name in ours) == []


def test_every_language_of_the_settings_has_a_catalogue() -> None:
    assert sorted(code for code, _ in settings.LANGUAGES if code != "en") == CODES


def test_a_translation_that_lacks_a_value_or_a_tag_or_is_empty_is_named() -> None:
    catalog = Catalog(locale="de")
    catalog.add("{n} of <b>it</b>", "{n} davon")
    catalog.add("Hello %(name)s", "Hallo %(nmae)s")
    catalog.add("Yes", "")
    catalog.add(("one", "many"), ("eins",))
    catalog.add("two\n", "zwei")
    catalog.add("No", "Nein")
    assert [sentence.partition(":")[0] for sentence in catalogues.find_mistakes(catalog)] == [
        "values or tags differ from English",
        "values or tags differ from English",
        "not translated",
        "not translated",
        "line breaks at the ends differ from English",
    ]


def extracted(source: str, suffix: str) -> set[tuple[str | None, str | tuple[str, ...]]]:
    return {(one.context, one.id) for one in catalogues.extract_messages(source.encode(), suffix)}


def test_messages_are_found_wherever_they_can_stand() -> None:
    python = """_("a"); ngettext("b", "bs", n); pgettext_lazy("c", "d"); other("e"); _(f"{x}")
x = f"{_('in a text')}"; _(("in " "brackets"))
"""
    assert extracted(python, ".py") == {
        (None, "a"),
        (None, ("b", "bs")),
        ("c", "d"),
        (None, "in a text"),
        (None, "in brackets"),
    }
    template = """{% translate "a" %}{{ x|default:_("b") }}{% blocktranslate trimmed count n=n %}
      {{ n }} <b>c</b> 5 %
    {% plural %}{{ n }} cs{% endblocktranslate %}
        it's so\xa0"""
    assert extracted(template, ".html") == {
        (None, "a"),
        (None, "b"),
        (None, ("%(n)s <b>c</b> 5 %%", "%(n)s cs")),
    }
    script = 't("a {n}", 1); tn("b", "bs", n); get("c"); x.t("d"); `${t("e", { at: {} })}`'
    assert extracted(script, ".js") == {(None, "a {n}"), (None, ("b", "bs")), (None, "e")}


def test_a_translation_stays_and_is_compiled_for_pythons_own_reader(tmp_path: Path) -> None:
    path = tmp_path / "de" / "LC_MESSAGES" / "x.po"
    path.parent.mkdir(parents=True)
    texts = [('a "b"\n', None, 'ä "c"\n'), (("one", "many"), None, ("eins", "viele"))]
    texts += [("d", "c", "e"), ("gone", None, "fort")]
    translated, program = Catalog(locale="de"), Catalog()
    for message, context, text in texts:
        translated.add(message, text, context=context)
        if message != "gone":
            program.add(message, locations=[("x.py", 0)], context=context)
    path.write_bytes(catalogues.format_po(translated))
    merged = catalogues.merge_catalog(path, program, "de")
    assert "gone" not in merged
    path.write_bytes(catalogues.format_po(merged))
    assert catalogues.format_po(catalogues.merge_catalog(path, program, "de")) == path.read_bytes()
    with path.with_suffix(".mo").open("wb") as file:
        write_mo(file, merged)
    read = gettext.translation("x", tmp_path, ["de"])
    assert read.gettext('a "b"\n') == 'ä "c"\n'
    assert [read.ngettext("one", "many", n) for n in (1, 2)] == ["eins", "viele"]
    assert read.pgettext("c", "d") == "e"


def test_a_fuzzy_translation_is_refused() -> None:
    catalog = Catalog(locale="de")
    catalog.add("a", "b", flags=["fuzzy"])
    (sentence,) = catalogues.find_mistakes(catalog)
    assert sentence == "fuzzy translation to check: a"


def test_arabic_has_its_six_forms() -> None:
    """By the counts that the Unicode CLDR gives as examples of each form."""
    arabic = gettext.translation("django", ROOT / "locale", ["ar"])
    first = [
        arabic.ngettext("%(number)s judgement", "%(number)s judgements", n)
        for n in (0, 1, 2, 3, 11, 100)
    ]
    assert len(set(first)) == 6
    assert [
        arabic.ngettext("%(number)s judgement", "%(number)s judgements", n)
        for n in (103, 111, 1000)
    ] == first[3:]


def test_scripts_say_nothing_that_is_not_in_the_catalogue_of_scripts() -> None:
    german = json.loads((ROOT / "static" / "words" / "de.json").read_text(encoding="utf-8"))
    scripts = catalogues.list_messages(catalogues.script_catalog())
    assert {catalogues.plural_forms(message.id)[0] for message in scripts} == set(german)


MARKED = re.compile(
    r"""(?<![\w.])tn?\((?:\s*"(?:[^"\\]|\\.)*",?)+|(?:^|\s)//.*|/\*.*?\*/|^\s*"(?:[^"\\]|\\.)*".*,$"""
)
SENTENCE = re.compile(r"""["`][A-Z][^"`$]*[a-z]{2} [a-z]{2}[^"`]*["`]""")
ENGLISH = {"typeset.js", "tex.js", "highlight.js"}
"""Formulas and stop words."""


def test_no_sentence_stands_in_a_script_without_being_marked() -> None:
    wrong = [
        f"{path.name}:{number} {match[0]}"
        for path in sorted((ROOT / "static" / "js").rglob("*.js"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        for match in SENTENCE.finditer(MARKED.sub("", line))
        if path.name not in ENGLISH
    ]
    assert wrong == []


def test_a_sentence_that_is_not_marked_would_be_seen() -> None:
    assert SENTENCE.search(MARKED.sub("", 'say("Nothing is left here.");'))
    assert SENTENCE.search(MARKED.sub("", "text: `You judged it ${n} times`,"))
    assert not SENTENCE.search(
        MARKED.sub("", 'say(t("Nothing is left here.")); // Nothing to see "In here"')
    )


@pytest.mark.django_db
class TestTheLanguageOfAPerson:
    def test_the_browser_is_asked_and_an_unknown_language_is_english(self, client: Client) -> None:
        make_user("somebody")
        for asked, code, word in (
            ("de-AT,de;q=0.9", "de", "Anmelden"),
            ("fr", "fr", "Se connecter"),
            ("tlh,xx;q=0.5", "en", "Sign in"),
            ("", "en", "Sign in"),
        ):
            page = client.get("/sign-in", headers={"Accept-Language": asked} if asked else {})
            assert f'<html lang="{code}"' in page.content.decode()
            assert f"<h1>{word}</h1>" in page.content.decode()

    def test_arabic_is_written_from_right_to_left_and_english_fetches_nothing(
        self, client: Client
    ) -> None:
        make_user("somebody")
        arabic = client.get("/sign-in", headers={"Accept-Language": "ar"}).content.decode()
        assert '<html lang="ar" dir="rtl" data-words="/static/words/ar.json"' in arabic
        english = client.get("/sign-in").content.decode()
        assert "dir=" not in english.partition(">")[0]
        assert "words/" not in english

    def test_what_is_chosen_holds_before_and_after_the_sign_in_and_on_other_browsers(self) -> None:
        user = make_user("ada")
        user.set_password("a good long one")
        user.save()
        here, elsewhere = Client(), Client()
        assert here.post("/language", {"language": "es", "next": "/sign-in"}).status_code == 302
        assert '<html lang="es"' in here.get("/sign-in").content.decode()
        here.force_login(user)
        here.post("/language", {"language": "fr", "next": "/account"})
        assert '<html lang="fr"' in here.get("/account").content.decode()
        elsewhere.post("/sign-in", {"username": "ada", "password": "a good long one"})
        assert '<html lang="fr"' in elsewhere.get("/account").content.decode()

    def test_a_language_that_there_is_not_changes_nothing(self, client: Client) -> None:
        user = make_user("ada")
        client.force_login(user)
        client.post("/language", {"language": "xx", "next": "/account"})
        assert '<html lang="en"' in client.get("/account").content.decode()
        assert accounts.get_profile(user).language == ""

    def test_the_api_says_errors_of_judging_in_the_persons_language(self) -> None:
        campaign = make_campaign()
        ada = make_annotator(campaign)
        client = Client()
        client.force_login(ada.user)
        client.post("/language", {"language": "de"})
        answer = client.post(
            f"/api/v1/judging/{campaign.slug}/guideline/acknowledge",
            {"number": 99},
            content_type="application/json",
        )
        assert answer.json()["detail"] == "Version 99 der Richtlinien nicht gefunden."

    def test_numbers_and_dates_follow_the_language(self) -> None:
        campaign = make_campaign()
        ada = make_annotator(campaign)
        ada.n_judged = 1234
        ada.save()
        client = Client()
        client.force_login(ada.user)
        told = {}
        for code in ("en", "de", "fr"):
            client.post("/language", {"language": code})
            told[code] = client.get("/").content.decode()
        assert "1,234" in told["en"]
        assert "1.234" in told["de"]
        assert "1\u202f234" in told["fr"] or "1\xa0234" in told["fr"]

    def test_a_mail_is_in_the_language_of_who_gets_it(self) -> None:
        user = make_user("ada")
        user.email = "ada@example.org"
        user.save()
        accounts.set_language(user, "de")
        accounts.send_sign_in_link(email="ada@example.org", address="https://example.org/")
        assert mail.outbox[0].subject == "Ihr Anmelde-Link"
        assert "30 Minuten" in mail.outbox[0].body

    def test_a_reminder_is_in_the_language_of_who_gets_it_and_the_managers_words_stand(
        self,
    ) -> None:
        campaign = make_campaign(name="Spring", target_per_annotator=1200)
        Pool.objects.filter(pk=campaign.pool_id).update(
            kind="ordered"
        )  # it grows by itself, so the target stands however few pairs there are
        ada = make_annotator(campaign, "ada")
        ada.user.email = "ada@example.org"
        ada.user.save()
        accounts.set_language(ada.user, "de")
        messages.deliver_reminders(
            campaign,
            [ada],
            "Please go on.",
            address="https://example.org/",
            actor=campaign.created_by,
        )
        (sent,) = mail.outbox
        assert sent.subject == "Spring: Dokumente zu beurteilen"
        assert sent.body.startswith(
            "Guten Tag ada,\n\nPlease go on.\n\nSie haben 0 von 1.200 Dokumenten beurteilt. Seite "
            "zum Beurteilen:\n\nhttps://example.org/judge/"
        )

    def test_the_accounts_of_an_installation_are_no_part_of_the_way(self) -> None:
        client = Client(headers={"Accept-Language": "de"})
        client.force_login(make_user("root", superuser=True))
        assert '<html lang="en"' in client.get("/accounts").content.decode()
        assert '<html lang="de"' in client.get("/account").content.decode()

    def test_managers_pages_are_english_as_a_whole(self) -> None:
        campaign = make_campaign()
        client = Client()
        client.force_login(campaign.memberships.get(role="manager").user)
        client.post("/language", {"language": "de"})
        page = client.get(f"/campaigns/{campaign.slug}/settings/rules/").content.decode()
        assert '<html lang="en"' in page
        assert ">Campaigns<" in page

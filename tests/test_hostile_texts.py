"""Hostile texts in everything that people and files bring, on every page, in every file and
picture: they stay texts."""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator

import pytest
from django.apps import apps
from django.db import models
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from analysis.models import Report
from analysis.publishing.exports import EXPORTS
from analysis.systems.kinds import KINDS
from analysis.systems.selectors import ordered_result
from tests.conftest import absent
from tests.databases import undone
from tests.hostile_world import (
    LONG,
    PageProblems,
    brought,
    cell_problems,
    fill,
    problems_of,
    raw_problems,
)
from tests.test_urls_by_role import ROLES, TABLE, World, every_pattern
from tests.test_urls_by_role import make_world as make_plain_world

pytestmark = [pytest.mark.django_db, pytest.mark.slow, pytest.mark.timeout(1200)]
PRINTS_PICTURES = True
REPORT_OF_ONE_FILE = "<style>"
"""The report of a study has its style in it, as it is also read without this server."""
OWN = {
    "auth.User": {
        "password",
        "email",
    },  # an address is checked by its form; what else it may hold stands in an invitation's
    "pooling.Collection": {"slug"},
    "pooling.Topic": {"proposal"},
    "pooling.DocumentFile": {"format", "digest"},
    "pooling.Run": {"digest"},
    "pooling.Qrels": {"digest", "grades"},
    "pooling.Pool": {"parameters", "suggested", "by_depth", "digest"},
    "pooling.Stratum": {"name", "drawn"},
    "pooling.Job": {"kind", "parameters", "unit", "owner"},
    "annotation.Attempts": {"key"},
    "annotation.Campaign": {"slug"},
    "annotation.AuditEvent": {"action"},
    "annotation.InstitutionAccount": {"subject"},
    "annotation.Membership": {"pseudonym", "topic_rows"},
    "annotation.Invitation": {"token", "code"},
    "annotation.ResultsLink": {"digest"},
    "annotation.GuestPanel": {
        *("token", "done_code", "failed_code", "declined_code", "full_code", "return_address"),
        *("participant_parameter", "submission_parameter", "secret"),
    },
    "annotation.Guest": {"participant", "submission"},
    "annotation.PanelEvent": {"event_id"},
    "annotation.Lease": {"why"},
    "annotation.Judgement": {"cannot_reason", "answers", "presentation", "spans", "device"},
    "annotation.LlmJudge": {"key_variable", "parameters", "limits", "digest"},
    "annotation.LlmLabel": {"key"},
    "annotation.Profile": {"time_zone", "language", "choices", "to_do_address"},
    "annotation.ApiTokenRow": {"digest", "scopes"},
    "annotation.Webhook": {"events", "secret", "site"},
    "annotation.WebhookMessage": {"message_id", "event", "key", "body"},
    "analysis.Report": {"kind", "parameters", "input_digest", "code_version", "files", "result"},
    "analysis.ReportChunk": {"parameters", "result", "owner"},
    "analysis.Recipe": {"choices"},
    "analysis.Release": {"digest", "content_digest"},
    "pooling.KeptAnswer": {
        "key",
        "digest",
        "body",
        "headers",
    },  # sent again to the same client, shown on no page
}
"""Texts that the program itself writes, or takes out of a list of its own: of each table. Those
with choices need not stand here."""
PLAIN = {"api-docs", "campaign-live"}
"""Pages of a manager on which no text of people or files stands."""
ASKED = (
    "q",
    "sort",
    "name",
    "next",
    "page",
    "topic",
    "was",
    "first",
    "second",
    "annotator",
    "pseudonym",
    "kind",
    "show",
    "by",
)


def make_world() -> World:
    made = make_plain_world(brought())
    fill(made)
    return made


@pytest.fixture
def hostile(world: World) -> World:
    return world


def harmless_fields() -> dict[str, list[str]]:
    """Texts of the database that are neither hostile in this world nor the program's own."""
    found = {}
    for model in apps.get_models():
        if (
            model._meta.app_label not in ("pooling", "annotation", "analysis")
            and model._meta.label != "auth.User"
        ):
            continue
        for field in model._meta.concrete_fields:
            text = isinstance(
                field, models.CharField | models.TextField | models.JSONField
            ) and not isinstance(field, models.FileField)
            if not text or field.choices or field.name in OWN.get(model._meta.label, ()):
                continue
            values = [
                str(value) for value in model._default_manager.values_list(field.name, flat=True)
            ]
            if not any("zq" in value for value in values):
                found[f"{model._meta.label}.{field.name}"] = values[:2]
    return found


def seen_problems(
    ask: Callable[[], HttpResponse],
) -> tuple[list[str], HttpResponse | None, PageProblems | None]:
    """One request, of which nothing stays: what came through, or that it failed altogether."""
    with undone():
        try:
            answer = ask()
            found, page = problems_of(answer)
        except Exception as error:
            answer, found, page = None, [f"{type(error).__name__}: {error!s:.300}"], None
    if answer is not None and answer.request["PATH_INFO"].endswith("/report.html"):
        found = [one for one in found if one != REPORT_OF_ONE_FILE]
    return sorted(set(found)), answer, page


def test_what_an_address_answers_to_a_role_holds_texts_as_texts(hostile):
    """Each page, file and answer of the API, to each role; and every text that somebody brings is
    among them."""
    assert harmless_fields() == {}
    routes, wrong, without = every_pattern(), {}, []
    for role in (*ROLES, "viewer"):
        kinds: Counter[str] = Counter()
        for name in TABLE:
            found, answer, page = seen_problems(
                lambda role=role, name=name: hostile.ask(role, name, routes[name])
            )
            if found:
                wrong[role, name] = found
            if answer is not None:
                kinds[answer.headers.get("Content-Type", "").partition(";")[0]] += 1
            if (
                role == "manager"
                and page is not None
                and answer is not None
                and answer.status_code == 200
                and "x-zq" not in page.texts
            ):
                without.append(name)
        assert kinds["text/html"] > 10
        if role == "manager":
            assert {
                "text/html",
                "application/json",
                "text/csv",
                "application/zip",
                "image/svg+xml",
            } <= set(kinds), kinds
    assert not wrong, json.dumps(
        [[*map(str, key), found] for key, found in wrong.items()], indent=1
    )
    assert set(without) == PLAIN


def ways_of_filling(fields: dict[str, tuple[str, str]]) -> Iterator[dict[str, str]]:
    """A form with the text wherever something can be written, and with what only looks like a
    number everywhere. The name of the way is under ""."""
    fixed = (
        "submit",
        "button",
        "radio",
        "checkbox",
        "select",
        "number",
        "date",
        "datetime-local",
        "hidden",
    )
    names = {
        name: given
        for name, given in fields.items()
        if given[0] != "file" and name != "csrfmiddlewaretoken"
    }
    yield {
        name: value if kind in fixed else f"{LONG}{value}" for name, (kind, value) in names.items()
    } | {"": "text"}
    for way, number in (("superscript", "²"), ("endless", "9" * 5000)):
        yield {
            name: value if kind in ("submit", "button") else number
            for name, (kind, value) in names.items()
        } | {"": way}


def test_what_a_form_or_an_address_is_given_comes_back_as_text(hostile):
    """Every form of every page of a role, filled with the text and sent; every page with it in what
    is searched and sorted by."""
    routes, sent, wrong = every_pattern(), set(), {}
    for role in ("anonymous", "annotator", "manager", "superuser"):
        client = Client()
        if (person := hostile.people[role]) is not None:
            client.force_login(person)
        for name, (usual, _) in TABLE.items():
            if usual != "get" or name.startswith("api-"):
                continue
            _, answer, page = seen_problems(
                lambda role=role, name=name: hostile.ask(role, name, routes[name])
            )
            if page is None or answer is None or answer.status_code != 200:
                continue
            address = hostile.address(name, routes[name])
            asked = [("get", address, dict.fromkeys(ASKED, LONG))]
            for form in (form for form in page.forms if form["method"] != "dialog"):
                asked += [
                    (form["method"], form["action"] or address, data)
                    for data in ways_of_filling(form["fields"])
                ]
            for method, target, data in asked:
                key = (
                    role == "anonymous",
                    method,
                    re.sub(r"\d+", "0", target.partition("?")[0]),
                    tuple(sorted(data)),
                    data.get("", ""),
                )
                if key in sent or target == reverse("sign-out"):
                    continue
                sent.add(key)
                found, _, _ = seen_problems(
                    lambda client=client, method=method, target=target, data=data: getattr(
                        client, method
                    )(target, data, follow=True)
                )
                if found:
                    wrong[name, method, target] = found
    assert not wrong, json.dumps(
        [[*map(str, key), found] for key, found in wrong.items()], indent=1
    )
    assert len(sent) > 150


def test_files_for_spreadsheets_run_nothing_and_latex_reads_no_file(hostile, tmp_path):
    """And the administration's own pages, of which Django knows. SVG, PNG and CSV of reports and
    studies are parsed in `problems_of`."""
    client = Client()
    client.force_login(hostile.people["superuser"])
    for model in (
        "pooling_collection",
        "pooling_job",
        "pooling_run",
        "pooling_qrels",
        "pooling_pool",
        "auth_user",
    ):
        answer = client.get(reverse(f"admin:{model}_changelist"))
        assert answer.status_code == 200
        assert raw_problems(answer.content.decode()) == [], model
    client.force_login(hostile.people["manager"])
    guarded = [
        name
        for name, export in EXPORTS.items()
        if "spreadsheet" in export.heeds and export.of_kind is None
    ]
    assert len(guarded) > 6
    for name in guarded:
        answer = client.get(
            reverse("campaign-export-file", args=[hostile.campaign.slug, name]),
            {"spreadsheet": "on"},
        )
        assert answer.status_code == 200, name
        text = (
            b"".join(answer.streaming_content).decode()
            if answer.streaming
            else answer.content.decode()
        )
        assert (
            cell_problems(text, "," if "csv" in answer.headers["Content-Type"] else "\t") == []
        ), name
    job = hostile.ask("manager", "job-problems", every_pattern()["job-problems"]).content.decode()
    assert not re.search(r"(^|\t)=", job)

    texts = {}
    for name in ("report-files", "study-zip"):
        answer = client.get(hostile.address(name, every_pattern()[name]))
        content = b"".join(answer.streaming_content) if answer.streaming else answer.content
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            texts |= {
                f"{name} {one}": archive.read(one).decode()
                for one in archive.namelist()
                if one.endswith(".tex")
            }
    row = Report.objects.get(pk=hostile.numbers["report"]["pk"])
    for table in KINDS[row.kind].tables(ordered_result(row) or {}):
        texts[table.key] = client.get(
            reverse("report-table", args=[row.pk, table.key, "tex"])
        ).content.decode()
    assert len(texts) > 2
    assert any("x-zq" in text for text in texts.values())
    for name, text in texts.items():
        assert not re.search(r"\\(input|write18|frac)\{", text), name
    if shutil.which("pdflatex") is None:
        absent("latex", "pdflatex is not installed, so no table of hostile texts was typeset")
    tables = "".join(text for text in texts.values() if r"\documentclass" not in text)
    head = "\\documentclass{article}\n\\usepackage{array,booktabs,graphicx,longtable,pdflscape}\n\\begin{document}\n"
    (tmp_path / "all.tex").write_text(f"{head}{tables}\\end{{document}}\n", encoding="utf-8")
    command = [
        "pdflatex",
        "-interaction=nonstopmode",
        "-halt-on-error",
        "-no-shell-escape",
        "all.tex",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]

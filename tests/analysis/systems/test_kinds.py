"""A kind of report is one file and one line in the documents: nothing else of the program names
it."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest
from django.urls import reverse

from analysis.systems import kinds, reports
from analysis.systems.kinds import KINDS
from assay.cli.command_list import command_name
from tests.analysis.commands.judged_file import ROWS
from tests.analysis.systems.builders import small_collection, work_off
from tests.commands import get_commands

PRINTS_PICTURES = True
ROOT = Path(__file__).resolve().parents[3]
BY_NAME = {("reports.py", "compare_rankings"), ("reports.py", "label_overlap")}
"""One click asks for these two."""
UNJUDGED = {(name, "unjudged") for name in ("answers.py", "answer_page.py", "answer_pictures.py")}
"""A key of an answer, which is no kind there."""


def test_each_file_is_a_kind_called_as_its_command() -> None:
    files = {path.stem for path in (ROOT / "analysis" / "systems" / "kinds").glob("*.py")} - {
        "__init__"
    }
    assert files == set(KINDS)
    commands = get_commands()
    for name, kind in KINDS.items():
        assert (kind.name, commands[name]) == (name, "assay")
    assert len({kind.place for kind in KINDS.values()}) == len(KINDS)


def test_each_kind_has_its_line_in_the_documents() -> None:
    rows = re.findall(
        r"^\| ([^|]+?) \| `([\w ]+)` \|",
        (ROOT / "docs" / "reference" / "reports.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    assert rows == [
        (kind.title, command_name(kind.name)) for kind in KINDS.values()
    ]  # in the order of the pages


def test_no_other_file_of_the_wing_names_a_kind() -> None:
    found = set()
    for path in (ROOT / "analysis" / "systems").rglob("*.py"):
        if path.parent.name == "kinds":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and node.value in KINDS:
                found.add((path.name, node.value))
    assert found <= BY_NAME | UNJUDGED


NEW = f'''
from assay.charts.bars import bar_chart
from analysis.systems.kind import ReportKind
from analysis.systems.options import ReportField, changed_options
from assay.tabular import Table
from analysis.systems.written_files import WrittenFile

FIELDS = (ReportField("min_judgements", "Judgements a pair needs", "whole", 2, least=1),)
KIND = ReportKind(
    name="aggregate",
    place=1000,
    title="Labels of a file",
    sentence="How many pairs have which label?",
    fields=FIELDS,
    given=lambda files, options: dict(
        judgements=files.others["judged.csv"], **changed_options(FIELDS, options)
    ),
    tables=lambda result: [Table("labels", "Labels", ["grade", "pairs"], [[grade, n] for grade, n in result["labels"].items()])],
    pictures=lambda result: [bar_chart(list(result["labels"]), list(result["labels"].values()), caption="a picture of labels", unit="pairs")],
    qrels=(0, 0),
    least_runs=0,
    seeded=False,
    written=(WrittenFile("judged.csv", lambda parameters, runs, campaign: True, lambda report, work: """{
    ROWS
}"""),),
)
'''


@pytest.mark.django_db
def test_a_new_kind_is_one_file(tmp_path: Path, monkeypatch, settings, client) -> None:
    settings.MEDIA_ROOT = tmp_path / "files"
    folder = tmp_path / "further"
    folder.mkdir()
    (folder / "aggregate.py").write_text(NEW, encoding="utf-8")
    monkeypatch.setattr(kinds, "__path__", [*kinds.__path__, str(folder)])
    for name, kind in kinds.load_kinds([str(folder)]).items():
        monkeypatch.setitem(KINDS, name, kind)
    collection = small_collection()
    owner = collection.managers.get()
    client.force_login(owner)
    try:
        form = client.get(
            reverse("collection-report-new", args=[collection.slug, "aggregate"])
        ).content.decode()
        assert "Judgements a pair needs" in form
        assert (
            "Labels of a file"
            in client.get(reverse("collection-analyses", args=[collection.slug])).content.decode()
        )
        parameters = {"options": {"min_judgements": 1}}
        report = reports.request_report(
            KINDS["aggregate"],
            collection=collection,
            campaign=None,
            parameters=parameters,
            seed=0,
            user=owner,
        )
        assert report.command == "assay aggregate judged.csv --min-judgements=1 --json"
        assert work_off(report.job).state == "done"
        page = client.get(reverse("report", args=[report.pk])).content.decode()
        assert "a picture of labels" in page
        table = client.get(
            reverse("report-table", args=[report.pk, "labels", "csv"])
        ).content.decode()
        assert (
            table == "grade,pairs\n0,1\n1,2\n2,1\n3,0\n"
        )  # t1 d1: 0 0 2; t1 d2: 2 1; t2 d1: 2 3; t2 d3: 1
        assert (
            client.get(reverse("report-figure", args=[report.pk, "figure-1.pdf"])).status_code
            == 200
        )
    finally:
        sys.modules.pop("analysis.systems.kinds.aggregate", None)

"""A kind of report is one entry and one line in the documents: nothing else of the program names
it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from django.urls import reverse

from analysis.studies.papers import STUDY_NAMES
from analysis.systems import reports
from analysis.systems.kinds import KINDS, ReportKind
from analysis.systems.written_files import WrittenFile
from analysis.templatetags.analyses import analysis_groups
from assay.analyses import aggregate
from assay.calls import declared_arguments
from assay.charts.bars import bar_chart
from assay.cli.command_list import command_name
from assay.options import list_options
from assay.results import Values
from tests.analysis.commands.judged_file import ROWS
from tests.analysis.systems.builders import small_collection, work_off
from tests.commands import get_commands

PRINTS_PICTURES = True
ROOT = Path(__file__).resolve().parents[3]
BY_NAME = {("reports.py", "compare_rankings"), ("reports.py", "label_overlap")}
"""One click asks for these two."""
UNJUDGED = {(name, "unjudged") for name in ("answers.py", "answer_page.py", "answer_pictures.py")}
"""A key of an answer, which is no kind there."""


def test_each_kind_is_called_as_its_command() -> None:
    commands = get_commands()
    for name, kind in KINDS.items():
        assert (kind.name, commands[name]) == (name, "assay")


def test_the_page_lists_every_kind_and_every_paper_study_once() -> None:
    groups = analysis_groups()
    assert sorted(kind.name for one in groups for kind in one["kinds"]) == sorted(KINDS)
    assert sorted(study.name for one in groups for study in one["studies"]) == STUDY_NAMES


@pytest.mark.parametrize("name", KINDS)
def test_fields_are_options_of_the_analysis_or_lead_to_inputs_of_it(name: str) -> None:
    kind = KINDS[name]
    options = {one.name for one in list_options(kind.module.Options)}
    assert {one for one in kind.shows if isinstance(one, str)} <= options
    arguments = declared_arguments(kind.module.Command())
    assert {file.argument for file in kind.written if file.argument} <= set(arguments)
    assert {one for file in kind.written for one in file.options} <= options


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
        if path.name in ("kinds.py", "written_files.py"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and node.value in KINDS:
                found.add((path.name, node.value))
    assert found <= BY_NAME | UNJUDGED


def draw_labels(result: Values) -> list[str]:
    grades = result["labels"]
    return [
        bar_chart(list(grades), list(grades.values()), caption="a picture of labels", unit="pairs")
    ]


NEW = ReportKind(
    "aggregate",
    "Labels of a file",
    "How many pairs have which label?",
    ("min_judgements",),
    lambda files, options: {},
    qrels=(0, 0),
    least_runs=0,
    written=(
        WrittenFile(
            "judged.csv",
            lambda parameters, runs, campaign: True,
            lambda report, work: ROWS,
            "judgements",
        ),
    ),
)


@pytest.mark.django_db
def test_a_new_kind_is_one_entry(tmp_path: Path, monkeypatch, settings, client) -> None:
    settings.MEDIA_ROOT = tmp_path / "files"
    monkeypatch.setitem(KINDS, "aggregate", NEW)
    monkeypatch.setattr(aggregate.Command, "charts", staticmethod(draw_labels))
    collection = small_collection()
    owner = collection.managers.get()
    client.force_login(owner)
    form = client.get(
        reverse("collection-report-new", args=[collection.slug, "aggregate"])
    ).content.decode()
    assert list_options(aggregate.Options, "min_judgements")[0].about.label in form
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
    assert report.command == "assay aggregate judged.csv --min-judgements=1 --seed=0 --json"
    assert work_off(report.job).state == "done"
    page = client.get(reverse("report", args=[report.pk])).content.decode()
    assert "a picture of labels" in page
    table = client.get(reverse("report-table", args=[report.pk, "graded", "csv"])).content.decode()
    rows = [line.split(",")[:2] for line in table.splitlines()]
    assert rows[:5] == [  # t1 d1: 0 0 2; t1 d2: 2 1; t2 d1: 2 3; t2 d3: 1
        ["label", "pairs"],
        ["0", "1"],
        ["1", "2"],
        ["2", "1"],
        ["3", "0"],
    ]
    assert client.get(reverse("report-figure", args=[report.pk, "figure-1.pdf"])).status_code == 200

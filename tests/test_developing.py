"""The door for strangers: what docs/developing.md names is there, and what it says is enough is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assay.labels.aggregation import METHODS
from assay.measures.evaluation import FORMULAS
from assay.measures.measures import FAMILIES
from assay.version import program_version

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "developing.md").read_text(encoding="utf-8")
WANTED = {
    "measure",
    "file format",
    "aggregation",
    "rule of the scheduler",
    "kind of report",
    "chart",
    "api endpoint",
    "setting",
    "state of the judging page",
    "part of a release",
    "study of a paper",
    "analysis",
    "option of an analysis",
    "kind of judge",
    "campaign file key",
    "list on a page",
    "table or chart on a page",
    "translation",
    "dependency",
}


def recipes() -> dict[str, str]:
    found = re.findall(
        r"(?ms)^\*\*an? ([A-Za-z ]+)\*\* (.*?)(?=^\*\*|\Z)", PAGE.partition("## To add")[2]
    )
    return {name.lower(): text for name, text in found}


def test_there_is_a_list_for_everything_that_strangers_add() -> None:
    assert set(recipes()) == WANTED


@pytest.mark.parametrize("name", sorted(WANTED))
def test_every_file_of_a_list_is_there(name: str) -> None:
    text = recipes()[name]
    paths = re.findall(r"`([\w./]+/[\w./]*)`", text)
    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_a_measure_is_its_family_and_its_formula() -> None:
    assert {name for name, family in FAMILIES.items() if not family.sampled} == set(FORMULAS)


def test_an_aggregation_is_its_module_and_its_name() -> None:
    modules = {path.stem for path in (ROOT / "assay/labels/aggregation").glob("*.py")} - {
        "__init__",
        "labelling",
    }
    assert {name.replace("-", "_") for name in METHODS} == modules


def test_the_code_cites_pages_and_papers_instead_of_internal_documents() -> None:
    files = [
        path
        for folder in ("assay", "pooling", "annotation", "analysis", "config")
        for path in (ROOT / folder).rglob("*.py")
    ]
    assert len(files) > 500
    pattern = re.compile(r"\b(?:METHODS|SAMPLING) \d")
    assert [path for path in files if pattern.search(path.read_text(encoding="utf-8"))] == []


def test_the_version_to_cite_is_that_of_the_project() -> None:
    cited = re.search(r"(?m)^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited
    assert cited[1] == program_version()

"""The index of methods and the pages behind it mention everything that is computed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assay.cli.command_list import command_name
from assay.labels.aggregation import METHODS
from assay.measures.measures import FAMILIES, list_known_names
from assay.measures.subcollections import ELEMENTS
from assay.pools.topic_checks import MatchLevel
from tests.commands import get_commands

DOCS = Path(__file__).resolve().parent.parent / "docs"
INDEX = (DOCS / "reference" / "methods" / "index.md").read_text("utf-8")
PAGES = {
    path.name: path.read_text("utf-8")
    for path in sorted((DOCS / "reference" / "methods").glob("*.md"))
    if path.name != "index.md"
}
ALL = "\n".join([INDEX, *PAGES.values()])


def missing(names: list[str], text: str) -> list[str]:
    return [name for name in names if f"`{name}" not in text]


def test_every_measure_is_in_the_index_and_on_its_page_with_and_without_cutoff():
    names = [name for name in list_known_names() if " " not in name]
    assert {re.split(r"@|\(", name)[0] for name in names} == set(FAMILIES)
    assert missing(names, INDEX) == []
    assert missing(names, PAGES["measures.md"]) == []


def test_every_method_of_aggregation_is_in_the_index_and_on_its_page():
    assert missing(list(METHODS), INDEX) == []
    assert missing(list(METHODS), PAGES["aggregation.md"]) == []


def test_every_command_that_computes_something_is_described():
    ours = (name for name, app in get_commands().items() if app in ("pooling", "analysis", "assay"))
    names = sorted(
        name
        for name in ours
        if not name.startswith(("import_", "export_", "create_", "check_release", "send_"))
    )  # these move files
    assert len(names) > 15
    assert missing([command_name(name) for name in names], ALL) == []


def test_every_element_of_a_collection_and_level_of_topic_hygiene_is_described():
    assert missing(list(ELEMENTS), PAGES["stability.md"]) == []
    assert missing([match.value for match in MatchLevel], PAGES["topics-and-pools.md"]) == []


@pytest.mark.parametrize("page", PAGES)
def test_every_page_of_methods_is_linked_from_the_index(page):
    assert f"({page})" in INDEX


def test_every_line_of_the_index_has_formula_and_all_columns():
    rows = [
        line
        for line in INDEX.splitlines()
        if line.startswith("| ") and not line.startswith("| statistic")
    ]
    assert len(rows) > 50
    for row in rows:
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]
        assert len(cells) == 4, row
        assert cells[0], row
        assert cells[1], row

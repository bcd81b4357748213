"""Everything that can be set or called is documented, and the documents link only to what
exists."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from assay.cli.command_list import command_name
from benchmarks.acceptance.page import write_page
from tests.commands import get_commands

ROOT = Path(__file__).resolve().parent.parent
DOCS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def text_of_docs() -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in DOCS)


def test_every_command_is_documented() -> None:
    ours = [
        command_name(name)
        for name, app in get_commands().items()
        if app in {"pooling", "annotation", "analysis", "config", "assay"}
    ]
    assert ours
    text = text_of_docs()
    assert [
        name for name in sorted(ours) if f"`{name}" not in text and f"manage.py {name}" not in text
    ] == []


@pytest.mark.parametrize("path", DOCS, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_of_the_documents_lead_somewhere(path: Path) -> None:
    broken = []
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
        if (
            "://" not in target
            and not target.startswith("mailto:")
            and not (path.parent / target).exists()
        ):
            broken.append(target)
    assert broken == []


@pytest.mark.parametrize("path", DOCS, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_indented_code_directly_follows_a_list(path: Path) -> None:
    """It would be text of the last item: `# comment` in it becomes a heading."""
    text = re.sub(r"(?ms)^```.*?^```$", "", path.read_text(encoding="utf-8"))
    item = r"(?m)^(?:[-*]|\d+\.) .*(?:\n {2,}\S.*)*\n\n {4}\S.*"
    assert re.findall(item, text) == []


def test_the_page_of_sampling_is_made_from_the_figures_that_are_kept(tmp_path: Path) -> None:
    """And these hold nothing of the work of a sample but what the page tells: pairs and hours were
    the budget's, not those of what is drawn."""
    kept = tmp_path / "sampling"
    shutil.copytree(ROOT / "docs" / "evidence" / "sampling", kept)
    write_page(kept)
    assert (tmp_path / "sampling.md").read_text(encoding="utf-8") == (
        ROOT / "docs" / "evidence" / "sampling.md"
    ).read_text(encoding="utf-8")
    for name in ("coverage", "sampled_stop", "ordered_stop"):
        rows = json.loads((kept / f"{name}.json").read_text(encoding="utf-8"))["rows"]
        assert not [
            row["set"]
            for row in rows
            for one in row["budgets"].values()
            if {"judged", "hours"} & set(one)
        ]

"""The newcomer's page of each study: its lines do on the sample what it says, in the order in which
it says them.

`python -m tests.test_study_pages` writes what they print into the pages.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

from analysis.studies.papers import STUDY_NAMES
from benchmarks.reproduction import ROOT, parse_commands, run_command

PAGES = ROOT / "docs" / "tutorial" / "studies"
BLOCK = re.compile(r"^```console\n.*?^```$", re.MULTILINE | re.DOTALL)


SHELL = PAGES.parent / "shell.md"


def page_again(page: Path, work: Path) -> str:
    """The page with what its lines print in a copy of the sample."""
    folder = work / "afternoon"
    shutil.copytree(PAGES / "sample", folder)

    def again(block: re.Match[str]) -> str:
        lines = [
            f"$ {command}\n{run_command(command, data=work, work=work, folder=folder)}".rstrip("\n")
            for command, _ in parse_commands(block[0])
        ]
        return "```console\n" + "\n".join(lines) + "\n```"

    return BLOCK.sub(again, page.read_text("utf-8"))


def test_each_study_has_its_page_which_studies_md_links_and_which_shows_the_file_of_the_sample() -> (
    None
):
    assert {path.stem for path in PAGES.glob("*.md")} == set(STUDY_NAMES)
    reference = (ROOT / "docs" / "reference" / "studies.md").read_text("utf-8")
    for name in STUDY_NAMES:
        assert f"(../tutorial/studies/{name}.md)" in reference
        assert f"```toml\n{(PAGES / 'sample' / f'{name}.toml').read_text('utf-8')}```" in (
            PAGES / f"{name}.md"
        ).read_text("utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDY_NAMES)
def test_the_lines_of_a_page_do_what_it_says(name: str, tmp_path: Path) -> None:
    page = PAGES / f"{name}.md"
    assert page_again(page, tmp_path) == page.read_text("utf-8")
    about = (tmp_path / "afternoon" / "results" / "study.json").read_text("utf-8")
    assert '"left_out": {}' in about  # the sample has all that the study could ask for


@pytest.mark.long
def test_the_lines_of_the_shell_tutorial_do_what_it_says(tmp_path: Path) -> None:
    assert page_again(SHELL, tmp_path) == SHELL.read_text("utf-8")


if __name__ == "__main__":
    import os

    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    for page in [SHELL, *(PAGES / f"{name}.md" for name in STUDY_NAMES)]:
        if sys.argv[1:] and page.stem not in sys.argv[1:]:
            continue
        with tempfile.TemporaryDirectory() as temporary:
            page.write_text(page_again(page, Path(temporary)), encoding="utf-8")

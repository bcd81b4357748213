"""Commands on plain files import what they need and nothing else; Django only with --campaign."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import load_command_class

from assay.command import command_files, described
from pooling.commandline import DatabaseCommand, FileCommand
from tests.analysis.commands.ranked_files import GOOD, QRELS, files

ROOT = Path(__file__).resolve().parents[3]
HEAVY = {
    *("django", "celery", "rest_framework", "annotation.models", "scipy.stats", "scipy.special", "scipy.sparse", "scipy.optimize"),
    *("sklearn", "matplotlib", "pandas"),
}
ABOUT = {name: described(path) for name, path in command_files().items()}
ON_FILES = sorted(name for name, about in ABOUT.items() if about.on_files)
HELPED = f"""
import contextlib, importlib, io, json, sys
from assay.command import main
found = {{}}
for name in {ON_FILES!r}:
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
        main(["assay", name, "--help"])
    found[name] = [out.getvalue()[:6], sorted(set(sys.modules) & set({sorted(HEAVY)!r}))]
print(json.dumps(found))
"""


def python(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
    """A new process in the repository, without the settings of the tests."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DJANGO_", "ASSAY_"))}
    return subprocess.run([sys.executable, *words], cwd=ROOT, env={**kept, **env}, capture_output=True, text=True, check=False, timeout=200)


def test_no_command_on_files_imports_django_or_a_part_of_scipy_before_it_computes() -> None:
    done = python("-c", HELPED)
    assert done.returncode == 0, done.stderr
    assert {name: heavy for name, (shown, heavy) in json.loads(done.stdout).items() if shown != "usage:" or heavy} == {}


def test_evaluating_files_needs_neither_django_nor_scipy_nor_a_data_folder(tmp_path: Path) -> None:
    qrels, good = files(tmp_path, qrels=QRELS, good=GOOD)
    code = f"""
import sys
from assay.command import main
main(["manage.py", "evaluate", {qrels!r}, {good!r}, "--measures", "AP nDCG@10", "--json"])
print(sorted(set(sys.modules) & set({sorted({*HEAVY, "scipy"})!r})))
"""
    done = python("-c", code, ASSAY_DATA_DIR=str(tmp_path / "data"))
    result, heavy = done.stdout.splitlines()
    assert set(json.loads(result)["qrels"]["qrels"]) == {"good"}
    assert heavy == "[]"
    assert not (tmp_path / "data").exists()


def test_importing_the_library_imports_nothing_before_it_is_used() -> None:
    code = "import sys, assay; print({'numpy', 'pooling', 'django'} & set(sys.modules)); assay.evaluate; print('django' in sys.modules)"
    assert python("-c", code).stdout.splitlines() == ["set()", "False"]


@pytest.mark.parametrize("name", sorted(ABOUT))
def test_what_the_file_of_a_command_says_is_what_its_class_is(name: str) -> None:
    command = load_command_class(ABOUT[name].app, name)
    assert ABOUT[name].help == command.help
    assert ABOUT[name].on_files == (isinstance(command, FileCommand) and not isinstance(command, DatabaseCommand))


def test_a_campaign_brings_the_database_in_and_one_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    done = python("manage.py", "evaluate", "--campaign", "trip", "--json", ASSAY_DATA_DIR=str(tmp_path))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("the database cannot be read (no such table")
    wrong = python("manage.py", "agreement", "--campaign", "trip", ASSAY_SESSION_DAYS="many", ASSAY_DATA_DIR=str(tmp_path))
    assert (wrong.returncode, wrong.stderr) == (2, "assay: ASSAY_SESSION_DAYS='many' is not a whole number\n")


def test_a_mistake_on_the_command_line_ends_with_status_2() -> None:
    done = python("manage.py", "evaluate", "q", "r", "--measures", "MAP")
    assert (done.returncode, done.stdout) == (2, "")
    assert "manage.py evaluate: error: argument --measures: no measure is called 'MAP' (perhaps AP)" in done.stderr

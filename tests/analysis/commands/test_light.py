"""Commands on plain files import what they need and nothing else; Django only with --campaign."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from assay.cli.base import DatabaseCommand, FileCommand
from assay.cli.command_list import find_command_files, load_command, read_command_help
from tests.analysis.commands.ranked_files import CLICKS, GOOD, POOR, QRELS, files

ROOT = Path(__file__).resolve().parents[3]
HEAVY = {
    *(
        "django",
        "celery",
        "rest_framework",
        "annotation.models",
        "scipy.stats",
        "scipy.special",
        "scipy.sparse",
        "scipy.optimize",
    ),
    *("sklearn", "matplotlib", "pandas"),
}
ABOUT = {name: read_command_help(path) for name, path in find_command_files().items()}
ON_FILES = sorted(name for name, about in ABOUT.items() if about.on_files)
HELPED = f"""
import contextlib, importlib, io, json, sys
from assay.cli.main import main
found = {{}}
for name in {ON_FILES!r}:
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
        main(["assay", name, "--help"])
    found[name] = [out.getvalue()[:6], sorted(set(sys.modules) & set({sorted(HEAVY)!r}))]
print(json.dumps(found))
"""


def python(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
    """A new process in the repository, without the settings of the tests."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("DJANGO_", "ASSAY_"))
    }
    return subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env={**kept, **env},
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )


def test_no_command_on_files_imports_django_or_a_part_of_scipy_before_it_computes() -> None:
    done = python("-c", HELPED)
    assert done.returncode == 0, done.stderr
    assert {
        name: heavy
        for name, (shown, heavy) in json.loads(done.stdout).items()
        if shown != "usage:" or heavy
    } == {}


def test_evaluating_files_needs_neither_django_nor_scipy_nor_a_data_folder(tmp_path: Path) -> None:
    qrels, good = files(tmp_path, qrels=QRELS, good=GOOD)
    code = f"""
import sys
from assay.cli.main import main
main(["manage.py", "evaluate", {qrels!r}, {good!r}, "--measures", "AP nDCG@10", "--json"])
print(sorted(set(sys.modules) & set({sorted({*HEAVY, "scipy"})!r})))
"""
    done = python("-c", code, ASSAY_DATA_DIR=str(tmp_path / "data"))
    result, heavy = done.stdout.splitlines()
    assert set(json.loads(result)["qrels"]["qrels"]) == {"good"}
    assert heavy == "[]"
    assert not (tmp_path / "data").exists()


COMPUTING = {
    "compare_systems": ["qrels", "good", "poor"],
    "compare_runs": ["qrels", "good", "poor"],
    "compare_rankings": ["--qrels", "qrels", "--qrels", "clicks", "good", "poor"],
    "plan_study": ["qrels", "good", "poor"],
    "bootstrap": ["qrels", "good", "poor"],
    "split_half": ["qrels", "good", "poor"],
    "leaderboard": ["qrels", "good", "poor"],
    "reusability": ["qrels", "good", "poor"],
    "agreement": ["judgements"],
    "evaluate": ["qrels", "good", "--intervals"],
}


def test_no_comparison_or_agreement_of_files_imports_the_slow_parts_of_scipy(
    tmp_path: Path,
) -> None:
    """Importing scipy.stats takes nine times as long as importing numpy, which on two topics is
    what a person waits for."""
    judged = [
        f"{topic}\td{document}\ta{who}\t{(topic + document + who) % 2}"
        for topic in (1, 2)
        for document in (1, 2)
        for who in (1, 2)
    ]
    texts = {
        "qrels": QRELS,
        "clicks": CLICKS,
        "good": GOOD,
        "poor": POOR,
        "judgements": "\n".join(["topic\tdocument\tannotator\tgrade", *judged, ""]),
    }
    paths = dict(zip(texts, files(tmp_path, **texts), strict=True))
    lines = [
        [name, *(paths.get(word, word) for word in words), "--json"]
        for name, words in COMPUTING.items()
    ]
    code = f"""
import sys
from assay.cli.main import main
slow = {{}}
for line in {lines!r}:
    main(["assay", *line])
    slow[line[0]] = sorted({{"scipy.stats", "scipy.optimize", "pandas", "sklearn"}} & set(sys.modules))
print(slow)
"""
    done = python("-c", code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == repr({name: [] for name in COMPUTING})


def test_importing_the_library_imports_nothing_before_it_is_used() -> None:
    code = (
        "import sys, assay; print({'numpy', 'django'} & set(sys.modules)); "
        "assay.evaluate; print('django' in sys.modules)"
    )
    assert python("-c", code).stdout.splitlines() == ["set()", "False"]


@pytest.mark.parametrize("name", sorted(ABOUT))
def test_what_the_file_of_a_command_says_is_what_its_class_is(name: str) -> None:
    command = load_command(name)
    assert ABOUT[name].help == command.help
    assert ABOUT[name].on_files == (
        isinstance(command, FileCommand) and not isinstance(command, DatabaseCommand)
    )


def test_a_campaign_brings_the_database_in_and_one_that_cannot_be_read_is_said(
    tmp_path: Path,
) -> None:
    done = python(
        "manage.py", "evaluate", "--campaign", "trip", "--json", ASSAY_DATA_DIR=str(tmp_path)
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("cannot read the database (no such table")
    wrong = python(
        "manage.py",
        "agreement",
        "--campaign",
        "trip",
        ASSAY_SESSION_DAYS="many",
        ASSAY_DATA_DIR=str(tmp_path),
    )
    assert (wrong.returncode, wrong.stderr) == (
        2,
        "assay: ASSAY_SESSION_DAYS='many' must be a whole number\n",
    )


def test_a_mistake_on_the_command_line_ends_with_status_2() -> None:
    done = python("manage.py", "evaluate", "q", "r", "--measures", "MAPP")
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        "manage.py evaluate: error: argument --measures: unknown measure 'MAPP'; did you mean AP?"
        in done.stderr
    )

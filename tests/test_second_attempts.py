"""Who gets a second attempt, and that the first one is told."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FAILS_ONCE = """
import pathlib
import pytest

def fails_once(name):
    mark = pathlib.Path(__file__).parent / name
    was_there = mark.exists()
    mark.touch()
    assert was_there, "came late"

@pytest.mark.browser
def test_of_a_browser():
    fails_once("browser")

@pytest.mark.browser
def test_that_always_fails():
    assert False, "always"

def test_of_arithmetic():
    fails_once("arithmetic")
"""


def outcome(folder: Path, *options: str) -> str:
    (folder / "test_it.py").write_text(FAILS_ONCE)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = browser\n")
    root = Path(__file__).resolve().parents[1]
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "tests.second_attempts",
        "-p",
        "no:django",
        "-p",
        "no:cacheprovider",
        *options,
        str(folder),
    ]
    return subprocess.run(
        command,
        cwd=folder,
        env={"PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
    ).stdout


@pytest.mark.long
def test_real_parts_get_a_second_attempt_among_others_and_the_first_is_told(tmp_path: Path) -> None:
    text = outcome(tmp_path, "-n", "1")
    assert "2 failed, 1 passed, 2 rerun" in text
    told = text.partition("failed at the first attempt: find out why")[2]
    assert "test_of_a_browser" in told
    assert "came late" in told
    assert "test_of_arithmetic" not in told.partition("short test summary")[0]


def test_alone_a_failure_is_a_failure(tmp_path: Path) -> None:
    assert "3 failed" in outcome(tmp_path)

"""Readers of other packages, found by entry points."""

from __future__ import annotations

from pathlib import Path

import pytest

import assay
from assay.formats import plugins

PACKAGE = """
import json
from assay.inputs import read_judgements_input, read_qrels_input, read_runs_input

def run(path):
    (one,) = read_runs_input({"of json": json.load(open(path))})
    return one

def qrels(path):
    return read_qrels_input(json.load(open(path)))
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    info = tmp_path / "jsonlike-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: jsonlike\nVersion: 1\n")
    (info / "entry_points.txt").write_text(
        "[assay.formats]\nruns.nested = jsonlike:run\nqrels.nested = jsonlike:qrels\n"
    )
    (tmp_path / "jsonlike.py").write_text(PACKAGE)
    monkeypatch.syspath_prepend(str(tmp_path))
    plugins._plugin_readers.cache_clear()
    yield tmp_path
    plugins._plugin_readers.cache_clear()


def test_a_package_adds_a_format_of_runs_and_qrels(package: Path) -> None:
    run, qrels = package / "a.nested", package / "b.nested"
    run.write_text('{"q1": {"x": 2.0, "y": 1.0}}')
    qrels.write_text('{"q1": {"x": 0, "y": 1}}')
    scores = assay.evaluate(qrels, run, "RR@10")
    assert scores["of json", "RR@10"] == 0.5


def test_other_files_are_read_as_text(package: Path) -> None:
    qrels = package / "b.other"
    qrels.write_text("q1 0 x 1\n")
    assert assay.read_qrels(qrels).topics == ["q1"]

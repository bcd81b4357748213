"""Releases as datasets of PyTerrier, in a Python that has PyTerrier: this one, or the one that
ASSAY_TEST_PYTERRIER names."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import absent

ROOT = Path(__file__).resolve().parents[2]
RELEASE = ROOT / "tests" / "data" / "release-before-0.2.0.zip"
GROUP = "pyterrier.dataset_provider"
SCRIPT = """
import json, sys
import pyterrier as pt

def attempt(function):
    try:
        return function()
    except (KeyError, NotImplementedError, ValueError) as error:
        return f"{type(error).__name__}: {error}"

dataset = pt.get_dataset(f"assay:{sys.argv[1]}")
told = {
    "topics": attempt(lambda: dataset.get_topics().to_dict("list")),
    "graded": attempt(lambda: dataset.get_qrels().to_dict("list")),
    "binary": attempt(lambda: dataset.get_qrels("binary")["label"].tolist()),
    "other": attempt(lambda: dataset.get_qrels("other")),
    "corpus": attempt(lambda: [row["docno"] for row in dataset.get_corpus_iter()]),
    "first": attempt(lambda: next(iter(dataset.get_corpus_iter()))),
    "missing": attempt(lambda: pt.get_dataset("assay:/no/such/release.zip")),
}
if isinstance(told["graded"], dict):
    run = dataset.get_qrels()[["qid", "docno"]].assign(score=[3.0, 2.0, 1.0] * 2)
    run["rank"] = [0, 1, 2] * 2
    told["P@2"] = pt.Evaluate(run, dataset.get_qrels(), metrics=["P_2"])["P_2"]
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, str]]:
    """An interpreter with PyTerrier, and an environment in which Assay's entry points are found."""
    named = os.environ.get("ASSAY_TEST_PYTERRIER", "")
    if not named and importlib.util.find_spec("pyterrier") is None:
        absent("pyterrier", "PyTerrier is not installed, and ASSAY_TEST_PYTERRIER names no Python")
    folder = tmp_path_factory.mktemp("installed")
    about = folder / "assay_ir-0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: assay-ir\nVersion: 0\n")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    rows = project["entry-points"][GROUP].items()
    (about / "entry_points.txt").write_text(
        f"[{GROUP}]\n" + "".join(f"{name} = {value}\n" for name, value in rows)
    )
    return named or sys.executable, {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"}


def ask(python: tuple[str, dict[str, str]], release: Path) -> dict[str, Any]:
    program, environment = python
    done = subprocess.run(
        [program, "-c", SCRIPT, str(release)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def copy_release(target: Path, *, leave_out: str = "", kind: str = "depth") -> Path:
    with zipfile.ZipFile(RELEASE) as source, zipfile.ZipFile(target, "w") as copy:
        for name in source.namelist():
            data = source.read(name)
            if name == "campaign.json":
                data = data.replace(b'"kind": "depth"', f'"kind": "{kind}"'.encode())
            if name != leave_out:
                copy.writestr(name, data)
    return target


def test_a_release_gives_topics_qrels_and_documents(python, tmp_path):
    """The expected values are those in the files of the release, of which t9 is removed."""
    with zipfile.ZipFile(RELEASE) as archive:
        archive.extractall(tmp_path)
    for release in (RELEASE, tmp_path):
        told = ask(python, release)
        assert told["topics"] == {
            "qid": ["t1", "t2"],
            "query": ["query number 1", "query number 2"],
        }
        assert told["graded"] == {
            "qid": ["t1"] * 3 + ["t2"] * 3,
            "docno": ["d1", "d2", "d3"] * 2,
            "label": [3, 2, 0, 1, 0, 1],
        }
        assert told["other"].startswith("ValueError: unknown variant 'other' of qrels")
        assert told["corpus"] == ["d1", "d2", "d3"]
        assert told["first"] == {
            "docno": "d1",
            "title": "Title 1",
            "text": "Document 1 speaks of query number 1. It has a second sentence.",
        }
        assert told["missing"].startswith("KeyError")
        assert told["P@2"] == pytest.approx((2 / 2 + 1 / 2) / 2)
    binary = (tmp_path / "qrels-binary.txt").read_text().split()[3::4]
    assert told["binary"] == list(map(int, binary))


def test_a_sampled_release_has_no_qrels_and_one_without_texts_no_corpus(python, tmp_path):
    release = copy_release(tmp_path / "sampled.zip", leave_out="documents.jsonl", kind="sampled")
    told = ask(python, release)
    assert "the pool was sampled, so measures would count unsampled documents" in told["graded"]
    assert told["corpus"].startswith("NotImplementedError")
    assert told["topics"]["qid"] == ["t1", "t2"]

"""prove.py recomputes a release from its judgements, and detects every change of it. `built` runs it
on each release of the other tests."""

from __future__ import annotations

import ast
import hashlib
import io
import json
import subprocess
import sys
import zipfile
from datetime import timedelta

import pytest

from analysis.judgements.labels import LabelChoices
from analysis.publishing.release import prove
from analysis.publishing.release.importing import import_release
from analysis.publishing.release.parts import PROVE, ReleasePlan, read_script
from annotation.services.judging import submission
from assay.labels.aggregation import METHODS
from tests.analysis.publishing.exported import START, examples_campaign, pair_of, with_everything
from tests.analysis.publishing.test_releases import built
from tests.builders import make_user
from tests.changed_releases import find_undetected, read_parts, with_right_sums

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign():
    campaign = with_everything(examples_campaign())
    pair = pair_of(campaign, "t2", "d3")
    submission.adjudicate_pair(
        pair, 3, reason="seen again", actor=None, now=START + timedelta(days=2)
    )
    return campaign


@pytest.mark.parametrize("method", sorted(METHODS))
def test_every_method_of_aggregation_is_recomputed(campaign, method):
    assert set(prove.METHODS) == set(METHODS)
    built(campaign, ReleasePlan(choices=LabelChoices(method=method, min_judgements=1)))


def test_recipes_that_choose_judgements_are_recomputed(campaign):
    for choices in (
        LabelChoices(exclude=("A001",), min_judgements=1),
        LabelChoices(include_excluded=("*",)),
        LabelChoices(min_seconds=15, min_relevant=1),
        LabelChoices(with_gold=False, min_judgements=5),
    ):
        built(campaign, ReleasePlan(choices=choices))


def test_the_script_needs_only_the_standard_library_and_runs_in_the_folder(campaign, tmp_path):
    nodes = list(ast.walk(ast.parse(read_script(PROVE))))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    assert {name.split(".")[0] for name in names} <= sys.stdlib_module_names
    assert len(read_script(PROVE).splitlines()) <= 500
    with zipfile.ZipFile(io.BytesIO(built(campaign))) as archive:
        archive.extractall(tmp_path)
    command = [sys.executable, "-I", str(tmp_path / "prove.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert [line.split()[0] for line in done.stdout.splitlines()[:-1]] == ["ok"] * 6
    (tmp_path / "qrels.txt").write_text("t1 0 d1 0\n")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "qrels.txt: not the labels that the judgements give" in done.stdout


def test_two_hundred_single_changes_are_detected(campaign):
    assert find_undetected(built(campaign), 200, seed=1) == []


@pytest.mark.parametrize(
    ("part", "old", "new", "where"),
    [
        ("judgements.tsv", b"\t2\tPartly answers\t", b"\t3\tFully answers\t", "audit.tsv:2:"),
        (
            "judgements.tsv",
            b"A003\t2\tPartly answers",
            b"A003\t2\tFully answers",
            "label is 'Fully answers'",
        ),
        ("labels.tsv", b"t1\td2\t2\tmajority", b"t1\td2\t2\tunanimous", "labels.tsv: t1 d2"),
        ("qrels.txt", b"t1 0 d1 2", b"t1 0 d1 3", "qrels.txt: not the labels"),
        ("qrels-binary.txt", b"t2 0 d1 0", b"t2 0 d1 1", "qrels-binary.txt: not the labels"),
        ("statistics.json", b'"judgements": 18,', b'"judgements": 19,', "judgements is 19"),
        ("datasheet.md", b"| Judgements | 18 |", b"| Judgements | 19 |", "Statistics: Judgements"),
        ("campaign.json", b'"min_relevant": null', b'"min_relevant": 1', "labels.tsv"),
        ("annotators.tsv", b"\thuman\t", b"\tllm\t", "excluded is '0'"),
        ("adjudications.tsv", b"t2\td3\t3", b"t2\td3\t2", "audit.tsv"),
        ("excluded.tsv", b"extra", b"Extra", "excluded.tsv"),
    ],
)
def test_a_change_with_right_digests_contradicts_another_part(campaign, part, old, new, where):
    parts = read_parts(built(campaign))
    assert old in parts[part], parts[part].decode()
    parts[part] = parts[part].replace(old, new, 1)
    found = prove.find_problems(with_right_sums(parts))
    assert found["digests"] == []
    assert any(where in problem for problems in found.values() for problem in problems), found


def test_agreement_that_is_overstated_is_found(campaign):
    parts = read_parts(built(campaign))
    agreement = json.loads(parts["agreement.json"])
    for key in ("mean_kappa", "mean_kappa_others", "alpha", "percent"):
        changed = agreement | {"graded": agreement["graded"] | {key: 0.9}}
        release = with_right_sums(parts | {"agreement.json": json.dumps(changed).encode()})
        (problem,) = prove.find_problems(release)["agreement"]
        assert problem.startswith(f"agreement.json: graded: {key} is 0.9, recomputed")


def test_the_audit_trail_is_a_chain_in_the_order_of_time(campaign):
    """Swapped lines are found even if somebody computes the digests of files again."""
    parts = read_parts(built(campaign))
    head, *lines = parts["audit.tsv"].decode().splitlines(keepends=True)
    before = [head, *lines]
    for line, earlier in zip(lines, before, strict=False):
        assert line.rstrip("\n").split("\t")[-1] == hashlib.sha256(earlier.encode()).hexdigest()
    assert [line.split("\t")[0] for line in lines] == sorted(line.split("\t")[0] for line in lines)
    assert len(lines) == 18 + 4 + 2 + 1  # examples, not counted, revisions, adjudication
    lines[3], lines[4] = lines[4], lines[3]
    found = prove.find_problems(
        with_right_sums(parts | {"audit.tsv": "".join([head, *lines]).encode()})
    )
    assert sum("previous_sha256" in problem for problem in found["audit_trail"]) == 3


def test_an_imported_release_gives_the_same_audit_trail(campaign, tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path / "files"
    data = built(campaign)
    (tmp_path / "release.zip").write_bytes(data)
    again = import_release(tmp_path / "release.zip", name="release.zip", user=make_user("n"))
    assert read_parts(built(again))["audit.tsv"] == read_parts(data)["audit.tsv"]
    without = {
        name: part
        for name, part in read_parts(data).items()
        if name not in ("audit.tsv", "prove.py")
    }  # a release of an earlier version
    (tmp_path / "old.zip").write_bytes(with_right_sums(without).getvalue())
    import_release(tmp_path / "old.zip", name="old.zip", user=None)

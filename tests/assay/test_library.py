"""`import assay`: the same numbers as the commands, from files, mappings and data frames; and the
notebook of the documents runs."""

from __future__ import annotations

import csv
import re
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from tests import notebooks
from tests.analysis.commands.judged_file import ROWS, run, written
from tests.analysis.commands.ranked_files import GOOD, OTHER, POOR, QRELS, files

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "tutorial" / "notebooks").glob("*.ipynb"))


class Frame:
    """What every data frame has: columns, and a column by its name."""

    def __init__(self, **columns: list[Any]) -> None:
        self.inner = columns
        self.columns = list(columns)

    def __getitem__(self, name: str) -> Iterator[Any]:
        return iter(self.inner[name])


JUDGED: dict[str, list[Any]] = {
    "topic": ["1", "1"],
    "document": ["a", "a"],
    "annotator": ["x", "y"],
    "grade": [1, 0],
}


def nested(text: str, value: int, kind: type) -> dict[str, dict[str, Any]]:
    """Lines of a run or of qrels as {topic: {document: number}}. value: the column of the
    number."""
    found: dict[str, dict[str, Any]] = {}
    for line in text.splitlines():
        cells = line.split()
        found.setdefault(cells[0], {})[cells[2]] = kind(cells[value])
    return found


def test_scores_are_those_of_the_command_whatever_they_are_made_from(tmp_path: Path) -> None:
    qrels, good, poor, other = files(tmp_path, qrels=QRELS, good=GOOD, poor=POOR, other=OTHER)
    told = run("evaluate", qrels, good, poor, other, "--measures", "AP nDCG@2 P@1", "--per-topic")
    flat = [
        (topic, document, score)
        for topic, inner in nested(GOOD, 4, float).items()
        for document, score in inner.items()
    ]
    frame = Frame(
        query_id=[row[0] for row in flat],
        doc_id=[row[1] for row in flat],
        score=[row[2] for row in flat],
    )
    mixed = {"good": frame, "poor": nested(POOR, 4, float), "other": assay.read_run(other)}
    for scores in (
        assay.evaluate(qrels, [good, poor, other], "AP nDCG@2 P@1"),
        assay.evaluate(nested(QRELS, 3, int), mixed, "AP nDCG@2 P@1"),
    ):
        assert (scores.tags, scores.measures, sorted(scores.topics)) == (
            ["good", "poor", "other"],
            ["AP", "nDCG@2", "P@1"],
            ["1", "2", "3"],
        )
        for tag, means in zip(scores.tags, scores.means, strict=True):
            assert (
                dict(zip(scores.measures, means.tolist(), strict=True))
                == told["qrels"]["qrels"][tag]
            )
            for measure in scores.measures:
                per_topic = dict(
                    zip(
                        scores.topics,
                        scores.of(measure)[scores.tags.index(tag)].tolist(),
                        strict=True,
                    )
                )
                assert per_topic == told["per_topic"]["qrels"][tag][measure]


def test_means_by_hand() -> None:
    """Ranks a b c, of which a (2) and c (1) are relevant: AP = (1/1 + 2/3) / 2; DCG@2 = 2, ideal 2
    + 1 / log2(3)."""
    scores = assay.evaluate(
        {"1": {"a": 2, "b": 0, "c": 1}}, {"1": {"a": 3, "b": 2, "c": 1}}, "AP nDCG@2"
    )
    assert scores.means[0].tolist() == pytest.approx([5 / 6, 2 / (2 + 1 / np.log2(3))])


def test_agreement_and_labels_are_those_of_the_commands(tmp_path: Path) -> None:
    path = written(tmp_path)
    rows = list(csv.DictReader(ROWS.splitlines()))
    frame = Frame(**{name: [row[name] for row in rows] for name in rows[0]})
    told, labelled = run("agreement", path), run("aggregate", path, "--labels", "binary")
    for judgements in (path, assay.read_judgements(path), frame):
        found = assay.agreement(judgements)
        assert {name: found[name] for name in ("graded", "binary", "annotators", "dropped")} == {
            name: told[name] for name in ("graded", "binary", "annotators", "dropped")
        }
        labels = assay.aggregate(judgements, labels="binary")
        assert {str(grade): n for grade, n in labels.labels().items()} == labelled["labels"]
    assert assay.columns(labels)["topic"] == ["t1", "t1", "t2"]
    assert assay.columns(labels)["grade"].tolist() == [0, 0, 1]  # 0 0 1; 1 0 lowest; 1 1


def test_a_comparison_is_that_of_the_command(tmp_path: Path) -> None:
    qrels, good, poor = files(tmp_path, qrels=QRELS, good=GOOD, poor=POOR)
    told = run("compare_systems", qrels, good, poor, "--measures", "AP", "--correction", "holm")
    assert assay.compare(qrels, [good, poor], "AP", correction="holm")["AP"] == told["AP"]


def test_a_pool_is_that_of_the_command(tmp_path: Path) -> None:
    good, poor = files(tmp_path, good=GOOD, poor=POOR)
    out = tmp_path / "pool.tsv"
    run("build_pool", good, poor, "--depth", "2", "--seed", "7", "--output", str(out))
    assay.write_pool(assay.pool([good, poor], 2, seed=7), tmp_path / "ours.tsv")
    assert (tmp_path / "ours.tsv").read_bytes() == out.read_bytes()


def test_a_sample_of_a_pool_is_that_of_the_command(tmp_path: Path) -> None:
    qrels, good, poor = files(tmp_path, qrels=QRELS, good=GOOD, poor=POOR)
    out, draw = tmp_path / "pool.prel", tmp_path / "drawn.tsv"
    run(
        *("sample_pool", good, poor, "--budget", "0.7", "--strata", "votes", "--seed", "7"),
        *("--judged", qrels, "--output", str(out), "--draw", str(draw)),
    )
    sample = assay.sample_pool([good, poor], budget=0.7, strata="votes", judged=qrels, seed=7)
    assay.write_pool(sample, tmp_path / "ours.prel")
    assert (tmp_path / "ours.prel").read_bytes() == out.read_bytes()
    columns = assay.columns(sample)
    drawn = columns["drawn"].tolist()
    expected = [line.split("\t") for line in draw.read_text().splitlines()[1:]]
    rows = zip(columns["topic"], columns["document"], columns["probability"], strict=True)
    assert [list(row) for row, is_drawn in zip(rows, drawn, strict=True) if is_drawn] == [
        [topic, document, float(probability)] for topic, document, _, _, probability in expected
    ]
    with pytest.raises(ValueError, match="budget"):
        assay.sample_pool([good, poor], budget=2)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    assay.write_qrels(nested(QRELS, 3, int), tmp_path / "q.txt")
    assert (tmp_path / "q.txt").read_text() == QRELS
    assay.write_run({"1": {"a": 2.5, "b": 3}}, tmp_path / "r.txt")
    assert (tmp_path / "r.txt").read_text() == "1 Q0 b 1 3.0 run\n1 Q0 a 2 2.5 run\n"


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: assay.evaluate({"1": {"a": 0.5}}, {"1": {"a": 1}}),
            "qrels: 0.5 in row 0 is not a grade",
        ),
        (
            lambda: assay.evaluate(
                {"1": {"a": 1}}, {"x": Frame(topic=["1"], document=["a"], score=[float("nan")])}
            ),
            "x: nan in row 0 is not a number",
        ),
        (
            lambda: assay.evaluate(Frame(topic=["1"], document=["a"]), {"1": {"a": 1}}),
            "qrels: no column grade",
        ),
        (lambda: assay.evaluate(7, {"1": {"a": 1}}), "qrels: a int, expected a file's path"),
        (lambda: assay.compare({"1": {"a": 1}}, {"1": {"a": 1}}), "there is only one run"),
        (
            lambda: assay.compare({"1": {"a": 1}}, {"1": {"a": 1}}, correction="best"),
            "expected one of",
        ),
        (lambda: assay.agreement([1, 2]), "judgements: a list of int, expected"),
        (
            lambda: assay.evaluate(
                {"1": {"a": 1}},
                Frame(run=["x", "y"], topic=["1", "1"], document=["a", "b"], score=[1, 2]),
            ),
            "with 2 runs",
        ),
    ],
)
def test_wrong_input_is_told_in_a_sentence(call: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=re.escape(sentence)):
        call()


TWO_RUNS = {"x": {"1": {"a": 1}}, "y": {"1": {"b": 1}}}


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: assay.compare({"1": {"a": 1}}, TWO_RUNS, famly="holm"),
            "compare() got an unexpected keyword argument 'famly'; choose from qrels, runs, measures, ",
        ),
        (
            lambda: assay.aggregate(Frame(**JUDGED), thresold=2),
            "aggregate() got an unexpected keyword argument 'thresold'; choose from ",
        ),
    ],
)
def test_an_unknown_keyword_is_a_type_error_with_those_there_are(call: Any, sentence: str) -> None:
    with pytest.raises(TypeError, match=re.escape(sentence)):
        call()


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: assay.compare({"1": {"a": 1}}, TWO_RUNS, correction="best"),
            "correction: expected one of 'none', 'bonferroni', 'holm', 'max', not 'best'",
        ),
        (
            lambda: assay.compare({"1": {"a": 1}}, TWO_RUNS, alpha=3),
            "alpha: expected a number below 1, not ",
        ),
        (
            lambda: assay.compare({"1": {"a": 1}}, TWO_RUNS, only_with_relevant="yes"),
            "only_with_relevant: expected True or False, not 'yes'",
        ),
        (lambda: assay.evaluate({"1": {"a": 1}}, TWO_RUNS, "MAPP"), "did you mean AP?"),
        (lambda: assay.compare({"1": {"a": 1}}, TWO_RUNS, "MAPP"), "did you mean AP?"),
        (
            lambda: assay.evaluate({"1": {"a": 1}}, TWO_RUNS, missing_topics="some"),
            "missing_topics: expected one of 'zero', 'skip', not 'some'",
        ),
        (lambda: assay.agreement(7), "judgements: a int, expected"),
    ],
)
def test_a_wrong_value_is_a_value_error_by_its_keyword(call: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=re.escape(sentence)):
        call()


def test_zero_is_a_value_and_not_the_default() -> None:
    """No judgement is too fast where the least time is 0."""
    judgements = Frame(**JUDGED, seconds=[0.1, 0.1])
    assert assay.agreement(judgements, min_seconds=0)["dropped"]["too_fast"] == 0
    assert assay.agreement(judgements, min_seconds=1)["dropped"]["too_fast"] == 2


def test_a_wrong_file_is_told_with_its_line(tmp_path: Path) -> None:
    (bad,) = files(tmp_path, bad="1 Q0 a 1 high bad\n")
    with pytest.raises(assay.FormatError) as told:
        assay.evaluate({"1": {"a": 1}}, bad)
    assert told.value.lines()[0].startswith(f"{bad}:1: ")


def test_two_runs_of_one_tag_are_told_apart_with_a_warning() -> None:
    with pytest.warns(UserWarning, match="the second is called run#2"):
        scores = assay.evaluate({"1": {"a": 1}}, [{"1": {"a": 1}}, {"1": {"b": 1}}], "P@1")
    assert scores.tags == ["run", "run#2"]


def test_a_data_frame_is_the_columns_and_without_pandas_says_what_there_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scores = assay.evaluate({"1": {"a": 1}, "2": {"b": 1}}, {"1": {"a": 1}}, "P@1")
    monkeypatch.setitem(
        sys.modules, "pandas", types.SimpleNamespace(DataFrame=lambda columns: ("frame", columns))
    )
    assert assay.frame(scores)[1]["P@1"].tolist() == [0.5]
    assert scores.to_frame()[1]["run"] == ["run"]
    kind, rows = assay.frame(scores, per_topic=True)
    assert (kind, rows["topic"], rows["P@1"].tolist()) == ("frame", ["1", "2"], [1.0, 0.0])
    assert assay.frame([{"a": 1}]) == ("frame", [{"a": 1}])
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"assay\.columns\(\.\.\.\) returns the same as arrays"):
        assay.frame(scores)
    with pytest.raises(TypeError, match="cannot read columns from int"):
        assay.columns(3)


def test_scores_are_asked_by_run_and_measure_and_shown_in_a_notebook() -> None:
    qrels = {"1": {"a": 1}, "2": {"b": 1}}
    scores = assay.evaluate(qrels, {"x": {"1": {"a": 1}}, "<y>": {"1": {"b": 1}}}, "map P@1")
    assert scores["x", "AP"] == scores["x", "map"] == 0.5
    assert scores.of("MAP").tolist() == [[1.0, 0.0], [0.0, 0.0]]
    assert scores.to_dict() == {"x": {"AP": 0.5, "P@1": 0.5}, "<y>": {"AP": 0.0, "P@1": 0.0}}
    html = scores._repr_html_()
    assert "<th>&lt;y&gt;</th><td>0.0000</td>" in html
    assert "<th>AP</th><th>P@1</th>" in html
    with pytest.raises(KeyError, match="unknown run 'z'; choose from x, <y>"):
        scores["z", "AP"]
    with pytest.raises(ValueError, match="RR was not requested; choose from AP, P@1"):
        scores["x", "mrr"]


def test_scores_from_any_source_are_compared_like_runs(tmp_path: Path) -> None:
    qrels, good, poor = files(tmp_path, qrels=QRELS, good=GOOD, poor=POOR)
    scores = assay.evaluate(qrels, [good, poor], "AP P@1")
    compared = assay.compare_scores(scores, alpha=0.1, seed=3)
    of_runs = assay.compare(qrels, [good, poor], "AP P@1", alpha=0.1, seed=3)
    assert compared.to_dict() == of_runs.to_dict()
    assert [one.key for one in compared.tables()] == [one.key for one in of_runs.tables()]
    with pytest.raises(ValueError, match="correction"):
        assay.compare_scores(scores, correction="tukey")
    with pytest.raises(ValueError, match="only one run"):
        assay.compare_scores(assay.evaluate(qrels, good))


def test_every_name_of_the_library_is_described() -> None:
    text = (ROOT / "docs" / "reference" / "library.md").read_text(encoding="utf-8")
    assert [name for name in assay.library.__all__ if f"`{name}" not in text] == []
    assert assay.__version__


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_shows_what_its_code_computes(path: Path) -> None:
    names: dict[str, Any] = {}
    for number, cell in enumerate(notebooks.code_cells(path)):
        assert notebooks.shown("".join(cell["source"]), names) == notebooks.stored(cell), (
            f"cell {number}"
        )


def test_there_is_a_notebook() -> None:
    assert NOTEBOOKS

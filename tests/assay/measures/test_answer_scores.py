"""Scores of generated answers against arithmetic by hand and the values of independent programs,
and the readers of their files."""

from __future__ import annotations

import io
import json
import math
from pathlib import Path

import numpy as np
import pytest

import assay
from assay.analyses import score_nuggets as nuggets_analysis
from assay.analyses import score_rubrics as rubrics_analysis
from assay.analyses import score_support as support_analysis
from assay.analyses.shared.answer_results import AnswerOptions, AnswerScores, answer_result
from assay.cli.base import BadInput
from assay.formats.answers import (
    read_answers,
    read_nugget_labels,
    read_nuggets,
    read_rubric_labels,
    read_rubrics,
    read_support_labels,
)
from assay.formats.errors import FormatError
from assay.formats.topic_scores import read_topic_scores
from assay.measures.answer_scores import score_nuggets, score_rubric, score_support
from tests.analysis.commands.called import answer, refused


def test_support_of_an_answer_by_hand() -> None:
    """Sentences: full then none; partial; no citation; not judged; not judged then full."""
    sentences = [["full", "none"], ["partial"], [], [None], [None, "full"]]
    assert score_support(sentences) == {
        "weighted_precision_first": (1 + 0.5) / 2,
        "weighted_recall_first": (1 + 0.5) / (5 - 2),
        "hard_precision_first": 1 / 2,
        "hard_recall_first": 1 / (5 - 2),
        "weighted_precision_all": (0.5 + 0.5 + 1) / 3,
        "weighted_recall_all": (0.5 + 0.5 + 1) / (5 - 1),
        "hard_precision_all": (0.5 + 0 + 1) / 3,
        "hard_recall_all": (0.5 + 0 + 1) / (5 - 1),
    }
    assert set(score_support([]).values()) == {0.0}


def test_nuggets_of_an_answer_by_hand() -> None:
    scores = score_nuggets(
        [True, True, False, False], ["support", "partial_support", None, "support"]
    )
    assert scores == {"strict_vital": 1 / 2, "strict_all": 2 / 4, "vital": 1.5 / 2, "all": 2.5 / 4}


def test_faults_subtract_from_a_rubric_score() -> None:
    assert score_rubric([4, 2, -3], ["met", "partly", "met"]) == {
        "binary": (4 - 3) / 6,
        "ternary": (4 + 1 - 3) / 6,
    }
    assert all(map(math.isnan, score_rubric([-3], ["met"]).values()))


def check(scores: AnswerScores, folder: Path, name: str) -> None:
    expected = json.loads((folder / name).read_text(encoding="utf-8"))
    assert len(expected["per_answer"]) == int(scores.has_answer.sum())
    for row in expected["per_answer"]:
        place = scores.systems.index(row["system"]), scores.topics.index(row["topic"])
        of = row.get("scores", row)
        wanted = [np.nan if of[name] is None else of[name] for name in scores.measures]
        assert scores.values[place] == pytest.approx(wanted, abs=1e-11, nan_ok=True)
    for key, missing in (("mean_over_topics_missing_is_0", "zero"), ("mean_over_answers", "skip")):
        result = answer_result(scores, AnswerOptions(missing_topics=missing))
        for system, of in expected["per_system"].items():
            assert result["systems"][system] == pytest.approx(of.get(key, of), abs=1e-11)


@pytest.mark.data
def test_support_is_that_of_the_reference(data_folder: Path) -> None:
    folder = data_folder / "answers-reference" / "support"
    answers = read_answers(folder / "answers.jsonl")
    labels = read_support_labels(folder / "labels.tsv")
    check(support_analysis.compute(answers, labels), folder, "expected.json")


@pytest.mark.data
def test_nuggets_are_those_of_the_reference(data_folder: Path) -> None:
    folder = data_folder / "answers-reference" / "nuggets"
    nuggets = read_nuggets(data_folder / "rag25" / "nuggets.jsonl")
    labels = read_nugget_labels(folder / "nugget-assignments.tsv")
    check(nuggets_analysis.compute(nuggets, labels), folder, "nuggets.expected.json")
    corners = json.loads((folder / "nugget-corners.expected.json").read_text(encoding="utf-8"))
    for corner in corners.values():
        vital = [one["importance"] == "vital" for one in corner["nuggets"]]
        given = [one["assignment"] for one in corner["nuggets"]]
        assert score_nuggets(vital, given) == pytest.approx(corner["scores"], abs=1e-11)


@pytest.mark.data
def test_rubrics_are_those_of_the_reference(data_folder: Path) -> None:
    folder = data_folder / "answers-reference" / "nuggets"
    rubrics = read_rubrics(data_folder / "rag25" / "rubrics.jsonl")
    labels = read_rubric_labels(folder / "rubric-verdicts.tsv")
    check(rubrics_analysis.compute(rubrics, labels), folder, "rubrics.expected.json")
    expected = json.loads((folder / "rubrics.expected.json").read_text(encoding="utf-8"))
    for corner in expected["corners"].values():
        weights = [one["weight"] for one in corner["criteria"]]
        scores = score_rubric(weights, [one["verdict"] for one in corner["criteria"]])
        wanted = {key: corner[key] if corner[key] is not None else math.nan for key in scores}
        assert scores == pytest.approx(wanted, abs=1e-11, nan_ok=True)


@pytest.mark.data
def test_answers_of_both_tracks_are_read(data_folder: Path) -> None:
    folder = data_folder / "answers-spot-check"
    (one,) = read_answers(folder / "my_best_run_01.jsonl")
    assert (one.run, one.topic, one.sentences[0].citations) == ("my_best_run_01", "28", ("224",))
    assert len(read_nuggets(data_folder / "rag25" / "nuggets.jsonl")) == 11
    criteria = read_rubrics(data_folder / "rag25" / "rubrics.jsonl").values()
    assert sum(map(len, criteria)) == 364


def line(topic: str = "1", sentences: list | None = None, references=("d1", "d2"), **about) -> str:
    answer = sentences if sentences is not None else [{"text": "a b", "citations": [0, 1]}]
    metadata = {"run_id": "r", "narrative_id": topic} | about
    return json.dumps({"metadata": metadata, "references": list(references), "answer": answer})


def read(*lines: str, **options):
    return read_answers(io.BytesIO("\n".join(lines).encode()), name="answers.jsonl", **options)


def test_positions_and_ids_of_references_are_citations() -> None:
    sentences = [{"text": "a", "citations": [1]}, {"text": "b", "citations": ["d1"]}, {"text": "c"}]
    (one,) = read(line(sentences=sentences))
    assert [sentence.citations for sentence in one.sentences] == [("d2",), ("d1",), ()]


def test_every_violation_of_a_file_is_listed_by_line() -> None:
    many = {"text": "a", "citations": [0, 1, 2, 3]}
    with pytest.raises(FormatError) as error:
        read(
            line(),
            line(),
            line("2", [{"text": "a", "citations": [2]}, {"text": "b", "citations": ["d9"]}]),
            line("3", [{"text": "word " * 1025, "citations": [0, 0]}]),
            line("4", [many], references=("d1", "d2", "d3", "d4")),
            "{}",
            line("5", [{"text": 5}]),
        )
    assert error.value.lines() == [
        "answers.jsonl:2: a second answer of r to 1, expected one answer of each run to a topic "
        "(first in line 1)",
        "answers.jsonl:3: sentence 1 of r, 2 cites reference 2, expected one of the references, or "
        "its position from 0 to 1",
        "answers.jsonl:3: sentence 2 of r, 2 cites d9, expected one of the references, or its "
        "position from 0 to 1",
        "answers.jsonl:4: sentence 1 of r, 3 cites d1 twice, expected each document once",
        "answers.jsonl:4: 1,025 words in r, 3, expected at most 1,024",
        "answers.jsonl:5: sentence 1 of r, 4 has 4 citations, expected at most 3",
        *(text for text in error.value.lines() if "no answer" in text),
    ]
    assert sum("no answer" in text for text in error.value.lines()) == 2


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "the file is empty"),
        ("topic,system,nugget\n1,x,0\n", "no column assignment"),
        ("topic,system,nugget,assignment\n", "no rows"),
        ("topic,system,nugget,assignment\n1,x,-1,support\n", "'-1' is not a position"),
        ("topic,system,nugget,assignment\n1,x,0,yes\n", "unknown assignment 'yes'"),
        ("topic,system,nugget,assignment\n1,x,0\n", "3 columns"),
        ("topic,system,nugget,assignment\n1,x,0,support\n1,x,0,support\n", "a second assignment"),
    ],
)
def test_wrong_labels_are_refused_by_line(text: str, problem: str) -> None:
    with pytest.raises(FormatError, match=problem):
        read_nugget_labels(io.BytesIO(text.encode()), name="labels.csv")


@pytest.mark.parametrize(
    ("reader", "text"),
    [
        (read_nuggets, '{"qid": "1", "nuggets": [{"text": "a", "importance": "high"}]}'),
        (read_nuggets, '{"qid": "1", "rubrics": []}'),
        (read_rubrics, '{"qid": "1", "rubrics": [{"criterion": "a", "weight": "4"}]}'),
        (read_rubrics, '{"qid": "1", "rubrics": []}\n{"qid": "1", "rubrics": []}'),
        (read_rubrics, ""),
    ],
)
def test_wrong_lists_are_refused(reader, text: str) -> None:
    with pytest.raises(FormatError):
        reader(io.BytesIO(text.encode()), name="lists.jsonl")


def test_a_label_of_an_item_that_does_not_exist_is_refused() -> None:
    answers = read(line())
    header = "topic,system,sentence,citation,label\n"
    labels = read_support_labels(io.BytesIO((header + "1,r,0,2,full\n").encode()), name="l")
    with pytest.raises(BadInput, match="no citation 2 in sentence 0"):
        support_analysis.compute(answers, labels)
    nuggets = read_nuggets(
        io.BytesIO(b'{"qid": "1", "nuggets": [{"text": "a", "importance": "vital"}]}'), name="n"
    )
    given = b"topic,system,nugget,assignment\n1,r,1,support\n"
    with pytest.raises(BadInput, match="has 1 nugget, counted from 0"):
        nuggets_analysis.compute(nuggets, read_nugget_labels(io.BytesIO(given), name="l"))


def test_scores_by_topic_are_compared_between_systems(tmp_path: Path) -> None:
    lists, labels, scores = (tmp_path / name for name in ("n.jsonl", "l.tsv", "scores.txt"))
    lists.write_text(
        "\n".join(
            json.dumps({"qid": str(t), "nuggets": [{"text": "a", "importance": "vital"}] * 4})
            for t in range(8)
        ),
        encoding="utf-8",
    )
    rows = ["topic\tsystem\tnugget\tassignment"]
    for t in range(8):
        for n in range(4):
            rows += [f"{t}\tx\t{n}\t{'support' if n + t % 2 < 3 else 'not_support'}"]
            if t < 7:
                rows += [f"{t}\ty\t{n}\t{'support' if n < 1 + t % 2 else 'partial_support'}"]
    labels.write_text("\n".join(rows), encoding="utf-8")
    by_command, _ = answer("score_nuggets", lists, labels, "--scores", scores)
    assert by_command["systems"]["x"]["vital"] == pytest.approx((4 * 3 / 4 + 4 * 2 / 4) / 8)
    assert by_command["answers"] == {"x": 8, "y": 7}
    table = read_topic_scores(scores)
    assert table.values[table.tags.index("y"), 7].tolist() == [0, 0, 0, 0]
    compared, _ = answer("compare_systems", "--scores", scores)
    (pair,) = compared["vital"]["pairs"]
    means = by_command["systems"]
    assert pair["difference"] == pytest.approx(means["y"]["vital"] - means["x"]["vital"])
    assert compared["vital"]["topics"] == 8
    assert "replaces QRELS and RUN" in refused("compare_systems", lists, "--scores", scores)
    of_function = assay.score_nuggets(str(lists), str(labels), per_topic=True)
    assert of_function["systems"] == by_command["systems"]
    assert of_function["per_topic"]["y"]["vital"]["7"] == 0


def test_a_topic_with_an_undefined_score_is_left_out_for_all_systems(tmp_path: Path) -> None:
    """Topic 1 has only a negative weight, and y answers only topic 2."""
    lists, labels, scores = (tmp_path / name for name in ("r.jsonl", "l.tsv", "scores.txt"))
    weights = {"1": -1, "2": 2, "3": 4, "4": 1}
    lists.write_text(
        "\n".join(
            json.dumps({"qid": topic, "rubrics": [{"criterion": "a", "weight": weight}]})
            for topic, weight in weights.items()
        ),
        encoding="utf-8",
    )
    rows = ["topic\tsystem\tcriterion\tverdict", *(f"{t}\tx\t0\tmet" for t in weights)]
    labels.write_text("\n".join([*rows, "2\ty\t0\tmet"]), encoding="utf-8")
    by_command, _ = answer("score_rubrics", lists, labels, "--scores", scores)
    assert by_command["systems"]["x"]["binary"] == 1
    assert by_command["systems"]["y"]["binary"] == pytest.approx(1 / 3)
    assert "y binary 1 nan\n" in scores.read_text()
    assert "y binary 3 0.0\n" in scores.read_text()
    compared, _ = answer("compare_systems", "--scores", scores)
    assert compared["binary"]["topics"] == 3
    assert compared["binary"]["means"] == pytest.approx({"x": 1, "y": 1 / 3})
    assert assay.compare_scores(scores)["binary"] == compared["binary"]

"""Scores by run, measure and topic."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

import assay
from assay.formats.errors import FormatError
from assay.formats.topic_scores import read_topic_scores

BOARD = """# made by hand
r1 nuggets 28 1
r2  nuggets  28  0.5

r1 nuggets 29 0
r1 support 28 .25
r1 nuggets all 99
"""


def test_scores_are_read_by_topic_and_missing_ones_are_undefined(tmp_path: Path) -> None:
    (tmp_path / "board.txt").write_text(BOARD)
    scores = assay.read_scores(tmp_path / "board.txt")
    assert (scores.tags, scores.topics, scores.measures) == (
        ["r1", "r2"],
        ["28", "29"],
        ["nuggets", "support"],
    )
    np.testing.assert_array_equal(
        scores.values, [[[1, 0.25], [0, np.nan]], [[0.5, np.nan], [np.nan, np.nan]]]
    )
    assert scores["r1", "nuggets"] == 0.5
    assert scores["r2", "nuggets"] == 0.5


def test_what_is_written_has_means_and_marks_undefined_values(tmp_path: Path) -> None:
    (tmp_path / "board.txt").write_text(BOARD)
    scores = assay.read_scores(tmp_path / "board.txt")
    assay.write_scores(scores, tmp_path / "again.txt")
    assert (tmp_path / "again.txt").read_text() == (
        "r1 nuggets 28 1.0\nr1 nuggets 29 0.0\nr1 nuggets all 0.5\n"
        "r1 support 28 0.25\nr1 support 29 nan\nr1 support all 0.25\n"
        "r2 nuggets 28 0.5\nr2 nuggets 29 nan\nr2 nuggets all 0.5\n"
        "r2 support 28 nan\nr2 support 29 nan\n"
    )
    again = assay.read_scores(tmp_path / "again.txt")
    np.testing.assert_array_equal(again.values, scores.values)


def test_an_undefined_score_is_not_a_missing_row() -> None:
    table = read_topic_scores(io.BytesIO(b"r1 a 1 nan\nr1 a 2 1\nr2 a 2 0\n"), name="board.txt")
    assert table.has_row[:, :, 0].tolist() == [[True, True], [False, True]]
    assert np.isnan(table.values[:, 0, 0]).all()


def test_a_name_with_white_space_cannot_be_written(tmp_path: Path) -> None:
    scores = assay.Scores(["a run"], ["1"], ["AP"], np.ones((1, 1, 1)))
    with pytest.raises(ValueError, match="'a run' contains white space"):
        assay.write_scores(scores, tmp_path / "board.txt")
    assert not (tmp_path / "board.txt").exists()


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("r nuggets 28\n", 1, "3 columns"),
        ("r nuggets 28 inf\n", 1, "'inf' is not a finite number"),
        ("r nuggets 28 high\n", 1, "'high' is not a finite number"),
        ("r nuggets 28 1_0\n", 1, "'1_0' is not a finite number"),
        ("r n 28 1\nr n 28 1\n", 2, "duplicate n of r for topic 28 (first in line 1)"),
        ("r n all 1\n", None, "no values by topic"),
    ],
)
def test_each_mistake_is_refused_with_its_line(text: str, line: int | None, problem: str) -> None:
    with pytest.raises(FormatError) as error:
        read_topic_scores(io.BytesIO(text.encode()), name="board.txt")
    assert [(p.line, p.problem) for p in error.value.problems] == [(line, problem)]

from __future__ import annotations

import io
import math
import random

import pytest

from assay.formats.errors import FormatError
from assay.formats.leaderboards import ORDER_COLUMNS, SUBMISSION_COLUMNS, read_leaderboard


def board(text: str, **how):
    return read_leaderboard(io.BytesIO(text.encode()), **how)


def test_columns_are_found_by_their_header_in_any_order_and_others_are_left_alone():
    (row,) = board('paper,MRR@100 (Eval),Team,date,id\n"http://x,y",0.5,"A, B",2021/01/02,r1\n')
    assert (row.tag, row.date, row.group, row.numbers["score"]) == ("r1", "2021-01-02", "A, B", 0.5)
    assert math.isnan(row.numbers["private_score"])


def test_a_score_column_can_be_named():
    text = "tag\tdate\tscore\tMRR@100 (Dev)\nr\t2021-01-02\t0.5\t0.7\n"
    assert board(text, score_column="MRR@100 (Dev)")[0].numbers["score"] == 0.7
    with pytest.raises(FormatError, match="no column nDCG"):
        board(text, score_column="nDCG")


def test_without_a_header_the_order_is_that_of_the_contract():
    (row,) = board("r 2021-01-02 team 1 words\n", columns=ORDER_COLUMNS)
    assert (row.tag, row.group, row.is_baseline, row.description) == ("r", "team", True, "words")
    (row,) = board("r\t2021-01-02\ta team\t0.5\t0.4\n", columns=SUBMISSION_COLUMNS)
    assert (row.group, row.numbers["score"], row.numbers["private_score"]) == ("a team", 0.5, 0.4)


def test_a_column_without_a_name_marks_baselines_by_a_building_and_nothing_else():
    rows = board(
        ",tag,date,score\n\U0001f3db,a,2021-01-01,0.5\n\U0001f3db\ufe0f,b,2021-01-01,0.4\n\U0001f3c6,c,2021-01-02,0.6\n1,d,2021-01-03,0.1\n"
    )
    assert [row.is_baseline for row in rows] == [
        True,
        True,
        False,
        False,
    ]  # pandas writes row numbers into such a column


def test_a_row_without_a_tag_is_called_as_its_description():
    assert board("id,description,date,score\n,BM25,2021-01-01,0.5\n")[0].tag == "BM25"


def test_a_quoted_cell_may_hold_a_line_break_and_line_numbers_stay_right():
    with pytest.raises(FormatError) as caught:
        board('tag,date,score,note\na,2021-01-01,0.5,"two\nlines"\nb,2021-01-01,much,x\n')
    assert caught.value.problems[0].line == 4


def test_every_mistake_is_listed():
    with pytest.raises(FormatError) as caught:
        board(
            "tag,date,score,baseline\n,2021-01-01,0.5,0\na,,0.5,0\nb,2021-01-01,inf,0\nc,2021-01-01,0.5,perhaps\nd,2021-01-01,,0\n",
            required=("tag", "date", "score"),
        )
    assert [problem.line for problem in caught.value.problems] == [2, 3, 4, 5, 6]


@pytest.mark.parametrize("text", ["", "\n\n", "tag,date,score\n", "only,words\n"])
def test_a_file_without_runs_is_refused(text):
    with pytest.raises(FormatError):
        board(text)


def test_whatever_the_bytes_only_the_format_error_is_raised():
    rng = random.Random(0)
    alphabet = [
        b"tag",
        b"date",
        b"score",
        b"group",
        b",",
        b"\t",
        b" ",
        b'"',
        b"\n",
        b"2021-01-01",
        b"0.5",
        b"nan",
        b"\xff",
        b"\r",
        b"1e999",
        b"a",
    ]
    for _ in range(5000):
        data = b"".join(rng.choices(alphabet, k=rng.randint(0, 40)))
        try:
            rows = read_leaderboard(io.BytesIO(data))
        except FormatError:
            continue
        assert rows

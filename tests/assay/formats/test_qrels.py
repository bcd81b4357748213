"""Qrels: both forms, what is refused, byte-stable writing."""

from __future__ import annotations

import io

import pytest

from assay.column_types import QrelsColumns
from assay.formats.errors import FormatError
from assay.formats.qrels import load_qrels, make_qrels, read_qrels, save_qrels, write_qrels
from assay.formats.storage import load_columns


class Named(io.BytesIO):
    name = "some/folder/a.qrels.txt.gz"


def given(text: str, **options) -> QrelsColumns:
    return read_qrels(Named(text.encode()), **options)


def grades(qrels: QrelsColumns) -> dict[str, dict[str, int]]:
    return {
        topic: dict(
            zip(
                [d.decode() for d in qrels.documents[qrels.rows(i)].tolist()],
                qrels.grades[qrels.rows(i)].tolist(),
                strict=True,
            )
        )
        for i, topic in enumerate(qrels.topics)
    }


def problems(text: str, **options) -> list[tuple[int | None, str]]:
    with pytest.raises(FormatError) as error:
        given(text, **options)
    return [(p.line, p.problem) for p in error.value.problems]


def test_trec_qrels_are_read_whatever_the_second_column_and_the_white_space():
    qrels = given("2 0 b 1\n1 Q0 d\t-1\n2\tE2  a 0\n# a comment 1 2\n  # another\n\n1 0 c 3\r\n")
    assert grades(qrels) == {"2": {"a": 0, "b": 1}, "1": {"c": 3, "d": -1}}
    assert qrels.name == "a"
    assert given("1 0 d 1\n", name="mine").name == "mine"


def test_beir_qrels_are_told_by_their_header():
    assert grades(given("# from BEIR\nquery-id\tcorpus-id\tscore\n1\td\t2\n1\tc\t0\n")) == {
        "1": {"c": 0, "d": 2}
    }
    assert problems("query-id\tcorpus-id\tscore\n1\td\n1\td\tx\n") == [
        (2, "2 columns"),
        (3, "'x' is not a grade"),
    ]


def test_a_grade_written_as_a_decimal_is_read_as_the_whole_number_and_noted():
    """As pandas writes a column in which one label is missing."""
    qrels = given(
        "1 0 a 2.0\n1 0 b 0.0\n1 0 c -1.0\n1 0 d 1\n2 0 a 3.00\n2 0 b +1.0\n2 0 c 10.0\n2 0 d 10\n"
    )
    assert grades(qrels) == {
        "1": {"a": 2, "b": 0, "c": -1, "d": 1},
        "2": {"a": 3, "b": 1, "c": 10, "d": 10},
    }
    assert qrels.notes == [
        "grades written as decimals, such as 2.0, were read as whole numbers in 6 lines"
    ]
    assert not qrels.warnings


def test_a_fraction_is_refused_with_the_reason():
    with pytest.raises(FormatError) as error:
        read_qrels(io.BytesIO(b"1 0 a 2\n1 0 b 0.5\n"))
    assert error.value.lines() == [
        "upload:2: '0.5' is not a grade, expected a whole number; grades are not rounded: choose a "
        "grade of your scale for each fraction: 1 0 b 0.5"
    ]


def test_many_grades_written_as_decimals_are_read_as_they_are_without():
    text = "".join(f"{t} 0 d{d} {(t + d) % 5 - 1}\n" for t in range(50) for d in range(400))
    assert grades(given(text.replace("\n", ".0\n"))) == grades(given(text))


def test_the_same_pair_as_a_decimal_and_as_a_whole_number_is_one_grade():
    assert grades(given("1 0 a 2\n1 0 a 2.0\n")) == {"1": {"a": 2}}
    assert problems("1 0 a 2\n1 0 a 1.0\n") == [
        (2, "document a of topic 1 has grade 1 here and 2 in line 1")
    ]


def test_comment_lines_are_counted_in_a_note():
    assert given("# one\n\n1 0 a 1\n #two\n# three\n").notes == [
        "3 comment lines (beginning with #) were skipped"
    ]
    assert given("1 0 a 1\n").notes == []


def test_the_mark_of_a_sample_is_no_skipped_comment():
    qrels = given("# SAMPLED: pairs were drawn\n# mine\n1 0 a 1\n")
    assert qrels.warnings
    assert qrels.notes == ["1 comment line (beginning with #) was skipped"]


FRACTIONS = [
    "1.5",
    "2.01",
    "1e3",
    "1e0",
    ".",
    "-.",
    "0x2.0",
    "99999999999.0",
    "x.0",
    "1_0.0",
    "2.000",
    "2,0",
]


@pytest.mark.parametrize("grade", [*FRACTIONS, "x", "1_0", "", "99999999999", "nan", "١", "--1"])
def test_a_grade_that_is_no_whole_number_is_refused(grade):
    assert problems(f"1 0 a 1\n1 0 d {grade}\n")[0][0] == 2


@pytest.mark.parametrize("line", ["1 0 d", "1 0 d 1 more", "1"])
def test_another_number_of_columns_is_refused(line):
    assert problems(f"1 0 a 1\n{line}\n") == [
        (2, f"{len(line.split())} column{'s' if len(line.split()) > 1 else ''}")
    ]


def test_lenient_reading_ignores_further_columns():
    assert grades(given("1 0 a 1 0.5 more\n", lenient=True)) == {"1": {"a": 1}}


def test_a_run_that_is_read_leniently_as_qrels_is_warned_about():
    """Its ranks would be grades, and the deepest documents the best."""
    assert (
        "the rank in a run, was read as the grade"
        in given("1 Q0 a 1 2.5 t\n1 Q0 b 2 1.5 t\n", lenient=True).warnings[0]
    )
    assert not given("1 0 a 1 x\n", lenient=True).warnings


def test_a_pair_twice_with_one_grade_is_warned_about_and_kept_once():
    qrels = given("1 0 a 1\n1 0 b 0\n1 0 a 1\n")
    assert grades(qrels) == {"1": {"a": 1, "b": 0}}
    assert len(qrels) == 2
    assert qrels.warnings == ["1 pair appears more than once with the same grade"]


LONE = "If this is a typing error, ERR and nDCG are wrong"


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        (
            "1 0 a 1\n2 0 b 1000\n1 0 c 0\n",
            f"line 2: only document b of topic 2 has grade 1000; every other grade is at most 1. {LONE}",
        ),
        (
            "1 0 a 0\n1 0 a 0\n2 0 c 1\n1 0 b 3\n",
            f"line 4: only document b of topic 1 has grade 3; every other grade is at most 1. {LONE}",
        ),
        (
            "1 0 a 2\n1 0 b -1\n",
            f"line 1: only document a of topic 1 has grade 2; every other grade is at most -1. {LONE}",
        ),
    ],
)
def test_a_grade_far_above_all_others_that_one_pair_has_is_warned_about_with_its_line(
    text, warning
):
    assert given(text).warnings[-1] == warning


@pytest.mark.parametrize(
    "text",
    [
        "1 0 a 9\n",
        "1 0 a 1\n1 0 b -1\n",
        "1 0 a 3\n1 0 b 2\n1 0 c 0\n",
        "1 0 a 3\n2 0 a 3\n1 0 c 0\n",
    ],
)
def test_a_grade_next_to_another_or_that_two_pairs_have_is_not_warned_about(text):
    assert given(text).warnings == []


def test_a_pair_twice_with_two_grades_is_refused_with_both_lines():
    assert problems("1 0 a 1\n# note\n2 0 a 0\n1 0 a 2\n") == [
        (4, "document a of topic 1 has grade 2 here and 1 in line 1")
    ]


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n", "query-id\tcorpus-id\tscore\n"])
def test_qrels_without_a_grade_are_refused(text):
    assert problems(text) == [(None, "no lines with grades")]


def test_written_qrels_are_sorted_by_bytes_and_do_not_depend_on_the_order_of_the_file():
    lines = ["10 0 b 1\n", "9 0 b 0\n", "10 0 B 2\n", "10 0 a10 -1\n", "10 0 a9 0\n", "1é 0 é 1\n"]
    expected = "10 0 B 2\n10 0 a10 -1\n10 0 a9 0\n10 0 b 1\n1é 0 é 1\n9 0 b 0\n"
    for order in (lines, lines[::-1], [*lines[3:], *lines[:3]]):
        out = io.StringIO()
        write_qrels(given("".join(order)), out)
        assert out.getvalue() == expected
    out = io.StringIO()
    write_qrels(given(lines[0]), out, second="Q0")
    assert out.getvalue() == "10 Q0 b 1\n"


def test_ids_with_white_space_are_never_written_as_trec_qrels():
    with pytest.raises(ValueError, match="white space"):
        write_qrels(make_qrels("x", [("a query", "d", 1)]), io.StringIO())
    with pytest.raises(ValueError, match="white space"):
        write_qrels(make_qrels("x", [("q", "d\n2 0 d 1", 1)]), io.StringIO())


def test_stored_qrels_come_back_whole(tmp_path):
    qrels = given("2 0 b 1\n1 0 a-longer-document-id -1\n1 0 a 2\n")
    digest = save_qrels(qrels, tmp_path / "q.npz")
    back = load_qrels(tmp_path / "q.npz")
    assert grades(back) == grades(qrels)
    assert back.name == "a"
    assert save_qrels(back, tmp_path / "r.npz") == digest
    with pytest.raises(FormatError, match="a stored qrels, expected a stored run"):
        load_columns(tmp_path / "q.npz", kind="run", names=("offsets",))


def test_rows_in_memory_become_the_qrels_that_the_file_would_give():
    rows = [("2", "b", 1), ("1", "z", 0), ("2", "a", 2)]
    assert grades(make_qrels("x", rows)) == grades(
        given("".join(f"{t} 0 {d} {g}\n" for t, d, g in rows))
    )
    assert list(grades(make_qrels("x", rows))["2"]) == ["a", "b"]
    assert len(make_qrels("x", [])) == 0
    with pytest.raises(ValueError, match="more than once"):
        make_qrels("x", [("1", "a", 1), ("1", "a", 1)])

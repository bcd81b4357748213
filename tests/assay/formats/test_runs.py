"""Runs: what is read, in which order, what is refused, what is warned about."""

from __future__ import annotations

import io

import numpy as np
import pytest

from assay.column_types import RunColumns
from assay.formats.errors import FormatError
from assay.formats.runs import load_run, make_run, read_run, save_run, write_run

GOOD = "1 Q0 d1 1 3.5 me\n1 Q0 d2 2 2.5 me\n2 Q0 d1 1 9 me\n"


def given(text: str | bytes, name: str = "a.run", **options) -> RunColumns:
    return read_run(
        io.BytesIO(text if isinstance(text, bytes) else text.encode()), name=name, **options
    )


def rankings(run: RunColumns) -> dict[str, list[tuple[str, float]]]:
    return {
        topic: [
            (d.decode(), s)
            for d, s in zip(
                run.documents[run.rows(i)].tolist(), run.scores[run.rows(i)].tolist(), strict=True
            )
        ]
        for i, topic in enumerate(run.topics)
    }


def problems(text: str | bytes, **options) -> list[tuple[int | None, str]]:
    with pytest.raises(FormatError) as error:
        given(text, **options)
    assert error.value.file == "a.run"
    return [(p.line, p.problem) for p in error.value.problems]


def test_a_run_is_read_by_topic_in_order_of_first_appearance():
    run = given(GOOD)
    assert run.tag == "me"
    assert rankings(run) == {"1": [("d1", 3.5), ("d2", 2.5)], "2": [("d1", 9.0)]}
    assert run.offsets.tolist() == [0, 2, 3]
    assert run.ranks.tolist() == [1, 2, 1]
    assert run.warnings == []


def test_topic_ids_stay_text():
    assert given("051 Q0 d 1 1 t\n51 Q0 d 1 1 t\n").topics == ["051", "51"]


def test_equal_scores_are_ordered_by_document_id_descending_as_bytes():
    run = given("1 Q0 d9 1 2 t\n1 Q0 d10 2 2 t\n1 Q0 D9 3 2 t\n1 Q0 é 4 2 t\n1 Q0 z 5 2 t\n")
    assert [d for d, _ in rankings(run)["1"]] == ["é", "z", "d9", "d10", "D9"]


def test_long_ids_that_differ_only_at_their_end_are_told_apart_and_ordered():
    ids = [f"clueweb09-en0000-00-{k:05d}" for k in range(5)]
    run = given("".join(f"1 Q0 {d} 1 7 t\n" for d in ids))
    assert [d for d, _ in rankings(run)["1"]] == ids[::-1]


def test_interleaved_topics_are_brought_together():
    run = given("b Q0 x 1 1 t\na Q0 x 1 1 t\nb Q0 y 2 0.5 t\na Q0 y 2 2 t\n")
    assert rankings(run) == {"b": [("x", 1.0), ("y", 0.5)], "a": [("y", 2.0), ("x", 1.0)]}


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("separator", [" ", "\t", "  ", " \t "])
def test_any_white_space_and_line_end_is_read_alike(separator, line_end):
    text = GOOD.replace(" ", separator).replace("\n", line_end)
    assert rankings(given(text)) == rankings(given(GOOD))
    assert rankings(given(text.removesuffix(line_end))) == rankings(given(GOOD))
    assert rankings(given("  " + text.replace(line_end, "  " + line_end))) == rankings(given(GOOD))


def test_a_byte_order_mark_is_not_part_of_the_first_topic():
    assert given(b"\xef\xbb\xbf" + GOOD.encode()).topics == ["1", "2"]


def test_blank_lines_are_skipped_and_counted():
    run = given("\n" + GOOD + "\n   \n")
    assert len(run) == 3
    assert run.warnings == ["3 blank lines were skipped"]


@pytest.mark.parametrize(
    "score",
    [
        "1",
        "-1",
        "+1",
        "0",
        "-0.0",
        "1.",
        ".5",
        "-.5",
        "1e3",
        "1E-3",
        "1.5e+10",
        "12345678.12345678",
        "0.1",
        "0.3333333333333333",
        "123456789012345678901234567890",
        "9007199254740993",
        "9007199254740992.5",
        "18446744073709551615",
        "2.2250738585072014e-308",
        "4.9e-324",
        "1.7976931348623157e308",
        "0.000000000000000000000001",
        "00000000000000000000000000001.5",
        "5e-400",
        "1234567.12345678901",
        "0.30000000000000004",
        "179.99999999999999",
        "8.41025641025641",
        "99999999999999999999.9",
        "0.9007199254740993",
    ],
)
def test_scores_are_read_exactly_as_float_does(score):
    assert given(f"1 Q0 d 1 {score} t\n").scores[0] == float(score)


@pytest.mark.parametrize(
    "score",
    [
        "nan",
        "NaN",
        "inf",
        "-inf",
        "infinity",
        "1e999",
        "-1e999",
        "1_000",
        "0x10",
        "abc",
        "1,5",
        "--1",
        "1.2.3",
        ".",
        "-",
        "+",
        "e5",
        "1e",
        "١",
        "1-2",
        "1e5.5",
    ],
)
def test_a_score_that_is_no_finite_decimal_number_is_refused(score):
    (problem,) = problems(f"1 Q0 d1 1 2 t\n1 Q0 d 1 {score} t\n")
    assert problem == (2, f"{score!r} is not a finite number")


def test_the_message_has_file_line_reason_expectation_and_text():
    with pytest.raises(FormatError) as error:
        given("1 Q0 d1 1 2 t\n1 Q0 d2 1 two t\n")
    assert (
        str(error.value)
        == "a.run:2: 'two' is not a finite number, expected a score such as 12.5 or 3e-2: 1 Q0 d2 1 two t"
    )


@pytest.mark.parametrize(
    ("line", "n"),
    [("1 Q0 d 1 2", 5), ("1 Q0 d 1 2 t more", 7), ("1", 1), ("1 Q0 d 1 2 my tag here", 8)],
)
def test_another_number_of_columns_is_refused(line, n):
    assert problems(f"{GOOD}{line}\n") == [(4, f"{n} column{'s' if n > 1 else ''}")]


def test_a_document_twice_for_one_topic_is_refused_with_both_lines_and_its_text():
    with pytest.raises(FormatError) as error:
        given("1 Q0 d1 1 2 t\n2 Q0 d1 1 2 t\n\n1 Q0 d1 9 1 t\n")
    (problem,) = error.value.problems
    assert (problem.line, problem.problem) == (
        4,
        "duplicate document d1 for topic 1 (first in line 1)",
    )


def test_the_line_of_a_double_document_is_shown_where_the_file_can_be_read_again(tmp_path):
    path = tmp_path / "x.run"
    path.write_text("1 Q0 d1 1 2 t\n1 Q0 d1 9 1 t\n")
    with pytest.raises(FormatError) as error:
        read_run(path)
    assert error.value.problems[0].text == "1 Q0 d1 9 1 t"


def test_one_document_for_two_topics_is_no_mistake():
    assert len(given("1 Q0 d1 1 2 t\n2 Q0 d1 1 2 t\n")) == 2


def test_all_mistakes_of_a_file_are_told_at_once_the_first_fifty_and_the_count():
    text = (
        "".join(f"1 Q0 d{k} 1 bad t\n" for k in range(70))
        + "too few\n" * 30
        + "1 Q0 x 1 1 t\n1 Q0 x 2 0 t\n"
    )
    with pytest.raises(FormatError) as error:
        given(text)
    assert error.value.count == 101
    assert len(error.value.problems) == 50
    assert error.value.lines()[-1] == "a.run: 51 more problems, 101 in all"


def test_mistakes_of_different_kinds_come_in_order_of_lines():
    assert problems("1 Q0 a 1 1 t\n1 Q0 a 2 x t\nfew\n1 Q0 b 1 1 t\n1 Q0 b 1 1 t\n") == [
        (2, "'x' is not a finite number"),
        (3, "1 column"),
        (5, "duplicate document b for topic 1 (first in line 4)"),
    ]


@pytest.mark.parametrize("text", ["", "\n", " \n\t\n", "\ufeff"])
def test_an_empty_file_is_refused(text):
    assert problems(text) == [(None, "no lines with results")]


def test_bytes_that_are_not_utf8_are_refused_with_their_line():
    assert problems(b"1 Q0 d 1 1 t\n1 Q0 caf\xe9 1 1 t\n") == [
        (2, "a byte that is not UTF-8 (0xe9)")
    ]


def test_a_nul_byte_is_refused_with_its_line():
    assert problems(b"1 Q0 d 1 1 t\n1 Q0 d\0x 1 1 t\n") == [(2, "a NUL byte")]


def test_ids_beyond_the_bound_are_refused():
    assert problems(f"1 Q0 {'d' * 1025} 1 1 t\n")[0][1].endswith("is too long for a document ID")
    assert len(given(f"{'t' * 1024} Q0 {'d' * 1024} 1 1 t\n")) == 1


def test_several_tags_are_warned_about_and_the_first_names_the_system():
    run = given("1 Q0 a 1 3 NR\n1 Q0 b 2 2 R\n1 Q0 c 3 1 NR\n")
    assert run.tag == "NR"
    assert run.warnings == ["2 tags in one file (NR, R); the first is used as the run tag"]


def test_a_rank_column_that_disagrees_is_counted():
    run = given("1 Q0 a 2 3 t\n1 Q0 b 1 2 t\n1 Q0 c 3 1 t\n2 Q0 a 0 1 t\n2 Q0 b 1 0 t\n")
    assert run.warnings == [
        "the rank column contradicts the order by score in 2 of 5 lines; the scores were used"
    ]
    assert run.notes == []
    assert [d for d, _ in rankings(run)["1"]] == ["a", "b", "c"]


def test_ties_that_the_rank_column_orders_otherwise_are_a_note_and_no_warning():
    """Scores 3 2 2 2 1: by document id d c b, by rank b c d, which puts two of the three
    elsewhere."""
    run = given("1 Q0 a 1 3 t\n1 Q0 b 2 2 t\n1 Q0 c 3 2 t\n1 Q0 d 4 2 t\n1 Q0 e 5 1 t\n")
    assert [d for d, _ in rankings(run)["1"]] == ["a", "d", "c", "b", "e"]
    assert run.warnings == []
    assert run.notes == [
        "ties are ordered by document ID, as in trec_eval: the rank column orders them differently in 2 of 5 lines"
    ]


def test_contradictions_and_ties_of_the_rank_column_are_counted_apart():
    """Topic 1: ties only. Topic 2: the first two ranks are exchanged."""
    run = given("1 Q0 a 1 2 t\n1 Q0 b 2 2 t\n2 Q0 a 2 9 t\n2 Q0 b 1 8 t\n2 Q0 c 3 7 t\n")
    assert run.warnings == [
        "the rank column contradicts the order by score in 2 of 5 lines; the scores were used"
    ]
    assert run.notes == [
        "ties are ordered by document ID, as in trec_eval: the rank column orders them differently in 2 of 5 lines"
    ]


def test_a_rank_between_tied_documents_that_belongs_below_them_contradicts():
    """Neighbouring ranks never fall but within the tie: a 1, b 5, and c, which scores less, 3."""
    run = given("1 Q0 b 1 2 t\n1 Q0 a 5 2 t\n1 Q0 c 3 1 t\n")
    assert run.warnings == [
        "the rank column contradicts the order by score in 2 of 3 lines; the scores were used"
    ]


def test_ties_are_no_news_if_the_rank_column_orders():
    run = given("1 Q0 a 1 2 t\n1 Q0 b 2 2 t\n", order="rank")
    assert [d for d, _ in rankings(run)["1"]] == ["a", "b"]
    assert (run.warnings, run.notes) == ([], [])


IR_METADATA = """# ir_metadata.start
# platform:
#   software:
#     libraries:
#       python: [numpy==2.4.6]
# method:
#   automatic: true
#   score_ties: reverse alphabetical order
# ir_metadata.end
"""


def test_comment_lines_are_skipped_and_counted_in_a_note():
    """trec_eval 10 skips lines whose first character after white space is #."""
    run = given("# a\n" + GOOD + "  # 3 Q0 d1 1 9 me\n#3 Q0 d1 1 9 me\n")
    assert rankings(run) == rankings(given(GOOD))
    assert run.tag == "me"
    assert run.warnings == []
    assert run.notes == ["3 comment lines (beginning with #) were skipped"]


def test_an_ir_metadata_head_is_the_description_of_a_run_and_is_written_on_request(tmp_path):
    run = given("# a\n" + IR_METADATA + GOOD + "# b\n")
    assert run.description == (
        "platform:\n  software:\n    libraries:\n      python: [numpy==2.4.6]\n"
        "method:\n  automatic: true\n  score_ties: reverse alphabetical order"
    )
    assert run.notes == [
        "the ir_metadata head was kept as the description of the run",
        "2 comment lines (beginning with #) were skipped",
    ]
    save_run(run, tmp_path / "run.npz")
    stored = load_run(tmp_path / "run.npz")
    plain, described = io.StringIO(), io.StringIO()
    write_run(stored, plain)
    write_run(stored, described, with_description=True)
    assert described.getvalue() == IR_METADATA + plain.getvalue()


@pytest.mark.parametrize(
    "head",
    [
        "# ir_metadata.start\n# method: x\n",
        "# method: x\n# ir_metadata.end\n",
        "# ir_metadata.start\n# ir_metadata.end\n",
    ],
)
def test_an_incomplete_or_empty_ir_metadata_head_is_comments(head):
    run = given(head + GOOD)
    assert (run.description, run.warnings) == ("", [])
    assert run.notes == ["2 comment lines (beginning with #) were skipped"]


def test_an_ir_metadata_head_may_have_other_line_ends_and_signs_without_space():
    run = given("#ir_metadata.start\r\n#tag: é\r\n#\r\n# x: 1\r\n#ir_metadata.end\r\n" + GOOD)
    assert run.description == "tag: é\n\nx: 1"
    assert not run.notes[1:]


def test_an_id_with_a_number_sign_inside_is_no_comment():
    run = given("1 Q0 https://example.org/a#b 1 2 t\n1#2 Q0 #d 1 2 t#1\n")
    assert rankings(run) == {"1": [("https://example.org/a#b", 2.0)], "1#2": [("#d", 2.0)]}
    assert run.notes == []


def test_line_numbers_count_comment_lines():
    assert problems("# a\n\n1 Q0 d 1 1 t\n# b\n1 Q0 e 1 x t\n") == [
        (5, "'x' is not a finite number")
    ]


@pytest.mark.parametrize("begin", ["", "# a\n", "\n# a\n \n"])
def test_the_form_of_a_lenient_run_is_told_by_its_first_line_that_is_no_comment(begin):
    assert rankings(given(begin + "7 a 1\n7 b 2\n", lenient=True)) == {
        "7": [("a", -1.0), ("b", -2.0)]
    }
    assert rankings(
        given(begin + "topic Q0 docid rank score tag\n" + GOOD, lenient=True)
    ) == rankings(given(GOOD))


def test_a_run_of_comment_lines_alone_is_refused():
    assert problems(IR_METADATA) == [(None, "no lines with results")]


def test_notes_are_stored_with_a_run(tmp_path):
    run = given("# a\n" + GOOD)
    save_run(run, tmp_path / "run.npz")
    assert load_run(tmp_path / "run.npz").notes == run.notes != []


def test_constant_ranks_say_nothing_and_are_not_warned_about():
    assert given("1 Q0 a 0 3 t\n1 Q0 b 0 2 t\n").warnings == []


def test_the_rank_column_orders_on_request():
    run = given("1 Q0 a 2 3 t\n1 Q0 b 1 2 t\n1 Q0 c 3 1 t\n", order="rank")
    assert [d for d, _ in rankings(run)["1"]] == ["b", "a", "c"]
    assert run.warnings == [
        "the rank column contradicts the order by score in 2 of 3 lines; the ranks were used"
    ]


def test_ranks_that_are_no_numbers_are_counted_and_refused_only_where_they_order():
    text = "1 Q0 a first 3 t\n1 Q0 b 1.0 2 t\n"
    run = given(text)
    assert run.ranks.tolist() == [-1, -1]
    assert run.warnings == ["the rank is not a whole number in 2 lines"]
    assert problems(text, order="rank") == [
        (1, "'first' is not a rank"),
        (2, "'1.0' is not a rank"),
    ]


SINGLE = "1 Q0 a 1 0.100000001 t\n1 Q0 b 2 0.1 t\n"


def test_scores_equal_only_in_single_precision_are_counted():
    assert np.float32(0.100000001) == np.float32(0.1)
    run = given(SINGLE)
    assert [d for d, _ in rankings(run)["1"]] == ["a", "b"]
    assert run.warnings == [
        "1 neighbouring scores are equal only in single precision (float32); treated as different"
    ]


def test_scores_can_be_compared_in_single_precision_as_pytrec_eval_does():
    run = given(SINGLE, scores="float32")
    assert rankings(run)["1"] == [("b", float(np.float32(0.1))), ("a", float(np.float32(0.1)))]
    assert (
        run.warnings[0]
        == "1 neighbouring scores are equal only in single precision (float32); treated as equal"
    )


def test_a_score_beyond_single_precision_is_no_crash_in_either_mode():
    assert len(given("1 Q0 a 1 1e300 t\n1 Q0 b 1 1e200 t\n")) == 2
    assert [
        d for d, _ in rankings(given("1 Q0 a 1 1e300 t\n1 Q0 b 1 1e200 t\n", scores="float32"))["1"]
    ] == ["b", "a"]


def test_lenient_reading_ignores_columns_beyond_the_sixth():
    run = given("1 Q0 a 1 3 t more junk\n1 Q0 b 2 2 t\n", lenient=True)
    assert rankings(run) == {"1": [("a", 3.0), ("b", 2.0)]}
    assert problems("1 Q0 a 1 3 t more\n1 Q0 b 2\n", lenient=True) == [(2, "4 columns")]


def test_lenient_reading_takes_three_columns_as_topic_document_rank():
    run = given("7 a 2\n7 b 1\n8 c 1\n", name="my run.tsv.gz", lenient=True)
    assert rankings(run) == {"7": [("b", -1.0), ("a", -2.0)], "8": [("c", -1.0)]}
    assert run.tag == "my_run"
    assert problems("7 a 1\n7 b x\n7 c\n", lenient=True) == [
        (2, "'x' is not a rank"),
        (3, "2 columns"),
    ]


def test_three_columns_are_refused_unless_lenient():
    assert problems("7 a 1\n") == [(1, "3 columns")]


def test_lenient_reading_skips_a_header_line_and_says_so():
    run = given("topic Q0 docid rank score tag\n" + GOOD, lenient=True)
    assert len(run) == 3
    assert run.warnings == ["the first line is a header and was skipped"]
    assert problems("topic Q0 docid rank score tag\n" + GOOD) == [
        (1, "'score' is not a finite number")
    ]


def test_line_numbers_count_a_skipped_header_and_blank_lines():
    text = "\ntopic Q0 docid rank score tag\n\n1 Q0 a 1 1 t\n1 Q0 b 1 x t\n"
    assert problems(text, lenient=True) == [(5, "'x' is not a finite number")]


def test_ids_of_very_unequal_length_do_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr("assay.formats.runs.MAX_WIDE_BYTES", 1000)
    text = "".join(f"1 Q0 {k} 1 1 t\n" for k in range(100)) + f"1 Q0 {'x' * 1000} 1 1 t\n"
    assert problems(text) == [
        (1, "document IDs of up to 1000 bytes in a file of more than 0 lines")
    ]


def test_files_of_many_blocks_are_read_as_one(tmp_path):
    path = tmp_path / "big.run"
    lines = [
        f"{t} Q0 document-{t}-{k} {k} {1000 - k}.{k:03d} tag\n"
        for t in range(120)
        for k in range(1000)
    ]
    path.write_text("".join(lines))
    assert path.stat().st_size > 3 << 20
    run = read_run(path)
    assert len(run) == 120_000
    assert run.topics == [str(t) for t in range(120)]
    assert run.documents[run.rows(77)].tolist() == [
        f"document-77-{k}".encode() for k in range(1000)
    ]
    assert run.scores[run.rows(3)][17] == 983.017
    path.write_text("".join([*lines, lines[5]]))
    with pytest.raises(
        FormatError,
        match=r"big.run:120001: duplicate document document-0-5 for topic 0 \(first in line 6\)",
    ):
        read_run(path)


def test_a_run_that_is_written_reads_the_same():
    run = given("b Q0 x 1 0.1 t\nb Q0 y 1 0.30000000000000004 t\na Q0 é 1 -1e-7 t\n")
    out = io.StringIO()
    write_run(run, out)
    assert out.getvalue() == "b Q0 y 1 0.30000000000000004 t\nb Q0 x 2 0.1 t\na Q0 é 1 -1e-07 t\n"
    assert rankings(given(out.getvalue())) == rankings(run)


def test_a_stored_run_comes_back_whole_and_equal_content_has_one_digest(tmp_path):
    run = given(GOOD + "3 Q0 a-much-longer-id 1 0.5 other\n")
    digest = save_run(run, tmp_path / "run.npz")
    back = load_run(tmp_path / "run.npz")
    assert rankings(back) == rankings(run)
    assert (back.tag, back.warnings, back.name) == (run.tag, run.warnings, run.name)
    assert back.ranks.tolist() == run.ranks.tolist()
    assert (
        save_run(
            given(GOOD.replace(" ", "\t") + "3 Q0 a-much-longer-id 1 0.5 other\n", name="b"),
            tmp_path / "b.npz",
        )
        == digest
    )
    assert save_run(given(GOOD), tmp_path / "c.npz") != digest


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 no", b"text"])
def test_a_file_that_is_no_stored_run_is_a_format_error(tmp_path, content):
    path = tmp_path / "x.npz"
    path.write_bytes(content)
    with pytest.raises(FormatError, match="not a stored run"):
        load_run(path)


def test_a_stored_run_with_pickled_objects_is_never_unpickled(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, about=np.array([{"kind": "run"}], dtype=object))
    with pytest.raises(FormatError, match="not a stored run"):
        load_run(path)


def test_rows_in_memory_become_a_run_in_the_same_order_as_a_file():
    rows = [("b", "x", 1.0), ("a", "x", 1.0), ("b", "y", 2.0), ("b", "z", 1.0)]
    assert rankings(make_run("t", rows)) == rankings(
        given("".join(f"{t} Q0 {d} 1 {s} t\n" for t, d, s in rows))
    )
    with pytest.raises(ValueError, match="more than once"):
        make_run("t", [("a", "x", 1.0), ("a", "x", 2.0)])

"""Judgements in our own columns and in other tools' exports."""

from __future__ import annotations

import io
import math

import pytest

from assay.column_types import JudgementColumns
from assay.formats.errors import FormatError
from assay.formats.judgements import read_judgements

HEADER = "topic,document,annotator,grade,seconds,judged_at,excluded,gold\n"


def given(text: str, **options) -> JudgementColumns:
    return read_judgements(io.BytesIO(text.encode()), name="a.csv", **options)


def rows(judgements: JudgementColumns) -> list[tuple[str, str, str, int]]:
    return [
        (judgements.topics[t], judgements.documents[d], judgements.annotators[a], g)
        for t, d, a, g in zip(
            judgements.topic,
            judgements.document,
            judgements.annotator,
            judgements.grade.tolist(),
            strict=True,
        )
    ]


def problems(text: str, **options) -> list[tuple[int | None, str]]:
    with pytest.raises(FormatError) as error:
        given(text, **options)
    return [(p.line, p.problem) for p in error.value.problems]


def test_our_columns_are_read_in_file_order():
    found = given(
        HEADER
        + '1,d,ann,3,12.5,2021-03-04T10:00:00Z,0,1\n1,"d, 2",bob,0,,,1,\n2,d,ann,1,0,2021-03-04T12:00:00+02:00,,0\n',
        scale=4,
    )
    assert rows(found) == [("1", "d", "ann", 3), ("1", "d, 2", "bob", 0), ("2", "d", "ann", 1)]
    assert found.seconds[0] == 12.5
    assert math.isnan(found.seconds[1])
    assert found.judged_at[0] == found.judged_at[2] == 1614852000
    assert math.isnan(found.judged_at[1])
    assert found.excluded.tolist() == [False, True, False]
    assert found.gold.tolist() == [True, False, False]
    assert found.lines.tolist() == [2, 3, 4]
    assert found.warnings == []


@pytest.mark.parametrize(
    "header",
    [
        "topic\tdocument\tannotator\tgrade",
        "qid\tdocid\tworker\tlabel",
        "Query-ID\tCorpus-ID\tUser\tRating",
        "label\tworker\tdocno\ttopic",
    ],
)
def test_columns_are_found_by_name_in_any_order(header):
    cells = {
        "topic": "t",
        "qid": "t",
        "query-id": "t",
        "document": "d",
        "docid": "d",
        "corpus-id": "d",
        "docno": "d",
    }
    cells |= {
        "annotator": "a",
        "worker": "a",
        "user": "a",
        "grade": "0",
        "label": "0",
        "rating": "0",
    }
    line = "\t".join(cells[name.lower()] for name in header.split("\t"))
    assert rows(given(f"{header}\n{line}\n")) == [("t", "d", "a", 0)]


def test_a_grade_written_as_a_decimal_is_the_whole_number_and_a_fraction_is_refused():
    text = "topic,document,annotator,grade\n1,d,ann,2.0\n1,e,ann,0.0\n"
    assert rows(given(text, scale=4)) == [("1", "d", "ann", 2), ("1", "e", "ann", 0)]
    assert problems(text + "1,f,ann,1.5\n1,g,ann,.0\n") == [
        (4, "invalid grade '1.5'"),
        (5, "invalid grade '.0'"),
    ]


def test_missing_columns_are_named():
    assert problems("topic,annotator\n1,2\n") == [(1, "no column document, grade")]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("1,d,a,4,,,,", "grade 4 of topic 1, document d is not on the scale"),
        ("1,d,a,-1,,,,", "grade -1 of topic 1, document d is not on the scale"),
        ("1,d,a,1.5,,,,", "invalid grade '1.5'"),
        ("1,d,a,,,,,", "the grade is missing"),
        (",d,a,1,,,,", "missing topic"),
        ("1, ,a,1,,,,", "missing document"),
        ("1,d,,1,,,,", "missing annotator"),
        ("1,d,a,1,-3,,,", "'-3' is not a time"),
        ("1,d,a,1,fast,,,", "'fast' is not a time"),
        ("1,d,a,1,nan,,,", "'nan' is not a time"),
        ("1,d,a,1,,yesterday,,", "'yesterday' is not a date and time"),
        ("1,d,a,1,,,2,", "invalid excluded '2'"),
        ("1,d,a,1,,,,maybe", "invalid gold 'maybe'"),
        ("1,d,a,1", "4 columns"),
    ],
)
def test_each_mistake_is_refused_with_its_line(line, problem):
    assert problems(HEADER + "1,x,y,0,,,,\n" + line + "\n", scale=4) == [(3, problem)]


def test_without_a_scale_any_grade_from_zero_is_taken():
    assert given(HEADER + "1,d,a,9,,,,\n1,e,a,0,,,,\n").grade.tolist() == [9, 0]


def test_an_open_quote_is_refused_at_the_row_where_it_opens():
    assert problems(HEADER + '1,d,a,1,,,,\n1,"d,a,1,,,,\n1,e,a,1,,,,\n')[0][0] == 3


def test_a_header_alone_is_refused():
    assert problems(HEADER) == [(None, "no judgements")]


def test_grades_that_never_use_zero_are_warned_about():
    assert given(HEADER + "1,d,a,1,,,,\n").warnings[0].startswith("no judgement has grade 0")


def test_times_without_offset_are_taken_as_utc_with_a_warning():
    found = given(HEADER + "1,d,a,0,,2021-03-04T10:00:00,,\n1,e,a,0,,1614852000,,\n")
    assert found.judged_at.tolist() == [1614852000, 1614852000]
    assert found.warnings == ["1 time has no UTC offset; read as UTC"]


FIRA = "id\trelevanceLevel\trelevanceCharacterRanges\trotate\tmode\tdurationUsedToJudgeMs\tjudgedAtUnixTS\tdocumentId\tqueryId\tuserId\n"


def test_firas_export_is_recognised():
    found = given(
        FIRA
        + "1\t3_PERFECT_ANSWER\t0-5;9-12\tfalse\tSCORING_AND_SELECT_SPANS\t4500\t1600000000\tdoc 1 \tq\tu1\n"
        + '2\t0_NOT_RELEVANT\t"<no ranges selected>"\tfalse\tx\t900\t1600000001\tdoc 1\tq\tu2\n'
        + "3\t-1_MISLEADING_ANSWER\t<no ranges selected>\tfalse\tx\t\t\tdoc 2\tq\tu2\n"
        + "4\t2_GOOD_ANSWER\t\tfalse\tx\t1\t1\t\tq\tu2\n",
        scale=4,
    )
    assert rows(found) == [
        ("q", "doc 1", "u1", 3),
        ("q", "doc 1", "u2", 0),
        ("q", "doc 2", "u2", 0),
    ]
    assert found.seconds[:2].tolist() == [4.5, 0.9]
    assert math.isnan(found.seconds[2])
    assert found.judged_at[0] == 1600000000
    assert found.warnings == [
        "1 judgement is -1_MISLEADING_ANSWER; counted as grade 0",
        "1 row has an empty ID; skipped",
    ]


def test_an_unknown_level_of_fira_is_refused():
    assert problems(FIRA + "1\t5_BEST\t\t\t\t\t\td\tq\tu\n") == [
        (2, "'5_BEST' is not one of FiRA's relevance levels")
    ]


def test_hicals_csv_is_recognised():
    found = given(
        "USER,TOPIC,DOCID,METHOD,JUDGMENT,TIME_AWAY,TIME_TO_JUDGE\nu,401,d,CAL,1,2.0,7.25\nu,401,e,CAL,0,0,1\n"
    )
    assert rows(found) == [("401", "d", "u", 1), ("401", "e", "u", 0)]
    assert found.seconds.tolist() == [7.25, 1.0]


def test_crowdkits_csv_is_recognised():
    assert rows(given("task,worker,label\n1 d,w,0\n")) == [("1", "d", "w", 0)]
    assert problems("task,worker,label\nd,w,0\n") == [
        (2, "task 'd' does not name a topic and a document")
    ]


def test_quepids_book_csv_has_a_column_for_each_judge():
    found = given(
        'query,docid,Ann Lee,Bob,Ann Lee,Anonymous\n"red, blue",d1,0,,2,1.0\n star,d2,,3,,\n'
    )
    assert rows(found) == [
        ("red, blue", "d1", "Ann Lee", 0),
        ("red, blue", "d1", "Ann Lee#2", 2),
        ("red, blue", "d1", "Anonymous", 1),
        ("star", "d2", "Bob", 3),
    ]
    assert found.warnings == ["two judges are called Ann Lee; the second is called Ann Lee#2"]


def test_quepids_book_json_is_recognised_by_its_content():
    found = given(
        '{"name": "b", "query_doc_pairs": [{"query_text": "x", "doc_id": 7, "judgements": '
        '[{"rating": 2.0, "user_email": "a@b"},'
        '{"rating": null, "unrateable": true, "user_email": "c@d"}, {"rating": 0, "user_email": null}]}]}'
    )
    assert rows(found) == [("x", "7", "a@b", 2), ("x", "7", "Anonymous", 0)]
    assert found.warnings == ["1 judgement is unrateable, postponed or empty; skipped"]


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1}',
        '{"query_doc_pairs": 3}',
        '{"query_doc_pairs": [',
        "{" * 100_000,
        '{"query_doc_pairs": [1, {"judgements": 2}]}',
    ],
)
def test_json_that_is_no_book_is_a_format_error(text):
    with pytest.raises(FormatError):
        given(text)


def test_our_own_raw_export_can_be_read_back():
    found = given(
        "campaign\tqid\tdocid\tannotator\tgrade\tlabel\tcannot_judge_reason\tactive_ms\tjudged_at\trevision\texcluded\n"
        "c\t1\td\ta\t2\tPartial\t\t2500\t2021-03-04T10:00:00.000Z\t1\t0\nc\t1\te\ta\t\t\tlanguage\t\t\t1\t0\nc\t1\te\tb\t0\tWrong\t\t\t\t1\t1\n"
    )
    assert rows(found) == [("1", "d", "a", 2), ("1", "e", "b", 0)]
    assert found.seconds[0] == 2.5
    assert found.warnings == ["1 row marks the pair as impossible to judge; skipped"]


def test_a_time_in_milliseconds_is_no_time_in_seconds():
    """1,700,000,000,000 s are the year 55,840: beside a true one the half days of fifty thousand
    years were counted."""
    assert given(
        HEADER + "1,a,x,2,5,1700000000,0,0\n1,b,x,0,5,2023-11-14T22:13:20Z,0,0\n"
    ).judged_at.tolist() == [1.7e9, 1.7e9]
    assert problems(HEADER + "1,a,x,2,5,1700000000000,0,0\n1,b,x,0,5,1700000000,0,0\n")[0][0] == 2
    fira = "id\trelevanceLevel\tdocumentId\tqueryId\tuserId\tjudgedAtUnixTS\n1\t0_NOT_RELEVANT\ta\t1\tx\t1700000000000\n"
    assert "it may be in milliseconds" in problems(fira)[0][1]

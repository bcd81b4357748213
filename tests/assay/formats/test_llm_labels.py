"""Labels of an LLM judge in TREC's six columns and in umbrela's lines."""

from __future__ import annotations

import io

import pytest

from assay.formats.errors import FormatError
from assay.formats.llm_labels import list_llm_labels, read_llm_qrels

LABELS = "# made by hand\n1 Q0 a 3 0.9 judge\n1 Q0 b 0 1 judge\n\n2 Q0 a 0 .25 judge\n"


def problems(text: str) -> list[tuple[int | None, str]]:
    with pytest.raises(FormatError) as error:
        list_llm_labels(io.BytesIO(text.encode()), name="labels")
    return [(p.line, p.problem) for p in error.value.problems]


def test_six_columns_are_topic_document_grade_and_confidence():
    read = [
        (one.line, one.topic, one.document, one.grade, one.confidence)
        for one in list_llm_labels(io.BytesIO(LABELS.encode()))
    ]
    assert read == [(2, "1", "a", 3, "0.9"), (3, "1", "b", 0, "1"), (5, "2", "a", 0, ".25")]


def test_as_qrels_they_have_no_confidence_and_say_so(tmp_path):
    (tmp_path / "judge.txt").write_text(LABELS)
    for source in (tmp_path / "judge.txt", io.BytesIO(LABELS.encode())):
        qrels = read_llm_qrels(source)
        assert (qrels.topics, qrels.documents.tolist(), qrels.grades.tolist()) == (
            ["1", "2"],
            [b"a", b"b", b"a"],
            [3, 0, 0],
        )
        assert qrels.notes == ["six columns (LLM labels): the confidences were left out"]
    assert read_llm_qrels(tmp_path / "judge.txt").name == "judge"
    assert read_llm_qrels(tmp_path / "judge.txt", name="mine").name == "mine"


def test_plain_qrels_are_read_as_ever(tmp_path):
    (tmp_path / "judge.txt").write_text("# mine\n1 0 a 2\n1 0 b 1\n")
    for source in (tmp_path / "judge.txt", io.BytesIO(b"# mine\n1 0 a 2\n1 0 b 1\n")):
        assert read_llm_qrels(source).grades.tolist() == [2, 1]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("1 Q0 c 2 0.5", "5 columns"),
        ("1 0 c 2", "4 columns"),
        ("1 Q0 c 2.5 0.5 judge", "'2.5' is not a grade"),
        ("1 Q0 c 99999999999 0.5 judge", "'99999999999' is not a grade"),
        ("1 Q0 c 2 nan judge", "'nan' is not a confidence"),
        ("1 Q0 c 2 sure judge", "'sure' is not a confidence"),
        ("1 Q0 a 3 0.9 judge", "duplicate document a for topic 1 (first in line 2)"),
        ("1 Q0 c 2 0.5 other", "a second LLM judge, other"),
    ],
)
def test_each_mistake_is_refused_with_its_line(line: str, problem: str):
    assert problems(f"{LABELS}{line}\n") == [(6, problem)]


def test_a_run_in_place_of_labels_is_refused():
    assert problems(
        "".join(f"{t} Q0 d{r} {r} {10 - r} bm25\n" for t in (1, 2) for r in range(1, 5))
    )[0][1].startswith("the fourth column counts up")


def test_a_file_without_a_label_is_refused():
    assert problems("# nothing\n") == [(None, "no lines with labels")]


UMBRELA = (
    '{"qid": "1", "docid": "a", "query": "q", "passage": "p", "judgment": 3, "reasoning": "why"}\n\n'
    '{"qid": 1, "docid": "b", "judgment": 0.0}\n'
)


def test_umbrelas_lines_with_ids_are_qrels(tmp_path):
    (tmp_path / "judge.jsonl").write_text(UMBRELA)
    for source in (tmp_path / "judge.jsonl", io.BytesIO(UMBRELA.encode())):
        qrels = read_llm_qrels(source)
        assert (qrels.topics, qrels.documents.tolist(), qrels.grades.tolist()) == (
            ["1"],
            [b"a", b"b"],
            [3, 0],
        )


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"query": "q", "passage": "p", "judgment": 1}', "a passage without IDs"),
        (
            '{"qid": "1", "docid": "a", "judgment": 3}',
            "duplicate document a for topic 1 (first in line 1)",
        ),
        ('{"qid": "1", "docid": "c", "judgment": 1.5}', "no labelled passage"),
        ('{"qid": "1", "docid": "c"}', "no labelled passage"),
        ("not JSON", "no labelled passage"),
    ],
)
def test_each_mistake_in_umbrelas_lines_is_refused_with_its_line(line: str, problem: str):
    with pytest.raises(FormatError) as error:
        read_llm_qrels(io.BytesIO(f"{UMBRELA}{line}\n".encode()), name="labels")
    assert [(p.line, p.problem) for p in error.value.problems] == [(4, problem)]

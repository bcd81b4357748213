"""Labels for search engines and learning to rank."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.formats.engines import (
    LabelledQuery,
    list_labelled_queries,
    parse_template,
    write_import_judgment,
    write_label_csv,
    write_ltr,
    write_rank_eval,
)
from assay.formats.qrels import make_qrels
from assay.formats.quepid import read_ratings

QRELS = make_qrels(
    "q", [("7", "d1", 3), ("7", "d2", 0), ("7", "d3", -1), ("9", 'é"1', 1), ("10", "d1", -1)]
)
TEXTS = {"7": "red  shoes", "9": 'hat "x"', "10": "none judged", "11": "not in the qrels"}
QUERIES = [
    LabelledQuery("7", "red shoes", [("d1", 3), ("d2", 0)]),
    LabelledQuery("9", 'hat "x"', [('é"1', 1)]),
]


def written(write: Callable[..., None], **options: Any) -> str:
    out = io.StringIO()
    write(QUERIES, out, **options)
    return out.getvalue()


def test_unjudged_pairs_and_topics_without_a_grade_are_left_out() -> None:
    assert list_labelled_queries(QRELS, TEXTS) == QUERIES


def test_a_topic_needs_a_query_of_its_own() -> None:
    with pytest.raises(ValueError, match="topic 9 has no query text"):
        list_labelled_queries(QRELS, TEXTS | {"9": " "})
    with pytest.raises(ValueError, match="topics 7 and 9 have the same query 'red shoes'"):
        list_labelled_queries(QRELS, TEXTS | {"9": "red shoes"})


def test_a_judgement_list_is_written_and_read_again() -> None:
    text = written(write_import_judgment, name="mine", description="by people")
    assert json.loads(text) == {
        "name": "mine",
        "description": "by people",
        "type": "IMPORT_JUDGMENT",
        "judgmentRatings": [
            {
                "query": "red shoes",
                "ratings": [{"docId": "d1", "rating": "3"}, {"docId": "d2", "rating": "0"}],
            },
            {"query": 'hat "x"', "ratings": [{"docId": 'é"1', "rating": "1"}]},
        ],
    }
    again = read_ratings(io.BytesIO(text.encode()))
    assert (again.topics, again.grades.tolist()) == (["red shoes", 'hat "x"'], [3, 0, 1])


def shape(value: Any) -> Any:
    """The types of a JSON value, of a list those of its first entry."""
    if isinstance(value, dict):
        return {key: shape(one) for key, one in value.items()}
    return [shape(value[0])] if isinstance(value, list) else type(value)


@pytest.mark.data
def test_a_judgement_list_has_the_shape_of_opensearchs(data_folder: Path) -> None:
    theirs = json.loads(gzip.decompress((data_folder / "ubi/import_judgment.json.gz").read_bytes()))
    assert shape(json.loads(written(write_import_judgment, name="mine"))) == shape(theirs)


def test_a_ranking_evaluation_has_the_users_request_for_every_query() -> None:
    template = parse_template(
        '{"size": 20, "query": {"bool": {"should": [{"match": {"title": "{{query}}"}}, "for {{query}}"]}}}'
    )
    request = json.loads(written(write_rank_eval, index="shop", template=template, cutoff=20))
    assert request["metric"] == {"dcg": {"k": 20, "normalize": True}}
    assert request["requests"][0] == {
        "id": "7",
        "request": {
            "size": 20,
            "query": {"bool": {"should": [{"match": {"title": "red shoes"}}, "for red shoes"]}},
        },
        "ratings": [
            {"_index": "shop", "_id": "d1", "rating": 3},
            {"_index": "shop", "_id": "d2", "rating": 0},
        ],
    }
    assert request["requests"][1]["request"]["query"]["bool"]["should"][1] == 'for hat "x"'


@pytest.mark.parametrize("template", ["{", "[]", '{"query": {"match_all": {}}}', '"{{query}}"'])
def test_a_template_without_a_place_for_the_query_is_refused(template: str) -> None:
    with pytest.raises(ValueError, match="the request template"):
        parse_template(template)


def test_learning_to_rank_numbers_the_queries_and_names_them_first() -> None:
    text = written(write_ltr)
    assert text == (
        '# qid:1: red shoes\n# qid:2: hat "x"\n3 qid:1 # d1\n0 qid:1 # d2\n1 qid:2 # é"1\n'
    )
    again = read_ratings(io.BytesIO(text.encode()))
    assert (again.topics, again.grades.tolist()) == (["red shoes", 'hat "x"'], [3, 0, 1])
    with pytest.raises(ValueError, match="'a b' contains white space"):
        write_ltr([LabelledQuery("1", "x", [("a b", 1)])], io.StringIO())


def test_csv_quotes_what_needs_it_and_spreadsheets_run_nothing() -> None:
    assert list(csv.reader(io.StringIO(written(write_label_csv)))) == [
        ["topic", "query", "document", "grade"],
        ["7", "red shoes", "d1", "3"],
        ["7", "red shoes", "d2", "0"],
        ["9", 'hat "x"', 'é"1', "1"],
    ]
    assert "7!,red shoes!,d1!,3!" in written(write_label_csv, safe=lambda cell: cell + "!")

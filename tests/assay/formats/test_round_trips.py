"""What is written from real files reads back the same."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.column_types import QrelsColumns
from assay.formats.engines import (
    DEFAULT_TEMPLATE,
    LabelledQuery,
    list_labelled_queries,
    write_import_judgment,
    write_ltr,
    write_rank_eval,
)
from assay.formats.exports import write_topics
from assay.formats.qrels import read_qrels, write_qrels
from assay.formats.quepid import read_ratings
from assay.formats.runs import read_run, write_run
from assay.formats.topic_scores import read_topic_scores, write_topic_scores
from assay.formats.topics import read_topics

pytestmark = pytest.mark.data


def again(write: Callable[[io.StringIO], Any]) -> io.BytesIO:
    out = io.StringIO()
    write(out)
    return io.BytesIO(out.getvalue().encode())


def grades_of(qrels: QrelsColumns) -> dict[tuple[str, str], int]:
    return {
        (topic, document.decode()): grade
        for index, topic in enumerate(qrels.topics)
        for document, grade in zip(
            qrels.documents[qrels.rows(index)].tolist(),
            qrels.grades[qrels.rows(index)].tolist(),
            strict=True,
        )
    }


@pytest.mark.parametrize(
    "file",
    [
        "format-samples/trectools-r1.run",
        "format-samples/anserini-run1.txt",
        "format-samples/ir_measures-cwl.run",
        "cacm/cacm-bm25.run.txt",
    ],
)
def test_runs(data_folder: Path, file: str) -> None:
    run = read_run(data_folder / file)
    read = read_run(again(lambda out: write_run(run, out)))
    assert read.topics == run.topics
    assert read.documents.tolist() == run.documents.tolist()
    assert read.scores.tolist() == run.scores.tolist()
    assert read.tag == run.tag


@pytest.mark.parametrize(
    "file",
    [
        "dl21-passage/qrels.nist.txt.gz",
        "nfcorpus/qrels.test.3-2-1.txt.gz",
        "tripjudge/qrels_4class.txt",
        "trec_eval-reference/qrels.test.with-comments",
        "format-samples/ir_measures-cwl.qrels",
    ],
)
def test_qrels(data_folder: Path, file: str) -> None:
    qrels = read_qrels(data_folder / file)
    assert grades_of(read_qrels(again(lambda out: write_qrels(qrels, out)))) == grades_of(qrels)


@pytest.mark.parametrize(
    "file",
    [
        "format-samples/topics.51-100.trec1.sgml.gz",
        "format-samples/topics.beir-nfcorpus.test.tsv.gz",
        "dl21-passage/queries.tsv",
    ],
)
def test_topics(data_folder: Path, file: str) -> None:
    topics = read_topics(data_folder / file)
    read = read_topics(again(lambda out: write_topics(topics, out)))
    told = [(topic.topic, topic.text) for topic in read]
    assert told == [(topic.topic, " ".join(topic.text.split())) for topic in topics]


def test_a_leaderboard_of_auto_judge(data_folder: Path) -> None:
    scores = read_topic_scores(data_folder / "answers-spot-check/trec-leaderboard.txt")
    parts = (scores.tags, scores.topics, scores.measures, scores.values)
    read = read_topic_scores(again(lambda out: write_topic_scores(*parts, out)))
    assert read[:3] == scores[:3]
    assert np.array_equal(read.values, scores.values, equal_nan=True)


@pytest.fixture(scope="module")
def queries(data_folder: Path) -> list[LabelledQuery]:
    """Those of TREC Deep Learning 2021."""
    texts = {
        topic.topic: topic.text for topic in read_topics(data_folder / "dl21-passage/queries.tsv")
    }
    qrels = read_qrels(data_folder / "dl21-passage/qrels.nist.txt.gz")
    return list_labelled_queries(qrels, texts)


def by_text(queries: list[LabelledQuery]) -> dict[tuple[str, str], int]:
    return {(one.text, document): grade for one in queries for document, grade in one.grades}


@pytest.mark.parametrize(
    "write",
    [lambda queries, out: write_import_judgment(queries, out, name="dl21"), write_ltr],
    ids=["opensearch", "learning to rank"],
)
def test_labels_for_search_engines(
    queries: list[LabelledQuery], write: Callable[..., None]
) -> None:
    assert len(queries) == 53
    read = read_ratings(again(lambda out: write(queries, out)))
    assert grades_of(read) == by_text(queries)


def test_a_ranking_evaluation_holds_every_label(queries: list[LabelledQuery]) -> None:
    options = {"index": "passages", "template": DEFAULT_TEMPLATE, "cutoff": 10}
    request = json.load(again(lambda out: write_rank_eval(queries, out, **options)))
    found = {
        (one["request"]["query"]["multi_match"]["query"], rating["_id"]): rating["rating"]
        for one in request["requests"]
        for rating in one["ratings"]
    }
    assert found == by_text(queries)


def test_the_judgement_list_that_opensearch_made(data_folder: Path) -> None:
    """Every query, document and rating of its own sample is in the list that is written from it."""
    path = data_folder / "ubi/import_judgment.json.gz"
    read = grades_of(read_ratings(path))
    rows: dict[str, list[tuple[str, int]]] = {}
    for (text, document), grade in read.items():
        rows.setdefault(text, []).append((document, grade))
    labels = [LabelledQuery(text, text, pairs) for text, pairs in rows.items()]
    written = json.load(again(lambda out: write_import_judgment(labels, out, name="again")))
    theirs = json.loads(gzip.decompress(path.read_bytes()))
    assert {
        (one["query"], rating["docId"], float(rating["rating"]))
        for one in written["judgmentRatings"]
        for rating in one["ratings"]
    } == {
        (" ".join(one["query"].split()), rating["docId"], float(rating["rating"]))
        for one in theirs["judgmentRatings"]
        for rating in one["ratings"]
    }

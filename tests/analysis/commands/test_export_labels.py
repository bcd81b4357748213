from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.analysis.commands.judged_file import refused, run
from tests.analysis.commands.ranked_files import files, printed

QRELS = "7 0 d1 3\n7 0 d2 0\n7 0 d3 -1\n9 0 d1 1\n"
TOPICS = "7\tred shoes\n9\thats\n"


@pytest.mark.parametrize(
    ("form", "content"),
    [
        ("opensearch", '"docId": "d1"'),
        ("rank-eval", '"_index": "documents"'),
        ("ltr", "# qid:1: red shoes\n# qid:2: hats\n3 qid:1 # d1\n0 qid:1 # d2\n1 qid:2 # d1\n"),
        ("csv", "topic,query,document,grade\n7,red shoes,d1,3\n"),
    ],
)
def test_qrels_are_written_in_each_format(tmp_path: Path, form: str, content: str) -> None:
    qrels, topics = files(tmp_path, qrels=QRELS, topics=TOPICS)
    target = tmp_path / "labels"
    arguments = ("export_labels", qrels, "--topics", topics, "--target", form)
    result = run(*arguments, "--output", str(target))
    assert result == {
        "pairs": 3,
        "topics": 2,
        "labels": {"0": 1, "1": 1, "3": 1},
        "target": form,
    }
    assert content in target.read_text()
    assert (
        "1 pair with a negative grade left out, because a negative grade means unjudged"
        in printed(*arguments)[1]
    )


def test_a_ranking_evaluation_takes_the_users_template_and_index(tmp_path: Path) -> None:
    qrels, topics, template = files(
        tmp_path, qrels=QRELS, topics=TOPICS, template='{"query": {"match": {"name": "{{query}}"}}}'
    )
    target = tmp_path / "request.json"
    run(
        *("export_labels", qrels, "--topics", topics, "--target", "rank-eval", "--index", "shop"),
        *("--cutoff", "5", "--template", template, "--output", str(target)),
    )
    request = json.loads(target.read_text())
    assert request["metric"]["dcg"]["k"] == 5
    assert request["requests"][1]["request"] == {"query": {"match": {"name": "hats"}}}
    assert request["requests"][1]["ratings"] == [{"_index": "shop", "_id": "d1", "rating": 1}]


def test_a_topic_without_text_and_a_template_without_query_are_refused(tmp_path: Path) -> None:
    qrels, topics, template = files(tmp_path, qrels=QRELS, topics="7\tred shoes\n", template="{}")
    target = tmp_path / "labels"
    for more, says in (
        ((), "topic 9 has no query text"),
        (("--template", template), "the request template has no {{query}}"),
    ):
        status, out, err = refused(
            "export_labels", qrels, "--topics", topics, *more, "--output", str(target)
        )
        assert (status, out) == (2, "")
        assert says in err
        assert not target.exists()

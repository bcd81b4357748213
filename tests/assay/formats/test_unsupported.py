"""Files of nuggets, rubrics and answers are told to be so where topics, runs or qrels are expected."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest

from assay.formats.errors import FormatError
from assay.formats.qrels import read_qrels
from assay.formats.runs import read_run
from assay.formats.topics import read_topics

NUGGETS = '{"qid": "2024-1", "query": "how long", "nuggets": [{"text": "ten days", "importance": "vital"}]}\n'
"""As nuggetizer writes them."""
RUBRICS = (
    '{"qid": "a1", "domain": "STEM", "rubrics": [{"criterion": "Explains every term.", "weight": 4.0, '
    '"axis": "Clarity"}]}\n'
)
ANSWERS = (
    '{"run_id": "r", "topic_id": "1", "topic": "how long", "references": ["'
    + '", "'.join(f"msmarco_v2.1_doc_{k:09d}#7_{k}" for k in range(200))
    + '"], "response_length": 1, "answer": [{"text": "ten", "citations": [0]}]}\n'
)
"""As TREC RAG 2024 asked for them, with more references than fit an excerpt of the line."""


@pytest.mark.parametrize("reader", [read_topics, read_run, read_qrels])
@pytest.mark.parametrize(
    ("text", "content"),
    [(NUGGETS, "nuggets"), (RUBRICS, "rubrics"), (ANSWERS, "answers"), ("\n" + ANSWERS, "answers")],
)
def test_nuggets_rubrics_and_answers_are_named(reader: Callable[..., Any], text: str, content: str):
    with pytest.raises(
        FormatError, match=f"this is a file of {content}, which only the commands `assay answers"
    ):
        reader(io.BytesIO(text.encode()))


def test_a_word_in_a_text_is_no_field():
    topics = read_topics(
        io.BytesIO(
            b'{"_id": "1", "text": "how are \\"nuggets\\": made, and \\"answer\\": [{ \\"citations\\": 1"}\n'
        )
    )
    assert [topic.topic for topic in topics] == ["1"]

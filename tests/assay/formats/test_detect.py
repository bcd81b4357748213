"""Files are told apart by their content."""

from __future__ import annotations

import gzip
import io

import pytest

from assay.formats.detect import detect_kind

EXAMPLES = {
    "run": [
        "1 Q0 d 1 2.5 t\n2 Q0 e 1 -1e-3 t\n",
        "topic Q0 docid rank score tag\n1 Q0 d 1 2.5 t\n",
        "1\td\t1\n1\te\t2\n",
        "1\tQ0\td\t1\t2\tt\r\n",
        "1 Q0 d 1 2.5 t\n1 Q0 e\n",
        "# ir_metadata.start\n# platform:\n#   software: x\n# ir_metadata.end\n" * 80
        + "1 Q0 d 1 2.5 t\n2 Q0 e 1 -1e-3 t\n",
        "".join(f"1 Q0 d{k} {k} {1 / k:.3f} cosine\n" for k in range(1, 60)),
        "1 Q0 d 0 0.9 t\n1 Q0 e 0 0.8 t\n1 Q0 f 0 0.7 t\n",
    ],
    "LLM labels": [
        "1 Q0 a 3 1 me\n1 Q0 b 0 1 me\n1 Q0 c 0 0.5 me\n2 Q0 a 2 0.25 me\n",
        "# made\n1 Q0 a 3.0 1 me\n1 Q0 b 0.0 1 me\n1 Q0 c 0.0 .5 me\n",
    ],
    "nuggets": [
        '{"qid": "2024-1", "query": "how long", "nuggets": [{"text": "ten days", "importance": "vital"}]}\n',
        '{\n "query_id": "1",\n "nugget_bank": {"a": {}}\n}\n',
    ],
    "rubrics": ['{"qid": "a1", "rubrics": [{"criterion": "Explains.", "weight": 4.0}]}\n'],
    "leaderboard": [
        "r1 nuggets 28 1\nr2 nuggets 28 2\nr1 nuggets all 1\nr2 nuggets all 2\n",
        "r1 nuggets 28 1\n" * 9 + "r2 nuggets all 1\n r2\n",
        "r1 nuggets 28 .5\nr1 nuggets 29 .25\nr2 nuggets 28 1\nr2 nuggets 29 0\n",
    ],
    "answers": [
        (
            '{"run_id": "r", "topic_id": "1", "topic": "how long", "references": ["d1"], "answer": '
            '[{"text": "ten", "citations": [0]}]}\n'
        ),
        '{"metadata": {"run_id": "r", "narrative_id": "1"}, "responses": [{"text": "ten", "citations": {"d1": 1}}]}\n',
    ],
    "qrels": [
        "1 0 d 1\n1 Q0 e -1\n",
        "1 0 d 1.0\n1 0 e 0.0\n2 0 e 2.0\n",
        "# note\n1\t0\td\t1\n",
        "query-id\tcorpus-id\tscore\n1\td\t1\n",
    ],
    "topics": [
        '{"name": "s", "querySetQueries": [{"queryText": "red shoes"}]}',
        '{"queryText": "red shoes"}\n',
        "1\tred shoes\n2\tblue shoes\n",
        "<top>\n<num> Number: 1\n<title> x\n</top>",
        '<topics><topic number="1"/></topics>',
        '{"_id": "1", "text": "red shoes"}\n',
        "qid\tquery\n1\tx\n",
        "1 red shoes\n2 blue\n",
    ],
    "documents": [
        "<DOC>\n<DOCNO>1</DOCNO>x</DOC>",
        '{"_id": "1", "title": "t", "text": "x"}\n',
        "doc_id\tdoc_text\n1\tx\n",
        "1\tTitle\tsome text\n",
    ],
    "judgements": [
        "topic,document,annotator,grade\n1,d,a,1\n",
        "USER,TOPIC,DOCID,METHOD,JUDGMENT,TIME_AWAY,TIME_TO_JUDGE\n",
        "query,docid,Ann\nx,d,1\n",
        "id\trelevanceLevel\tdocumentId\tqueryId\tuserId\n",
        "task,worker,label\n1 d,w,1\n",
        '{\n "query_doc_pairs": []\n}',
    ],
    "clicks": [
        "session\ttopic\tdocument\trank\tclicked\n1\t1\td\t1\t0\n",
        "session\tquery_id\trank\tdoc_id\n",
        '{"action_name": "click", "query_id": "q", "event_attributes": {}}\n',
        '{"index": {}}\n{"query_id": "q", "user_query": "x", "query": "{}"}\n',
    ],
    "pool": [
        "topic\tdocument\tbest_rank\tpriority\truns\n1\td\t1\t9\ta:1\n",
        "query_id\tdoc_id\tpriority\n1\td\tall\n",
        "1 Q0 d 0 0 trectools\n",
    ],
    "unknown": ["", "\n\n", "\x00\x01", "{broken", "one\ntwo\n"],
}


@pytest.mark.parametrize(
    ("kind", "text"), [(kind, text) for kind, texts in EXAMPLES.items() for text in texts]
)
def test_the_kind_is_told(kind, text):
    assert detect_kind(io.BytesIO(text.encode())) == kind
    assert detect_kind(io.BytesIO(gzip.compress(b"\xef\xbb\xbf" + text.encode()))) == kind

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.column_types import QrelsColumns
from assay.measures.packing import ABSENT, PairIndex, TopicDocumentPairs, index_qrels, pack_run
from tests.assay.comparison.rankings_by_hand import qrels_of, run_of

ids = st.text(
    st.characters(codec="utf-8", exclude_characters="\0", exclude_categories=["Cs"]),
    min_size=1,
    max_size=20,
)
judged = st.dictionaries(
    ids, st.dictionaries(ids, st.integers(-1, 3), min_size=1, max_size=6), max_size=5
)


@settings(max_examples=200, deadline=None)
@given(judged, st.lists(st.tuples(ids, ids), max_size=8))
def test_pairs_are_found_as_a_dictionary_finds_them(
    table: dict[str, dict[str, int]], others: list[tuple[str, str]]
) -> None:
    qrels = qrels_of(table)
    wanted = [(topic, document) for topic, grades in table.items() for document in grades] + others
    names = [topic for topic, _ in wanted]
    documents = (
        np.array([document.encode() for _, document in wanted])
        if wanted
        else np.zeros(0, dtype="S1")
    )
    rows = index_qrels(qrels).find(TopicDocumentPairs(names, np.arange(len(wanted)), documents))
    rows_of = {topic: range(*qrels.offsets[i : i + 2]) for i, topic in enumerate(qrels.topics)}
    place = {
        (topic, qrels.documents[row].decode()): row for topic, own in rows_of.items() for row in own
    }
    assert rows.tolist() == [place.get(pair, ABSENT) for pair in wanted]


def test_many_pairs_of_close_ids_are_all_found_and_no_other() -> None:
    n = 20_000
    documents = np.array([f"doc{i:07d}" for i in range(2 * n)], dtype=np.bytes_)
    qrels = QrelsColumns(
        "q",
        ["1", "2"],
        np.array([0, n, 2 * n]),
        np.concatenate([documents[:n], documents[n:]]),
        np.zeros(2 * n, dtype=np.int32),
    )
    index = index_qrels(qrels)
    assert (
        index.rows(np.zeros(2 * n, dtype=np.int64), documents)
        == np.where(np.arange(2 * n) < n, np.arange(2 * n), ABSENT)
    ).all()
    assert (
        index.rows(np.ones(2 * n, dtype=np.int64), documents)
        == np.where(np.arange(2 * n) < n, ABSENT, np.arange(2 * n))
    ).all()


def test_ids_of_other_widths_are_compared_as_text() -> None:
    index = index_qrels(qrels_of({"1": {"short": 1, "a-much-longer-document-id": 2}}))
    wide = np.array(
        [b"short", b"a-much-longer-document-id-than-that", b"a-much-longer-document-id"],
        dtype="S64",
    )
    assert index.rows(np.zeros(3, dtype=np.int64), wide).tolist() == [1, ABSENT, 0]
    assert index.rows(np.zeros(1, dtype=np.int64), np.array([b"short"], dtype="S5")).tolist() == [1]


def test_a_pair_that_stands_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="twice"):
        PairIndex(["1"], np.array([0, 2]), np.array([b"a", b"a"]))


def test_ranks_count_the_unjudged_documents_and_topics_follow_the_qrels() -> None:
    run = run_of({"9": {"x": 1.0}, "2": {"a": 3.0, "b": 2.0, "c": 1.0}, "1": {"b": 2.0, "z": 1.0}})
    packed = pack_run(
        run, index_qrels(qrels_of({"1": {"a": 1, "z": 0}, "2": {"c": 2, "a": -1}, "3": {"a": 1}}))
    )
    assert packed.topic.tolist() == [0, 1, 1]
    assert packed.rank.tolist() == [2, 1, 3]
    assert packed.row.tolist() == [1, 2, 3]
    assert packed.retrieved.tolist() == [2, 3, 0]
    assert packed.has_topic.tolist() == [True, True, False]
    assert packed.n_ignored == 1

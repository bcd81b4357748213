"""The table of counted judgements: what counts, in which order, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.column_types import JudgementColumns
from assay.labels.labels import DroppedCounts, find_scale_warnings, make_label_table, select_counted
from tests.assay.labels.judged import table_of_pairs, table_of_rows


def judgements(rows: list[tuple]) -> JudgementColumns:
    """From (topic, document, annotator, grade[, seconds[, excluded[, gold]]])."""
    ids = [list(dict.fromkeys(row[i] for row in rows)) for i in range(3)]
    full = [(*row, *((np.nan, False, False)[len(row) - 4 :])) for row in rows]
    return JudgementColumns(
        topics=ids[0],
        documents=ids[1],
        annotators=ids[2],
        topic=np.array([ids[0].index(r[0]) for r in full], dtype=np.int32),
        document=np.array([ids[1].index(r[1]) for r in full], dtype=np.int32),
        annotator=np.array([ids[2].index(r[2]) for r in full], dtype=np.int32),
        grade=np.array([r[3] for r in full], dtype=np.int16),
        seconds=np.array([r[4] for r in full], dtype=np.float64),
        judged_at=np.full(len(full), np.nan),
        excluded=np.array([r[5] for r in full], dtype=bool),
        gold=np.array([r[6] for r in full], dtype=bool),
        lines=np.arange(2, len(full) + 2),
    )


def rows_of(table) -> list[tuple[str, str, str, int]]:
    return [
        (*table.pair_ids(pair), table.annotators[annotator], grade)
        for pair, annotator, grade in zip(
            table.pair.tolist(), table.annotator.tolist(), table.grade.tolist(), strict=True
        )
    ]


def test_the_last_row_of_an_annotator_and_pair_counts():
    table, dropped = select_counted(
        judgements([("t", "d", "a", 3), ("t", "d", "b", 1), ("t", "d", "a", 0)]), n_grades=4
    )
    assert rows_of(table) == [("t", "d", "a", 0), ("t", "d", "b", 1)]
    assert dropped == DroppedCounts(repeated=1, too_fast=0, excluded=0, gold=0, emptied_pairs=0)


def test_a_last_row_that_is_too_fast_does_not_bring_back_the_one_before():
    table, dropped = select_counted(
        judgements([("t", "d", "a", 3, 20.0), ("t", "d", "a", 0, 0.5)]), n_grades=4
    )
    assert len(table) == 0
    assert dropped == DroppedCounts(repeated=1, too_fast=1, excluded=0, gold=0, emptied_pairs=1)


def test_a_judgement_of_exactly_the_minimum_counts_and_one_without_a_time_is_never_too_fast():
    rows = [("t", "d", "a", 1, 1.0), ("t", "d", "b", 2, np.nan), ("t", "d", "c", 3, 0.999)]
    table, dropped = select_counted(judgements(rows), n_grades=4, min_seconds=1.0)
    assert [row[2] for row in rows_of(table)] == ["a", "b"]
    assert dropped.too_fast == 1


def test_each_dropped_row_is_counted_once_in_the_order_repeated_too_fast_excluded_gold():
    rows = [
        ("t", "d", "a", 1, 0.1, True, True),
        ("t", "d", "a", 1, 0.1, True, True),
        ("t", "d", "b", 1, 5.0, True, True),
        ("t", "d", "c", 1, 5.0, False, True),
        ("t", "e", "c", 1, 5.0, False, False),
    ]
    table, dropped = select_counted(judgements(rows), n_grades=4, with_gold=False)
    assert rows_of(table) == [("t", "e", "c", 1)]
    assert dropped == DroppedCounts(repeated=1, too_fast=1, excluded=1, gold=1, emptied_pairs=1)


def test_gold_pairs_count_unless_they_are_unwanted():
    table, dropped = select_counted(judgements([("t", "d", "a", 1, 5.0, False, True)]), n_grades=4)
    assert len(table) == 1
    assert dropped.gold == 0


def test_no_judgements_give_an_empty_table():
    table, dropped = select_counted(judgements([]), n_grades=4)
    assert (len(table), table.n_pairs, table.n_annotators) == (0, 0, 0)
    assert table.counts.shape == (0, 4)
    assert dropped == DroppedCounts(0, 0, 0, 0, 0)


def test_ids_are_ordered_as_text_and_never_as_numbers():
    table = table_of_rows(
        [("10", "d", "a", 0), ("9", "d", "a", 0), ("051", "é", "a", 0), ("051", "z", "a", 0)],
        n_grades=2,
    )
    assert [table.pair_ids(i) for i in range(4)] == [
        ("051", "z"),
        ("051", "é"),
        ("10", "d"),
        ("9", "d"),
    ]


def test_counts_have_a_row_for_each_pair_and_a_column_for_each_grade():
    table = table_of_pairs([[0, 0, 3], [1, 2, 2]], n_grades=4)
    assert table.counts.tolist() == [[2, 0, 0, 1], [0, 1, 2, 0]]
    assert table.judgements_per_pair.tolist() == [3, 3]


def test_binarising_takes_each_judgement_at_the_threshold():
    binary = table_of_pairs([[0, 1, 2, 3]], n_grades=4).binarise(2)
    assert binary.grade.tolist() == [0, 0, 1, 1]
    assert binary.n_grades == 2


@pytest.mark.parametrize("min_relevant", [0, 4, -1])
def test_a_threshold_that_does_not_divide_the_scale_is_refused(min_relevant):
    with pytest.raises(ValueError, match="expected 1 to"):
        table_of_pairs([[0, 1]], n_grades=4).binarise(min_relevant)


@pytest.mark.parametrize("grade", [-1, 4])
def test_a_grade_outside_the_scale_is_refused(grade):
    with pytest.raises(ValueError, match="the scale from 0 to 3"):
        table_of_rows([("t", "d", "a", grade)], n_grades=4)


def test_an_annotator_with_a_pair_twice_is_refused():
    with pytest.raises(ValueError, match="twice"):
        table_of_rows([("t", "d", "a", 1), ("t", "d", "a", 1)], n_grades=4)


def test_leaving_out_annotators_takes_their_lonely_pairs_and_topics_with_them():
    table = table_of_rows([("t", "d", "a", 1), ("u", "e", "b", 1), ("t", "d", "b", 2)], n_grades=4)
    left = table.exclude_annotators({"b", "nobody"})
    assert rows_of(left) == [("t", "d", "a", 1)]
    assert (left.topics, left.documents, left.annotators) == (["t"], ["d"], ["a"])


def test_times_follow_their_rows():
    table = table_of_rows(
        [("t", "e", "b", 1), ("t", "d", "a", 2), ("t", "d", "b", 3)],
        n_grades=4,
        seconds=[1.0, 2.0, 3.0],
        judged_at=[10.0, 20.0, 30.0],
    )
    assert table.seconds.tolist() == [2.0, 3.0, 1.0]
    assert table.judged_at.tolist() == [20.0, 30.0, 10.0]
    only = table.select_judgements(table.grade != 2)
    assert only.seconds.tolist() == [3.0, 1.0]


def test_grades_that_never_use_zero_are_warned_about():
    assert (
        "no judgement has grade 0"
        in find_scale_warnings(table_of_pairs([[1, 2, 3]], n_grades=4))[0]
    )
    assert find_scale_warnings(table_of_pairs([[0, 2, 3]], n_grades=4)) == []
    assert find_scale_warnings(table_of_pairs([], n_grades=4)) == []


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_the_order_of_rows_and_of_id_lists_changes_nothing(data):
    cells = data.draw(
        st.lists(
            st.tuples(*[st.sampled_from("ABCD")] * 3, st.integers(0, 3)),
            max_size=30,
            unique_by=lambda row: row[:3],
        ),
        "rows",
    )
    table = table_of_rows(cells, n_grades=4)
    again = table_of_rows(data.draw(st.permutations(cells), "order"), n_grades=4)
    assert rows_of(table) == rows_of(again) == sorted(cells)
    for name in ("topics", "documents", "annotators"):
        assert getattr(table, name) == getattr(again, name) == sorted(set(getattr(table, name)))


def test_unused_ids_are_dropped():
    table = make_label_table(
        topics=["x", "t"],
        documents=["d", "y"],
        annotators=["a"],
        topic=[1],
        document=[0],
        annotator=[0],
        grade=[0],
        n_grades=2,
    )
    assert (table.topics, table.documents) == (["t"], ["d"])


def test_excluded_rows_are_dropped_and_counted():
    rows = judgements([("t", "d", "a", 1, 5.0, True), ("t", "d", "b", 2, 5.0, False)])
    table, dropped = select_counted(rows, n_grades=4)
    assert rows_of(table) == [("t", "d", "b", 2)]
    assert dropped.excluded == 1
    everybody, _ = select_counted(replace(rows, excluded=np.zeros(2, dtype=bool)), n_grades=4)
    assert len(everybody) == 2

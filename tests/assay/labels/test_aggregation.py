"""Labels by majority ties take the lowest grade, and by the median."""

from __future__ import annotations

import io
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.formats.qrels import write_qrels
from assay.labels.aggregation import DECISIONS, METHODS, majority, median
from assay.labels.labels import MISSING
from tests.assay.labels.judged import table_of_pairs, table_of_rows

EXAMPLES = [  # judgements, 4-grade label and decision, 2-grade label and decision
    ([2, 2, 2], 2, "unanimous", 1, "unanimous"),
    ([1, 2, 2], 2, "majority", 1, "majority"),
    ([0, 2, 3], 0, "lowest_grade", 1, "majority"),
    ([1, 2], 1, "lowest_grade", 0, "lowest_grade"),
    ([0, 1], 0, "lowest_grade", 0, "unanimous"),
    ([1, 1, 3, 3, 0], 1, "lowest_grade", 0, "majority"),
]


@pytest.mark.parametrize(
    ("grades", "label", "decision", "binary_label", "binary_decision"), EXAMPLES
)
def test_the_examples_of_the_methods(grades, label, decision, binary_label, binary_decision):
    table = table_of_pairs([grades], n_grades=4)
    graded, binary = majority(table), majority(table.binarise(2))
    assert (graded.label[0], DECISIONS[graded.decision[0]]) == (label, decision)
    assert (binary.label[0], DECISIONS[binary.decision[0]]) == (binary_label, binary_decision)


def test_the_counts_of_labels_and_decisions_name_every_grade_of_the_scale():
    table = table_of_pairs([row[0] + [MISSING] * (5 - len(row[0])) for row in EXAMPLES], n_grades=4)
    graded = majority(table)
    assert graded.labels() == {0: 2, 1: 2, 2: 2, 3: 0}
    assert graded.decisions() == {"unanimous": 1, "majority": 1, "lowest_grade": 4}
    assert graded.count_labels_by_decision() == {
        0: {"unanimous": 0, "majority": 0, "lowest_grade": 2},
        1: {"unanimous": 0, "majority": 0, "lowest_grade": 2},
        2: {"unanimous": 1, "majority": 1, "lowest_grade": 0},
        3: {"unanimous": 0, "majority": 0, "lowest_grade": 0},
    }


@pytest.mark.parametrize("method", METHODS)
def test_pairs_with_too_few_judgements_have_no_label(method):
    table = table_of_pairs([[3, MISSING, MISSING], [2, 2, MISSING], [1, 1, 1]], n_grades=4)
    two, three, one = (METHODS[method](table, min_judgements=n) for n in (2, 3, 1))
    assert two.label.tolist() == [MISSING, 2, 1]
    assert (two.n_labelled, two.n_unlabelled) == (2, 1)
    assert three.label.tolist() == [MISSING, MISSING, 1]
    assert one.n_labelled == 3


@pytest.mark.parametrize("method", METHODS)
def test_without_any_judgement_there_are_no_labels(method):
    aggregation = METHODS[method](table_of_pairs([], n_grades=4))
    assert aggregation.labels() == {0: 0, 1: 0, 2: 0, 3: 0}
    assert np.isnan(aggregation.relevant_share())
    assert len(aggregation.qrels("q")) == 0


@pytest.mark.parametrize("method", METHODS)
def test_all_equal_judgements_give_that_grade(method):
    assert METHODS[method](table_of_pairs([[3, 3, 3], [3, 3, 3]], n_grades=4)).label.tolist() == [
        3,
        3,
    ]


@pytest.mark.parametrize(
    ("grades", "label"),
    [
        ([0, 1, 3], 1),
        ([0, 1, 2, 3], 1),
        ([1, 3], 1),
        ([0, 0, 3, 3], 0),
        ([0, 3, 3], 3),
        ([2, 2, 2, 2], 2),
    ],
)
def test_the_median_of_an_even_number_is_the_lower_middle(grades, label):
    assert median(table_of_pairs([grades], n_grades=4)).label.tolist() == [label]


def test_the_median_has_no_decisions():
    aggregation = median(table_of_pairs([[0, 1, 3]], n_grades=4))
    assert aggregation.decisions() is None
    assert aggregation.count_labels_by_decision() is None


def by_hand(grades: list[int]) -> tuple[int, str]:
    """The three steps of the majority label (docs/reference/methods/aggregation.md), one by one."""
    if len(set(grades)) == 1:
        return grades[0], "unanimous"
    often = Counter(grades)
    highest = max(often.values())
    most_frequent = sorted(grade for grade, n in often.items() if n == highest)
    return most_frequent[0], "majority" if len(most_frequent) == 1 else "lowest_grade"


@settings(max_examples=80, deadline=None)
@given(st.lists(st.lists(st.integers(0, 4), min_size=2, max_size=7), min_size=1, max_size=12))
def test_majority_and_median_are_those_of_a_loop(pairs):
    table = table_of_pairs([row + [MISSING] * (7 - len(row)) for row in pairs], n_grades=5)
    aggregation = majority(table)
    found = [
        (int(label), DECISIONS[code])
        for label, code in zip(aggregation.label, aggregation.decision, strict=True)
    ]
    assert found == [by_hand(row) for row in pairs]
    assert median(table).label.tolist() == [sorted(row)[(len(row) - 1) // 2] for row in pairs]


@settings(max_examples=40, deadline=None)
@given(st.permutations(range(5)), st.integers(0, 100))
def test_names_of_annotators_do_not_matter(names, seed):
    grades = np.random.default_rng(seed).integers(0, 4, size=(12, 5))
    for method in METHODS.values():
        assert (
            method(table_of_pairs(grades, n_grades=4)).label.tolist()
            == method(table_of_pairs(grades[:, names], n_grades=4)).label.tolist()
        )


def test_a_managers_ruling_overrides_and_is_marked():
    table = table_of_pairs([[0, 1], [2, 2], [3, MISSING]], n_grades=4)
    ruled = majority(table).apply_rulings(
        {("t", "d0000"): 3, ("t", "d0002"): 1, ("t", "unknown"): 2}
    )
    assert ruled.label.tolist() == [3, 2, 1]
    assert ruled.decisions() == {"unanimous": 1, "majority": 0, "lowest_grade": 0, "adjudicated": 2}
    assert "adjudicated" not in majority(table).decisions()
    with pytest.raises(ValueError, match="grade 7"):
        majority(table).apply_rulings({("t", "d0000"): 7})


def test_the_relevant_share_is_of_labels_and_by_topic():
    table = table_of_rows(
        [
            (topic, document, annotator, grade)
            for topic, document, grade in [("t", "d", 1), ("t", "e", 0), ("u", "d", 1)]
            for annotator in "ab"
        ]
        + [("v", "d", "a", 1)],
        n_grades=2,
    )
    aggregation = majority(table)
    assert aggregation.relevant_share() == 2 / 3
    assert aggregation.relevant_share_per_topic() == {"t": 0.5, "u": 1.0}


def test_qrels_are_sorted_and_leave_out_pairs_without_a_label():
    labelled = [("t2", "é", (1, 1)), ("t10", "b", (0, 3)), ("t10", "a", (2, 2)), ("t10", "c", (2,))]
    rows = [
        (topic, document, "ab"[k], grade)
        for topic, document, grades in labelled
        for k, grade in enumerate(grades)
    ]
    out, again = io.StringIO(), io.StringIO()
    write_qrels(majority(table_of_rows(rows, n_grades=4)).qrels("labels"), out)
    write_qrels(majority(table_of_rows(rows[::-1], n_grades=4)).qrels("labels"), again)
    assert out.getvalue() == "t10 0 a 2\nt10 0 b 0\nt2 0 é 1\n"
    assert again.getvalue() == out.getvalue()

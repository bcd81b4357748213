"""Cohen's kappa, plain and linearly weighted, of two raters and of many."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from assay.labels.aggregation import majority
from assay.labels.agreement.kappa import cohen_kappa, disagreement_weights, mean_of_defined
from assay.labels.agreement.raters import (
    compute_labels_of_others,
    count_against_labels,
    count_against_others,
    find_annotator_pairs,
    make_confusion_matrix,
    permuted_kappas,
)
from assay.labels.labels import MISSING
from tests.assay.labels.judged import random_grades, table_of_pairs
from tests.assay.labels.real_judgements import llmjudge_2024, trec_crowd_2011, ws_zhou_2012


def scikit_learn(first, second, *, n_grades: int, weighted: bool) -> float:
    """Its kappa over all grades of the scale; NaN where it divides by nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cohen_kappa_score(
            first, second, labels=list(range(n_grades)), weights="linear" if weighted else None
        )


def test_kappa_of_cohens_example_is_0_49():
    """Cohen (1968), the illustration that is used since: 200 cases by two psychiatrists;
    personality disorder, neurosis, psychosis. Observed agreement 0.70, by chance 0.41: kappa 0.29 /
    0.59 = 0.492."""
    assert cohen_kappa(
        2 * np.array([[44, 5, 1], [7, 20, 3], [9, 5, 6]]), weighted=False
    ) == pytest.approx(0.29 / 0.59, abs=1e-12)


def test_linear_weights_by_hand():
    """Two raters on three grades: disagreements of half a weight twice and of a full one once, in
    four items.

    Observed: (0.5 + 0.5 + 1) / 4 = 0.5. By chance, marginals (2, 1, 1) and (1, 1, 2) of 4:
    (2*1*0 + 2*1*.5 + 2*2*1 + 1*1*.5 + 1*1*0 + 1*2*.5 + 1*1*1 + 1*1*.5 + 1*2*0) / 16 = 8 / 16. Kappa
    1 - 0.5 / 0.5 = 0."""
    joint = np.array([[1, 0, 1], [0, 0, 1], [0, 1, 0]])
    assert cohen_kappa(joint, weighted=True) == pytest.approx(0.0, abs=1e-12)


def test_weights_are_over_all_grades_of_the_scale():
    assert disagreement_weights(4, weighted=True)[0].tolist() == [0, 1 / 3, 2 / 3, 1]
    assert (
        disagreement_weights(2, weighted=True).tolist()
        == disagreement_weights(2, weighted=False).tolist()
        == [[0, 1], [1, 0]]
    )
    seen = (
        [0, 0, 3, 3, 1, 0],
        [0, 3, 3, 1, 1, 0],
    )  # grade 2 is never used: 1 and 3 are still two steps apart
    joint = np.zeros((4, 4))
    np.add.at(joint, seen, 1)
    assert cohen_kappa(joint, weighted=True) == pytest.approx(
        scikit_learn(*seen, n_grades=4, weighted=True), abs=1e-12
    )
    assert cohen_kappa(joint, weighted=True) != pytest.approx(
        cohen_kappa_score(*seen, weights="linear"), abs=1e-6
    )


@pytest.mark.parametrize(
    ("joint", "kappa"),
    [
        ([[0, 0], [0, 0]], np.nan),  # nothing in common
        ([[7, 0], [0, 0]], np.nan),  # all judgements have the same grade
        ([[0, 0], [0, 1]], np.nan),  # a single item
        ([[0, 5], [0, 0]], 0.0),  # one grade each, but different ones
        ([[4, 0], [0, 3]], 1.0),
        ([[0, 3], [3, 0]], -1.0),
        ([[0, 1], [0, 0]], 0.0),
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_edges_of_kappa(joint, kappa, weighted):
    np.testing.assert_equal(float(cohen_kappa(np.array(joint), weighted=weighted)), kappa)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(2, 5),
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=40),
    st.booleans(),
)
def test_kappa_is_that_of_scikit_learn(n_grades, items, weighted):
    first, second = np.minimum(np.array(items).T, n_grades - 1)
    joint = np.zeros((n_grades, n_grades))
    np.add.at(joint, (first, second), 1)
    np.testing.assert_allclose(
        cohen_kappa(joint, weighted=weighted),
        scikit_learn(first, second, n_grades=n_grades, weighted=weighted),
        atol=1e-10,
    )


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_pairs_of_annotators_are_those_of_a_loop_over_scikit_learn(seed, weighted):
    grades = random_grades(
        np.random.default_rng(seed), n_pairs=60, n_annotators=7, n_grades=4, missing=0.6
    )
    pairs = find_annotator_pairs(table_of_pairs(grades, n_grades=4), min_common=8)
    expected = {}
    for a, b in itertools.combinations(range(7), 2):
        both = (grades[:, a] != MISSING) & (grades[:, b] != MISSING)
        if both.sum() >= 8:
            expected[a, b] = (
                both.sum(),
                scikit_learn(grades[both, a], grades[both, b], n_grades=4, weighted=weighted),
            )
    kappas = cohen_kappa(pairs.joint, weighted=weighted)
    found = {
        (a, b): (n, k)
        for a, b, n, k in zip(
            pairs.first.tolist(), pairs.second.tolist(), pairs.n_common, kappas, strict=True
        )
    }
    assert found.keys() == expected.keys()
    assert 0 < len(found) < 21
    for key, (n, kappa) in expected.items():
        assert found[key][0] == n
        assert found[key][1] == pytest.approx(kappa, abs=1e-10)


@pytest.mark.parametrize("weighted", [False, True])
def test_each_annotator_against_the_label_is_that_of_scikit_learn(weighted):
    grades = random_grades(
        np.random.default_rng(1), n_pairs=50, n_annotators=5, n_grades=4, missing=0.5
    )
    table = table_of_pairs(grades, n_grades=4)
    label = dict(
        zip((table.documents[i] for i in table.pair_document), majority(table).label, strict=True)
    )
    kappas = cohen_kappa(count_against_labels(table, majority(table).label), weighted=weighted)
    for a in range(5):
        rows = [i for i in range(50) if grades[i, a] != MISSING and label[f"d{i:04}"] != MISSING]
        expected = scikit_learn(
            grades[rows, a], [label[f"d{i:04}"] for i in rows], n_grades=4, weighted=weighted
        )
        assert kappas[a] == pytest.approx(expected, abs=1e-10)


def test_the_label_of_the_others_leaves_the_own_vote_out():
    table = table_of_pairs(
        [[0, 1, 2], [1, 1, 3], [2, MISSING, MISSING], [MISSING, 3, 0]], n_grades=4
    )
    assert compute_labels_of_others(table).tolist() == [1, 0, 0, 1, 1, 1, MISSING, 0, 3]
    assert count_against_others(table).sum(axis=(1, 2)).tolist() == [2, 3, 3]


def test_annotators_without_anything_in_common_have_no_kappa():
    table = table_of_pairs([[1, MISSING], [MISSING, 2]], n_grades=4)
    assert np.isnan(cohen_kappa(count_against_others(table), weighted=True)).all()
    assert np.isnan(
        cohen_kappa(count_against_labels(table, majority(table).label), weighted=True)
    ).all()
    assert len(find_annotator_pairs(table, min_common=1)) == 0
    assert np.isnan(
        permuted_kappas(
            table.select_by_min_judgements(2), weighted=True, rng=np.random.default_rng(0)
        )
    ).all()


def test_the_mean_leaves_undefined_values_out():
    assert mean_of_defined(np.array([0.5, np.nan, 1.0])) == 0.75
    assert mean_of_defined(np.array([0.5, np.nan, 1.0]), np.array([3, 100, 1])) == 0.625
    assert np.isnan(mean_of_defined(np.array([np.nan])))
    assert np.isnan(mean_of_defined(np.array([])))


def test_the_confusion_between_grades_counts_each_two_judgements_once_in_either_order():
    table = table_of_pairs([[0, 0, 1], [2, 3, MISSING]], n_grades=4)
    between = make_confusion_matrix(table)
    assert between.counts.tolist() == [[2, 2, 0, 0], [2, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]
    assert between.shares[0].tolist() == [0.5, 0.5, 0, 0]
    against = make_confusion_matrix(table, majority(table).label)
    assert against.counts.tolist() == [[2, 0, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 1, 0]]
    assert np.isnan(make_confusion_matrix(table_of_pairs([[0, 0]], n_grades=2)).shares[1]).all()


@pytest.mark.data
@pytest.mark.parametrize(
    ("read", "n_pairs", "undefined", "kappa", "weighted"),
    [
        (ws_zhou_2012, 482, 0, 0.1709, 0.2725),
        (trec_crowd_2011, 6413, 7, 0.2485, 0.2485),
        (lambda folder: llmjudge_2024(folder, only_the_scale=False), 528, 0, 0.3148, 0.4282),
    ],
)
def test_pairs_of_real_annotators_have_the_reference_values(
    data_folder, read, n_pairs, undefined, kappa, weighted
):
    """Reference agreement values of the collections' README: annotators with at least 20 items in
    common."""
    pairs = find_annotator_pairs(read(data_folder), min_common=20)
    plain, linear = (
        cohen_kappa(pairs.joint, weighted=False),
        cohen_kappa(pairs.joint, weighted=True),
    )
    assert (len(pairs), np.isnan(plain).sum()) == (n_pairs, undefined)
    assert round(mean_of_defined(plain), 4) == kappa
    assert round(mean_of_defined(linear), 4) == weighted

"""Dawid-Skene against crowd-kit's frozen values, the paper's own data, and its edges.

tests/data/dawid_skene_crowdkit.json: made for these tests, with the posteriors that crowd-kit 1.4.2
gives for it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.labels.aggregation import dawid_skene, majority
from assay.labels.aggregation.dawid_skene import StoppingRule, estimate_errors
from assay.labels.aggregation.labelling import most_probable_grade
from assay.labels.labels import MISSING
from tests.assay.labels.judged import random_grades, table_of_pairs
from tests.assay.labels.real_judgements import trec_crowd_2011, ws_zhou_2012

FROZEN = json.loads((Path(__file__).parents[2] / "data" / "dawid_skene_crowdkit.json").read_text())[
    "cases"
]

# Dawid and Skene (1979), table 1: by patient, observer 1 three times, then observers 2 to 5
ANAESTHETISTS = (
    "1111111 3334334 1122122 2223121 2223222 2223322 1222111 3333433 2222223 2322223 4444444 "
    "2223343 1111111 2223212 1211111 "
    "1112111 1111111 1111111 2222221 2221322 2222222 2222221 2223222 2212222 1111111 1111111 "
    "2322222 1111111 1111111 1121121 "
    "1111111 3333233 1111111 2222222 2223232 4334343 2212232 2323233 3333432 1111111 1111111 "
    "1212111 2322222 1211111 2222222"
)


@pytest.mark.parametrize("name", FROZEN)
def test_posteriors_labels_and_iterations_are_those_of_crowd_kit(name):
    case = FROZEN[name]
    task, worker, label = np.array(case["rows"]).T
    n_tasks, n_workers = task.max() + 1, worker.max() + 1
    estimate = estimate_errors(
        task,
        worker,
        label,
        shape=(n_tasks, n_workers, case["n_grades"]),
        rule=StoppingRule.CROWD_KIT,
    )
    found = estimate.posterior[case["tasks"]][:, case["grades"]]
    np.testing.assert_allclose(found, case["posterior"], rtol=0, atol=1e-6)
    np.testing.assert_allclose(estimate.objective, case["objective"], rtol=0, atol=1e-9)
    np.testing.assert_allclose(estimate.prior[case["grades"]], case["prior"], rtol=0, atol=1e-6)
    assert most_probable_grade(estimate.posterior[case["tasks"]]).tolist() == case["labels"]


def test_a_grade_that_nobody_used_has_probability_zero():
    case = FROZEN["a grade that nobody used"]
    task, worker, label = np.array(case["rows"]).T
    estimate = estimate_errors(task, worker, label, shape=(30, 5, 4))
    assert case["grades"] == [0, 2, 3]
    assert (estimate.posterior[:, 1] == 0).all()
    assert estimate.prior[1] == 0
    assert np.isnan(estimate.errors[:, 1]).all()


@pytest.mark.parametrize("rule", StoppingRule)
def test_the_anaesthetists_of_the_paper(rule):
    """The class probabilities that Dawid and Skene (1979) print: 0.40, 0.42, 0.11, 0.07."""
    observers = [0, 0, 0, 1, 2, 3, 4]
    rows = np.array(
        [
            (i, observers[k], int(x) - 1)
            for i, row in enumerate(ANAESTHETISTS.split())
            for k, x in enumerate(row)
        ]
    )
    estimate = estimate_errors(*rows.T, shape=(45, 5, 4), rule=rule, rounds=1000, tolerance=1e-12)
    assert np.round(estimate.prior, 2).tolist() == [0.40, 0.42, 0.11, 0.07]
    np.testing.assert_allclose(np.nansum(estimate.errors, axis=2), 1)
    assert (
        most_probable_grade(estimate.posterior).tolist()
        == np.argmax(estimate.posterior, axis=1).tolist()
    )


def test_a_slow_loop_over_the_papers_equations_agrees_iteration_by_iteration():
    grades = random_grades(np.random.default_rng(3), n_pairs=25, n_annotators=4, n_grades=3)
    grades[(grades == MISSING).all(axis=1)] = 0
    pair, annotator = np.nonzero(grades != MISSING)
    given_grades = grades[pair, annotator]
    posterior = np.array(
        [[(row == g).sum() / (row != MISSING).sum() for g in range(3)] for row in grades]
    )
    for n_iterations in range(1, 6):
        prior = posterior.mean(axis=0)
        errors = np.zeros((4, 3, 3))
        for i, k, g in zip(pair, annotator, given_grades, strict=True):
            errors[k, :, g] += posterior[i]
        errors = np.maximum(errors, 1e-10)  # each annotator uses each grade here
        errors /= errors.sum(axis=2, keepdims=True)
        posterior = np.tile(prior, (25, 1))
        for i, k, g in zip(pair, annotator, given_grades, strict=True):
            posterior[i] *= errors[k, :, g]
        posterior /= posterior.sum(axis=1, keepdims=True)
        found = estimate_errors(
            pair,
            annotator,
            given_grades,
            shape=(25, 4, 3),
            rule=StoppingRule.CROWD_KIT,
            rounds=n_iterations,
            tolerance=-1.0,
        )
        np.testing.assert_allclose(found.posterior, posterior, atol=1e-12)


@pytest.mark.parametrize("rule", StoppingRule)
def test_the_rounds_that_ran_out_have_not_converged(rule):
    rows = np.array([(i, k, (i + k * (i % 3)) % 3) for i in range(20) for k in range(4)]).T
    found = estimate_errors(*rows, shape=(20, 4, 3), rule=rule, rounds=2, tolerance=0.0)
    assert (len(found.objective), found.converged) == (2, False)


def log_likelihood(found, grades: np.ndarray) -> float:
    """By the definition, in a loop: of the observed grades, and 0.01 times the logarithm of each
    cell of the confusion matrices."""
    total = 0.0
    for row in grades:
        seen = [(k, g) for k, g in enumerate(row) if g != MISSING]
        total += np.log(
            sum(
                found.prior[t] * np.prod([found.errors[k, t, g] for k, g in seen])
                for t in range(len(found.prior))
            )
        )
    return total + 0.01 * float(np.log(found.errors).sum())


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000))
def test_the_penalised_log_likelihood_is_that_of_the_definition_and_never_falls(seed):
    grades = random_grades(
        np.random.default_rng(seed), n_pairs=15, n_annotators=4, n_grades=3, missing=0.3
    )
    grades[0], grades[1], grades[2] = 0, 1, 2  # every grade is used, and everybody has judged
    pair, annotator = np.nonzero(grades != MISSING)
    arguments = (pair, annotator, grades[pair, annotator])
    found = estimate_errors(*arguments, shape=(15, 4, 3))
    assert found.converged
    assert (np.diff(found.objective) >= -1e-9).all()
    before = estimate_errors(
        *arguments, shape=(15, 4, 3), rounds=len(found.objective) - 1, tolerance=0.0
    )
    assert np.nanmax(np.abs(found.posterior - before.posterior)) < 1e-6
    n = len(found.objective)
    for rounds in (1, 2, n):
        stopped = estimate_errors(*arguments, shape=(15, 4, 3), rounds=rounds, tolerance=0.0)
        assert stopped.objective[-1] == pytest.approx(log_likelihood(stopped, grades), abs=1e-9)


def test_the_penalised_rounds_are_those_of_a_slow_loop():
    grades = random_grades(np.random.default_rng(3), n_pairs=25, n_annotators=4, n_grades=3)
    grades[0], grades[1], grades[2] = 0, 1, 2
    pair, annotator = np.nonzero(grades != MISSING)
    posterior = np.array(
        [[(row == g).sum() / (row != MISSING).sum() for g in range(3)] for row in grades]
    )
    for rounds in range(1, 6):
        prior, errors = posterior.mean(axis=0), np.full((4, 3, 3), 0.01)
        for i, k in zip(pair, annotator, strict=True):
            errors[k, :, grades[i, k]] += posterior[i]
        errors /= errors.sum(axis=2, keepdims=True)
        posterior = np.tile(prior, (25, 1))
        for i, k in zip(pair, annotator, strict=True):
            posterior[i] *= errors[k, :, grades[i, k]]
        posterior /= posterior.sum(axis=1, keepdims=True)
        found = estimate_errors(
            pair, annotator, grades[pair, annotator], shape=(25, 4, 3), rounds=rounds, tolerance=0.0
        )
        np.testing.assert_allclose(found.posterior, posterior, atol=1e-12)
        np.testing.assert_allclose(found.errors, errors, atol=1e-12)


@pytest.mark.long
@pytest.mark.data
def test_the_rounds_do_not_end_early_on_a_real_set(data_folder):
    """crowd-kit's objective falls on trec-crowd-2011 and ends its rounds; the likelihood goes on,
    to the same end from where it stood."""
    table = trec_crowd_2011(data_folder)
    aggregation = dawid_skene(table, min_judgements=1)
    shape = (table.n_pairs, table.n_annotators, table.n_grades)
    far = estimate_errors(
        table.pair, table.annotator, table.grade, shape=shape, rounds=3000, tolerance=0.0
    )
    assert aggregation.ended.converged
    assert most_probable_grade(far.posterior).tolist() == aggregation.label.tolist()
    np.testing.assert_allclose(aggregation.posterior, far.posterior, atol=1e-4)


def test_many_settled_pairs_do_not_end_the_rounds_while_one_posterior_still_moves():
    """Two annotators who always agree on 2,000 pairs make the likelihood large, so that what
    changes is little of it."""
    grades = random_grades(
        np.random.default_rng(1), n_pairs=60, n_annotators=4, n_grades=3, missing=0.4, accuracy=0.5
    )
    settled = np.full((2_000, 6), MISSING)
    settled[:, 4:] = np.arange(2_000)[:, None] % 3
    table = table_of_pairs(
        np.vstack([np.pad(grades, ((0, 0), (0, 2)), constant_values=MISSING), settled]), n_grades=3
    )
    found = dawid_skene(table)
    enough = table.judgements_per_pair[table.pair] > 1
    shape = (table.n_pairs, table.n_annotators, table.n_grades)
    far = estimate_errors(
        table.pair[enough],
        table.annotator[enough],
        table.grade[enough],
        shape=shape,
        rounds=600,
        tolerance=0.0,
    )
    assert found.ended.converged
    np.testing.assert_allclose(found.posterior, far.posterior, atol=1e-4)


def test_equal_probabilities_go_to_the_lowest_grade():
    assert dawid_skene(table_of_pairs([[2, 3], [3, 2]], n_grades=4)).label.tolist() == [2, 2]
    assert most_probable_grade(
        np.array([[0.1, 0.45, 0.45], [0.5 - 1e-16, 0.5, 0.0], [0.2, 0.3, 0.5]])
    ).tolist() == [1, 0, 2]


@pytest.mark.parametrize("n_annotators", [1, 3])
def test_one_pair_and_judgements_that_are_all_equal(n_annotators):
    aggregation = dawid_skene(table_of_pairs([[2] * n_annotators], n_grades=4), min_judgements=1)
    assert aggregation.label.tolist() == [2]
    assert aggregation.posterior.tolist() == [[0, 0, 1, 0]]


def test_one_annotator_alone_is_believed():
    aggregation = dawid_skene(table_of_pairs([[0], [3], [1]], n_grades=4), min_judgements=1)
    assert aggregation.label.tolist() == [0, 3, 1]


def test_without_judgements_there_is_nothing_to_estimate():
    assert dawid_skene(table_of_pairs([], n_grades=4)).n_labelled == 0
    with pytest.raises(ValueError, match="no judgements"):
        estimate_errors(np.array([], int), np.array([], int), np.array([], int), shape=(0, 0, 4))


def test_pairs_with_too_few_judgements_take_no_part_in_the_estimate():
    grades = random_grades(
        np.random.default_rng(5), n_pairs=30, n_annotators=4, n_grades=3, missing=0.4
    )
    table = table_of_pairs(grades, n_grades=3)
    whole, enough = dawid_skene(table), dawid_skene(table.select_by_min_judgements(2))
    assert np.isnan(whole.posterior[~whole.is_labelled]).all()
    np.testing.assert_allclose(whole.posterior[whole.is_labelled], enough.posterior, atol=1e-12)
    assert whole.label[whole.is_labelled].tolist() == enough.label.tolist()


def test_a_contrarian_among_reliable_annotators_is_seen_through():
    truth = np.random.default_rng(6).integers(2, size=60)
    grades = np.stack([truth, truth, 1 - truth, 1 - truth, truth], axis=1)
    grades[np.arange(0, 60, 2), 4] = MISSING
    table = table_of_pairs(grades, n_grades=2)
    wrong = (majority(table).label != truth).sum()
    assert wrong > 10  # two against two: the lowest grade
    assert dawid_skene(table).label.tolist() == truth.tolist()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.permutations(range(5)))
def test_names_of_annotators_and_grades_permuted_permute_the_posterior_only(seed, order):
    grades = random_grades(
        np.random.default_rng(seed), n_pairs=15, n_annotators=5, n_grades=3, missing=0.2
    )
    table = table_of_pairs(grades, n_grades=3)
    again = table_of_pairs(grades[:, order], n_grades=3)
    np.testing.assert_allclose(
        dawid_skene(table).posterior, dawid_skene(again).posterior, atol=1e-9
    )
    flipped = table_of_pairs(np.where(grades == MISSING, MISSING, 2 - grades), n_grades=3)
    np.testing.assert_allclose(
        dawid_skene(table).posterior, dawid_skene(flipped).posterior[:, ::-1], atol=1e-9
    )


def label_digest(aggregation) -> str:
    """Of `topic document label` lines in the order of the ids."""
    table = aggregation.table
    lines = [
        f"{' '.join(table.pair_ids(pair))} {label}"
        for pair, label in enumerate(aggregation.label.tolist())
    ]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


@pytest.mark.data
def test_on_ws_zhou_2012_the_labels_are_those_of_crowd_kit(data_folder):
    aggregation = dawid_skene(
        ws_zhou_2012(data_folder), min_judgements=1, rule=StoppingRule.CROWD_KIT
    )
    assert aggregation.ended == (37, True, None)
    assert aggregation.labels() == {0: 361, 1: 413, 2: 626, 3: 532, 4: 733}
    assert (aggregation.posterior**2).sum() == pytest.approx(2380.609437178591, abs=1e-6)
    assert aggregation.posterior.max(axis=1).mean() == pytest.approx(0.9266693990821705, abs=1e-9)
    np.testing.assert_allclose(
        aggregation.posterior.mean(axis=0),
        [
            0.13487434820484281,
            0.1546253161655645,
            0.23804497441188666,
            0.19928800093497187,
            0.27316736028273414,
        ],
        atol=1e-9,
    )
    ids = {
        aggregation.table.documents[i]: int(label)
        for i, label in zip(aggregation.table.pair_document, aggregation.label, strict=True)
    }
    text = "\n".join(f"{item} {ids[item]}" for item in sorted(ids))
    assert (
        hashlib.sha256(text.encode()).hexdigest()
        == "f410b4dd2c81eedbf8ea816cbb75cc9b081df520776d0af2000253e712b4eccb"
    )


@pytest.mark.data
def test_on_trec_crowd_2011_the_labels_are_those_of_crowd_kit(data_folder):
    aggregation = dawid_skene(
        trec_crowd_2011(data_folder), min_judgements=1, rule=StoppingRule.CROWD_KIT
    )
    assert aggregation.ended == (49, True, None)
    assert aggregation.labels() == {0: 1506, 1: 1881}
    assert (aggregation.posterior**2).sum() == pytest.approx(3227.214621953298, abs=1e-6)
    assert (
        label_digest(aggregation)
        == "abd8d40703ef6d4f4da47cfcdc544b705d8fa56282ad2dfc0aa18a7e02f3bdde"
    )

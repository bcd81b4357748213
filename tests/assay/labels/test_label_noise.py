"""Label noise: by hand on one pair, by every outcome on two, and the more judgements the less
of it."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

from assay.labels.label_noise import NoisyLabels, adjust_for_label_noise, difference_errors
from assay.measures.measures import parse_measures
from tests.assay.labels.judged import table_of_pairs, table_of_rows
from tests.assay.measures.small_collections import run_columns

ROWS = [
    ("t", "a", "x", 1),
    ("t", "a", "y", 1),
    ("t", "a", "z", 0),
    ("t", "b", "x", 0),
    ("t", "b", "y", 0),
    ("t", "b", "z", 1),
]
"""Two pairs: two of three find a relevant, one of three b."""
FIRST, SECOND = (
    run_columns("first", {"t": {"a": 2.0, "b": 1.0}}),
    run_columns("second", {"t": {"b": 2.0, "a": 1.0}}),
)


def relevant_by_majority(share: float) -> float:
    """Three drawn with replacement, two or three of them relevant."""
    return 3 * share**2 * (1 - share) + share**3


def test_a_pair_is_relevant_as_often_as_the_majority_of_three_drawn_is() -> None:
    noisy = NoisyLabels(table_of_rows(ROWS, n_grades=2), [FIRST, SECOND], parse_measures("P@1"))
    assert noisy.qrels.grades.tolist() == [1, 0]
    assert noisy.compute_means(noisy.qrels.grades)[:, 0].tolist() == [1.0, 0.0]
    means = noisy.run_trials(4000, np.random.default_rng(1))[:, :, 0]
    a, b = relevant_by_majority(2 / 3), relevant_by_majority(1 / 3)
    assert means.mean(axis=0).tolist() == pytest.approx([a, b], abs=0.03)
    outcomes = {
        (x, y): (a if x else 1 - a) * (b if y else 1 - b) for x, y in product((0, 1), repeat=2)
    }
    expected = sum(p * (y - x) ** 2 for (x, y), p in outcomes.items()) - (b - a) ** 2
    assert difference_errors(means)[0] == pytest.approx(expected**0.5, abs=0.03)


def test_more_judgements_a_pair_leave_less_noise_and_agreement_none() -> None:
    noisy = NoisyLabels(table_of_rows(ROWS, n_grades=2), [FIRST, SECOND], parse_measures("P@1"))
    errors = [
        difference_errors(noisy.run_trials(1500, np.random.default_rng(2), per_pair=n)[:, :, 0])[0]
        for n in (1, 5, 51)
    ]
    assert errors[0] > errors[1] > errors[2]
    assert errors[0] == pytest.approx(
        (2 * 2 / 9) ** 0.5, abs=0.03
    )  # one draw: variance 2/9 of each pair
    agreed = NoisyLabels(
        table_of_rows([("t", "a", who, 1) for who in "xyz"], n_grades=2),
        [FIRST, SECOND],
        parse_measures("P@1"),
    )
    assert difference_errors(agreed.run_trials(20, np.random.default_rng(3))[:, :, 0]).tolist() == [
        0.0
    ]


def test_the_noise_of_labels_is_taken_out_of_the_variance_over_topics_and_put_in_anew() -> None:
    """True differences of variance .04 over 400 topics, noise of variance .09 a topic by one
    judgement and .03 by three."""
    rng = np.random.default_rng(5)
    n, repeats = 400, 200
    observed = rng.normal(0, 0.2, (repeats, n)) + rng.normal(0, 0.3, (repeats, n))
    spread = observed.std(axis=1, ddof=1)
    by_one, by_three = np.full(repeats, (0.09 / n) ** 0.5), np.full(repeats, (0.03 / n) ** 0.5)
    planned = adjust_for_label_noise(spread, by_one, by_three, n)
    assert np.mean(planned**2) == pytest.approx(0.04 + 0.03, rel=0.02)
    assert adjust_for_label_noise(
        np.array([0.1]), np.array([1.0]), np.array([0.0]), 9
    ).tolist() == [0.0]


@pytest.mark.parametrize(("judged", "ratio"), [(2, 0.79), (3, 0.99), (5, 1.20)])
def test_the_noise_shown_is_understated_with_two_judgements_and_overstated_with_five(
    judged: int, ratio: float
) -> None:
    """By the binomial distribution: 30 % relevant, annotators right in .8, ties to not relevant;
    the table of docs/reference/methods/systems.md."""

    def relevant(share: np.ndarray) -> np.ndarray:
        return stats.binom.sf(judged // 2, judged, share)

    shown, true = 0.0, 0.0
    k = np.arange(judged + 1)
    for weight, share in ((0.3, 0.8), (0.7, 0.2)):
        label = relevant(k / judged)
        shown += weight * float((stats.binom.pmf(k, judged, share) * label * (1 - label)).sum())
        true += weight * float(relevant(share) * (1 - relevant(share)))
    assert (shown / true) ** 0.5 == pytest.approx(ratio, abs=0.005)

    rng = np.random.default_rng(6)
    given = rng.random((3000, judged)) < np.where(rng.random(3000) < 0.3, 0.8, 0.2)[:, None]
    noisy = NoisyLabels(
        table_of_pairs(given.astype(int), n_grades=2), [FIRST], parse_measures("P@1")
    )
    drawn = np.stack([noisy.resample(rng) for _ in range(60)])
    assert drawn.var(axis=0, ddof=1).mean() == pytest.approx(shown, rel=0.06)

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.comparison import significance
from assay.significant_digits import format_p
from tests.assay.comparison.counted_signs import counted_signed_rank

SAMPLES = ["continuous", "reciprocal ranks", "binary", "mostly unanswered"]
small_scores = st.lists(
    st.tuples(st.sampled_from([0, 0.1, 0.25, 0.5, 1]), st.sampled_from([0, 0.1, 0.25, 0.5, 1])),
    min_size=2,
    max_size=40,
)


def sample(kind: str, n: int, rng: np.random.Generator) -> np.ndarray:
    if kind == "continuous":
        return rng.random(n)
    if kind == "reciprocal ranks":
        return 1 / rng.integers(1, 8, n)
    if kind == "binary":
        return rng.integers(0, 2, n).astype(float)
    return np.where(rng.random(n) < 0.2, 1 / rng.integers(1, 4, n), 0.0)


def pairs() -> list:
    rng = np.random.default_rng(7)
    return [
        pytest.param(sample(kind, n, rng), sample(kind, n, rng), id=f"{kind}, {n} topics")
        for kind in SAMPLES
        for n in (5, 12, 43, 500, 3000)
    ]


def two_tails(z: float) -> float:
    return math.erfc(abs(z) / math.sqrt(2))


@pytest.mark.parametrize(("a", "b"), pairs())
def test_paired_t_equals_scipy(a, b):
    assert significance.paired_t_test(b - a) == pytest.approx(
        scipy.stats.ttest_rel(b, a).pvalue, abs=1e-10
    )


@pytest.mark.parametrize(("a", "b"), pairs())
def test_signed_rank_is_exact_up_to_200_differences_and_scipys_approximation_beyond(a, b):
    differences = np.round(b - a, 12)
    if np.count_nonzero(differences) <= 200:
        expected = counted_signed_rank(differences)
        assert significance.signed_rank_method(b - a) == "exact"
    else:
        expected = scipy.stats.wilcoxon(
            differences, zero_method="wilcox", correction=False, method="asymptotic"
        ).pvalue
        assert significance.signed_rank_method(b - a) == "normal approximation"
    assert significance.signed_rank_test(b - a) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("n", [4, 9, 25, 40, 41, 60])
def test_without_ties_the_exact_signed_rank_test_is_that_of_scipy(n):
    differences = np.random.default_rng(n).normal(0.3, 1, n)
    assert significance.signed_rank_test(differences) == pytest.approx(
        scipy.stats.wilcoxon(differences, method="exact").pvalue, abs=1e-12
    )


@pytest.mark.parametrize("most_counted", [0, 40])
def test_with_ties_the_exact_signed_rank_test_is_that_of_all_signs(monkeypatch, most_counted):
    monkeypatch.setattr(significance, "MAX_COUNTED_TOPICS", most_counted)
    differences = np.array([0.5, -0.5, 0.25, 0.25, -0.25, 1, 1, 0.5, 0.75, 0, 0])
    every_sign = scipy.stats.PermutationMethod(n_resamples=np.inf)
    expected = scipy.stats.wilcoxon(differences[differences != 0], method=every_sign).pvalue
    assert significance.signed_rank_test(differences) == pytest.approx(expected, abs=1e-12)


def test_five_topics_that_are_all_better_are_two_of_32_signs():
    assert significance.signed_rank_test([1, 1, 1, 0.5, 0.25, 0, 0]) == 2 / 32
    assert significance.signed_rank_test([0.1] * 5) == significance.sign_test([0.1] * 5) == 2 / 32


def test_at_few_topics_the_exact_test_errs_at_most_as_often_as_it_says():
    """Signs of 5 and 6 topics that are all as likely: the normal approximation calls 6.3 % of them
    significant."""
    for n in (5, 6):
        signs = np.array(list(itertools.product((-1, 1), repeat=n)))
        differences = signs * np.arange(1.0, n + 1)
        approximate = scipy.stats.wilcoxon(
            differences, axis=1, correction=False, method="asymptotic"
        ).pvalue
        assert (significance.signed_rank_test(differences) < 0.05).mean() <= 0.05
        assert (approximate < 0.05).mean() > 0.06


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.0310, "0.031"),
        (0.745, "0.74"),
        (0.05, "0.050"),
        (1.0, "1"),
        (0.00099, "< 0.001"),
        (8.7e-8, "< 0.001"),
        (float("nan"), "-"),
    ],
)
def test_people_read_two_digits_of_a_p_value(p, text):
    assert format_p(p) == text


@pytest.mark.parametrize(("a", "b"), pairs())
def test_rank_sum_equals_scipys_ranksums_and_mann_whitney_with_ties(a, b):
    found = significance.rank_sum_test(a, b)
    assert found.p == pytest.approx(scipy.stats.ranksums(a, b).pvalue, abs=1e-10)
    assert found.p_tie_corrected == pytest.approx(
        scipy.stats.mannwhitneyu(a, b, use_continuity=False, method="asymptotic").pvalue, abs=1e-10
    )


@pytest.mark.parametrize(("a", "b"), pairs())
def test_sign_test_equals_scipys_exact_binomial(a, b):
    wins, losses = int((b > a).sum()), int((b < a).sum())
    assert significance.sign_test(b - a) == pytest.approx(
        scipy.stats.binomtest(wins, wins + losses).pvalue, abs=1e-10
    )


def test_rank_sum_of_samples_of_unequal_size_equals_scipy():
    rng = np.random.default_rng(3)
    a, b = sample("reciprocal ranks", 30, rng), sample("reciprocal ranks", 47, rng)
    found = significance.rank_sum_test(a, b)
    assert found.p == pytest.approx(scipy.stats.ranksums(a, b).pvalue, abs=1e-12)
    assert found.p_tie_corrected == pytest.approx(
        scipy.stats.mannwhitneyu(a, b, use_continuity=False, method="asymptotic").pvalue, abs=1e-12
    )


def test_under_heavy_ties_the_two_rank_sums_differ_as_by_hand():
    """15 of 100 topics answered at rank 1 against 22 of 100, by hand: U is 350 from its mean; 163
    and 37 are tied."""
    a, b = np.repeat([1.0, 0.0], [15, 85]), np.repeat([1.0, 0.0], [22, 78])
    variance = 100 * 100 * 201 / 12
    reduced = 100 * 100 / 12 * (201 - (163**3 - 163 + 37**3 - 37) / (200 * 199))
    found = significance.rank_sum_test(a, b)
    assert found.p == pytest.approx(two_tails(350 / math.sqrt(variance)), abs=1e-12)
    assert found.p_tie_corrected == pytest.approx(two_tails(350 / math.sqrt(reduced)), abs=1e-12)
    assert (round(float(found.p), 2), round(float(found.p_tie_corrected), 2)) == (0.39, 0.20)


def test_signed_rank_by_hand():
    """Differences 1, -2, 2, 4, 0: zero dropped, ranks 1, 2.5, 2.5, 4. Negative ranks sum to at most
    2.5 with no sign, the 1, either 2.5."""
    assert significance.signed_rank_test([1, -2, 2, 4, 0]) == 2 * 4 / 16
    assert significance.signed_rank_p(np.array(7.5), 4, np.array(6.0)) == pytest.approx(
        two_tails(2.5 / math.sqrt(7.5 - 0.125)), abs=1e-12
    )
    assert significance.signed_rank_direction([1, -2, 2, 4, 0]) == 5


def test_paired_t_by_students_sleep_data():
    """Student (1908), additional hours of sleep by two drugs: t = 4.0621 on 9 degrees of freedom, p
    = 0.002833."""
    first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
    second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
    assert significance.paired_t_test(np.subtract(second, first)) == pytest.approx(
        0.002833, abs=5e-7
    )


def test_binomial_by_hand():
    """One win in five: 2 (1 + 5) / 32. Three in six: everything."""
    assert significance.binomial_test([1, 4, 3, 0, 0], [4, 1, 3, 0, 3]).tolist() == pytest.approx(
        [12 / 32, 12 / 32, 1, 1, 2 / 8], abs=1e-15
    )


def test_without_any_difference_every_test_gives_one():
    a = np.array([0.5, 0.25, 1.0])
    rank_sum = significance.rank_sum_test(a, a)
    assert [
        significance.paired_t_test(a - a),
        significance.signed_rank_test(a - a),
        significance.sign_test(a - a),
    ] == [1, 1, 1]
    assert (rank_sum.p, rank_sum.p_tie_corrected) == (1, 1)


def test_float_noise_is_no_difference():
    noise = np.array([0.1 + 0.2 - 0.3, 0.0, 0.7 - 0.1 - 0.6])
    assert noise.any()
    assert [
        significance.paired_t_test(noise),
        significance.signed_rank_test(noise),
        significance.sign_test(noise),
    ] == [1, 1, 1]
    assert significance.rank_sum_test([0.3, 0.6], [0.1 + 0.2, 0.7 - 0.1]).p == 1


def test_a_constant_difference_has_no_t_and_the_verdict_of_the_permutation_test():
    for d in (np.full(4, 0.2), np.array([0.3, 0.5, 0.9]) - np.array([0.1, 0.3, 0.7])):
        assert np.isnan(significance.paired_t_test(d))
        signs = itertools.product((1, -1), repeat=len(d))
        assert significance.verdict_p_value(d) == np.mean(
            [abs(np.dot(s, d)) >= d.sum() - 1e-9 for s in signs]
        )
    assert significance.verdict_p_value(np.zeros(4)) == 1
    varied = np.random.default_rng(1).random((2, 9)) - 0.3
    assert significance.verdict_p_value(varied) == pytest.approx(
        scipy.stats.ttest_1samp(varied, 0, axis=1).pvalue
    )


@pytest.mark.parametrize(
    ("n", "reason"),
    [
        (1, "1 topic; a verdict needs at least 6"),
        (5, "5 topics; a verdict needs at least 6"),
        (6, ""),
    ],
)
def test_fewer_topics_than_an_exact_test_needs_have_no_verdict(n, reason):
    assert significance.no_verdict_reason(n) == reason
    assert (significance.sign_test([0.1] * n) < 0.05) == (not reason)


def test_one_topic_with_a_difference_has_no_t():
    assert np.isnan(significance.paired_t_test([0.5]))
    assert significance.paired_t_test([0.0]) == 1


def test_without_topics_p_is_undefined():
    nothing: list[float] = []
    found = significance.rank_sum_test(nothing, nothing)
    values = [
        significance.paired_t_test(nothing),
        significance.signed_rank_test(nothing),
        significance.sign_test(nothing),
        found.p,
        found.p_tie_corrected,
    ]
    assert np.isnan(values).all()


def test_an_undefined_score_makes_p_undefined():
    d = [0.1, np.nan, 0.2]
    found = significance.rank_sum_test(d, [0.1, 0.2, 0.3])
    assert np.isnan(
        [
            significance.paired_t_test(d),
            significance.signed_rank_test(d),
            significance.sign_test(d),
            found.p,
            found.p_tie_corrected,
        ]
    ).all()


def test_batches_equal_single_comparisons(monkeypatch):
    monkeypatch.setattr(significance, "BLOCK_CELLS", 500)  # several blocks
    rng = np.random.default_rng(11)
    a = np.stack([np.stack([sample(kind, 60, rng) for kind in SAMPLES]) for _ in range(5)])
    b = np.stack([np.stack([sample(kind, 60, rng) for kind in SAMPLES]) for _ in range(5)])
    b[1, 2] = a[1, 2]
    b[2, 0] = a[2, 0] + 0.25
    batched = [
        significance.paired_t_test(b - a),
        significance.signed_rank_test(b - a),
        significance.sign_test(b - a),
        significance.rank_sum_test(a, b).p,
    ]
    for i in range(5):
        for j in range(len(SAMPLES)):
            d = b[i, j] - a[i, j]
            single = [
                significance.paired_t_test(d),
                significance.signed_rank_test(d),
                significance.sign_test(d),
                significance.rank_sum_test(a[i, j], b[i, j]).p,
            ]
            assert [float(p[i, j]) for p in batched] == pytest.approx(
                [float(p) for p in single], abs=1e-13, nan_ok=True
            )


def test_an_empty_batch_has_no_p_values():
    nothing = np.zeros((0, 7))
    assert significance.signed_rank_test(nothing).shape == (0,)
    assert significance.rank_sum_test(nothing, nothing).p.shape == (0,)
    assert significance.binomial_test([], []).shape == (0,)


@settings(deadline=None)
@given(small_scores)
def test_swapping_the_runs_changes_no_p_value(scores):
    a, b = np.array(scores, float).T
    for test in (significance.paired_t_test, significance.signed_rank_test, significance.sign_test):
        assert test(b - a) == pytest.approx(float(test(a - b)), abs=1e-12, nan_ok=True)
    one, other = significance.rank_sum_test(a, b), significance.rank_sum_test(b, a)
    assert float(one.p) == pytest.approx(float(other.p), abs=1e-12)
    assert float(one.p_tie_corrected) == pytest.approx(float(other.p_tie_corrected), abs=1e-12)


@settings(deadline=None)
@given(small_scores, st.randoms(use_true_random=False))
def test_the_order_of_topics_changes_no_p_value(scores, random):
    shuffled = list(scores)
    random.shuffle(shuffled)
    (a, b), (c, d) = np.array(scores, float).T, np.array(shuffled, float).T
    for test in (significance.paired_t_test, significance.signed_rank_test, significance.sign_test):
        assert test(b - a) == pytest.approx(float(test(d - c)), abs=1e-12, nan_ok=True)


def test_holm_follows_the_worked_example():
    """Holm's procedure by hand on 0.01, 0.04, 0.03, 0.005: times 4, 3, 2, 1 in order of size, never
    falling."""
    assert significance.adjust_p_values(
        [0.01, 0.04, 0.03, 0.005], "holm"
    ).tolist() == pytest.approx([0.03, 0.06, 0.06, 0.02], abs=1e-15)
    assert significance.adjust_p_values([0.04, 0.01], "holm", family=4).tolist() == pytest.approx(
        [0.12, 0.04], abs=1e-15
    )  # two more elsewhere


def test_bonferroni_multiplies_by_the_family_and_stops_at_one():
    assert significance.adjust_p_values([0.01, 0.5], "bonferroni").tolist() == [0.02, 1.0]
    assert significance.adjust_p_values([0.01], "bonferroni", family=14).tolist() == pytest.approx(
        [0.14]
    )
    assert significance.adjust_p_values([0.01, 0.5], "none").tolist() == [0.01, 0.5]


def test_an_undefined_p_value_stays_undefined_and_belongs_to_the_family():
    assert significance.adjust_p_values([0.01, np.nan], "holm").tolist() == pytest.approx(
        [0.02, np.nan], nan_ok=True
    )
    assert significance.adjust_p_values([0.01, np.nan], "bonferroni").tolist() == pytest.approx(
        [0.02, np.nan], nan_ok=True
    )


def test_a_family_smaller_than_the_list_and_an_unknown_correction_are_refused():
    with pytest.raises(ValueError, match="family size 1"):
        significance.adjust_p_values([0.1, 0.2], "bonferroni", family=1)
    with pytest.raises(ValueError, match="unknown correction"):
        significance.adjust_p_values([0.1], "sidak")


def test_ranks_are_those_of_scipy_with_ties_and_undefined_values() -> None:
    values = np.round(np.random.default_rng(4).random((3, 5, 8)), 1)
    values[0, 0, 3] = np.nan
    expected = scipy.stats.rankdata(-values, axis=-1, nan_policy="omit")
    assert significance.rank_values(values) == pytest.approx(expected, nan_ok=True)

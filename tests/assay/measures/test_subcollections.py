from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.measures.subcollections import (
    DEFAULT_OVERLAPS,
    IN_FIRST,
    IN_SECOND,
    SamplingPopulation,
    draw_pairs,
    find_min_overlap,
    list_overlaps,
    shared_size,
    split_memberships,
)


@settings(max_examples=100, deadline=None)
@given(n=st.integers(2, 300), percent=st.integers(0, 100), seed=st.integers(0, 2**32))
def test_both_halves_have_exactly_their_size_and_share_exactly_so_much(
    n: int, percent: int, seed: int
) -> None:
    size, shared = n // 2, (2 * percent * (n // 2) + 100) // 200
    for pair in draw_pairs(
        SamplingPopulation.from_size(n), Fraction(percent, 100), 3, np.random.default_rng(seed)
    ):
        first, second = set(np.flatnonzero(pair & IN_FIRST)), set(np.flatnonzero(pair & IN_SECOND))
        assert (len(first), len(second), len(first & second)) == (size, size, shared)


def test_a_half_of_a_thing_is_rounded_up_in_whole_numbers() -> None:
    assert [shared_size(25, Fraction(percent, 100)) for percent in (0, 5, 10, 50, 90, 100)] == [
        0,
        1,
        3,
        13,
        23,
        25,
    ]
    assert shared_size(34_659, Fraction(1, 20)) == 1733  # 1732.95


def test_sizes_of_trec_covid_are_the_papers() -> None:
    sizes = {n: SamplingPopulation.from_size(n).size for n in (191_160, 50, 69_318, 26_664)}
    assert list(sizes.values()) == [95_580, 25, 34_659, 13_332]
    assert (
        SamplingPopulation.from_size(191_160).n_shared(Fraction(5, 100)) == 4779
    )  # the paper's 5 %


def test_every_pair_of_halves_is_equally_likely() -> None:
    rng = np.random.default_rng(1)
    n = 12_000
    drawn = Counter(
        tuple(pair.tolist())
        for pair in draw_pairs(SamplingPopulation.from_size(5), Fraction(1, 2), n, rng)
    )
    # 2 of 5 for the first, one of them and one of the other 3 for the second: 10 x 2 x 3
    assert len(drawn) == 60
    expected = n / 60
    chi_squared = sum((count - expected) ** 2 / expected for count in drawn.values())
    assert chi_squared < 59 + 4 * (2 * 59) ** 0.5


def test_a_quota_halves_every_group_by_itself() -> None:
    group = np.array([2, 0, 0, 2, 2, 2, 0, 5, 0, 2, 5, 5])  # 4 of 0, 5 of 2, 3 of 5
    population = SamplingPopulation.from_groups(group)
    assert (population.n, population.size, population.n_shared(Fraction(1, 2))) == (
        12,
        2 + 2 + 1,
        1 + 1 + 1,
    )
    for pair in draw_pairs(population, Fraction(1, 2), 20, np.random.default_rng(0)):
        for number, (size, shared) in {0: (2, 1), 2: (2, 1), 5: (1, 1)}.items():
            of_group = pair[group == number]
            assert ((of_group & IN_FIRST) > 0).sum() == size
            assert ((of_group & IN_SECOND) > 0).sum() == size
            assert (of_group == IN_FIRST | IN_SECOND).sum() == shared


def test_equal_keys_at_a_border_are_drawn_again() -> None:
    class Tied(np.random.Generator):
        calls = 0

        def integers(self, low, high=None, size=None, dtype=np.int64, endpoint=False):  # type: ignore[no-untyped-def, override]
            type(self).calls += 1
            return super().integers(0, 4 if self.calls < 40 else high, size, dtype=dtype)

    (pair,) = draw_pairs(
        SamplingPopulation.from_size(50), Fraction(1, 3), 1, Tied(np.random.PCG64(3))
    )
    assert Tied.calls > 1
    assert ((pair & IN_FIRST > 0).sum(), (pair & IN_SECOND > 0).sum(), (pair == 3).sum()) == (
        25,
        25,
        8,
    )


def test_columns_put_the_two_of_a_pair_side_by_side() -> None:
    memberships = np.array([[1, 2, 3, 0], [3, 3, 0, 2]], np.uint8)
    assert split_memberships(memberships).tolist() == [
        [1, 0, 1, 1],
        [0, 1, 1, 1],
        [1, 1, 0, 0],
        [0, 0, 0, 1],
    ]


def test_topics_have_a_level_for_each_number_of_shared_topics() -> None:
    overlaps = list_overlaps(25)
    assert len(overlaps) == 25
    assert [shared_size(25, overlap) for overlap in overlaps] == list(range(1, 26))
    assert len(DEFAULT_OVERLAPS) == 20


@pytest.mark.parametrize(
    ("holds", "expected"),
    [
        ([True, True, True, True], Fraction(1, 10)),
        ([True, False, True, True], Fraction(1, 2)),
        ([True, True, False, True], None),
        ([True, True, True, False], None),
    ],
)
def test_the_least_overlap_is_the_one_from_which_it_stays(
    holds: list[bool], expected: Fraction | None
) -> None:
    overlaps = [Fraction(1, 10), Fraction(3, 10), Fraction(1, 2), Fraction(1)]
    for order in combinations(range(4), 4):
        assert find_min_overlap([overlaps[i] for i in order], [holds[i] for i in order]) == expected

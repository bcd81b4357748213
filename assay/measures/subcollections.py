"""Draw pairs of sub-collections with a given overlap in one element of a test collection.

An element with N units is halved: every sub-collection has m = floor(N/2) of them, and the two of
a pair share s = floor(o m + 1/2) at overlap o. Because 2m - s <= N, any overlap from 0 (disjoint)
to 1 is possible. Overlaps are exact fractions, so sizes do not depend on rounding errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

ELEMENTS = ("documents", "topics", "assessments", "positive")
"""Elements that can be varied, in the order that numbers their random streams."""

JOINT = tuple(
    f"{a}+{b}" for a, b in combinations(ELEMENTS, 2) if (a, b) != ("assessments", "positive")
)
"""Pairs of elements that are varied together, each independently at the same overlap. Both kinds of
assessments are rows of the same qrels."""

IN_FIRST, IN_SECOND = 1, 2
"""Bits of a membership."""

DEFAULT_OVERLAPS = tuple(Fraction(percent, 100) for percent in range(5, 101, 5))


@dataclass(frozen=True, eq=False)
class SamplingPopulation:
    """Units (topics, documents or assessments) to sample from, numbered from 0, in one group, or in
    groups that are halved separately (quotas).

    n: N. groups: int64 arrays with the numbers of each group's units, which together contain each
    number once.
    """

    n: int
    groups: tuple[NDArray[np.int64], ...]

    @classmethod
    def from_size(cls, n: int) -> SamplingPopulation:
        return cls(n, (np.arange(n),))

    @classmethod
    def from_groups(cls, group: NDArray[np.integer]) -> SamplingPopulation:
        """Return the population. group: int (N), the group of each unit."""
        return cls(len(group), tuple(np.flatnonzero(group == g) for g in np.unique(group)))

    @property
    def size(self) -> int:
        """Return m, the number of units in one sub-collection."""
        return sum(half_size(len(group)) for group in self.groups)

    def n_shared(self, overlap: Fraction) -> int:
        """Return s, the number of shared units."""
        return sum(shared_size(half_size(len(group)), overlap) for group in self.groups)


def half_size(n: int) -> int:
    return n // 2


def shared_size(size: int, overlap: Fraction) -> int:
    """Return how many of `size` units two sub-collections share at this overlap, rounded half up in
    exact arithmetic: 10% of 25 is 3."""
    return (2 * overlap.numerator * size + overlap.denominator) // (2 * overlap.denominator)


def list_overlaps(size: int) -> tuple[Fraction, ...]:
    """Return one overlap per number of shared units, 1..m (the paper's levels for topics)."""
    return tuple(Fraction(shared, size) for shared in range(1, size + 1))


def draw_pairs(
    population: SamplingPopulation, overlap: Fraction, n_pairs: int, rng: np.random.Generator
) -> NDArray[np.uint8]:
    """Draw memberships as bits IN_FIRST and IN_SECOND: uint8 (n_pairs, N).

    All pairs of sub-collections of these sizes are equally likely.
    """
    memberships = np.zeros((n_pairs, population.n), np.uint8)
    for pair in memberships:
        for group in population.groups:
            size = half_size(len(group))
            pair[group] = draw_pair(len(group), size, shared_size(size, overlap), rng)
    return memberships


def draw_pair(n: int, size: int, shared: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Draw the memberships of n units in two sets of `size` that share `shared`: uint8 (n).

    Units are sorted by random keys. The first ones belong to the first set only, the next ones to
    both, the following ones to the second set only. If two equal keys meet at a boundary, which is
    rare, all keys are drawn again.
    """
    if size == 0:
        return np.zeros(n, np.uint8)
    starts, ends = size - shared, 2 * size - shared
    while True:
        keys = rng.integers(0, 2**32, n, dtype=np.uint32)
        ordered = np.sort(keys)
        first = keys <= ordered[size - 1]
        second = keys <= ordered[ends - 1]
        if starts > 0:
            second &= keys > ordered[starts - 1]
        if (
            np.count_nonzero(first) == size
            and np.count_nonzero(second) == size
            and np.count_nonzero(first & second) == shared
        ):
            return first.view(np.uint8) | (second.view(np.uint8) << 1)


def split_memberships(memberships: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return flags 0/1 with one column per sub-collection, the two of a pair adjacent: uint8 (N, 2
    x n_pairs)."""
    flags = np.empty((memberships.shape[1], len(memberships), 2), np.uint8)
    turned = np.ascontiguousarray(memberships.T)
    np.bitwise_and(turned, IN_FIRST, out=flags[:, :, 0])
    np.right_shift(turned, 1, out=flags[:, :, 1])
    return flags.reshape(memberships.shape[1], -1)


def find_min_overlap(overlaps: Sequence[Fraction], holds: Sequence[bool]) -> Fraction | None:
    """Return the smallest overlap below 1 from which the condition holds at all levels, or None."""
    least = None
    for overlap, held in sorted(zip(overlaps, holds, strict=True), reverse=True):
        if not held:
            break
        if overlap < 1:
            least = overlap
    return least

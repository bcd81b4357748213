"""Pairs of sub-collections that share exactly so much of one element of a test collection.

An element of N things is halved: every sub-collection holds m = floor(N/2) of them, and the two of
a pair share s = floor(o m + 1/2) at overlap o. Since 2m - s <= N any overlap from 0 (disjoint) to 1
is possible. Overlaps are exact fractions, so that sizes never hang on a rounding error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

ELEMENTS = ("documents", "topics", "assessments", "positive")
"""What can be varied, in the order that numbers their random streams."""

JOINT = tuple(
    f"{a}+{b}" for a, b in combinations(ELEMENTS, 2) if (a, b) != ("assessments", "positive")
)
"""Two elements varied together, each by itself at the same overlap; both kinds of assessments are
rows of the same qrels."""

IN_FIRST, IN_SECOND = 1, 2
"""Bits of a membership."""

DEFAULT_OVERLAPS = tuple(Fraction(percent, 100) for percent in range(5, 101, 5))


@dataclass(frozen=True, eq=False)
class SamplingPopulation:
    """What is drawn from: things numbered from 0, in one group, or in groups that are halved each
    by itself (quotas).

    n: N. groups: int64 arrays, the numbers of each group's things; together all N, each once.
    """

    n: int
    groups: tuple[NDArray[np.int64], ...]

    @classmethod
    def whole(cls, n: int) -> SamplingPopulation:
        return cls(n, (np.arange(n),))

    @classmethod
    def by_group(cls, group: NDArray[np.integer]) -> SamplingPopulation:
        """group: int (N), the number of each thing's group."""
        return cls(len(group), tuple(np.flatnonzero(group == g) for g in np.unique(group)))

    @property
    def size(self) -> int:
        """m, the things in one sub-collection."""
        return sum(half_size(len(group)) for group in self.groups)

    def shared(self, overlap: Fraction) -> int:
        """s, the things that both have."""
        return sum(shared_size(half_size(len(group)), overlap) for group in self.groups)


def half_size(n: int) -> int:
    return n // 2


def shared_size(size: int, overlap: Fraction) -> int:
    """floor(o m + 1/2) in whole numbers: 10 % of 25 is 3."""
    return (2 * overlap.numerator * size + overlap.denominator) // (2 * overlap.denominator)


def all_overlaps(size: int) -> tuple[Fraction, ...]:
    """One overlap for each number of shared things, 1..m (the paper's levels for topics)."""
    return tuple(Fraction(shared, size) for shared in range(1, size + 1))


def draw_pairs(
    population: SamplingPopulation, overlap: Fraction, n_pairs: int, rng: np.random.Generator
) -> NDArray[np.uint8]:
    """Memberships, IN_FIRST and IN_SECOND as bits. -> uint8 (n_pairs, N)

    Every pair of sub-collections of these sizes is equally likely.
    """
    memberships = np.zeros((n_pairs, population.n), np.uint8)
    for pair in memberships:
        for group in population.groups:
            size = half_size(len(group))
            pair[group] = draw_pair(len(group), size, shared_size(size, overlap), rng)
    return memberships


def draw_pair(n: int, size: int, shared: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Memberships of n things in two sets of `size` that share `shared`. -> uint8 (n)

    Things get random keys. In the order of keys come first what only the first set has, then what
    both have, then what only the second has. Where two equal keys meet at a border, which is rare,
    all are drawn again."""
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
    """Flags 0/1 with the sub-collections as columns, the two of a pair side by side. -> uint8 (N, 2
    x n_pairs)"""
    flags = np.empty((memberships.shape[1], len(memberships), 2), np.uint8)
    turned = np.ascontiguousarray(memberships.T)
    np.bitwise_and(turned, IN_FIRST, out=flags[:, :, 0])
    np.right_shift(turned, 1, out=flags[:, :, 1])
    return flags.reshape(memberships.shape[1], -1)


def find_least_overlap(overlaps: Sequence[Fraction], holds: Sequence[bool]) -> Fraction | None:
    """The smallest overlap below 1 from which on it holds at every level; None if there is none."""
    least = None
    for overlap, held in sorted(zip(overlaps, holds, strict=True), reverse=True):
        if not held:
            break
        if overlap < 1:
            least = overlap
    return least

"""Strata of a pool, and the allocation of a sample to them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.pools.depth import PooledPairs
from assay.pools.strata import (
    allocate_sample,
    complete_small_strata,
    make_llm_strata,
    make_rank_strata,
    make_vote_strata,
    rate_spreads,
    sampled_mask,
    shuffle_strata,
    vote_shares,
)


def pool_with(
    best: list[int], topic: list[int], ranks: list[list[int]] | None = None
) -> PooledPairs:
    n = len(best)
    matrix = np.array(ranks if ranks is not None else [[rank] for rank in best], np.int16)
    return PooledPairs(
        depth=100,
        tags=[f"r{k}" for k in range(matrix.shape[1])],
        topics=["1", "2"],
        topic=np.array(topic, np.int32),
        documents=np.array([f"d{k}".encode() for k in range(n)]),
        best_rank=np.array(best, np.int32),
        priority=np.zeros(n, np.int32),
        ranks=matrix,
        everyone=np.zeros(n, bool),
    )


def test_a_stratum_is_a_topic_and_a_band_of_best_rank() -> None:
    strata = make_rank_strata(pool_with([1, 3, 4, 10, 11, 51, 2], [0, 0, 0, 0, 0, 0, 1]))
    assert [strata.names[k] for k in strata.stratum] == [
        "1/1-3",
        "1/1-3",
        "1/4-10",
        "1/4-10",
        "1/11-20",
        "1/51+",
        "2/1-3",
    ]
    assert dict(zip(strata.names, strata.sizes.tolist(), strict=True)) == {
        "1/1-3": 2,
        "1/4-10": 2,
        "1/11-20": 1,
        "1/51+": 1,
        "2/1-3": 1,
    }
    assert strata.rates[strata.names.index("1/4-10")] == 0.30


def test_votes_are_cut_at_quantiles_over_all_topics() -> None:
    ranks = [
        [1] * k + [0] * (20 - k) for k in range(1, 21)
    ]  # shares .05, .10, ... 1; quantiles .525 .81 .9525
    strata = make_vote_strata(pool_with([1] * 20, [0] * 10 + [1] * 10, ranks))
    assert [strata.names[k] for k in strata.stratum] == ["*votes1"] * 10 + ["*votes2"] * 6 + [
        "*votes3"
    ] * 3 + ["*votes4"]


def test_a_rank_below_ten_is_no_vote() -> None:
    strata = make_vote_strata(pool_with([11, 1], [0, 0], [[11, 0], [1, 1]]))
    assert strata.names[strata.stratum[0]] < strata.names[strata.stratum[1]]
    assert vote_shares(pool_with([10, 9], [0, 0], [[10, 11], [9, 0]])).tolist() == [0.5, 0.5]


def test_allocation_as_worked_by_hand() -> None:
    """Two of each first. The other 14 are allocated as 10 x .5, 20 x .4, 70 x .218, that is 2.48,
    3.96, 7.56."""
    assert allocate_sample(
        np.array([10, 20, 70]), rate_spreads(np.array([0.5, 0.2, 0.05])), 20
    ).tolist() == [4, 6, 10]


def test_a_full_stratum_leaves_its_share_to_the_others() -> None:
    counts = allocate_sample(np.array([3, 100]), np.array([1000.0, 0.1]), 50)
    assert counts.tolist() == [3, 47]


def test_strata_without_spread_share_what_is_left() -> None:
    assert allocate_sample(np.array([10, 30]), np.zeros(2), 24, least=0).tolist() == [6, 18]


@given(
    st.lists(st.tuples(st.integers(1, 60), st.floats(0.0, 0.5)), min_size=1, max_size=12),
    st.integers(0, 400),
)
def test_allocation_keeps_its_bounds(strata: list[tuple[int, float]], n: int) -> None:
    sizes, spreads = (
        np.array([size for size, _ in strata]),
        np.array([spread for _, spread in strata]),
    )
    counts = allocate_sample(sizes, spreads, n)
    assert (counts <= sizes).all()
    assert (counts >= np.minimum(sizes, 2)).all()
    assert counts.sum() == max(min(n, sizes.sum()), np.minimum(sizes, 2).sum())


def test_a_larger_budget_only_adds_pairs_and_the_order_of_files_does_not_matter() -> None:
    pool = pool_with(list(range(1, 41)), [0] * 20 + [1] * 20)
    strata = make_rank_strata(pool)
    place = shuffle_strata(strata, np.random.default_rng(7), pool.documents, pool.topic)
    few = sampled_mask(strata, place, np.minimum(strata.sizes, 2))
    more = sampled_mask(strata, place, np.minimum(strata.sizes, 5))
    assert (more[few]).all()
    assert more.sum() == np.minimum(strata.sizes, 5).sum()
    order = np.random.default_rng(1).permutation(40)
    turned = pool_with([int(pool.best_rank[k]) for k in order], [int(pool.topic[k]) for k in order])
    turned = PooledPairs(**{**turned.__dict__, "documents": pool.documents[order]})
    again = shuffle_strata(
        make_rank_strata(turned), np.random.default_rng(7), turned.documents, turned.topic
    )
    assert again.tolist() == place[order].tolist()


@pytest.mark.parametrize("n", [0, 2, 5])
def test_every_place_of_a_stratum_is_taken_once(n: int) -> None:
    strata = make_rank_strata(pool_with([1] * (n + 1), [0] * (n + 1)))
    pool = pool_with([1] * (n + 1), [0] * (n + 1))
    assert sorted(
        shuffle_strata(strata, np.random.default_rng(0), pool.documents, pool.topic).tolist()
    ) == list(range(n + 1))


def test_a_stratum_of_which_little_would_be_left_is_finished() -> None:
    """Of 100 less than 15 would be left: 86 becomes 100; 85 leaves 15 and stays."""
    assert complete_small_strata(np.array([100, 100, 4]), np.array([86, 85, 2])).tolist() == [
        100,
        85,
        2,
    ]


def test_strata_of_an_llm_judge_are_votes_and_its_grades() -> None:
    """Shares of votes .5 and 1: spreads .5 and 0; expected rates at grades 0 to 3: .08 .20 .35
    .50."""
    pool = pool_with([1] * 4, [0, 0, 1, 1], [[1, 0], [1, 0], [1, 0], [1, 1]])
    strata, spreads = make_llm_strata(pool, np.array([0, 3, 3, 3]))
    by_name = dict(
        zip(strata.names, zip(strata.sizes.tolist(), spreads.tolist(), strict=True), strict=True)
    )
    low, high = strata.names[strata.stratum[0]], strata.names[strata.stratum[1]]
    assert (low.endswith("grade0"), high.endswith("grade3")) == (True, True)
    assert by_name[low] == (1, pytest.approx(0.5 * np.sqrt(0.08 * 0.92)))
    assert by_name[high] == (2, pytest.approx(0.5 * 0.5))
    assert by_name[strata.names[strata.stratum[3]]] == (1, 0.0)

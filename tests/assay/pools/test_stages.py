"""The draw of a sampled pool in stages: nested, the same for any order of files, and what is handed
out betrays nothing."""

from __future__ import annotations

import numpy as np
import pytest

from assay.pools.depth import RunTop, make_depth_pool
from assay.pools.pool_sentences import (
    describe_half_judged_depth_pool,
    describe_half_judged_sampled_pool,
)
from assay.pools.stages import (
    allocate_stages,
    assign_stages,
    check_budgets,
    draw_stages,
    service_order,
)
from assay.pools.strata import RANK_NAMES, RANK_RATES, VOTE_NAMES, VOTE_RATES, prior_rate


def pool_of(n_topics: int = 3, depth: int = 30, tags: str = "AB"):
    """Each run has documents of its own."""
    tops = [
        RunTop(
            tag,
            [f"t{t}" for t in range(n_topics)],
            np.arange(n_topics + 1) * depth,
            np.array(
                [f"{tag}{t}-{rank}".encode() for t in range(n_topics) for rank in range(depth)]
            ),
        )
        for tag in tags
    ]
    return make_depth_pool(tops, depth=depth, rng=np.random.default_rng(0))


def by_pair(pool, values):
    return {
        (pool.topics[t], d): v
        for t, d, v in zip(
            pool.topic.tolist(), pool.documents.tolist(), values.tolist(), strict=True
        )
    }


def test_a_stage_only_adds_to_the_one_before():
    pool = pool_of()
    both, longer = (
        draw_stages(pool, strata="rank", budgets=[0.2, 0.5], seed=1),
        draw_stages(pool, strata="rank", budgets=[0.2], seed=1),
    )
    assert (both.counts[1] >= both.counts[0]).all()
    assert ((longer.stage == 1) == (both.stage == 1)).all()
    assert (both.stage == 2).any()
    assert [
        int(((both.stage > 0) & (both.stage <= stage)).sum()) for stage in (1, 2)
    ] == both.counts.sum(axis=1).tolist()


def test_counts_never_fall_and_a_stratum_nearly_drawn_is_finished():
    """Sizes 10 and 20 at equal rates: 26 of 30 are two each and 7.33 and 14.67 more, so 9 and 17.
    The 3 left of 20 are not under 15 %, the 1 of 10 is."""
    sizes, rates = np.array([10, 20]), np.array([0.5, 0.5])
    assert allocate_stages(sizes, rates, [26 / 30]).tolist() == [[10, 17]]
    assert allocate_stages(sizes, rates, [0.2], least=np.array([5, 0])).tolist() == [[5, 3]], (
        "6 of 30 are two each and 0.67 and 1.33 more, so 3 and 3"
    )


def test_a_place_in_the_shuffle_decides_the_stage():
    stratum, place = np.array([0, 0, 0, 1, 1]), np.array([2, 0, 1, 0, 1])
    assert assign_stages(stratum, place, np.array([[1, 0], [2, 2]])).tolist() == [0, 1, 2, 2, 2]


def test_the_order_of_runs_does_not_matter_and_the_seed_does():
    a, b = pool_of(tags="AB"), pool_of(tags="BA")
    one, two = (draw_stages(pool, strata="rank", budgets=[0.3], seed=4) for pool in (a, b))
    assert by_pair(a, one.stage) == by_pair(b, two.stage)
    orders = [
        [
            (pool.topics[pool.topic[k]], pool.documents[k])
            for k in service_order(pool, draw.stage, seed=4)
        ]
        for pool, draw in ((a, one), (b, two))
    ]
    assert orders[0] == orders[1]
    assert by_pair(a, draw_stages(a, strata="rank", budgets=[0.3], seed=5).stage) != by_pair(
        a, one.stage
    )


def test_pairs_are_handed_out_stage_by_stage_in_blocks_of_topics_without_their_rank():
    pool = pool_of(n_topics=4)
    draw = draw_stages(pool, strata="rank", budgets=[0.3, 0.6], seed=2)
    order = service_order(pool, draw.stage, seed=2)
    stages = [stage or 99 for stage in draw.stage[order].tolist()]
    assert stages == sorted(stages)
    first = order[np.array(stages) == 1]
    topics = pool.topic[first]
    assert int((np.diff(topics) != 0).sum()) == 3, "four topics, each in one block"
    own = first[topics == topics[0]]
    correlation = np.corrcoef(np.arange(len(own)), pool.best_rank[own])[0, 1]
    assert abs(correlation) < 0.6, "by rank it would be 1"


def test_the_rate_of_a_stratum_follows_from_its_name():
    assert [prior_rate(f"a/b/{name}") for name in RANK_NAMES] == list(RANK_RATES)
    assert [prior_rate(name) for name in VOTE_NAMES] == list(VOTE_RATES)
    with pytest.raises(KeyError):
        prior_rate("t1/chosen")


@pytest.mark.parametrize(
    "budgets", [[], [0], [0.2, 0.2], [0.3, 0.2], [1.1], [k / 20 for k in range(1, 12)]]
)
def test_stages_ascend_and_are_at_most_ten(budgets):
    with pytest.raises(ValueError):
        check_budgets(budgets)


def test_what_can_be_answered_half_way_is_counted():
    assert describe_half_judged_depth_pool({1: 40, 2: 70, 3: 100})[0].startswith(
        "When half is judged, every pair down to rank 1 is"
    )
    assert (
        describe_half_judged_depth_pool({1: 60, 2: 100})[0]
        == "When half is judged, rank 1 is not complete."
    )
    first, each, price = describe_half_judged_sampled_pool([100, 200], pairs=1000, topics=10)
    assert (
        "1 of 2 stages are complete: 10% of the pool, drawn at random with known probabilities"
        in first
    )
    assert each == (
        "That is 10 judged pairs per topic: confidence intervals are shown for nDCG@10 and P@10, not yet for "
        "average precision (from 40)."
    )
    assert price.startswith("In tests with 20% judged")
    assert describe_half_judged_sampled_pool([300], pairs=1000, topics=10)[0].startswith(
        "No scores until the only stage (300 pairs) is complete."
    )
    of_two = describe_half_judged_sampled_pool([24, 30], pairs=150, topics=3)[0]
    assert of_two.startswith("No scores until the first of 2 stages (24 pairs) is complete.")
    assert of_two.endswith("Use a smaller first stage to see results sooner.")

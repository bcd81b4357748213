"""How a pool was made is a value; what its priorities stand for follows from it."""

from __future__ import annotations

import pytest

from annotation.core.scheduling import compute_rank_window
from assay.pools.pool_kinds import (
    MAX_STAGE,
    PoolKind,
    compute_level,
    describe_pool,
    get_level_word,
    get_stage_priority,
)


@pytest.mark.parametrize(
    ("kind", "depth", "source", "words"),
    [
        ("depth", 10, "", "depth 10"),
        ("ordered", 10, "", "most likely relevant first, depth 10"),
        ("sampled", 100, "", "sampled, depth 100"),
        ("given", None, "pairs.tsv", "pairs from pairs.tsv"),
        ("given", 10, "", "pairs from a file"),
    ],
)
def test_one_place_says_how_a_pool_was_made(kind, depth, source, words):
    assert describe_pool(kind, depth=depth, source=source) == words


def test_a_priority_is_a_rank_a_stage_or_what_the_file_says():
    assert (compute_level("depth", 9, depth=10), get_level_word("depth", depth=10)) == (1, "rank")
    assert (compute_level("given", 7, depth=10), get_level_word("given", depth=10)) == (3, "rank")
    assert (compute_level("given", 7, depth=None), get_level_word("given", depth=None)) == (
        7,
        "priority",
    )
    for kind, word in ((PoolKind.SAMPLED, "stage"), (PoolKind.ORDERED, "batch")):
        assert [
            compute_level(kind, get_stage_priority(stage), depth=10) for stage in (1, 2, MAX_STAGE)
        ] == [1, 2, MAX_STAGE]
        assert get_level_word(kind, depth=10) == word


def test_no_band_holds_two_stages_and_an_earlier_stage_is_served_first():
    first, second = get_stage_priority(1), get_stage_priority(2)
    assert first > second > 0
    assert [
        compute_rank_window(priority, highest=first, width=50) for priority in (first, second)
    ] == [
        1,
        3,
    ]
    with pytest.raises(ValueError):
        get_stage_priority(0)
    with pytest.raises(ValueError):
        get_stage_priority(MAX_STAGE + 1)

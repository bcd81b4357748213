"""Bands of priorities: what they are, and what they do to a whole pool."""

from __future__ import annotations

import random

import pytest

from annotation.core.rank_windows import WindowEntry, simulate_judging
from annotation.core.scheduling import compute_rank_window


@pytest.mark.parametrize(
    ("width", "bands"),
    [(1, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]), (3, [1, 1, 1, 2, 2, 2, 3, 3, 3, 4]), (10, [1] * 10)],
)
def test_bands_are_counted_from_the_first_rank_on(width, bands):
    assert [
        compute_rank_window(10 - rank, highest=9, width=width) for rank in range(1, 11)
    ] == bands


def entries(rows):
    return [WindowEntry(topic, priority) for topic, priority in rows]


def test_one_annotator_stays_with_a_topic_to_the_end_of_the_band():
    pool = entries([(1, 9), (2, 9), (1, 8), (2, 8), (1, 7), (2, 7)])
    strict, banded = (
        simulate_judging(pool, width=width, annotators=1, needed=1, block_length=10)
        for width in (1, 3)
    )
    # 1 2 2 1 1 2: four runs in six; 1 1 1 2 2 2: two runs, and 8 and 7 of topic 1 come before 9 of
    # topic 2
    assert (strict.mean_run, strict.out_of_order) == (6 / 4, 0)
    assert (banded.mean_run, banded.out_of_order) == (3, 2 / 6)


def test_a_full_block_gives_way_to_another_topic():
    pool = entries([(1, 1)] * 4 + [(2, 1)] * 4)
    assert (
        simulate_judging(pool, width=1, annotators=1, needed=1, block_length=2).mean_run == 2
    )  # 1 1 2 2 1 1 2 2


def pool_of_runs(n_topics, n_runs, depth, spread, seed):
    """A depth-k pool of runs that rank 60 documents a topic in a common order with noise, in the
    order of service: by priority, the topics shuffled."""
    rng, rows = random.Random(seed), []
    for topic in range(n_topics):
        best: dict[int, int] = {}
        for _ in range(n_runs):
            ranked = sorted(range(60), key=lambda document: document + rng.gauss(0, spread))[:depth]
            for rank, document in enumerate(ranked, 1):
                best[document] = min(best.get(document, depth), rank)
        rows += [(topic, depth - rank) for rank in best.values()]
    order = rng.sample(range(n_topics), n_topics)
    return entries(sorted(rows, key=lambda row: (-row[1], order[row[0]])))


def test_twelve_annotators_stay_on_a_topic_for_eight_documents_and_judge_no_pair_too_often():
    """50 topics, depth 10, ten runs, three judgements a pair. In bands narrower than the pool a run
    cannot be longer than a topic has pairs in the band, and annotators who join a started topic
    share it: 1.7 documents in a row with bands of 1, 3.7 with bands of 3."""
    pool = pool_of_runs(50, 10, depth=10, spread=25, seed=1)
    found = [
        simulate_judging(pool, width=width, annotators=12, needed=3, block_length=10)
        for width in (1, 3, 5, 10)
    ]
    assert all(row.most_per_pair == 3 and row.n_judgements == 3 * len(pool) for row in found)
    runs = [row.mean_run for row in found]
    assert runs == sorted(runs)
    assert runs[1] > 2 * runs[0]
    assert runs[3] >= 8
    assert found[0].out_of_order < 0.01 < found[1].out_of_order < found[3].out_of_order

"""Preview of rank windows for a campaign that has not opened, by a simulation of the judging order
(docs/reference/methods/judging.md)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from annotation.core.scheduling import compute_rank_window, stays_in_block


class WindowEntry(NamedTuple):
    """A pair of the pool: topic and priority. Its position in the sequence is the order of the
    pool."""

    topic: int
    priority: int


class WindowPreview(NamedTuple):
    """The simulated effect of a window width.

    mean_run: mean number of consecutive documents of one topic. out_of_order: share of judgements
    made while a pair of higher priority still had a free slot. most_per_pair: largest number of
    judgements of one pair.
    """

    width: int
    mean_run: float
    out_of_order: float
    n_judgements: int
    most_per_pair: int

    @property
    def percent_out_of_order(self) -> float:
        return 100 * self.out_of_order


class WindowSlots:
    """The free slots and judgements of each pair during the simulation."""

    def __init__(self, entries: Sequence[WindowEntry], needed: int, width: int) -> None:
        self.entries, self.needed = entries, needed
        self.judged = [0] * len(entries)
        self.by_band: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        highest = max(entry.priority for entry in entries)
        for place, entry in enumerate(entries):
            self.by_band[compute_rank_window(entry.priority, highest=highest, width=width)][
                entry.topic
            ].append(place)
        # rank window -> positions of pairs with a judgement and a free slot
        self.started: dict[int, set[int]] = defaultdict(set)
        self.band = [
            compute_rank_window(entry.priority, highest=highest, width=width) for entry in entries
        ]

    def take(self, place: int) -> None:
        self.judged[place] += 1
        if self.judged[place] < self.needed:
            self.started[self.band[place]].add(place)
            return
        self.started[self.band[place]].discard(place)
        topic = self.by_band[self.band[place]][self.entries[place].topic]
        topic.remove(place)
        if not topic:
            del self.by_band[self.band[place]][self.entries[place].topic]
            if not self.by_band[self.band[place]]:
                del self.by_band[self.band[place]]


def next_position(
    pool: WindowSlots, judged_positions: set[int], topic: int | None, in_block: int, length: int
) -> int | None:
    """Return the position in the pool of a simulated annotator's next pair, or None if there is
    none. judged_positions: positions that the annotator has already judged."""
    for band in sorted(pool.by_band):
        topics = pool.by_band[band]
        stays = topic is not None and stays_in_block(served=in_block, length=length)
        own = (
            [place for place in topics.get(topic, ()) if place not in judged_positions]
            if topic is not None
            else []
        )
        # Within a block: stay on the topic, partly judged pairs first.
        if stays and own:
            return min(own, key=lambda place: (pool.judged[place] == 0, place))
        # Otherwise continue a partly judged pair. At the end of a block, change the topic.
        left = (
            place
            for place in pool.started[band]
            if place not in judged_positions and (stays or pool.entries[place].topic != topic)
        )
        started = min(left, default=None)
        if started is not None:
            return started
        others = (
            place
            for name, places in topics.items()
            if name != topic
            for place in places
            if place not in judged_positions
        )
        # Otherwise start a new pair of another topic.
        first = min(others, default=None)
        if first is not None:
            return first
        if own:  # The block has ended, but the window has no other topic left.
            return min(own, key=lambda place: (pool.judged[place] == 0, place))
    return None


def simulate_judging(
    entries: Sequence[WindowEntry],
    *,
    width: int,
    annotators: int,
    needed: int,
    block_length: int,
    seed: int = 0,
) -> WindowPreview:
    """Simulate the judging of a whole pool. Annotators take turns at random until no annotator can
    be assigned a pair."""
    rng, pool = np.random.default_rng(seed), WindowSlots(entries, needed, width)
    mine: list[set[int]] = [set() for _ in range(annotators)]
    blocks: list[tuple[int | None, int]] = [(None, 0)] * annotators
    left_of_priority: dict[int, int] = defaultdict(int)
    for entry in entries:
        left_of_priority[entry.priority] += needed
    working, n, runs, out_of_order = list(range(annotators)), 0, 0, 0
    while working:
        who = working[int(rng.integers(len(working)))]
        topic, in_block = blocks[who]
        place = next_position(pool, mine[who], topic, in_block, block_length)
        if place is None:
            working.remove(who)
            continue
        entry = entries[place]
        better = any(
            left for priority, left in left_of_priority.items() if priority > entry.priority
        )
        out_of_order += better
        stays = stays_in_block(served=in_block, length=block_length)
        blocks[who] = (entry.topic, in_block + 1 if entry.topic == topic and stays else 1)
        runs += entry.topic != topic
        mine[who].add(place)
        left_of_priority[entry.priority] -= 1
        pool.take(place)
        n += 1
    return WindowPreview(width, n / runs, out_of_order / n, n, max(pool.judged))

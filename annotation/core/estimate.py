"""What a campaign costs before it has begun."""

from __future__ import annotations

from typing import NamedTuple


class Workload(NamedTuple):
    """judgements: of all annotators together. annotators: to finish at their target each; None where they have none."""

    judgements: int
    annotators: int | None


def workload(n_pairs: int, *, per_pair: int, n_special: int = 0, gold_every: int = 20, target: int = 0) -> Workload:
    """n_pairs: ordinary ones, `per_pair` judgements each. n_special: gold and everyone pairs, which each annotator judges.

    One pair in `gold_every` of an annotator's target is a special one as long as there are some, so it fills no ordinary pair
    (ours). Without a target the special pairs are counted once a judgement per pair, the least that they should have.
    """
    ordinary = n_pairs * per_pair
    if not target:
        return Workload(ordinary + n_special * per_pair, None)
    special = min(n_special, target // gold_every, target - 1)
    annotators = -(-ordinary // (target - special))
    return Workload(ordinary + annotators * special, annotators)

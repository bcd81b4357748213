"""A leaderboard over time: which runs became the state of the art, how they compare, and which
order they have.

After Lin et al. (SIGIR 2021) and Craswell et al. (SIGIR 2021, Figure 1). Runs are taken by date,
then by tag."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

import numpy as np

N_LAST = 3
"""How many runs at the end of the chain are compared among each other."""


@dataclass(frozen=True)
class BoardEntry:
    """One run on the board. date: ISO 8601, so that dates sort as text; score: higher is better."""

    tag: str
    date: str
    score: float
    group: str = ""
    is_baseline: bool = False
    description: str = ""


@dataclass(frozen=True)
class BoardPoint:
    """An entry as the picture over time shows it."""

    entry: BoardEntry
    is_sota: bool
    is_highlighted: bool


@dataclass(frozen=True)
class BoardOrder:
    """A linear order of runs under a relation that need not be transitive.

    tags: best first. cycles: groups of runs of which each is displaced by another around the
    circle, in the order of `tags`. against: pairs (above, below) that stand so although the lower
    one displaces the higher; only within cycles."""

    tags: list[str]
    cycles: list[list[str]]
    against: list[tuple[str, str]]


def sort_by_date(entries: Iterable[BoardEntry]) -> list[BoardEntry]:
    return sorted(entries, key=lambda entry: (entry.date, entry.tag))


def list_records(entries: Iterable[BoardEntry]) -> list[str]:
    """Tags of the runs that were the state of the art, oldest first; empty if none ever beat the
    baselines.

    Each record scores more than all records and baselines before it. A baseline sets the mark to
    beat from its own date on (ours; the trophies of the MS MARCO leaderboards follow the same
    rule). An equal score displaces nobody, and a baseline is never in the chain. Of runs of one
    date only the best can be in it, of equal ones the first by tag: a run that is beaten on its own
    day was never at the top (ours)."""
    top, tags = float("-inf"), []
    for _, of_one_date in groupby(sort_by_date(entries), key=lambda entry: entry.date):
        of_day = list(of_one_date)
        top = max([top, *(entry.score for entry in of_day if entry.is_baseline)])
        best = max(
            (entry for entry in of_day if not entry.is_baseline),
            key=lambda entry: entry.score,
            default=None,
        )
        if best is not None and best.score > top:
            top = best.score
            tags.append(best.tag)
    return tags


def board_points(entries: Iterable[BoardEntry], *, highlight: str = "") -> list[BoardPoint]:
    """Every run by date for the picture: whether it became the state of the art, and whether its
    description holds the word (upper and lower case alike, also inside a longer word, as BERT in
    DistilBERT)."""
    entries = sort_by_date(entries)
    sota = set(list_records(entries))
    word = highlight.casefold()
    return [
        BoardPoint(entry, entry.tag in sota, bool(word) and word in entry.description.casefold())
        for entry in entries
    ]


def list_comparisons(tags: Sequence[str]) -> dict[str, list[tuple[str, str]]]:
    """The pairs (A, B), B the later, that both tables of Lin et al. show of a chain.

    vs_first: each against the first; vs_previous: each against its predecessor; vs_last: the last
    three among each other."""
    last = tags[-N_LAST:]
    return {
        "vs_first": [(tags[0], tag) for tag in tags[1:]],
        "vs_previous": list(pairwise(tags)),
        "vs_last": [(last[i], last[j]) for j in range(len(last)) for i in range(j)],
    }


def order_by_displacement(tags: Sequence[str], displaces: Callable[[str, str], bool]) -> BoardOrder:
    """Tags (oldest first) in a linear order, best first (ours).

    Each run enters in turn: it takes the place of the highest run that it displaces, which moves
    down with all below it; one that displaces nobody goes to the foot. `displaces` need not be
    transitive, so a run may then stand above one that displaces it: the order is put right with the
    fewest exceptions by taking, from the top, the first run that no remaining one displaces. Where
    runs displace each other in a circle no order is right: they keep the order in which they
    entered, and are reported."""
    relation = np.array(
        [[a != b and displaces(a, b) for b in tags] for a in tags], dtype=bool
    ).reshape(len(tags), len(tags))
    entered: list[int] = []
    for new in range(len(tags)):
        place = next(
            (place for place, old in enumerate(entered) if relation[new, old]), len(entered)
        )
        entered.insert(place, new)
    component = find_strong_components(relation)
    remaining, final = entered, []
    while remaining:
        free = [
            run
            for run in remaining
            if not any(
                relation[other, run] and component[other] != component[run] for other in remaining
            )
        ]
        final.append(free[0])
        remaining = [run for run in remaining if run != free[0]]
    cycles = [
        [tags[run] for run in final if component[run] == c]
        for c in dict.fromkeys(component[run] for run in final)
    ]
    against = [
        (tags[a], tags[b]) for i, a in enumerate(final) for b in final[i + 1 :] if relation[b, a]
    ]
    return BoardOrder(
        [tags[run] for run in final], [cycle for cycle in cycles if len(cycle) > 1], against
    )


def find_strong_components(relation: np.ndarray) -> list[int]:
    """Number of the strongly connected component of each run of an (n, n) boolean relation: that of
    its first run."""
    reaches = relation | np.eye(len(relation), dtype=bool)
    for _ in range(
        len(relation).bit_length()
    ):  # each step doubles the length of the ways that are known
        reaches = reaches.astype(np.float32) @ reaches.astype(np.float32) > 0
    return (reaches & reaches.T).argmax(axis=1).tolist() if len(relation) else []

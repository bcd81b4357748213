"""A leaderboard over time: the runs that became the state of the art, their comparisons, and their
order.

After Lin et al. (SIGIR 2021) and Craswell et al. (SIGIR 2021, Figure 1). Runs are sorted by date,
then by tag.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

import numpy as np

N_LAST = 3
"""Number of runs at the end of the chain that are compared with each other."""


@dataclass(frozen=True)
class BoardEntry:
    """A run on the leaderboard. date: ISO 8601, so that dates sort as text. score: higher is
    better."""

    tag: str
    date: str
    score: float
    group: str = ""
    is_baseline: bool = False
    description: str = ""


@dataclass(frozen=True)
class BoardPoint:
    """A run as a point of the chart over time."""

    entry: BoardEntry
    is_sota: bool
    is_highlighted: bool


@dataclass(frozen=True)
class BoardOrder:
    """The order of runs on a leaderboard by displacement, a pairwise relation that need not be
    transitive. A run displaces another if it meets the caller's criterion for taking its place.

    tags: best first. cycles: groups of runs that displace one another cyclically, in the order of
    `tags`. against: pairs (above, below), within cycles only, in which the lower run displaces the
    higher one.
    """

    tags: list[str]
    cycles: list[list[str]]
    against: list[tuple[str, str]]


def sort_by_date(entries: Iterable[BoardEntry]) -> list[BoardEntry]:
    return sorted(entries, key=lambda entry: (entry.date, entry.tag))


def list_records(entries: Iterable[BoardEntry]) -> list[str]:
    """Return the tags of the runs that were the state of the art, oldest first, or an empty list if
    none ever beat the baselines.

    Each record scores higher than all earlier records and baselines. A baseline sets the score to
    beat from its date on, as for the trophies of the MS MARCO leaderboards. An equal score is not a
    record, and a baseline is never in the chain. Of several runs with one date only the best can be
    in it (the first by tag if equal), because the others were never the best.
    """
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


def list_board_points(entries: Iterable[BoardEntry], *, highlight: str = "") -> list[BoardPoint]:
    """Return all runs by date, each with whether it became the state of the art and whether its
    description contains `highlight`, ignoring case and word boundaries (BERT matches DistilBERT).
    """
    entries = sort_by_date(entries)
    sota = set(list_records(entries))
    word = highlight.casefold()
    return [
        BoardPoint(entry, entry.tag in sota, bool(word) and word in entry.description.casefold())
        for entry in entries
    ]


def list_comparisons(tags: Sequence[str]) -> dict[str, list[tuple[str, str]]]:
    """Return the pairs (A, B), B the later run, in the two tables of Lin et al. for a chain.

    vs_first: each run against the first. vs_previous: each against its predecessor. vs_last: the
    last three against each other.
    """
    last = tags[-N_LAST:]
    return {
        "vs_first": [(tags[0], tag) for tag in tags[1:]],
        "vs_previous": list(pairwise(tags)),
        "vs_last": [(last[i], last[j]) for j in range(len(last)) for i in range(j)],
    }


def order_by_displacement(tags: Sequence[str], displaces: Callable[[str, str], bool]) -> BoardOrder:
    """Return the tags (given oldest first) in a linear order, best first.

    Runs enter one after the other. A run takes the place of the highest run that it displaces,
    which moves down with all below it. A run that displaces none goes to the end. `displaces` need
    not be transitive, so that a run may end up above one that displaces it. The order is therefore
    corrected from the top, by taking the first run that no remaining one displaces. Runs that
    displace one another cyclically keep the order in which they entered and are reported.
    """
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
    """Return the strongly connected component of each run in an (n, n) boolean relation, as the
    index of the component's first run."""
    reaches = relation | np.eye(len(relation), dtype=bool)
    for _ in range(len(relation).bit_length()):  # each step doubles the length of the known paths
        reaches = reaches.astype(np.float32) @ reaches.astype(np.float32) > 0
    return (reaches & reaches.T).argmax(axis=1).tolist() if len(relation) else []

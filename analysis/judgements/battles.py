"""Preferences of a campaign: as battles between systems, for agreement statistics, and as a
file."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from annotation.core.preferences import BOTH_BAD, LEFT, RIGHT, TIE, WINNERS
from annotation.models import Campaign, Judgement
from assay.column_types import A_WINS, B_WINS, BattleColumns
from assay.column_types import BOTH_BAD as BOTH_BAD_OUTCOME
from assay.column_types import TIE as TIE_OUTCOME
from assay.formats.battles import Battle, make_battles

OUTCOMES = {LEFT: A_WINS, TIE: TIE_OUTCOME, RIGHT: B_WINS, BOTH_BAD: BOTH_BAD_OUTCOME}
COLUMNS = [
    *("topic", "system_a", "system_b", "winner", "shown_left", "annotator"),
    *("document_a", "document_b", "tokens_a", "tokens_b"),
]


class JudgedBattle(NamedTuple):
    """A counted preference judgement. pair: row ID. a, b: documents. systems: (system of a, system
    of b) for each comparison that it decides. answer: LEFT if a is better. left: the document shown
    on the left, "a" or "b". words: lengths of a and b, None if unknown."""

    pair: int
    topic: str
    a: str
    b: str
    systems: list[list[str]]
    answer: int
    left: str
    annotator: str
    words: tuple[int | None, int | None]


def list_judged_battles(campaign: Campaign) -> list[JudgedBattle]:
    """Return the counted preference judgements on accepted topics, by ID, in one query."""
    rows = Judgement.objects.filter(
        pair__campaign=campaign,
        pair__removed=False,
        current=True,
        status=Judgement.Status.COUNTED,
        grade__isnull=False,
    )
    columns = (
        *("pair_id", "pair__entry__topic__topic_id", "pair__entry__docno"),
        *("pair__entry__other_docno", "pair__entry__systems", "grade", "presentation"),
        *("membership__pseudonym", "pair__entry__document__n_words"),
        "pair__entry__other_document__n_words",
    )
    return [
        JudgedBattle._make((*row[:6], row[6]["left"], row[7], row[8:]))
        for row in rows.order_by("pk").values_list(*columns)
    ]


def make_system_battles(judged: Iterable[JudgedBattle]) -> BattleColumns:
    """Convert preference judgements to battles: one per judgement and pair of systems. Raises
    FormatError if there are none."""
    return make_battles(
        Battle(
            line,
            one.topic,
            a,
            b,
            OUTCOMES[one.answer],
            0 if one.left == "a" else 1,
            one.annotator,
            (*(math.nan if n is None else n for n in one.words), math.nan, math.nan),
        )
        for line, one in enumerate(judged, start=1)
        for a, b in one.systems
    )


def iterate_battle_lines(judged: Iterable[JudgedBattle]) -> Iterator[str]:
    """Yield the lines of a battle file for `assay compare preferences`. If the systems are unknown,
    the battles are between documents."""
    yield "\t".join(COLUMNS) + "\n"
    for one in judged:
        for a, b in one.systems or [[one.a, one.b]]:
            words = ("" if n is None else str(n) for n in one.words)
            cells = [one.topic, a, b, WINNERS[one.answer], one.left, one.annotator, one.a, one.b]
            yield "\t".join([*cells, *words]) + "\n"


def count_answers(judged: Sequence[JudgedBattle]) -> tuple[np.ndarray, np.ndarray]:
    """Count the answers to each pair of documents. Returns (counts, int64 (n_pairs, 4); index of
    each pair's topic)."""
    pairs = {pair: i for i, pair in enumerate(dict.fromkeys(one.pair for one in judged))}
    topics = {topic: i for i, topic in enumerate(dict.fromkeys(one.topic for one in judged))}
    counts = np.zeros((len(pairs), len(WINNERS)), dtype=np.int64)
    topic = np.zeros(len(pairs), dtype=np.int64)
    for one in judged:
        counts[pairs[one.pair], one.answer - 1] += 1
        topic[pairs[one.pair]] = topics[one.topic]
    return counts, topic


class SideBias(NamedTuple):
    """How often an annotator preferred the document shown on the left. decided: number of
    judgements that prefer one document."""

    annotator: str
    judged: int
    decided: int
    left: int

    @property
    def share(self) -> float | None:
        return self.left / self.decided if self.decided else None


def measure_side_bias(judged: Iterable[JudgedBattle]) -> list[SideBias]:
    """Return each annotator's side bias, by pseudonym."""
    by_annotator: dict[str, list[JudgedBattle]] = {}
    for one in judged:
        by_annotator.setdefault(one.annotator, []).append(one)
    return [
        SideBias(
            name,
            len(own),
            sum(one.answer in (LEFT, RIGHT) for one in own),
            sum((one.answer, one.left) in ((LEFT, "a"), (RIGHT, "b")) for one in own),
        )
        for name, own in sorted(by_annotator.items())
    ]

"""Labels from simulated clicks: users see the ten best documents of a run, and click more often on
good ones and on those at the top."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from assay.column_types import QrelsColumns
from assay.formats.clicks import ClickTally
from assay.labels.clicks import make_click_labels

N_SESSIONS, SHOWN = 60, 10
"""Sessions per topic, and documents that each of them shows."""
CLICK_PROBABILITY = (0.02, 0.08, 0.25, 0.6)
"""Probability of a click on an examined document, by grade."""


def simulate_click_labels(
    run: Iterable[str], grades: Mapping[tuple[str, str], int], *, seed: int
) -> QrelsColumns:
    """Simulate clicks on a run and return labels from the click-through rates.

    run: lines of a TREC run. grades: by topic and document ID, 0 if missing. A document at rank r
    is examined with probability 1 / sqrt(r).
    """
    rng = np.random.default_rng(seed)
    shown: dict[str, dict[str, int]] = {}
    for topic, _, document, rank, *_ in map(str.split, run):
        if int(rank) <= SHOWN:
            shown.setdefault(topic, {})[document] = int(rank)
    tally = ClickTally()
    for topic, ranking in shown.items():
        p = [
            CLICK_PROBABILITY[grades.get((topic, document), 0)] / rank**0.5
            for document, rank in ranking.items()
        ]
        for clicked in rng.random((N_SESSIONS, len(p))) < p:
            tally.add_session(
                topic, ranking, {d for d, yes in zip(ranking, clicked, strict=True) if yes}
            )
    return make_click_labels(tally.build_counts("clicks", N_SESSIONS * len(shown), []))

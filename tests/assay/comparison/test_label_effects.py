"""What single labels change in the ranking of systems: by hand, and beside a plain evaluation of
changed qrels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from assay.column_types import QrelsColumns, RunColumns
from assay.comparison import label_effects
from assay.comparison.label_effects import LabelEffect, compute_label_effects
from assay.measures.evaluation import Evaluator
from assay.measures.measures import parse_measure
from tests.assay.comparison import rankings_by_hand
from tests.assay.comparison.rankings_by_hand import qrels_of


def run_of(tag: str, rankings: dict[str, list[str]]) -> RunColumns:
    scores = {
        topic: {document: -float(rank) for rank, document in enumerate(documents)}
        for topic, documents in rankings.items()
    }
    return rankings_by_hand.run_of(scores, tag)


def test_by_hand_only_the_label_at_rank_1_swaps_two_systems():
    """P@1 of a: 1 for topic 1, 0 for topic 2, mean 0.5; of b: 1 for both, mean 1; c: 0 for both.
    If d2 of topic 2 were not relevant, b would have 0.5, too, so that a and b tie. If d1 of topic 2
    were relevant, a would have 1, tied with b. d3, which nobody has at rank 1, changes nothing."""
    qrels = qrels_of({"1": {"d1": 1, "d2": 0}, "2": {"d1": 0, "d2": 1, "d3": 0}})
    runs = [
        run_of("a", {"1": ["d1"], "2": ["d1"]}),
        run_of("b", {"1": ["d1"], "2": ["d2"]}),
        run_of("c", {"1": ["d2"], "2": ["x"]}),
    ]
    measure = parse_measure("P@1")
    packed = [Evaluator(qrels, [measure]).pack(run) for run in runs]
    rows = {("2", "d2"): 3, ("2", "d1"): 2, ("2", "d3"): 4}
    effects = compute_label_effects(
        qrels,
        packed,
        [(rows["2", "d2"], [0]), (rows["2", "d1"], [1]), (rows["2", "d3"], [1]), (0, [])],
        measure,
        min_relevant=1,
    )
    assert effects == [
        LabelEffect(0.5, 1, True),
        LabelEffect(0.5, 1, True),
        LabelEffect(0.0, 0, False),
        LabelEffect(0.0, 0, False),
    ]


@pytest.mark.parametrize("name", ["nDCG@5", "AP", "P@5", "Bpref"])
@pytest.mark.parametrize("batch", [20, 500_000])
def test_the_effects_are_those_of_evaluating_each_changed_qrels(name, batch, monkeypatch):
    monkeypatch.setattr(label_effects, "BATCH_ROWS", batch)
    rng = np.random.default_rng(4)
    documents = [f"d{i}" for i in range(12)]
    qrels = qrels_of({str(t): {d: int(rng.integers(4)) for d in documents[:9]} for t in range(5)})
    runs = [
        run_of(f"r{i}", {str(t): list(rng.permutation(documents)) for t in range(5)})
        for i in range(4)
    ]
    measure = parse_measure(name)
    packed = [Evaluator(qrels, [measure], min_relevant=2).pack(run) for run in runs]
    rows = rng.choice(len(qrels), 15, replace=False).tolist()
    asked = [(row, [g for g in range(4) if g != qrels.grades[row]]) for row in rows]
    effects = compute_label_effects(qrels, packed, asked, measure, min_relevant=2)
    now = means(qrels, runs, measure)
    for (row, grades), effect in zip(asked, effects, strict=True):
        changes, swaps, leader = [], [], []
        for grade in grades:
            other = qrels.grades.copy()
            other[row] = grade
            then = means(replace(qrels, grades=other), runs, measure)
            pairs = [(i, j) for i in range(4) for j in range(i)]
            changes.append(max(abs(then[i] - now[i] - then[j] + now[j]) for i, j in pairs))
            swaps.append(sum(order(now, i, j) != order(then, i, j) for i, j in pairs))
            leader.append(int(np.argmax(now)) != int(np.argmax(then)))
        assert effect.change == pytest.approx(max(changes), abs=1e-12)
        assert effect.swaps == max(swaps)
        assert effect.leader == any(leader)


def means(qrels: QrelsColumns, runs: list[RunColumns], measure) -> list[float]:
    evaluator = Evaluator(qrels, [measure], min_relevant=2)
    return [float(evaluator.evaluate(run).values[:, 0].mean()) for run in runs]


def order(values: list[float], i: int, j: int) -> int:
    return int(np.sign(round(values[i] - values[j], 9)))

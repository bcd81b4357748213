"""Compatibility against the definition, every ideal order, and the authors' program."""

from __future__ import annotations

import io
import itertools
import json
import math
import random
from pathlib import Path

import pytest

import assay
from assay.formats.qrels import read_qrels
from assay.formats.runs import read_run
from assay.measures.evaluation import evaluate
from assay.measures.measures import UnknownMeasure, parse_measure


def overlap(x: list[str], y: list[str], p: float) -> float:
    """Rank-biased overlap to depth 1,000, from the definition."""
    return sum(p ** (i - 1) * len(set(x[:i]) & set(y[:i])) / i for i in range(1, 1001))


@pytest.mark.parametrize("seed", range(20))
def test_it_is_the_largest_overlap_with_any_ideal_order(seed: int) -> None:
    rng = random.Random(seed)
    documents = [f"d{i}" for i in range(9)]
    grades = {document: rng.choice([0, 0, 1, 1, 2]) for document in documents} | {"d0": 2}
    ranked = rng.sample([*documents, "x", "y"], rng.randint(1, 9))
    levels = [[d for d in documents if grades[d] == g] for g in (2, 1)]
    ideals = [
        [*first, *second]
        for first in itertools.permutations(levels[0])
        for second in itertools.permutations(levels[1])
    ]
    best = max(overlap(ranked, ideal, 0.8) for ideal in ideals)
    expected = best / overlap(ideals[0], ideals[0], 0.8)
    run = {"1": {document: float(-rank) for rank, document in enumerate(ranked)}}
    scores = assay.evaluate({"1": grades}, run, "Compat(0.8)")
    assert scores.means[0, 0] == pytest.approx(expected, abs=1e-12)


def test_names_are_those_of_ir_measures() -> None:
    assert str(parse_measure("Compat(p=0.8)")) == "Compat(0.8)"
    assert str(parse_measure("Compat")) == "Compat(0.95)"
    assert str(parse_measure("compat(ties=ascending)")) == "Compat(0.95,ties=ascending)"
    with pytest.raises(UnknownMeasure, match="unknown parameter"):
        parse_measure("RBP(0.8,ties=ascending)")
    with pytest.raises(UnknownMeasure, match="does not take one"):
        parse_measure("Compat(0.8)@10")


def test_without_preferences_it_is_0() -> None:
    scores = assay.evaluate(
        {"1": {"a": 0}, "2": {"a": 1}}, {"1": {"a": 1.0}, "2": {"b": 1.0}}, "Compat"
    )
    assert scores.values[0, :, 0].tolist() == [0.0, 0.0]


def test_ties_can_be_ordered_by_ascending_id() -> None:
    """By hand, p = 0.5: the only preferred document is b. In the order c b a of trec_eval it is at
    rank 2, also in a b c. Of the two documents with score 0 in topic 2, the smaller ID a comes
    first (rank 2) or last (rank 3), and topic 3 begins with the score with which topic 2 ends."""
    qrels = {"1": {"b": 1}, "2": {"a": 1}, "3": {"a": 1}}
    run = {
        "1": {"a": 1.0, "b": 1.0, "c": 1.0},
        "2": {"z": 1.0, "a": 0.0, "b": 0.0},
        "3": {"b": 0.0, "a": -1.0},
    }
    # weights of the depths are 1/i * p^(i - 1); the ideal list has its document from depth 1 on
    weights = [0.5 ** (i - 1) / i for i in range(1, 1001)]
    from_2, from_3 = (sum(weights[i:]) / sum(weights) for i in (1, 2))
    scores = assay.evaluate(qrels, run, "Compat(0.5) Compat(0.5,ties=ascending)").values[0]
    assert scores[:, 0].tolist() == pytest.approx([from_2, from_3, from_2])
    assert scores[:, 1].tolist() == pytest.approx([from_2, from_2, from_2])


def test_an_order_by_ranks_has_no_ties() -> None:
    file = io.BytesIO(b"1 Q0 a 1 0 x\n1 Q0 b 2 0 x\n")
    run = read_run(file, name="x.run", order="rank")
    qrels = read_qrels(io.BytesIO(b"1 0 a 1\n"), name="qrels")
    scores = evaluate(run, qrels, "Compat Compat(ties=ascending)")
    assert scores.values.tolist() == [[1.0, 1.0]]


@pytest.mark.data
@pytest.mark.parametrize("name", ["good", "weak", "ties", "short", "deep"])
def test_values_are_those_of_the_authors_program(name: str, data_folder: Path) -> None:
    folder = data_folder / "answers-reference" / "compatibility"
    expected = json.loads((folder / "combined.expected.json").read_text(encoding="utf-8"))
    qrels = read_qrels(data_folder / "cast19-preferences" / "combined.qrels.gz")
    run = read_run(folder / f"{name}.run.gz")
    for p, of in expected["runs"][name].items():
        made = evaluate(run, qrels, f"Compat({p}) Compat({p},ties=ascending)")
        descending = of["per_topic"] | of["per_topic_ids_descending"]
        for column, wanted in enumerate((descending, of["per_topic"])):
            values = dict(zip(made.topics, made.values[:, column], strict=True))
            assert len(wanted) > 0
            for topic, value in wanted.items():
                assert values[topic] == pytest.approx(value, abs=1e-10)
            assert all(values[topic] == 0 for topic in set(values) - set(wanted))
        mean = math.fsum(made.values[:, 1]) / len(made.topics)
        assert mean == pytest.approx(of["mean_over_topics_with_a_preference"], abs=1e-10)

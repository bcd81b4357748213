"""Ranges of measures over the holes: against trec_eval and the published formulas on every grade of
every hole."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.comparison.unjudged_documents import TopicTop, merge_unjudged, read_topic_tops
from assay.formats.qrels import make_qrels
from assay.measures.evaluation import Evaluator
from assay.measures.measures import parse_measure, parse_measures
from assay.measures.score_bounds import (
    compute_bounds,
    compute_difference_bounds,
    no_bounds_reason,
    required_depth,
)
from tests.assay.sampling.test_estimates import ranking

TREC_EVAL = {
    "AP": "map",
    "AP@5": "map_cut_5",
    "Rprec": "Rprec",
    "Bpref": "bpref",
    "RR": "recip_rank",
    "R@5": "recall_5",
    "Success@5": "success_5",
    "P@5": "P_5",
    "nDCG": "ndcg",
    "nDCG@5": "ndcg_cut_5",
}
CUT = {
    "AP@5",
    "R@5",
    "Success@5",
    "P@5",
    "nDCG@5",
    "DCG@5",
    "NCG@5",
    "ERR(max_rel=2)@5",
    "nDCG-exp@5",
    "RBP(0.8)@5",
}


def by_formula(name: str, grades: list[int], base: list[int]) -> float:
    """Of a ranking of grades and all judged grades, highest 2."""
    top = grades[:5]
    if name == "RBP(0.8)@5":
        return 0.2 * sum(0.8**k for k, grade in enumerate(top) if grade)
    if name == "NCG@5":
        best = sum(sorted(base, reverse=True)[:5])
        return sum(top) / best if best else 0.0
    if name == "ERR(max_rel=2)@5":
        total, going = 0.0, 1.0
        for rank, grade in enumerate(top, start=1):
            chance = (2**grade - 1) / 4
            total += going * chance / rank
            going *= 1 - chance
        return total
    gain = {"nDCG-exp@5": lambda grade: 2**grade - 1, "DCG@5": lambda grade: grade}[name]
    summed = sum(gain(grade) / math.log2(k + 2) for k, grade in enumerate(top))
    best = sum(
        gain(grade) / math.log2(k + 2) for k, grade in enumerate(sorted(base, reverse=True)[:5])
    )
    return summed if name == "DCG@5" else summed / best if best else 0.0


def fillings(grades: list[int | None], cutoff: int | None) -> list[list[int]]:
    """Every grade of every hole down to the cutoff; further holes stay unjudged (-1)."""
    holes = [k for k, grade in enumerate(grades[:cutoff]) if grade is None]
    filled = []
    for chosen in product(range(3), repeat=len(holes)):
        full = [-1 if grade is None else grade for grade in grades]
        for place, grade in zip(holes, chosen, strict=True):
            full[place] = grade
        filled.append(full)
    return filled


def values(name: str, grades: list[int | None], others: list[int]) -> list[float]:
    made = []
    for full in fillings(grades, 5 if name in CUT else None):
        if name not in TREC_EVAL:
            made.append(
                by_formula(
                    name,
                    [max(grade, 0) for grade in full],
                    [grade for grade in full if grade >= 0] + others,
                )
            )
            continue
        qrels = {f"d{k}": grade for k, grade in enumerate(full) if grade >= 0} | {
            f"o{k}": grade for k, grade in enumerate(others)
        }
        run = {f"d{k}": float(100 - k) for k in range(len(full))}
        scored = (
            pytrec_eval.RelevanceEvaluator({"t": qrels}, pytrec_eval.supported_measures).evaluate(
                {"t": run}
            )
            if qrels
            else {}
        )
        made.append(scored.get("t", {}).get(TREC_EVAL[name], 0.0))
    return made


@given(
    grades=st.lists(st.one_of(st.none(), st.integers(0, 2)), min_size=1, max_size=7).filter(
        lambda grades: grades.count(None) <= 4
    ),
    others=st.lists(st.integers(0, 2), max_size=3),
)
@settings(max_examples=25, deadline=None)
@pytest.mark.parametrize(
    "name", [*TREC_EVAL, "DCG@5", "NCG@5", "ERR(max_rel=2)@5", "nDCG-exp@5", "RBP(0.8)@5"]
)
def test_the_range_is_that_of_every_grade_of_every_hole(
    name: str, grades: list[Any], others: list[int]
) -> None:
    expected = values(name, grades, others)
    judged = [grade for grade in grades if grade is not None] + others
    top = TopicTop("t", [f"d{k}" for k in range(len(grades))], grades, judged, len(grades))
    bounds = compute_bounds([top], parse_measure(name), min_relevant=1, highest=2)
    assert (bounds.low[0], bounds.high[0]) == pytest.approx(
        (min(expected), max(expected)), abs=1e-6
    )
    assert bounds.zero[0] == pytest.approx(
        expected[0], abs=1e-6
    )  # the first filling has only grade 0


def test_without_holes_both_ends_are_the_measure() -> None:
    qrels = make_qrels(
        "q",
        [("1", "a", 2), ("1", "b", 0), ("1", "c", 1), ("1", "z", 2), ("2", "b", 1), ("2", "a", 0)],
    )
    run = ranking({"1": "bca", "2": "ab"})
    measures = parse_measures(
        "AP Rprec Bpref RR R@2 Success@1 DCG NCG@2 ERR nDCG nDCG-exp P@2 AP(rel=2)"
    )
    evaluated = Evaluator(qrels, measures).evaluate(run)
    for column, measure in enumerate(measures):
        bounds = compute_bounds(
            read_topic_tops(run, qrels, required_depth([measure])),
            measure,
            min_relevant=1,
            highest=2,
        )
        assert bounds.low == pytest.approx(evaluated.values[:, column]), measure
        assert bounds.high == pytest.approx(evaluated.values[:, column]), measure


def test_what_has_no_range_is_said() -> None:
    for name, reason in (
        ("nDCG-J@5", "condensed"),
        ("Judged@10", "how much is judged"),
        ("infAP", "random sample"),
    ):
        assert reason in (no_bounds_reason(parse_measure(name)) or "")
        with pytest.raises(ValueError, match=reason):
            compute_bounds([], parse_measure(name), min_relevant=1, highest=1)
    many = TopicTop("t7", ["d"] * 200, [None] * 200, [], 200)
    with pytest.raises(ValueError, match="topic t7 has 200 unjudged documents"):
        compute_bounds([many], parse_measure("nDCG"), min_relevant=1, highest=3)
    assert compute_bounds([many], parse_measure("DCG"), min_relevant=1, highest=3).low.tolist() == [
        0
    ]


def of_pair(
    own: list[str], rival: list[str], judged: dict[str, int], cutoff: int | None
) -> tuple[list[TopicTop], list[dict[str, int]]]:
    """Both runs' tops for one topic, and the qrels with every grade from 0 to 2 of every hole of
    both (down to the cutoff)."""
    tops = [
        TopicTop("t", run, [judged.get(d) for d in run], list(judged.values()), len(run))
        for run in (own, rival)
    ]
    holes = sorted({d for run in (own, rival) for d in run[:cutoff] if d not in judged})
    return tops, [
        judged | dict(zip(holes, chosen, strict=True))
        for chosen in product(range(3), repeat=len(holes))
    ]


def scored(name: str, run: list[str], qrels: dict[str, int]) -> float:
    if not qrels:
        return 0.0
    ranking = {document: float(100 - k) for k, document in enumerate(run)}
    made = pytrec_eval.RelevanceEvaluator({"t": qrels}, pytrec_eval.supported_measures).evaluate(
        {"t": ranking}
    )
    return float(made.get("t", {}).get(TREC_EVAL[name], 0.0))


@given(
    own=st.permutations("abcdefg").map(lambda documents: documents[:6]),
    rival=st.permutations("abcdefg").map(lambda documents: documents[:6]),
    judged=st.dictionaries(
        st.sampled_from("abcdefgxyz"), st.integers(0, 2), min_size=4, max_size=8
    ).filter(lambda grades: len(grades.keys() - set("xyz")) > 2),
)
@settings(max_examples=12, deadline=None)
@pytest.mark.parametrize("name", list(TREC_EVAL))
def test_a_difference_stays_within_its_range_whatever_the_holes_of_both_turn_out_to_be(
    name: str, own: list[str], rival: list[str], judged: dict[str, int]
) -> None:
    """trec_eval on every grade of every hole of either run. A hole of one raises the ideal of the
    other, too."""
    cutoff = 5 if name in CUT else None
    tops, every = of_pair(own, rival, judged, cutoff)
    differences = [scored(name, own, qrels) - scored(name, rival, qrels) for qrels in every]
    bounds = compute_difference_bounds(
        *[[top] for top in tops], parse_measure(name), min_relevant=1, highest=2
    )
    assert bounds.low[0] <= min(differences) + 1e-9
    assert bounds.high[0] >= max(differences) - 1e-9
    if name.startswith("nDCG"):
        assert (bounds.low[0], bounds.high[0]) == pytest.approx(
            (min(differences), max(differences)), abs=1e-9
        )
    for run, (top,) in zip(
        (own, rival), merge_unjudged([[top] for top in tops], cutoff), strict=True
    ):
        alone = [scored(name, run, qrels) for qrels in every]
        ends = compute_bounds([top], parse_measure(name), min_relevant=1, highest=2)
        assert ends.high[0] >= max(alone) - 1e-9
        assert ends.low[0] <= min(alone) + 1e-9
        if name not in ("Bpref", "Rprec"):
            assert (ends.low[0], ends.high[0]) == pytest.approx((min(alone), max(alone)), abs=1e-9)


def test_a_hole_of_the_rival_lowers_the_score_of_the_run() -> None:
    """own: grade 1, 0; rival: 0, hole. Alone own has 1 for certain and rival at most .52; but a
    hole of grade 3 makes them .28 and .52."""
    own, rival = (
        TopicTop("t", ["a", "z"], [1, 0], [1, 0, 0], 2),
        TopicTop("t", ["y", "b"], [0, None], [1, 0, 0], 2),
    )
    measure = parse_measure("nDCG@2")
    assert compute_bounds([own], measure, min_relevant=1, highest=3).low[0] == 1
    second = 1 / math.log2(3)
    bounds = compute_difference_bounds([own], [rival], measure, min_relevant=1, highest=3)
    assert (bounds.low[0], bounds.zero[0], bounds.high[0]) == pytest.approx(
        ((1 - 3 * second) / (3 + second), 1, 1)
    )
    (together,), _ = merge_unjudged([[own], [rival]], 2)
    assert compute_bounds([together], measure, min_relevant=1, highest=3).low[0] == pytest.approx(
        1 / (3 + second)
    )


def test_too_many_fillings_of_both_fall_back_to_the_range_of_each() -> None:
    """Ten holes each and 21 grades: 30,045,015 multisets of one run's, far more of both."""
    own, rival = (
        TopicTop("t", [f"{side}{k}" for k in range(4)], [None] * 4, [20], 4) for side in "ab"
    )
    bounds = compute_difference_bounds(
        [own], [rival], parse_measure("nDCG@4"), min_relevant=1, highest=20
    )
    every = 1 + 1 / math.log2(3) + 0.5 + 1 / math.log2(5)
    assert bounds.high[0] >= (every - 1) / every
    assert bounds.low[0] == pytest.approx(-bounds.high[0])


def err(grades: list[int], highest: int) -> float:
    total, going = 0.0, 1.0
    for rank, grade in enumerate(grades, start=1):
        chance = (2**grade - 1) / 2**highest
        total += going * chance / rank
        going *= 1 - chance
    return total


@given(
    topics=st.lists(
        st.lists(st.one_of(st.none(), st.integers(0, 2)), min_size=1, max_size=4),
        min_size=1,
        max_size=3,
    ).filter(lambda topics: sum(grades.count(None) for grades in topics) <= 4)
)
@settings(max_examples=40, deadline=None)
def test_err_is_told_in_units_of_the_highest_grade_that_the_qrels_then_have(
    topics: list[list[Any]],
) -> None:
    """Chapelle's formula over every grade from 0 to 3 of every hole, the highest grade that of all
    topics together, as `evaluate` takes it."""
    tops = [
        TopicTop(
            str(t),
            [f"d{k}" for k in range(len(grades))],
            grades,
            [grade for grade in grades if grade is not None],
            len(grades),
        )
        for t, grades in enumerate(topics)
    ]
    holes = [
        (t, k) for t, grades in enumerate(topics) for k, grade in enumerate(grades) if grade is None
    ]
    scores = []
    for chosen in product(range(4), repeat=len(holes)):
        filled = [[0 if grade is None else grade for grade in grades] for grades in topics]
        for (t, k), grade in zip(holes, chosen, strict=True):
            filled[t][k] = grade
        highest = max(grade for grades in filled for grade in grades)
        scores.append([err(grades, highest) for grades in filled])
    bounds = compute_bounds(tops, parse_measure("ERR"), min_relevant=1, highest=3)
    assert bounds.zero == pytest.approx(scores[0])
    for values_of_topic, low, high in zip(
        zip(*scores, strict=True), bounds.low, bounds.high, strict=True
    ):
        assert low <= min(values_of_topic) + 1e-12
        assert high >= max(values_of_topic) - 1e-12


def test_a_hole_of_a_grade_never_seen_halves_err_of_the_other_topics() -> None:
    """Grades to 1, scale to 2. Topic 1 has a document of grade 1 first: 1/2, or 1/4 once some
    document has grade 2. Topic 2's hole: none, 1/2, or 3/4."""
    tops = [TopicTop("1", ["a"], [1], [1], 1), TopicTop("2", ["b"], [None], [], 1)]
    bounds = compute_bounds(tops, parse_measure("ERR"), min_relevant=1, highest=2)
    assert (bounds.low.tolist(), bounds.zero.tolist(), bounds.high.tolist()) == (
        [0.25, 0],
        [0.5, 0],
        [0.5, 0.75],
    )
    fixed = compute_bounds(tops, parse_measure("ERR(max_rel=2)"), min_relevant=1, highest=2)
    assert (fixed.low.tolist(), fixed.zero.tolist(), fixed.high.tolist()) == (
        [0.25, 0],
        [0.25, 0],
        [0.25, 0.75],
    )
    assert compute_bounds(
        tops[:1], parse_measure("ERR"), min_relevant=1, highest=2
    ).low.tolist() == [0.5], "nothing is open"

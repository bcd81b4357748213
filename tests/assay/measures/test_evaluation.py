from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator

import ir_measures
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.measures.evaluation import Evaluator, evaluate
from assay.measures.measures import Measure, UnknownMeasure, parse_measure, parse_measures
from tests.assay.comparison.rankings_by_hand import (
    REFERENCE_NAMES,
    Grades,
    Scores,
    qrels_of,
    reference_values,
    run_of,
)

PLAIN = "AP AP@3 nDCG nDCG@3 nDCG-exp nDCG-exp@3 RR RR@2 P@3 R@3 Rprec Bpref Judged@3 Success@1"
EVERYTHING = f"{PLAIN} AP-J nDCG-J@3 RR-J P-J@3 Rprec-J Bpref-J"


def value(
    rankings: Scores, judgements: Grades, measure: str, *, topic: str = "1", **options: object
) -> float:
    found = evaluate(run_of(rankings), qrels_of(judgements), measure, **options)
    return float(found.values[found.topics.index(topic), 0])


def ranked(documents: str) -> dict[str, float]:
    return {document: -float(rank) for rank, document in enumerate(documents.split())}


HAND_RUN = {"1": ranked("r1 n1 u1 r2 n2 m1 r3")}
HAND_QRELS = {"1": {"r1": 2, "r2": 1, "r3": 3, "r4": 1, "n1": 0, "n2": 0, "m1": -1}}
# ranks of the relevant: 1, 4, 7 (grades 2, 1, 3), r4 is not retrieved; judged non-relevant at 2 and
# 5; u1 and m1 unjudged


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("AP", (1 / 1 + 2 / 4 + 3 / 7) / 4),
        ("AP@4", (1 / 1 + 2 / 4) / 4),
        ("AP(rel=2)", (1 / 1 + 2 / 7) / 2),
        ("RR", 1.0),
        ("RR(rel=3)", 1 / 7),
        ("RR(rel=3)@6", 0.0),
        ("P@5", 2 / 5),
        ("P@10", 3 / 10),
        ("R@5", 2 / 4),
        ("Rprec", 2 / 4),
        ("Bpref", (1 + (1 - 1 / 2) + (1 - 2 / 2)) / 4),
        ("Judged@5", 4 / 5),
        ("Judged@10", 5 / 7),
        ("J@5", 4 / 5),
        ("J@10", 5 / 10),
        ("Success@1", 1.0),
        ("Success(rel=3)@6", 0.0),
        (
            "nDCG",
            (2 / 1 + 1 / math.log2(5) + 3 / math.log2(8))
            / (3 / 1 + 2 / math.log2(3) + 1 / 2 + 1 / math.log2(5)),
        ),
        ("nDCG@4", (2 + 1 / math.log2(5)) / (3 + 2 / math.log2(3) + 1 / 2 + 1 / math.log2(5))),
        ("nDCG@2", 2 / (3 + 2 / math.log2(3))),
        ("nDCG-exp@4", (3 + 1 / math.log2(5)) / (7 + 3 / math.log2(3) + 1 / 2 + 1 / math.log2(5))),
        ("AP-J", (1 / 1 + 2 / 3 + 3 / 5) / 4),  # condensed ranking: r1 n1 r2 n2 r3
        ("nDCG-J@3", (2 + 1 / math.log2(4)) / (3 + 2 / math.log2(3) + 1 / 2)),
        ("RR(rel=3)-J", 1 / 5),
        ("P-J@5", 3 / 5),
        ("Rprec-J", 2 / 4),
        ("Judged-J@5", 1.0),
    ],
)
def test_each_measure_on_a_ranking_worked_by_hand(measure: str, expected: float) -> None:
    assert value(HAND_RUN, HAND_QRELS, measure) == pytest.approx(expected, abs=1e-12)


def test_ties_are_broken_by_descending_document_id_in_all_measures() -> None:
    tied = {"1": {"a": 1.0, "b": 1.0, "c": 1.0}}
    assert value(tied, {"1": {"a": 1}}, "RR") == pytest.approx(1 / 3)
    assert value(tied, {"1": {"c": 1}}, "nDCG@1") == 1.0


def random_case(rng: np.random.Generator, *, lowest: int) -> tuple[Scores, Grades]:
    """Six topics judged, eight ranked (two of them not judged, one judged topic sometimes not
    ranked), many ties."""
    documents = [f"d{i}" for i in range(40)]

    def some(least: int, most: int) -> list[str]:
        return [
            str(document)
            for document in rng.choice(documents, rng.integers(least, most), replace=False)
        ]

    judged = {f"t{t}": {d: int(rng.integers(lowest, 4)) for d in some(1, 30)} for t in range(6)}
    judged = {
        topic: grades for topic, grades in judged.items() if max(grades.values()) >= 0
    }  # else pytrec_eval does not end
    ranked_topics = [f"t{t}" for t in rng.permutation(np.arange(1, 9))]
    return {
        topic: {d: float(rng.integers(0, 10)) for d in some(1, 40)} for topic in ranked_topics
    }, judged


@pytest.mark.parametrize("lowest", [0, -1, -2])
@pytest.mark.parametrize("condensed", [False, True])
@pytest.mark.parametrize("level", [1, 2])
def test_random_rankings_agree_with_pytrec_eval(lowest: int, condensed: bool, level: int) -> None:
    rng = np.random.default_rng([7, lowest + 2, condensed, level])
    measures = [
        dataclasses.replace(parse_measure(name), condensed=condensed) for name in REFERENCE_NAMES
    ]
    for _ in range(40):
        rankings, judged = random_case(rng, lowest=lowest)
        theirs = reference_values(rankings, judged, level=level, condensed=condensed)
        ours = evaluate(run_of(rankings), qrels_of(judged), measures, min_relevant=level)
        expected = [
            [theirs.get(topic, {}).get(name, 0.0) for name in REFERENCE_NAMES.values()]
            for topic in ours.topics
        ]
        np.testing.assert_allclose(ours.values, expected, rtol=0, atol=1e-9)


def test_exponential_gains_agree_with_pytrec_eval_on_grades_made_exponential() -> None:
    rng = np.random.default_rng(11)
    for _ in range(40):
        rankings, judged = random_case(rng, lowest=0)
        powers = {
            topic: {d: 2**grade - 1 for d, grade in grades.items()}
            for topic, grades in judged.items()
        }
        theirs = reference_values(rankings, powers)
        ours = evaluate(run_of(rankings), qrels_of(judged), "nDCG-exp nDCG-exp@10")
        expected = [
            [theirs.get(topic, {}).get(name, 0.0) for name in ("ndcg", "ndcg_cut_10")]
            for topic in ours.topics
        ]
        np.testing.assert_allclose(ours.values, expected, rtol=0, atol=1e-9)


def test_exponential_gains_of_grades_beyond_a_double_by_hand() -> None:
    """2^1100 overflows: beside it a gain of 1 is nothing, so the topic has 1/log2(3); two such
    documents have (1 + 1/log2(3)) as ideal."""
    judged = {
        "1": {"a": 1100, "b": 1},
        "2": {"a": 1, "b": 0},
        "3": {"a": 1100, "b": 1100, "c": 1101},
    }
    rankings = {topic: {"b": 2.0, "a": 1.0} for topic in judged}
    found = evaluate(run_of(rankings), qrels_of(judged), "nDCG-exp")
    log3 = math.log2(3)
    expected = [1 / log3, 1 / log3, (1 + 1 / log3) / (2 + 1 / log3 + 1 / 2)]
    assert found.values[:, 0].tolist() == pytest.approx(expected, abs=1e-12)
    assert (found.n_averaged, found.means()[0]) == (3, pytest.approx(sum(expected) / 3))


def by_ir_measures(
    rankings: Scores, judged: Grades, names: list[str]
) -> Iterator[tuple[str, str, float]]:
    for metric in ir_measures.iter_calc(
        [ir_measures.parse_measure(name) for name in names], judged, rankings
    ):
        yield str(metric.measure), metric.query_id, metric.value


def test_names_mean_what_they_mean_in_ir_measures() -> None:
    text = "AP AP(rel=2) nDCG@10 RR@10 P@10 R@100 Rprec Bpref Judged@10 Judged@3 Success@5 nDCG(judged_only=True)@5"
    names = text.split()
    canonical = {str(ir_measures.parse_measure(name)): name for name in names}
    rng = np.random.default_rng(3)
    for _ in range(30):
        rankings, judged = random_case(rng, lowest=0)
        rankings = {
            topic: {d: score + i / 100 for i, (d, score) in enumerate(ranking.items())}
            for topic, ranking in rankings.items()
        }
        ours = evaluate(run_of(rankings), qrels_of(judged), " ".join(names))
        places = {str(parse_measure(name)): i for i, name in enumerate(names)}
        for measure, topic, expected in by_ir_measures(rankings, judged, names):
            found = ours.values[
                ours.topics.index(topic), places[str(parse_measure(canonical[measure]))]
            ]
            assert found == pytest.approx(expected, abs=1e-9), (measure, topic)


def test_judged_breaks_ties_like_all_measures_unlike_ir_measures() -> None:
    tied, judged = {"1": {"a": 1.0, "b": 1.0}}, {"1": {"a": 1}}
    assert value(tied, judged, "Judged@1") == 0
    assert [found for _, _, found in by_ir_measures(tied, judged, ["Judged@1"])] == [1.0]


def test_a_negative_grade_is_not_judged_unlike_in_ir_measures() -> None:
    rankings, judged = {"1": ranked("a b")}, {"1": {"a": -1, "b": 1}}
    assert value(rankings, judged, "Judged@2") == 0.5
    assert [found for _, _, found in by_ir_measures(rankings, judged, ["Judged@2"])] == [1.0]


def test_a_topic_that_the_run_lacks_counts_zero_and_is_counted() -> None:
    found = evaluate(
        run_of({"1": ranked("a"), "9": ranked("a")}),
        qrels_of({"1": {"a": 1}, "2": {"a": 1}}),
        "AP Judged@10",
    )
    assert found.values.tolist() == [[1.0, 1.0], [0.0, 0.0]]
    assert found.means().tolist() == [0.5, 0.5]
    assert (found.n_missing, found.n_ignored, found.n_averaged) == (1, 1, 2)


def test_the_intersection_leaves_out_topics_that_the_run_lacks() -> None:
    found = evaluate(
        run_of({"1": ranked("a")}),
        qrels_of({"1": {"a": 1}, "2": {"a": 1}}),
        "AP",
        missing_topics="skip",
    )
    assert found.means().tolist() == [1.0]
    assert (found.n_missing, found.n_averaged) == (1, 1)


def test_a_topic_without_relevant_documents_counts_zero_unless_it_is_left_out() -> None:
    run, qrels = (
        run_of({"1": ranked("a"), "2": ranked("a")}),
        qrels_of({"1": {"a": 1}, "2": {"a": 0}}),
    )
    with_all, without = (
        evaluate(run, qrels, "AP", only_with_relevant=flag) for flag in (False, True)
    )
    assert (with_all.means()[0], without.means()[0]) == (0.5, 1.0)
    assert with_all.with_relevant.tolist() == [True, False]
    from_two = qrels_of({"1": {"a": 1}, "2": {"a": 2}})
    assert evaluate(run, from_two, "AP", min_relevant=2, only_with_relevant=True).values[
        :, 0
    ].tolist() == pytest.approx([math.nan, 1.0], nan_ok=True)


def test_a_first_relevant_document_at_the_cutoff_has_its_reciprocal_rank() -> None:
    rankings, judged = {"1": ranked("a b c")}, {"1": {"a": 0, "c": 1}}
    assert [value(rankings, judged, name) for name in ("RR", "RR@3", "RR@2")] == [1 / 3, 1 / 3, 0.0]


def test_of_a_condensed_ranking_all_is_judged() -> None:
    rankings, judged = {"1": ranked("a b c d")}, {"1": {"a": 1, "d": 0}}
    assert [value(rankings, judged, name) for name in ("Judged@4", "Judged-J@4")] == [0.5, 1.0]


def test_a_mean_over_no_topic_is_undefined() -> None:
    found = evaluate(
        run_of({"9": ranked("a")}), qrels_of({"1": {"a": 1}}), "AP", missing_topics="skip"
    )
    assert math.isnan(found.means()[0])
    assert found.n_averaged == 0


def test_a_run_without_topics_and_qrels_without_rows_are_evaluated_to_zero_and_nothing() -> None:
    assert evaluate(run_of({}), qrels_of({"1": {"a": 1}}), EVERYTHING).values.sum() == 0
    assert evaluate(run_of({"1": ranked("a")}), qrels_of({}), EVERYTHING).values.shape == (0, 20)
    assert (
        evaluate(run_of({"1": ranked("a")}), qrels_of({"1": {"a": -1}}), EVERYTHING).values.sum()
        == 0
    )


def test_ids_are_not_numbers() -> None:
    assert value({"051": ranked("a")}, {"51": {"a": 1}}, "AP", topic="51") == 0
    assert value({"1": ranked("007")}, {"1": {"7": 1}}, "AP") == 0


def test_unknown_values_of_missing_topics_are_refused() -> None:
    with pytest.raises(ValueError, match="zero or skip"):
        Evaluator(qrels_of({"1": {"a": 1}}), "AP", missing_topics="union")


def test_a_subset_of_the_judgements_is_made_by_negative_grades() -> None:
    qrels = qrels_of({"1": {"a": 2, "b": 1, "c": 0}, "2": {"a": 1}})
    subset = qrels_of({"1": {"b": 1}, "2": {"a": 1}})
    fewer = dataclasses.replace(qrels, grades=np.array([-1, 1, -1, 1], dtype=np.int32))
    run = run_of({"1": ranked("a c b d"), "2": ranked("b a")})
    np.testing.assert_array_equal(
        evaluate(run, fewer, EVERYTHING).values, evaluate(run, subset, EVERYTHING).values
    )


topics = st.sampled_from(["1", "2", "03"])
documents = st.sampled_from(["a", "b", "é", "doc-with-a-rather-long-id", "A", "aa"])
some_judgements = st.dictionaries(
    topics, st.dictionaries(documents, st.integers(-1, 3), min_size=1), min_size=1
)
some_rankings = st.dictionaries(
    topics, st.dictionaries(documents, st.integers(0, 3).map(float), min_size=1)
)
MEASURES: list[Measure] = parse_measures(EVERYTHING)


@settings(max_examples=100, deadline=None)
@given(some_rankings, some_judgements, st.randoms(use_true_random=False))
def test_the_order_of_topics_and_rows_changes_nothing(
    rankings: Scores, judged: Grades, random: object
) -> None:
    def shuffled(table: dict) -> dict:
        keys = list(table)
        random.shuffle(keys)  # type: ignore[attr-defined]
        return {
            key: shuffled(table[key]) if isinstance(table[key], dict) else table[key]
            for key in keys
        }

    one = evaluate(run_of(rankings), qrels_of(judged), MEASURES)
    other = evaluate(run_of(shuffled(rankings)), qrels_of(shuffled(judged)), MEASURES)
    places = [other.topics.index(topic) for topic in one.topics]
    np.testing.assert_array_equal(one.values, other.values[places])
    np.testing.assert_array_equal(one.means(), other.means())


@settings(max_examples=100, deadline=None)
@given(some_rankings, some_judgements)
def test_every_measure_is_between_zero_and_one(rankings: Scores, judged: Grades) -> None:
    values = evaluate(run_of(rankings), qrels_of(judged), MEASURES).values
    assert ((values >= 0) & (values <= 1 + 1e-12)).all()


@settings(max_examples=100, deadline=None)
@given(some_rankings, st.integers(1, 5), st.integers(0, 3))
def test_a_run_whose_own_pool_is_judged_has_everything_judged_to_that_depth(
    rankings: Scores, depth: int, grade: int
) -> None:
    run = run_of(rankings)
    judged: Grades = {}
    for i, topic in enumerate(run.topics):
        judged[topic] = {
            document.decode(): grade for document in run.documents[run.rows(i)][:depth].tolist()
        }
    found = evaluate(run, qrels_of(judged), f"Judged@{depth}")
    assert (found.values == 1).all()


@settings(max_examples=60, deadline=None)
@given(some_judgements)
def test_a_run_in_the_order_of_the_grades_is_ideal(judged: Grades) -> None:
    rankings = {
        topic: {d: float(grade) for d, grade in grades.items()} for topic, grades in judged.items()
    }
    found = evaluate(
        run_of(rankings),
        qrels_of(judged),
        "AP nDCG nDCG@2 nDCG-exp RR Rprec Bpref Success@1",
        only_with_relevant=True,
    )
    np.testing.assert_allclose(found.values[found.with_relevant], 1, atol=1e-12)


def test_rank_biased_precision_of_the_worked_ranking() -> None:
    """Relevant at ranks 1 and 3, persistence .5: .5 (1 + .25); with level 2 only rank 3; cut at 2
    only rank 1."""
    rankings, judged = (
        {"1": {"a": 3.0, "b": 2.0, "c": 1.0}},
        {"1": {"a": 1, "b": 0, "c": 2, "z": 1}},
    )
    found = evaluate(run_of(rankings), qrels_of(judged), "RBP(0.5) RBP(0.5,rel=2) RBP(p=0.5)@2")
    assert [str(measure) for measure in found.measures] == [
        "RBP(0.5)",
        "RBP(0.5,rel=2)",
        "RBP(0.5)@2",
    ]
    assert found.values[0] == pytest.approx([0.625, 0.125, 0.5])


def test_an_estimate_from_a_sample_is_refused_under_plain_qrels() -> None:
    with pytest.raises(UnknownMeasure, match="only for a sampled pool"):
        evaluate(run_of({"1": {"a": 1.0}}), qrels_of({"1": {"a": 1}}), "AP HT-P@10")

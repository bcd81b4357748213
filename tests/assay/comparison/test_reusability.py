from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau, rankdata

from assay.comparison.reusability import (
    Reusability,
    ReusabilityRequest,
    combine_results,
    compute_pool_ranks,
    make_chunks,
    run_chunk,
    to_json,
)
from assay.formats.qrels import read_qrels
from assay.formats.runs import read_run
from assay.measures.batch import pack_collection
from assay.measures.measures import parse_measures
from tests.assay.measures.small_collections import (
    Grades,
    Small,
    random_collection,
    reference_scores,
)

NAMES = ["AP", "nDCG@5", "Bpref"]


def reusability(small: Small, **options: object) -> Reusability:
    collection = pack_collection(*small.columns())
    request = ReusabilityRequest(tuple(parse_measures(NAMES)), **options)
    pieces = make_chunks(collection, request)
    return combine_results(
        collection, request, pieces, [run_chunk(collection, request, piece) for piece in pieces]
    )


def top(small: Small, tag: str, topic: str, depth: int) -> set[str]:
    ranking = small.runs[tag].get(topic, {})
    return set(sorted(ranking, key=lambda d: (ranking[d], d), reverse=True)[:depth])


def means(small: Small, qrels: Grades) -> np.ndarray:
    """(n_measures, n_runs) by pytrec_eval over the topics of the full qrels."""
    topics = sorted(small.qrels)
    return np.array(
        [reference_scores(qrels, run, NAMES, topics).mean(axis=1) for run in small.runs.values()]
    ).T


def compare(full: np.ndarray, reduced: np.ndarray) -> tuple[list[float], np.ndarray, np.ndarray]:
    before, after = np.round(full, 10), np.round(reduced, 10)
    taus = [kendalltau(a, b).statistic for a, b in zip(before, after, strict=True)]
    return (
        taus,
        reduced - full,
        np.array([rankdata(-b) - rankdata(-a) for a, b in zip(before, after, strict=True)]),
    )


@pytest.mark.parametrize("seed", range(6))
def test_changes_are_those_of_pytrec_eval_on_really_reduced_qrels(seed: int) -> None:
    small = random_collection(np.random.default_rng(seed), n_runs=6, lowest=-1 if seed == 0 else 0)
    depth = 3
    groups = ("a", "b", "a", "c", "b", "d") if seed % 2 else None
    result = reusability(small, depth=depth, groups=groups)
    group_of = dict(zip(small.runs, groups or small.runs, strict=True))
    full = means(small, small.qrels)
    for left in result.leave_out:
        reduced: Grades = {}
        for topic, judged in small.qrels.items():
            own = {
                d
                for tag in small.runs
                if group_of[tag] == left.unit
                for d in top(small, tag, topic, depth)
            }
            others = {
                d
                for tag in small.runs
                if group_of[tag] != left.unit
                for d in top(small, tag, topic, depth)
            }
            reduced[topic] = {d: g for d, g in judged.items() if d not in own - others}
        assert left.n_pairs == sum(map(len, small.qrels.values())) - sum(map(len, reduced.values()))
        taus, score_change, rank_change = compare(full, means(small, reduced))
        np.testing.assert_allclose(left.tau, taus, atol=1e-9)
        np.testing.assert_allclose(left.score_change, score_change, atol=1e-9)
        np.testing.assert_allclose(left.rank_change, rank_change)
    assert [left.unit for left in result.leave_out] == list(dict.fromkeys(group_of.values()))
    for at in result.depths:
        pooled = {
            topic: {
                d: g
                for d, g in judged.items()
                if any(d in top(small, tag, topic, at.depth) for tag in small.runs)
            }
            for topic, judged in small.qrels.items()
        }
        assert at.n_pairs == sum(map(len, pooled.values()))
        taus, score_change, _ = compare(full, means(small, pooled))
        np.testing.assert_allclose(at.tau, taus, atol=1e-9)
        np.testing.assert_allclose(at.mean_abs_change, np.abs(score_change).mean(axis=1), atol=1e-9)
    assert [at.depth for at in result.depths] == [1, 2, 3]


def test_a_tiny_example_by_hand() -> None:
    small = Small(
        {"1": {"a": 1, "b": 1, "c": 0, "d": 1}},
        {
            "one": {"1": {"a": 3, "c": 2, "d": 1}},
            "two": {"1": {"b": 3, "a": 2}},
            "three": {"1": {"c": 2, "x": 1}},
        },
    )
    collection = pack_collection(*small.columns())
    # pool of depth 1: a by one, b by two, c by three; d is judged outside the pool and stays
    assert compute_pool_ranks(collection, 1).tolist() == [
        [1, 2, 2],
        [2, 1, 2],
        [2, 2, 1],
        [2, 2, 2],
    ]
    request = ReusabilityRequest(tuple(parse_measures("AP P@1")), depth=1)
    pieces = make_chunks(collection, request)
    result = combine_results(
        collection, request, pieces, [run_chunk(collection, request, piece) for piece in pieces]
    )
    # full: AP one = (1 + 2/3) / 3, two = 2/3, three = 0; P@1 1, 1, 0
    left = {of.unit: of for of in result.leave_out}
    assert {unit: of.n_pairs for unit, of in left.items()} == {"one": 1, "two": 1, "three": 1}
    # without a: b and d are relevant; one finds d at rank 3 of 3: AP 1/6; two finds b at 1: 1/2
    np.testing.assert_allclose(
        left["one"].score_change, [[1 / 6 - 5 / 9, 1 / 2 - 2 / 3, 0], [-1, 0, 0]]
    )
    # ranks by AP 2 1 3 before and after; by P@1 1.5 1.5 3 before, then two alone first and the
    # others share 2.5
    np.testing.assert_allclose(left["one"].rank_change, [[0, 0, 0], [1, -0.5, -0.5]])
    # before, one and two are tied, afterwards one and three: only two above three stays, of two
    # untied pairs each
    np.testing.assert_allclose(left["one"].tau, [1, 1 / 2])
    # without c nothing changes but that c is unjudged
    np.testing.assert_array_equal(left["three"].score_change, np.zeros((2, 3)))
    # depth 1: d is gone; AP one = 1/2, two = (1 + 1)/2, three = 0
    (at,) = result.depths
    assert (at.depth, at.n_pairs) == (1, 3)
    np.testing.assert_allclose(at.mean_abs_change, [(5 / 9 - 1 / 2 + 1 - 2 / 3) / 3, 0])
    found = to_json(result)
    assert found["leave_out"]["one"]["runs"]["two"]["rank_change"] == {"AP": 0.0, "P@1": -0.5}
    assert list(found["depth"]) == ["1"]


def test_a_run_that_contributed_nothing_of_its_own_changes_nothing() -> None:
    same = {"1": {"a": 2.0, "b": 1.0}}
    result = reusability(
        Small({"1": {"a": 1, "b": 0}}, {"x": same, "y": same, "z": {"1": {"b": 1.0}}}), depth=2
    )
    for left in result.leave_out:
        assert left.n_pairs == 0
        assert not left.score_change.any()
        assert not left.rank_change.any()


def test_a_group_takes_what_its_runs_share() -> None:
    same = {"1": {"a": 2.0}}
    small = Small({"1": {"a": 1, "b": 1}}, {"x": same, "y": same, "z": {"1": {"b": 1.0}}})
    assert [left.n_pairs for left in reusability(small, depth=1).leave_out] == [0, 0, 1]
    assert [
        left.n_pairs for left in reusability(small, depth=1, groups=("xy", "xy", "z")).leave_out
    ] == [1, 1]


def test_intersection_leaves_a_run_without_topics_undefined() -> None:
    small = Small(
        {"1": {"a": 1}}, {"x": {"1": {"a": 1.0}}, "y": {"1": {"b": 1.0}}, "z": {"2": {"a": 1.0}}}
    )
    result = reusability(small, depth=1, missing_topics="skip")
    assert np.isnan(result.leave_out[0].tau).all()
    assert np.isnan(result.leave_out[0].rank_change[:, 2]).all()


@pytest.mark.data
def test_what_robust_2003_runs_contributed_alone_is_what_a_loop_over_dictionaries_counts(
    data_folder,
) -> None:  # type: ignore[no-untyped-def]
    folder = data_folder / "robust03"
    runs = [read_run(path) for path in sorted((folder / "runs").iterdir())[:6]]
    qrels = read_qrels(folder / "qrels.robust2003.txt.gz")
    collection = pack_collection(qrels, runs)
    request = ReusabilityRequest(tuple(parse_measures("AP nDCG@10")), depth=20)
    pieces = make_chunks(collection, request)
    result = combine_results(
        collection, request, pieces, [run_chunk(collection, request, piece) for piece in pieces]
    )
    contributors: dict[tuple[str, bytes], set[str]] = {}
    for run in runs:
        for t, topic in enumerate(run.topics):
            for document in run.documents[run.rows(t)][:20].tolist():
                contributors.setdefault((topic, document), set()).add(run.tag)
    judged = {
        (topic, d)
        for t, topic in enumerate(qrels.topics)
        for d in qrels.documents[qrels.rows(t)].tolist()
    }
    alone = {
        run.tag: sum(
            1 for pair, tags in contributors.items() if tags == {run.tag} and pair in judged
        )
        for run in runs
    }
    assert {left.unit: left.n_pairs for left in result.leave_out} == alone
    assert result.depths[-1].n_pairs == len(judged & set(contributors))

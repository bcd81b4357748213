from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau, linregress

from assay.chunks import map_in_processes
from assay.comparison.rank_biased_overlap import rank_biased_overlap
from assay.comparison.rankings import tau_ap
from assay.comparison.stability import (
    StabilityChunk,
    StabilityProtocol,
    combine_results,
    fit_line,
    make_chunks,
    make_population,
    run_chunk,
)
from assay.formats.qrels import read_qrels
from assay.measures.batch import pack_collection
from assay.measures.measures import parse_measures
from assay.measures.subcollections import (
    ELEMENTS,
    IN_FIRST,
    IN_SECOND,
    SamplingPopulation,
    draw_pairs,
)
from tests.assay.measures.small_collections import (
    Small,
    keep_assessments,
    keep_documents,
    random_collection,
    reference_scores,
    run_columns,
)

NAMES = ["AP", "Rprec", "Bpref", "nDCG"]
MEASURES = tuple(parse_measures(NAMES))


def stream(protocol: StabilityProtocol, overlap: Fraction) -> np.random.Generator:
    """The documented stream of a level."""
    key = (ELEMENTS.index(protocol.element), overlap.numerator, overlap.denominator)
    return np.random.default_rng(np.random.SeedSequence(protocol.seed, spawn_key=key))


def filtered(small: Small, protocol: StabilityProtocol, things: list, drawn: set) -> Small:
    """The sub-collection as files would be filtered."""
    if protocol.element == "documents":
        return keep_documents(small, drawn)
    if protocol.element == "topics":
        return Small({t: judged for t, judged in small.qrels.items() if t in drawn}, small.runs)
    return keep_assessments(
        small, drawn | ({(t, d) for t, judged in small.qrels.items() for d in judged} - set(things))
    )


def things_of(small: Small, protocol: StabilityProtocol) -> list:
    if protocol.element == "documents":
        return small.documents()
    if protocol.element == "topics":
        return sorted(small.qrels)
    pairs = sorted((t, d) for t, judged in small.qrels.items() for d in judged)
    return (
        pairs
        if protocol.element == "assessments"
        else [(t, d) for t, d in pairs if small.qrels[t][d] >= protocol.min_relevant]
    )


def score_sides(small: Small, protocol: StabilityProtocol, things: list, pair) -> np.ndarray:
    """Mean scores (2, systems, measures) by pytrec_eval on the two sub-collections of a pair."""
    sides = []
    for bit in (IN_FIRST, IN_SECOND):
        part = filtered(
            small,
            protocol,
            things,
            {thing for thing, member in zip(things, pair, strict=True) if member & bit},
        )
        topics = sorted(part.qrels)
        sides.append(
            [
                reference_scores(part.qrels, run, NAMES, topics, protocol.min_relevant).mean(axis=1)
                for run in part.runs.values()
            ]
        )
    return np.round(sides, 10)


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("seed", range(4))
def test_taus_are_those_of_pytrec_eval_and_scipy_on_really_filtered_files(
    element: str, seed: int
) -> None:
    small = random_collection(
        np.random.default_rng(seed), n_topics=8, n_runs=6, lowest=-1 if seed == 0 else 0
    )
    protocol = StabilityProtocol(element, MEASURES, pairs=5, seed=seed, min_relevant=1 + seed % 2)
    collection = pack_collection(*small.columns())
    things = things_of(small, protocol)
    assert make_population(collection, protocol).n == len(things)
    overlap = Fraction(1, 4)
    memberships = draw_pairs(
        SamplingPopulation.from_size(len(things)), overlap, 5, stream(protocol, overlap)
    )
    found = run_chunk(collection, protocol, StabilityChunk(overlap, 0))
    for number, pair in enumerate(memberships):
        first, second = score_sides(small, protocol, things, pair)
        expected = [kendalltau(first[:, m], second[:, m]).statistic for m in range(len(NAMES))]
        np.testing.assert_allclose(found[:, number], expected, atol=1e-9)


def tau_a_by_hand(x: np.ndarray, y: np.ndarray) -> float:
    signs = [
        np.sign((a - b) * (c - d)) for (a, c), (b, d) in combinations(zip(x, y, strict=True), 2)
    ]
    return float(np.mean(signs))


@pytest.mark.parametrize(
    ("similarity", "by"),
    [
        ("tau-a", tau_a_by_hand),
        ("tau-ap", lambda x, y: (tau_ap(x, y) + tau_ap(y, x)) / 2),
        ("rbo", rank_biased_overlap),
    ],
)
def test_other_similarities_of_the_same_rankings(similarity: str, by: Callable) -> None:
    small = random_collection(np.random.default_rng(2), n_topics=8, n_runs=6)
    protocol = StabilityProtocol("topics", MEASURES, pairs=5, similarity=similarity)
    collection, overlap = pack_collection(*small.columns()), Fraction(1, 4)
    things = things_of(small, protocol)
    population = SamplingPopulation.from_size(len(things))
    memberships = draw_pairs(population, overlap, 5, stream(protocol, overlap))
    found = run_chunk(collection, protocol, StabilityChunk(overlap, 0))
    for number, pair in enumerate(memberships):
        first, second = score_sides(small, protocol, things, pair)
        expected = [by(first[:, m], second[:, m]) for m in range(len(NAMES))]
        np.testing.assert_allclose(found[:, number], expected, atol=1e-9)
    middle = float(np.median(found))
    protocol = replace(protocol, threshold=middle)
    combined = combine_results(population, protocol, [StabilityChunk(overlap, 0)], [found])
    np.testing.assert_allclose(combined.probability[:, 0], (found >= middle - 1e-12).mean(axis=1))
    assert 0 < combined.probability.mean() < 1


@pytest.mark.parametrize("element", ["assessments", "positive"])
def test_a_quota_draws_within_each_topic(element: str) -> None:
    small = random_collection(np.random.default_rng(3))
    collection = pack_collection(*small.columns())
    protocol = StabilityProtocol(element, MEASURES, per_topic_quota=True)
    counts = [
        sum(1 for g in judged.values() if element == "assessments" or g >= 1)
        for judged in small.qrels.values()
    ]
    drawn = make_population(collection, protocol)
    assert (drawn.n, drawn.size) == (sum(counts), sum(n // 2 for n in counts))
    assert sorted(len(group) for group in drawn.groups) == sorted(n for n in counts if n)


def test_documents_outside_the_list_are_in_no_sub_collection() -> None:
    small = Small(
        {"1": {"a": 1, "b": 1, "c": 0}},
        {
            "x": {"1": {"z": 3, "a": 2, "b": 1, "c": 0}},
            "y": {"1": {"z": 9, "y": 8, "x": 7, "c": 6, "b": 5, "a": 4}},
        },
    )
    listed = np.array(sorted(["a", "b", "c", *(f"other{i}" for i in range(5))]), dtype="S")
    collection = pack_collection(*small.columns())
    protocol = StabilityProtocol(
        "documents", tuple(parse_measures("RR AP Judged@1")), overlaps=(Fraction(1),), pairs=30
    )
    assert (
        make_population(collection, protocol, listed).n,
        make_population(collection, protocol).n,
    ) == (
        8,
        6,
    )
    # z, y and x are gone, so that both rankings begin with a judged document or are empty: the
    # systems are tied
    taus = run_chunk(collection, protocol, StabilityChunk(Fraction(1), 4), listed)
    assert np.isnan(taus[2]).all()


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000), element=st.sampled_from(ELEMENTS))
def test_at_full_overlap_the_rankings_are_equal(seed: int, element: str) -> None:
    collection = pack_collection(
        *random_collection(np.random.default_rng(seed), n_topics=5, n_runs=5).columns()
    )
    protocol = StabilityProtocol(element, MEASURES, overlaps=(Fraction(1),), pairs=8, seed=seed)
    taus = run_chunk(collection, protocol, StabilityChunk(Fraction(1), 0))
    assert (taus[~np.isnan(taus)] == 1).all()


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), element=st.sampled_from(ELEMENTS))
def test_the_order_of_files_and_rows_changes_nothing(seed: int, element: str) -> None:
    small = random_collection(np.random.default_rng(seed))
    turned = Small(
        {t: dict(reversed(judged.items())) for t, judged in reversed(small.qrels.items())},
        {tag: dict(reversed(run.items())) for tag, run in reversed(small.runs.items())},
    )
    protocol = StabilityProtocol(element, MEASURES, pairs=6, seed=seed)
    one, other = (
        run_chunk(pack_collection(*s.columns()), protocol, StabilityChunk(Fraction(1, 2), 0))
        for s in (small, turned)
    )
    np.testing.assert_array_equal(one, other)


def test_a_level_does_not_depend_on_the_other_levels_asked_for() -> None:
    collection = pack_collection(*random_collection(np.random.default_rng(0)).columns())
    half = Fraction(1, 2)
    alone, among = (
        StabilityProtocol("documents", MEASURES, overlaps=levels, pairs=4)
        for levels in ((half,), (Fraction(1, 5), half))
    )
    drawn = make_population(collection, alone)
    np.testing.assert_array_equal(
        run_chunk(collection, alone, make_chunks(drawn, alone)[0]),
        run_chunk(collection, among, make_chunks(drawn, among)[1]),
    )


def _taus(shared: tuple, chunk: StabilityChunk) -> np.ndarray:
    return run_chunk(*shared, chunk)


def test_any_number_of_processes_gives_the_same() -> None:
    collection = pack_collection(*random_collection(np.random.default_rng(0)).columns())
    protocol = StabilityProtocol("topics", MEASURES, pairs=4, seed=7)
    levels = make_chunks(make_population(collection, protocol), protocol)
    results = [
        list(map_in_processes(_taus, levels, processes=n, shared=(collection, protocol)))
        for n in (1, 2, 3)
    ]
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])


def test_intersection_averages_over_the_topics_that_a_run_has() -> None:
    judged = {f"t{i}": {"a": 1, "b": 0, "c": 0} for i in range(4)}
    good, bad = {"a": 3.0, "b": 2.0, "c": 1.0}, {"a": 2.0, "b": 3.0, "c": 1.0}
    small = Small(judged, {"good but once": {"t0": good}, "bad": dict.fromkeys(judged, bad)})
    collection = pack_collection(*small.columns())
    complete, common = (
        run_chunk(
            collection,
            StabilityProtocol(
                "topics", tuple(parse_measures("AP")), pairs=40, missing_topics=topics
            ),
            StabilityChunk(Fraction(1), 0),
        )[0]
        for topics in ("zero", "skip")
    )
    # Two of four topics. With t0 the first system has 1 on one of two topics, 1/2 over both as the
    # other: tied, but 1 over its own. Without t0 it has 0 over both, and no topic of its own.
    assert set(complete[~np.isnan(complete)]) == {1.0} == set(common[~np.isnan(common)])
    np.testing.assert_array_equal(np.isnan(complete), ~np.isnan(common))


def test_results_by_hand() -> None:
    overlaps = (Fraction(1, 5), Fraction(2, 5), Fraction(3, 5), Fraction(1))
    protocol = StabilityProtocol(
        "topics", tuple(parse_measures("AP RR")), overlaps=overlaps, pairs=4
    )
    drawn = SamplingPopulation.from_size(11)
    levels = make_chunks(drawn, protocol)
    taus = [
        [[1.0, 0.8, None, 0.9], [0.5, 0.5, 0.5, 0.5]],
        [[1.0, 1.0, 0.9, 0.95], [1.0, 0.0, 1.0, 1.0]],
        [[1.0, 1.0, 1.0, 1.0], [None, None, None, None]],
        [[1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]],
    ]
    result = combine_results(drawn, protocol, levels, taus)
    assert (result.population, result.size, result.shared) == (11, 5, (1, 2, 3, 5))
    np.testing.assert_allclose(result.probability, [[0.5, 1, 1, 1], [0, 0.75, 0, 1]])
    np.testing.assert_allclose(result.mean_tau, [[0.9, 0.9625, 1, 1], [0.5, 0.75, math.nan, 1]])
    assert result.undefined.tolist() == [[1, 0, 0, 0], [0, 0, 4, 0]]
    assert result.minimum_overlap == (Fraction(2, 5), None)
    for m, probability in enumerate([[0.5, 1, 1], [0, 0.75, 0]]):
        expected = linregress([0.2, 0.4, 0.6], probability)
        np.testing.assert_allclose(
            [result.slope[m], result.intercept[m]], [expected.slope, expected.intercept], atol=1e-12
        )


def test_one_level_below_full_overlap_makes_no_line() -> None:
    assert all(math.isnan(x) for x in fit_line([Fraction(1, 2), Fraction(1)], np.array([0.5, 1.0])))


def test_a_tau_that_float_noise_puts_below_the_threshold_has_reached_it() -> None:
    protocol = StabilityProtocol(
        "topics", MEASURES[:1], overlaps=(Fraction(1, 2),), pairs=2, threshold=0.9
    )
    drawn = SamplingPopulation.from_size(4)
    result = combine_results(
        drawn, protocol, make_chunks(drawn, protocol), [np.array([[0.9 - 1e-15, 0.8999]])]
    )
    assert result.probability.tolist() == [[0.5]]


@pytest.mark.parametrize(
    ("element", "wrong"),
    [
        ("words", {}),
        ("documents", {"per_topic_quota": True}),
        ("topics", {"overlaps": (Fraction(3, 2),)}),
    ],
)
def test_contradicting_requests_are_refused(element: str, wrong: dict) -> None:
    with pytest.raises(ValueError):
        StabilityProtocol(element, MEASURES, **wrong)


def test_one_topic_cannot_be_halved() -> None:
    small = Small({"1": {"a": 1}}, {"x": {"1": {"a": 1.0}}})
    with pytest.raises(ValueError, match="1 topics cannot be divided"):
        make_population(pack_collection(*small.columns()), StabilityProtocol("topics", MEASURES))


@pytest.mark.data
def test_sizes_for_trec_covid(data_folder) -> None:  # type: ignore[no-untyped-def]
    qrels = read_qrels(data_folder / "trec-covid" / "qrels.covid-complete.txt.gz")
    listed = np.array([f"{i:08d}" for i in range(191_160)], dtype="S8")
    collection = pack_collection(qrels, [run_columns("x", {"1": {"a": 1.0}})])
    expected = {
        "documents": (191_160, 95_580),
        "topics": (50, 25),
        "assessments": (69_318, 34_659),
        "positive": (26_664, 13_332),
    }
    for element, sizes in expected.items():
        drawn = make_population(collection, StabilityProtocol(element, MEASURES), listed)
        assert (drawn.n, drawn.size) == sizes

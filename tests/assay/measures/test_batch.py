"""Batches of sub-collections against pytrec_eval on qrels and runs that were really filtered."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.column_types import QrelsColumns, RunColumns
from assay.formats.qrels import read_qrels
from assay.formats.runs import read_run
from assay.measures import batch
from assay.measures.batch import compute_mean_scores, evaluate_subcollections, pack_collection
from assay.measures.measures import parse_measures
from assay.measures.on_subcollections import cumulate_by_run
from tests.assay.measures.small_collections import (
    REFERENCE,
    Small,
    keep_assessments,
    keep_documents,
    qrels_columns,
    random_collection,
    reference_scores,
    run_columns,
)

NAMES = list(REFERENCE)
MEASURES = parse_measures(NAMES)


def twin(small: Small, samples: list[Small], topics: list[str], level: int) -> np.ndarray:
    return np.stack(
        [
            np.stack(
                [reference_scores(s.qrels, run, NAMES, topics, level) for run in s.runs.values()],
                axis=1,
            )
            for s in samples
        ],
        axis=-1,
    )


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("level", [1, 2])
def test_scores_after_removing_documents_are_those_of_pytrec_eval_on_filtered_files(
    seed: int, level: int
) -> None:
    rng = np.random.default_rng(seed)
    small = random_collection(rng, lowest=-1 if seed % 3 == 0 else 0)
    collection = pack_collection(*small.columns())
    kept = (rng.random((len(collection.documents), 7)) < 0.5).astype(np.uint8)
    ids = [d.decode() for d in collection.documents.tolist()]
    samples = [
        keep_documents(small, {d for d, k in zip(ids, column, strict=True) if k})
        for column in kept.T
    ]
    scores = evaluate_subcollections(collection, MEASURES, kept=kept, min_relevant=level)
    np.testing.assert_allclose(scores, twin(small, samples, collection.topics, level), atol=1e-9)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("level", [1, 2])
def test_scores_after_removing_assessments_are_those_of_pytrec_eval_on_filtered_files(
    seed: int, level: int
) -> None:
    rng = np.random.default_rng(100 + seed)
    small = random_collection(rng, lowest=-1 if seed % 3 == 0 else 0)
    collection = pack_collection(*small.columns())
    assessed = (rng.random((len(collection.grades), 7)) < 0.5).astype(np.uint8)
    topic_of = np.repeat(collection.topics, np.diff(collection.offsets))
    pairs = list(
        zip(
            topic_of.tolist(),
            (d.decode() for d in collection.documents[collection.assessed].tolist()),
            strict=True,
        )
    )
    samples = [
        keep_assessments(small, {pair for pair, a in zip(pairs, column, strict=True) if a})
        for column in assessed.T
    ]
    scores = evaluate_subcollections(collection, MEASURES, assessed=assessed, min_relevant=level)
    np.testing.assert_allclose(scores, twin(small, samples, collection.topics, level), atol=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_condensed_measures_are_those_of_pytrec_eval_on_runs_without_unjudged_documents(
    seed: int,
) -> None:
    rng = np.random.default_rng(200 + seed)
    small = random_collection(rng, lowest=-1)
    collection = pack_collection(*small.columns())
    names = ["AP-J", "nDCG-J", "nDCG-J@5", "P-J@5", "RR-J", "R-J@5", "Rprec-J"]
    plain = [name.replace("-J", "") for name in names]
    kept = (rng.random((len(collection.documents), 5)) < 0.6).astype(np.uint8)
    ids = [d.decode() for d in collection.documents.tolist()]
    found = evaluate_subcollections(collection, parse_measures(names), kept=kept)
    for s, column in enumerate(kept.T):
        part = keep_documents(small, {d for d, k in zip(ids, column, strict=True) if k})
        for r, run in enumerate(part.runs.values()):
            judged = {
                t: {d: x for d, x in ranking.items() if part.qrels.get(t, {}).get(d, -1) >= 0}
                for t, ranking in run.items()
            }
            expected = reference_scores(part.qrels, judged, plain, collection.topics)
            np.testing.assert_allclose(found[:, r, :, s], expected, atol=1e-9)


def test_the_share_of_judged_documents_counts_what_is_left_of_a_ranking() -> None:
    small = Small(
        {"1": {"a": 1, "b": 0, "c": -1}}, {"x": {"1": {"a": 9, "z": 8, "c": 7, "b": 6}}, "y": {}}
    )
    collection = pack_collection(*small.columns())
    assert collection.documents.tolist() == [b"a", b"b", b"c", b"z"]
    kept = np.array([[1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 1, 1]], np.uint8).T
    scores = evaluate_subcollections(
        collection, parse_measures("Judged@2 Judged@10 J@10"), kept=kept
    )
    # all: a z | c b: 1 of 2, 2 of 4.  a, b: both judged.  z, c: neither, for a grade of -1 is no
    # judgement.  y retrieves nothing.
    np.testing.assert_array_equal(scores[:, 0, 0], [[0.5, 1, 0], [0.5, 1, 0], [0.2, 0.2, 0]])
    np.testing.assert_array_equal(scores[:, 1, 0], np.zeros((3, 3)))


def test_ndcg_with_exponential_gain_by_hand() -> None:
    small = Small({"1": {"a": 1, "b": 3, "c": 2}}, {"x": {"1": {"a": 3, "z": 2, "b": 1}}})
    collection = pack_collection(*small.columns())
    assessed = np.array([[1, 1, 1], [1, 0, 1]], np.uint8).T
    scores = evaluate_subcollections(collection, parse_measures("nDCG-exp"), assessed=assessed)[
        0, 0, 0
    ]
    log3 = np.log2(3)
    np.testing.assert_allclose(scores[0], (1 + 7 / 2) / (7 + 3 / log3 + 1 / 2), atol=1e-12)
    np.testing.assert_allclose(scores[1], 1 / (3 + 1 / log3), atol=1e-12)


def test_exponential_ndcg_matches_hand_calculation_when_gains_overflow() -> None:
    """The second sample has lost the assessment of the highest grade."""
    small = Small({"1": {"a": 1100, "b": 1, "c": 1}}, {"x": {"1": {"b": 3, "a": 2}}})
    assessed = np.array([[1, 1, 1], [0, 1, 1]], np.uint8).T
    scores = evaluate_subcollections(
        pack_collection(*small.columns()), parse_measures("nDCG-exp"), assessed=assessed
    )[0, 0, 0]
    np.testing.assert_allclose(scores, [1 / np.log2(3), 1 / (1 + 1 / np.log2(3))], atol=1e-12)


def test_a_column_does_not_depend_on_the_columns_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    collection = pack_collection(*random_collection(rng).columns())
    kept = (rng.random((len(collection.documents), 20)) < 0.5).astype(np.uint8)
    together = evaluate_subcollections(collection, MEASURES, kept=kept)
    monkeypatch.setattr(batch, "MAX_CELLS", 1)
    np.testing.assert_array_equal(
        together, evaluate_subcollections(collection, MEASURES, kept=kept)
    )


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_the_order_of_rows_and_topics_changes_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    small = random_collection(rng)
    turned = Small(
        {t: dict(reversed(judged.items())) for t, judged in reversed(small.qrels.items())},
        {
            tag: {t: dict(reversed(ranking.items())) for t, ranking in reversed(run.items())}
            for tag, run in reversed(small.runs.items())
        },
    )
    one, other = pack_collection(*small.columns()), pack_collection(*turned.columns())
    kept = (rng.random((len(one.documents), 3)) < 0.5).astype(np.uint8)
    np.testing.assert_array_equal(
        evaluate_subcollections(one, MEASURES, kept=kept),
        evaluate_subcollections(other, MEASURES, kept=kept)[
            :, [other.tags.index(tag) for tag in one.tags]
        ],
    )


def test_means_are_over_all_topics_or_over_those_that_the_run_has() -> None:
    qrels = qrels_columns({"1": {"a": 1}, "2": {"a": 1}, "3": {"b": 0}})
    runs = [run_columns("x", {"1": {"a": 1}, "3": {"b": 1}}), run_columns("y", {"4": {"a": 1}})]
    collection = pack_collection(qrels, runs)
    scores = evaluate_subcollections(collection, parse_measures("AP"))
    np.testing.assert_allclose(compute_mean_scores(collection, scores)[0, :, 0], [1 / 3, 0])
    np.testing.assert_allclose(
        compute_mean_scores(collection, scores, missing_topics="skip")[0, :, 0], [1 / 2, np.nan]
    )
    assert collection.n_ignored == [0, 1]


def test_more_than_sixty_five_thousand_ranks_are_counted() -> None:
    n = 70_000
    ranking = {f"d{i:05d}": float(n - i) for i in range(n)}
    collection = pack_collection(
        qrels_columns({"1": {"d69999": 1}}), [run_columns("deep", {"1": ranking})]
    )
    kept = np.ones((n, 2), np.uint8)
    kept[:10, 1] = 0
    np.testing.assert_allclose(
        evaluate_subcollections(collection, parse_measures("RR"), kept=kept)[0, 0, 0],
        [1 / n, 1 / (n - 10)],
        rtol=1e-12,
    )


@pytest.mark.parametrize("n_places", [1, 2, 3, 4, 7, 16, 50, 101])
def test_running_counts_are_cumulative_sums(n_places: int) -> None:
    flags = (np.random.default_rng(n_places).random((n_places * 3, 5)) < 0.5).astype(np.uint8)
    expected = np.cumsum(flags.reshape(n_places, 3, 5), axis=0, dtype=np.int64).reshape(
        n_places, 15
    )
    np.testing.assert_array_equal(cumulate_by_run(flags, 3, np.uint16), expected)


@pytest.mark.data
@pytest.mark.parametrize("element", ["documents", "assessments"])
def test_real_runs_score_as_pytrec_eval_has_it_on_filtered_files(
    data_folder: Path, element: str
) -> None:
    folder = data_folder / "clef-ehealth-2015"
    runs = [
        read_run(path, scores="float32", lenient=True)
        for path in sorted((folder / "runs-top100").iterdir())[:12]
    ]
    qrels = read_qrels(folder / "qrels.eng.clef2015.qtest.graded.txt.gz")
    collection = pack_collection(qrels, runs)
    rng = np.random.default_rng(4)
    n = len(collection.documents if element == "documents" else collection.grades)
    flags = (rng.random((n, 2)) < 0.5).astype(np.uint8)
    scores = evaluate_subcollections(
        collection, MEASURES, **{"kept" if element == "documents" else "assessed": flags}
    )
    small = Small(
        {
            t: dict(zip(texts(qrels, i), qrels.grades[qrels.rows(i)].tolist(), strict=True))
            for i, t in enumerate(qrels.topics)
        },
        {
            str(r): {
                t: dict(zip(texts(run, i), run.scores[run.rows(i)].tolist(), strict=True))
                for i, t in enumerate(run.topics)
            }
            for r, run in enumerate(runs)
        },
    )
    ids = np.array([d.decode() for d in collection.documents.tolist()])
    pairs = list(
        zip(
            np.repeat(collection.topics, np.diff(collection.offsets)).tolist(),
            ids[collection.assessed].tolist(),
            strict=True,
        )
    )
    for s, column in enumerate(flags.T.astype(bool)):
        if element == "documents":
            part = keep_documents(small, set(ids[column].tolist()))
        else:
            part = keep_assessments(
                small, {pair for pair, chosen in zip(pairs, column, strict=True) if chosen}
            )
        for r, run in enumerate(part.runs.values()):
            expected = reference_scores(part.qrels, run, NAMES, collection.topics)
            np.testing.assert_allclose(scores[:, r, :, s], expected, atol=1e-9)


def texts(columns: QrelsColumns | RunColumns, topic: int) -> list[str]:
    return [d.decode() for d in columns.documents[columns.rows(topic)].tolist()]

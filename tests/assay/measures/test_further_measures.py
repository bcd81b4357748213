"""ERR, NCG, and the further measures on sub-collections: by hand, by a loop over ranks, and by
gdeval where Perl is there."""

from __future__ import annotations

import math
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from assay.measures import batch
from assay.measures.evaluation import evaluate
from assay.measures.measures import (
    FAMILIES,
    UnknownMeasure,
    parse_measure,
    parse_measures,
    refuse_indivisible,
)
from assay.measures.on_subcollections import FORMULAS
from tests.assay.measures.small_collections import (
    Small,
    keep_assessments,
    keep_documents,
    qrels_columns,
    random_collection,
    run_columns,
)

NAMES = [
    "ERR",
    "ERR@3",
    "ERR(max_rel=4)@5",
    "ERR-J@5",
    "NCG@3",
    "NCG-J@5",
    "DCG",
    "DCG@5",
    "RBP(0.8)",
    "RBP(0.5)-J@5",
]


def ranked(scores: dict[str, float]) -> list[str]:
    return sorted(scores, key=lambda d: (scores[d], d.encode()), reverse=True)


def by_hand(name: str, judged: dict[str, int], scores: dict[str, float], highest: int) -> float:
    """One topic, rank by rank, as the definitions say."""
    measure = parse_measure(name)
    order = ranked(scores)
    if measure.condensed:
        order = [d for d in order if judged.get(d, -1) >= 0]
    grades = [max(judged.get(d, 0), 0) for d in order][: measure.cutoff]
    if measure.family == "ERR":
        top, going, total = measure.highest or highest, 1.0, 0.0
        for rank, grade in enumerate(grades, 1):
            stop = (2 ** min(grade, top) - 1) / 2**top
            total += going * stop / rank
            going *= 1 - stop
        return total
    if measure.family == "NCG":
        best = sum(sorted((g for g in judged.values() if g > 0), reverse=True)[: measure.cutoff])
        return sum(grades) / best if best else 0.0
    if measure.family == "DCG":
        return sum(grade / math.log2(rank + 1) for rank, grade in enumerate(grades, 1))
    p = measure.persistence or 0.0
    return sum((1 - p) * p ** (rank - 1) for rank, grade in enumerate(grades, 1) if grade >= 1)


def test_a_reader_content_with_three_quarters_and_a_quarter() -> None:
    """Grades 2, 0, 1 of at most 2: 3/4 + 1/4 · 1/4 / 3; gain 3 of the best two documents' 2 + 2."""
    qrels = qrels_columns({"1": {"a": 2, "b": 0, "c": 1, "d": 2}})
    run = run_columns("r", {"1": {"a": 3.0, "b": 2.0, "c": 1.0}})
    values = evaluate(run, qrels, "ERR ERR@2 ERR(max_rel=4) NCG@2 NCG@3").values[0]
    assert values.tolist() == pytest.approx(
        [0.75 + 1 / 48, 0.75, 3 / 16 + 13 / 16 / 16 / 3, 2 / 4, 3 / 5]
    )
    above_the_scale = evaluate(run, qrels, "ERR(max_rel=1)").values[
        0, 0
    ]  # grade 2 counts as 1: content with a half, twice
    assert above_the_scale == pytest.approx(1 / 2 + 1 / 2 * 1 / 2 / 3)


@pytest.mark.parametrize("seed", range(6))
def test_every_topic_has_the_value_of_a_loop_over_ranks(seed: int) -> None:
    small = random_collection(np.random.default_rng(seed), lowest=-1 if seed % 2 else 0)
    highest = max(grade for judged in small.qrels.values() for grade in judged.values())
    qrels = qrels_columns(small.qrels)
    for tag, run in small.runs.items():
        found = evaluate(run_columns(tag, run), qrels, parse_measures(NAMES))
        for i, topic in enumerate(found.topics):
            expected = [
                by_hand(name, small.qrels[topic], run.get(topic, {}), highest) for name in NAMES
            ]
            assert found.values[i].tolist() == pytest.approx(expected, abs=1e-12)


@pytest.mark.skipif(shutil.which("perl") is None, reason="gdeval is a Perl script")
def test_err_on_five_grades_is_that_of_gdeval(tmp_path: Path) -> None:
    """The script that came with ir-measures, to the five decimals that it prints; its scale goes up
    to 4."""
    script = Path(pytest.importorskip("ir_measures").__file__).parent / "bin" / "gdeval.pl"
    small = random_collection(np.random.default_rng(7), highest=4)
    qrels = "".join(
        f"{topic[1:]} 0 {d} {grade}\n"
        for topic, judged in small.qrels.items()
        for d, grade in judged.items()
    )
    lines = [
        f"{topic[1:]} Q0 {d} {place} {50 - place} r\n"
        for topic, scores in small.runs["run0"].items()
        if topic in small.qrels  # gdeval knows numbers only
        for place, d in enumerate(ranked(scores), 1)
    ]
    (tmp_path / "q").write_text(qrels)
    (tmp_path / "r").write_text("".join(lines))
    printed = subprocess.run(
        ["perl", script, tmp_path / "q", tmp_path / "r", "10"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    theirs = {
        f"t{line.split(',')[1]}": float(line.split(",")[3]) for line in printed.splitlines()[1:]
    }
    found = evaluate(
        run_columns("r", small.runs["run0"]), qrels_columns(small.qrels), "ERR(max_rel=4)@10"
    )
    assert len(theirs) > 3
    assert {
        t: found.values[i, 0] for i, t in enumerate(found.topics) if t in theirs
    } == pytest.approx(theirs, abs=1e-5)


def test_a_grade_of_thousands_does_not_overflow() -> None:
    """(2^5000 - 1) / 2^5000 is 1 as far as a double can tell, 1/2 for the grade below."""
    qrels = qrels_columns({"1": {"a": 4999, "b": 5000}, "2": {"a": 5000, "b": 4999}})
    run = run_columns("r", {"1": {"a": 2.0, "b": 1.0}, "2": {"a": 2.0, "b": 1.0}})
    assert evaluate(run, qrels, "ERR").values[:, 0].tolist() == pytest.approx([0.5 + 0.5 / 2, 1.0])


@pytest.mark.parametrize("removed", ["documents", "assessments"])
def test_sub_collections_have_the_values_of_filtered_files_with_the_scale_of_the_whole(
    removed: str,
) -> None:
    rng = np.random.default_rng(3)
    small = random_collection(rng, lowest=-1)
    collection = batch.pack_collection(*small.columns())
    highest = max(grade for judged in small.qrels.values() for grade in judged.values())
    n = len(collection.documents) if removed == "documents" else len(collection.grades)
    flags = (rng.random((n, 5)) < 0.6).astype(np.uint8)
    given = {"kept": flags} if removed == "documents" else {"assessed": flags}
    scores = batch.evaluate_subcollections(collection, parse_measures(NAMES), **given)
    topic_of = np.repeat(collection.topics, np.diff(collection.offsets))
    ids = [d.decode() for d in collection.documents.tolist()]
    for s, column in enumerate(flags.T.astype(bool)):
        part: Small
        if removed == "documents":
            part = keep_documents(small, {d for d, k in zip(ids, column, strict=True) if k})
        else:
            rows = zip(topic_of.tolist(), collection.assessed.tolist(), column, strict=True)
            part = keep_assessments(small, {(t, ids[d]) for t, d, k in rows if k})
        for r, run in enumerate(part.runs.values()):
            for t, topic in enumerate(collection.topics):
                expected = [
                    by_hand(name, part.qrels.get(topic, {}), run.get(topic, {}), highest)
                    for name in NAMES
                ]
                assert scores[:, r, t, s].tolist() == pytest.approx(expected, abs=1e-12)


def test_every_measure_is_computed_on_parts_or_refused_there_in_words() -> None:
    assert set(FORMULAS) == {
        name for name, family in FAMILIES.items() if family.divisible and not family.sampled
    }
    with pytest.raises(
        UnknownMeasure,
        match=r"infAP: not available for parts of a collection; choose from AP, nDCG",
    ):
        refuse_indivisible(parse_measures("AP infAP"))
    refuse_indivisible(parse_measures("AP ERR@20"))


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("NCG", "needs a cutoff"),
        ("ERR(max_rel=0)", "unknown parameter"),
        ("AP(max_rel=3)", "unknown parameter"),
    ],
)
def test_names_that_make_no_sense_are_refused(name: str, why: str) -> None:
    with pytest.raises(UnknownMeasure, match=why):
        parse_measure(name)


def test_a_name_is_read_back() -> None:
    assert [str(parse_measure(name)) for name in NAMES] == NAMES


def test_infap_below_a_document_that_was_not_sampled_expects_half_of_it_to_be_relevant() -> None:
    """By hand: at rank 2, one pooled document above, none of its kind judged, of which the share
    (0 + e) / (0 + 2e) = 1/2 is relevant: (1 + 1/2) / 2."""
    qrels = qrels_columns({"1": {"a": -1, "b": 1}})
    run = run_columns("run", {"1": {"a": 2.0, "b": 1.0}})
    assert evaluate(run, qrels, "infAP").values[0, 0] == pytest.approx(0.75)

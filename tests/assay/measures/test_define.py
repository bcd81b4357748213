"""A measure of one's own: a function in a notebook, or an entry point of a package."""

from __future__ import annotations

import importlib.metadata
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import assay
from assay.measures.measures import (
    FAMILIES,
    UnknownMeasure,
    define,
    load_entry_points,
    parse_measure,
)
from assay.measures.score_bounds import no_bounds_reason

Grades = NDArray[np.int64]
QRELS = {str(t): {f"d{n}": (n * t) % 4 - 1 for n in range(8)} for t in range(1, 9)}
RUNS = {
    tag: {t: {f"d{n}": float((n * shift + int(t)) % 13) for n in range(11)} for t in QRELS}
    for tag, shift in (("x", 3), ("y", 5))
}
RUNS["x"] = {t: of for t, of in RUNS["x"].items() if t != "3"}


@pytest.fixture(autouse=True)
def nothing_stays() -> Iterator[None]:
    before = dict(FAMILIES)
    yield
    FAMILIES.clear()
    FAMILIES.update(before)
    load_entry_points.cache_clear()


def precision_at_three(qrels: Grades, run: Grades, level: int) -> float:
    return float((run[:3] >= level).sum()) / 3


def average_precision(qrels: Grades, run: Grades, level: int) -> float:
    """Average precision, by hand."""
    ranks = np.flatnonzero(run >= level) + 1
    n_relevant = int((qrels >= level).sum())
    return float((np.arange(1, len(ranks) + 1) / ranks).sum()) / n_relevant if n_relevant else 0.0


def judged_share(qrels: Grades, run: Grades) -> float:
    return float((run >= 0).mean())


@pytest.mark.parametrize("level", [1, 2])
def test_a_function_has_the_values_of_the_measure_that_it_computes(level: int) -> None:
    assay.measures.define("Mine", average_precision)
    assay.measures.define("Third", precision_at_three)
    assay.measures.define("Share", judged_share)
    own = assay.evaluate(
        QRELS, RUNS, "Mine Mine@3 Mine-J Mine(rel=2) Third Share@4 Share", min_relevant=level
    )
    expected = assay.evaluate(
        QRELS, RUNS, "AP AP@3 AP-J AP(rel=2) P@3 Judged@4 Judged@100", min_relevant=level
    )
    assert own.measures == ["Mine", "Mine@3", "Mine-J", "Mine(rel=2)", "Third", "Share@4", "Share"]
    np.testing.assert_allclose(own.values, expected.values, atol=1e-15)


def test_runs_are_compared_by_it() -> None:
    define("Mine", average_precision)
    own, known = (assay.compare(QRELS, RUNS, name, permutations=200) for name in ("Mine", "AP"))
    verdict = own["Mine"].pop("verdict").replace("Mine", "AP")
    assert {**own["Mine"], "verdict": verdict} == known["AP"]


def test_the_same_name_again_replaces_the_function() -> None:
    define("Mine", average_precision)
    define("Mine", precision_at_three)
    assert (
        assay.evaluate(QRELS, RUNS, "Mine").values.tolist()
        == assay.evaluate(QRELS, RUNS, "P@3").values.tolist()
    )


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("AP", "'AP' is already the name of AP"),
        ("map", "'map' is already the name of AP"),
        ("Mine@10", "is not a valid measure name"),
        ("Mine-J", "is not a valid measure name"),
        ("2nd", "is not a valid measure name"),
    ],
)
def test_names_with_another_meaning_are_refused(name: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        define(name, average_precision)


def test_what_such_a_measure_cannot_do_is_refused_in_a_sentence() -> None:
    define("Mine", average_precision)
    define("Share", judged_share)
    with pytest.raises(ValueError, match="Mine: not available for parts of a collection"):
        assay.stability(QRELS, RUNS, "Mine", element="topics")
    with pytest.raises(UnknownMeasure, match="'rel=2' in"):
        parse_measure("Share(rel=2)")
    assert "measure of your own" in (no_bounds_reason(parse_measure("Mine")) or "")
    define("Broken", lambda qrels, run: math.nan)
    with pytest.raises(ValueError, match="Broken of a topic is nan, expected a finite number"):
        assay.evaluate(QRELS, RUNS, "Broken")


def test_installed_packages_offer_measures_by_entry_points(monkeypatch: Any) -> None:
    """That of a package is looked up once a name is unknown; its name does not replace ours."""
    offered = [
        importlib.metadata.EntryPoint(name, f"{__name__}:{function}", "assay.measures")
        for name, function in (("Packaged", "average_precision"), ("AP", "judged_share"))
    ]
    asked = []
    monkeypatch.setattr(
        importlib.metadata, "entry_points", lambda group: asked.append(group) or offered
    )
    load_entry_points.cache_clear()
    expected = assay.evaluate(QRELS, RUNS, "AP")
    assert asked == []
    own = assay.evaluate(QRELS, RUNS, ["Packaged"])
    assert asked == ["assay.measures"]
    np.testing.assert_allclose(own.values, expected.values, atol=1e-15)
    assert FAMILIES["Packaged"].title == "Average precision, by hand."

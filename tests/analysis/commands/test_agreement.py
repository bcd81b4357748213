"""`manage.py agreement`."""

from __future__ import annotations

import io
import re

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from tests.analysis.commands.judged_file import run, written
from tests.commands import call_command

KEYS = {
    "mean_kappa",
    "kappa_quartiles",
    "chance_floor",
    "mean_kappa_others",
    "mean_pairwise_kappa",
    "mean_pairwise_kappa_weighted",
    "pairs_of_annotators",
    "alpha",
    "alpha_nominal",
    "alpha_ci",
    "fleiss",
    "percent",
    "undefined",
}


@pytest.fixture
def crossed(tmp_path) -> tuple[str, np.ndarray]:
    """40 pairs of ten topics judged by three annotators, the third at random; with times."""
    rng = np.random.default_rng(11)
    truth = rng.integers(4, size=40)
    grades = np.stack(
        [np.clip(truth + rng.integers(-1, 2, 40), 0, 3), truth, rng.integers(4, size=40)], axis=1
    )
    rows = [
        f"t{i % 10},d{i},{'abc'[k]},{grades[i, k]},{10 * (k + 1)}"
        for i in range(40)
        for k in range(3)
    ]
    return written(tmp_path, "topic,document,annotator,grade,seconds\n" + "\n".join(rows)), grades


def test_the_keys_of_the_contract_are_there(crossed):
    result = run("agreement", crossed[0])
    assert result["graded"].keys() >= KEYS
    assert result["binary"].keys() >= KEYS
    assert set(result["annotators"]) == {"a", "b", "c"}
    assert set(result["annotators"]["a"]) == {
        "judgements",
        "kappa_graded",
        "kappa_binary",
        "kappa_graded_others",
        "kappa_binary_others",
        "median_seconds",
        "share",
    }
    assert result["seed"] == 0


def test_the_figures_are_those_of_scikit_learn(crossed):
    path, grades = crossed
    result = run("agreement", path)
    pairs = [(0, 1), (0, 2), (1, 2)]
    linear = [
        cohen_kappa_score(grades[:, i], grades[:, j], weights="linear", labels=[0, 1, 2, 3])
        for i, j in pairs
    ]
    plain = [cohen_kappa_score(grades[:, i] > 1, grades[:, j] > 1) for i, j in pairs]
    assert result["graded"]["mean_pairwise_kappa"] == pytest.approx(np.mean(linear), abs=1e-10)
    assert result["binary"]["mean_pairwise_kappa"] == pytest.approx(np.mean(plain), abs=1e-10)
    assert result["graded"]["pairs_of_annotators"] == 3
    assert result["annotators"]["b"]["median_seconds"] == 20
    assert result["annotators"]["b"]["share"]["3"] == pytest.approx(np.mean(grades[:, 1] == 3))
    assert (
        result["graded"]["alpha_ci"][0]
        < result["graded"]["alpha"]
        < result["graded"]["alpha_ci"][1]
    )
    others = np.minimum(
        grades[:, 0], grades[:, 2]
    )  # of two judgements the one they share, or the lower
    against = cohen_kappa_score(grades[:, 1], others, weights="linear", labels=[0, 1, 2, 3])
    assert result["annotators"]["b"]["kappa_graded_others"] == pytest.approx(against, abs=1e-10)


def test_the_seed_fixes_what_is_drawn(crossed):
    first, same, other = (run("agreement", crossed[0], "--seed", seed) for seed in ("1", "1", "2"))
    assert first == same
    assert first["graded"]["chance_floor"] != other["graded"]["chance_floor"]
    assert first["graded"]["alpha"] == other["graded"]["alpha"]


def test_undefined_figures_are_null_with_a_reason(tmp_path):
    result = run("agreement", written(tmp_path))
    assert result["graded"]["fleiss"] is None
    assert "Fleiss" in result["graded"]["reasons"]["fleiss"]
    assert result["graded"]["mean_pairwise_kappa"] is None
    assert result["graded"]["pairs_of_annotators"] == 0
    assert result["graded"]["undefined"]["pairwise_kappa"] == 0
    assert set(result["annotators"]) == {"a", "b", "c"}  # d has only an excluded judgement
    assert result["annotators"]["c"]["judgements"] == 3


def test_fewer_common_pairs_can_be_asked_for(tmp_path):
    assert (
        run("agreement", written(tmp_path), "--min-common", "2")["graded"]["pairs_of_annotators"]
        == 2
    )


def test_the_readable_table_shows_the_floor_beside_kappa_and_why_a_figure_is_missing(tmp_path):
    out = io.StringIO()
    call_command("agreement", written(tmp_path), stdout=out, stderr=io.StringIO())
    text = out.getvalue()
    assert "chance-level agreement" in text
    assert "graded: Fleiss' kappa is undefined" in text
    assert "linearly weighted" in text


def test_the_readable_table_has_words_beside_kappa_with_their_caveat(crossed):
    out = io.StringIO()
    call_command("agreement", crossed[0], stdout=out, stderr=io.StringIO())
    lines = {line.split("  ")[0]: line for line in out.getvalue().splitlines()}
    result = run("agreement", crossed[0])
    names = {
        -1: "poor",
        0: "slight",
        1: "fair",
        2: "moderate",
        3: "substantial",
        4: "almost perfect",
    }
    for scale, at in (("graded", 0), ("binary", 1)):
        kappa = result[scale]["mean_pairwise_kappa"]
        word = names[-1 if kappa < 0 else max(0, -(-round(100 * kappa) // 20) - 1)]
        assert re.split(r"\s{2,}", lines["mean pairwise kappa"])[2 + 2 * at] == word
    assert "Landis and Koch (1977) are a convention" in out.getvalue()
    assert "substantial" not in lines["Krippendorff's alpha"]

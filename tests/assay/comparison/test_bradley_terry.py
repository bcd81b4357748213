"""The Bradley-Terry model with ties against arithmetic by hand, a general optimiser, and the
reference values of independent programs."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

from assay.column_types import A_WINS, B_WINS, TIE
from assay.comparison.bradley_terry import (
    AT_INFINITY,
    NOT_IDENTIFIED,
    BradleyTerryFit,
    NoMaximum,
    Outcomes,
    fit_bradley_terry,
    standard_error,
)
from assay.comparison.preferences import (
    compare_presentations,
    count_outcomes,
    measure_left_share,
    select_outcomes,
)
from assay.formats.battles import read_battles

BATTLES = ("battles-1", "battles-2", "battles-3", "battles-4", "battles-5")
EDGES = tuple(f"edge-{i}" for i in range(1, 9))


def outcomes(n_systems: int, rows: list[tuple[int, int, int, int]], **covariates) -> Outcomes:
    """rows: (topic, a, b, outcome)."""
    topic, a, b, outcome = np.array(rows, dtype=np.int32).T
    as_arrays = {name: np.asarray(values, float) for name, values in covariates.items()}
    return Outcomes(n_systems, a, b, outcome.astype(np.int8), topic, as_arrays)


def contrast_error(fit: BradleyTerryFit, a: int, b: int) -> float:
    return standard_error(fit.contrast_variance(fit.clustered, a, b))


def test_two_systems_by_hand() -> None:
    """With two systems the model is saturated: P(a) = 6/12, P(b) = 2/12, P(tie) = 4/12."""
    rows = [(t, 0, 1, o) for t in range(2) for o in [A_WINS] * 3 + [B_WINS] + [TIE] * 2]
    fit = fit_bradley_terry(outcomes(2, rows))
    difference = fit.abilities[0] - fit.abilities[1]
    assert difference == pytest.approx(math.log(6 / 2), abs=1e-12)
    assert math.exp(fit.estimates[-1]) == pytest.approx(4 / math.sqrt(6 * 2), abs=1e-12)
    assert fit.abilities.sum() == pytest.approx(0, abs=1e-12)
    # the variance of log(wins/losses) of a multinomial sample: 1/6 + 1/2
    assert fit.contrast_variance(fit.by_model, 0, 1) == pytest.approx(1 / 6 + 1 / 2, abs=1e-12)
    # both topics have the same outcomes
    assert contrast_error(fit, 0, 1) == 0.0
    expected = 6 * math.log(6 / 12) + 2 * math.log(2 / 12) + 4 * math.log(4 / 12)
    assert fit.log_likelihood == pytest.approx(expected, abs=1e-12)


def test_clustered_error_of_two_systems_by_hand() -> None:
    """Without ties the log-odds are log(w/l), and the score of a topic is w_g - n_g w/n."""
    wins, losses = [3, 1, 2], [1, 2, 0]
    rows = [
        (t, 0, 1, o)
        for t, (w, n) in enumerate(zip(wins, losses, strict=True))
        for o in [A_WINS] * w + [B_WINS] * n
    ]
    fit = fit_bradley_terry(outcomes(2, rows))
    w, n = 6, 9
    information = n * (w / n) * (1 - w / n)
    scores = [a - (a + b) * w / n for a, b in zip(wins, losses, strict=True)]
    variance = 3 / 2 * sum(s * s for s in scores) / information**2
    assert fit.contrast_variance(fit.clustered, 0, 1) == pytest.approx(variance, abs=1e-12)


def test_a_single_topic_has_no_clustered_error() -> None:
    rows = [(7, 0, 1, A_WINS), (7, 0, 1, A_WINS), (7, 0, 1, B_WINS)]
    assert math.isnan(contrast_error(fit_bradley_terry(outcomes(2, rows)), 0, 1))


@pytest.mark.parametrize("ties", [True, False])
def test_a_general_optimiser_finds_the_same_maximum(ties: bool) -> None:
    rng = np.random.default_rng(3 + ties)
    n, m = 400, 5
    a = rng.integers(0, m, n)
    b = (a + rng.integers(1, m, n)) % m
    side = rng.choice([-1.0, 1.0], n)
    outcome = rng.integers(0, 3 if ties else 2, n)
    rows = list(zip(rng.integers(0, 20, n), a, b, outcome, strict=True))
    fit = fit_bradley_terry(outcomes(m, rows, position=side))

    def minus_likelihood(parameters: np.ndarray) -> float:
        strength = np.exp(np.append(0.0, parameters[: m - 1]))
        first = strength[a] * np.exp(parameters[m - 1] * side)
        second = strength[b]
        tie = (np.exp(parameters[m]) if ties else 0.0) * np.sqrt(first * second)
        likelihood = np.choose(outcome, [first, second, tie]) / (first + second + tie)
        return -float(np.log(likelihood).sum())

    best = minimize(minus_likelihood, np.zeros(m + ties), tol=1e-12)
    assert fit.log_likelihood == pytest.approx(-best.fun, abs=1e-8)
    relative = fit.abilities - fit.abilities[0]
    assert relative[1:] == pytest.approx(best.x[: m - 1], abs=1e-4)
    assert fit.estimates[m] == pytest.approx(best.x[m - 1], abs=1e-4)


def test_who_never_met_cannot_be_compared() -> None:
    rows = [(0, 0, 1, A_WINS), (0, 0, 1, B_WINS), (0, 2, 3, A_WINS), (0, 2, 3, B_WINS)]
    with pytest.raises(NoMaximum, match=NOT_IDENTIFIED):
        fit_bradley_terry(outcomes(4, rows))


def test_a_system_that_always_wins_has_no_maximum() -> None:
    rows = [(0, 0, 1, A_WINS), (0, 1, 2, A_WINS), (0, 2, 1, A_WINS), (1, 0, 2, A_WINS)]
    with pytest.raises(NoMaximum, match=AT_INFINITY):
        fit_bradley_terry(outcomes(3, rows))


def test_one_loss_makes_the_maximum_finite() -> None:
    rows = [(0, 0, 1, A_WINS), (0, 1, 2, A_WINS), (1, 2, 0, A_WINS)]
    assert fit_bradley_terry(outcomes(3, rows)).abilities == pytest.approx([0, 0, 0], abs=1e-9)


@pytest.fixture
def reference(data_folder: Path) -> Path:
    return data_folder / "answers-reference" / "battles"


@pytest.mark.data
@pytest.mark.parametrize("name", [*BATTLES, *EDGES])
def test_summaries_match_the_reference_implementation(name: str, reference: Path) -> None:
    battles = read_battles(reference / f"{name}.tsv")
    expected = json.loads((reference / f"{name}.expected.json").read_text(encoding="utf-8"))
    assert battles.systems == expected["systems"]
    matrices = count_outcomes(battles)
    for key, matrix in zip(("win", "tie", "bad"), matrices, strict=True):
        assert matrix.tolist() == expected[f"{key}_matrix"]
    assert compare_presentations(battles)._asdict() == expected["shown_both_ways"]
    left = measure_left_share(battles)
    wanted = {key: np.nan if v is None else v for key, v in expected["left_share"].items()}
    assert (left.wins, left.decided) == (wanted["left_wins"], wanted["decided"])
    assert left.share == pytest.approx(wanted["share"], abs=1e-9, nan_ok=True)
    assert left.error == pytest.approx(wanted["se_clustered"], abs=1e-9, nan_ok=True)


@pytest.mark.data
@pytest.mark.parametrize("name", [*BATTLES, *EDGES])
def test_every_model_is_that_of_the_reference(name: str, reference: Path) -> None:
    battles = read_battles(reference / f"{name}.tsv")
    expected = json.loads((reference / f"{name}.expected.json").read_text(encoding="utf-8"))
    for model in expected["models"].values():
        given = select_outcomes(battles, tuple(model["covariates"]))
        if not model["exists"]:
            with pytest.raises(NoMaximum, match=model["reason"]):
                fit_bradley_terry(given)
            continue
        fit = fit_bradley_terry(given)
        m = len(battles.systems)
        wanted = [model["abilities"][system] for system in battles.systems]
        wanted += [model["effects"][effect] for effect in model["covariates"]]
        wanted += [model["log_nu"]] if fit.has_ties else []
        for i, one in enumerate(wanted):
            assert fit.estimates[i] == pytest.approx(one["estimate"], abs=1e-6)
            assert math.sqrt(fit.by_model[i, i]) == pytest.approx(one["se_model"], abs=1e-6)
            error = np.nan if one["se_clustered"] is None else one["se_clustered"]
            assert standard_error(fit.clustered[i, i]) == pytest.approx(
                error, abs=1e-6, nan_ok=True
            )
        assert fit.log_likelihood == pytest.approx(model["log_likelihood"], abs=1e-6)
        place = {system: i for i, system in enumerate(battles.systems)}
        for row in model.get("differences", []):
            i, j = place[row["a"]], place[row["b"]]
            assert fit.abilities[i] - fit.abilities[j] == pytest.approx(row["estimate"], abs=1e-6)
            assert contrast_error(fit, i, j) == pytest.approx(row["se_clustered"], abs=1e-6)
        assert m + len(model["covariates"]) + fit.has_ties == len(fit.estimates)

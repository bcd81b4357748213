"""Who leads, and how surely: against scipy and statsmodels' Holm by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from assay.comparison.leading_system import (
    RivalSystem,
    describe_leader,
    describe_score_bounds,
    describe_verdict,
    rank_systems,
)
from tests.assay.comparison.hall import wider_interval

SCORES = np.random.default_rng(3).random((40, 3)) * 0.5 + np.array([0.0, 0.3, 0.28])
TAGS = ["c", "a", "b"]


def holm_by_hand(raw: list[float]) -> list[float]:
    held, worst = {}, 0.0
    for step, (p, k) in enumerate(sorted((p, k) for k, p in enumerate(raw))):
        worst = max(worst, min(1.0, p * (len(raw) - step)))
        held[k] = worst
    return [held[k] for k in range(len(raw))]


def test_systems_stand_best_first_with_scipys_tests_of_every_pair() -> None:
    ranking = rank_systems(SCORES, TAGS)
    means = dict(zip(TAGS, SCORES.mean(axis=0), strict=True))
    order = sorted(means, key=lambda tag: -means[tag])
    assert [one["tag"] for one in ranking["systems"]] == order
    assert [one["mean"] for one in ranking["systems"]] == pytest.approx(
        [means[tag] for tag in order], rel=1e-12
    )
    columns = dict(zip(TAGS, SCORES.T, strict=True))
    pairs = [(0, 1), (0, 2), (1, 2)]
    raw = [float(stats.ttest_rel(columns[order[i]], columns[order[j]]).pvalue) for i, j in pairs]
    assert [p for row in ranking["p"] for p in row] == pytest.approx(raw, rel=1e-9)
    assert [p for row in ranking["holm"] for p in row] == pytest.approx(holm_by_hand(raw), rel=1e-9)
    low, high = wider_interval(columns["a"])
    a = next(one for one in ranking["systems"] if one["tag"] == "a")
    assert (a["low"], a["high"]) == pytest.approx((low, high), rel=1e-12)


def test_a_topic_that_some_run_has_no_score_for_is_left_out_of_all() -> None:
    holed = np.vstack([SCORES, [0.9, math.nan, 0.1]])
    assert rank_systems(holed, TAGS)["topics"] == 40
    assert rank_systems(holed, TAGS)["p"] == rank_systems(SCORES, TAGS)["p"]


def made(
    means: list[float],
    holm: list[list[float]],
    opposed: list[list[bool]] | None = None,
    untested: str = "",
    wins=(30, 5, 15),
) -> dict:
    systems = [{"tag": f"s{k}", "mean": mean} for k, mean in enumerate(means)]
    opposed = opposed or [[False] * len(row) for row in holm]
    return {
        "topics": 50,
        "systems": systems,
        "holm": holm,
        "opposed": opposed,
        "untested": untested,
        "wins": wins,
    }


WON = " Topics of s0 against s1: 30 won, 5 tied, 15 lost."


@pytest.mark.parametrize(
    ("ranking", "words"),
    [
        (
            made([0.411, 0.402], [[0.21]]),
            (
                "s0 leads by nDCG@10 (0.4110, 50 topics). After Holm correction it does not differ "
                "significantly from s1 (p = 0.21)."
            )
            + WON,
        ),
        (
            made([0.411, 0.402], [[0.0004]]),
            (
                "s0 leads by nDCG@10 (0.4110, 50 topics). After Holm correction it differs "
                "significantly from s1 (p < 0.001)."
            )
            + WON,
        ),
        (
            made([0.5, 0.4, 0.3], [[0.031, 0.0004], [0.6]]),
            (
                "s0 leads by nDCG@10 (0.5000, 50 topics). After Holm correction it differs "
                "significantly from all 2 other runs (largest p = 0.031)."
            )
            + WON,
        ),
        (
            made([0.5, 0.49, 0.48, 0.47, 0.46, 0.1], [[0.6, 0.7, 0.8, 0.9, 0.01]]),
            "s0 leads by nDCG@10 (0.5000, 50 topics). After Holm correction it does not differ "
            "significantly from s1 (p = 0.60), s2 (p = 0.70), "
            "s3 (p = 0.80) and 1 more." + WON,
        ),
        (
            made([0.5, 0.5, 0.3], [[1.0, 0.02], [0.2]]),  # different from one of the leaders only
            (
                "s0 and s1 lead together by nDCG@10 (0.5000, 50 topics). After Holm correction they "
                "do not differ significantly from s2 (p = 0.20)."
            )
            + WON.replace("s1", "s2"),
        ),
        (
            made([0.5, 0.5], [[1.0]], wins=None),
            "s0 and s1 lead together by nDCG@10 (0.5000, 50 topics).",
        ),
        (made([0.5], [], wins=None), "s0 is the only run: mean nDCG@10 0.5000."),
        (
            made([0.5, 0.4], [[math.nan]], untested="nothing is judged of 1 stratum"),
            "s0 has the highest mean nDCG@10 (0.5000, 50 topics). No verdict: nothing is judged of 1 stratum."
            + WON,
        ),
        (
            made([0.5, 0.4], [[0.01]], [[True]]),
            (
                "s0 leads by nDCG@10 (0.5000, 50 topics). No verdict for s1: the mean and the "
                "signed ranks point in different directions."
            )
            + WON,
        ),
        (made([], []) | {"topics": 0}, "No system leads yet: no topic has a label."),
    ],
)
def test_the_sentence_names_the_leader_and_the_runs_that_do_not_differ_from_it(
    ranking: dict, words: str
) -> None:
    assert describe_leader(ranking, "nDCG@10") == words


@pytest.mark.parametrize(
    ("family", "words"),
    [
        (
            "none",
            "Without correction for multiple comparisons it does not differ significantly from b (p = 0.30).",
        ),
        (
            "bonferroni",
            "After Bonferroni correction it does not differ significantly from b (p = 0.30).",
        ),
        ("max", "By randomised Tukey HSD it does not differ significantly from b (p = 0.30)."),
    ],
)
def test_the_sentence_names_its_correction(family: str, words: str) -> None:
    said = describe_verdict(
        "AP", {"a": 0.5, "b": 0.4}, [RivalSystem("b", 0.3, False)], topics=50, correction=family
    )
    assert said == f"a leads by AP (0.5000, 50 topics). {words}"


@pytest.mark.parametrize(("n_topics", "separable"), [(2, False), (5, False), (6, True)])
def test_runs_that_differ_by_the_same_on_every_topic_are_separable_from_six_topics_on(
    n_topics: int, separable: bool
) -> None:
    """The permutation test has p = 2 / 2^n: .0625 with five topics, .03125 with six."""
    values = np.column_stack([np.arange(n_topics) / 10, np.arange(n_topics) / 10 + 0.1])
    ranking = rank_systems(values, ["A", "B"])
    words = describe_leader(ranking, "P@10")
    if separable:
        assert ranking["holm"] == [[pytest.approx(2 / 2**n_topics)]]
        verdict = "After Holm correction it differs significantly from A (p = 0.031)."
        assert (
            words
            == f"B leads by P@10 (0.3500, 6 topics). {verdict} Topics of B against A: 6 won, 0 tied, 0 lost."
        )
    else:
        assert math.isnan(ranking["holm"][0][0])
        mean = values[:, 1].mean()
        few = f"{n_topics} topics; a verdict needs at least 6"
        won = f"Topics of B against A: {n_topics} won, 0 tied, 0 lost."
        assert (
            words
            == f"B has the highest mean P@10 ({mean:.4f}, {n_topics} topics). No verdict: {few}. {won}"
        )


def test_of_a_sample_the_leader_is_only_estimated_to_lead() -> None:
    assert describe_leader(made([0.5, 0.4], [[0.3]]), "HT-nDCG@10", estimated=True).startswith(
        "s0 is estimated to lead by HT-nDCG@10 (0.5000, 50"
    )


def test_mean_and_signed_ranks_that_point_apart_are_told() -> None:
    """One topic brings all of the lead of x; y is ahead on the nineteen others."""
    y = np.full(20, 0.5)
    x = np.append(np.full(19, 0.49), 0.99)
    ranking = rank_systems(np.column_stack([x, y]), ["x", "y"])
    assert [one["tag"] for one in ranking["systems"]] == ["x", "y"]
    assert ranking["opposed"] == [[True]]


@pytest.mark.parametrize(
    ("ranges", "words"),
    [
        (
            [(0.4, 0.5), (0.3, 0.45)],
            "Judging the remaining documents could still change the leader: s1 could lead.",
        ),
        (
            [(0.4, 0.5), (0.3, 0.39)],
            "Whatever the grades of the unjudged documents at the top of the runs, s0 leads.",
        ),
        (
            [(0.4, 0.5), (0.3, 0.4)],
            "Whatever the grades of the unjudged documents at the top of the runs, no run is ahead of s0.",
        ),
        ([(0.4, 0.4), (0.3, 0.3)], "Every document that affects these scores is judged."),
        ([(None, None), (None, None)], ""),
    ],
)
def test_what_the_unjudged_leave_open(ranges: list, words: str) -> None:
    systems = [
        {"tag": f"s{k}", "least": least, "most": most} for k, (least, most) in enumerate(ranges)
    ]
    assert describe_score_bounds(systems) == words

"""Who leads, and how surely: against scipy and statsmodels' Holm by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from analysis.core.leading import leader_words, open_words, standing_of
from tests.analysis.core.hall import wider_interval

SCORES = np.random.default_rng(3).random((40, 3)) * 0.5 + np.array([0.0, 0.3, 0.28])
TAGS = ["c", "a", "b"]


def holm_by_hand(raw: list[float]) -> list[float]:
    held, worst = {}, 0.0
    for step, (p, k) in enumerate(sorted((p, k) for k, p in enumerate(raw))):
        worst = max(worst, min(1.0, p * (len(raw) - step)))
        held[k] = worst
    return [held[k] for k in range(len(raw))]


def test_systems_stand_best_first_with_scipys_tests_of_every_pair() -> None:
    standing = standing_of(SCORES, TAGS)
    means = dict(zip(TAGS, SCORES.mean(axis=0), strict=True))
    order = sorted(means, key=lambda tag: -means[tag])
    assert [one["tag"] for one in standing["systems"]] == order
    assert [one["mean"] for one in standing["systems"]] == pytest.approx([means[tag] for tag in order], rel=1e-12)
    columns = dict(zip(TAGS, SCORES.T, strict=True))
    pairs = [(0, 1), (0, 2), (1, 2)]
    raw = [float(stats.ttest_rel(columns[order[i]], columns[order[j]]).pvalue) for i, j in pairs]
    assert [p for row in standing["p"] for p in row] == pytest.approx(raw, rel=1e-9)
    assert [p for row in standing["holm"] for p in row] == pytest.approx(holm_by_hand(raw), rel=1e-9)
    low, high = wider_interval(columns["a"])
    a = next(one for one in standing["systems"] if one["tag"] == "a")
    assert (a["low"], a["high"]) == pytest.approx((low, high), rel=1e-12)


def test_a_topic_that_some_run_has_no_score_for_is_left_out_of_all() -> None:
    holed = np.vstack([SCORES, [0.9, math.nan, 0.1]])
    assert standing_of(holed, TAGS)["topics"] == 40
    assert standing_of(holed, TAGS)["p"] == standing_of(SCORES, TAGS)["p"]


def made(means: list[float], holm: list[float], opposed: list[bool] | None = None, untested: str = "") -> dict:
    systems = [{"tag": f"s{k}", "mean": mean} for k, mean in enumerate(means)]
    return {"topics": 50, "systems": systems, "holm": [holm], "opposed": [opposed or [False] * len(holm)], "untested": untested}


@pytest.mark.parametrize(
    ("standing", "words"),
    [
        (made([0.411, 0.402], [0.21]), "s0 leads by nDCG@10 (0.411), not separable from s1 (p = 0.21, Holm)."),
        (made([0.411, 0.402], [0.0004]), "s0 leads by nDCG@10 (0.411), separable from s1 (p < 0.001, Holm)."),
        (made([0.5, 0.4, 0.3], [0.031, 0.0004]), "s0 leads by nDCG@10 (0.500), separable from all 2 others (largest p = 0.031, Holm)."),
        (made([0.5, 0.4, 0.3], [0.21, 0.3]), "s0 leads by nDCG@10 (0.500); after Holm's correction it is not separable from s1 (p = 0.21) and s2 (p = 0.30)."),
        (
            made([0.5, 0.49, 0.48, 0.47, 0.46, 0.1], [0.6, 0.7, 0.8, 0.9, 1.0, 0.01][:5]),
            "s0 leads by nDCG@10 (0.500); after Holm's correction it is not separable from s1 (p = 0.60), s2 (p = 0.70), s3 (p = 0.80) and 2 more.",
        ),
        (
            made([0.5, 0.5, 0.3], [1.0, 0.2]),
            "s0 and s1 lead together by nDCG@10 (0.500); s0 is not separable from s2 (p = 0.20, Holm).",
        ),
        (
            made([0.5, 0.5, 0.3, 0.2], [1.0, 0.2, 0.05]),
            "s0 and s1 lead together by nDCG@10 (0.500); after Holm's correction s0 is not separable from s2 (p = 0.20) and s3 (p = 0.050).",
        ),
        (made([0.5, 0.5], [1.0]), "s0 and s1 lead together by nDCG@10 (0.500)."),
        (made([0.5], []), "s0 leads by nDCG@10 (0.500): it is the only run."),
        (
            made([0.5, 0.4], [math.nan], untested="nothing is judged of 1 stratum"),
            "s0 leads by nDCG@10 (0.500); how sure that is cannot be said: nothing is judged of 1 stratum.",
        ),
        (
            made([0.5, 0.4], [0.01], [True]),
            "s0 leads by nDCG@10 (0.500). No verdict against s1: the mean and the signed ranks point to different sides.",
        ),
        (made([], []) | {"topics": 0}, "No system leads yet: no topic has a label."),
    ],
)
def test_the_sentence_names_the_leader_and_who_cannot_be_told_apart(standing: dict, words: str) -> None:
    assert leader_words(standing, "nDCG@10") == words


@pytest.mark.parametrize(("n_topics", "separable"), [(2, False), (5, False), (6, True)])
def test_runs_that_differ_by_the_same_on_every_topic_are_separable_from_six_topics_on(n_topics: int, separable: bool) -> None:
    """The permutation test has p = 2 / 2^n: .0625 with five topics, .03125 with six."""
    values = np.column_stack([np.arange(n_topics) / 10, np.arange(n_topics) / 10 + 0.1])
    standing = standing_of(values, ["A", "B"])
    words = leader_words(standing, "P@10")
    if separable:
        assert standing["holm"] == [[pytest.approx(2 / 2**n_topics)]]
        assert words == "B leads by P@10 (0.350), separable from A (p = 0.031, Holm)."
    else:
        assert math.isnan(standing["holm"][0][0])
        mean = values[:, 1].mean()
        assert words == f"B has the highest mean P@10 ({mean:.3f}). No verdict: {n_topics} topics; a verdict needs at least 6."


def test_of_a_sample_the_leader_is_only_estimated_to_lead() -> None:
    assert leader_words(made([0.5, 0.4], [0.3]), "HT-nDCG@10", estimated=True).startswith("s0 is estimated to lead by HT-nDCG@10 (0.500), not")


def test_mean_and_signed_ranks_that_point_apart_are_told() -> None:
    """One topic brings all of the lead of x; y is ahead on the nineteen others."""
    y = np.full(20, 0.5)
    x = np.append(np.full(19, 0.49), 0.99)
    standing = standing_of(np.column_stack([x, y]), ["x", "y"])
    assert [one["tag"] for one in standing["systems"]] == ["x", "y"]
    assert standing["opposed"] == [[True]]


@pytest.mark.parametrize(
    ("ranges", "words"),
    [
        ([(0.4, 0.5), (0.3, 0.45)], "The ranges that other grades of the unjudged documents give do not rule out that s1 leads."),
        ([(0.4, 0.5), (0.3, 0.39)], "Whatever grades the unjudged documents in the runs' tops have, s0 leads."),
        ([(0.4, 0.5), (0.3, 0.4)], "Whatever grades the unjudged documents in the runs' tops have, no run is ahead of s0."),
        ([(0.4, 0.4), (0.3, 0.3)], "Every document that these scores look at is judged."),
        ([(None, None), (None, None)], ""),
    ],
)
def test_what_the_unjudged_leave_open(ranges: list, words: str) -> None:
    systems = [{"tag": f"s{k}", "least": least, "most": most} for k, (least, most) in enumerate(ranges)]
    assert open_words(systems) == words

"""simulate_campaign on plain files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analysis.commands.called import answer, refused
from tests.analysis.commands.ranked_files import files, printed

LETTERS = "abcdefghijklmnopqrst"
TOPICS = 12


@pytest.fixture
def judged(tmp_path: Path) -> list[str]:
    """Qrels and three runs; relevant are the first four letters, and u, which no run has."""

    def run(tag: str, order: str) -> str:
        return "".join(
            f"{t} Q0 {d} {r} {50 - r} {tag}\n"
            for t in range(TOPICS)
            for r, d in enumerate(order, start=1)
        )

    qrels = "".join(
        f"{t} 0 {d} {int(d in 'abcdu')}\n" for t in range(TOPICS) for d in LETTERS + "u"
    )
    return files(
        tmp_path,
        qrels=qrels,
        good=run("good", LETTERS),
        mixed=run("mixed", LETTERS[2:] + "ab"),
        poor=run("poor", LETTERS[::-1]),
    )


def test_what_level_by_level_would_have_found(judged: list[str]) -> None:
    """Ranks 1 and 2 of the runs: a b, c d, t s: all four relevant within 72 of 240 pairs; at 3600
    seconds a judgement, two of each pair."""
    found, _ = answer(
        "simulate_campaign",
        *judged,
        "--depth",
        20,
        "--budgets",
        "0.3,1",
        "--n-judgements",
        2,
        "--seconds",
        3600,
    )
    assert (found["pairs"], found["relevant"], found["topics"], found["runs"]) == (240, 48, 12, 3)
    assert found["budgets"]["0.3"]["recall"] == 1
    assert found["budgets"]["0.3"]["hours"] == pytest.approx(144)
    assert found["budgets"]["1.0"]["tau"] == {"AP": 1, "nDCG@10": 1}
    assert found["budgets"]["1.0"]["rmse"] == {"AP": 0, "nDCG@10": 0}
    assert "not replayed" in found["scheduler"]


def test_relevant_first_learns_and_says_when_to_stop(judged: list[str]) -> None:
    arguments = (
        *judged,
        "--depth",
        20,
        "--budgets",
        "0.25,0.5,0.9",
        "--batch",
        24,
        "--strategy",
        "relevant",
        "--stopping",
        "--simulations",
        2,
    )
    found, _ = answer("simulate_campaign", *arguments)
    assert found["budgets"]["0.5"]["recall"] > 0.9
    assert found["stopping"]["pairs"] == 6  # three of each simulation
    assert found["stopping"]["share_judged"] <= 0.9
    assert found["stopping"]["wrong_by_more_than_.01"] == 0
    assert answer("simulate_campaign", *arguments, "--processes", 2)[0] == found
    assert "Stopping of the rule" in printed("simulate_campaign", *map(str, arguments))[0]


def test_a_sampled_pool_has_coverage_and_a_naive_number_beside_it(judged: list[str]) -> None:
    found, _ = answer(
        "simulate_campaign",
        *judged,
        "--depth",
        20,
        "--strategy",
        "sampled",
        "--budgets",
        "0.6,1",
        "--simulations",
        5,
    )
    rows = found["budgets"]["0.6"]["measures"]
    assert set(rows) == {"HT-nDCG@10", "nDCG@10", "xinfAP", "AP"}
    assert abs(rows["HT-nDCG@10"]["bias"]) < abs(rows["nDCG@10"]["bias"])
    assert (
        found["budgets"]["1.0"]["measures"]["HT-nDCG@10"]["coverage"]
        == found["full"]["nDCG@10"]["coverage"]
    )


def test_the_work_of_a_sampled_pool_is_that_of_what_is_drawn(judged: list[str]) -> None:
    """Best ranks 1-3: a b c d e r s t; 4-10: the 12 others. Two of each of 24 strata are 48 pairs,
    where a tenth of 240 would be 24."""
    given = (
        *judged,
        "--depth",
        20,
        "--strategy",
        "sampled",
        "--budgets",
        "0.1,0.5",
        "--simulations",
        3,
        "--seconds",
        3600,
    )
    found, warned = answer("simulate_campaign", *given)
    assert {budget: (row["judged"], row["hours"]) for budget, row in found["budgets"].items()} == {
        "0.1": (48, 48),
        "0.5": (120, 120),
    }
    assert (
        "budget 0.1: 48 pairs are drawn instead of 24, because each stratum gives at least 2"
        in warned
    )
    assert "budget 0.5" not in warned


def test_pairs_without_a_grade_are_dropped_or_not_relevant(
    tmp_path: Path, judged: list[str]
) -> None:
    (few,) = files(
        tmp_path,
        few="".join(f"{t} 0 {d} {int(d in 'ab')}\n" for t in range(TOPICS) for d in LETTERS[:15]),
    )
    found, warned = answer("simulate_campaign", few, *judged[1:], "--depth", 20, "--budgets", "1")
    assert found["pairs"] == 180
    assert "60 of 240 pairs of the pool have no grade and are left out" in warned
    assert (
        answer(
            "simulate_campaign",
            few,
            *judged[1:],
            "--depth",
            20,
            "--budgets",
            "1",
            "--unjudged",
            "lowest",
        )[0]["pairs"]
        == 240
    )


def test_what_cannot_be_played_is_refused(judged: list[str]) -> None:
    assert "no pair of the pool has a grade of at least 2" in refused(
        "simulate_campaign", *judged, "--min-relevant", 2
    )
    assert "--part needs a prioritised pool" in refused(
        "simulate_campaign", *judged, "--strategy", "sampled", "--part", "0.5,2"
    )
    assert "--measures needs a prioritised pool" in refused(
        "simulate_campaign", *judged, "--strategy", "sampled", "--measures", "AP"
    )
    with pytest.raises(Exception, match="is not a list of shares above 0"):
        answer("simulate_campaign", *judged, "--budgets", "0,0.5")

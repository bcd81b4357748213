"""stopping_advice on plain files: decisions of ordered pools, what judging on brings to sampled
ones, and when nothing is said."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.analysis.commands.called import answer, refused
from tests.analysis.commands.ranked_files import files, printed

LETTERS = "abcdefghijklmnopqrst"


@pytest.fixture
def runs(tmp_path: Path) -> list[str]:
    """Over 12 topics of 20 documents: two runs that are the same but for their tails, and one the
    other way round."""

    def run(tag: str, order: str) -> str:
        return "".join(
            f"{t} Q0 {d} {r} {50 - r} {tag}\n"
            for t in range(12)
            for r, d in enumerate(order, start=1)
        )

    return files(
        tmp_path,
        good=run("good", LETTERS),
        twin=run("twin", LETTERS[:15] + LETTERS[:14:-1]),
        poor=run("poor", LETTERS[::-1]),
    )


def judged(tmp_path: Path, documents: str, name: str) -> str:
    chance = random.Random(1)
    lines = {
        (t, d): int((d in "abcde" and chance.random() < 0.9) or chance.random() < 0.1)
        for t in range(12)
        for d in LETTERS
    }
    return files(
        tmp_path,
        **{
            name: "".join(
                f"{t} 0 {d} {grade}\n" for (t, d), grade in lines.items() if d in documents
            )
        },
    )[0]


def test_decisions_but_no_range_of_an_ordered_pool(tmp_path: Path, runs: list[str]) -> None:
    found, _ = answer(
        "stopping_advice", judged(tmp_path, LETTERS[:9] + LETTERS[11:], "most"), *runs
    )
    order = {(decision["a"], decision["b"]): decision["order"] for decision in found["decisions"]}
    assert (found["rule"], found["judged"], found["pairs"], found["stop"]) == (
        "decisions",
        12 * 18,
        12 * 20,
        True,
    )
    assert order == {
        ("good", "twin"): "equal",
        ("good", "poor"): "before",
        ("twin", "poor"): "before",
    }
    assert all("interval" not in decision for decision in found["decisions"])
    assert "the result is final" not in found["words"]
    assert "For the size of the differences" in found["words"]


def test_what_is_left_by_audit_pairs(tmp_path: Path, runs: list[str]) -> None:
    """None of 60 audit pairs of 100 was relevant: at most 4.87 are left (SAMPLING K9)."""
    qrels = judged(tmp_path, LETTERS, "all")
    found, _ = answer("stopping_advice", qrels, *runs, "--audit-sample", "100,0,60")
    assert found["left"]["upper"] == pytest.approx(100 * (1 - 0.05 ** (1 / 60)))
    assert found["left"]["found"] == sum(
        line.endswith(" 1") for line in Path(qrels).read_text().splitlines()
    )
    assert found["left"]["reached"]
    assert not answer("stopping_advice", qrels, *runs, "--audit-sample", "200,4,60")[0]["left"][
        "reached"
    ]


def test_nothing_is_said_too_early_too_often_or_of_nothing(tmp_path: Path, runs: list[str]) -> None:
    few = answer("stopping_advice", judged(tmp_path, LETTERS[:5], "few"), *runs)[0]
    assert (few["stop"], few["decisions"]) == (False, [])
    assert "10 judged pairs per topic (5.0 now)" in few["undefined"]["decisions"]
    most = judged(tmp_path, LETTERS[:15], "most")
    assert (
        "the last interim check was at 170"
        in answer("stopping_advice", most, *runs, "--last", 170)[0]["undefined"]["decisions"]
    )
    (none,) = files(tmp_path, none="".join(f"{t} 0 {d} 0\n" for t in range(12) for d in LETTERS))
    assert (
        "nothing can be learned from"
        in answer("stopping_advice", none, *runs)[0]["undefined"]["decisions"]
    )
    assert "nothing can be learned from" in printed("stopping_advice", none, *runs)[0]


def test_a_sampled_pool_is_asked_what_judging_on_would_bring(
    tmp_path: Path, runs: list[str]
) -> None:
    whole, drawn = judged(tmp_path, LETTERS, "whole"), tmp_path / "drawn.prel"
    done = {}
    for budget in (0.5, 1.0):
        answer(
            "sample_pool",
            *runs,
            "--depth",
            20,
            "--strata",
            "votes",
            "--budget",
            budget,
            "--judged",
            whole,
            "--output",
            drawn,
        )
        found, _ = answer("stopping_advice", drawn, *runs, "--sampled")
        assert found["rule"] == "variance"
        assert {row["best"] for row in found["comparisons"]} == {"good"}
        done[budget] = {row["other"]: row for row in found["comparisons"]}
        assert found["stop"] == all(row["done"] for row in found["comparisons"])
    assert done[1.0]["poor"]["judging"] == 0 < done[0.5]["poor"]["judging"]
    assert done[1.0]["poor"]["done"]
    assert done[1.0]["twin"]["difference"] == 0
    assert "equal so far" in done[1.0]["twin"]["words"]


def test_what_cannot_be_asked_is_refused(tmp_path: Path, runs: list[str]) -> None:
    qrels = judged(tmp_path, LETTERS, "all")
    assert "--audit-sample needs a prioritised pool" in refused(
        "stopping_advice", qrels, *runs, "--sampled", "--audit", "10,1,5"
    )
    assert "needs at least two" in refused("stopping_advice", qrels, runs[0])
    with pytest.raises(Exception, match="expected RELEVANT <= N <= LEFT"):
        answer("stopping_advice", qrels, *runs, "--audit-sample", "10,6,5")

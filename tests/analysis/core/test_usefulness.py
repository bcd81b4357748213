"""What machine labels are worth: correlation by another implementation, by hand, and the 33 judges of LLMJudge."""

from __future__ import annotations

import csv
import gzip
import math
from pathlib import Path

import numpy as np
import pytest

from analysis.core.usefulness import usefulness
from tests.analysis.commands.called import answer, refused
from tests.analysis.commands.ranked_files import files


def of(people: list[int], machine: list[int], topic: list[int] | None = None, level: int = 1):
    topics = np.array(topic if topic is not None else [0] * len(people))
    return usefulness(np.array(people), np.array(machine), topics, level=level, rng=np.random.default_rng(0))


def test_worth_by_hand() -> None:
    """People 1 1 0 0, machine 1 0 0 0: ρ² = (1/4 - 1/8)² / (1/4 · 3/16) = 1/3, so three halves."""
    found = of([1, 1, 0, 0], [1, 0, 0, 0])
    assert found.gain == pytest.approx(1.5)
    assert (found.sensitivity, found.specificity, found.share, found.people_share) == (0.5, 1.0, 0.25, 0.5)
    assert math.isnan(found.low)  # one topic tells no interval
    assert of([1, 1, 0, 0], [0, 0, 0, 0]).gain == 1  # a machine that says the same of all is worth nothing


def test_worth_is_that_of_numpys_correlation() -> None:
    rng = np.random.default_rng(2)
    people = rng.integers(0, 4, 3000)
    machine = np.clip(people + rng.integers(-2, 3, 3000), 0, 3)
    topic = np.repeat(np.arange(30), 100)
    found = usefulness(people, machine, topic, level=2, rng=rng)
    assert found.gain_graded == pytest.approx(1 / (1 - np.corrcoef(people, machine)[0, 1] ** 2))
    assert found.gain == pytest.approx(1 / (1 - np.corrcoef(people >= 2, machine >= 2)[0, 1] ** 2))
    assert found.low < found.gain < found.high
    shares = [(machine[topic == t] >= 2).mean() - (people[topic == t] >= 2).mean() for t in range(30)]
    assert found.topic_bias == pytest.approx(np.std(shares))


def test_machines_are_ranked_and_what_they_lack_is_said(tmp_path: Path) -> None:
    lines = [(t, d, int(d in "ab")) for t in range(12) for d in "abcdefghij"]
    people, good, noise, other = files(
        tmp_path,
        people="".join(f"{t} 0 {d} {g}\n" for t, d, g in lines),
        good="".join(f"{t} 0 {d} {9 if (t, d) == (0, 'a') else g}\n" for t, d, g in lines if d != "j"),
        noise="".join(f"{t} 0 {d} {(t + ord(d)) % 2}\n" for t, d, _ in lines),
        other="99 0 x 1\n",
    )
    found, warned = answer("rank_machines", people, "--machine", noise, "--machine", good, "--scale", 1)
    assert found["order"] == ["good", "noise"]
    assert (found["machines"]["good"]["outside"], found["machines"]["good"]["missing"]) == (1, 12)
    assert found["machines"]["noise"]["gain"] == pytest.approx(1, abs=0.05)
    assert "1 label above 1 is left out" in warned
    assert "about 200 tell" in warned
    assert "no pair that people judged" in refused("rank_machines", people, "--machine", other)


@pytest.mark.data
def test_the_judges_of_llmjudge_are_worth_up_to_a_third_more(data_folder: Path) -> None:
    """SAMPLING 5.1: the best of 33 has a binary kappa of .428 at people's share .268, its own .276; the worst .031 at .020."""
    with gzip.open(data_folder / "llmjudge-2024" / "labels_wide.tsv.gz", "rt", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    judges = list(rows[0])[3:]
    assert (len(rows), len(judges)) == (4423, 33)
    topics = sorted({row["query_id"] for row in rows})
    kappas, gains = {}, {}
    for judge in judges:
        kept = [row for row in rows if int(row[judge]) <= 3]
        found = of([int(row["human"]) for row in kept], [int(row[judge]) for row in kept], [topics.index(row["query_id"]) for row in kept], level=2)
        assert round(found.people_share, 3) == 0.268
        agree = found.people_share * found.sensitivity + (1 - found.people_share) * found.specificity
        chance = found.people_share * found.share + (1 - found.people_share) * (1 - found.share)
        kappas[judge], gains[judge] = (agree - chance) / (1 - chance), found.gain
        shares = round(found.share, 3)
        assert found.low <= found.gain <= found.high
        assert 0.02 <= shares < 0.7
    assert round(max(kappas.values()), 3) == 0.428
    assert round(min(kappas.values()), 3) == 0.031
    assert 1.15 < max(gains.values()) < 1.35
    assert min(gains.values()) < 1.02

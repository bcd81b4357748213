"""What LLM labels are worth: correlation by another implementation, by hand, and the 33 judges
of LLMJudge."""

from __future__ import annotations

import csv
import gzip
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from assay.labels.effective_gain import compute_usefulness
from tests.analysis.commands.called import answer, refused
from tests.analysis.commands.ranked_files import files


def of(people: list[int], llm: list[int], topic: list[int] | None = None, min_relevant: int = 1):
    topics = np.array(topic if topic is not None else [0] * len(people))
    return compute_usefulness(np.array(people), np.array(llm), topics, min_relevant=min_relevant)


def test_worth_by_hand() -> None:
    """People 1 1 0 0, llm 1 0 0 0: ρ² = (1/4 - 1/8)² / (1/4 · 3/16) = 1/3, so three halves."""
    found = of([1, 1, 0, 0], [1, 0, 0, 0])
    assert found.gain == pytest.approx(1.5)
    assert (found.sensitivity, found.specificity, found.share, found.people_share) == (
        0.5,
        1.0,
        0.25,
        0.5,
    )
    assert math.isnan(found.interval.low)  # one topic tells no interval
    assert (
        of([1, 1, 0, 0], [0, 0, 0, 0]).gain == 1
    )  # an LLM judge that says the same of all is worth nothing


def test_worth_is_that_of_numpys_correlation() -> None:
    rng = np.random.default_rng(2)
    people = rng.integers(0, 4, 3000)
    llm = np.clip(people + rng.integers(-2, 3, 3000), 0, 3)
    topic = np.repeat(np.arange(30), 100)
    found = compute_usefulness(people, llm, topic, min_relevant=2)
    assert found.gain_graded == pytest.approx(1 / (1 - np.corrcoef(people, llm)[0, 1] ** 2))
    assert found.gain == pytest.approx(1 / (1 - np.corrcoef(people >= 2, llm >= 2)[0, 1] ** 2))
    assert found.interval.low < found.gain < found.interval.high
    shares = [(llm[topic == t] >= 2).mean() - (people[topic == t] >= 2).mean() for t in range(30)]
    assert found.topic_bias == pytest.approx(np.std(shares))


def test_llm_judges_are_ranked_and_what_they_lack_is_said(tmp_path: Path) -> None:
    lines = [(t, d, int(d in "ab")) for t in range(12) for d in "abcdefghij"]
    people, good, noise, other = files(
        tmp_path,
        people="".join(f"{t} 0 {d} {g}\n" for t, d, g in lines),
        good="".join(
            f"{t} 0 {d} {9 if (t, d) == (0, 'a') else g}\n" for t, d, g in lines if d != "j"
        ),
        noise="".join(f"{t} 0 {d} {(t + ord(d)) % 2}\n" for t, d, _ in lines),
        other="99 0 x 1\n",
    )
    found, warned = answer(
        "rank_llm_judges", people, "--llm-labels", noise, "--llm-labels", good, "--max-grade", 1
    )
    assert found["order"] == ["good", "noise"]
    assert (found["llm_judges"]["good"]["outside"], found["llm_judges"]["good"]["missing"]) == (
        1,
        12,
    )
    assert found["llm_judges"]["noise"]["gain"] == pytest.approx(1, abs=0.05)
    assert "left out 1 label above the highest grade, 1" in warned
    assert "a reliable estimate needs about 200" in warned
    assert "no label for any pair judged by humans" in refused(
        "rank_llm_judges", people, "--llm-labels", other
    )


@pytest.mark.data
def test_the_judges_of_llmjudge_are_worth_up_to_a_third_more(data_folder: Path) -> None:
    """The best of 33 has a binary kappa of .428 at people's share .268, its own .276;
    the worst .031 at .020."""
    with gzip.open(data_folder / "llmjudge-2024" / "labels_wide.tsv.gz", "rt", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    judges = list(rows[0])[3:]
    assert (len(rows), len(judges)) == (4423, 33)
    topics = sorted({row["query_id"] for row in rows})
    kappas, gains, without = {}, {}, []
    for judge in judges:
        kept = [row for row in rows if int(row[judge]) <= 3]
        found = of(
            [int(row["human"]) for row in kept],
            [int(row[judge]) for row in kept],
            [topics.index(row["query_id"]) for row in kept],
            min_relevant=2,
        )
        assert round(found.people_share, 3) == 0.268
        agree = (
            found.people_share * found.sensitivity + (1 - found.people_share) * found.specificity
        )
        chance = found.people_share * found.share + (1 - found.people_share) * (1 - found.share)
        kappas[judge], gains[judge] = (agree - chance) / (1 - chance), found.gain
        shares = round(found.share, 3)
        if found.interval.reason:
            without.append(judge)
        else:
            assert found.interval.low <= found.gain <= found.interval.high
        assert 0.02 <= shares < 0.7
    assert round(max(kappas.values()), 3) == 0.428
    assert round(min(kappas.values()), 3) == 0.031
    assert 1.15 < max(gains.values()) < 1.35
    assert min(gains.values()) < 1.02
    assert len(without) < 5
    assert min(kappas, key=kappas.__getitem__) in without, (
        "it calls 2 % relevant: in few topics both do so"
    )


def test_what_cannot_be_told_is_undefined_and_not_a_number() -> None:
    found = of([1, 1, 1], [1, 0, 1])
    assert math.isnan(found.gain), "people tell nothing apart"
    assert math.isnan(found.specificity)
    assert math.isinf(of([1, 0, 1], [1, 0, 1]).gain)


def test_the_interval_is_the_jackknife_over_topics_of_fishers_z() -> None:
    """Tukey (1958), in a loop over numpy's correlations."""
    rng = np.random.default_rng(5)
    people = rng.integers(0, 2, 240)
    llm = np.where(rng.random(240) < 0.7, people, 1 - people)
    topic = np.repeat(np.arange(12), 20)
    z = [math.atanh(np.corrcoef(people[topic != t], llm[topic != t])[0, 1]) for t in range(12)]
    reach = stats.t.ppf(0.975, 11) * math.sqrt(11 / 12 * sum((one - np.mean(z)) ** 2 for one in z))
    middle = math.atanh(np.corrcoef(people, llm)[0, 1])
    expected = [1 / (1 - math.tanh(end) ** 2) for end in (middle - reach, middle + reach)]
    assert compute_usefulness(people, llm, topic, min_relevant=1).interval.bounds == pytest.approx(
        expected
    )


def test_an_llm_judge_that_may_be_worth_nothing_is_worth_1_at_least() -> None:
    rng = np.random.default_rng(6)
    people, llm = rng.integers(0, 2, (2, 600))
    assert (
        compute_usefulness(people, llm, np.repeat(np.arange(30), 20), min_relevant=1).interval.low
        == 1
    )

"""compare_systems over a sampled pool: intervals of differences for new topics and for these, and
what is not said."""

from __future__ import annotations

import math
import random
import re
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest
import scipy

from tests.analysis.commands.called import answer, refused
from tests.analysis.commands.ranked_files import files, printed
from tests.assay.comparison.hall import wider_interval

LETTERS = "abcdefghijklmnopqrst"
N_TOPICS = 32
MEASURES = ("--measures", "HT-P@10 HT-DCG@10 HT-nDCG@10")


@pytest.fixture
def runs(tmp_path: Path) -> list[str]:
    """Three runs of 20 documents over 32 topics."""
    chance = random.Random(3)

    def run(tag: str, noise: float) -> str:
        lines = []
        for t in range(N_TOPICS):
            order = sorted(LETTERS, key=lambda d: LETTERS.index(d) + noise * chance.random())
            lines += [f"{t} Q0 {d} {r} {50 - r} {tag}\n" for r, d in enumerate(order, start=1)]
        return "".join(lines)

    return files(tmp_path, good=run("good", 3), fair=run("fair", 12), poor=run("poor", 60))


@pytest.fixture
def sample(tmp_path: Path, runs: list[str]) -> str:
    """Half of the 400 pairs are judged."""
    chance = random.Random(4)
    lines = (
        f"{t} 0 {d} {chance.choice((1, 2)) if chance.random() < 0.7 - LETTERS.index(d) / 20 else 0}\n"
        for t in range(N_TOPICS)
        for d in LETTERS
    )
    (whole,) = files(tmp_path, whole="".join(lines))
    out = tmp_path / "half.prel"
    answer(
        "sample_pool",
        *runs,
        "--depth",
        20,
        "--budget",
        0.5,
        "--strata",
        "votes",
        "--judged",
        whole,
        "--output",
        out,
    )
    return str(out)


def test_the_interval_for_new_topics_is_that_of_the_paired_t_over_the_topics_estimates(
    runs, sample
):
    found, _ = answer(
        "compare_systems", sample, *runs, "--sampled", *MEASURES, "--correction", "holm"
    )
    topics = answer("evaluate", sample, *runs, "--sampled", "--per-topic", *MEASURES)[0][
        "per_topic"
    ]["half"]
    for measure in MEASURES[1].split():
        p = []
        for row in found[measure]["pairs"]:
            a, b = ([topics[row[side]][measure][str(t)] for t in range(N_TOPICS)] for side in "ab")
            test = scipy.stats.ttest_rel(b, a)
            mean = sum(b) / N_TOPICS - sum(a) / N_TOPICS
            assert [row["difference"], row["t"]] == pytest.approx([mean, test.pvalue], abs=1e-9)
            refused = "topics have nearly the same value" in row["interval_reason"]
            assert row["interval"] == (
                [None, None]
                if refused
                else pytest.approx(wider_interval(np.array(b) - np.array(a)), abs=1e-9)
            )
            assert refused == (
                max(Counter(round(y - x, 2) for x, y in zip(a, b, strict=True)).values())
                > N_TOPICS - 10
            )
            assert (
                row["wsr"] is row["sign"] is row["randomisation"] is row["corrected"]["wsr"] is None
            )
            p.append(test.pvalue)
        expected = [
            max(min(1, (3 - rank) * value) for rank, value in enumerate(sorted(p)) if value <= one)
            for one in p
        ]
        assert [row["corrected"]["t"] for row in found[measure]["pairs"]] == pytest.approx(
            expected, abs=1e-9
        ), "Holm, by hand"
    assert found["settings"]["tests"].startswith(
        "estimates from a sample are tested with the t-test only"
    )


def test_the_interval_for_these_topics_is_that_of_the_draw_alone(tmp_path, runs, sample):
    """Σ N² (1 - n/N) s² / n of a (weight difference x label), in plain Python."""
    size, judged = Counter(), defaultdict(list)
    for line in Path(sample).read_text().splitlines():
        topic, _, document, stratum, grade = line.split()
        size[stratum] += 1
        if int(grade) >= 0:
            judged[stratum].append((topic, document, int(grade)))
    assert all(stratum.startswith("*") for stratum in size)
    rank = {
        Path(path).stem: {
            tuple(line.split()[i] for i in (0, 2)): int(line.split()[3])
            for line in Path(path).read_text().splitlines()
        }
        for path in runs
    }
    found, _ = answer(
        "compare_systems", sample, *runs, "--sampled", "--measures", "HT-P@10 HT-DCG@10"
    )
    for measure in ("HT-P@10", "HT-DCG@10"):

        def weight(tag: str, topic: str, document: str, measure: str = measure) -> float:
            at = rank[tag].get((topic, document), 99)
            return (
                0.0
                if at > 10
                else (0.1 if measure == "HT-P@10" else 1 / math.log2(at + 1)) / N_TOPICS
            )

        for row in found[measure]["pairs"]:
            estimate = variance = 0.0
            for stratum, pairs in judged.items():
                n, whole = len(pairs), size[stratum]
                z = [
                    (weight(row["b"], t, d) - weight(row["a"], t, d))
                    * (grade if measure == "HT-DCG@10" else grade > 0)
                    for t, d, grade in pairs
                ]
                estimate += whole / n * sum(z)
                spread = sum((one - sum(z) / n) ** 2 for one in z) / (n - 1)
                variance += whole**2 * (1 - n / whole) * spread / n
            half = scipy.stats.norm.ppf(0.975) * math.sqrt(variance)
            assert row["difference"] == pytest.approx(estimate, abs=1e-12)
            assert row["these_topics"] == pytest.approx(
                [estimate - half, estimate + half], abs=1e-12
            )


def test_the_rank_model_helps_where_it_is_asked_for(runs, sample):
    found, _ = answer(
        "compare_systems",
        sample,
        *runs,
        "--sampled",
        "--measures",
        "HT-DCG@10",
        "--rank-model",
        "--seed",
        3,
    )
    for row in found["HT-DCG@10"]["pairs"]:
        helped = row["rank_model"]
        assert (
            abs(helped["difference"] - row["difference"])
            < row["these_topics"][1] - row["these_topics"][0]
        )
        assert helped["these_topics"][0] < helped["difference"] < helped["these_topics"][1]
    assert "undefined" not in found["HT-DCG@10"]["pairs"][0]["rank_model"]
    assert "add one to --measures" in refused(
        "compare_systems", sample, *runs, "--sampled", "--rank-model", "--measures", "xinfAP"
    )
    assert "for sampled pools" in refused("compare_systems", sample, *runs, "--rank-model")


def test_the_usual_measures_are_estimates_and_naive_ones_are_refused(runs, sample):
    found, _ = answer("compare_systems", sample, *runs, "--sampled")
    assert [name for name, one in found.items() if isinstance(one, dict) and "means" in one] == [
        "HT-nDCG@10",
        "HT-P@10",
        "xinfAP",
    ]
    assert (
        "judged pairs per topic; a confidence interval of xinfAP needs 40"
        in found["undefined"]["xinfAP"]
    )
    assert found["xinfAP"]["pairs"] == []
    assert found["xinfAP"]["means"]["good"] > 0
    assert "unsampled pairs as not relevant" in refused(
        "compare_systems", sample, *runs, "--sampled", "--measures", "nDCG@10"
    )
    assert "only its confidence intervals had the stated coverage" in refused(
        "compare_systems", sample, *runs, "--sampled", "--correction", "max"
    )
    text = printed("compare_systems", sample, *runs, "--sampled")[0]
    assert re.search(r"640 +320", text)
    assert "xinfAP: " in text

from __future__ import annotations

import numpy as np
import pytest

from tests.analysis.commands.called import refused
from tests.analysis.commands.first_rank_files import printed, read, write_qrels, write_run

TOPICS = [f"q{i}" for i in range(31)]


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(1)
    runs = [
        write_run(tmp_path, tag, dict(zip(TOPICS, rng.integers(0, high, 31).tolist(), strict=True)))
        for tag, high in (("a", 12), ("b", 8), ("c", 3))
    ]
    return write_qrels(tmp_path, TOPICS), *runs


def test_the_keys_of_the_contract(files):
    found = printed("split_half", *files, "--splits", "10", "--measures", "RR@100 Success@1")
    assert set(found) == {"RR@100", "Success@1", "seed"}
    assert {"mean", "median", "tied_medians"} <= set(found["RR@100"])
    assert list(found["RR@100"]["mean"]) == ["sign", "wrs", "wsr", "t"]
    assert list(found["RR@100"]["median"]) == ["sign", "wrs", "wsr"]
    assert set(found["RR@100"]["mean"]["t"]) == {"agree", "partial", "disagree", "significant"}
    assert found["RR@100"]["topics"] == 31


def test_processes_and_the_order_of_files_change_nothing(files, tmp_path):
    _, *runs = files
    alone = printed("split_half", *files, "--splits", "60")
    assert alone == printed("split_half", *files, "--splits", "60", "--processes", "2")
    turned = write_qrels(tmp_path, TOPICS[::-1], "turned.txt")
    assert alone == printed("split_half", turned, *runs[::-1], "--splits", "60")


def test_a_stricter_alpha_finds_less(files):
    loose, strict = (
        printed("split_half", *files, "--splits", "20", "--alpha", alpha)["RR@100"]["mean"]["t"]
        for alpha in ("0.2", "0.0001")
    )
    assert loose["significant"] > strict["significant"]


def test_a_person_reads_table_four(files):
    text = read("split_half", *files, "--splits", "5")
    assert "Agreement of halves by RR@100" in text
    assert "median       signed-rank" in text
    assert "5 splits of 31 topics, α = 0.05; halves with equal medians" in text


def test_one_run_or_one_topic_is_not_enough(files, tmp_path):
    qrels, run, other, _ = files
    assert "at least two runs" in refused("split_half", qrels, run)
    assert "fewer than two topics" in refused(
        "split_half", write_qrels(tmp_path, ["q1"], "one.txt"), run, other
    )

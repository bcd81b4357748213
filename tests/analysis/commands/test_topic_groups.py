"""--topic-groups: within a group every command says what it says of qrels that hold the group's
topics only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.analysis.commands.called import answer, refused
from tests.analysis.commands.ranked_files import printed
from tests.analysis.commands.test_stability import written
from tests.assay.measures.small_collections import Small, random_collection

CASES: dict[str, list[str]] = {
    "evaluate": ["--measures", "AP nDCG@5", "--per-topic"],
    "bootstrap": ["--measures", "AP", "--trials", "40"],
    "split_half": ["--measures", "AP", "--splits", "4"],
    "plan_study": ["--measures", "AP"],
    "stability": ["--element", "topics", "--pairs", "3", "--measures", "AP"],
    "reusability": ["--depth", "3", "--measures", "AP"],
    "leaderboard": ["--cutoff", "20"],
}
GROUPS = {"head": range(5), "tail": range(5, 9)}


@pytest.fixture
def small() -> Small:
    return random_collection(np.random.default_rng(6), n_topics=9, n_runs=4)


@pytest.fixture
def groups(tmp_path: Path) -> str:
    path = tmp_path / "groups.tsv"
    path.write_text(
        "topic\tgroup\n"
        + "".join(f"t{t}\t{name}\n" for name, topics in GROUPS.items() for t in topics)
    )
    return str(path)


def cut(small: Small, name: str) -> Small:
    return Small(
        {topic: judged for topic, judged in small.qrels.items() if int(topic[1:]) in GROUPS[name]},
        small.runs,
    )


def files(small: Small, folder: Path) -> list[str]:
    folder.mkdir()
    return written(small, folder)


def without_seed(found: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in found.items() if key != "seed"}


@pytest.mark.parametrize("command", CASES)
def test_within_a_group_it_is_as_under_qrels_of_its_topics(
    small: Small, groups: str, tmp_path: Path, command: str
) -> None:
    paths = files(small, tmp_path / "whole")
    found, _ = answer(command, *paths, *CASES[command], "--topic-groups", groups)
    parts = found.pop("by_group")
    assert found == answer(command, *paths, *CASES[command])[0]
    assert list(parts) == ["head", "tail"]
    for name in GROUPS:
        assert parts[name] == without_seed(
            answer(command, *files(cut(small, name), tmp_path / name), *CASES[command])[0]
        )


def test_rankings_are_compared_within_groups(small: Small, groups: str, tmp_path: Path) -> None:
    qrels, *runs = files(small, tmp_path / "whole")
    other = tmp_path / "other.txt"
    other.write_text(
        "".join(
            f"{t} 0 {d} {1 - min(g, 1)}\n"
            for t, judged in small.qrels.items()
            for d, g in judged.items()
        )
    )
    how = ["--measures", "AP", "--bootstrap", "20"]
    found, _ = answer(
        "compare_rankings",
        *runs,
        "--qrels",
        f"a={qrels}",
        "--qrels",
        f"b={other}",
        *how,
        "--topic-groups",
        groups,
    )
    of_head = tmp_path / "head.txt"
    of_head.write_text(
        "".join(
            line
            for line in other.read_text().splitlines(True)
            if int(line.split()[0][1:]) in GROUPS["head"]
        )
    )
    head = files(cut(small, "head"), tmp_path / "head")[0]
    assert found["by_group"]["head"] == without_seed(
        answer("compare_rankings", *runs, "--qrels", f"a={head}", "--qrels", f"b={of_head}", *how)[
            0
        ]
    )


def test_a_table_for_each_group_and_refusals(small: Small, groups: str, tmp_path: Path) -> None:
    paths = files(small, tmp_path / "whole")
    text, warnings = printed("evaluate", *paths, "--measures", "AP", "--topic-groups", groups)
    assert text.index("topics of head") < text.index("topics of tail")
    assert warnings.count("a topic") <= 1  # warnings are those of the whole
    (tmp_path / "others.tsv").write_text("topic\tgroup\nelsewhere\thead\n")
    assert "none of its topics is in the qrels" in refused(
        "evaluate", *paths, "--topic-groups", tmp_path / "others.tsv"
    )
    assert "only once" in refused("evaluate", "-", *paths[1:], "--topic-groups", groups)
    (tmp_path / "one.tsv").write_text("topic\tgroup\nt1\tone\nt2\ttwo\nt3\ttwo\n")
    found, _ = answer(
        "plan_study", *paths, "--measures", "AP", "--topic-groups", tmp_path / "one.tsv"
    )
    assert found["by_group"]["one"]["AP"]["variance"] is None  # one topic has no variance

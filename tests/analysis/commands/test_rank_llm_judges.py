"""`rank_llm_judges`: from files or from one table, and the 33 judges of LLMJudge by the correlation
that numpy finds."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import numpy as np
import pytest

from tests.analysis.commands.judged_file import refused, run
from tests.analysis.commands.ranked_files import printed

TABLE = "query_id\tdoc_id\thuman\tmodel-a\tmodel-b\n1\ta\t1\t1\t0\n1\tb\t0\t0\t0\n1\tc\t1\t1\t\n2\ta\t0\t1\t0\n2\tb\t1\t0\t1\n2\tc\t0\t0\t9\n"


def written(folder: Path, text: str, name: str) -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


def test_a_table_says_what_files_say(tmp_path: Path) -> None:
    """A label that is missing and one above people's scale are left out and counted."""
    rows = [line.split("\t") for line in TABLE.splitlines()[1:]]
    people, *llm_judges = (
        written(
            tmp_path,
            "".join(f"{row[0]} 0 {row[1]} {row[k]}\n" for row in rows if row[k]),
            f"{k}.txt",
        )
        for k in (2, 3, 4)
    )
    by_files = run(
        "rank_llm_judges",
        people,
        "--llm-labels",
        f"model-a={llm_judges[0]}",
        "--llm-labels",
        f"model-b={llm_judges[1]}",
    )
    by_table = run("rank_llm_judges", "--table", written(tmp_path, TABLE, "wide.tsv"))
    assert by_table["llm_judges"] == by_files["llm_judges"]
    assert by_table["order"] == by_files["order"]
    assert (
        by_table["llm_judges"]["model-b"]["missing"],
        by_table["llm_judges"]["model-b"]["outside"],
        by_table["llm_judges"]["model-b"]["pairs"],
    ) == (1, 1, 4)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("q\td\thuman\n1\ta\t1\n", "wide.tsv:1: no header"),
        (
            TABLE.replace("1\ta\t1\t1\t0", "1\ta\t1\tyes\t0"),
            "wide.tsv:2: model-a: 'yes' is not a grade",
        ),
        (TABLE.replace("1\tb\t0", "1\ta\t0"), "wide.tsv:3: duplicate document a for topic 1"),
        (TABLE.replace("2\tc\t0\t0\t9", "2\tc\t0"), "wide.tsv:7: 3 cells"),
    ],
)
def test_a_table_that_cannot_be_read_is_refused_with_its_line(
    tmp_path: Path, text: str, said: str
) -> None:
    assert said in refused("rank_llm_judges", "--table", written(tmp_path, text, "wide.tsv"))[2]


def test_one_of_both_is_given(tmp_path: Path) -> None:
    table = written(tmp_path, TABLE, "wide.tsv")
    for given in ([], [table], ["--table", table, "--llm-labels", table]):
        assert "or a --table with one column per LLM judge" in refused("rank_llm_judges", *given)[2]


@pytest.mark.data
def test_the_33_judges_of_llmjudge_are_ranked_by_their_correlation_with_people(
    data_folder: Path,
) -> None:
    path = data_folder / "llmjudge-2024" / "labels_wide.tsv.gz"
    result = run("rank_llm_judges", "--table", str(path), "--min-relevant", "2", "--max-grade", "3")
    with gzip.open(path, "rt", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    worth = {}
    for judge in list(rows[0])[3:]:
        pairs = np.array(
            [
                (int(row["human"]) >= 2, int(row[judge]) >= 2)
                for row in rows
                if int(row[judge]) <= 3
            ],
            float,
        )
        worth[judge] = 1 / (1 - np.corrcoef(pairs.T)[0, 1] ** 2)
    assert len(worth) == 33
    assert {name: one["gain"] for name, one in result["llm_judges"].items()} == pytest.approx(
        worth, abs=1e-9
    )
    assert result["order"] == sorted(worth, key=lambda name: (-round(worth[name], 12), name))


def test_what_is_undefined_is_null_with_its_reason(tmp_path: Path) -> None:
    """Two topics: no interval. alike agrees with people on all; where people call all pairs
    relevant nothing is told of anybody."""
    people, alike = (
        written(tmp_path, "1 0 a 1\n1 0 b 0\n2 0 a 0\n2 0 b 1\n", f"{name}.txt")
        for name in ("people", "alike")
    )
    other = written(tmp_path, "1 0 a 1\n1 0 b 1\n2 0 a 0\n2 0 b 1\n", "other.txt")
    found = run(
        "rank_llm_judges",
        people,
        "--llm-labels",
        f"other={other}",
        "--llm-labels",
        f"alike={alike}",
    )
    assert found["order"] == ["alike", "other"]
    assert (found["llm_judges"]["alike"]["gain"], found["llm_judges"]["alike"]["interval"]) == (
        None,
        [None, None],
    )
    assert "agree on every pair" in found["llm_judges"]["alike"]["undefined"]
    assert found["llm_judges"]["other"]["gain"] == pytest.approx(
        1.5
    )  # people 2 of 4, LLM judge 3 of 4, both 2: ρ² = (1/8)² / (1/4 · 3/16)
    assert (
        "no confidence interval: 2 topics; a confidence interval needs 10"
        in found["llm_judges"]["other"]["undefined"]
    )
    assert (
        "humans and LLM judge agree on every pair"
        in printed("rank_llm_judges", people, "--llm-labels", f"alike={alike}")[0]
    )
    undefined = run(
        "rank_llm_judges", people, "--llm-labels", f"other={other}", "--min-relevant", "2"
    )["llm_judges"]["other"]
    assert undefined["gain"] is None
    assert undefined["undefined"].startswith("humans call none of the pairs relevant")

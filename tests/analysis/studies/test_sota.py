"""The study of records, against scipy, the hand, and the papers' chains."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from tests.analysis.studies.made import about, study_of, table

RANKS = {"first": [2, 4, 0, 5, 1, 3, 0, 2], "second": [1, 4, 3, 2, 1, 2, 0, 4], "third": [1, 1, 1, 2, 1, 0, 2, 1]}
"""Rank of the one relevant document of each topic; 0: not retrieved."""
QRELS = "".join(f"{t} 0 r 1\n" for t in range(8))
ORDER = "tag\tdate\tgroup\tbaseline\tdescription\nfirst\t2020-01-01\tA\t0\tplain\nsecond\t2020-02-01\tB\t0\twith BERT\nthird\t2020-03-01\tB\t0\t\n"
TOML = 'qrels = "qrels.txt"\nruns = ["first.txt", "second.txt", "third.txt"]\norder = "order.txt"\n'


def run_of(tag: str) -> str:
    lines = []
    for topic, rank in enumerate(RANKS[tag]):
        documents = [f"x{k}" for k in range(1, 6)]
        if rank:
            documents.insert(rank - 1, "r")
        lines += [f"{topic} Q0 {document} {k} {20 - k} {tag}\n" for k, document in enumerate(documents, 1)]
    return "".join(lines)


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return study_of(tmp_path_factory.mktemp("study"), "sota", TOML, qrels=QRELS, order=ORDER, **{tag: run_of(tag) for tag in RANKS})


def rr(tag: str) -> np.ndarray:
    return np.array([1 / rank if rank else 0.0 for rank in RANKS[tag]])


def test_the_chain_is_named_r1_to_rn(out: Path) -> None:
    assert [(row[""], row["run"], float(row["score"])) for row in table(out, "chain")] == [
        (f"R{k}", tag, pytest.approx(rr(tag).mean())) for k, tag in enumerate(RANKS, 1)
    ]


def test_table_1_is_scipys(out: Path) -> None:
    rows = {(row["compared"], row["A"], row["B"]): row for row in table(out, "table-1")}
    assert [key[1:] for key in rows if key[0] == "against the first"] == [("R1", "R2"), ("R1", "R3")]
    for a, b in (("first", "second"), ("first", "third")):
        row = rows["against the first", f"R{list(RANKS).index(a) + 1}", f"R{list(RANKS).index(b) + 1}"]
        assert float(row["difference"]) == pytest.approx(rr(b).mean() - rr(a).mean())
        assert float(row["WRS p"]) == pytest.approx(stats.ranksums(rr(a), rr(b)).pvalue)
        assert float(row["t p"]) == pytest.approx(stats.ttest_rel(rr(a), rr(b)).pvalue)


def test_table_2_counts_outcomes_and_tests_where_both_answer(out: Path) -> None:
    """first against second: neither topic 6; only second topic 2; both on six topics, ranks 2 4 5 1 3 2 and 1 4 2 1 2 4."""
    row = next(row for row in table(out, "table-2") if list(row.values())[1:3] == ["R1", "R2"])
    assert [float(row[name]) for name in ("neither", "A only", "B only", "both")] == [1 / 8, 0, 1 / 8, 6 / 8]
    assert float(row["binomial p"]) == 1.0
    values = about(out)["parts"]["outcomes"]["values"]["vs_first"][0]
    a, b = np.array([2, 4, 5, 1, 3, 2]), np.array([1, 4, 2, 1, 2, 4])
    assert (values["esl"]["a"], values["esl"]["b"]) == pytest.approx((a.mean(), b.mean()))
    assert values["esl"]["t"] == pytest.approx(stats.ttest_rel(a, b).pvalue)
    assert values["rr"]["t"] == pytest.approx(stats.ttest_rel(1 / a, 1 / b).pvalue)


def test_a_table_of_scores_gives_the_chain_and_says_what_it_lacks(tmp_path: Path) -> None:
    board = "tag,date,score\na,2020-01-01,.3\nb,2020-01-02,.2\nc,2020-01-03,.5\nd,2020-01-03,.4\n"
    out = study_of(tmp_path, "sota", 'table = "board.txt"\n', board=board)
    assert [row["run"] for row in table(out, "chain")] == ["a", "c"]  # d was beaten on its own day
    assert set(about(out)["left_out"]) == {"means", "outcomes", "verdicts"}
    assert "no topics to test on" in about(out)["left_out"]["means"]


@pytest.mark.data
@pytest.mark.parametrize(("until", "records"), [("2021-02-15", 10), ("2021-04-30", 13)])
def test_the_records_of_both_versions_of_the_paper(data_folder: Path, tmp_path: Path, until: str, records: int) -> None:
    path = data_folder / "msmarco" / "doc_leaderboard.csv"
    text = f'table = "{path}"\nscore_column = "MRR@100 (Eval)"\nuntil = "{until}"\nbaselines = "20200811a,20200811b,20200811c"\n'
    out = study_of(tmp_path, "sota", text)
    assert [row[""] for row in table(out, "chain")] == [f"R{k}" for k in range(1, records + 1)]

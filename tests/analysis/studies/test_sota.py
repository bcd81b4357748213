"""The study of records, against scipy, the hand, and the papers' chains."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from tests.analysis.studies.made import about, drawn, json_table, study_of, table
from tests.assay.comparison.counted_signs import counted_signed_rank
from tests.pictures import real_pictures

pytestmark = pytest.mark.xdist_group("study of records")
RANKS = {
    "first": [2, 4, 0, 5, 1, 3, 0, 2],
    "second": [1, 4, 3, 2, 1, 2, 0, 4],
    "third": [1, 1, 1, 2, 1, 0, 2, 1],
}
"""Rank of the one relevant document of each topic; 0: not retrieved."""
QRELS = "".join(f"{t} 0 r 1\n" for t in range(8))
ORDER = (
    "tag\tdate\tgroup\tbaseline\tdescription\nfirst\t2020-01-01\tA\t0\tplain\nsecond\t2020-02-01\tB\t0\twith "
    "BERT\nthird\t2020-03-01\tB\t0\t\n"
)
TOML = 'qrels = "qrels.txt"\nruns = ["first.txt", "second.txt", "third.txt"]\norder = "order.txt"\n'


def run_of(tag: str, ranks: list[int]) -> str:
    lines = []
    for topic, rank in enumerate(ranks):
        documents = [f"x{k}" for k in range(1, 6)]
        if rank:
            documents.insert(rank - 1, "r")
        lines += [
            f"{topic} Q0 {document} {k} {20 - k} {tag}\n" for k, document in enumerate(documents, 1)
        ]
    return "".join(lines)


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with real_pictures():
        return study_of(
            tmp_path_factory.mktemp("study"),
            "sota",
            TOML,
            qrels=QRELS,
            order=ORDER,
            **{tag: run_of(tag, ranks) for tag, ranks in RANKS.items()},
        )


def rr(tag: str) -> np.ndarray:
    return np.array([1 / rank if rank else 0.0 for rank in RANKS[tag]])


def test_the_chain_is_named_r1_to_rn(out: Path) -> None:
    assert [(row[""], row["run"], float(row["score"])) for row in table(out, "chain")] == [
        (f"R{k}", tag, pytest.approx(rr(tag).mean())) for k, tag in enumerate(RANKS, 1)
    ]


PAIRS = {
    "against the first": [("first", "second"), ("first", "third")],
    "against the one before": [("first", "second"), ("second", "third")],
    "the last three": [("first", "second"), ("first", "third"), ("second", "third")],
}


def compared(out: Path, key: str) -> dict[tuple[str, str, str], dict[str, str]]:
    """The rows of Table 1 or 2 by (list, tag of A, tag of B); they are exactly those of PAIRS, in
    that order."""
    tags = dict(zip(("R1", "R2", "R3"), RANKS, strict=True))
    rows = {(row["compared"], tags[row["A"]], tags[row["B"]]): row for row in table(out, key)}
    assert list(rows) == [(words, *pair) for words, pairs in PAIRS.items() for pair in pairs]
    return rows


def test_table_1_is_scipys(out: Path) -> None:
    for (_, a, b), row in compared(out, "table-1").items():
        assert float(row["difference"]) == pytest.approx(rr(b).mean() - rr(a).mean())
        assert float(row["WRS p"]) == pytest.approx(stats.ranksums(rr(a), rr(b)).pvalue)
        assert float(row["WSR p"]) == pytest.approx(counted_signed_rank(rr(b) - rr(a)))
        assert float(row["t p"]) == pytest.approx(stats.ttest_rel(rr(a), rr(b)).pvalue)


def test_groups_stand_in_both_tables_and_the_rows_of_the_paper_can_be_chosen(
    tmp_path: Path,
) -> None:
    """The figure is that of the table of scores, which has one more run."""
    runs = {tag: run_of(tag, ranks) for tag, ranks in RANKS.items()}
    text = f'{TOML}paper_rows = true\ntable = "board.txt"\n'
    board = "tag,date,group,score\nfirst,2020-01-01,A,.3\nother,2020-01-02,C,.4\n"
    out = study_of(tmp_path, "sota", text, qrels=QRELS, order=ORDER, board=board, **runs)
    pairs = [("R1", "R2", "A", "B"), ("R1", "R3", "A", "B"), ("R2", "R3", "B", "B")]
    for key in ("table-1", "table-2"):
        rows = [[row[k] for k in ("A", "B", "group A", "group B")] for row in table(out, key)]
        assert [tuple(row) for row in rows] == pairs
        lists = [row["compared"] for row in table(out, key)]
        assert lists == ["against the first", "against the first", "the last three"]
    assert [row["run"] for row in table(out, "chain")] == ["first", "other"]
    assert [row[0] for row in drawn(out, "over-time")[1:]] == ["first", "other"]


def both(a: str, b: str) -> tuple[np.ndarray, np.ndarray]:
    """Ranks where both answer."""
    x, y = np.array(RANKS[a]), np.array(RANKS[b])
    return x[(x > 0) & (y > 0)], y[(x > 0) & (y > 0)]


def test_table_2_counts_outcomes_and_tests_where_both_answer(out: Path) -> None:
    """first against second: neither topic 6; only second topic 2; both on six topics, ranks 2 4 5 1
    3 2 and 1 4 2 1 2 4."""
    rows = compared(out, "table-2")
    row = rows["against the first", "first", "second"]
    assert [float(row[name]) for name in ("neither", "A only", "B only", "both")] == [
        1 / 8,
        0,
        1 / 8,
        6 / 8,
    ]
    assert float(row["binomial p"]) == 1.0
    row = rows[
        "against the first", "first", "third"
    ]  # topics 2 and 6 only by the third, topic 5 only by the first
    assert [float(row[name]) for name in ("neither", "A only", "B only", "both")] == [
        0,
        1 / 8,
        2 / 8,
        5 / 8,
    ]
    for (_, a, b), row in rows.items():
        for head, (x, y) in (("ESL", both(a, b)), ("RR", tuple(1 / ranks for ranks in both(a, b)))):
            found = [
                float(row[f"{head} where both answer: {name}"])
                for name in ("A", "B", "WSR p", "t p")
            ]
            assert found == pytest.approx(
                [x.mean(), y.mean(), counted_signed_rank(y - x), stats.ttest_rel(x, y).pvalue]
            )


def test_in_both_tables_exactly_the_p_values_below_the_level_are_bold(out: Path) -> None:
    for key, columns in (("table-1", range(6, 9)), ("table-2", (9, 12, 13, 16, 17))):
        found = json_table(out, key)
        below = [
            [k, column]
            for k, row in enumerate(found["rows"])
            for column in columns
            if row[column] < 0.05
        ]
        assert found["bold"] == below
        assert below


def test_the_table_of_all_runs_and_both_figures_have_the_numbers_of_the_tables(out: Path) -> None:
    days = ("2020-01-01", "2020-02-01", "2020-03-01")
    expected = [
        (tag, day, group, pytest.approx(rr(tag).mean()))
        for tag, day, group in zip(RANKS, days, "ABB", strict=True)
    ]
    for key in ("runs", "chain"):
        assert [
            (row["run"], row["date"], row["group"], float(row["score"])) for row in table(out, key)
        ] == expected
    over_time = [
        [tag, day, f"{rr(tag).mean():.3f}", "state of the art"]
        for tag, day in zip(RANKS, days, strict=True)
    ]
    assert drawn(out, "over-time")[1:] == over_time
    assert drawn(out, "outcomes") == [
        ["A – B", "answered by neither", "A only", "B only", "both", "all"],
        ["first – second", "1", "0", "1", "6", "8"],
        ["second – third", "0", "1", "1", "6", "8"],
    ]


CLEAR = {"first": [4] * 8 + [0] * 8, "second": [2] * 8 + [0] * 8, "third": [1] * 8 + [3] * 8}
"""Each shortens all searches of the one before, p = 2 / 2^8; the third answers eight topics more, p
= 2 / 2^8."""


@pytest.mark.parametrize(("family", "significant"), [(6, True), (7, False)])
def test_the_verdicts_hold_the_family_that_is_given(
    tmp_path: Path, family: int, significant: bool
) -> None:
    """Bonferroni: 6 / 128 is below .05, 7 / 128 is not."""
    qrels = "".join(f"{t} 0 r 1\n" for t in range(16))
    out = study_of(
        tmp_path,
        "sota",
        TOML + f'correction = "bonferroni"\nfamily_size = {family}\n',
        qrels=qrels,
        order=ORDER,
        **{tag: run_of(tag, ranks) for tag, ranks in CLEAR.items()},
    )
    rows = {(row["A"], row["B"]): row for row in table(out, "verdicts")}
    p = pytest.approx(family / 128)
    corrected = ("binomial p, corrected", "ESL signed-rank p, corrected", "ESL t p, corrected")
    found = {
        pair: [row[name] and float(row[name]) for name in corrected] for pair, row in rows.items()
    }
    assert found == {  # every search is shorter by the same number, so that t is undefined
        ("R1 first", "R2 second"): [1, p, ""],
        ("R1 first", "R3 third"): [p, p, ""],
        ("R2 second", "R3 third"): [p, p, ""],
    }
    assert [(row["group of A"], row["group of B"]) for row in rows.values()] == [
        ("A", "B"),
        ("A", "B"),
        ("B", "B"),
    ]
    said = [
        [row[name] for name in ("better", "significantly better", "better, doing no harm")]
        for row in rows.values()
    ]
    sure = "yes" if significant else "no"
    assert said == [["no", "no", sure], ["yes", sure, sure], ["yes", sure, sure]]
    # each displaces those before it by significant progress without harm; without any, all stay
    # where they came in
    assert [row["run"] for row in table(out, "order")] == (
        ["third", "second", "first"] if significant else ["first", "second", "third"]
    )
    assert about(out)["parts"]["verdicts"]["values"]["family_size"] == family


def test_a_table_of_scores_gives_the_chain_and_says_what_it_lacks(tmp_path: Path) -> None:
    board = "tag,date,score\na,2020-01-01,.3\nb,2020-01-02,.2\nc,2020-01-03,.5\nd,2020-01-03,.4\n"
    out = study_of(tmp_path, "sota", 'table = "board.txt"\n', board=board)
    assert [row["run"] for row in table(out, "chain")] == ["a", "c"]  # d was beaten on its own day
    assert set(about(out)["left_out"]) == {"means", "outcomes", "verdicts"}
    assert "no topics to test on" in about(out)["left_out"]["means"]


@pytest.mark.data
@pytest.mark.parametrize(("until", "records"), [("2021-02-15", 10), ("2021-04-30", 13)])
def test_the_records_of_both_versions_of_the_paper(
    data_folder: Path, tmp_path: Path, until: str, records: int
) -> None:
    path = data_folder / "msmarco" / "doc_leaderboard.csv"
    text = (
        f'table = "{path}"\nscore_column = "MRR@100 (Eval)"\nuntil = "{until}"\nbaselines = '
        f'"20200811a,20200811b,20200811c"\n'
    )
    out = study_of(tmp_path, "sota", text)
    assert [row[""] for row in table(out, "chain")] == [f"R{k}" for k in range(1, records + 1)]

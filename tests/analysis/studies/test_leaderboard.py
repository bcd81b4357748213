"""The study of a leaderboard's certainty."""

from __future__ import annotations

import csv
import re
from collections import Counter
from pathlib import Path

import pytest
from scipy import stats

from analysis.studies.papers.leaderboard import slugify_conditions
from tests.analysis.studies.made import about, drawn, json_table, refusal, study_of, table
from tests.pictures import real_pictures

pytestmark = pytest.mark.xdist_group("study of a leaderboard")
QRELS = "".join(f"{t} 0 r {1 + t % 2}\n" for t in range(20))
RUNS = {
    "best": "".join(f"{t} Q0 r 1 2 best\n" for t in range(20)),
    "half": "".join(f"{t} Q0 {'r' if t % 2 else 'x'} 1 2 half\n" for t in range(20)),
    "worst": "".join(f"{t} Q0 x 1 2 worst\n" for t in range(20)),
}
TOML = """
runs = ["best.txt", "half.txt", "worst.txt"]
measures = "RR@100"
trials = 50
splits = 5
submissions = "submitted.txt"
until = "2021-01-31"
[qrels]
sparse = "qrels.txt"
[topic_lists]
even = "even.txt"
odd = "odd.txt"
[boards]
documents = "board.txt"
[institutions]
"Team B" = "Institute"
"Team C" = "Institute"
"""
SUBMITTED = """tag,date,group,public score,private score
a1,2021-01-01,Team A,.30,.31
a2,2021-01-02,Team A,.32,.30
a3,2021-01-03,Team A,.33,.29
b1,2021-01-04,Team B,.40,.20
c1,2021-01-05,Team C,.20,.40
c2,2021-02-05,Team C,.50,.50
"""


LISTS = {
    "even": "".join(f"{t}\n" for t in range(0, 20, 2)),
    "odd": "".join(f"{t}\n" for t in range(1, 20, 2)),
}
BOARD = (
    "tag,date,group,score\na,2020-01-01,Team A,.3\nb,2020-01-02,Team A,.2\nc,2020-01-03,Team "
    "B,.5\nlate,2021-03-03,Team B,.9\n"
)


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with real_pictures():
        return study_of(
            tmp_path_factory.mktemp("study"),
            "leaderboard",
            TOML,
            qrels=QRELS,
            board=BOARD,
            submitted=SUBMITTED,
            **LISTS,
            **RUNS,
        )


def test_every_part_is_there(out: Path) -> None:
    assert about(out)["left_out"] == {}
    records = [
        (row["run"], row["date"], row["group"], float(row["score"]))
        for row in table(out, "records-documents")
    ]
    assert records == [("a", "2020-01-01", "Team A", 0.3), ("c", "2020-01-03", "Institute", 0.5)]
    assert drawn(out, "figure-1-documents")[1:] == [
        ["a", "2020-01-01", "0.300", "state of the art"],
        ["b", "2020-01-02", "0.200", "run"],
        ["c", "2020-01-03", "0.500", "state of the art"],
    ]


def test_a_baseline_is_never_a_record_whether_named_or_marked(tmp_path: Path) -> None:
    marked = BOARD.replace("\n", ",\n").replace(".3,", ".3,\U0001f3db")
    for number, (board, key) in enumerate([(marked, ""), (BOARD, 'baselines = "a"\n')]):
        (tmp_path / str(number)).mkdir()
        out = study_of(
            tmp_path / str(number),
            "leaderboard",
            f'until = "2021-01-31"\n{key}[boards]\ndocuments = "board.txt"\n',
            board=board,
        )
        assert [row["run"] for row in table(out, "records-documents")] == ["c"]


def test_a_baseline_that_no_board_has_is_refused(tmp_path: Path) -> None:
    (tmp_path / "board.txt").write_text(BOARD, encoding="utf-8")
    said = refusal(
        tmp_path, "leaderboard", 'baselines = "a,z"\n[boards]\ndocuments = "board.txt"\n'
    )
    assert "no leaderboard has a run called z" in said


@pytest.mark.data
def test_the_records_of_the_public_document_leaderboard_are_those_with_a_trophy(
    data_folder: Path, tmp_path: Path
) -> None:
    path = data_folder / "msmarco" / "doc_leaderboard.csv"
    with path.open(encoding="utf-8", newline="") as file:
        trophies = {row["id"] for row in csv.DictReader(file) if "\U0001f3c6" in row[""]}
    out = study_of(
        tmp_path,
        "leaderboard",
        f'score_column = "MRR@100 (Eval)"\n[boards]\ndocuments = "{path}"\n',
    )
    assert len(trophies) == 17
    assert {row["run"] for row in table(out, "records-documents")} == trophies


ON_ALL = {
    "best": ("1.0", "1.0", "1", "1 to 3", ""),
    "half": ("0.5", "2.0", "2", "1 to 3", "best"),
    "worst": ("0.0", "3.0", "3", "1 to 3", "best half"),
}
ON_EVEN = {
    "best": ("1.0", "1.0", "1", "1 to 3", ""),
    "half": ("0.0", "2.5", "2.5", "1 to 3", "best"),
    "worst": ("0.0", "2.5", "2.5", "1 to 3", "best"),
}
ON_ODD = {
    "best": ("1.0", "1.5", "1.5", "1 to 3", ""),
    "half": ("1.0", "1.5", "1.5", "1 to 3", ""),
    "worst": ("0.0", "3.0", "3", "1 to 3", "best half"),
}
"""score, expected rank, that of any sample, the ranks that it may have (so few topics leave all),
who is significantly better. best answers every topic, worst none, half the odd ones: on even topics
it is tied with worst, on odd ones with best."""
SHARES = {
    "1": [1, 0, 0],
    "2": [0, 1, 0],
    "3": [0, 0, 1],
    "1.5": [0.5, 0.5, 0],
    "2.5": [0, 0.5, 0.5],
}
"""Of the ranks, by the rank of every sample: two that are tied have each of their places in half of
them."""


@pytest.mark.parametrize(
    ("slug", "expected"),
    [("sparse", ON_ALL), ("sparse-even", ON_EVEN), ("sparse-odd", ON_ODD)],
)
def test_ranks_that_no_sample_changes_are_certain(
    out: Path, slug: str, expected: dict[str, tuple[str, ...]]
) -> None:
    shares = {run: SHARES[rank] for run, (_, _, rank, _, _) in expected.items()}
    for key in (f"top-RR-100-{slug}", f"certainty-places-RR-100-{slug}"):
        assert {
            row["run"]: [float(row[place]) for place in "123"] for row in table(out, key)
        } == shares
    assert {
        row[0]: list(map(float, row[1:])) for row in drawn(out, f"figure-3-RR-100-{slug}")[1:]
    } == shares
    for row in table(out, f"certainty-ranks-RR-100-{slug}"):
        score, rank, place, may_be, better = expected[row["run"]]
        assert [row[name] for name in ("score", "expected rank", "may be")] == [score, rank, may_be]
        assert {row[name] for name in ("best", "worst", "2.5%", "97.5%")} == {place}
        assert row["significantly worse than (uncorrected)"].strip("'-") == ", ".join(
            f"{other} (0.0%)" for other in better.split()
        )


def test_conditions_stand_side_by_side(out: Path) -> None:
    rows = {row["run"]: row for row in table(out, "figure-4")}
    names = about(out)["parts"]["conditions"]["values"]["conditions"]
    assert [name.split()[-1] for name in names] == ["sparse", "even", "odd"]
    expected = {
        "best": [1, 1, 1.5, 1, 1.5, 0],
        "half": [2, 2.5, 1.5, 1.5, 2.5, 2],
        "worst": [3, 2.5, 3, 2.5, 3, 3],
    }
    last = ("best", "worst", "conditions in which a run beats it")
    assert {
        run: [float(row[name]) for name in (*names, *last)] for run, row in rows.items()
    } == expected
    spots = {tuple(row[:2]): tuple(map(float, row[2:5])) for row in drawn(out, "figure-4")[1:]}
    assert spots == {
        (name, run): (expected[run][k], 1, 3) for run in expected for k, name in enumerate(names)
    }  # with so few topics every rank is open


def test_nearly_identical_runs_are_listed(out: Path, tmp_path: Path) -> None:
    """half differs from best on ten of twenty topics, so no pair shares nine of ten documents."""
    assert "No two runs are nearly identical." in (out / "report.md").read_text(encoding="utf-8")
    twin = RUNS["best"].replace("best", "twin")
    text = TOML.replace('"worst.txt"]', '"worst.txt", "twin.txt"]')
    files = {"qrels": QRELS, "board": BOARD, "submitted": SUBMITTED, **LISTS, **RUNS}
    made = study_of(tmp_path, "leaderboard", text, twin=twin, **files)
    assert [list(row.values()) for row in table(made, "similar-runs")] == [
        ["best", "twin", "1.0", "1.0", "20"]
    ]


def test_key_runs_of_figure_4_have_their_colours_and_short_names(tmp_path: Path) -> None:
    files = {"qrels": QRELS, "board": BOARD, "submitted": SUBMITTED, **LISTS, **RUNS}
    key = 'key_runs = ["worst", "Best"]\n'
    systems = (
        '[systems]\nworst = { short = "W", colour = 4 }\nbest = { name = "Best", short = "B" }\n'
    )
    out = study_of(tmp_path, "leaderboard", f"{key}{TOML}{systems}", **files)
    assert [row[1] for row in drawn(out, "figure-4")[1:3]] == ["W", "B"]
    page = (out / "report.html").read_text(encoding="utf-8")
    figure = page[
        page.index("<figcaption>Expected rank of key runs") : page.index(">figures/figure-4: ")
    ]
    legend = re.findall(r'class="(s\d)"/></svg> (\w)</li>', figure)
    assert legend == [("s1", "B"), ("s4", "W")]
    problem = refusal(
        tmp_path / "inputs", "leaderboard", TOML.replace("\nruns", '\nkey_runs = ["x"]\nruns')
    )
    assert "`key_runs`: unknown run x" in problem


def test_conditions_whose_names_give_the_same_file_names_are_numbered() -> None:
    names = ["RR@100", "RR 100", "strict"]
    assert slugify_conditions(names) == ["RR-100-1", "RR-100-2", "strict"]


GRADED = "".join(f"{t} 0 two 2\n{t} 0 one 1\n{t} 0 none 0\n" for t in range(12))
GAINS = {"both": "one two", "high": "two none", "low": "none one", "nothing": "none x"}


def test_normalised_cumulative_gain_and_conditions_of_ones_own(tmp_path: Path) -> None:
    """NCG@2: of a gain of 2 + 1 both have 3, high 2, low 1. At level 2 only `two` counts: RR 1/2,
    1, 0, 0."""
    runs = {
        tag: "".join(
            f"{t} Q0 {d} {k} {9 - k} {tag}\n"
            for t in range(12)
            for k, d in enumerate(found.split(), 1)
        )
        for tag, found in GAINS.items()
    }
    text = """runs = ["both.txt", "high.txt", "low.txt", "nothing.txt"]
trials = 20
conditions = '''
gain = NCG@2, graded
strict = RR@100, graded, some, 2
'''
[qrels]
graded = "qrels.txt"
[topic_lists]
some = "some.txt"
"""
    out = study_of(
        tmp_path,
        "leaderboard",
        text,
        qrels=GRADED,
        some="".join(f"{t}\n" for t in range(10)),
        **runs,
    )
    gain, strict = (
        {row["run"]: float(row["score"]) for row in table(out, f"certainty-ranks-{name}")}
        for name in ("gain", "strict")
    )
    assert gain == pytest.approx({"both": 1, "high": 2 / 3, "low": 1 / 3, "nothing": 0})
    assert strict == {"high": 1, "both": 0.5, "low": 0, "nothing": 0}
    assert [
        [float(row[name]) for name in ("gain", "strict")] for row in table(out, "figure-4")
    ] == [[1, 2], [2, 1], [3, 3.5], [4, 3.5]]
    assert "12 topics" in json_table(out, "top-gain")["note"]
    assert "10 topics" in json_table(out, "top-strict")["note"]


def test_institutions_take_the_place_of_their_teams_up_to_a_date(out: Path) -> None:
    groups = about(out)["parts"]["submissions"]["values"]
    assert {name: found["submissions"] for name, found in groups.items()} == {
        "Team A": 3,
        "Institute": 2,
    }
    assert groups["Team A"]["breaches"] == ["2021-01"]
    assert (
        groups["Institute"]["best"],
        groups["Institute"]["best_public_rank"],
        groups["Institute"]["its_private_rank"],
    ) == ("b1", 1, 5)
    svg = (out / "figures" / "every-submission.svg").read_text(encoding="utf-8")
    assert ">Institute<" in svg


def test_every_submission_of_a_group_stands_public_against_private(out: Path) -> None:
    """Public .30 .32 .33 .40 .20, private .31 .30 .29 .20 .40: the best in public is the last in
    private."""
    with (out / "tables" / "submissions-every.csv").open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file))[1:] == [
            ["Team A", "a1", "2021-01-01", "0.3", "4", "0.31", "2"],
            ["Team A", "a2", "2021-01-02", "0.32", "3", "0.3", "3"],
            ["Team A", "a3", "2021-01-03", "0.33", "2", "0.29", "4"],
            ["Institute", "b1", "2021-01-04", "0.4", "1", "0.2", "5"],
            ["Institute", "c1", "2021-01-05", "0.2", "5", "0.4", "1"],
        ]
    assert [list(row.values()) for row in table(out, "submissions-groups")] == [
        ["Team A", "3", "3", "2021-01", "a3", "2.0", "4.0", ""],
        ["Institute", "2", "2", "", "b1", "1.0", "5.0", ""],
    ]
    assert drawn(out, "submissions-1")[1:] == [["Team A", "3"], ["Institute", "2"]]
    assert drawn(out, "submissions-2")[1:] == [
        ["Team A", "2", "4", "group over the limit"],
        ["Institute", "1", "5", "group"],
    ]
    groups = ("Team A", "Team A", "Team A", "Institute", "Institute")
    public, private = (".30", ".32", ".33", ".40", ".20"), (".310", ".300", ".290", ".200", ".400")
    every = [
        [f"{run}", f"0{a}", f"0{b}", group]
        for run, a, b, group in zip(
            ("a1", "a2", "a3", "b1", "c1"), public, private, groups, strict=True
        )
    ]
    assert drawn(out, "every-submission")[1:] == every
    over_time = [
        [group, f"2021-01-0{k}", f"0{a}0", f"0{b}"]
        for k, (group, a, b) in enumerate(zip(groups, public, private, strict=True), 1)
    ]
    assert drawn(out, "groups-over-time")[1:] == over_time
    svg = (out / "figures" / "groups-over-time.svg").read_text(encoding="utf-8")
    for words in ("(a) Team A", "(b) Institute", "public", "private"):
        assert f">{words}<" in svg


def test_figure_4_shows_the_ranks_that_tests_leave_not_percentiles_of_samples(out: Path) -> None:
    values = about(out)["parts"]["certainty"]["values"]
    assert all(
        low <= one["expected_rank"][tag] <= high
        for one in values.values()
        for tag, (low, high) in one["rank_interval"].items()
    )
    assert "the ranks that they may have" in (out / "report.md").read_text(encoding="utf-8")


def test_halves_agree_as_often_as_the_hypergeometric_distribution_says(tmp_path: Path) -> None:
    """Of 20 topics `half` answers 10; k of them fall into one half of the topics, 10 - k into the
    other.

    best against worst differs on every topic: always agree, always significant. best against half,
    and half against worst, differ on 10 - k and k topics of a half, always in one direction: by the
    sign test that is significant from 6 on (2 / 2^6), so that both halves say the same only for k =
    5, by t from 4 on (t = 2.45, p = .037), for k = 4, 5, 6. The median of `half` is 0 on a half of
    the topics where it answers fewer than 5, 1 where it answers more, and 1/2 at 5: only then is no
    median of the two halves tied with another run's."""
    splits = 400
    answered = stats.hypergeom(20, 10, 10)
    even, near = answered.pmf(5), answered.pmf([4, 5, 6]).sum()
    out = study_of(
        tmp_path,
        "leaderboard",
        TOML.replace("splits = 5", f"splits = {splits}"),
        qrels=QRELS,
        submitted=SUBMITTED,
        board=BOARD,
        **LISTS,
        **RUNS,
    )
    rows = {
        (row["compared by"], row["test"]): row for row in table(out, "halves-sparse-agreement-1")
    }
    found = {
        key: [float(row[name]) for name in ("agree", "partial", "disagree", "significant")]
        for key, row in rows.items()
    }
    by_sign = [(1 + 2 * even) / 3, 2 * (1 - even) / 3, 0, (3 - 2 * even) / 3]
    error = 3 * 2 / 3 * (0.25 / splits) ** 0.5
    for test in ("sign", "rank-sum", "signed-rank"):
        assert found["mean", test] == pytest.approx(by_sign, abs=error)
        assert found["median", test] == pytest.approx(
            [by_sign[0], 0, by_sign[1], by_sign[3]], abs=error
        )
    assert found["mean", "t"] == pytest.approx(
        [(1 + 2 * near) / 3, 2 * (1 - near) / 3, 0, 1], abs=error
    )
    assert ("median", "t") not in found
    shown = {row[0]: list(map(float, row[1:4])) for row in drawn(out, "table-4-sparse")[1:]}
    words = {"sign": "sign", "rank-sum": "wrs", "signed-rank": "wsr", "t": "t"}
    assert shown == {
        f"{kind}, {words[test]}": pytest.approx([100 * x for x in rates[:3]], abs=1e-3)
        for (kind, test), rates in found.items()
    }
    tied = (
        100 * (1 - found["mean", "sign"][0]) / 2
    )  # of the six halves of three pairs two are tied, unless k = 5
    assert (
        f"halves with equal medians: {tied:.1f}%"
        in json_table(out, "halves-sparse-agreement-1")["note"]
    )


@pytest.mark.data
def test_submissions_of_the_public_leaderboard_up_to_a_day(
    data_folder: Path, tmp_path: Path
) -> None:
    path = data_folder / "msmarco" / "doc_leaderboard.csv"
    with path.open(encoding="utf-8", newline="") as file:
        expected = Counter(
            row["team"].strip()
            for row in csv.DictReader(file)
            if row["date"].strip() <= "2021/02/01"
        )
    text = f'submissions = "{path}"\nscore_column = "MRR@100 (Eval)"\nuntil = "2021-02-01"\n'
    out = study_of(tmp_path, "leaderboard", text)
    assert {
        name: found["submissions"]
        for name, found in about(out)["parts"]["submissions"]["values"].items()
    } == expected
    assert expected.total() > 50


@pytest.mark.data
def test_institutions_of_the_public_leaderboard(data_folder: Path, tmp_path: Path) -> None:
    """Of the three with the most submissions the paper counts 12, 11 and 7: the last two follow
    from the file."""
    path = data_folder / "msmarco" / "doc_leaderboard.csv"
    with path.open(encoding="utf-8", newline="") as file:
        teams = {row["team"].strip() for row in csv.DictReader(file)}
    words = {"THU-MSR": "THU-MSR", "University of Waterloo": "Waterloo", "Bosch": "Bosch"}
    lines = "".join(
        f'"{team}" = "{name}"\n'
        for word, name in words.items()
        for team in sorted(teams)
        if word in team
    )
    text = f'submissions = "{path}"\nscore_column = "MRR@100 (Eval)"\nuntil = "2021-02-01"\n[institutions]\n{lines}'
    groups = about(study_of(tmp_path, "leaderboard", text))["parts"]["submissions"]["values"]
    assert {name: groups[name]["submissions"] for name in words.values()} == {
        "THU-MSR": 16,
        "Waterloo": 11,
        "Bosch": 7,
    }

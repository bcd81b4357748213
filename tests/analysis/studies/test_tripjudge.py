"""The study of judgements, against the hand, scikit-learn, scipy, pytrec_eval and what is published."""

from __future__ import annotations

import csv
import json
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kendalltau
from sklearn.metrics import cohen_kappa_score

from analysis.core.rankings import tau_of_sorted_names
from analysis.studies import published
from tests.analysis.studies.made import about, study_of, table

GIVEN = {
    ("t1", "d1"): [2, 2, 2], ("t1", "d2"): [1, 2, 2], ("t1", "d3"): [0, 2, 3],
    ("t2", "d1"): [1, 2], ("t2", "d2"): [0, 1], ("t2", "d3"): [1, 1, 3, 3, 0],
}  # fmt: skip
"""The examples of METHODS 4. Graded: 2 unanimous, 2 majority, 0 lowest, 1 lowest, 0 lowest, 1 lowest; binary: 1 u, 1 m, 1 m, 0 l, 0 u, 0 m."""
GRADED = {("t1", "d1"): 2, ("t1", "d2"): 2, ("t1", "d3"): 0, ("t2", "d1"): 1, ("t2", "d2"): 0, ("t2", "d3"): 1}
RAW = "topic,document,annotator,grade,seconds,judged_at\n" + "".join(
    f"{topic},{document},{'abcde'[k]},{grade},{10 * (grade + 1)},2022-03-0{1 + k}T0{k}:00:00Z\n"
    for (topic, document), grades in GIVEN.items()
    for k, grade in enumerate(grades)
)
CLICKS = "t1 0 d1 1\nt1 0 d2 0\nt2 0 d1 3\nt2 0 d2 0\n"
POOL = "topic\tdocument\tbest_rank\tpriority\truns\n" + "".join(f"{t}\t{d}\t{d[1]}\t0\tA:{d[1]}\n" for t, d in GIVEN)
ORDERS = {"one": "123", "two": "321", "three": "231", "four": "213"}
RUNS = {
    tag: "".join(f"{t} Q0 d{d} {rank} {9 - rank} {tag}\n" for t in ("t1", "t2") for rank, d in enumerate(order, 1))
    for tag, order in ORDERS.items()
}
TOML = """
judgements = "raw.txt"
name = "Judged"
documents = 3
pool = "pool.txt"
top = 2
texts = "texts.txt"
topic_groups = "groups.txt"
runs = ["one.txt", "two.txt", "three.txt", "four.txt"]
survey = "survey.txt"
[clicks]
DCTR = "clicks.txt"
[grades]
0 = "Wrong"
1 = "Topic"
2 = "Partial"
3 = "Perfect"
"""
FILES = {
    "raw": RAW, "pool": POOL, "clicks": CLICKS, "texts": "t1\twhat is love\nt2\tbaby don't\n", "groups": "t1\tHead\nt2\tTail\n",
    "survey": "question,answer\nHow?,Good\nHow?,Good\nHow?,Very good\nHow?,\n", **RUNS,
}  # fmt: skip


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return study_of(tmp_path_factory.mktemp("study"), "tripjudge", TOML, **FILES)


def test_every_part_is_there(out: Path) -> None:
    found = about(out)
    assert found["left_out"] == {}
    assert list(found["parts"]) == ["campaign", "labels", "agreement", "times", "systems", "rankings", "published", "clicks", "groups", "survey"]
    for part in found["parts"].values():
        assert part["files"]
        assert all((out / name).stat().st_size for name in part["files"])


def test_table_1_counts_what_was_given(out: Path) -> None:
    rows = {row[""]: row for row in table(out, "table-1")}
    grades = [grade for given in GIVEN.values() for grade in given]
    assert [rows[name]["here"] for name in ("queries", "documents in the collection", "judged pairs", "judgements", "annotators")] == ["2", "3", "6", "18", "5"]
    assert float(rows["judgements per judged pair"]["here"]) == 3
    for grade, name in enumerate(("Wrong", "Topic", "Partial", "Perfect")):
        assert rows[f"{name}: judgements"]["here"] == str(Counter(grades)[grade])
        assert float(rows[f"{name}: share"]["here"]) == Counter(grades)[grade] / 18
        assert float(rows[f"{name}: mean seconds"]["here"]) == 10 * (grade + 1)
    assert (rows["judgements"]["TripJudge"], rows["Topic: mean seconds"]["TripJudge"]) == ("38810", "47")


def test_figure_1_has_labels_and_decisions_of_the_examples(out: Path) -> None:
    rows = {(row["scale"], row["label"]): row for row in table(out, "figure-1")}
    assert [rows["all grades", name]["pairs"] for name in ("Wrong", "Topic", "Partial", "Perfect", "all")] == ["2", "2", "2", "0", "6"]
    ways = ("full agreement", "majority", "lowest grade")
    assert [float(rows["all grades", "all"][way]) for way in ways] == [1 / 6, 1 / 6, 4 / 6]
    assert [float(rows["2 grades", "all"][way]) for way in ways] == [2 / 6, 3 / 6, 1 / 6]
    assert [float(rows["2 grades", "relevant"][way]) for way in ways] == [1 / 3, 2 / 3, 0]
    assert [rows["2 grades", "all, TripJudge"][way] for way in ways] == ["0.48", "", "0.02"]


def test_figure_2_is_scikit_learns_kappa_over_annotators(out: Path) -> None:
    kappas = []
    for k in range(5):
        own = [(given[k], GRADED[pair]) for pair, given in GIVEN.items() if len(given) > k]
        if len({grade for pair in own for grade in pair}) > 1:
            kappas.append(cohen_kappa_score(*zip(*own, strict=True), labels=[0, 1, 2, 3], weights="linear"))
    rows = {row[""]: row for row in table(out, "figure-2")}
    assert float(rows["mean kappa against the label"]["here: all grades"]) == pytest.approx(np.mean(kappas))
    assert float(rows["kappa, median"]["here: all grades"]) == pytest.approx(np.median(kappas))
    data = json.loads((out / "tables" / "figure-2.json").read_text(encoding="utf-8"))
    assert data["heads"] == [["", 1], ["here", 2], ["TripJudge", 2]]
    assert data["rows"][0][3:] == [0.60, 0.63]


def test_time_is_told_by_half_day_grade_and_topic(out: Path) -> None:
    assert [row["judgements"] for row in table(out, "per-12h") if row["judgements"] != "0"] == ["6", "6", "4", "1", "1"]
    first = table(out, "daily-seconds")[0]
    assert (float(first["Wrong"]), float(first["Topic"]), float(first["Partial"]), first["Perfect"]) == (10, 20, 30, "")
    topics = {row["topic"]: float(row["mean seconds"]) for row in table(out, "topic-seconds")}
    assert topics["t1"] == pytest.approx(np.mean([10 * (g + 1) for (t, _), given in GIVEN.items() if t == "t1" for g in given]))


def test_table_2_is_pytrec_evals(out: Path) -> None:
    import pytrec_eval

    binary = {"t1": {"d1": 1, "d2": 1, "d3": 1}, "t2": {"d1": 0, "d2": 0, "d3": 0}}
    clicks = {"t1": {"d1": 1, "d2": 0}, "t2": {"d1": 3, "d2": 0}}
    values = about(out)["parts"]["systems"]["values"]
    for name, qrels in (("Judged", binary), ("DCTR", clicks)):
        reference = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.5", "recall.100"})
        for tag, order in ORDERS.items():
            run = {t: {f"d{d}": 9.0 - rank for rank, d in enumerate(order)} for t in qrels}
            found = reference.evaluate(run)
            assert values[name][tag]["nDCG@5"] == pytest.approx(np.mean([row["ndcg_cut_5"] for row in found.values()]))
            assert values[name][tag]["R@100"] == pytest.approx(np.mean([row["recall_100"] for row in found.values()]))
        assert values[name]["one"]["Judged@5"] == pytest.approx(1.0 if name == "Judged" else 2 / 3)
    latex = (out / "tables" / "table-2.tex").read_text(encoding="utf-8")
    assert r"\multicolumn{6}{c}{Judged} & \multicolumn{6}{c}{DCTR}" in latex
    assert "J@5 & J@10 & n@5-j & n@5 & n@10 & R@100 &" in latex


def test_table_3_is_scipys_tau_and_their_scripts(out: Path) -> None:
    values = about(out)["parts"]["systems"]["values"]
    for row in table(out, "table-3"):
        if row["measure"] != "nDCG@5":
            continue
        means = [[values[name][tag]["nDCG@5"] for tag in ORDERS] for name in ("Judged", "DCTR")]
        expected = kendalltau(*means).statistic  # every order of three relevant documents is as good: all tied, undefined
        assert row["tau of the means"] == "" if np.isnan(expected) else float(row["tau of the means"]) == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(5))
def test_their_script_compares_names_in_two_orders(seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = [f"run {letter}" for letter in "hbdacgef"]
    x, y = rng.random(8), rng.random(8)
    first, second = ([names[i] for i in np.argsort(-values)] for values in (x, y))
    agree = [(first[i] < first[j]) == (second[i] < second[j]) for i in range(8) for j in range(i)]
    assert tau_of_sorted_names(x, y, names) == pytest.approx(float(Fraction(2 * sum(agree) - len(agree), len(agree))))


def test_figure_3_counts_agreement_by_hand(out: Path) -> None:
    """Down to rank 2: t1 d1 relevant, label 1; t1 d2 relevant, label 0; t2 d1 irrelevant, label 3; t2 d2 irrelevant, label 0."""
    relevant, irrelevant = table(out, "figure-3")
    assert [float(relevant[name]) for name in ("no label", "label 0", "label 1", "label 3", "agree", "disagree")] == [0, 0.25, 0.25, 0, 0.5, 0.5]
    assert [float(irrelevant[name]) for name in ("no label", "label 0", "label 1", "label 3")] == [0, 0.25, 0, 0.25]
    listed = {(row["topic"], row["document"], row["judged"], row["click label"]): row["query"] for row in table(out, "contradicting")}
    assert listed == {("t1", "d2", "1", "0"): "what is love", ("t2", "d1", "0", "3"): "baby don't"}
    svg = (out / "figures" / "figure-3.svg").read_text(encoding="utf-8")
    assert "agree, label 1" in svg
    assert "disagree, label 3" in svg


def test_groups_have_their_own_numbers(out: Path) -> None:
    rows = {row[""]: row for row in table(out, "table-1-groups")}
    assert (rows["judgements"]["Head"], rows["judgements"]["Tail"]) == ("9", "9")
    decisions = {(row["group"], row["scale"]): row for row in table(out, "figure-1-groups")}
    assert float(decisions["Head", "all grades"]["lowest grade"]) == pytest.approx(1 / 3)
    assert float(decisions["Tail", "all grades"]["lowest grade"]) == 1
    assert {(row["group"], row["qrels"]) for row in table(out, "table-2-groups")} == {(g, q) for g in ("Head", "Tail") for q in ("Judged", "DCTR")}


def test_answers_of_the_survey_are_counted(out: Path) -> None:
    assert [(row["answer"], row["n"], float(row["share"])) for row in table(out, "survey")] == [("Good", "2", 2 / 3), ("Very good", "1", 1 / 3)]


def test_click_qrels_may_come_from_a_log(tmp_path: Path) -> None:
    log = "session,topic,document,rank,clicked\n1,t1,d1,1,1\n1,t1,d2,2,0\n2,t1,d1,1,0\n2,t1,d2,2,1\n3,t1,d1,1,1\n3,t1,d2,2,0\n"
    text = 'judgements = "raw.txt"\nruns = ["one.txt", "two.txt"]\nclick_log = "log.txt"\n'
    out = study_of(tmp_path, "tripjudge", text, log=log, **FILES)
    shares = {(row["click qrels"], row["judged"]): row for row in table(out, "figure-3")}
    assert {name for name, _ in shares} == {"DCTR", "Raw"}
    assert float(shares["DCTR", "relevant"]["label 3"]) == pytest.approx(2 / 6)  # d1 in 2 of 3, d2 in 1 of 3 showings: above .30


def test_labels_alone_give_their_shares_and_say_what_they_lack(tmp_path: Path) -> None:
    out = study_of(tmp_path, "tripjudge", 'labels = "labels.txt"\n', labels="t 0 a 0\nt 0 b 2\nt 0 c 2\nt 0 d -1\n")
    assert [(row["label"], row["pairs"]) for row in table(out, "figure-1")] == [("grade 0", "1"), ("grade 2", "2")]
    left = about(out)["left_out"]
    assert "needs `judgements`" in left["agreement"]
    assert "needs `runs`" in left["systems"]


def test_a_file_of_the_size_of_tripjudges_in_firas_form(tmp_path: Path) -> None:
    """38,810 simulated judgements by 135 people of 13,291 pairs, as FiRA exports them (the published file has this form)."""
    rng = np.random.default_rng(0)
    levels = ["0_NOT_RELEVANT", "1_TOPIC_RELEVANT_DOES_NOT_ANSWER", "2_GOOD_ANSWER", "3_PERFECT_ANSWER"]
    pair = np.sort(np.arange(38_810) % 13_291)
    grade = rng.integers(0, 4, 38_810)
    users = [(int(p) + 7 * k) % 135 for k, p in enumerate(pair)]
    header = "id\trelevanceLevel\trelevanceCharacterRanges\trotate\tmode\tdurationUsedToJudgeMs\tjudgedAtUnixTS\tdocumentId\tqueryId\tuserId\n"
    lines = [
        f"{k}\t{levels[g]}\t<no ranges selected>\tfalse\tPLAIN\t{20_000 + k}\t{1646000000 + 10 * k}\tD{p}\t{p % 1175}\tuser{u}\n"
        for k, (p, g, u) in enumerate(zip(pair.tolist(), grade.tolist(), users, strict=True))
    ]
    out = study_of(tmp_path, "tripjudge", 'judgements = "raw.txt"\n', raw=header + "".join(lines))
    rows = {row[""]: row["here"] for row in table(out, "table-1")}
    assert (rows["judgements"], rows["judged pairs"], rows["queries"], rows["annotators"]) == ("38810", "13291", "1175", "135")
    assert [rows[f"grade {g}: judgements"] for g in range(4)] == [str(n) for n in np.bincount(grade).tolist()]


@pytest.mark.data
def test_published_values_are_those_of_the_paper(data_folder: Path, tmp_path: Path) -> None:
    with open(data_folder / "tripjudge" / "published_table2.csv", encoding="utf-8") as lines:
        means: dict[tuple[str, str], list[float]] = {}
        for row in csv.DictReader(lines):
            for measure in ("nDCG@5", "nDCG@10", "Recall@100"):
                means.setdefault((row["test_collection"].rpartition("-")[2], measure), []).append(float(row[measure]))
    short = {"Recall@100": "R@100"}
    assert {(name, short.get(measure, measure)): tuple(values) for (name, measure), values in means.items()} == {
        (name, measure): values for name, by in published.TRIPJUDGE_MEANS.items() for measure, values in by.items()
    }
    with open(data_folder / "tripjudge" / "published_table3_kendall_tau.csv", encoding="utf-8") as lines:
        table_3 = {row.pop("measure"): {pair: float(value) for pair, value in row.items()} for row in csv.DictReader(lines)}
    assert {name: table_3[{"RR@10": "MRR@10", "R@100": "Recall@100"}.get(name, name)] for name in published.TRIPJUDGE_TAU} == published.TRIPJUDGE_TAU


@pytest.mark.data
def test_the_public_labels_of_fira(data_folder: Path, tmp_path: Path) -> None:
    """Counts of data/README, counted with other tools."""
    path = data_folder / "fira-trec19" / "fira-trec19-qrels-snippets.txt.gz"
    out = study_of(tmp_path, "tripjudge", f'labels = "{path}"\n')
    assert [row["pairs"] for row in table(out, "figure-1")] == ["13566", "6201", "3145", "1286"]

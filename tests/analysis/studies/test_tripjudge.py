"""The study of judgements, against the hand, scikit-learn, scipy, pytrec_eval and what is
published."""

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

from analysis.studies import published
from assay.comparison.rankings import correlate_sorted_names
from tests.analysis.studies.made import about, drawn, refusal, study_of, table
from tests.pictures import real_pictures

pytestmark = pytest.mark.xdist_group("study of judgements")
GIVEN = {
    ("t1", "d1"): [2, 2, 2],
    ("t1", "d2"): [1, 2, 2],
    ("t1", "d3"): [0, 2, 3],
    ("t2", "d1"): [1, 2],
    ("t2", "d2"): [0, 1],
    ("t2", "d3"): [1, 1, 3, 3, 0],
}
"""The examples of methods/aggregation.md. Graded: 2 unanimous, 2 majority, 0 lowest, 1 lowest, 0 lowest, 1
lowest; binary: 1 u, 1 m, 1 m, 0 l, 0 u, 0 m."""
GRADED = {
    ("t1", "d1"): 2,
    ("t1", "d2"): 2,
    ("t1", "d3"): 0,
    ("t2", "d1"): 1,
    ("t2", "d2"): 0,
    ("t2", "d3"): 1,
}
RAW = "topic,document,annotator,grade,seconds,judged_at\n" + "".join(
    f"{topic},{document},{'abcde'[k]},{grade},{10 * (grade + 1)},2022-03-0{1 + k}T0{k}:00:00Z\n"
    for (topic, document), grades in GIVEN.items()
    for k, grade in enumerate(grades)
)
CLICKS = "t1 0 d1 1\nt1 0 d2 0\nt2 0 d1 3\nt2 0 d2 0\n"
POOL = "topic\tdocument\tbest_rank\tpriority\truns\n" + "".join(
    f"{t}\t{d}\t{d[1]}\t0\tA:{d[1]}\n" for t, d in GIVEN
)
ORDERS = {"one": "123", "two": "321", "three": "231", "four": "213"}
RUNS = {
    tag: "".join(
        f"{t} Q0 d{d} {rank} {9 - rank} {tag}\n"
        for t in ("t1", "t2")
        for rank, d in enumerate(order, 1)
    )
    for tag, order in ORDERS.items()
}
TOML = """
judgements = "raw.txt"
name = "Judged"
documents = 3
pool = "pool.txt"
top = 2
texts = "texts.txt"
document_texts = ["documents.jsonl.txt"]
topic_groups = "groups.txt"
runs = ["one.txt", "two.txt", "three.txt", "four.txt"]
survey = "survey.txt"
compare_with = "tripjudge"
[clicks]
DCTR = "clicks.txt"
[grades]
0 = "Wrong"
1 = "Topic"
2 = "Partial"
3 = "Perfect"
"""
FILES = {
    "raw": RAW,
    "pool": POOL,
    "clicks": CLICKS,
    "texts": "t1\twhat is love\nt2\tbaby don't\n",
    "groups": "t1\tHead\nt2\tTail\n",
    "documents.jsonl": '{"_id": "d1", "title": "One", "text": "of  many"}\n{"_id": "d2", "title": "", "text": "'
    + 50 * "word "
    + '"}\n',
    "survey": "question,answer\nHow?,Good\nHow?,Good\nHow?,Very good\nHow?,\n",
    **RUNS,
}


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with real_pictures():
        return study_of(tmp_path_factory.mktemp("study"), "tripjudge", TOML, **FILES)


NEEDS_POOLED = "needs `pooled`: the names of the runs that contributed to the pool"


def test_every_part_is_there(out: Path) -> None:
    found = about(out)
    assert found["left_out"] == {"reusability": NEEDS_POOLED}
    assert list(found["parts"]) == [
        "campaign",
        "labels",
        "agreement",
        "times",
        "systems",
        "rankings",
        "published",
        "clicks",
        "groups",
        "survey",
    ]
    for part in found["parts"].values():
        assert part["files"]
        assert all((out / name).stat().st_size for name in part["files"])


def test_table_1_counts_what_was_given(out: Path) -> None:
    rows = {row[""]: row for row in table(out, "table-1")}
    grades = [grade for given in GIVEN.values() for grade in given]
    assert [
        rows[name]["here"]
        for name in (
            "queries",
            "documents in the collection",
            "judged pairs",
            "judgements",
            "annotators",
        )
    ] == ["2", "3", "6", "18", "5"]
    assert float(rows["judgements per judged pair"]["here"]) == 3
    for grade, name in enumerate(("Wrong", "Topic", "Partial", "Perfect")):
        assert rows[f"{name}: judgements"]["here"] == str(Counter(grades)[grade])
        assert float(rows[f"{name}: share"]["here"]) == Counter(grades)[grade] / 18
        assert float(rows[f"{name}: mean seconds"]["here"]) == 10 * (grade + 1)
    mean = sum(10 * (grade + 1) for grade in grades) / 18
    assert float(rows["mean seconds per judgement"]["here"]) == pytest.approx(mean)
    assert (rows["judgements"]["TripJudge"], rows["Topic: mean seconds"]["TripJudge"]) == (
        "38810",
        "47",
    )


def test_figure_1_has_labels_and_decisions_of_the_examples(out: Path) -> None:
    rows = {(row["scale"], row["label"]): row for row in table(out, "figure-1")}
    assert [
        rows["all grades", name]["pairs"]
        for name in ("Wrong", "Topic", "Partial", "Perfect", "all")
    ] == ["2", "2", "2", "0", "6"]
    ways = ("full agreement", "majority", "lowest grade")
    assert [float(rows["all grades", "all"][way]) for way in ways] == [1 / 6, 1 / 6, 4 / 6]
    assert [float(rows["2 grades", "all"][way]) for way in ways] == [2 / 6, 3 / 6, 1 / 6]
    assert [float(rows["2 grades", "relevant"][way]) for way in ways] == [1 / 3, 2 / 3, 0]
    counts = drawn(out, "figure-1-binary-counts")
    assert counts[0][1:] == [*ways, "all"]
    irrelevant, relevant = ([float(cell) for cell in row[1:]] for row in counts[1:])
    assert relevant == [1, 2, 0, 3]
    assert irrelevant == [1, 1, 1, 3]  # of six pairs: 2, 3 and 1 by each way
    assert [rows["2 grades", "all, TripJudge"][way] for way in ways] == ["0.48", "", "0.02"]


def test_figure_2_is_scikit_learns_kappa_over_annotators(out: Path) -> None:
    kappas = []
    for k in range(5):
        own = [(given[k], GRADED[pair]) for pair, given in GIVEN.items() if len(given) > k]
        if len({grade for pair in own for grade in pair}) > 1:
            kappas.append(
                cohen_kappa_score(*zip(*own, strict=True), labels=[0, 1, 2, 3], weights="linear")
            )
    rows = {row[""]: row for row in table(out, "figure-2")}
    assert float(rows["mean kappa with the label"]["here: all grades"]) == pytest.approx(
        np.mean(kappas)
    )
    assert float(rows["kappa, median"]["here: all grades"]) == pytest.approx(np.median(kappas))
    data = json.loads((out / "tables" / "figure-2.json").read_text(encoding="utf-8"))
    assert data["heads"] == [["", 1], ["here", 2], ["TripJudge", 2]]
    assert data["rows"][0][3:] == [0.60, 0.63]


def test_time_is_told_by_half_day_grade_and_topic(out: Path) -> None:
    assert [row["judgements"] for row in table(out, "per-12h") if row["judgements"] != "0"] == [
        "6",
        "6",
        "4",
        "1",
        "1",
    ]
    first = table(out, "daily-seconds")[0]
    assert (
        float(first["Wrong"]),
        float(first["Topic"]),
        float(first["Partial"]),
        first["Perfect"],
    ) == (10, 20, 30, "")
    topics = {row["topic"]: float(row["mean seconds"]) for row in table(out, "topic-seconds")}
    assert topics["t1"] == pytest.approx(
        np.mean([10 * (g + 1) for (t, _), given in GIVEN.items() if t == "t1" for g in given])
    )


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
            assert values[name][tag]["nDCG@5"] == pytest.approx(
                np.mean([row["ndcg_cut_5"] for row in found.values()])
            )
            assert values[name][tag]["R@100"] == pytest.approx(
                np.mean([row["recall_100"] for row in found.values()])
            )
        share = 1.0 if name == "Judged" else 2 / 3  # of three documents; J@5 divides by five
        assert values[name]["one"]["Judged@5"] == pytest.approx(share)
        assert values[name]["one"]["J@5"] == pytest.approx(share * 3 / 5)
    latex = (out / "tables" / "table-2.tex").read_text(encoding="utf-8")
    for name in ("Judged", "DCTR"):
        assert rf"\multicolumn{{8}}{{c}}{{{name}}}" in latex
    assert "J@5 & Judged@5 & J@10 & Judged@10 & n@5-j & n@5 & n@10 & R@100" in latex


def test_table_3_is_scipys_tau_and_their_scripts(out: Path) -> None:
    values = about(out)["parts"]["systems"]["values"]
    for row in table(out, "table-3"):
        if row["measure"] != "nDCG@5":
            continue
        means = [[values[name][tag]["nDCG@5"] for tag in ORDERS] for name in ("Judged", "DCTR")]
        expected = kendalltau(
            *means
        ).statistic  # every order of three relevant documents is as good: all tied, undefined
        assert (
            row["tau of the means"] == ""
            if np.isnan(expected)
            else float(row["tau of the means"]) == pytest.approx(expected)
        )


@pytest.mark.parametrize("seed", range(5))
def test_their_script_compares_names_in_two_orders(seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = [f"run {letter}" for letter in "hbdacgef"]
    x, y = rng.random(8), rng.random(8)
    first, second = ([names[i] for i in np.argsort(-values)] for values in (x, y))
    agree = [(first[i] < first[j]) == (second[i] < second[j]) for i in range(8) for j in range(i)]
    assert correlate_sorted_names(x, y, names) == pytest.approx(
        float(Fraction(2 * sum(agree) - len(agree), len(agree)))
    )


def test_figure_3_counts_agreement_by_hand(out: Path) -> None:
    """Down to rank 2: t1 d1 relevant, label 1; t1 d2 relevant, label 0; t2 d1 irrelevant, label 3;
    t2 d2 irrelevant, label 0."""
    relevant, irrelevant = table(out, "figure-3")
    assert [
        float(relevant[name])
        for name in ("no label", "label 0", "label 1", "label 3", "agree", "disagree")
    ] == [0, 0.25, 0.25, 0, 0.5, 0.5]
    assert [float(irrelevant[name]) for name in ("no label", "label 0", "label 1", "label 3")] == [
        0,
        0.25,
        0,
        0.25,
    ]
    listed = [list(row.values()) for row in table(out, "contradicting")]
    assert listed == [
        ["DCTR", "Head", "t1", "what is love", "d2", 40 * "word " + "…", "1", "0"],
        ["DCTR", "Tail", "t2", "baby don't", "d1", "One: of many", "0", "3"],
    ]
    svg = (out / "figures" / "figure-3.svg").read_text(encoding="utf-8")
    assert "agree, label 1" in svg
    assert "disagree, label 3" in svg


def test_groups_have_their_own_numbers(out: Path) -> None:
    rows = {row[""]: row for row in table(out, "table-1-groups")}
    assert (rows["judgements"]["Head"], rows["judgements"]["Tail"]) == ("9", "9")
    decisions = {(row["group"], row["scale"]): row for row in table(out, "figure-1-groups")}
    assert float(decisions["Head", "all grades"]["lowest grade"]) == pytest.approx(1 / 3)
    assert float(decisions["Tail", "all grades"]["lowest grade"]) == 1
    assert {(row["group"], row["qrels"]) for row in table(out, "table-2-groups")} == {
        (g, q) for g in ("Head", "Tail") for q in ("Judged", "DCTR")
    }


def test_figures_and_times_of_a_group_are_those_of_its_topics_by_hand(out: Path) -> None:
    """Head is t1: three judgements a pair of d1, d2, d3; Tail is t2: two, two and five, the last
    two of days 4 and 5."""
    half_days = {
        row["from"][:13]: (row["Head"], row["Tail"]) for row in table(out, "per-12h-groups")
    }
    assert {day[8:10]: counts for day, counts in half_days.items() if counts != ("0", "0")} == {
        "01": ("3", "3"),
        "02": ("3", "3"),
        "03": ("3", "1"),
        "04": ("0", "1"),
        "05": ("0", "1"),
    }
    seconds = {(row["group"], row["day"]): row for row in table(out, "daily-seconds-groups")}
    assert (
        float(seconds["Tail", "2022-03-01"]["Topic"]),
        seconds["Head", "2022-03-01"]["Perfect"],
    ) == (20, "")
    labels = {
        (row["group"], row["scale"], row["label"]): row for row in table(out, "figure-1-groups")
    }
    assert [
        labels["Head", "all grades", name]["pairs"] for name in ("Wrong", "Topic", "Partial", "all")
    ] == ["1", "0", "2", "3"]
    assert float(labels["Tail", "2 grades", "irrelevant"]["majority"]) == pytest.approx(1 / 3)
    shares = {(row["group"], row["judged"]): row for row in table(out, "figure-3-groups")}
    assert [
        float(shares["Head", "relevant"][name]) for name in ("label 0", "label 1", "agree")
    ] == [0.5, 0.5, 0.5]
    assert [float(shares["Tail", "irrelevant"][name]) for name in ("label 0", "label 3")] == [
        0.5,
        0.5,
    ]
    agreement = {(row["group"], row["scale"]): row for row in table(out, "figure-2-groups")}
    head = [
        (given[k], GRADED[pair])
        for pair, given in GIVEN.items()
        for k in range(3)
        if pair[0] == "t1"
    ]
    kappas = [
        cohen_kappa_score(*zip(*head[k::3], strict=True), labels=[0, 1, 2, 3], weights="linear")
        for k in range(3)
    ]
    assert float(agreement["Head", "all grades"]["mean"]) == pytest.approx(np.mean(kappas))
    assert float(agreement["Head", "all grades"]["median"]) == pytest.approx(np.median(kappas))
    for key in (
        "figure-1-graded-Head",
        "figure-1-binary-Tail",
        "figure-2-graded-Head",
        "figure-3-Tail",
    ):
        assert (out / "figures" / f"{key}.pdf").exists()


def test_labels_alone_are_compared_within_any_column_by_trec_evals_means_and_scipys_tau(
    tmp_path: Path,
) -> None:
    import pytrec_eval

    rng = np.random.default_rng(3)
    topics, documents = [f"q{n}" for n in range(12)], [f"d{n}" for n in range(30)]
    judged = {t: {d: int(rng.integers(0, 4)) for d in documents} for t in topics}
    clicked = {t: {d: int(rng.integers(0, 4)) for d in documents[:20]} for t in topics}
    runs = {
        f"run{n}": {
            t: dict(zip(rng.permutation(documents).tolist(), range(30, 0, -1), strict=True))
            for t in topics
        }
        for n in range(6)
    }
    groups = {t: ("old", "new", "newest")[n % 3] for n, t in enumerate(topics)}
    files = {
        "labels": "".join(f"{t} 0 {d} {g}\n" for t in topics for d, g in judged[t].items()),
        "clicks": "".join(f"{t} 0 {d} {g}\n" for t in topics for d, g in clicked[t].items()),
        "topics": "qid,text,year of birth\n" + "".join(f"{t},words,{groups[t]}\n" for t in topics),
        **{
            tag: "".join(
                f"{t} Q0 {d} {31 - s} {s} {tag}\n" for t in topics for d, s in run[t].items()
            )
            for tag, run in runs.items()
        },
    }
    text = (
        'labels = "labels.txt"\nruns = ["run*.txt"]\nsystem_labels = "graded"\ntopic_groups = '
        '"topics.txt"\ngroup_column = "Year of birth"\n'
        'ranking_measures = "nDCG@10"\nmeasures = "nDCG@10"\n[clicks]\nDCTR = "clicks.txt"\n'
    )
    out = study_of(tmp_path, "tripjudge", text, **files)
    taus = {row["group"]: row for row in table(out, "table-3-groups")}
    shares = {(row["group"], row["judged"]): row for row in table(out, "figure-3-groups")}
    labels = {(row["group"], row["label"]): row for row in table(out, "figure-1-groups")}
    assert list(taus) == ["old", "new", "newest"]
    for name in taus:
        members = [t for t in topics if groups[t] == name]
        means = []
        for qrels in (judged, clicked):
            reference = pytrec_eval.RelevanceEvaluator(
                {t: qrels[t] for t in members}, {"ndcg_cut.10"}
            )
            means.append(
                [
                    np.mean([row["ndcg_cut_10"] for row in reference.evaluate(run).values()])
                    for run in runs.values()
                ]
            )
        assert float(taus[name]["tau of the means"]) == pytest.approx(kendalltau(*means).statistic)
        pairs = [(judged[t][d] >= 2, clicked[t].get(d)) for t in members for d in documents]
        agree = np.mean([(grade or 0) >= 1 if relevant else not grade for relevant, grade in pairs])
        assert float(shares[name, "relevant"]["agree"]) == pytest.approx(agree)
        assert float(shares[name, "irrelevant"]["label 2"]) == pytest.approx(
            np.mean([pair == (False, 2) for pair in pairs])
        )
        assert int(labels[name, "grade 3"]["pairs"]) == sum(
            judged[t][d] == 3 for t in members for d in documents
        )
    assert "needs `judgements`" in about(out)["left_out"]["campaign"]


def test_a_column_of_groups_that_is_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "labels.txt").write_text("t1 0 a 1\n", encoding="utf-8")
    (tmp_path / "topics.txt").write_text("topic\tband\nt1\tHead\n", encoding="utf-8")
    err = refusal(
        tmp_path,
        "tripjudge",
        'labels = "labels.txt"\ntopic_groups = "topics.txt"\ngroup_column = "bands"\n',
    )
    assert "topics.txt:1: no column bands, expected a header with topic and bands" in err


def test_answers_of_the_survey_are_counted(out: Path) -> None:
    assert [(row["answer"], row["n"], float(row["share"])) for row in table(out, "survey")] == [
        ("Good", "2", 2 / 3),
        ("Very good", "1", 1 / 3),
    ]


def test_without_a_paper_to_compare_with_tables_have_no_published_values(tmp_path: Path) -> None:
    out = study_of(tmp_path, "tripjudge", TOML.replace('compare_with = "tripjudge"\n', ""), **FILES)
    assert about(out)["left_out"] == {
        "published": 'needs `compare_with = "tripjudge"`',
        "reusability": NEEDS_POOLED,
    }
    report = (out / "report.html").read_text(encoding="utf-8")
    assert report.count("TripJudge") == 1  # the study's source
    columns = {
        name: list(table(out, name)[0])
        for name in ("table-1", "figure-2", "table-3", "table-3-groups", "survey")
    }
    taus = ["measure", "qrels", "tau of the means", "2.5%", "97.5%", "tau-ap"]
    assert columns == {
        "table-1": ["", "value"],
        "figure-2": ["", "all grades", "2 grades"],
        "table-3": taus,
        "table-3-groups": ["group", *taus],
        "survey": ["question", "answer", "n", "share"],
    }
    assert {row["label"] for row in table(out, "figure-1") if row["scale"] == "2 grades"} == {
        "irrelevant",
        "relevant",
        "all",
    }


def test_two_grades_are_reported_once(tmp_path: Path) -> None:
    raw = "topic,document,annotator,grade\n" + "".join(
        f"{topic},{document},{'abcde'[k]},{min(grade, 1)}\n"
        for (topic, document), grades in GIVEN.items()
        for k, grade in enumerate(grades)
    )
    out = study_of(tmp_path, "tripjudge", 'judgements = "raw.txt"\nscale = 2\n', raw=raw)
    rows = table(out, "figure-1")
    assert [row["scale"] for row in rows] == ["2 grades"] * 3
    # only t2 d2 has a tie, which the lowest grade decides
    counts = {"grade 0": "1", "grade 1": "5", "all": "6"}
    assert {row["label"]: row["pairs"] for row in rows} == counts
    assert list(table(out, "figure-2")[0]) == ["", "2 grades"]
    assert {path.stem for path in (out / "figures").glob("figure-2*.svg")} == {"figure-2-graded"}


def test_click_qrels_may_come_from_a_log(tmp_path: Path) -> None:
    log = "session,topic,document,rank,clicked\n1,t1,d1,1,1\n1,t1,d2,2,0\n2,t1,d1,1,0\n2,t1,d2,2,1\n3,t1,d1,1,1\n3,t1,d2,2,0\n"
    text = 'judgements = "raw.txt"\nruns = ["one.txt", "two.txt"]\nclick_log = "log.txt"\n'
    out = study_of(tmp_path, "tripjudge", text, log=log, **FILES)
    shares = {(row["click qrels"], row["judged"]): row for row in table(out, "figure-3")}
    assert {name for name, _ in shares} == {"DCTR", "Raw"}
    assert float(shares["DCTR", "relevant"]["label 3"]) == pytest.approx(
        2 / 6
    )  # d1 in 2 of 3, d2 in 1 of 3 showings: above .30


def test_tripclicks_own_log_meets_the_topics_by_their_texts(tmp_path: Path) -> None:
    """By hand: d1 is clicked in 1 of 2 lists of results, d2 in 1 of 2, d3 in none of 1."""
    records = [
        ("s1", "what  is LOVE", ["d1", "d2", "d3"], "d1"),
        ("s2", "what is love", ["d1", "d2"], "d2"),
        ("s3", "something else", ["d1"], "d1"),
    ]
    names = ("SessionId", "Keywords", "Documents", "DocumentId")
    log = "".join(json.dumps(dict(zip(names, record, strict=True))) + "\n" for record in records)
    text = 'judgements = "raw.txt"\nclick_log = "log.txt"\n'
    alone = study_of(tmp_path, "tripjudge", text, log=log, **FILES)
    assert (
        about(alone)["left_out"]["clicks"]
        == "needs `texts` or `click_queries`: the click log is TripClick's, which has queries instead of topics"
    )
    for key in ("texts", "click_queries"):
        out = study_of(tmp_path, "tripjudge", f'{text}{key} = "texts.txt"\n', log=log, **FILES)
        shares = {(row["click qrels"], row["judged"]): row for row in table(out, "figure-3")}
        assert [
            float(shares["DCTR", "relevant"][name]) for name in ("label 0", "label 3")
        ] == pytest.approx([1 / 6, 2 / 6])
        assert float(shares["Raw", "relevant"]["label 1"]) == pytest.approx(2 / 6)


def test_labels_alone_give_their_shares_and_say_what_they_lack(tmp_path: Path) -> None:
    out = study_of(
        tmp_path,
        "tripjudge",
        'labels = "labels.txt"\n',
        labels="t 0 a 0\nt 0 b 2\nt 0 c 2\nt 0 d -1\n",
    )
    assert [(row["label"], row["pairs"]) for row in table(out, "figure-1")] == [
        ("grade 0", "1"),
        ("grade 2", "2"),
    ]
    left = about(out)["left_out"]
    assert "needs `judgements`" in left["agreement"]
    needs_labels = (
        'needs `judgements` or `binary_labels`, or `system_labels = "graded"` to use the '
        "given `labels`"
    )
    clicks = "needs `clicks` (click qrels) or `click_log` (to derive them from)"
    assert (
        left["systems"] == f"needs `runs`; {needs_labels}"
    )  # all at once, not one after the other
    assert left["rankings"] == f"needs `runs`; {needs_labels}; {clicks}"
    assert left["clicks"] == f"{needs_labels}; {clicks}"


def test_reusability_is_that_of_the_runs_of_the_pool(tmp_path: Path) -> None:
    """Relevant: a, b, d. one retrieves a c d, two b a, three c x. Only one has d, and only two b,
    although a run outside the pool has b as well. AP: one 5/9, two 2/3, three 0.

    Without d: one 1/2, two 1. Without b: one 5/6, two 1/4, so they swap."""
    orders = {"one": "acd", "two": "ba", "three": "cx", "late": "b"}
    runs = {
        tag: "".join(f"t Q0 {d} {rank} {9 - rank} {tag}\n" for rank, d in enumerate(order, 1))
        for tag, order in orders.items()
    }
    text = (
        'labels = "labels.txt"\nsystem_labels = "graded"\nranking_measures = "AP"\n'
        'runs = ["one.txt", "two.txt", "three.txt", "late.txt"]\n'
        'pooled = ["one", "two", "three"]\n'
    )
    labels = "t 0 a 1\nt 0 b 1\nt 0 c 0\nt 0 d 1\n"
    out = study_of(tmp_path, "tripjudge", text, labels=labels, **runs)
    found = {
        row["left out"].rstrip("*"): [float(cell) for cell in list(row.values())[1:]]
        for row in table(out, "reusability-left-out")
    }
    # pairs, tau, largest change of a score, and of a rank
    assert found == {
        "one": pytest.approx([1, 1, 1 / 3, 0]),
        "two": pytest.approx([1, 1 / 3, -5 / 12, 1]),
        "three": pytest.approx([0, 1, 0, 0]),
    }


def test_a_file_of_the_size_of_tripjudges_in_firas_form(tmp_path: Path) -> None:
    """38,810 simulated judgements by 135 people of 13,291 pairs, as FiRA exports them (the
    published file has this form)."""
    rng = np.random.default_rng(0)
    levels = [
        "0_NOT_RELEVANT",
        "1_TOPIC_RELEVANT_DOES_NOT_ANSWER",
        "2_GOOD_ANSWER",
        "3_PERFECT_ANSWER",
    ]
    pair = np.sort(np.arange(38_810) % 13_291)
    grade = rng.integers(0, 4, 38_810)
    users = [(int(p) + 7 * k) % 135 for k, p in enumerate(pair)]
    header = "id\trelevanceLevel\trelevanceCharacterRanges\trotate\tmode\tdurationUsedToJudgeMs\tjudgedAtUnixTS\tdocumentId\tqueryId\tuserId\n"
    lines = [
        (
            f"{k}\t{levels[g]}\t<no ranges "
            f"selected>\tfalse\tPLAIN\t{20_000 + k}\t{1646000000 + 10 * k}\tD{p}\t{p % 1175}\tuser{u}\n"
        )
        for k, (p, g, u) in enumerate(zip(pair.tolist(), grade.tolist(), users, strict=True))
    ]
    out = study_of(tmp_path, "tripjudge", 'judgements = "raw.txt"\n', raw=header + "".join(lines))
    rows = {row[""]: row["value"] for row in table(out, "table-1")}
    assert (rows["judgements"], rows["judged pairs"], rows["queries"], rows["annotators"]) == (
        "38810",
        "13291",
        "1175",
        "135",
    )
    assert [rows[f"grade {g}: judgements"] for g in range(4)] == [
        str(n) for n in np.bincount(grade).tolist()
    ]


@pytest.mark.data
def test_published_values_are_those_of_the_paper(data_folder: Path, tmp_path: Path) -> None:
    with open(data_folder / "tripjudge" / "published_table2.csv", encoding="utf-8") as lines:
        means: dict[tuple[str, str], list[float]] = {}
        for row in csv.DictReader(lines):
            for measure in ("nDCG@5", "nDCG@10", "Recall@100"):
                means.setdefault((row["test_collection"].rpartition("-")[2], measure), []).append(
                    float(row[measure])
                )
    short = {"Recall@100": "R@100"}
    assert {
        (name, short.get(measure, measure)): tuple(values)
        for (name, measure), values in means.items()
    } == {
        (name, measure): values
        for name, by in published.TRIPJUDGE_MEANS.items()
        for measure, values in by.items()
    }
    with open(
        data_folder / "tripjudge" / "published_table3_kendall_tau.csv", encoding="utf-8"
    ) as lines:
        table_3 = {
            row.pop("measure"): {pair: float(value) for pair, value in row.items()}
            for row in csv.DictReader(lines)
        }
    assert {
        name: table_3[{"RR@10": "MRR@10", "R@100": "Recall@100"}.get(name, name)]
        for name in published.TRIPJUDGE_TAU
    } == published.TRIPJUDGE_TAU


@pytest.mark.data
def test_the_public_labels_of_fira(data_folder: Path, tmp_path: Path) -> None:
    """Counts of data/README, counted with other tools."""
    path = data_folder / "fira-trec19" / "fira-trec19-qrels-snippets.txt.gz"
    out = study_of(tmp_path, "tripjudge", f'labels = "{path}"\n')
    assert [row["pairs"] for row in table(out, "figure-1")] == ["13566", "6201", "3145", "1286"]

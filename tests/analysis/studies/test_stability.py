"""The study of stability: all elements in one question, against the definition worked out with
scipy."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
import pytrec_eval
from scipy.stats import kendalltau, linregress

from analysis.studies.papers.stability import joint_radar
from assay.results import Result
from tests.analysis.commands.judged_file import run
from tests.analysis.studies.made import about, drawn, refusal, study_of, table
from tests.pictures import real_pictures

pytestmark = pytest.mark.xdist_group("study of stability")
N = 12
QRELS = "".join(f"{t} 0 d{d} {(d + t) % 3}\n" for t in range(N) for d in range(6))


def runs() -> dict[str, str]:
    rng = np.random.default_rng(1)
    made = {}
    for k in range(4):
        lines = []
        for t in range(N):
            scores = [(d + t) % 3 + rng.normal(0, 0.4 + k) for d in range(6)]
            lines += [f"{t} Q0 d{d} 1 {score} run{k}\n" for d, score in enumerate(scores)]
        made[f"run{k}"] = "".join(lines)
    return made


TOML = (
    'qrels = "qrels.txt"\nruns = ["run*.txt"]\nmeasures = "AP nDCG"\npairs = 4\noverlaps = '
    '"50,75,100"\nalso = "0.3"\n'
)


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with real_pictures():
        return study_of(tmp_path_factory.mktemp("study"), "stability", TOML, qrels=QRELS, **runs())


def test_all_elements_stand_in_one_table_with_their_sizes(out: Path) -> None:
    sizes = {row["element"]: (row["population"], row["each"]) for row in table(out, "elements")}
    positive = sum((d + t) % 3 >= 1 for t in range(N) for d in range(6))
    assert sizes == {
        "documents": ("6", "3"),
        "topics": ("12", "6"),
        "assessments": ("72", "36"),
        "relevant assessments": (str(positive), str(positive // 2)),
    }
    assert set(about(out)["left_out"]) == {"joint"}


def test_probability_mean_and_other_thresholds_follow_from_the_deltas(out: Path) -> None:
    for element in ("documents", "topics", "assessments", "positive"):
        values = about(out)["parts"][element]["values"]
        deltas: dict[tuple[str, str], list[float]] = {}
        for row in table(out, f"{element}-deltas"):
            deltas.setdefault((row["measure"], row["overlap"]), []).append(
                float(row["tau-b"] or "nan")
            )
        for measure in ("AP", "nDCG"):
            for k, level in enumerate(values["levels"]):
                taus = np.array(deltas[measure, repr(level)])
                assert len(taus) == 4
                assert values["probability"][measure][k] == np.mean(taus >= 0.9 - 1e-9)
                assert values["at"]["0.3"]["probability"][measure][k] == np.mean(taus >= 0.3 - 1e-9)
                if not np.isnan(taus).all():
                    assert values["mean_tau"][measure][k] == pytest.approx(np.nanmean(taus))
            assert deltas[measure, "1.0"] == [1.0] * 4 or np.isnan(deltas[measure, "1.0"]).any()


VARIED = {
    "documents": "documents",
    "topics": "topics",
    "assessments": "assessments",
    "positive": "relevant assessments",
}
LEVELS = ("0.5", "0.75", "1.0")


def curve(
    out: Path, element: str, measure: str, threshold: float
) -> tuple[list[float], list[float], int]:
    """P and mean tau at each level, and how many taus are undefined, from the table of Deltas."""
    taus = {
        level: [
            row["tau-b"]
            for row in table(out, f"{element}-deltas")
            if (row["measure"], row["overlap"]) == (measure, level)
        ]
        for level in LEVELS
    }
    reached = [
        sum(tau != "" and float(tau) >= threshold - 1e-9 for tau in of_level) / 4
        for of_level in taus.values()
    ]
    means = [float(np.mean([float(tau) for tau in of_level if tau])) for of_level in taus.values()]
    return reached, means, sum(tau == "" for of_level in taus.values() for tau in of_level)


def line_and_least(reached: list[float]) -> tuple[float, float, str]:
    """Slope and intercept below full overlap, and the least overlap from which P stays 1."""
    fit = linregress([0.5, 0.75], reached[:2])
    least = "0.5" if reached == [1, 1, 1] else "0.75" if reached[1:] == [1, 1] else "none below 1"
    return fit.slope, fit.intercept, least


@pytest.mark.parametrize("element", VARIED)
def test_every_table_and_figure_of_an_element_follows_from_its_deltas(
    out: Path, element: str
) -> None:
    levels = table(out, f"{element}-levels")
    assert [row["overlap"] for row in levels] == list(LEVELS)
    in_panel = [row[1:4] for row in drawn(out, "elements")[1:] if row[0] == VARIED[element]]
    for column, measure in enumerate(("AP", "nDCG"), 1):
        reached, means, undefined = curve(out, element, measure, 0.9)
        assert [float(row[f"P {measure}"]) for row in levels] == reached
        assert [float(row[f"tau {measure}"]) for row in levels] == pytest.approx(means)
        assert (
            [float(row[column]) for row in drawn(out, f"{element}-1")[1:]]
            == reached
            == [float(row[column]) for row in in_panel]
        )
        assert [float(row[column]) for row in drawn(out, f"{element}-2")[1:]] == pytest.approx(
            means, abs=6e-4
        )
        expected = line_and_least(reached)
        lower = line_and_least(curve(out, element, measure, 0.3)[0])
        wanted = [
            (
                table(out, f"{element}-summary"),
                {"measure": measure, "undefined taus": str(undefined)},
                expected,
            ),
            (table(out, "elements"), {"measure": measure, "element": VARIED[element]}, expected),
            (
                table(out, f"{element}-thresholds"),
                {"measure": measure, "threshold": "0.9"},
                expected,
            ),
            (table(out, f"{element}-thresholds"), {"measure": measure, "threshold": "0.3"}, lower),
        ]
        for rows, which, (slope, intercept, least) in wanted:
            (row,) = [row for row in rows if which.items() <= row.items()]
            assert [float(row["slope"]), float(row["intercept"])] == pytest.approx(
                [slope, intercept], abs=1e-12
            )
            assert row["least overlap with P = 1"] == least
        radar = {row[0]: row[1:] for row in drawn(out, "least-overlap")}
        share = 1.0 if expected[2] == "none below 1" else float(expected[2])
        assert float(radar[measure][radar[""].index(VARIED[element])]) == share


def test_deltas_are_those_of_pytrec_eval_and_scipy_on_the_topics_drawn(tmp_path: Path) -> None:
    """The sub-collections are read from the study's own folder, the runs and qrels from what it was
    given."""
    more = 'elements = "topics"\nexport = true\nfolds = 2\n'
    out = study_of(tmp_path, "stability", TOML + more, qrels=QRELS, **runs())
    folds = sorted(path.name for path in (out / "data" / "topics").glob("qrels-0.5/*"))
    assert folds in ([], ["1-1.txt", "1-2.txt", "2-1.txt", "2-2.txt"])
    qrels: dict[str, dict[str, int]] = {}
    for line in QRELS.splitlines():
        topic, _, document, grade = line.split()
        qrels.setdefault(topic, {})[document] = int(grade)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"map", "ndcg"})
    scores = []
    for text in runs().values():
        rankings: dict[str, dict[str, float]] = {}
        for line in text.splitlines():
            topic, _, document, _, score, _ = line.split()
            rankings.setdefault(topic, {})[document] = float(score)
        scores.append(evaluator.evaluate(rankings))
    deltas = {
        (row["measure"], row["overlap"], int(row["pair"])): row["tau-b"]
        for row in table(out, "topics-deltas")
    }
    assert len(deltas) == 2 * 3 * 4
    for level in LEVELS:
        with gzip.open(
            out / "data" / "topics" / f"topics-{level if level != '1.0' else '1'}.tsv.gz",
            "rt",
            encoding="utf-8",
        ) as lines:
            digits = dict(line.rstrip("\n").split("\t") for line in lines.readlines()[1:])
        for pair in range(4):
            sides = [
                [topic for topic, held in digits.items() if int(held[pair]) & side]
                for side in (1, 2)
            ]
            assert [len(topics) for topics in sides] == [6, 6]
            for ours, theirs in (("AP", "map"), ("nDCG", "ndcg")):
                means = [
                    [
                        round(float(np.mean([of_run[topic][theirs] for topic in topics])), 10)
                        for of_run in scores
                    ]
                    for topics in sides
                ]
                assert float(deltas[ours, level, pair + 1]) == pytest.approx(
                    kendalltau(*means).statistic
                )


def test_the_panels_are_one_figure_and_the_radar_of_two_measures_is_over_the_elements(
    out: Path,
) -> None:
    svg = (out / "figures" / "elements.svg").read_text(encoding="utf-8")
    for words in (
        "(a) documents",
        "(b) topics",
        "(c) assessments",
        "(d) relevant assessments",
        "AP",
        "nDCG",
    ):
        assert f">{words}<" in svg
    radar = (out / "figures" / "least-overlap.svg").read_text(encoding="utf-8")
    assert ">relevant assessments<" in radar
    page = (out / "report.html").read_text(encoding="utf-8")
    assert page.count("<svg") > 10


def test_the_radar_has_the_measures_as_axes_once_there_are_three() -> None:
    """As in Figure 2 of the paper, where the topics are one line at 100% for all measures."""
    topics = {"minimum_overlap": {"AP": None, "Rprec": None, "Bpref": None}}
    documents = {"minimum_overlap": {"AP": 0.05, "Rprec": 0.4, "Bpref": 0.65}}
    radar = joint_radar({"documents": Result(documents), "topics": Result(topics)}).picture
    assert radar.header == ["", "AP", "Rprec", "Bpref"]
    assert radar.rows == [["documents", 0.05, 0.4, 0.65], ["topics", 1.0, 1.0, 1.0]]


def test_it_is_the_same_as_the_command_for_each_element(out: Path, tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text(QRELS, encoding="utf-8")
    for name, text in runs().items():
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    paths = [str(tmp_path / f"{name}.txt") for name in ("qrels", *runs())]
    given = (
        "--element",
        "topics",
        "--overlaps",
        "50,75,100",
        "--pairs",
        "4",
        "--measures",
        "AP nDCG",
    )
    there = run("stability", *paths, *given)
    here = about(out)["parts"]["topics"]["values"]
    assert {key: here[key] for key in ("probability", "fit", "minimum_overlap")} == {
        key: there[key] for key in ("probability", "fit", "minimum_overlap")
    }
    assert "deltas" not in there


def test_elements_may_be_chosen(tmp_path: Path) -> None:
    out = study_of(tmp_path, "stability", TOML + 'elements = "topics"\n', qrels=QRELS, **runs())
    assert set(about(out)["left_out"]) == {"documents", "assessments", "positive", "joint"}
    data = json.loads((out / "tables" / "elements.json").read_text(encoding="utf-8"))
    assert {row[0] for row in data["rows"]} == {"topics"}
    assert "choose from documents, topics" in refusal(
        tmp_path / "inputs", "stability", TOML + 'elements = "queries"\n'
    )


def test_pairs_of_elements_and_the_sub_collections_drawn_are_written_where_asked_for(
    tmp_path: Path,
) -> None:
    more = 'elements = "topics"\njoint = "topics+assessments"\nexport = true\n'
    out = study_of(tmp_path, "stability", TOML + more, qrels=QRELS, **runs())
    assert set(about(out)["left_out"]) == {"documents", "assessments", "positive"}
    (files,) = (about(out)["parts"]["joint"]["files"],)
    assert "data/topics-and-assessments/topics-0.5.tsv.gz" in files
    assert (out / "data" / "topics-and-assessments" / "topics-0.5.tsv.gz").read_bytes() == (
        out / "data" / "topics" / "topics-0.5.tsv.gz"
    ).read_bytes()
    shared = {row["overlap"]: row["shared"] for row in table(out, "topics-and-assessments-deltas")}
    assert shared == {
        "0.5": "3, 18",
        "0.75": "5, 27",
        "1.0": "6, 36",
    }  # of 6 topics and 36 assessments; 4.5 is 5
    for column, measure in enumerate(("AP", "nDCG"), 1):
        reached, means, _ = curve(out, "topics-and-assessments", measure, 0.9)
        levels = table(out, "topics-and-assessments-levels")
        assert [float(row[f"P {measure}"]) for row in levels] == reached
        assert [float(row[f"tau {measure}"]) for row in levels] == pytest.approx(means)
        (row,) = [
            row for row in table(out, "topics-and-assessments-summary") if row["measure"] == measure
        ]
        slope, intercept, least = line_and_least(reached)
        assert [float(row["slope"]), float(row["intercept"])] == pytest.approx(
            [slope, intercept], abs=1e-12
        )
        assert row["least overlap with P = 1"] == least
        assert [float(row[1 + column]) for row in drawn(out, "joint")[1:]] == reached
    sums = (out / "SHA256SUMS").read_text(encoding="utf-8")
    assert "  data/topics/topics-0.5.tsv.gz" in sums
    assert 'href="data/topics/topics-0.5.tsv.gz"' in (out / "report.html").read_text(
        encoding="utf-8"
    )


def test_without_pairs_of_elements_the_part_is_left_out_with_a_reason(tmp_path: Path) -> None:
    out = study_of(
        tmp_path,
        "stability",
        TOML + 'elements = "topics"\njoint = "topics+queries"\n',
        qrels=QRELS,
        **runs(),
    )
    assert "topics+queries; choose from documents+topics" in about(out)["left_out"]["joint"]

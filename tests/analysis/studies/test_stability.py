"""The study of stability: all elements in one question, against the definition worked out with scipy."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.analysis.commands.judged_file import run
from tests.analysis.studies.made import about, refusal, study_of, table

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


TOML = 'qrels = "qrels.txt"\nruns = ["run*.txt"]\nmeasures = "AP nDCG"\npairs = 4\noverlaps = "50,75,100"\nalso = "0.3"\n'


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return study_of(tmp_path_factory.mktemp("study"), "stability", TOML, qrels=QRELS, **runs())


def test_all_elements_stand_in_one_table_with_their_sizes(out: Path) -> None:
    sizes = {row["element"]: (row["population"], row["each"]) for row in table(out, "elements")}
    positive = sum((d + t) % 3 >= 1 for t in range(N) for d in range(6))
    assert sizes == {
        "documents": ("6", "3"), "topics": ("12", "6"), "assessments": ("72", "36"), "relevant assessments": (str(positive), str(positive // 2)),
    }  # fmt: skip
    assert set(about(out)["left_out"]) == {"joint"}


def test_probability_mean_and_other_thresholds_follow_from_the_deltas(out: Path) -> None:
    for element in ("documents", "topics", "assessments", "positive"):
        values = about(out)["parts"][element]["values"]
        deltas: dict[tuple[str, str], list[float]] = {}
        for row in table(out, f"{element}-deltas"):
            deltas.setdefault((row["measure"], row["overlap"]), []).append(float(row["tau-b"] or "nan"))
        for measure in ("AP", "nDCG"):
            for k, level in enumerate(values["levels"]):
                taus = np.array(deltas[measure, repr(level)])
                assert len(taus) == 4
                assert values["probability"][measure][k] == np.mean(taus >= 0.9 - 1e-9)
                assert values["at"]["0.3"]["probability"][measure][k] == np.mean(taus >= 0.3 - 1e-9)
                if not np.isnan(taus).all():
                    assert values["mean_tau"][measure][k] == pytest.approx(np.nanmean(taus))
            assert deltas[measure, "1.0"] == [1.0] * 4 or np.isnan(deltas[measure, "1.0"]).any()


def test_the_panels_are_one_figure_and_the_radar_is_over_the_elements(out: Path) -> None:
    svg = (out / "figures" / "elements.svg").read_text(encoding="utf-8")
    for words in ("(a) documents", "(b) topics", "(c) assessments", "(d) relevant assessments", "AP", "nDCG"):
        assert f">{words}<" in svg
    radar = (out / "figures" / "least-overlap.svg").read_text(encoding="utf-8")
    assert ">relevant assessments<" in radar
    page = (out / "report.html").read_text(encoding="utf-8")
    assert page.count("<svg") > 10


def test_it_is_the_same_as_the_command_for_each_element(out: Path, tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text(QRELS, encoding="utf-8")
    for name, text in runs().items():
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    paths = [str(tmp_path / f"{name}.txt") for name in ("qrels", *runs())]
    given = ("--element", "topics", "--overlaps", "50,75,100", "--pairs", "4", "--measures", "AP nDCG")
    there = run("stability", *paths, *given)
    here = about(out)["parts"]["topics"]["values"]
    assert {key: here[key] for key in ("probability", "fit", "minimum_overlap")} == {key: there[key] for key in ("probability", "fit", "minimum_overlap")}
    assert "deltas" not in there


def test_elements_may_be_chosen(tmp_path: Path) -> None:
    out = study_of(tmp_path, "stability", TOML + 'elements = "topics"\n', qrels=QRELS, **runs())
    assert set(about(out)["left_out"]) == {"documents", "assessments", "positive", "joint"}
    data = json.loads((out / "tables" / "elements.json").read_text(encoding="utf-8"))
    assert {row[0] for row in data["rows"]} == {"topics"}
    assert "there are documents, topics" in refusal(tmp_path / "inputs", "stability", TOML + 'elements = "queries"\n')


def test_pairs_of_elements_and_the_sub_collections_drawn_are_written_where_asked_for(tmp_path: Path) -> None:
    more = 'elements = "topics"\njoint = "topics+assessments"\nexport = true\n'
    out = study_of(tmp_path, "stability", TOML + more, qrels=QRELS, **runs())
    assert set(about(out)["left_out"]) == {"documents", "assessments", "positive"}
    (files,) = (about(out)["parts"]["joint"]["files"],)
    assert "data/topics-and-assessments/topics-0.5.tsv.gz" in files
    assert (out / "data" / "topics-and-assessments" / "topics-0.5.tsv.gz").read_bytes() == (out / "data" / "topics" / "topics-0.5.tsv.gz").read_bytes()
    shared = {row["overlap"]: row["shared"] for row in table(out, "topics-and-assessments-deltas")}
    assert shared == {"0.5": "3, 18", "0.75": "5, 27", "1.0": "6, 36"}  # of 6 topics and 36 assessments; 4.5 is 5
    sums = (out / "SHA256SUMS").read_text(encoding="utf-8")
    assert "  data/topics/topics-0.5.tsv.gz" in sums
    assert 'href="data/topics/topics-0.5.tsv.gz"' in (out / "report.html").read_text(encoding="utf-8")


def test_without_pairs_of_elements_the_part_is_left_out_with_a_reason(tmp_path: Path) -> None:
    out = study_of(tmp_path, "stability", TOML + 'elements = "topics"\njoint = "topics+queries"\n', qrels=QRELS, **runs())
    assert "topics+queries; there are documents+topics" in about(out)["left_out"]["joint"]

"""Values that the organisers of three evaluations published, made with trec_eval 9: scores compared
as float32."""

from __future__ import annotations

import gzip
from collections import defaultdict
from pathlib import Path

import pytest

from assay.formats.qrels import read_qrels
from assay.formats.runs import read_run
from assay.measures.evaluation import Evaluation, Evaluator
from assay.measures.measures import parse_measures

pytestmark = pytest.mark.data

NAMES = {
    "map": "AP",
    "P_10": "P@10",
    "P_100": "P@100",
    "Rprec": "Rprec",
    "bpref": "Bpref",
    "recip_rank": "RR",
    "ndcg_cut_5": "nDCG@5",
    "ndcg_cut_10": "nDCG@10",
    "ndcg_cut_20": "nDCG@20",
    "ndcg_cut_100": "nDCG@100",
    "ndcg_cut_1000": "nDCG@1000",
}
Official = dict[str, dict[tuple[str, str], str]]


def official_per_topic(*files: Path) -> Official:
    """{run: {(measure, topic or "all"): printed value}}"""
    values: Official = defaultdict(dict)
    for file in files:
        with gzip.open(file, "rt") as lines:
            for line in lines:
                run, measure, topic, printed = line.rstrip("\n").split("\t")
                values[run][measure, topic] = printed
    return values


def evaluations(
    qrels: Path, runs: Path, measures: list[str], scores: str = "float32"
) -> dict[str, Evaluation]:
    evaluator = Evaluator(read_qrels(str(qrels)), parse_measures([NAMES[m] for m in measures]))
    files = sorted(runs.glob("*.gz"))
    return {
        file.name.removesuffix(".gz"): evaluator.evaluate(
            read_run(str(file), scores=scores, lenient=True)
        )
        for file in files
    }


def differences(
    found: Evaluation, official: dict[tuple[str, str], str], measures: list[str]
) -> list[tuple[str, str]]:
    """(measure, topic) where a printed value is not ours, rounded; every topic and the mean must be
    there."""
    wrong = []
    means = found.means()
    for column, measure in enumerate(measures):
        for row, topic in [*enumerate(found.topics), (-1, "all")]:
            value = means[column] if topic == "all" else found.values[row, column]
            if f"{value:.4f}" != official[measure, topic]:
                wrong.append((measure, topic))
    return wrong


CLEF = "clef-ehealth-2015"
CLEF_QRELS = f"{CLEF}/qrels.eng.clef2015.qtest.graded.txt.gz"
CUT_AMONG_TIES = {
    # Their cut files lack documents that the full runs have among the first ten: equal scores, or
    # ranks that disagree with them.
    "ECNU_EN_Run.8",
    "ECNU_EN_Run.10",
    "KUCS_EN_Run.1",
    "KUCS_EN_Run.2",
    "KUCS_EN_Run.3",
    "KUCS_EN_Run.4",
    "baseline_run.1",
    "baseline_run.2",
}


def test_clef_ehealth_2015_full_runs_agree_on_every_topic_in_ten_measures(
    data_folder: Path,
) -> None:
    measures = [m for m in NAMES if m != "P_100"]
    official = official_per_topic(data_folder / CLEF / "official_trec_eval_per_topic.tsv.gz")
    found = evaluations(data_folder / CLEF_QRELS, data_folder / CLEF / "runs-full", measures)
    assert len(found) == 8
    assert {
        run: differences(evaluation, official[run], measures) for run, evaluation in found.items()
    } == {run: [] for run in found}


def test_clef_ehealth_2015_precision_of_the_runs_cut_at_100_agrees_where_the_cut_kept_the_first_ten(
    data_folder: Path,
) -> None:
    official = official_per_topic(data_folder / CLEF / "official_trec_eval_per_topic.tsv.gz")
    found = evaluations(data_folder / CLEF_QRELS, data_folder / CLEF / "runs-top100", ["P_10"])
    assert len(found) == 68
    assert {
        run for run, evaluation in found.items() if differences(evaluation, official[run], ["P_10"])
    } == CUT_AMONG_TIES


def test_dl_2021_runs_agree_on_every_topic_in_nine_measures(data_folder: Path) -> None:
    folder = data_folder / "dl21-passage"
    measures = [m for m in NAMES if m not in ("P_100", "ndcg_cut_1000")]
    official = official_per_topic(
        folder / "official_trec_eval_per_topic.tsv.gz", folder / "official_ndcg_per_topic.tsv.gz"
    )
    found = evaluations(folder / "qrels.nist.txt.gz", folder / "runs-judged53", measures)
    assert len(found) == 63
    assert {
        run: differences(evaluation, official[run], measures) for run, evaluation in found.items()
    } == {run: [] for run in found}


def test_dl_2021_values_need_scores_in_single_precision(data_folder: Path) -> None:
    folder = data_folder / "dl21-passage"
    official = official_per_topic(folder / "official_trec_eval_per_topic.tsv.gz")
    found = evaluations(
        folder / "qrels.nist.txt.gz", folder / "runs-judged53", ["map"], scores="float64"
    )
    assert any(differences(evaluation, official[run], ["map"]) for run, evaluation in found.items())


@pytest.mark.parametrize("scores", ["float32", "float64"])
def test_robust_2003_means_agree_in_either_precision_of_scores(
    data_folder: Path, scores: str
) -> None:
    folder = data_folder / "robust03"
    official = {}
    for line in (folder / "official_results_all_submitted_runs.tsv").read_text().splitlines()[1:]:
        run, measure, printed = line.split("\t")
        official[run, measure] = printed
    measures = ["map", "P_100", "Rprec"]
    found = evaluations(folder / "qrels.robust2003.txt.gz", folder / "runs", measures, scores)
    assert len(found) == 17
    wrong = {}
    for file, evaluation in found.items():
        run = file.removeprefix("input.")
        for measure, mean in zip(measures, evaluation.means(), strict=True):
            if f"{mean:.4f}" != official[run, measure]:
                wrong[run, measure] = round(mean - float(official[run, measure]), 4)
    # Both means lie just above a half of the last printed digit (0.22955, 0.28525): the organisers
    # rounded down from fewer digits.
    assert wrong == {("SABIR03BASE", "Rprec"): 0.0001, ("THUIRr0301", "Rprec"): 0.0001}


def test_nfcorpus_sparse_runs_of_three_columns_give_the_expected_reciprocal_ranks(
    data_folder: Path,
) -> None:
    folder = data_folder / "nfcorpus-sparse"
    evaluator = Evaluator(read_qrels(str(folder / "qrels.single.txt")), "RR@100 Success@100")
    for line in (folder / "expected.mrr100.tsv").read_text().splitlines()[1:]:
        name, lines, expected, not_retrieved = line.split("\t")
        run = read_run(str(folder / "runs-msmarco-format" / f"{name}.tsv.gz"), lenient=True)
        found = evaluator.evaluate(run)
        assert len(run) == int(lines)
        assert f"{found.means()[0]:.6f}" == expected
        assert int((found.values[:, 1] == 0).sum()) == int(not_retrieved)

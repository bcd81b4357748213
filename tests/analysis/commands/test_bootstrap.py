from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
import pytrec_eval
import scipy.stats

from tests.analysis.commands.called import refused
from tests.analysis.commands.first_rank_files import printed, read, write_qrels, write_run
from tests.assay.comparison.hall import wider_interval

TOPICS = [f"q{i}" for i in range(30)]


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(0)
    runs = [
        write_run(tmp_path, tag, dict(zip(TOPICS, rng.integers(low, 12, 30).tolist(), strict=True)))
        for tag, low in (("a", 0), ("b", 0), ("c", 6))
    ]
    return write_qrels(tmp_path, TOPICS), *runs


def test_the_keys_of_the_contract(files):
    found = printed("bootstrap", *files, "--trials", "50")
    assert set(found) == {"RR@100", "seed"}
    keys = {
        "observed",
        "expected_rank",
        "best_rank",
        "worst_rank",
        "rank_share",
        "interval",
        "beats",
        "significantly_worse",
    }
    assert keys <= set(found["RR@100"])
    assert set(found["RR@100"]["rank_share"]["a"]) == {"1", "2", "3"}
    assert found["RR@100"]["topics"] == 30


@pytest.mark.parametrize("processes", ["2", "3"])
def test_processes_change_nothing(files, processes):
    assert printed("bootstrap", *files, "--trials", "400") == printed(
        "bootstrap", *files, "--trials", "400", "--processes", processes
    )


def test_the_order_of_runs_and_of_qrels_lines_changes_nothing(files, tmp_path):
    qrels, *runs = files
    turned = write_qrels(tmp_path, TOPICS[::-1], "turned.txt")
    assert printed("bootstrap", qrels, *runs, "--trials", "200") == printed(
        "bootstrap", turned, *runs[::-1], "--trials", "200"
    )


def test_conditions_stand_side_by_side_and_share_their_samples(files, tmp_path):
    qrels, *runs = files
    some = tmp_path / "some.txt"
    some.write_text("q1\nq3\nq5\nunknown\n")
    found = printed(
        "bootstrap",
        qrels,
        *runs,
        "--trials",
        "50",
        "--show",
        "b",
        "--condition",
        f"all=RR@100,{qrels}",
        "--condition",
        f"few=RR@5,{qrels},{some}",
        "--condition",
        f"strict=RR@100,{qrels},,2",
    )
    assert set(found) == {"all", "few", "strict", "seed"}
    assert found["few"]["topics"] == 3
    assert list(found["few"]["expected_rank"]) == ["b"]
    assert (
        found["strict"]["expected_rank"]["b"] == 2
    )  # nothing is relevant at level 2: all three tie
    alone = printed("bootstrap", qrels, *runs, "--trials", "50", "--show", "b")["RR@100"]
    assert found["all"] == alone


def test_topics_without_relevant_documents_can_be_left_out(files, tmp_path):
    qrels, *runs = files
    wider = tmp_path / "wider.txt"
    wider.write_text(Path(qrels).read_text() + "q99 0 nothing 0\n")
    assert printed("bootstrap", str(wider), *runs, "--trials", "5")["RR@100"]["topics"] == 31
    assert (
        printed("bootstrap", str(wider), *runs, "--trials", "5", "--only-with-relevant")["RR@100"][
            "topics"
        ]
        == 30
    )


def test_the_text_has_the_tables_of_ranks_and_of_pairwise_wins(files):
    text = read("bootstrap", *files, "--trials", "20")
    for title in ("Ranks by RR@100", "Rank probabilities by RR@100", "Pairwise wins by RR@100"):
        assert f"{title}\n" in text
    assert "30 topics, 20 samples." in text


def test_what_cannot_be_done_is_said(files, tmp_path):
    nothing = tmp_path / "nothing.txt"
    nothing.write_text("other\n")
    assert "--show: unknown runs nobody; choose from" in refused(
        "bootstrap", *files, "--show", "nobody"
    )
    assert "none of its 1 topic is" in refused(
        "bootstrap", *files, "--condition", f"x=RR@5,{files[0]},{nothing}"
    )
    assert "two conditions are called x" in refused(
        "bootstrap", *files, "--condition", f"x=RR@5,{files[0]}", "--condition", f"x=AP,{files[0]}"
    )


def test_no_condition_takes_the_name_of_another_part_of_the_answer(files):
    """As `seed` it took the place of the seed."""
    assert "condition name seed" in refused(
        "bootstrap", *files, "--condition", f"seed=RR@10,{files[0]}"
    )


@pytest.mark.data
def test_real_runs_equal_a_naive_twin(data_folder):
    """DL 2021 passage, 53 topics: nDCG@10 by pytrec_eval, resampled by a loop on the documented
    random samples."""
    folder = data_folder / "dl21-passage"
    paths = sorted((folder / "runs-judged53").glob("*.gz"))[:10]
    with gzip.open(folder / "qrels.nist.txt.gz", "rt") as lines:
        evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(lines), {"ndcg_cut.10"})
    found = printed(
        "bootstrap",
        str(folder / "qrels.nist.txt.gz"),
        *map(str, paths),
        "--measures",
        "nDCG@10",
        "--trials",
        "250",
        "--seed",
        "7",
        "--precision",
        "float32",
    )["nDCG@10"]
    tables = []
    for path in paths:
        with gzip.open(path, "rt") as lines:
            tables.append(evaluator.evaluate(pytrec_eval.parse_run(lines)))
    topics = sorted(tables[0])
    scores = np.array([[table[topic]["ndcg_cut_10"] for topic in topics] for table in tables])
    ranks = []
    for chunk in range(2):
        rng = np.random.default_rng(np.random.SeedSequence(7, spawn_key=(chunk,)))
        drawn = rng.integers(len(topics), size=(125, len(topics)), dtype=np.uint32)
        ranks.extend(
            scipy.stats.rankdata(-scores[:, sample].mean(axis=1).round(10)) for sample in drawn
        )
    ranks = np.array(ranks)
    tags = list(found["observed"])
    assert list(found["observed"].values()) == pytest.approx(scores.mean(axis=1).tolist(), abs=1e-9)
    assert list(found["expected_rank"].values()) == pytest.approx(
        ranks.mean(axis=0).tolist(), abs=1e-9
    )
    assert list(found["best_rank"].values()) == ranks.min(axis=0).tolist()
    np.testing.assert_allclose(
        list(found["interval"].values()), np.percentile(ranks, [2.5, 97.5], axis=0).T
    )
    for i, tag in enumerate(tags):
        for j, other in enumerate(tags):
            if i != j:
                expected = ((ranks[:, i] < ranks[:, j]) + (ranks[:, i] == ranks[:, j]) / 2).mean()
                assert found["beats"][tag][other] == pytest.approx(expected)
                test = scipy.stats.ttest_rel(scores[i], scores[j])
                assert found["difference"][tag][other][0] == pytest.approx(
                    scores[i].mean() - scores[j].mean(), abs=1e-6
                )
                if found["difference"][tag][other][1] is not None:
                    assert found["difference"][tag][other][1:] == pytest.approx(
                        wider_interval(scores[i] - scores[j]), abs=1e-6
                    )
                assert (other in found["significantly_worse"][tag]) == (
                    test.pvalue < 0.05 and test.statistic < 0
                )
    # a run that wins 2.4 % of the trials is not significantly worse: the interval reaches over 0
    assert any(
        share <= 0.025 and other not in found["significantly_worse"][tag]
        for tag in tags
        for other, share in found["beats"][tag].items()
    )


def test_the_name_of_a_condition_may_hold_a_measure_with_its_level(files):
    name, other = "RR(rel=2)@5 judged", "a (b"
    qrels, *runs = files
    found = printed(
        "bootstrap",
        qrels,
        *runs,
        "--trials",
        "20",
        "--condition",
        f"{name}=RR(rel=2)@5,{qrels}",
        "--condition",
        f"{other}=RR@5,{qrels},,2",
    )
    assert set(found) == {name, other, "seed"}
    assert (
        found[name]["expected_rank"] == found[other]["expected_rank"]
    )  # the level in the measure or of the condition

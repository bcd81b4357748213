from __future__ import annotations

import csv
import gzip
import itertools
import re
from pathlib import Path

import numpy as np
import pytest
import scipy.stats

from tests.analysis.commands.called import refused
from tests.analysis.commands.first_rank_files import printed, read, write_qrels, write_run
from tests.assay.comparison.counted_signs import counted_signed_rank

TOPICS = [f"q{i}" for i in range(8)]
A = dict(zip(TOPICS, [0, 3, 0, 1, 2, 0, 4, 12], strict=True))
B = dict(zip(TOPICS, [0, 0, 2, 1, 7, 1, 1, 11], strict=True))


@pytest.fixture
def files(tmp_path):
    return write_qrels(tmp_path, TOPICS), write_run(tmp_path, "a", A), write_run(tmp_path, "b", B)


def test_the_keys_of_the_contract(files):
    found = printed("compare_runs", *files)
    assert {"mrr", "outcomes", "esl", "rr", "binomial", "verdict", "topics"} <= set(found)
    assert set(found["mrr"]) == {"a", "b", "difference", "wrs", "wrs_tie_corrected", "wsr", "t"}
    assert set(found["outcomes"]) == {"neither", "a_only", "b_only", "both"}
    assert set(found["esl"]) == set(found["rr"]) == {"a", "b", "wsr", "t"}
    assert set(found["verdict"]) == {
        "better",
        "significantly_better",
        "do_no_harm",
        "because",
        "by_rr",
        "disagreements",
    }
    assert set(found["equal_runs"]) == {
        "trials",
        "better",
        "significantly_better",
        "do_no_harm",
        "undecided",
    }
    assert found["wsr_method"] == {"mrr": "exact", "esl": "exact", "rr": "exact"}
    assert found["scales"] == {
        "wrs": "ordinal",
        "wrs_tie_corrected": "ordinal",
        "wsr": "interval",
        "t": "interval",
    }


def test_outcomes_by_hand(files):
    found = printed("compare_runs", *files)
    assert found["outcomes"] == {"neither": 1 / 8, "a_only": 1 / 8, "b_only": 2 / 8, "both": 4 / 8}
    assert (found["esl"]["a"], found["esl"]["b"]) == ((1 + 2 + 4 + 12) / 4, (1 + 7 + 1 + 11) / 4)
    assert found["mrr"]["difference"] == pytest.approx(
        (1 / 2 + 1 + 1 / 7 + 1 + 1 + 1 / 11 - 1 / 3 - 1 - 1 / 2 - 1 / 4 - 1 / 12) / 8
    )


def test_the_cutoff_turns_deep_answers_into_none(files):
    found = printed("compare_runs", *files, "--cutoff", "10")
    assert found["outcomes"] == {"neither": 2 / 8, "a_only": 1 / 8, "b_only": 2 / 8, "both": 3 / 8}
    assert (found["esl"]["a"], found["esl"]["b"]) == (7 / 3, 3)


def test_a_run_against_itself_has_p_one_everywhere(files):
    qrels, run, _ = files
    found = printed("compare_runs", qrels, run, run)
    assert [found["mrr"][test] for test in ("wrs", "wrs_tie_corrected", "wsr", "t")] == [1] * 4
    assert [found[key][test] for key in ("esl", "rr") for test in ("wsr", "t")] == [1] * 4
    assert (found["binomial"], found["b"]) == (1, "a#2")
    assert not any(
        found["verdict"][key] for key in ("better", "significantly_better", "do_no_harm")
    )


def test_swapping_the_files_mirrors_the_row(files):
    qrels, a, b = files
    one, other = printed("compare_runs", qrels, a, b), printed("compare_runs", qrels, b, a)
    assert one["mrr"]["difference"] == -other["mrr"]["difference"]
    assert one["outcomes"]["a_only"] == other["outcomes"]["b_only"]
    assert one["esl"]["a"] == other["esl"]["b"]
    assert one["binomial"] == other["binomial"]


def test_where_both_answer_nothing_the_case_is_null_with_a_reason(tmp_path):
    qrels = write_qrels(tmp_path, ["q1", "q2"])
    found = printed(
        "compare_runs",
        qrels,
        write_run(tmp_path, "a", {"q1": 1, "q2": 0}),
        write_run(tmp_path, "b", {"q1": 0, "q2": 1}),
    )
    assert found["esl"] == found["rr"] == {"a": None, "b": None, "wsr": None, "t": None}
    assert found["undefined"]["esl"] == "no topic is answered by both runs"


def test_several_relevant_documents_are_counted_and_the_first_counts(tmp_path, files):
    _, a, b = files
    qrels = tmp_path / "more.txt"
    qrels.write_text("q1 0 right-q1 1\nq1 0 wrong1 1\nq2 0 right-q2 1\n")
    found = printed("compare_runs", str(qrels), a, b)
    assert found["topics_with_several_relevant"] == 1
    assert (found["esl"]["a"], found["esl"]["b"]) == (1, 1)
    assert found["outcomes"]["b_only"] == 0.5


def test_a_person_reads_tests_outcomes_and_verdicts(files):
    text = read("compare_runs", *files)
    means = next(
        line for line in text.splitlines() if line.startswith("a  b ") and "0.2708" in line
    )
    assert means.split()[:3] == ["a", "b", "0.2708"]
    assert "scale" in text
    assert "rank-sum (unpaired)" in text
    assert "treats the runs as two unpaired samples" in text
    assert "If the runs were equal (2000 random exchanges of the runs per topic)" in text


def test_a_person_reads_two_digits_of_p_and_raw_and_corrected_ones_apart(tmp_path):
    topics = [f"q{i}" for i in range(12)]
    qrels = write_qrels(tmp_path, topics)
    a, b = (
        write_run(tmp_path, "a", dict.fromkeys(topics, 4)),
        write_run(tmp_path, "b", {t: 3 if i else 5 for i, t in enumerate(topics)}),
    )
    raw, corrected = (
        read("compare_runs", qrels, a, b),
        read("compare_runs", qrels, a, b, "--correction", "bonferroni", "--family-size", "10"),
    )
    # 11 of 12 equal differences point to B: 2 (1 + 12) / 4096 = 0.0063
    assert "significant by the signed-rank test (p = 0.0063, uncorrected)" in raw
    assert "correction" not in raw
    assert (
        "not significant by the signed-rank test (p = 0.0063, after Bonferroni correction 0.063)"
        in corrected
    )
    assert "Correction: bonferroni, 10 comparisons. Verdicts use it." in corrected
    tests = corrected.partition("Tests of B against A")[2]
    assert re.search(r"one run answers +binomial +1 +1\b", tests)
    assert re.search(r"ESL, topics that both runs answer +signed-rank +0\.0063 +0\.063 ", tests)


def test_a_significance_that_points_the_other_way_gives_no_verdict(tmp_path):
    """The mean search length of B is smaller, by the signed ranks it is longer."""
    topics = [f"q{i}" for i in range(30)]
    qrels = write_qrels(tmp_path, topics)
    a = write_run(tmp_path, "a", {t: 100 if i < 2 else 1 for i, t in enumerate(topics)}, depth=100)
    b = write_run(tmp_path, "b", {t: 1 if i < 2 else 2 for i, t in enumerate(topics)}, depth=100)
    found = printed("compare_runs", qrels, a, b)
    assert [found["verdict"][key] for key in ("better", "significantly_better", "do_no_harm")] == [
        False,
        False,
        None,
    ]
    assert "point in different directions" in found["undefined"]["verdict"]
    assert "no verdict" in read("compare_runs", qrels, a, b)
    board = printed("leaderboard", qrels, a, b, "--baselines", "")
    assert (board["order"], board["cycles"]) == (["a", "b"], [])


def test_the_seed_fixes_the_rates_of_equal_runs(files):
    rates = [
        printed("compare_runs", *files, "--seed", seed)["equal_runs"] for seed in ("1", "1", "2")
    ]
    assert rates[0] == rates[1] != rates[2]


def test_the_rest_of_what_a_person_reads(files):
    text = read("compare_runs", *files)
    assert "B wins the topics that only one run answers: A 1, B 2 of 8, not significant" in text


def test_bonferroni_needs_to_know_the_family(files):
    assert "needs --family-size" in refused("compare_runs", *files, "--correction", "bonferroni")
    raw, corrected = (
        printed("compare_runs", *files),
        printed("compare_runs", *files, "--correction", "bonferroni", "--family-size", "3"),
    )
    assert corrected["binomial"] == raw["binomial"]
    assert corrected["corrected"]["esl_wsr"] == pytest.approx(min(1, 3 * raw["esl"]["wsr"]))


def test_a_broken_run_is_refused_with_its_line(tmp_path, files):
    qrels, a, _ = files
    broken = tmp_path / "broken.run"
    broken.write_text("q1 Q0 d 1 0.5 t\nq1 Q0 d2 2 high t\n")
    assert f"{broken}:2:" in refused("compare_runs", qrels, a, str(broken))


def ranks_by_hand(path: Path, relevant: dict[str, str]) -> dict[str, int]:
    """Rank of the relevant document in the three-column form, read without the project's code."""
    with gzip.open(path, "rt") as lines:
        rows = [line.split() for line in lines]
    return {topic: int(rank) for topic, document, rank in rows if relevant.get(topic) == document}


@pytest.mark.long
@pytest.mark.data
def test_the_whole_of_lin_et_al_on_a_sparse_collection(data_folder):
    """Every pair of six runs on 3,219 topics: expected MRR@100 of the data, everything else by
    scipy on ranks read by hand."""
    folder = data_folder / "nfcorpus-sparse"
    qrels = folder / "qrels.single.txt"
    relevant = {
        topic: document
        for topic, _, document, _ in (line.split() for line in qrels.read_text().splitlines())
    }
    with (folder / "expected.mrr100.tsv").open() as lines:
        expected = {row["run"]: row for row in csv.DictReader(lines, delimiter="\t")}
    paths = {tag: folder / "runs-msmarco-format" / f"{tag}.tsv.gz" for tag in expected}
    ranks = {
        tag: np.array([found.get(topic, 0) for topic in relevant])
        for tag, path in paths.items()
        for found in [ranks_by_hand(path, relevant)]
    }
    open_verdicts = 0
    for tag_a, tag_b in itertools.combinations(sorted(expected), 2):
        found = printed(
            "compare_runs", str(qrels), str(paths[tag_a]), str(paths[tag_b]), "--lenient"
        )
        for side, tag in (("a", tag_a), ("b", tag_b)):
            assert found["mrr"][side] == pytest.approx(float(expected[tag]["MRR@100"]), abs=5e-7)
        only = {"a": found["outcomes"]["b_only"], "b": found["outcomes"]["a_only"]}
        for side, tag in (("a", tag_a), ("b", tag_b)):
            assert round((found["outcomes"]["neither"] + only[side]) * 3219) == int(
                expected[tag]["not_retrieved"]
            )
        a, b = ranks[tag_a], ranks[tag_b]
        rr_a, rr_b = (np.array([1 / r if r else 0 for r in side]) for side in (a, b))
        both = (a > 0) & (b > 0)
        assert found["mrr"]["wrs"] == pytest.approx(
            scipy.stats.ranksums(rr_a, rr_b).pvalue, abs=1e-10
        )
        assert found["mrr"]["wrs_tie_corrected"] == pytest.approx(
            scipy.stats.mannwhitneyu(rr_a, rr_b, use_continuity=False, method="asymptotic").pvalue,
            abs=1e-10,
        )
        for row, x, y in (
            (found["mrr"], rr_a, rr_b),
            (found["esl"], a[both], b[both]),
            (found["rr"], rr_a[both], rr_b[both]),
        ):
            d = np.round(y - x, 12)
            exact = np.count_nonzero(d) <= 200
            approximated = scipy.stats.wilcoxon(
                d, zero_method="wilcox", correction=False, method="asymptotic"
            ).pvalue
            assert row["wsr"] == pytest.approx(
                counted_signed_rank(d) if exact else approximated, abs=1e-10
            )
            assert row["t"] == pytest.approx(scipy.stats.ttest_rel(y, x).pvalue, abs=1e-10)
            assert (row["a"], row["b"]) == pytest.approx((x.mean(), y.mean()), abs=1e-12)
        a_only, b_only = int(((a > 0) & (b == 0)).sum()), int(((b > 0) & (a == 0)).sum())
        p_binomial = scipy.stats.binomtest(b_only, a_only + b_only).pvalue
        assert found["binomial"] == pytest.approx(p_binomial, abs=1e-10)
        shorter, longer = b[both].mean() < a[both].mean(), b[both].mean() > a[both].mean()
        wins, loses = b_only > a_only and p_binomial < 0.05, a_only > b_only and p_binomial < 0.05
        significant = found["esl"]["wsr"] < 0.05
        ranked = scipy.stats.rankdata(np.abs(d := b[both] - a[both]) + 0.0) * (d != 0)
        balance = (np.sign(d) * (ranked - (d == 0).sum())).sum()
        if balance * (b[both].mean() - a[both].mean()) < 0:
            open_verdicts += 1
            assert found["verdict"]["better"] is (None if b_only > a_only else False)
            assert found["verdict"]["do_no_harm"] is (
                None if significant and not loses else bool(wins)
            )
            continue
        assert found["verdict"]["better"] == (b_only > a_only and shorter)
        assert found["verdict"]["significantly_better"] == (wins and shorter and significant)
        assert found["verdict"]["do_no_harm"] == (
            (wins and not (longer and significant)) or (shorter and significant and not loses)
        )
    assert open_verdicts > 0


def test_search_lengths_are_reading_times_at_a_constant_speed(tmp_path):
    qrels = write_qrels(tmp_path, ["q1", "q2"])
    a = write_run(tmp_path, "a", {"q1": 1, "q2": 4})
    b = write_run(tmp_path, "b", {"q1": 2, "q2": 6})
    options = (qrels, a, b, "--seconds-per-document", "20")
    # mean search lengths 2.5 and 4, so 50 and 80 seconds
    assert printed("compare_runs", *options)["reading_time"] == {
        "seconds_per_document": 20.0,
        "a": 50.0,
        "b": 80.0,
        "difference": 30.0,
    }
    assert "20 seconds per document" in read("compare_runs", *options)
    assert "reading_time" not in printed("compare_runs", qrels, a, b)


def test_without_a_topic_that_both_answer_reading_times_are_undefined(tmp_path):
    qrels = write_qrels(tmp_path, ["q1", "q2"])
    a, b = write_run(tmp_path, "a", {"q1": 1}), write_run(tmp_path, "b", {"q2": 1})
    times = printed("compare_runs", qrels, a, b, "--seconds-per-document", "20")["reading_time"]
    assert [times[key] for key in ("a", "b", "difference")] == [None, None, None]

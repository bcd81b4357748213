from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest

from assay.cli.base import WrongArguments
from tests.analysis.commands.called import answer
from tests.analysis.commands.judged_file import refused, run
from tests.analysis.commands.ranked_files import CLICKS, GOOD, OTHER, POOR, QRELS, files, printed
from tests.assay.comparison.hall import wider_interval

MEASURES = ["--measures", "AP RR@1 Judged@2 nDCG-J@5"]


def test_means_and_counts_of_topics_by_hand(tmp_path: Path) -> None:
    result = run("evaluate", *files(tmp_path, qrels=QRELS, good=GOOD, poor=POOR), *MEASURES)
    ideal = 2 + 1 / math.log2(3)
    poor_ndcg = (2 / math.log2(3)) / ideal
    assert result["qrels"] == {
        "qrels": {
            "good": {
                "AP": pytest.approx(2 / 3),
                "RR@1": pytest.approx(2 / 3),
                "Judged@2": 1,
                "nDCG-J@5": pytest.approx(2 / 3),
            },
            "poor": {
                "AP": pytest.approx(0.25 / 3),
                "RR@1": 0,
                "Judged@2": pytest.approx(1 / 3),
                "nDCG-J@5": pytest.approx(poor_ndcg / 3),
            },
        }
    }
    assert result["topics"] == {
        "qrels": {
            "qrels": 3,
            "without_relevant": 1,
            "missing": {"good": 0, "poor": 2},
            "ignored": {"good": 0, "poor": 1},
            "averaged": {"good": 3, "poor": 3},
        }
    }
    assert "per_topic" not in result


def test_comments_and_grades_such_as_2_0_change_no_number_and_are_notes(tmp_path: Path) -> None:
    plain, _ = answer("evaluate", *files(tmp_path, qrels=QRELS, good=GOOD), *MEASURES)
    decimals = "".join(f"{line}.0\n" for line in QRELS.splitlines())
    noted, err = answer(
        "evaluate",
        *files(
            tmp_path,
            qrels="# mine\n" + decimals,
            good="# ir_metadata.start\n# ir_metadata.end\n" + GOOD,
        ),
        *MEASURES,
    )
    assert noted == plain
    assert "note: " in err
    assert "2 comment lines (beginning with #) were skipped" in err
    assert "grades written as decimals" in err
    assert "warning" not in err


def test_each_topic_on_request(tmp_path: Path) -> None:
    result = run(
        "evaluate", *files(tmp_path, qrels=QRELS, poor=POOR), "--measures", "AP", "--per-topic"
    )
    assert result["per_topic"] == {"qrels": {"poor": {"AP": {"1": 0.25, "2": 0, "3": 0}}}}


def test_the_default_measures_are_those_of_the_contract(tmp_path: Path) -> None:
    result = run("evaluate", *files(tmp_path, qrels=QRELS, good=GOOD))
    assert list(result["qrels"]["qrels"]["good"]) == [
        "AP",
        "nDCG",
        "nDCG@10",
        "RR@10",
        "R@100",
        "Judged@10",
    ]


def test_the_intersection_averages_over_topics_of_the_run(tmp_path: Path) -> None:
    paths = files(tmp_path, qrels=QRELS, poor=POOR)
    result = run("evaluate", *paths, "--measures", "AP", "--missing-topics", "skip", "--per-topic")
    assert result["qrels"]["qrels"]["poor"]["AP"] == 0.25
    assert result["topics"]["qrels"]["averaged"] == {"poor": 1}
    assert result["per_topic"]["qrels"]["poor"]["AP"] == {"1": 0.25}


def test_topics_without_relevant_documents_can_be_left_out(tmp_path: Path) -> None:
    paths = files(tmp_path, qrels=QRELS, good=GOOD)
    assert (
        run("evaluate", *paths, "--measures", "AP", "--only-with-relevant")["qrels"]["qrels"][
            "good"
        ]["AP"]
        == 1
    )


def test_the_relevance_level_changes_binary_measures_only(tmp_path: Path) -> None:
    paths = files(tmp_path, qrels=QRELS, good=GOOD)
    at_two = run("evaluate", *paths, "--measures", "AP nDCG P@1", "--min-relevant", "2")["qrels"][
        "qrels"
    ]["good"]
    at_one = run("evaluate", *paths, "--measures", "AP nDCG P@1 AP(rel=2)")["qrels"]["qrels"][
        "good"
    ]
    assert at_two == {
        "AP": pytest.approx(1 / 3),
        "nDCG": at_one["nDCG"],
        "P@1": pytest.approx(1 / 3),
    }
    assert at_one["AP(rel=2)"] == at_two["AP"]


def test_a_mean_over_no_topic_is_null_with_a_reason(tmp_path: Path) -> None:
    result = run(
        "evaluate",
        *files(tmp_path, qrels="7 0 a 1\n", good=GOOD),
        "--measures",
        "AP",
        "--missing-topics",
        "skip",
    )
    assert result["qrels"]["qrels"]["good"]["AP"] is None
    assert "no topic" in result["undefined"]["qrels"]["good"]


def test_further_qrels_are_named_and_stand_beside_the_first(tmp_path: Path) -> None:
    qrels, clicks, good, poor = files(tmp_path, qrels=QRELS, clicks=CLICKS, good=GOOD, poor=POOR)
    result = run(
        "evaluate", f"judged={qrels}", good, poor, "--qrels", f"raw={clicks}", "--measures", "AP"
    )
    assert list(result["qrels"]) == ["judged", "raw"]
    assert result["qrels"]["raw"]["good"]["AP"] == pytest.approx((1 / 3 / 2 + 1 + 0) / 3)


def test_table_2_of_tripjudge_has_the_measures_under_each_qrels_in_one_row(
    tmp_path: Path,
) -> None:
    qrels, clicks, good, poor = files(tmp_path, qrels=QRELS, clicks=CLICKS, good=GOOD, poor=POOR)
    measures = "Judged@5 Judged@10 nDCG-J@5 nDCG@5 nDCG@10 R@100"
    out, _ = printed(
        "evaluate",
        f"TripJudge={qrels}",
        good,
        poor,
        "--qrels",
        f"DCTR={clicks}",
        "--measures",
        measures,
    )
    title, _, head, row = out.splitlines()[:4]
    assert title == "Scores of runs"
    assert re.split(r"  +", head.strip()) == [
        "run",
        *(f"{m} ({name})" for name in ("TripJudge", "DCTR") for m in measures.split()),
    ]
    assert row.split()[0] == "good"
    assert len(row.split()) == 13
    counts = [line.split() for line in out.splitlines() if line.startswith("TripJudge")]
    assert ["TripJudge", "poor", "3", "1", "3", "2", "1"] in counts


def test_each_topic_is_a_row_of_the_table(tmp_path: Path) -> None:
    out, _ = printed(
        "evaluate", *files(tmp_path, qrels=QRELS, poor=POOR), "--measures", "AP RR", "--per-topic"
    )
    assert ["poor", "1", "0.2500", "0.5000"] in [line.split() for line in out.splitlines()]


def test_a_second_run_of_the_same_tag_gets_a_number_and_a_warning(tmp_path: Path) -> None:
    paths = files(tmp_path, qrels=QRELS, good=GOOD, again=GOOD, third=GOOD)
    assert list(run("evaluate", *paths)["qrels"]["qrels"]) == ["good", "good#2", "good#3"]
    _, err = printed("evaluate", *paths)
    assert "two runs have the tag good; the second is called good#2" in err


def test_a_tag_that_looks_like_a_numbered_one_is_not_overwritten(tmp_path: Path) -> None:
    paths = files(tmp_path, qrels=QRELS, one=GOOD, two=GOOD.replace("good", "good#2"), three=GOOD)
    assert list(run("evaluate", *paths)["qrels"]["qrels"]) == ["good", "good#2", "good#3"]
    assert list(run("evaluate", paths[0], paths[1], paths[3], paths[2])["qrels"]["qrels"]) == [
        "good",
        "good#2",
        "good#2#2",
    ]


def test_three_columns_and_extra_columns_are_read_only_when_lenient(tmp_path: Path) -> None:
    qrels, short, long = files(
        tmp_path, qrels=QRELS, short="1\ta\t1\n", long=GOOD.replace("good\n", "good junk\n")
    )
    assert list(run("evaluate", qrels, short, long, "--lenient")["qrels"]["qrels"]) == [
        "short",
        "good",
    ]
    for path in (short, long):
        status, out, err = refused("evaluate", qrels, path)
        assert (status, out) == (2, "")
        assert err.startswith(f"{path}:1: ")


def test_scores_can_be_compared_in_single_precision(tmp_path: Path) -> None:
    close = "1 Q0 a 1 1.000000001 close\n1 Q0 c 2 1.0 close\n"
    qrels, path = files(tmp_path, qrels="1 0 a 1\n", close=close)
    assert run("evaluate", qrels, path, "--measures", "RR")["qrels"]["qrels"]["close"]["RR"] == 1
    single = run("evaluate", qrels, path, "--measures", "RR", "--precision", "float32")
    assert single["qrels"]["qrels"]["close"]["RR"] == 0.5  # tied, so c before a
    assert "equal only in single precision" in printed("evaluate", qrels, path)[1]


def test_bad_input_ends_with_status_2_and_nothing_on_standard_output(tmp_path: Path) -> None:
    qrels, good, bad = files(tmp_path, qrels=QRELS, good=GOOD, bad="1 Q0 a 1 high bad\n")
    status, out, err = refused("evaluate", qrels, good, bad)
    assert (status, out) == (2, "")
    assert err.startswith(f"{bad}:1: ")
    assert refused("evaluate", str(tmp_path / "absent"), good)[0] == 2
    twice = refused("evaluate", qrels, good, "--qrels", f"qrels={qrels}")
    assert twice == (2, "", f"two qrels are called qrels; rename one, for example first={qrels}\n")


def test_an_unknown_measure_is_refused_with_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(
        WrongArguments, match=r"unknown measure 'MAPP'; did you mean AP\? Choose from AP"
    ):
        run("evaluate", *files(tmp_path, qrels=QRELS, good=GOOD), "--measures", "MAPP")


def test_measures_of_trec_eval_are_shown_by_their_canonical_names(tmp_path: Path) -> None:
    qrels, good = files(tmp_path, qrels=QRELS, good=GOOD)
    expected = run("evaluate", qrels, good, "--measures", "AP nDCG@2 RR P@2 AP(rel=2)")
    found = run("evaluate", qrels, good, "--measures", "map ndcg_cut_2 recip_rank P_2 MAP(rel=2)")
    assert found == expected


def test_what_would_be_printed_can_go_to_a_file(tmp_path: Path) -> None:
    target = tmp_path / "result.txt"
    out, _ = printed(
        "evaluate", *files(tmp_path, qrels=QRELS, good=GOOD, other=OTHER), "--output", str(target)
    )
    assert out == ""
    assert target.read_text().splitlines()[3].startswith("good")


@pytest.mark.data
def test_compressed_files_of_a_real_collection_give_the_official_mean(data_folder: Path) -> None:
    folder = data_folder / "robust03"
    result = run(
        "evaluate",
        str(folder / "qrels.robust2003.txt.gz"),
        str(folder / "runs" / "input.aplrob03a.gz"),
        "--measures",
        "AP P@100",
    )
    (means,) = result["qrels"]["qrels.robust2003"].values()
    assert {measure: round(mean, 4) for measure, mean in means.items()} == {
        "AP": 0.2998,
        "P@100": 0.1864,
    }


def test_intervals_over_topics_are_those_of_t_and_hall_and_reasons_stand_where_there_are_none(
    tmp_path: Path,
) -> None:
    """RR of each topic is one over the rank at which its only relevant document stands."""
    ranks = [1, 2, 3, 4, 5] * 6
    lines = [
        f"{topic} Q0 {'rel' if place == rank else f'x{place}'} {place} {9 - place} a"
        for topic, rank in enumerate(ranks, 1)
        for place in range(1, rank + 1)
    ]
    always = [f"{topic} Q0 rel 1 1 same" for topic in range(1, 31)]
    judged = "".join(f"{topic} 0 rel 1\n" for topic in range(1, 31))
    paths = files(tmp_path, qrels=judged, a="\n".join(lines) + "\n", same="\n".join(always) + "\n")
    result = run("evaluate", *paths, "--measures", "RR", "--intervals")
    scores = [1 / rank for rank in ranks]
    assert result["interval"]["qrels"]["a"]["RR"] == pytest.approx(
        wider_interval(np.array(scores)), rel=1e-9
    )
    assert result["interval_reason"]["qrels"] == {
        "a": {},
        "same": {"RR": "all 30 topics have the same value"},
    }
    assert result["interval"]["qrels"]["same"]["RR"] == [None, None]
    assert result["qrels"]["qrels"]["a"]["RR"] == pytest.approx(
        137 / 300
    )  # (1 + 1/2 + 1/3 + 1/4 + 1/5) / 5
    assert "interval" not in run("evaluate", *paths, "--measures", "RR")
    out, _ = printed("evaluate", *paths, "--measures", "RR", "--intervals")
    assert "Confidence intervals of means" in out
    assert "all 30 topics have the same value" in out


def test_runs_whose_topics_are_not_those_of_the_qrels_are_told_and_refused_where_all_are(
    tmp_path: Path,
) -> None:
    strange = "".join(f"t{line}\n" for line in GOOD.replace("good", "strange").splitlines())
    qrels, good, other = files(tmp_path, qrels=QRELS, good=GOOD, strange=strange)
    found, said = answer("evaluate", qrels, good, other, "--measures", "AP")
    assert said == "warning: strange has no results for the topics of qrels; check the topic IDs\n"
    assert found["qrels"]["qrels"]["strange"] == {"AP": 0.0}
    assert refused("evaluate", qrels, other) == (
        2,
        "",
        "no run has results for a topic of the qrels; check the topic IDs\n",
    )

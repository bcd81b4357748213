from __future__ import annotations

from pathlib import Path

import pytest

from tests.analysis.commands.judged_file import refused, run
from tests.analysis.commands.ranked_files import CLICKS, QRELS, files, printed
from tests.analysis.publishing.exported import examples_campaign

POOL = "topic\tdocument\tbest_rank\tpriority\truns\n1\ta\t1\t9\tA:1\n2\ta\t1\t9\tA:1\n1\tq\t2\t8\tA:2\n1\tb\t5\t5\tA:5\n1\tc\t6\t4\tA:6\n"


def test_all_judged_pairs_are_compared_with_each_click_qrels(tmp_path: Path) -> None:
    qrels, clicks, raw = files(tmp_path, qrels=QRELS, clicks=CLICKS, raw="1 0 c 1\n")
    result = run("label_overlap", "--judged", qrels, "--clicks", f"dctr={clicks}", raw)
    # judged: 1a 2, 1b 0, 1c 1, 2a 1, 3z 0 (2d is unjudged); clicks: 1a 0, 1b 1, 1q 1, 2a 3, 4a 1
    assert result["dctr"] == {
        "pairs": 5,
        "relevant": {"unlabelled": 0.2, "0": 0.2, "1": 0, "3": 0.2},
        "irrelevant": {"unlabelled": 0.2, "0": 0, "1": 0.2, "3": 0},
        "agree": 0.4,
        "disagree": 0.6,
        "both": 3,
        "judged_only": 2,
        "clicked_only": 2,
        "contradicting": 2,
    }
    assert (result["raw"]["both"], result["raw"]["agree"]) == (1, 0.6)


def test_only_the_top_of_the_pool_is_considered(tmp_path: Path) -> None:
    qrels, clicks, pool = files(tmp_path, qrels=QRELS, clicks=CLICKS, pool=POOL)
    arguments = ["--judged", qrels, "--clicks", clicks, "--pool", pool]
    top = run("label_overlap", *arguments)["clicks"]
    assert (top["pairs"], top["both"], top["clicked_only"], top["agree"]) == (2, 2, 1, 0.5)
    assert run("label_overlap", *arguments, "--top", "5")["clicks"]["pairs"] == 3
    assert (
        run("label_overlap", *arguments, "--top", "5", "--min-relevant", "2")["clicks"][
            "contradicting"
        ]
        == 3
    )


def test_shares_of_nothing_are_null_with_a_reason(tmp_path: Path) -> None:
    qrels, clicks = files(tmp_path, qrels="1 0 a -1\n", clicks=CLICKS)
    found = run("label_overlap", "--judged", qrels, "--clicks", clicks)["clicks"]
    assert found["agree"] is None
    assert "none of the pairs considered is judged" in found["undefined"]
    assert (
        "none of the pairs considered is judged"
        in printed("label_overlap", "--judged", qrels, "--clicks", clicks)[0]
    )


def test_a_pool_without_ranks_is_refused(tmp_path: Path) -> None:
    qrels, clicks, pool = files(
        tmp_path, qrels=QRELS, clicks=CLICKS, pool="topic\tdocument\n1\ta\n"
    )
    status, out, err = refused(
        "label_overlap", "--judged", qrels, "--clicks", clicks, "--pool", pool
    )
    assert (status, out) == (2, "")
    assert "best rank" in err


def test_the_table_shows_both_kinds_of_judgements(tmp_path: Path) -> None:
    qrels, clicks = files(tmp_path, qrels=QRELS, clicks=CLICKS)
    out, _ = printed("label_overlap", "--judged", qrels, "--clicks", clicks)
    rows = [line.split() for line in out.splitlines()]
    assert ["clicks", "relevant", "0.2000", "0.2000", "0.0000", "0.2000"] in rows
    assert ["clicks", "irrelevant", "0.2000", "0.0000", "0.2000", "0.0000"] in rows


@pytest.mark.data
def test_the_judged_pairs_of_nfcorpus_against_simulated_clicks_are_counted_as_sets_count_them(
    data_folder: Path,
) -> None:
    folder = data_folder / "nfcorpus"
    judged_file, clicks_file = (
        folder / "beir/qrels/test.tsv",
        folder / "sim-clicks/expected.qrels.raw.txt",
    )
    judged = {tuple(line.split()[:2]) for line in judged_file.read_text().splitlines()[1:]}
    clicked = {
        (words[0], words[2]): words[3]
        for words in map(str.split, clicks_file.read_text().splitlines())
    }
    found = run("label_overlap", "--judged", str(judged_file), "--clicks", f"raw={clicks_file}")[
        "raw"
    ]
    both = judged & clicked.keys()
    assert found["pairs"] == len(judged) == 15_820
    assert (found["both"], found["clicked_only"]) == (len(both), len(clicked) - len(both))
    assert (
        found["relevant"]["1"]
        == found["agree"]
        == sum(clicked[pair] == "1" for pair in both) / 15_820
    )


@pytest.mark.django_db
def test_the_pairs_of_a_campaign_that_contradict_the_clicks_come_with_their_texts(
    tmp_path: Path,
) -> None:
    campaign = examples_campaign()
    # the labels on two grades are 1 for t1 and 0 for t2; d2 of t1 agrees, d3 has no click label, d9
    # is not judged
    (clicks,) = files(tmp_path, clicks="t1 0 d1 0\nt1 0 d2 1\nt2 0 d1 2\nt2 0 d9 1\n")
    campaign.pool.entries.filter(topic__topic_id="t2", docno="d1").update(document=None)
    found = run("label_overlap", "--campaign", campaign.slug, "--clicks", clicks)["clicks"]
    text = "Document 1 speaks of query number 1. It has a second sentence."
    assert found["contradicting"] == 2
    assert found["contradicting_pairs"] == [
        {
            "topic": "t1",
            "document": "d1",
            "judged": 1,
            "clicks": 0,
            "query": "query number 1",
            "title": "Title 1",
            "text": text,
        },
        {
            "topic": "t2",
            "document": "d1",
            "judged": 0,
            "clicks": 2,
            "query": "query number 2",
            "title": None,
            "text": None,
        },
    ]
    assert (
        "contradicting_pairs"
        not in run("label_overlap", "--judged", clicks, "--clicks", f"other={clicks}")["other"]
    )

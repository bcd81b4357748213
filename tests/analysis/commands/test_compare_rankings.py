from __future__ import annotations

from pathlib import Path

import pytest

from tests.analysis.commands.judged_file import refused, run
from tests.analysis.commands.ranked_files import CLICKS, GOOD, OTHER, POOR, QRELS, files, printed


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    qrels, clicks, *runs = files(tmp_path, qrels=QRELS, clicks=CLICKS, good=GOOD, poor=POOR, other=OTHER)
    return [*runs, "--qrels", f"judged={qrels}", "--qrels", f"clicks={clicks}", "--measures", "AP RR"]


def test_correlations_swaps_and_ties_by_hand(arguments: list[str]) -> None:
    # AP judged: good 2/3, poor 1/4/3, other (1/4 + 1/2)/3; clicks (topics 1, 2, 4): good (1/6 + 1)/3, poor (1/2)/3, other (1/2)/3
    result = run("compare_rankings", *arguments)
    assert result["qrels"]["clicks"] == {
        "good": {"AP": pytest.approx(7 / 18), "RR": pytest.approx(4 / 9)},
        "poor": {"AP": pytest.approx(1 / 6), "RR": pytest.approx(1 / 3)},
        "other": {"AP": pytest.approx(1 / 6), "RR": pytest.approx(1 / 6)},
    }
    assert result["tied"]["AP"] == {"judged": 0, "clicks": 1}
    assert result["tau"]["AP"]["judged"]["clicks"] == pytest.approx(2 / (3 * 2) ** 0.5)
    assert result["tau_a"]["AP"] == {"judged": {"clicks": pytest.approx(2 / 3)}, "clicks": {"judged": pytest.approx(2 / 3)}}
    assert result["swaps"]["AP"]["judged"]["clicks"] == []
    assert result["swaps"]["RR"]["judged"]["clicks"] == [["other", "poor"]]
    assert result["swaps"]["RR"]["clicks"]["judged"] == [["poor", "other"]]
    assert result["tau"]["RR"]["judged"]["clicks"] == pytest.approx(1 / 3)
    assert result["tau_ap"]["RR"]["judged"]["clicks"] == pytest.approx(2 / 2 * (1 + 1 / 2) - 1)
    assert result["topics"] == {"judged": {"clicks": 2}, "clicks": {"judged": 2}}
    assert result["seed"] == 0


def test_the_interval_is_the_same_for_a_seed_and_whatever_the_order_of_files(arguments: list[str]) -> None:
    first = run("compare_rankings", *arguments, "--bootstrap", "200")
    turned = run("compare_rankings", *arguments[2::-1], *arguments[3:], "--bootstrap", "200")
    assert first["interval"] == turned["interval"]
    low, high = first["interval"]["RR"]["judged"]["clicks"]
    assert -1 <= low <= high <= 1
    assert first["interval"]["RR"]["clicks"]["judged"] == [low, high]


def test_without_shared_topics_there_is_no_interval(tmp_path: Path) -> None:
    qrels, clicks, good, poor = files(tmp_path, qrels=QRELS, clicks="9 0 a 1\n", good=GOOD, poor=POOR)
    result = run("compare_rankings", good, poor, "--qrels", qrels, "--qrels", clicks, "--measures", "AP")
    assert result["interval"]["AP"]["qrels"]["clicks"] == [None, None]
    assert result["topics"]["qrels"]["clicks"] == 0
    assert result["tau"]["AP"]["qrels"]["clicks"] == -1


def test_an_undefined_correlation_is_null_with_a_reason(tmp_path: Path) -> None:
    qrels, clicks, good, poor = files(tmp_path, qrels=QRELS, clicks="5 0 a 1\n", good=GOOD, poor=POOR)
    options = ["--qrels", qrels, "--qrels", clicks, "--measures", "AP"]
    tied = run("compare_rankings", good, poor, *options)
    assert tied["tau"]["AP"]["qrels"]["clicks"] is None
    assert tied["undefined"]["AP"]["qrels"]["clicks"] == "all systems are tied under clicks"
    alone = run("compare_rankings", good, *options)
    assert alone["undefined"]["AP"]["clicks"]["qrels"] == "one system cannot be ranked"


def test_the_table_shows_means_correlations_and_how_to_read_them(arguments: list[str]) -> None:
    out, _ = printed("compare_rankings", *arguments, "--bootstrap", "0")
    assert "judged - clicks" in out
    assert "equivalent (Voorhees)" in out
    row = next(line.split() for line in out.splitlines() if line.startswith("RR"))
    assert row[4:] == ["0.3333", "-", "-", "0.3333", "0.5000", "1", "0", "/", "0"]


def test_one_qrels_is_not_enough(arguments: list[str]) -> None:
    status, out, err = refused("compare_rankings", *arguments[:5])
    assert (status, out) == (2, "")
    assert "at least twice" in err


@pytest.mark.data
def test_the_simulated_clicks_of_nfcorpus_give_the_expected_taus_and_means(data_folder: Path) -> None:
    folder = data_folder / "nfcorpus"
    clicks = folder / "sim-clicks"
    runs = sorted(map(str, (folder / "runs").glob("*.gz")))
    named = {"judg": folder / "beir/qrels/test.tsv", "dctr": clicks / "expected.qrels.dctr.txt", "raw": clicks / "expected.qrels.raw.txt"}
    options = [part for name, file in named.items() for part in ("--qrels", f"{name}={file}")]
    result = run("compare_rankings", *runs, *options, "--measures", "nDCG@5 nDCG@10 RR R@100", "--bootstrap", "100")
    ours = {"ndcg_cut_5": "nDCG@5", "ndcg_cut_10": "nDCG@10", "recip_rank": "RR", "recall_100": "R@100"}

    header, *rows = [line.split("\t") for line in (clicks / "expected.kendall_tau_b.tsv").read_text().splitlines()]
    assert len(rows) == 4
    for measure, *taus in rows:
        for pair, printed_tau in zip(header[1:], taus, strict=True):
            a, b = pair.replace("judgement", "judg").split("-")
            assert f"{result['tau'][ours[measure]][a][b]:.4f}" == printed_tau

    means = [line.split("\t") for line in (clicks / "expected.means.tsv").read_text().splitlines()[1:]]
    assert len(means) == 120
    for system, qrels, measure, printed_mean in means:
        assert f"{result['qrels'][qrels][f'nf_{system}'][ours[measure]]:.6f}" == printed_mean

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.analysis.commands.judged_file import refused, run
from tests.analysis.commands.ranked_files import CLICKS, GOOD, OTHER, POOR, QRELS, files, printed


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    qrels, clicks, *runs = files(
        tmp_path, qrels=QRELS, clicks=CLICKS, good=GOOD, poor=POOR, other=OTHER
    )
    return [
        *runs,
        "--qrels",
        f"judged={qrels}",
        "--qrels",
        f"clicks={clicks}",
        "--measures",
        "AP RR",
    ]


def test_correlations_swaps_and_ties_by_hand(arguments: list[str]) -> None:
    # AP judged: good 2/3, poor 1/4/3, other (1/4 + 1/2)/3; clicks (topics 1, 2, 4): good (1/6 +
    # 1)/3, poor (1/2)/3, other (1/2)/3
    result = run("compare_rankings", *arguments)
    assert result["qrels"]["clicks"] == {
        "good": {"AP": pytest.approx(7 / 18), "RR": pytest.approx(4 / 9)},
        "poor": {"AP": pytest.approx(1 / 6), "RR": pytest.approx(1 / 3)},
        "other": {"AP": pytest.approx(1 / 6), "RR": pytest.approx(1 / 6)},
    }
    assert result["tied"]["AP"] == {"judged": 0, "clicks": 1}
    assert result["tau"]["AP"]["judged"]["clicks"] == pytest.approx(2 / (3 * 2) ** 0.5)
    assert result["tau_a"]["AP"] == {
        "judged": {"clicks": pytest.approx(2 / 3)},
        "clicks": {"judged": pytest.approx(2 / 3)},
    }
    assert result["swaps"]["AP"]["judged"]["clicks"] == []
    assert result["swaps"]["RR"]["judged"]["clicks"] == [["other", "poor"]]
    assert result["swaps"]["RR"]["clicks"]["judged"] == [["poor", "other"]]
    assert result["tau"]["RR"]["judged"]["clicks"] == pytest.approx(1 / 3)
    assert result["tau_ap"]["RR"]["judged"]["clicks"] == pytest.approx(2 / 2 * (1 + 1 / 2) - 1)
    assert result["topics"] == {"judged": {"clicks": 2}, "clicks": {"judged": 2}}
    assert result["seed"] == 0


def test_tau_between_measures_under_one_qrels_by_hand(arguments: list[str]) -> None:
    # judged: AP 2/3, 1/12, 1/4 and RR rank good, other, poor alike; clicks: AP ties poor and other,
    # RR does not
    result = run("compare_rankings", *arguments)
    judged = result["qrels"]["judged"]
    assert judged["good"]["RR"] > judged["other"]["RR"] > judged["poor"]["RR"]
    tied = pytest.approx(2 / (2 * 3) ** 0.5)
    assert result["between_measures"] == {
        "judged": {"AP": {"RR": 1.0}, "RR": {"AP": 1.0}},
        "clicks": {"AP": {"RR": tied}, "RR": {"AP": tied}},
    }
    out, _ = printed("compare_rankings", *arguments)
    lines = [line.split() for line in out.splitlines()]
    first = lines.index(["qrels", "measure", "A", "measure", "B", "tau-b"])
    assert lines[first + 1 : first + 3] == [
        ["judged", "AP", "RR", "1.0000"],
        ["clicks", "AP", "RR", "0.8165"],
    ]


def test_the_interval_is_the_same_for_a_seed_and_whatever_the_order_of_files(
    arguments: list[str],
) -> None:
    first = run("compare_rankings", *arguments, "--bootstrap", "200")
    turned = run("compare_rankings", *arguments[2::-1], *arguments[3:], "--bootstrap", "200")
    assert first["interval"] == turned["interval"]
    assert first["interval"]["RR"]["clicks"]["judged"] == [None, None]
    assert "2 shared topics" in first["interval_reason"]["RR"]["clicks"]["judged"]
    assert first["undecided"]["RR"]["judged"]["clicks"]


def test_the_interval_is_the_same_for_any_order_of_the_qrels_and_whatever_else_is_compared(
    tmp_path: Path,
) -> None:
    """Sixty topics; each of three qrels has one relevant document, which the four runs put at ranks
    of their own, on four topics of five."""
    rng = np.random.default_rng(4)
    ranks = {"x": [1, 2, 4, 8], "y": [2, 1, 4, 8], "z": [8, 4, 1, 2]}

    def ranking(run: int) -> list[str]:
        places = dict.fromkeys("xyz", 0) | {
            name: int(ranks[name][run] if rng.random() < 0.8 else rng.integers(1, 9))
            for name in "xyz"
        }
        return sorted("xyzuvwst", key=lambda d: places.get(d, 5) + 0.5 * rng.random())

    runs = {
        f"r{i}": "".join(
            f"{t} Q0 {d} {k} {9 - k} r{i}\n" for t in range(60) for k, d in enumerate(ranking(i))
        )
        for i in range(4)
    }
    qrels = {name: "".join(f"{t} 0 {name} 1\n" for t in range(60)) for name in "xyz"}
    paths = files(tmp_path, **runs)
    named = {
        name: f"--qrels={name}={path}"
        for name, path in zip("xyz", files(tmp_path, **qrels), strict=True)
    }
    found = [
        run(
            "compare_rankings",
            *paths,
            *(named[name] for name in order),
            "--measures",
            "AP",
            "--bootstrap",
            "50",
        )["interval"]["AP"]
        for order in ("xyz", "zyx", "yxz", "zy", "yz")
    ]
    assert (
        len(
            {tuple(interval["z"]["y"]) for interval in found}
            | {tuple(interval["y"]["z"]) for interval in found}
        )
        == 1
    )
    assert found[0] == found[1] == found[2]
    assert found[0]["z"]["y"][0] is not None


def test_systems_that_are_all_tied_have_no_ap_correlation_and_names_never_matter(
    tmp_path: Path,
) -> None:
    ranked = {
        "p": "1 Q0 a 1 2 p\n2 Q0 a 1 2 p\n",
        "q": "1 Q0 a 1 2 q\n2 Q0 b 1 2 q\n",
        "r": "1 Q0 b 1 2 r\n2 Q0 b 1 2 r\n",
    }
    first, second, tied, *_ = files(
        tmp_path, first="1 0 a 1\n2 0 a 1\n", second="1 0 a 1\n", tied="1 0 z 1\n2 0 z 1\n"
    )
    found = []
    for names in ({"p": "a", "q": "b", "r": "c"}, {"p": "c", "q": "b", "r": "a"}):
        paths = files(
            tmp_path,
            **{
                names[tag]: text.replace(f" {tag}\n", f" {names[tag]}\n")
                for tag, text in ranked.items()
            },
        )
        found.append(
            run(
                "compare_rankings",
                *paths,
                *(f"--qrels={path}" for path in (first, second, tied)),
                "--measures",
                "RR@10",
            )
        )
    for result in found:
        assert (
            result["tau_ap"]["RR@10"]["first"]["tied"]
            is result["tau_ap"]["RR@10"]["tied"]["first"]
            is None
        )
        assert result["undefined"]["RR@10"]["first"]["tied"] == "all systems are tied under tied"
        # first: p q r by 1, 1/2, 0; second: p and q by 1, r by 0. Expected share above q or p 1/2,
        # above r 1: 2/2 (1/2 + 1) - 1
        assert result["tau_ap"]["RR@10"]["first"]["second"] == pytest.approx(0.5)
        assert result["tau_ap_variant"]["RR@10"]["first"]["second"] == "tau_ap,a"
        # with the reference tied, both ways: q has p rightly above or not, r both: ((0 + 1) - 1 + 2
        # * 1 - 1) / 2
        assert result["tau_ap"]["RR@10"]["second"]["first"] == pytest.approx(0.5)
        assert result["tau_ap_variant"]["RR@10"]["second"]["first"] == "tau_ap,b"


def test_without_shared_topics_there_is_no_interval(tmp_path: Path) -> None:
    qrels, clicks, good, poor = files(
        tmp_path, qrels=QRELS, clicks="9 0 a 1\n", good=GOOD, poor=POOR
    )
    result = run(
        "compare_rankings", good, poor, "--qrels", qrels, "--qrels", clicks, "--measures", "AP"
    )
    assert result["interval"]["AP"]["qrels"]["clicks"] == [None, None]
    assert result["topics"]["qrels"]["clicks"] == 0
    assert result["tau"]["AP"]["qrels"]["clicks"] == -1


def test_an_undefined_correlation_is_null_with_a_reason(tmp_path: Path) -> None:
    qrels, clicks, good, poor = files(
        tmp_path, qrels=QRELS, clicks="5 0 a 1\n", good=GOOD, poor=POOR
    )
    options = ["--qrels", qrels, "--qrels", clicks, "--measures", "AP"]
    tied = run("compare_rankings", good, poor, *options)
    assert tied["tau"]["AP"]["qrels"]["clicks"] is None
    assert tied["undefined"]["AP"]["qrels"]["clicks"] == "all systems are tied under clicks"
    alone = run("compare_rankings", good, *options)
    assert alone["undefined"]["AP"]["clicks"]["qrels"] == "there is only one system to rank"


def test_the_table_shows_means_correlations_and_how_to_read_them(arguments: list[str]) -> None:
    out, _ = printed("compare_rankings", *arguments, "--bootstrap", "0")
    assert "equivalent (Voorhees)" in out
    row = next(line.split() for line in out.splitlines() if line.startswith("RR"))
    assert row[1:3] == ["judged", "clicks"]
    # RBO: the second and third change places: .1 (1 + .9 / 2 + .81) + .9^3
    assert row[3:8] == ["0.3333", "–", "–", "0.3333", "0.5000"]
    assert row[9:13] == ["0.9550", "1", "0", "0"]


def test_one_qrels_is_not_enough(arguments: list[str]) -> None:
    status, out, err = refused("compare_rankings", *arguments[:5])
    assert (status, out) == (2, "")
    assert "at least twice" in err


@pytest.mark.data
def test_the_simulated_clicks_of_nfcorpus_give_the_expected_taus_and_means(
    data_folder: Path,
) -> None:
    folder = data_folder / "nfcorpus"
    clicks = folder / "sim-clicks"
    runs = sorted(map(str, (folder / "runs").glob("*.gz")))
    named = {
        "judg": folder / "beir/qrels/test.tsv",
        "dctr": clicks / "expected.qrels.dctr.txt",
        "raw": clicks / "expected.qrels.raw.txt",
    }
    options = [part for name, file in named.items() for part in ("--qrels", f"{name}={file}")]
    result = run(
        "compare_rankings",
        *runs,
        *options,
        "--measures",
        "nDCG@5 nDCG@10 RR R@100",
        "--bootstrap",
        "100",
    )
    ours = {
        "ndcg_cut_5": "nDCG@5",
        "ndcg_cut_10": "nDCG@10",
        "recip_rank": "RR",
        "recall_100": "R@100",
    }

    header, *rows = [
        line.split("\t")
        for line in (clicks / "expected.kendall_tau_b.tsv").read_text().splitlines()
    ]
    assert len(rows) == 4
    for measure, *taus in rows:
        for pair, printed_tau in zip(header[1:], taus, strict=True):
            a, b = pair.replace("judgement", "judg").split("-")
            assert f"{result['tau'][ours[measure]][a][b]:.4f}" == printed_tau

    means = [
        line.split("\t") for line in (clicks / "expected.means.tsv").read_text().splitlines()[1:]
    ]
    assert len(means) == 120
    for system, qrels, measure, printed_mean in means:
        assert f"{result['qrels'][qrels][f'nf_{system}'][ours[measure]]:.6f}" == printed_mean

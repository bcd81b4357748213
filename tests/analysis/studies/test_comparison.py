"""The study of systems: its folder, and its numbers against the hand and scipy."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import subprocess
from bisect import bisect_left
from itertools import combinations, permutations, product
from math import comb, nan, sqrt
from pathlib import Path
from shutil import which

import numpy as np
import pytest
from scipy import stats

from assay.charts.print_files import FONTS, find_font_family
from tests.analysis.studies.made import about, drawn, json_table, refusal, study_of, table
from tests.assay.comparison.counted_signs import counted_signed_rank
from tests.assay.comparison.hall import wider_interval
from tests.assay.two_columns import font_sizes, typeset
from tests.conftest import absent

QRELS = "".join(f"{t} 0 r 1\n" for t in range(6))
RUNS = {
    "good": "".join(f"{t} Q0 r 1 2 good\n{t} Q0 x 2 1 good\n" for t in range(6)),
    "late": "".join(f"{t} Q0 x 1 2 late\n{t} Q0 r 2 1 late\n" for t in range(6)),
    "mixed": "".join(f"{t} Q0 {'r' if t < 3 else 'x'} 1 2 mixed\n" for t in range(6)),
}
"""RR: good 1, late .5, mixed 1 1 1 0 0 0."""
DAGGER = r"good & \textbf{1.000}\raisebox{.4ex}{\fontsize{7}{7}\selectfont $\dagger$} \\"
TOML = (
    'study = "comparison"\ntitle = "Three & more"\nqrels = "qrels.txt"\nruns = ["good.txt", '
    '"late.txt", "mixed.txt"]\nmeasures = "RR"\n'
)


def made(tmp_path: Path, more: str = "") -> Path:
    tmp_path.mkdir(exist_ok=True)
    return study_of(
        tmp_path,
        "comparison",
        TOML + more,
        qrels=QRELS,
        groups="0\tHead\n1\tHead\n2\tTail\n3\tTail\n4\tTail\n5\tTail\n",
        **RUNS,
    )


def test_means_letters_and_bold_are_those_of_the_hand(tmp_path: Path) -> None:
    out = made(tmp_path, 'correction = "none"\n')
    rows = {row["run"]: row for row in table(out, "scores")}
    assert {tag: float(row["mean"]) for tag, row in rows.items()} == {
        "good": 1.0,
        "late": 0.5,
        "mixed": 0.5,
    }
    assert rows["good"]["group"] != rows["late"]["group"]  # a constant difference: t gives p = 0
    latex = (out / "tables" / "scores.tex").read_text(encoding="utf-8")
    assert r"good & \textbf{1.000} & a" in latex
    assert r"\multicolumn{2}{c}{RR}" in latex
    assert r"\cmidrule(lr){2-3}" in latex


def test_against_a_baseline_daggers_stand_behind_what_the_test_finds(tmp_path: Path) -> None:
    out = made(tmp_path, 'against = "late"\ncorrection = "none"\n')
    assert DAGGER in (out / "tables" / "scores.tex").read_text(encoding="utf-8")
    data = json.loads((out / "tables" / "scores.json").read_text(encoding="utf-8"))
    assert data["marks"] == [[0, 1, "†"]]  # mixed differs from late by +.5 and -.5: no mark


def test_tests_of_a_pair_are_those_of_scipy(tmp_path: Path) -> None:
    row = next(
        row
        for row in table(made(tmp_path, 'correction = "none"\n'), "differences-RR")
        if (row["A"], row["B"]) == ("good", "mixed")
    )
    good, mixed = [1] * 6, [1, 1, 1, 0, 0, 0]
    found = stats.ttest_rel(mixed, good)
    assert float(row["t p"]) == pytest.approx(found.pvalue)
    assert [row["2.5%"], row["97.5%"], row["why no CI"]] == [
        "",
        "",
        "6 topics; a confidence interval needs 30",
    ]
    assert (row["wins"], row["ties"], row["losses"]) == ("0", "3", "3")
    assert float(row["permutation p"]) == pytest.approx(2 / 8)


def test_the_interval_of_the_effect_stands_beside_it(tmp_path: Path) -> None:
    """As scipy's noncentral t has it: at either end the observed t is just likely."""
    row = next(
        row
        for row in table(made(tmp_path), "differences-RR")
        if (row["A"], row["B"]) == ("good", "mixed")
    )
    n = sum(int(row[name]) for name in ("wins", "ties", "losses"))
    t = float(row["effect"]) * n**0.5
    assert stats.nct.sf(t, n - 1, float(row["from"]) * n**0.5) == pytest.approx(0.025, abs=1e-4)
    assert stats.nct.cdf(t, n - 1, float(row["to"]) * n**0.5) == pytest.approx(0.025, abs=1e-4)


SCORES = {"good": [1.0] * 6, "late": [0.5] * 6, "mixed": [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]}
"""RR by topic."""


def test_every_raw_and_corrected_p_stands_in_its_column_and_those_below_the_level_are_bold(
    tmp_path: Path,
) -> None:
    """good against late: six losses, 2 / 2^6; against mixed three, 2 / 2^3. Holm: three, two and
    one times the p, in ascending order."""
    names = ("t p", "signed-rank p", "sign p", "permutation p")
    plain, holm = (
        made(tmp_path / family, f'correction = "{family}"\n') for family in ("none", "holm")
    )
    t = stats.ttest_rel(SCORES["good"], SCORES["mixed"]).pvalue
    raw = {
        ("good", "late"): [nan, 1 / 32, 1 / 32, 1 / 32],
        ("good", "mixed"): [t, 0.25, 0.25, 0.25],
        ("late", "mixed"): [1.0, 1.0, 1.0, 1.0],
    }
    held = {
        ("good", "late"): [nan, 3 / 32, 3 / 32, 3 / 32],
        ("good", "mixed"): [3 * t, 0.5, 0.5, 0.5],
        ("late", "mixed"): [1.0, 1.0, 1.0, 1.0],
    }
    found = {(row["A"], row["B"]): row for row in table(plain, "differences-RR")}
    corrected = {(row["A"], row["B"]): row for row in table(holm, "differences-RR")}
    for pair, expected in raw.items():
        assert [float(found[pair][name] or nan) for name in names] == pytest.approx(
            expected, nan_ok=True
        )
        assert [float(corrected[pair][f"raw: {name}"] or nan) for name in names] == pytest.approx(
            expected, nan_ok=True
        )
        assert [
            float(corrected[pair][f"corrected (holm): {name}"] or nan) for name in names
        ] == pytest.approx(held[pair], nan_ok=True)
        x, y = (np.array(SCORES[tag]) for tag in pair)
        assert float(found[pair]["B - A"]) == (y - x).mean()
        effect = None if np.ptp(y - x) == 0 else pytest.approx((y - x).mean() / (y - x).std(ddof=1))
        assert (float(found[pair]["effect"]) if found[pair]["effect"] else None) == effect
    assert json_table(plain, "differences-RR")["bold"] == [
        [0, 13],
        [0, 14],
        [0, 15],
    ]  # the first pair: three times 1 / 32; t is undefined
    assert "In bold: p-values below 0.05." in json_table(plain, "differences-RR")["note"]
    assert "bold" not in json_table(holm, "differences-RR")
    assert "In bold: corrected p-values below 0.05." in json_table(holm, "differences-RR")["note"]
    assert [row[:2] for row in drawn(plain, "differences-RR")[1:]] == [
        ["late - good", "−0.500"],
        ["mixed - good", "−0.500"],
        ["mixed - late", "0"],
    ]
    assert found["good", "late"]["effect"] == ""
    assert (
        "t is undefined and the permutation test decides"
        in json_table(plain, "differences-RR")["note"]
    )


def test_the_greatest_difference_is_held_against_every_exchange_of_scores(tmp_path: Path) -> None:
    scores = np.array(list(SCORES.values())).T
    sums = np.zeros((1, 3))
    for of_topic in scores:
        sums = (sums[:, None] + np.array(list(permutations(of_topic)))).reshape(-1, 3)
    greatest = np.ptp(sums, axis=1)
    rows = table(made(tmp_path, 'correction = "max"\n'), "differences-RR")
    for row in rows:
        observed = abs(sum(SCORES[row["A"]]) - sum(SCORES[row["B"]]))
        assert float(row["corrected (max): permutation p"]) == pytest.approx(
            (greatest >= observed - 1e-9).mean(), abs=0.006
        )
    assert not [
        name
        for name in rows[0]
        if name.startswith("corrected") and not name.endswith("permutation p")
    ]


def test_from_thirty_topics_on_there_is_an_interval_that_reaches_further_on_the_side_of_the_tail(
    tmp_path: Path,
) -> None:
    """One run finds the document at once on nine topics of 60, at ranks 2 to 9 on others; the other
    is ten places behind."""
    ranks = [1] * 9 + [2, 3, 4, 5, 6, 7, 8, 9] * 3 + [10] * 27
    runs = {}
    for tag, behind in (("front", 0), ("back", 10)):
        runs[tag] = "".join(
            f"{t} Q0 x{k} 1 {100 - k} {tag}\n"
            for t, rank in enumerate(ranks)
            for k in range(1, rank + behind)
        )
        runs[tag] += "".join(
            f"{t} Q0 r 1 {100 - rank - behind + 0.5} {tag}\n" for t, rank in enumerate(ranks)
        )
    toml = 'qrels = "qrels.txt"\nruns = ["back.txt", "front.txt"]\nmeasures = "RR"\n'
    out = study_of(
        tmp_path, "comparison", toml, qrels="".join(f"{t} 0 r 1\n" for t in range(60)), **runs
    )
    [row] = table(out, "differences-RR")
    d = np.array([1 / rank - 1 / (rank + 10) for rank in ranks])
    by_t = stats.ttest_1samp(d, 0).confidence_interval(0.95)
    assert float(row["B - A"]) == pytest.approx(d.mean())
    low, high = (float(row[name]) for name in ("2.5%", "97.5%"))
    assert (low, high) == pytest.approx(wider_interval(d))
    assert low == pytest.approx(by_t.low)
    assert high > by_t.high + 0.005
    assert "why no CI" not in row
    assert float(row["raw: signed-rank p"]) == pytest.approx(counted_signed_rank(d))


def test_samples_of_six_topics_give_ranks_as_often_as_all_of_them_do(tmp_path: Path) -> None:
    """mixed leads late where more than three of six draws are one of its three topics, and reaches
    good where all are."""
    out = made(tmp_path)
    chance = {k: comb(6, k) / 2**6 for k in range(7)}
    shares = {tag: np.zeros(3) for tag in SCORES}
    for k, p in chance.items():
        ranks = stats.rankdata([-1.0, -0.5, -k / 6])
        for tag, rank in zip(SCORES, ranks, strict=True):
            shares[tag] += (
                p * np.bincount([int(np.floor(rank)) - 1, int(np.ceil(rank)) - 1], minlength=3) / 2
            )
    places = {
        row["run"]: [float(row[place]) for place in "123"]
        for row in table(out, "certainty-places-1")
    }
    assert places == {tag: pytest.approx(share.tolist(), abs=0.05) for tag, share in shares.items()}
    assert {row[0]: [float(cell) for cell in row[1:]] for row in drawn(out, "ranks")[1:]} == places
    rows = {row["run"]: row for row in table(out, "certainty-ranks-1")}
    for tag, share in shares.items():
        assert float(rows[tag]["expected rank"]) == pytest.approx(share @ [1, 2, 3], abs=0.05)
        assert float(rows[tag]["expected rank"]) == pytest.approx(np.array(places[tag]) @ [1, 2, 3])
    assert [
        [row[name] for name in ("score", "best", "worst", "2.5%", "97.5%")] for row in rows.values()
    ] == [
        ["1.0", "1", "1.5", "1", "1"],
        ["0.5", "2", "3", "2", "3"],
        ["0.5", "1.5", "3", "2", "3"],
    ]
    better = [row["significantly worse than (uncorrected)"].strip("'-") for row in rows.values()]
    assert better == ["", "good (0.0%)", ""]  # a constant difference; that of mixed has p = .076


def topics_for(difference: float, variance: float) -> int:
    """The fewest for the paired t-test with a power of .8, by scipy's noncentral t."""

    def power(n: int) -> float:
        critical, shift = stats.t.ppf(0.975, n - 1), difference * sqrt(n / variance)
        return float(stats.nct.sf(critical, n - 1, shift) + stats.nct.cdf(-critical, n - 1, shift))

    return bisect_left(range(5000), 0.8, lo=2, key=power)


def test_topics_needed_are_those_of_the_noncentral_t(tmp_path: Path) -> None:
    """`rare` finds r second on four topics, not at all on two."""
    rare = "".join(
        f"{t} Q0 x 1 2 rare\n" + (f"{t} Q0 r 2 1 rare\n" if t < 4 else "") for t in range(6)
    )
    toml = TOML.replace('"mixed.txt"', '"mixed.txt", "rare.txt"') + "difference = 0.2\n"
    out = study_of(tmp_path, "comparison", toml, qrels=QRELS, rare=rare, **RUNS)
    scores = {**SCORES, "rare": [0.5] * 4 + [0.0] * 2}
    variances = [
        np.var(np.subtract(scores[a], scores[b]), ddof=1) for a, b in combinations(scores, 2)
    ]
    median, highest = np.median(variances), max(variances)
    [row] = table(out, "planning")
    assert (row["measure"], row["topics here"]) == ("RR", "6")
    assert [float(row[name]) for name in ("median pair", "highest")] == pytest.approx(
        [median, highest]
    )
    assert (row["topics needed"], row["for the largest"]) == (
        str(topics_for(0.2, median)),
        str(topics_for(0.2, highest)),
    )
    assert (
        topics_for(float(row["detectable here"]), median)
        == 6
        < topics_for(float(row["detectable here"]) - 1e-4, median)
    )
    seen = {int(row[0]): float(row[1]) for row in drawn(out, "planning")[1:]}
    assert all(
        topics_for(difference + 6e-4, median) <= n <= topics_for(difference - 6e-4, median)
        for n, difference in seen.items()
    )


def test_pools_of_other_depths_by_hand(tmp_path: Path) -> None:
    """`one` has r first, `two` in every second topic, else third behind x and y. Depth 1 holds r
    and, in four topics of eight, x; y is not judged. Differences of P@1 are 1 and 0 in turn at
    every depth: a variance of 2 / 7."""
    one = "".join(f"{t} Q0 r 1 2 one\n" for t in range(8))
    two = "".join(
        f"{t} Q0 {document} {k} {3 - k} two\n"
        for t in range(8)
        for k, document in enumerate("r" if t % 2 else "xyr")
    )
    toml = 'qrels = "qrels.txt"\nruns = ["one.txt", "two.txt"]\nmeasures = "P@1"\ndepths = "1,2"\ndifference = 0.2\n'
    out = study_of(
        tmp_path,
        "comparison",
        toml,
        qrels="".join(f"{t} 0 r 1\n{t} 0 x 0\n" for t in range(8)),
        one=one,
        two=two,
    )
    needed = topics_for(0.2, 2 / 7)
    rows = [list(row.values()) for row in table(out, "depths")]
    assert [row[:2] for row in rows] == [["P@1", "1"], ["P@1", "2"]]
    pairs = [-(-needed * 3 // 2), needed * 2]
    expected = [[1.5, 1.0, 2 / 7, needed, pairs[0]], [2.0, 0.75, 2 / 7, needed, pairs[1]]]
    assert [[float(cell) for cell in row[2:7]] for row in rows] == [
        pytest.approx(row) for row in expected
    ]
    assert [topics_for(float(row[7]), 2 / 7) for row in rows] == [8, 8]
    assert [float(row[8]) for row in rows] == [1.0, 1.0]
    assert drawn(out, "depths")[1:] == [["1", str(pairs[0])], ["2", str(pairs[1])]]


def majority(n: int) -> float:
    """That of n judgements drawn from two that say relevant and one that does not, most say so. n:
    odd."""
    return float(stats.binom.sf(n // 2, n, 2 / 3))


@pytest.mark.long
def test_the_noise_of_labels_in_each_cell_is_that_of_drawing_from_two_to_one(
    tmp_path: Path,
) -> None:
    """Every topic's document was called relevant by two of three. A topic's scores are 0 where the
    labels drawn say it is not."""
    rows = "".join(f"{t},r,{who},{int(who != 'c')}\n" for t in range(6) for who in "abc")
    toml = TOML + 'judgements = "judged.txt"\ngrades = 2\nlabel_trials = 1000\ndifference = 0.1\n'
    out = study_of(
        tmp_path,
        "comparison",
        toml,
        qrels=QRELS,
        judged=f"topic,document,annotator,grade\n{rows}",
        **RUNS,
    )
    d = np.array([np.subtract(SCORES[a], SCORES[b]) for a, b in combinations(SCORES, 2)])

    def by_labels(n: int) -> np.ndarray:
        p = majority(n)
        return np.sqrt((d**2).sum(axis=1) * p * (1 - p)) / 6

    [noise], [needed] = table(out, "noise"), table(out, "judgements-a-pair")
    assert float(noise["by topics"]) == pytest.approx(np.median(d.std(axis=1, ddof=1)) / sqrt(6))
    assert float(noise["by labels"]) == pytest.approx(np.median(by_labels(3)), rel=0.04)
    for n in (1, 3, 5):
        assert float(noise[str(n)]) == pytest.approx(np.median(by_labels(n)), rel=0.04)
        spread = np.median(
            np.sqrt(
                np.maximum(d.var(axis=1, ddof=1) + 6 * (by_labels(n) ** 2 - by_labels(3) ** 2), 0)
            )
        )
        assert int(needed[str(n)]) == pytest.approx(topics_for(0.1, spread**2), abs=6)
    p = majority(3)
    tau = 0.0
    for labels in product((0, 1), repeat=6):
        found = stats.kendalltau(
            [1, 0.5, 0.5], [np.dot(SCORES[tag], labels) for tag in SCORES]
        ).statistic
        tau += found * p ** sum(labels) * (1 - p) ** (6 - sum(labels)) if any(labels) else 0
    assert float(noise["tau"]) == pytest.approx(
        tau / (1 - (1 - p) ** 6), abs=0.03
    )  # where nothing is relevant all are tied: no tau
    assert [[row[0], float(row[1])] for row in drawn(out, "noise")[1:]] == [
        [n, pytest.approx(float(noise[n]), abs=6e-4)] for n in ("1", "2", "3", "5", "10")
    ]


@pytest.mark.long
def test_ranks_with_the_noise_of_labels_are_those_of_all_outcomes(tmp_path: Path) -> None:
    """Of topic 5 two of three said relevant: 20 / 27 of three drawn. Samples of topics: three
    kinds, 0 to 2, 3 and 4, and 5."""
    rows = "".join(f"{t},r,{who},{int(t < 5 or who != 'c')}\n" for t in range(6) for who in "abc")
    toml = TOML + 'judgements = "judged.txt"\ngrades = 2\nlabel_trials = 1000\n'
    out = study_of(
        tmp_path,
        "comparison",
        toml,
        qrels=QRELS,
        judged=f"topic,document,annotator,grade\n{rows}",
        **RUNS,
    )
    alone, together = np.zeros(3), np.zeros(3)
    for relevant, p in ((1, 20 / 27), (0, 7 / 27)):
        alone += p * stats.rankdata([-(5 + relevant), -(5 + relevant) / 2, -3])
        for a in range(7):
            for b in range(7 - a):
                c = 6 - a - b
                good = a + b + c * relevant
                together += (
                    p
                    * stats.multinomial.pmf([a, b, c], 6, [1 / 2, 1 / 3, 1 / 6])
                    * stats.rankdata([-good, -good / 2, -a])
                )
    found = {row["run"]: row for row in table(out, "certainty-labels-1")}
    assert [
        float(found[tag]["labels resampled: expected rank"]) for tag in SCORES
    ] == pytest.approx(alone, abs=0.03)
    assert [
        float(found[tag]["labels and topics: expected rank"]) for tag in SCORES
    ] == pytest.approx(together, abs=0.06)
    assert [(found[tag]["best"], found[tag]["worst"]) for tag in SCORES] == [
        ("1", "1"),
        ("2.5", "3"),
        ("2", "2.5"),
    ]


def test_groups_of_topics_have_their_own_table(tmp_path: Path) -> None:
    out = made(tmp_path, 'topic_groups = "groups.txt"\n')
    assert {row["run"]: float(row["mean"]) for row in table(out, "scores-Head")} == {
        "good": 1.0,
        "late": 0.5,
        "mixed": 1.0,
    }
    assert {row["run"]: float(row["mean"]) for row in table(out, "scores-Tail")} == {
        "good": 1.0,
        "late": 0.5,
        "mixed": 0.25,
    }


def test_the_noise_of_labels_is_told_where_single_judgements_are_given(tmp_path: Path) -> None:
    """Each topic's document judged by three, all agreeing on topics 0 to 4, two of three on topic
    5."""
    rows = "".join(f"{t},r,{who},{int(t < 5 or who != 'c')}\n" for t in range(6) for who in "abc")
    toml = TOML + 'judgements = "judged.txt"\ngrades = 2\nlabel_trials = 400\n'
    out = study_of(
        tmp_path,
        "comparison",
        toml,
        qrels=QRELS,
        judged=f"topic,document,annotator,grade\n{rows}",
        **RUNS,
    )
    [row] = table(out, "noise")
    # good finds every document first, mixed none of topic 5, late all second: of three drawn the
    # majority is relevant with 20/27
    error = (20 / 27 * 7 / 27) ** 0.5 / 6
    assert float(row["by labels"]) == pytest.approx(
        error * 0.5, abs=0.01
    )  # pairs differ by 1, .5 and .5 of the topic: median .5
    assert (out / "figures" / "noise.pdf").exists()
    assert "judgements" not in " ".join(about(out)["left_out"].values())


def test_what_is_missing_is_left_out_and_said(tmp_path: Path) -> None:
    out = made(tmp_path)
    assert about(out)["left_out"] == {
        "groups": "needs `topic_groups`: a file of topics and their groups"
    }
    for name in ("report.html", "report.md"):
        assert "a file of topics and their groups" in (out / name).read_text(encoding="utf-8")


@pytest.mark.usefixtures("real_pictures")
def test_a_study_made_again_is_the_same_bytes(tmp_path: Path) -> None:
    out = made(tmp_path)
    first = {path.relative_to(out): path.read_bytes() for path in out.rglob("*") if path.is_file()}
    again = made(tmp_path)
    assert {
        path.relative_to(again): path.read_bytes() for path in again.rglob("*") if path.is_file()
    } == first
    kinds = {path.suffix for path in first}
    assert kinds >= {".tex", ".csv", ".json", ".pdf", ".svg", ".png", ".html", ".md", ".toml"}
    for line in (out / "SHA256SUMS").read_text(encoding="utf-8").splitlines():
        digest, _, name = line.partition("  ")
        assert hashlib.sha256(first[Path(name)]).hexdigest() == digest


def test_the_report_tells_inputs_by_their_digest_and_how_it_was_made(tmp_path: Path) -> None:
    out = made(tmp_path)
    digest = hashlib.sha256(QRELS.encode()).hexdigest()
    assert {"key": "qrels", "path": "qrels.txt", "bytes": len(QRELS), "sha256": digest} in about(
        out
    )["inputs"]
    page = (out / "report.html").read_text(encoding="utf-8")
    assert digest in page
    assert "assay compare systems qrels.txt good.txt late.txt mixed.txt" in page
    assert "Three &amp; more" in page
    assert str(tmp_path) not in page + (out / "report.md").read_text(encoding="utf-8") + (
        out / "study.json"
    ).read_text(encoding="utf-8")


def test_mistakes_are_told_by_line_and_nothing_is_written(tmp_path: Path) -> None:
    assert f"{tmp_path}/study.toml:2: unknown key 'qrel', expected 'qrels'" in refusal(
        tmp_path, "comparison", '\nqrel = "a"\n'
    )
    assert "study.toml:1: the file a.txt does not exist" in refusal(
        tmp_path, "comparison", 'qrels = "a.txt"\n'
    )
    assert "study.toml:1: no file matches *.run" in refusal(
        tmp_path, "comparison", 'runs = "*.run"\n'
    )
    assert "expected one of none, bonferroni, holm, max" in refusal(
        tmp_path, "comparison", 'correction = "tukey"\n'
    )
    assert "expected a whole number of at least 1" in refusal(
        tmp_path, "comparison", "permutations = 0\n"
    )
    assert "study.toml:2: invalid TOML" in refusal(tmp_path, "comparison", "\nqrels = \n")
    assert "the file is for the study 'sota'" in refusal(tmp_path, "comparison", 'study = "sota"\n')
    assert "no part of the study comparison can be computed" in refusal(tmp_path, "comparison", "")


def test_only_a_study_that_nobody_has_changed_is_replaced(tmp_path: Path) -> None:
    from tests.analysis.commands.judged_file import refused

    out = made(tmp_path)
    again = ("study", "comparison", str(tmp_path / "inputs" / "study.toml"), "--output", str(out))
    assert "add --replace to overwrite it" in refused(*again)[2]
    (out / "notes.txt").write_text("mine", encoding="utf-8")
    status, _, err = refused(*again, "--replace")
    assert (status, (out / "notes.txt").read_text(encoding="utf-8")) == (2, "mine")
    assert "notes.txt" in err
    other = tmp_path / "mine"
    other.mkdir()
    (other / "a").write_text("a", encoding="utf-8")
    assert "is not a study folder" in refused(*again[:3], "--output", str(other), "--replace")[2]
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_a_study_is_replaced_behind_a_symbolic_link_with_the_permissions_of_its_folder(
    tmp_path: Path,
) -> None:
    made(tmp_path)
    (tmp_path / "out").rename(tmp_path / "real")
    (tmp_path / "real").chmod(0o750)
    (tmp_path / "out").symlink_to("real")
    before = (tmp_path / "real").stat().st_ino
    made(tmp_path)
    assert os.readlink(tmp_path / "out") == "real"
    assert (tmp_path / "real" / "report.html").is_file()
    assert (tmp_path / "real").stat().st_ino != before
    assert stat.S_IMODE((tmp_path / "real").stat().st_mode) == 0o750


@pytest.mark.usefixtures("real_pictures")
@pytest.mark.parametrize("layout", ["one-column", "two-column"])
def test_latex_of_a_study_is_typeset(tmp_path: Path, layout: str) -> None:
    if which("pdflatex") is None:
        absent("latex", "pdflatex is not installed, so no table of a study was typeset")
    out = made(tmp_path, f'against = "late"\nlayout = "{layout}"\n')
    texts = [path.read_text("utf-8") for path in sorted(out.glob("*/*.tex"))]
    assert len(texts) > 8
    assert any("longtable" in text or "resizebox" in text for text in texts) == (
        layout == "one-column"
    )
    if layout == "two-column":
        pdf = typeset(tmp_path, "".join(texts))
        assert font_sizes(pdf) >= {9.0}
        return
    paper = (
        r"\documentclass{article}\usepackage{array,booktabs,graphicx,longtable,pdflscape}"
        rf"\begin{{document}}{''.join(texts)}\end{{document}}"
    )
    (tmp_path / "paper.tex").write_text(paper, encoding="utf-8")
    printed = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    assert b"Overfull" not in printed.stdout


def test_a_font_of_figures_that_is_not_installed_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(FONTS, "libertine", ("No Such Font",))
    find_font_family.cache_clear()
    out = study_of(tmp_path, "comparison", f'{TOML}font = "libertine"\n', qrels=QRELS, **RUNS)
    find_font_family.cache_clear()
    said = (
        "The font libertine is not installed as a TrueType file (No Such Font), so figures use "
        "DejaVu Sans."
    )
    assert said in about(out)["warnings"]
    assert said in (out / "report.html").read_text(encoding="utf-8")


def test_a_figure_that_is_too_high_for_one_column_has_no_file_for_it(tmp_path: Path) -> None:
    """Twenty-eight differences have 40 pixels each below their names in one column."""
    runs = {f"a-run-with-a-long-name-{k}": RUNS["good"].replace("good", f"r{k}") for k in range(8)}
    names = ", ".join(f'"{name}.txt"' for name in runs)
    systems = "\n".join(f'"{name}.txt" = "{name} {name}"' for name in runs)
    text = f'qrels = "qrels.txt"\nruns = [{names}]\nmeasures = "RR"\n[systems]\n{systems}\n'
    out = study_of(tmp_path, "comparison", text, qrels=QRELS, **runs)
    assert (out / "figures" / "differences-RR.pdf").exists()
    assert not (out / "figures" / "differences-RR-column.pdf").exists()
    said = "The figure differences-RR would be taller than 8.5 inches at the width of one column"
    assert any(warning.startswith(said) for warning in about(out)["warnings"])


def test_systems_have_the_names_of_the_toml_file_or_of_their_files_if_tags_clash(
    tmp_path: Path,
) -> None:
    runs = {name: text.replace(f" {name}\n", " toolkit\n") for name, text in RUNS.items()}
    text = TOML.replace("mixed.txt", "third.txt")
    files = {"qrels": QRELS, "good": runs["good"], "late": runs["late"], "third": RUNS["mixed"]}
    out = study_of(tmp_path, "comparison", text, **files)
    assert {row["run"] for row in table(out, "scores")} == {"good", "late", "mixed"}
    names = '[systems]\nmixed = "Third (ours)"\n"late.txt" = "Baseline"\n'
    out = study_of(tmp_path, "comparison", f'{text}against = "Baseline"\n{names}', **files)
    means = {row["run"]: float(row["RR"]) for row in table(out, "scores")}
    assert means == {"Third (ours)": 0.5, "Baseline": 0.5, "good": 1.0}
    assert "Third (ours)" in (out / "report.html").read_text(encoding="utf-8")


def test_groups_divide_the_rows_of_tables_and_short_names_are_those_of_figures(
    tmp_path: Path,
) -> None:
    out = made(
        tmp_path,
        """correction = "none"
pooled = ["Late run"]
[systems]
late = { name = "Late run", short = "L", group = "First stage" }
good = { name = "Good run", short = "G", group = "Re-ranking" }
mixed = { group = "First stage" }
""",
    )
    scores = json_table(out, "scores")
    assert [row[0] for row in scores["rows"]] == ["Late run", "mixed", "Good run"]
    assert scores["groups"] == [[0, "First stage"], [2, "Re-ranking"]]
    assert scores["bold"] == [[2, 1]]
    assert scores["marks"] == [[0, 0, "*"]]
    latex = (out / "tables" / "scores.tex").read_text(encoding="utf-8")
    lines = [line for line in latex.splitlines() if "textit" in line or line[:5] == "mixed"]
    assert lines == [
        r"\multicolumn{3}{@{}l}{\textit{First stage}} \\",
        r"mixed & .500 & ab \\",
        r"\multicolumn{3}{@{}l}{\textit{Re-ranking}} \\",
    ]
    assert "<th colspan=3><em>Re-ranking</em></th>" in (out / "report.html").read_text("utf-8")
    assert {row[0] for row in drawn(out, "differences-RR")[1:]} == {
        "G - L",
        "mixed - G",
        "mixed - L",
    }
    assert {row[0] for row in drawn(out, "ranks")[1:]} == {"L", "G", "mixed"}
    assert {row["run"] for row in table(out, "certainty-places-1")} == {
        "Late run",
        "Good run",
        "mixed",
    }


def test_the_report_begins_with_its_contents(tmp_path: Path) -> None:
    page = (made(tmp_path) / "report.html").read_text(encoding="utf-8")
    links = re.findall(r'<a href="#([^"]+)">', page[: page.index("</nav>")])
    assert links[:2] == ["scores", "t-scores"]
    assert {"ranks", "f-ranks", "about-this-report"} <= set(links)
    assert all(page.count(f'id="{link}"') == 1 for link in links)


def test_runs_that_made_the_pool_are_marked_by_their_names(tmp_path: Path) -> None:
    more = 'pooled = ["Good"]\n[systems]\ngood = "Good"\n'
    out = made(tmp_path, more)
    scores = json_table(out, "scores")
    names = [row[0] for row in scores["rows"]]
    assert [mark for mark in scores["marks"] if mark[1] == 0] == [[names.index("Good"), 0, "*"]]
    assert scores["note"].endswith("*: the run made the pool.")
    assert {row["run"] for row in table(out, "scores")} == {"Good", "late", "mixed"}
    assert "Good*" in (out / "report.md").read_text(encoding="utf-8").replace("\\*", "*")
    problem = refusal(out.parent / "inputs", "comparison", f'{TOML}pooled = ["good", "nobody"]\n')
    assert "`pooled`: unknown run nobody" in problem


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        ('nobody = "A"', "`systems`: no run has the tag or file name nobody"),
        ('good = "A"\nlate = "A"', "`systems`: several runs are called A"),
        ('good = { short = "A" }\nlate = "A"', "`systems`: several runs are called A"),
        ("good = 1", "study.toml:7: good is neither a name nor a table of name, short, group"),
        ("good = { colour = 7 }", "study.toml:7: colour = 7, expected a number from 1 to 6"),
        ('good = { colour = "red" }', "study.toml:7: colour = 'red', expected a whole number"),
    ],
)
def test_names_of_systems_that_no_run_has_or_that_two_share_are_refused(
    tmp_path: Path, names: str, problem: str
) -> None:
    for name, text in {"qrels": QRELS, **RUNS}.items():
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    assert problem in refusal(tmp_path, "comparison", f"{TOML}[systems]\n{names}\n")

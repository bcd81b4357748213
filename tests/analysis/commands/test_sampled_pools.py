"""sample_pool, evaluate --sampled, holes and compare_llm_judges on plain files."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest

from assay.analyses.shared.unjudged_tables import summarise_bounds
from assay.formats.pool import read_pool, sort_pool
from tests.analysis.commands.called import answer, refused
from tests.analysis.commands.ranked_files import files, printed

LETTERS = "abcdefghijklmnopqrst"


@pytest.fixture
def runs(tmp_path: Path) -> list[str]:
    """Two runs of 20 documents over 12 topics, the second in the other order."""
    forward = "".join(
        f"{t} Q0 {d} {r} {50 - r} forward\n"
        for t in range(12)
        for r, d in enumerate(LETTERS, start=1)
    )
    backward = "".join(
        f"{t} Q0 {d} {r} {50 - r} backward\n"
        for t in range(12)
        for r, d in enumerate(reversed(LETTERS), start=1)
    )
    return files(tmp_path, forward=forward, backward=backward)


@pytest.fixture
def whole(tmp_path: Path) -> str:
    """Every pair judged: the first five letters relevant, a and b most."""
    lines = "".join(
        f"{t} 0 {d} {2 if d in 'ab' else 1 if d in 'cde' else 0}\n"
        for t in range(12)
        for d in LETTERS
    )
    return files(tmp_path, whole=lines)[0]


def test_a_sample_has_known_chances_and_more_budget_only_adds_pairs(
    tmp_path: Path, runs: list[str], whole: str
) -> None:
    drawn = {}
    for budget in (0.3, 0.6):
        out, table = tmp_path / f"{budget}.prel", tmp_path / f"{budget}.tsv"
        found, _ = answer(
            "sample_pool",
            *runs,
            "--depth",
            10,
            "--budget",
            budget,
            "--judged",
            whole,
            "--output",
            out,
            "--draw",
            table,
        )
        assert (found["pairs"], found["drawn"]) == (240, round(240 * budget))
        assert sum(stratum["N"] for stratum in found["strata"].values()) == 240
        assert all(
            stratum["probability"] == stratum["n"] / stratum["N"]
            for stratum in found["strata"].values()
        )
        lines = [line.split() for line in out.read_text().splitlines()]
        assert len(lines) == 240
        drawn[budget] = {
            (topic, document) for topic, _, document, _, grade in lines if grade != "-1"
        }
        assert len(drawn[budget]) == found["drawn"]
        listed = [line.split("\t") for line in table.read_text().splitlines()[1:]]
        assert {(topic, document) for topic, document, *_ in listed} == drawn[budget]
        assert all(
            float(chance) == found["strata"][stratum]["probability"]
            for *_, stratum, _, chance in listed
        )
    assert drawn[0.3] < drawn[0.6]


def test_estimates_can_be_made_again_from_the_file_by_anybody(
    tmp_path: Path, runs: list[str], whole: str
) -> None:
    """Plain Python over the five columns gives the command's numbers to 1e-12."""
    out = tmp_path / "drawn.prel"
    answer("sample_pool", *runs, "--budget", 0.4, "--judged", whole, "--output", out)
    found, _ = answer(
        "evaluate",
        out,
        *runs,
        "--sampled",
        "--per-topic",
        "--measures",
        "HT-P@10 HT-DCG@10 HT-nDCG@10",
    )
    size: dict[tuple[str, str], int] = {}
    judged: dict[tuple[str, str], int] = {}
    grades: dict[tuple[str, str], tuple[tuple[str, str], int]] = {}
    for line in out.read_text().splitlines():
        topic, _, document, stratum, grade = line.split()
        size[topic, stratum] = size.get((topic, stratum), 0) + 1
        if int(grade) >= 0:
            judged[topic, stratum] = judged.get((topic, stratum), 0) + 1
            grades[topic, document] = ((topic, stratum), int(grade))
    weight = {stratum: size[stratum] / judged[stratum] for stratum in judged}
    for path in runs:
        tag = Path(path).stem
        for topic in map(str, range(12)):
            gain = precision = 0.0
            order = LETTERS if tag == "forward" else LETTERS[::-1]
            for rank, document in enumerate(order[:10], start=1):
                if (topic, document) in grades:
                    stratum, grade = grades[topic, document]
                    precision += (grade > 0) * weight[stratum] / 10
                    gain += grade * weight[stratum] / math.log2(rank + 1)
            values = found["per_topic"]["drawn"][tag]
            assert values["HT-P@10"][topic] == pytest.approx(precision, abs=1e-12)
            assert values["HT-DCG@10"][topic] == pytest.approx(gain, abs=1e-12)
        means = [found["per_topic"]["drawn"][tag]["HT-P@10"][str(t)] for t in range(12)]
        assert found["qrels"]["drawn"][tag]["HT-P@10"] == pytest.approx(sum(means) / 12, abs=1e-12)
    low, high = found["interval"]["drawn"]["forward"]["HT-P@10"]
    assert low is None or low < found["qrels"]["drawn"]["forward"]["HT-P@10"] < high


def test_an_interval_that_would_not_hold_is_null_with_the_reason(
    tmp_path: Path, runs: list[str], whole: str
) -> None:
    out = tmp_path / "few.prel"
    answer("sample_pool", *runs, "--budget", 0.2, "--judged", whole, "--output", out)
    found, _ = answer("evaluate", out, *runs, "--sampled")
    assert found["interval"]["few"]["forward"]["xinfAP"] == [None, None]
    assert "judged pairs per topic" in found["undefined"]["few"]["xinfAP"]
    text, _ = printed("evaluate", str(out), *runs, "--sampled")
    reason = found["undefined"]["few"]["xinfAP"]
    row = next(line for line in text.splitlines() if line.split()[:2] == ["forward", "xinfAP"])
    assert row.endswith(reason)


def test_drawn_pairs_without_a_grade_are_counted_told_and_take_the_intervals_away(
    tmp_path: Path, runs: list[str], whole: str
) -> None:
    """Half of the qrels are missing: of each topic only the letters a to j have a grade."""
    (half,) = files(
        tmp_path,
        half="".join(
            line
            for line in Path(whole).read_text().splitlines(keepends=True)
            if line.split()[2] <= "j"
        ),
    )
    out = tmp_path / "drawn.prel"
    found, _ = answer(
        "sample_pool", *runs, "--depth", 20, "--budget", 0.6, "--judged", half, "--output", out
    )
    graded = sum(
        line.split()[4] != "-1" for line in out.read_text().splitlines() if not line.startswith("#")
    )
    assert (found["drawn"], found["graded"]) == (144, graded)
    assert (
        f"{graded} of 144 drawn pairs with a grade"
        in printed("sample_pool", *runs, "--depth", "20", "--budget", "0.6", "--judged", half)[0]
    )
    assert (
        out.read_text().splitlines()[0]
        == f"# drawn: 144, with a grade when this was written: {graded}"
    )
    missing = 144 - graded
    reason = f"{missing} of 144 drawn pairs have no grade; more than 2% cannot be treated as missing at random"
    judged, said = answer("evaluate", out, *runs, "--sampled", "--rank-model", "--seed", 1)
    assert f"{reason}; no confidence intervals are shown" in said
    assert judged["pool"]["drawn"] == {
        "pairs": 240,
        "judged": graded,
        "drawn": 144,
        "strata": judged["pool"]["drawn"]["strata"],
    }
    assert judged["undefined"]["drawn"] == dict.fromkeys(
        ("HT-nDCG@10", "HT-P@10", "xinfAP"), reason
    )
    for tag in ("forward", "backward"):
        assert (
            judged["these_topics"]["drawn"][tag]["HT-P@10"]
            == judged["interval"]["drawn"][tag]["HT-P@10"]
            == [None, None]
        )
        assert judged["rank_model"]["drawn"][tag]["HT-P@10"]["undefined"] == reason
    compared, _ = answer("compare_systems", out, *runs, "--sampled")
    assert compared["undefined"] == dict.fromkeys(("HT-nDCG@10", "HT-P@10", "xinfAP"), reason)
    llm_judge, _ = answer(
        "compare_llm_judges", out, *runs, "--llm-labels", f"right={whole}", "--measures", "P@5"
    )
    assert llm_judge["right"]["systems"]["P@5"]["undefined"] == {
        "forward": reason,
        "backward": reason,
    }


def test_a_sample_that_waits_for_its_grades_says_how_many_were_drawn(
    tmp_path: Path, runs: list[str], whole: str
) -> None:
    """Whoever fills all of them in gets intervals; grades of pairs that were not drawn are no
    sample."""
    out, table = tmp_path / "open.prel", tmp_path / "draw.tsv"
    found, _ = answer(
        "sample_pool", *runs, "--depth", 20, "--budget", 0.6, "--output", out, "--draw", table
    )
    assert found["graded"] is None
    head, *lines = out.read_text().splitlines()
    assert head == "# drawn: 144, with a grade when this was written: 0"
    grade = {
        tuple(line.split()[i] for i in (0, 2)): line.split()[3]
        for line in Path(whole).read_text().splitlines()
    }
    drawn = {tuple(line.split("\t")[:2]) for line in table.read_text().splitlines()[1:]}
    for name, chosen in (("filled", drawn), ("all", set(grade))):
        rows = (line.split() for line in lines)
        text = "".join(
            f"{t} 0 {d} {s} {grade[t, d] if (t, d) in chosen else -1}\n" for t, _, d, s, _ in rows
        )
        (path,) = files(tmp_path, **{name: f"{head}\n{text}"})
        judged, _ = answer("evaluate", path, *runs, "--sampled", "--measures", "HT-P@10")
        assert judged.get("undefined") == (
            None
            if name == "filled"
            else {
                "all": {
                    "HT-P@10": "240 pairs have a grade, but 144 were drawn; the others were not chosen at random"
                }
            }
        )


def test_every_missing_interval_has_its_reason_in_the_same_table(
    tmp_path: Path, runs: list[str], whole: str
) -> None:
    out = tmp_path / "few.prel"
    answer("sample_pool", *runs, "--depth", 20, "--budget", 0.3, "--judged", whole, "--output", out)
    text, _ = printed(
        "evaluate", str(out), *runs, "--sampled", "--measures", "HT-P@10 infNDCG@10", "--rank-model"
    )
    few = "72 judged pairs; a confidence interval needs 100"
    for tag in ("forward", "backward"):
        lines = [line for line in text.splitlines() if line.split()[:2] == [tag, "HT-P@10"]]
        assert len(lines) == 2
        assert all(line.endswith(few) for line in lines)
    biased = [line for line in text.splitlines() if "  infNDCG@10" in line]
    assert len(biased) == 2
    assert all(line.endswith("biased; for comparison with TREC only") for line in biased)


def test_intervals_that_exclude_each_other_are_said_to_contradict(
    tmp_path: Path, runs: list[str]
) -> None:
    """People were only asked of what is relevant, and the file does not say how many were drawn;
    the LLM judge calls the rest not relevant."""
    chance = random.Random(5)
    relevant = {(t, d) for t in range(12) for d in LETTERS if chance.random() < 0.5}
    lines = [
        f"{t} 0 {d} * {int(chance.random() < 0.85) if (t, d) in relevant else -1}\n"
        for t in range(12)
        for d in LETTERS
    ]
    pool, llm_judge = files(
        tmp_path,
        pool="".join(line.replace(" * ", " *all ") for line in lines),
        llm_judge="".join(
            f"{t} 0 {d} {int((t, d) in relevant)}\n" for t in range(12) for d in LETTERS
        ),
    )
    systems = answer(
        "compare_llm_judges", pool, *runs, "--llm-labels", f"m={llm_judge}", "--measures", "P@10"
    )[0]["m"]["systems"]["P@10"]
    assert systems["contradictions"]
    for tag, (a, b) in systems["contradictions"].items():
        assert systems[a][tag][1] > systems[b][tag][2] or systems[b][tag][1] > systems[a][tag][2]
    text, _ = printed(
        "compare_llm_judges", pool, *runs, "--llm-labels", f"m={llm_judge}", "--measures", "P@10"
    )
    assert "Contradiction: two 95% confidence intervals of one quantity exclude each other" in text


def test_the_number_that_would_mislead_is_refused_both_ways(
    tmp_path: Path, runs: list[str], whole: str
) -> None:
    out = tmp_path / "drawn.prel"
    answer("sample_pool", *runs, "--budget", 0.4, "--judged", whole, "--output", out)
    assert (
        "nDCG@10 on a sampled pool would treat unsampled pairs as not relevant; HT-nDCG estimates it"
    ) in refused("evaluate", out, *runs, "--sampled", "--measures", "nDCG@10")
    assert "HT-P@10: available only for a sampled pool" in refused(
        "evaluate", whole, *runs, "--measures", "HT-P@10"
    )
    assert "5 columns" in refused("evaluate", whole, *runs, "--sampled")


def test_evaluate_reports_intervals_for_the_given_topics_and_the_rank_model(
    tmp_path: Path, runs: list[str]
) -> None:
    """Relevance falls with the rank in forward, so that ranks tell much of it; the pool's own
    values are known."""
    chance = random.Random(3)
    grade = {
        (t, d): int(chance.random() < 0.95 - 0.045 * LETTERS.index(d))
        for t in range(12)
        for d in LETTERS
    }
    (known,) = files(tmp_path, known="".join(f"{t} 0 {d} {g}\n" for (t, d), g in grade.items()))
    truth = sum(grade[t, d] for t in range(12) for d in LETTERS[:10]) / 120
    out = tmp_path / "drawn.prel"
    answer(
        "sample_pool",
        *runs,
        "--depth",
        20,
        "--strata",
        "votes",
        "--budget",
        0.6,
        "--judged",
        known,
        "--output",
        out,
    )
    found, _ = answer(
        "evaluate",
        out,
        *runs,
        "--sampled",
        "--measures",
        "HT-P@10 xinfAP",
        "--rank-model",
        "--seed",
        4,
    )
    low, high = found["these_topics"]["drawn"]["forward"]["HT-P@10"]
    helped = found["rank_model"]["drawn"]["forward"]["HT-P@10"]
    assert low <= truth <= high
    assert helped["these_topics"][0] <= truth <= helped["these_topics"][1]
    assert helped["these_topics"][1] - helped["these_topics"][0] < high - low
    assert helped["interval"][0] < helped["value"] < helped["interval"][1]
    assert found["seed"] == 4
    assert set(found["rank_model"]["drawn"]["forward"]) == {"HT-P@10"}
    whole = tmp_path / "whole.prel"
    answer("sample_pool", *runs, "--depth", 20, "--budget", 1, "--judged", known, "--output", whole)
    everything, _ = answer(
        "evaluate", whole, *runs, "--sampled", "--measures", "HT-P@10", "--rank-model"
    )
    assert everything["rank_model"]["whole"]["forward"]["HT-P@10"]["these_topics"] == pytest.approx(
        [truth, truth]
    )
    assert "add one to --measures" in refused(
        "evaluate", out, *runs, "--sampled", "--measures", "xinfAP", "--rank-model"
    )
    assert "only for sampled pools" in refused("evaluate", known, *runs, "--rank-model")
    assert (
        "Estimates with the rank model under drawn"
        in printed(
            "evaluate", str(out), *runs, "--sampled", "--measures", "HT-P@10", "--rank-model"
        )[0]
    )


def test_holes_of_a_late_run(tmp_path: Path) -> None:
    """a is judged 2, b a hole, c judged 0 (SAMPLING K8, scale to 3); of the pool's runs only
    `other` has e (grade 1, rank 1)."""
    qrels, late, pooled, other = files(
        tmp_path,
        qrels="1 0 a 2\n1 0 c 0\n1 0 d 1\n1 0 e 1\n",
        late="1 Q0 a 1 3 late\n1 Q0 b 2 2 late\n1 Q0 c 3 1 late\n",
        pooled="1 Q0 a 1 3 pooled\n1 Q0 d 2 2 pooled\n",
        other="1 Q0 e 1 3 other\n1 Q0 a 2 2 other\n1 Q0 d 3 1 other\n",
    )
    arguments = ("unjudged", qrels, late, "--measures", "nDCG@3 P@3 RBP(0.5)", "--max-grade", 3)
    found, _ = answer(*arguments, "--pool-runs", pooled, other)
    assert found["unjudged"] == {"total": 1, "per_topic": {"1": 1}}
    assert found["score"]["P@3"] == pytest.approx(1 / 3)
    assert found["bounds"]["P@3"] == pytest.approx([1 / 3, 2 / 3])
    assert found["bounds"]["RBP(0.5)"] == pytest.approx([0.5, 0.875])
    ideal = 2 + 1 / math.log2(3) + 0.5
    assert found["score"]["nDCG@3"] == pytest.approx(2 / ideal)
    assert found["filled"]["nDCG@3"] == pytest.approx((2 + (1 + 0.3) / 2 / math.log2(3)) / ideal)
    assert found["filled"]["RBP(0.5)"] is None
    assert found["order"] == [["1", "b", pytest.approx(1 / (ideal * math.log2(3)))]]
    assert "--pool-runs" in answer(*arguments)[0]["undefined"]["nDCG@3"]
    assert "no score bounds of AP-J" in refused("unjudged", qrels, late, "--measures", "AP-J")
    assert set(
        answer("unjudged", qrels, late, "--measures", "AP RR R@5 Bpref ERR@5")[0]["bounds"]
    ) == {"AP", "RR", "R@5", "Bpref", "ERR@5"}
    assert (
        "1 unjudged document in the first 10 of 1 topic, at most 1 in one topic."
        in printed("unjudged", qrels, late)[0]
    )


def test_a_top_up_is_a_pool_of_the_holes_that_settle_most(tmp_path: Path) -> None:
    """late has holes at 1 and 3, other at 2: at ideal 1 (one relevant document) the weights are 1,
    .63 and .5."""
    qrels, late, other = files(
        tmp_path,
        qrels="1 0 a 1\n1 0 z 0\n",
        late="1 Q0 x 1 3 late\n1 Q0 a 2 2 late\n1 Q0 y 3 1 late\n",
        other="1 Q0 a 1 3 other\n1 Q0 w 2 2 other\n1 Q0 z 3 1 other\n",
    )
    out = tmp_path / "top.tsv"
    found, _ = answer(
        "unjudged",
        qrels,
        late,
        "--measures",
        "nDCG@3",
        "--against-run",
        other,
        "--judge",
        2,
        "--top-up",
        out,
    )
    assert [hole[1] for hole in found["order"]] == ["x", "w", "y"]
    second, third = 1 / math.log2(3), 0.5
    assert (found["settles"]["n"], found["settles"]["left"]) == (
        2,
        pytest.approx(third / (1 + second + third)),
    )
    assert found["settles"]["enough"] == 3
    pool = read_pool(str(out))
    assert [
        (pair.topic, pair.document, pair.best_rank, pair.priority) for pair in sort_pool(pool)
    ] == [("1", "x", 1, 2), ("1", "w", 2, 1)]
    difference = found["against"]["differences"]["nDCG@3"]
    assert difference["difference"] == pytest.approx(second - 1)
    least, most = (
        -1 / (1 + second),
        1 - 1 / (1 + second + third),
    )  # only w relevant; only x and y, which lower what the other has to .47
    assert difference["bounds"] == pytest.approx([least, most])
    assert difference["settled"] is False
    said = printed(
        "unjudged", qrels, late, "--measures", "nDCG@3", "--against-run", other, "--judge", "2"
    )[0]
    assert (
        "Share of the score bounds of the difference by nDCG@3 that judging would close, estimated by weight. "
        "Judging the first 2 closes 77%; judging 3 leaves less than 0.01."
    ) in said


def test_a_sign_is_not_settled_where_a_hole_of_the_other_run_could_turn_it(tmp_path: Path) -> None:
    """late has the one relevant document first and no hole. But other's hole, at grade 3, leaves it
    1 / 3.63 of nDCG, and the other 1.89 / 3.63."""
    qrels, late, other = files(
        tmp_path,
        qrels="1 0 a 1\n1 0 y 0\n1 0 z 0\n",
        late="1 Q0 a 1 2 late\n1 Q0 z 2 1 late\n",
        other="1 Q0 y 1 2 other\n1 Q0 b 2 1 other\n",
    )
    found, _ = answer(
        "unjudged", qrels, late, "--measures", "nDCG@2", "--against-run", other, "--max-grade", 3
    )
    second = 1 / math.log2(3)
    assert found["against"]["differences"]["nDCG@2"]["bounds"] == pytest.approx(
        [(1 - 3 * second) / (3 + second), 1]
    )
    assert found["against"]["differences"]["nDCG@2"]["settled"] is False
    assert found["closed"] is None


def test_a_hole_that_both_runs_have_at_one_rank_is_open_for_all_that(tmp_path: Path) -> None:
    """It weighs nothing in the gains' difference. But at grade 3 it raises the ideal of its topic
    from 2.63 to 4.26, and that topic's part of the difference falls from .38 to .23, while the
    other topic's stays at -.38."""
    runs = {
        name: f"1 Q0 {one} 1 2 {name}\n1 Q0 h 2 1 {name}\n2 Q0 {two} 1 2 {name}\n"
        for name, one, two in (("late", "a", "c"), ("other", "c", "a"))
    }
    qrels, late, other = files(tmp_path, qrels="1 0 a 2\n1 0 c 1\n2 0 a 2\n2 0 c 1\n", **runs)
    found, _ = answer(
        "unjudged", qrels, late, "--measures", "nDCG@2", "--against-run", other, "--max-grade", 3
    )
    second = 1 / math.log2(3)
    assert found["against"]["differences"]["nDCG@2"]["bounds"] == pytest.approx(
        [(1 / (3 + 2 * second) - 1 / (2 + second)) / 2, 0]
    )
    assert found["settles"]["left"] is None
    assert found["closed"] is None
    said = printed(
        "unjudged", qrels, late, "--measures", "nDCG@2", "--against-run", other, "--max-grade", 3
    )[0]
    nothing = "judging this pair settles, by their weights in nDCG@2, nothing of the difference from other"
    assert nothing in summarise_bounds(found)
    assert nothing in said
    assert "100%" not in summarise_bounds(found)


def test_weights_are_no_bound_and_are_not_said_to_be_one(tmp_path: Path) -> None:
    """Eight documents of grade 1 found, a hole at rank 10 that may have grade 3: the range is from
    (3.954 + .867) / 6.254 to 1, .2292 wide. Its weight at that grade, 3 / log2 11 over the ideal
    3.954, is .2194."""
    found_ones = "abcdefgh"
    qrels, late = files(
        tmp_path,
        qrels="".join(f"1 0 {d} 1\n" for d in found_ones) + "1 0 i 0\n",
        late="".join(f"1 Q0 {d} {k} {100 - k} late\n" for k, d in enumerate(f"{found_ones}iz")),
    )
    found, _ = answer("unjudged", qrels, late, "--measures", "nDCG@10", "--max-grade", 3)
    low, high = found["bounds"]["nDCG@10"]
    assert (high, high - low, found["settles"]["left"]) == (
        pytest.approx(1),
        pytest.approx(0.22925, abs=1e-5),
        0,
    )
    assert (
        "This is an estimate"
        in printed("unjudged", qrels, late, "--measures", "nDCG@10", "--max-grade", 3)[0]
    )


def test_a_measure_that_reads_to_the_end_is_not_said_to_be_settled_by_what_is_judged_down_to_rank_ten(
    tmp_path: Path,
) -> None:
    """Ten judged, the second relevant; the eleventh is a hole: AP is 1/2, or (1/2 + 2/11) / 2 =
    15/44."""
    documents = [f"d{k}" for k in range(11)]
    qrels, late = files(
        tmp_path,
        qrels="".join(f"1 0 {d} {int(d == 'd1')}\n" for d in documents[:10]),
        late="".join(f"1 Q0 {d} {k} {100 - k} late\n" for k, d in enumerate(documents)),
    )
    found, _ = answer("unjudged", qrels, late, "--measures", "AP")
    assert found["bounds"]["AP"] == pytest.approx([15 / 44, 1 / 2])
    said = (
        "Every result of late down to rank 10 has been judged. AP reads deeper: its score bounds are "
        "0.341 and 0.500."
    )
    assert summarise_bounds(found).endswith(said)


def test_a_pool_is_sampled_by_the_grades_of_an_llm_judge(
    tmp_path: Path, runs: list[str], whole: str
) -> None:
    """Strata of votes and grades; the higher grade is drawn more often, and the LLM judge then
    corrects people on the same file."""
    out = tmp_path / "drawn.prel"
    found, _ = answer(
        "sample_pool",
        *runs,
        "--depth",
        20,
        "--budget",
        0.6,
        "--llm-qrels",
        whole,
        "--judged",
        whole,
        "--output",
        out,
    )
    assert {name.rpartition("-")[2] for name in found["strata"]} == {"grade0", "grade1", "grade2"}
    assert all(name.startswith("*votes") for name in found["strata"])
    for band in {name.rpartition("-")[0] for name in found["strata"]}:
        chances = [
            found["strata"][f"{band}-grade{g}"]["probability"]
            for g in range(3)
            if f"{band}-grade{g}" in found["strata"]
        ]
        assert chances == sorted(chances)
    corrected, _ = answer(
        "compare_llm_judges", out, *runs, "--llm-labels", f"right={whole}", "--measures", "P@5"
    )
    assert corrected["right"]["systems"]["P@5"]["corrected"]["forward"][0] == pytest.approx(
        1, abs=1e-9
    )
    (partial,) = files(tmp_path, partial="0 0 a 1\n")
    assert "239 of 240 pairs of the pool have no LLM label" in refused(
        "sample_pool", *runs, "--depth", 20, "--llm-qrels", partial
    )


def test_an_llm_judge_that_is_right_and_one_that_is_not(
    tmp_path: Path, runs: list[str], whole: str
) -> None:
    out = tmp_path / "drawn.prel"
    answer("sample_pool", *runs, "--depth", 20, "--budget", 0.6, "--judged", whole, "--output", out)
    turned = "".join(f"{t} 0 {d} {0 if d in 'abcde' else 1}\n" for t in range(12) for d in LETTERS)
    (wrong,) = files(tmp_path, wrong=turned)
    found, _ = answer(
        "compare_llm_judges",
        out,
        *runs,
        "--llm-labels",
        f"right={whole}",
        "--llm-labels",
        f"wrong={wrong}",
        "--measures",
        "P@5 DCG@5",
    )
    truth = {"forward": 1.0, "backward": 0.0}
    right, opposite = found["right"]["systems"]["P@5"], found["wrong"]["systems"]["P@5"]
    assert found["right"]["agreement"]["binary_kappa"] == pytest.approx(1)
    assert found["wrong"]["agreement"]["binary_kappa"] < 0
    for tag, value in truth.items():
        assert right["corrected"][tag][0] == pytest.approx(value, abs=1e-9)
        assert right["people"][tag] == opposite["people"][tag]
    assert opposite["lambda"]["forward"] == 0  # an LLM judge that says the opposite is not used
    assert opposite["corrected"]["forward"] == opposite["people"]["forward"]
    assert opposite["tau_llm_alone"] == -1
    (partial,) = files(tmp_path, partial="0 0 a 1\n")
    assert "239 of 240 pairs of the pool have no label" in refused(
        "compare_llm_judges", out, *runs, "--llm-labels", partial
    )
    twice, odd = files(
        tmp_path,
        twice="m\t0\ta\t1\nm\t0\ta\t0\n",
        odd="llm_judge\ttopic\tdocument\tgrade\nm\t0\ta\t--1\n",
    )
    assert f"{twice}:2: duplicate label by m for document a of topic 0 (see line 1)" in refused(
        "compare_llm_judges", out, *runs, "--llm-table", twice
    )
    assert f"{odd}:2: expected llm_judge, topic, document, grade" in refused(
        "compare_llm_judges", out, *runs, "--llm-table", odd
    )

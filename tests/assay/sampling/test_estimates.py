"""Estimates from a sampled pool: frozen outputs of the reference programs, arithmetic by hand, and
every possible draw."""

from __future__ import annotations

import gzip
import math
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest

from assay.column_types import RunColumns
from assay.formats.prel import SampledQrels, make_prel, read_prel
from assay.formats.qrels import read_qrels
from assay.formats.runs import read_run
from assay.measures.evaluation import Evaluator
from assay.measures.measures import parse_measure, parse_measures
from assay.measures.packing import PackedRun, index_qrels, pack_run
from assay.sampling.correction import EstimationTargets, stratified_variance
from assay.sampling.estimates import (
    JudgedSample,
    clip_to_range,
    estimate_topics,
    fractional_ideal_dcg,
    make_sample,
    no_interval_reason,
    topic_interval,
)

Row = tuple[str, str, str, int]


def ranking(topics: dict[str, str]) -> RunColumns:
    """A run of one-letter documents, best first."""
    sizes = [len(documents) for documents in topics.values()]
    letters = [letter.encode() for documents in topics.values() for letter in documents]
    return RunColumns(
        tag="run",
        topics=list(topics),
        offsets=np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
        documents=np.array(letters, "S8"),
        scores=np.zeros(len(letters)),
        ranks=np.zeros(len(letters), np.int32),
    )


def estimated(rows: list[Row], run: RunColumns, names: str) -> tuple[JudgedSample, np.ndarray]:
    prel = make_prel("pool", rows)
    sample = make_sample(prel)
    return sample, estimate_topics(
        pack_run(run, index_qrels(prel.qrels)), sample, parse_measures(names)
    )


def by_hand(e: int) -> list[Row]:
    """Ranks 1 to 5 are a to e. Stratum {a b} is judged 1 0. In {c d e}, c = 1 and e are judged."""
    grades = {"a": 1, "b": 0, "c": 1, "d": -1, "e": e}
    return [("1", d, "1/top" if d in "ab" else "1/rest", grade) for d, grade in grades.items()]


@pytest.mark.parametrize(("e", "n_relevant"), [(0, 2.5), (1, 4.0)])
def test_stratified_average_precision_as_worked_by_hand(e: int, n_relevant: float) -> None:
    sample, values = estimated(by_hand(e), ranking({"1": "abcde"}), "xinfAP HT-AP")
    assert sample.n_relevant(1).tolist() == [n_relevant]
    assert values[0] == pytest.approx([0.8, 0.8], abs=1e-5)


def test_inferred_average_precision_of_one_stratum_as_worked_by_hand() -> None:
    both = [("1", d, "1/all", grade) for d, grade in zip("abcde", (1, -1, 1, -1, -1), strict=True)]
    assert estimated(both, ranking({"1": "abcde"}), "xinfAP")[1][0, 0] == pytest.approx(
        1.0, abs=1e-4
    )
    only_c = [
        ("1", d, "1/all", grade) for d, grade in zip("abcde", (-1, -1, 1, -1, -1), strict=True)
    ]
    prel = make_prel("pool", only_c)
    assert estimated(only_c, ranking({"1": "abcde"}), "xinfAP")[1][0, 0] == pytest.approx(
        5 / 9, abs=1e-4
    )
    inferred = Evaluator(prel.qrels, parse_measures("infAP")).evaluate(ranking({"1": "abcde"}))
    assert inferred.values[0, 0] == pytest.approx(2 / 3, abs=1e-4)


def test_no_more_relevant_documents_are_expected_than_a_run_may_return() -> None:
    """2 of 4,000 pairs judged, both relevant: one at rank 2 below a document outside the pool has
    2,000 · 1/2 of the 1,000 that count."""
    rows = [("1", f"d{k}", "1/all", 1 if k < 2 else -1) for k in range(4000)]
    run = RunColumns(
        tag="run",
        topics=["1"],
        offsets=np.array([0, 2]),
        documents=np.array([b"x", b"d0"], "S8"),
        scores=np.zeros(2),
        ranks=np.zeros(2, np.int32),
    )
    sample, values = estimated(rows, run, "xinfAP")
    assert sample.n_relevant(1).tolist() == [4000.0]
    assert values[0, 0] == pytest.approx(1.0)


def test_the_ideal_shares_places_as_worked_by_hand() -> None:
    """1.5 documents of grade 2 and one of grade 1."""
    assert fractional_ideal_dcg(np.array([[0, 1, 1.5]]), 3)[0] == pytest.approx(
        2 + 1.5 / math.log2(3) + 0.25, abs=1e-12
    )
    assert fractional_ideal_dcg(np.array([[0, 5.0, 0.0]]), 3)[0] == pytest.approx(
        1 + 1 / math.log2(3) + 0.5, abs=1e-12
    )


def small_pools() -> tuple[dict[str, list[str]], dict[str, int]]:
    strata = {"1/top": list("abcd"), "1/rest": list("efghi")}
    truth = dict(zip("abcdefghi", (2, 0, 1, 1, 0, 3, 0, 1, 0), strict=True))
    return strata, truth


def every_draw() -> list[list[Row]]:
    """All samples of 2 of 4 and 3 of 5 pairs."""
    strata, truth = small_pools()
    draws = []
    for chosen in product(combinations(strata["1/top"], 2), combinations(strata["1/rest"], 3)):
        drawn = {d for part in chosen for d in part}
        draws.append(
            [
                ("1", d, name, truth[d] if d in drawn else -1)
                for name, members in strata.items()
                for d in members
            ]
        )
    return draws


def test_expanded_precision_and_gain_are_unbiased_over_every_possible_draw() -> None:
    _, truth = small_pools()
    run = ranking({"1": "fxaecghib"})  # x is outside the pool
    values = np.array([estimated(rows, run, "HT-P@5 HT-DCG@5")[1][0] for rows in every_draw()])
    first = "fxaec"
    precision = sum(truth.get(d, 0) > 0 for d in first) / 5
    gain = sum(truth.get(d, 0) / math.log2(rank + 1) for rank, d in enumerate(first, start=1))
    assert values.mean(axis=0) == pytest.approx([precision, gain], abs=1e-12)


def test_the_variance_of_judging_is_unbiased_over_every_possible_draw() -> None:
    run = ranking({"1": "fxaecghib"})
    totals, variances = [], []
    for rows in every_draw():
        prel = make_prel("pool", rows)
        sample, packed = make_sample(prel), pack_run(run, index_qrels(prel.qrels))
        values = np.zeros(len(sample.grades))
        near = packed.rank <= 5
        values[packed.row[near]] = np.maximum(sample.grades[packed.row[near]], 0) / np.log2(
            packed.rank[near] + 1
        )
        totals.append(estimate_topics(packed, sample, parse_measures("HT-DCG@5"))[0, 0])
        judged = np.where(sample.grades >= 0, sample.grades, np.nan)
        targets = EstimationTargets(sample, values[:, None], judged, np.zeros(len(values)))
        variances.append(stratified_variance(targets, np.ones(len(targets.judged)))[0])
    assert np.mean(variances) == pytest.approx(np.var(totals), abs=1e-12)


def naive_xinfap(rows: list[Row], order: str) -> float:
    """Straight from the formula, document by document."""
    grades, stratum = {d: g for _, d, _, g in rows}, {d: s for _, d, s, _ in rows}
    names = set(stratum.values())
    size = {h: sum(s == h for s in stratum.values()) for h in names}
    n_judged = {h: sum(stratum[d] == h and grades[d] >= 0 for d in grades) for h in names}
    weight = {h: size[h] / n_judged[h] for h in names}
    n_relevant = sum(weight[stratum[d]] for d in grades if grades[d] > 0)
    total = 0.0
    for rank, document in enumerate(order, start=1):
        if grades.get(document, -1) <= 0:
            continue
        precision = 1 / rank
        for h in names:
            above = [d for d in order[: rank - 1] if stratum.get(d) == h]
            judged, relevant = sum(grades[d] >= 0 for d in above), sum(grades[d] > 0 for d in above)
            precision += len(above) / rank * (relevant + 1e-5) / (judged + 3e-5)
        total += weight[stratum[document]] * precision
    return total / n_relevant if n_relevant else 0.0


def naive_expanded_ap(rows: list[Row], order: str) -> float:
    grades, stratum = {d: g for _, d, _, g in rows}, {d: s for _, d, s, _ in rows}
    size = {h: sum(s == h for s in stratum.values()) for h in set(stratum.values())}
    n_judged = {h: sum(stratum[d] == h and grades[d] >= 0 for d in grades) for h in size}
    chance = {d: n_judged[stratum[d]] / size[stratum[d]] for d in grades}

    def both(i: str, j: str) -> float:
        h = stratum[i]
        if stratum[j] != h:
            return chance[i] * chance[j]
        return n_judged[h] * (n_judged[h] - 1) / (size[h] * (size[h] - 1))

    relevant = [d for d in order if grades.get(d, -1) > 0]
    n_relevant = sum(1 / chance[d] for d in grades if grades[d] > 0)
    total = sum(
        (1 / chance[d] + sum(1 / both(d, j) for j in relevant if order.index(j) < order.index(d)))
        / (order.index(d) + 1)
        for d in relevant
    )
    return total / n_relevant if n_relevant else 0.0


def test_average_precision_equals_the_formulas_written_out() -> None:
    for rows in every_draw():
        _, values = estimated(rows, ranking({"1": "fxaecghib"}), "xinfAP HT-AP")
        assert values[0] == pytest.approx(
            [naive_xinfap(rows, "fxaecghib"), naive_expanded_ap(rows, "fxaecghib")], abs=1e-12
        )


def test_a_whole_pool_judged_gives_the_measures_themselves() -> None:
    strata, truth = small_pools()
    rows = [("1", d, name, truth[d]) for name, members in strata.items() for d in members]
    run = ranking({"1": "fxaecghib"})
    _, values = estimated(rows, run, "HT-P@5 HT-nDCG@5 HT-AP")
    plain = Evaluator(make_prel("pool", rows).qrels, parse_measures("P@5 nDCG@5 AP")).evaluate(run)
    assert values[0] == pytest.approx(plain.values[0], abs=1e-12)


def test_topics_without_the_run_or_without_relevant_documents_count_nothing() -> None:
    rows = [("1", "a", "1/all", 1), ("2", "a", "2/all", 0), ("3", "b", "3/all", 1)]
    _, values = estimated(
        rows, ranking({"1": "a", "2": "a"}), "HT-P@1 HT-nDCG@3 xinfAP HT-AP infNDCG"
    )
    assert values[0] == pytest.approx([1] * 5, abs=1e-4)
    assert values[1:].tolist() == [[0.0] * 5] * 2


def test_the_interval_is_the_t_interval_of_the_topics() -> None:
    low, high = topic_interval(np.array([0.1, 0.4, 0.7]))  # mean .4, s .3, t(2) 4.302653
    assert (low, high) == pytest.approx(
        (0.4 - 4.302653 * 0.3 / math.sqrt(3), 0.4 + 4.302653 * 0.3 / math.sqrt(3)), abs=1e-6
    )
    assert all(math.isnan(end) for end in topic_interval(np.array([0.3])))


def test_no_interval_without_enough_judged_pairs_says_why() -> None:
    rows = [(str(t), d, f"{t}/all", 1) for t in range(3) for d in "abcdefghijkl"]
    sample = make_sample(make_prel("pool", rows))
    assert no_interval_reason(sample, parse_measure("HT-nDCG@10")) is None
    assert "12.0 judged pairs per topic" in (
        no_interval_reason(sample, parse_measure("xinfAP")) or ""
    )
    unjudged = [*rows, ("0", "z", "0/deep", -1)]
    assert "0/deep" in (
        no_interval_reason(make_sample(make_prel("pool", unjudged)), parse_measure("HT-nDCG@10"))
        or ""
    )


def test_infndcg_has_no_interval_however_much_is_judged() -> None:
    sample = make_sample(
        make_prel("pool", [(str(t), f"d{k}", f"{t}/all", 1) for t in range(3) for k in range(99)])
    )
    for name in ("infNDCG", "infNDCG@10"):
        assert (
            no_interval_reason(sample, parse_measure(name))
            == "biased; for comparison with TREC only"
        )
    assert no_interval_reason(sample, parse_measure("xinfAP")) is None


@pytest.mark.parametrize(
    ("drawn", "reason"),
    [
        (None, None),
        (100, None),
        (102, None),
        (
            103,
            "3 of 103 drawn pairs have no grade; more than 2% cannot be treated as missing at random",
        ),
        (99, "100 pairs have a grade, but 99 were drawn; the others were not chosen at random"),
    ],
)
def test_grades_of_too_few_drawn_pairs_are_no_random_sample(
    drawn: int | None, reason: str | None
) -> None:
    """2% of 102 is 2.04 pairs."""
    rows = [(str(t), f"d{k}", f"{t}/all", 1 if k < 50 else -1) for t in range(2) for k in range(60)]
    assert (
        no_interval_reason(
            make_sample(make_prel("pool", rows, drawn=drawn)), parse_measure("HT-P@10")
        )
        == reason
    )


def test_an_interval_ends_where_its_measure_does() -> None:
    precision, gain = parse_measure("HT-P@10"), parse_measure("HT-DCG@10")
    assert clip_to_range(precision, -0.1, 1.2) == (0, 1)
    assert clip_to_range(precision, -1.1, 0.5, difference=True) == (-1, 0.5)
    assert clip_to_range(gain, -0.1, 7.0) == (0, 7)
    assert clip_to_range(gain, -9.0, 7.0, difference=True) == (-9, 7)
    assert all(map(math.isnan, clip_to_range(precision, 1.01, 1.2))), "nothing of it is possible"
    assert all(map(math.isnan, clip_to_range(precision, math.nan, math.nan)))


@pytest.fixture(scope="module")
def reference(data_folder: Path) -> tuple[Path, SampledQrels, JudgedSample]:
    folder = data_folder / "sample-eval-reference"
    prel = read_prel(folder / "sampled.prel.txt.gz")
    return folder, prel, make_sample(prel)


@pytest.mark.data
@pytest.mark.parametrize("run", ["run1", "run4", "run8"])
def test_sample_eval_prints_what_is_estimated_here(
    reference: tuple[Path, SampledQrels, JudgedSample], run: str
) -> None:
    """300 run-topics, four printed decimals."""
    folder, prel, sample = reference
    printed: dict[tuple[str, str], float] = {}
    with gzip.open(folder / f"{run}.sample_eval.txt.gz", "rt") as lines:
        for line in lines:
            name, topic, value = line.split()
            printed[name, topic] = float(value)
    packed: PackedRun = pack_run(read_run(folder / f"{run}.run.gz"), index_qrels(prel.qrels))
    values = estimate_topics(packed, sample, parse_measures("xinfAP infNDCG"))
    assert len(sample.topics) == 100
    for k, topic in enumerate(sample.topics):
        assert values[k] == pytest.approx(
            [printed["infAP", topic], printed["infNDCG", topic]], abs=5.1e-5
        )
        assert sample.n_relevant(1)[k] == pytest.approx(printed["inum_rel", topic], abs=5.1e-5)


@pytest.mark.data
def test_inferred_ap_is_that_of_trec_eval(data_folder: Path) -> None:
    folder = data_folder / "sample-eval-reference"
    expected: dict[tuple[str, str], float] = {}
    with gzip.open(folder / "random.infAP.tsv.gz", "rt") as lines:
        for line in lines:
            run, topic, value = line.split()
            expected[run, topic] = float(value)
    evaluator = Evaluator(read_qrels(folder / "random.qrels.txt.gz"), parse_measures("infAP"))
    for run in ("run1", "run4", "run8"):
        evaluation = evaluator.evaluate(read_run(folder / f"{run}.run.gz"))
        for topic, value in zip(evaluation.topics, evaluation.values[:, 0].tolist(), strict=True):
            if (run, topic) in expected:
                assert value == pytest.approx(expected[run, topic], abs=1e-9)
    assert len(expected) >= 290

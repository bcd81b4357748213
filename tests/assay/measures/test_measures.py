from __future__ import annotations

import ir_measures
import pytest

from assay.measures.measures import (
    FAMILIES,
    Measure,
    UnknownMeasure,
    at_judged_depth,
    parse_measure,
    parse_measures,
)


@pytest.mark.parametrize(
    ("name", "measure"),
    [
        ("AP", Measure("AP")),
        ("AP@100", Measure("AP", 100)),
        ("nDCG@10", Measure("nDCG", 10)),
        ("nDCG-exp", Measure("nDCG-exp")),
        ("nDCG-exp@20", Measure("nDCG-exp", 20)),
        ("nDCG-J@5", Measure("nDCG", 5, condensed=True)),
        ("nDCG-exp-J@5", Measure("nDCG-exp", 5, condensed=True)),
        ("AP-J", Measure("AP", condensed=True)),
        ("Rprec", Measure("Rprec")),
        ("Bpref", Measure("Bpref")),
        ("Judged@10", Measure("Judged", 10)),
        ("AP(rel=2)", Measure("AP", level=2)),
        ("RR(rel=2)-J@10", Measure("RR", 10, condensed=True, level=2)),
        ("RBP(0.8)", Measure("RBP", persistence=0.8)),
        ("RBP(0.9999999)@10", Measure("RBP", 10, persistence=0.9999999)),
        ("RBP(0.00001)", Measure("RBP", persistence=0.00001)),
    ],
)
def test_a_name_is_read_and_written_back(name: str, measure: Measure) -> None:
    assert parse_measure(name) == measure
    assert str(measure) == name


def test_cutoffs_of_default_measures_are_at_most_the_judged_depth() -> None:
    usual = parse_measures("nDCG@10 AP RR(rel=2)@10 nDCG@5 R@100")
    assert [str(one) for one in at_judged_depth(usual, 5)] == [
        "nDCG@5",
        "AP",
        "RR(rel=2)@5",
        "R@100",
    ]
    assert at_judged_depth(usual, 100) == at_judged_depth(usual, None) == usual


def test_the_condensed_form_of_ir_measures_is_understood_and_called_by_our_name() -> None:
    assert str(parse_measure("nDCG(judged_only=True)@5")) == "nDCG-J@5"
    assert str(parse_measure("AP(rel=2, judged_only=True)")) == "AP(rel=2)-J"


@pytest.mark.parametrize(
    "name",
    [
        "AP",
        "nDCG@10",
        "RR",
        "RR@10",
        "P@10",
        "R@100",
        "Rprec",
        "Bpref",
        "Judged@9",
        "Success@5",
        "AP(rel=2)@10",
    ],
)
def test_plain_names_are_those_of_ir_measures(name: str) -> None:
    assert ir_measures.parse_measure(name) is not None
    assert str(parse_measure(name)) == name


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("MAP", "perhaps AP"),
        ("ndcg@10", "perhaps nDCG"),
        ("MRR@10", "perhaps RR"),
        ("recall@100", "perhaps R"),
        ("nDCG-j@5", "perhaps nDCG"),
        ("zzz", "there are AP AP@k, nDCG".replace(" AP@k", ", AP@k")),
        ("P", "needs a cutoff"),
        ("Judged", "needs a cutoff"),
        ("Rprec@10", "has none"),
        ("nDCG@0", "ranks start at 1"),
        ("nDCG(rel=2)", "'rel=2'"),
        ("RBP(0.99999999999999999999)", "0 < p < 1"),
        ("AP(rel=0)", "'rel=0'"),
        ("AP@ten", "no measure is called"),
        ("AP@10-J", "no measure is called"),
        ("", "no measure is called"),
    ],
)
def test_a_wrong_name_is_refused_with_what_there_is(name: str, says: str) -> None:
    with pytest.raises(UnknownMeasure, match=says.replace("(", r"\(")):
        parse_measure(name)


def test_every_family_is_listed_in_the_refusal() -> None:
    with pytest.raises(UnknownMeasure) as refusal:
        parse_measure("unheard")
    assert all(family in str(refusal.value) for family in FAMILIES)


def test_a_list_is_read_between_blanks_or_commas_each_measure_once_in_order() -> None:
    assert [
        str(m) for m in parse_measures("nDCG@10, AP  nDCG@10 AP(rel=2, judged_only=True)@5")
    ] == ["nDCG@10", "AP", "AP(rel=2)-J@5"]


def test_an_empty_list_is_refused() -> None:
    with pytest.raises(UnknownMeasure, match="no measure is named"):
        parse_measures("  ")

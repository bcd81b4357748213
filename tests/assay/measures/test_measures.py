from __future__ import annotations

import contextlib
import re

import ir_measures
import pytest

from assay.measures.measures import (
    ALIASES,
    FAMILIES,
    Measure,
    UnknownMeasure,
    limit_cutoffs,
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
        ("AP(rel=2)", Measure("AP", min_relevant=2)),
        ("RR(rel=2)-J@10", Measure("RR", 10, condensed=True, min_relevant=2)),
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
    assert [str(one) for one in limit_cutoffs(usual, 5)] == [
        "nDCG@5",
        "AP",
        "RR(rel=2)@5",
        "R@100",
    ]
    assert limit_cutoffs(usual, 100) == limit_cutoffs(usual, None) == usual


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        # trec_eval
        ("map", "AP"),
        ("map_cut_100", "AP@100"),
        ("ndcg", "nDCG"),
        ("ndcg_cut_10", "nDCG@10"),
        ("ndcg_cut.10", "nDCG@10"),
        ("recip_rank", "RR"),
        ("P_10", "P@10"),
        ("recall_100", "R@100"),
        ("bpref", "Bpref"),
        ("Rprec", "Rprec"),
        ("success_5", "Success@5"),
        # ir-measures
        ("nDCG(judged_only=True)@5", "nDCG-J@5"),
        ("AP(rel=2, judged_only=True)", "AP(rel=2)-J"),
        ("nDCG(dcg='exp-log2')@10", "nDCG-exp@10"),
        ("P(rel=2)@5", "P(rel=2)@5"),
        ("RBP(p=0.9,rel=2)", "RBP(0.9,rel=2)"),
        ("RBP(rel=2)@10", "RBP(0.8,rel=2)@10"),
        # ranx and papers
        ("MAP", "AP"),
        ("MRR@10", "RR@10"),
        ("Recall@100", "R@100"),
        ("Precision@5", "P@5"),
        ("NDCG@10", "nDCG@10"),
        ("ndcg_burges@10", "nDCG-exp@10"),
        ("hit_rate@5", "Success@5"),
        ("R-precision", "Rprec"),
        ("nDCG-j@5", "nDCG-J@5"),
    ],
)
def test_other_spellings_are_read_and_called_by_the_canonical_name(
    spelling: str, name: str
) -> None:
    assert str(parse_measure(spelling)) == name
    assert parse_measure(spelling) == parse_measure(name)


def test_objects_of_ir_measures_are_read() -> None:
    assert parse_measures(ir_measures.AP(rel=2) @ 100) == [Measure("AP", 100, min_relevant=2)]
    assert parse_measures(
        iter([ir_measures.nDCG @ 10, ir_measures.RBP(rel=1), "MAP", Measure("AP")])
    ) == parse_measures("nDCG@10 RBP(0.8,rel=1) AP")


def test_every_measure_of_ir_measures_is_the_same_there_or_refused() -> None:
    """Its name here is one that ir-measures reads back as the same measure."""
    known = []
    for measure in ir_measures.measures.registry.values():
        for asked in (measure, measure @ 10):
            with contextlib.suppress(UnknownMeasure):
                name = str(parse_measure(asked)).replace("Compat(", "Compat(p=")
                assert ir_measures.parse_measure(name) == asked
                known.append(str(asked))
    assert {"AP", "AP@10", "RR@10", "Bpref", "Judged@10", "ERR@10", "infAP"} <= set(known)
    assert not {"SetP", "IPrec@10", "Accuracy", "RBP", "NumRet"} & set(known)


def test_other_names_lead_to_families() -> None:
    assert set(ALIASES.values()) <= set(FAMILIES)
    assert all(name == name.casefold() and "_" not in name for name in ALIASES)
    assert not set(ALIASES) & {name.casefold() for name in FAMILIES}


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
        ("MAPP", "did you mean AP?"),
        ("ndgc@20", "did you mean nDCG@20?"),
        ("mean_recip_rank", "did you mean RR?"),
        ("recal", "did you mean R@10 or Rprec?"),
        ("AP@ten", "did you mean AP@10 or P@10?"),
        ("set_P", "unknown measure 'set_P'"),
        ("iprec_at_recall_0.10", "unknown measure"),
        ("nDCG(gains={0:1,1:5})@10", "unknown parameter"),
        ("RBP", "needs a persistence"),
        ("P", "for example P@10"),
        ("AP(rel=2,gain=3)", "'gain=3' in"),
        ("zzz", "choose from AP AP@k, nDCG".replace(" AP@k", ", AP@k")),
        ("P", "needs a cutoff"),
        ("Judged", "needs a cutoff"),
        ("Rprec@10", "does not take one"),
        ("nDCG@0", "ranks start at 1"),
        ("nDCG(rel=2)", "'rel=2'"),
        ("RBP(0.99999999999999999999)", "0 < p < 1"),
        ("AP(rel=0)", "'rel=0'"),
        ("AP@ten", "unknown measure"),
        ("AP@10-J", "unknown measure"),
        ("", "unknown measure"),
    ],
)
def test_a_wrong_name_is_refused_with_what_there_is(name: str, says: str) -> None:
    with pytest.raises(UnknownMeasure, match=re.escape(says)):
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
    with pytest.raises(UnknownMeasure, match="no measure given"):
        parse_measures("  ")

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.comparison.outcomes import AnsweredMeans, MeanRR, RunComparison, compare_ranks
from assay.comparison.verdicts import Verdict, judge_comparisons, to_json


def published(
    a_wins,
    b_wins,
    esl,
    rr,
    *,
    both=72,
    neither=2,
    binomial=0.0,
    mrr=(0.03, 0.52, 0.72),
    signed_ranks=(0.0, 0.0),
):
    """A row of Lin et al.'s tables: (A, B, WSR p, t p) of ESL and of RR, (WRS, WSR, t) of mean
    RR."""
    return RunComparison(
        topics=100,
        mrr=MeanRR(0.3, 0.31, mrr[0], mrr[0], mrr[1], mrr[2]),
        neither=neither,
        a_only=a_wins,
        b_only=b_wins,
        both=both,
        esl=AnsweredMeans(*esl, signed_ranks[0]),
        rr=AnsweredMeans(*rr, signed_ranks[1]),
        binomial=binomial,
    )


R1_R2 = published(9, 16, (6.99, 9.14, 3.22e-12, 1.60e-07), (0.4812, 0.4468, 6.75e-05, 2.66e-05))
R1_R8 = published(
    15, 15, (7.06, 5.71, 7.94e-08, 8.68e-08), (0.4829, 0.5273, 8.97e-07, 7.59e-07), binomial=0.9
)
R1_R10 = published(
    12, 15, (7.08, 5.88, 4.79e-06, 1.46e-06), (0.4829, 0.5204, 1.60e-05, 1.10e-05), binomial=0.001
)
R1_R5 = published(11, 15, (7.13, 7.27, 0.609428, 0.813828), (0.4833, 0.4861, 0.730242, 0.765044))
R12_R13 = published(
    10, 11, (6.56, 7.28, 0.328843, 0.009061), (0.5110, 0.5131, 0.788919, 0.808087), binomial=0.4
)
"""Table 2 of the SIGIR paper; its binomial p-values are not published, those here fit its shares of
5,793 topics."""


def verdict(comparison, **how) -> Verdict:
    return judge_comparisons([comparison], **how)[0].verdict


def test_more_answers_and_longer_searches_is_neither_better_nor_harmless():
    """R1 and R2: R2 answers more topics, but ranks significantly worse."""
    assert verdict(R1_R2) == Verdict(better=False, significantly_better=False, do_no_harm=False)


def test_shorter_searches_without_fewer_answers_do_no_harm():
    """R1 and R8: answers are even, R8 ranks significantly better."""
    assert verdict(R1_R8) == Verdict(better=False, significantly_better=False, do_no_harm=True)


def test_both_improvements_significant_is_significantly_better():
    assert verdict(R1_R10) == Verdict(better=True, significantly_better=True, do_no_harm=True)


def test_more_answers_without_significantly_longer_searches_do_no_harm():
    """R1 and R5: mean ESL rises, but not significantly."""
    assert verdict(R1_R5) == Verdict(better=False, significantly_better=False, do_no_harm=True)


def test_significantly_fewer_answers_do_harm_however_short_the_searches():
    fewer = published(20, 10, (7.0, 5.0, 1e-9, 1e-9), (0.4, 0.5, 1e-9, 1e-9), binomial=1e-6)
    assert verdict(fewer) == Verdict(better=False, significantly_better=False, do_no_harm=False)


def test_reciprocal_ranks_may_say_otherwise_and_that_is_flagged():
    """R1 and R5 again: RR rises, so by RR the run is better. R12 and R13: ESL and RR point in
    opposite directions."""
    (found,) = judge_comparisons([R1_R5])
    assert found.by_rr == Verdict(better=True, significantly_better=False, do_no_harm=True)
    assert "if both answer, A is ahead by ESL and B by RR" in found.disagreements
    assert "the verdict better holds by RR but not by ESL" in found.disagreements
    (top,) = judge_comparisons([R12_R13])
    assert "if both answer, A is ahead by ESL and B by RR" in top.disagreements
    assert (
        "ESL: the difference is significant by the t-test but not by the signed-rank test (uncorrected)"
        in top.disagreements
    )


def test_the_test_that_decides_can_be_t():
    shorter = published(
        10, 11, (7.28, 6.56, 0.328843, 0.009061), (0.51, 0.51, 0.8, 0.8), binomial=0.4
    )
    assert not verdict(shorter).do_no_harm
    assert verdict(shorter, decide="t").do_no_harm


def test_tests_that_disagree_on_mean_reciprocal_rank_are_flagged():
    (found,) = judge_comparisons([R1_R2])
    assert found.disagreements == [
        (
            "mean RR of all topics: the difference is significant by the rank-sum test but not by the "
            "signed-rank test and the t-test (uncorrected)"
        )
    ]


def test_a_signed_rank_test_that_looks_the_other_way_than_the_means_is_flagged():
    """R1 and R13: mean ESL rises by 0.05 with a WSR p of 0.017; most topics then have shorter
    searches."""
    (found,) = judge_comparisons([R1_R13])
    assert (
        "ESL: the signed-rank test and the means point in different directions"
        in found.disagreements
    )


R1_R13 = published(
    10,
    16,
    (7.26, 7.31, 0.017467, 0.866769),
    (0.4777, 0.5079, 4.87e-4, 5.08e-4),
    binomial=1e-9,
    signed_ranks=(-1000.0, 1000.0),
)


def test_where_means_and_signed_ranks_point_to_different_sides_there_is_no_verdict():
    """R1 and R13 again: by the means the searches are longer, by the signed ranks shorter. RR is
    undivided, and t looks where the means do."""
    (found,) = judge_comparisons([R1_R13])
    assert found.verdict == Verdict(better=None, significantly_better=None, do_no_harm=None)
    assert found.mirrored == Verdict(
        better=False, significantly_better=False, do_no_harm=False
    )  # A answers significantly fewer
    assert found.by_rr == Verdict(better=True, significantly_better=True, do_no_harm=True)
    assert to_json(R1_R13, found)["undefined"] == {
        "verdict": "means and signed ranks point in different directions"
    }
    (by_t,) = judge_comparisons([R1_R13], decide="t")
    assert by_t.verdict == Verdict(better=False, significantly_better=False, do_no_harm=True)


def test_one_topic_far_away_is_no_evidence_against_many_near_ones():
    """B is one rank worse on 28 of 30 topics, and on two it comes from rank 100 to rank 1: the mean
    falls by (2 x 99 - 28) / 30."""
    (found,) = judge_comparisons([compare_ranks([1] * 28 + [100] * 2, [2] * 28 + [1] * 2)])
    assert (
        found.verdict
        == found.mirrored
        == Verdict(better=False, significantly_better=False, do_no_harm=None)
    )
    assert found.because[1] == (
        "on the topics that both answer, means and signed ranks point in different directions, so "
        "there is no verdict: "
        "by mean search length B is ahead (A 7.6, B 1.933), by the signed ranks A is (A is longer "
        "on 2 topics, B on 28; p < 0.001, uncorrected)"
    )


def test_what_holds_whichever_side_is_right_is_still_said():
    """B answers significantly more topics, and nothing significant speaks against it where both
    answer, though no side is known there."""
    more = published(
        30,
        194,
        (13.57, 13.52, 0.56, 0.89),
        (0.38, 0.37, 0.9, 0.4),
        binomial=1e-30,
        signed_ranks=(500.0, -500.0),
    )
    assert verdict(more) == Verdict(better=None, significantly_better=False, do_no_harm=True)


def test_equal_means_do_not_hide_a_significantly_worse_ranking():
    """B answers 20 more topics; where both answer it is one rank worse on 40, and one topic makes
    up for it: no direction of the mean."""
    worse = compare_ranks([0] * 20 + [1] * 40 + [41], [1] * 20 + [2] * 40 + [1])
    assert (worse.esl.a, worse.esl.b, worse.esl.signed_ranks < 0 or worse.esl.signed_ranks > 0) == (
        81 / 41,
        81 / 41,
        True,
    )
    assert judge_comparisons([worse])[0].verdict == Verdict(
        better=False, significantly_better=False, do_no_harm=False
    )


def test_corrected_p_values_are_labelled_and_listed_next_to_raw_ones():
    fits = published(10, 20, (7.0, 6.0, 0.0931, 0.0931), (0.4, 0.5, 0.05, 0.05), binomial=0.0931)
    (raw,), (corrected,) = (
        judge_comparisons([fits]),
        judge_comparisons([fits], correction="bonferroni", family=8),
    )
    assert raw.because[0].endswith("not significant by the binomial test (p = 0.093, uncorrected)")
    assert corrected.because[0].endswith(
        "not significant by the binomial test (p = 0.093, after Bonferroni correction 0.74)"
    )
    assert corrected.because[1].endswith(
        "not significant by the signed-rank test (p = 0.093, after Bonferroni correction 0.74)"
    )
    row = to_json(fits, corrected)
    assert (
        row["correction"],
        row["family_size"],
        row["binomial"],
        row["corrected"]["binomial"],
    ) == (
        "bonferroni",
        8,
        0.0931,
        0.7448,
    )


def test_alpha_is_a_strict_bound():
    at = published(10, 20, (7.0, 6.0, 0.05, 0.05), (0.4, 0.5, 0.05, 0.05), binomial=0.05)
    assert not verdict(at).significantly_better
    assert verdict(at, alpha=0.0501).significantly_better


def test_bonferroni_acts_on_verdicts_and_leaves_p_values_raw():
    assert verdict(R1_R10, correction="bonferroni", family=14).significantly_better
    assert not verdict(
        R1_R10, correction="bonferroni", family=100
    ).significantly_better  # binomial 0.001 x 100
    (found,) = judge_comparisons([R1_R10], correction="bonferroni", family=100)
    assert found.corrected["binomial"] == pytest.approx(0.1)
    assert to_json(R1_R10, found)["binomial"] == 0.001


def test_holm_corrects_each_kind_of_test_over_the_list():
    rows = [R1_R10, R1_R8, R1_R5]
    found = judge_comparisons(rows, correction="holm")
    assert [one.corrected["esl_wsr"] for one in found] == pytest.approx(
        [2 * 4.79e-06, 3 * 7.94e-08, 0.609428]
    )
    assert [one.corrected["binomial"] for one in found] == pytest.approx([0.002, 0.9, 0.0])


def test_without_common_topics_nothing_is_better_and_the_reason_is_said():
    (found,) = judge_comparisons([compare_ranks([0] * 30 + [1], [1] * 30 + [0])])
    assert found.verdict == Verdict(better=False, significantly_better=False, do_no_harm=True)
    assert found.because == [
        "B wins the topics that only one run answers: A 1, B 30 of 31, significant by the binomial test (p < 0.001, uncorrected)",
        "no topic is answered by both runs, so search lengths cannot be compared",
    ]


def test_reasons_name_the_facts():
    assert judge_comparisons([R1_R8])[0].because == [
        (
            "neither wins the topics that only one run answers: A 15, B 15 of 100, not significant by "
            "the binomial test (p = 0.90, uncorrected)"
        ),
        "B has the smaller mean search length on the 72 topics that both answer: A 7.06, B 5.71, "
        "significant by the signed-rank test "
        "(p < 0.001, uncorrected)",
    ]


def test_an_unknown_test_is_refused():
    with pytest.raises(ValueError, match="unknown test"):
        judge_comparisons([R1_R8], decide="sign")


@settings(deadline=None)
@given(st.lists(st.integers(0, 9), min_size=6, max_size=40))
def test_a_run_is_not_better_than_itself(ranks):
    (found,) = judge_comparisons([compare_ranks(ranks, ranks)])
    assert found.verdict == found.by_rr == found.mirrored == Verdict(False, False, False)
    assert found.disagreements == []


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=60))
def test_the_mirrored_verdict_is_the_verdict_on_the_swapped_runs(ranks):
    a, b = zip(*ranks, strict=True)
    (one,), (other,) = (
        judge_comparisons([compare_ranks(a, b)]),
        judge_comparisons([compare_ranks(b, a)]),
    )
    assert one.mirrored == other.verdict
    assert not (one.verdict.better and other.verdict.better)
    assert not (one.verdict.do_no_harm and other.verdict.do_no_harm)
    assert one.verdict.do_no_harm or not one.verdict.significantly_better

"""Sentences of stopping advice: decisions without ranges for prioritised pools, and never a claim
that a result is final."""

from __future__ import annotations

import pytest

from assay.sampling import stopping_sentences as words
from assay.sampling.stopping import PairDecision, PairOrder, RemainingRelevant, SampledComparison

DONE = SampledComparison("a", "b", 0.1, 0.001, 0.01, 0.2, None, 50)
OPEN = SampledComparison("a", "c", 0.1, 0.009, 0.01, 0.2, None, 50)
EQUAL = SampledComparison("a", "d", 0.0, 0.0, 0.0, 0.0, None, 50)
SMALL = SampledComparison("a", "e", 0.01, 0.0001, 0.0001, 0.02, None, 50)
DECIDED = [
    PairDecision("a", "b", PairOrder.BEFORE, 0.0, 0.1),
    PairDecision("a", "c", PairOrder.EQUAL, 0.4, 1.0),
]
UNDECIDED = PairDecision("b", "c", PairOrder.OPEN, 0.3, 0.2)


def everything() -> list[str]:
    said = [
        words.describe_comparison(one)
        for one in (
            DONE,
            OPEN,
            EQUAL,
            SMALL,
            DONE._replace(judging=0.0),
            DONE._replace(why="too few are judged"),
        )
    ]
    said += [words.describe_sampled_pool(some) for some in ([], [DONE], [DONE, OPEN])]
    said += [words.describe_decision(one) for one in (*DECIDED, UNDECIDED)]
    said += [words.describe_ordered_pool(some) for some in ([], DECIDED, [*DECIDED, UNDECIDED])]
    return said + [
        words.describe_remaining_relevant(
            RemainingRelevant(3.0, 9.0), 90, 40, recall=0.9, reached=reached, n_checks=10
        )
        for reached in (True, False)
    ]


def test_a_sampled_comparison_is_told_in_the_sentence_of_the_method() -> None:
    """Judging holds .1 of the variance: the bound is .1 + 3.29 √(.09 / 50) = .2396, below .35."""
    said = words.describe_comparison(DONE)
    assert (
        "judging the rest would narrow the confidence interval of this difference by at most a fifth (with 95% confidence)"
        in said
    )
    assert said.endswith("It would not add topics.")
    moved = (
        "a and e: judging the rest would move this difference by at most 0.02 (with 95% "
        "confidence). A smaller difference may still become significant."
    )
    assert words.describe_comparison(SMALL) == moved
    assert words.describe_comparison(EQUAL) == "a and d: equal so far."


def test_a_prioritised_pool_reports_decisions_and_no_intervals() -> None:
    assert [words.describe_decision(one) for one in DECIDED] == [
        "a before b",
        "a and c equal within 0.01",
    ]
    said = words.describe_ordered_pool(DECIDED)
    assert "For the size of the differences, use a sampled pool." in said
    assert not any(mark in said for mark in ("95%", " to 0.", "±", "interval"))
    assert words.describe_ordered_pool([*DECIDED, UNDECIDED]).startswith(
        "1 of 3 pairs of the best systems is not decided."
    )


def test_audit_pairs_are_told_with_the_bound_and_its_looks() -> None:
    said = words.describe_remaining_relevant(
        RemainingRelevant(3.0, 9.0), 90, 40, recall=0.9, reached=True, n_checks=10
    )
    assert (
        "By 40 audit pairs, about 3 are left, and at most 9 (95% confidence over 10 interim checks together, Clopper-Pearson)"
        in said
    )
    assert said.endswith("at least 90% of the relevant documents are found.")
    assert "not yet shown that 90%" in words.describe_remaining_relevant(
        RemainingRelevant(3.0, 19.0), 90, 40, recall=0.9, reached=False
    )


def test_a_share_wanted_is_not_rounded_up_and_one_is_not_many() -> None:
    said = words.describe_remaining_relevant(
        RemainingRelevant(0.0, 0.0), 1, 40, recall=0.995, reached=True
    )
    assert said.startswith("1 relevant pair is found.")
    assert said.endswith("at least 99.5% of the relevant documents are found.")
    assert words.describe_ordered_pool(DECIDED[:1]).startswith(
        "The only pair of the best systems is decided or equal within 0.01: you may stop"
    )


def test_of_comparisons_without_advice_no_gain_is_said() -> None:
    unknown = DONE._replace(why="too few are judged")
    assert (
        words.describe_sampled_pool([DONE, OPEN, OPEN])
        == "2 of 3 comparisons with the best system may become more precise with more judging."
    )
    assert (
        words.describe_sampled_pool([DONE, OPEN, unknown])
        == "1 of 3 comparisons with the best system may become more precise with more judging; 1 cannot be assessed yet."
    )
    assert (
        words.describe_sampled_pool([DONE, unknown])
        == "0 of 2 comparisons with the best system may become more precise with more judging; 1 cannot be assessed yet."
    )


def test_where_the_bound_passes_a_fifth_no_estimate_below_it_is_told() -> None:
    """Judging holds .2 of the variance, which would be 11%; but the bound over 50 topics is .2 +
    3.29 √(.16 / 50) = .386."""
    assert (
        words.describe_comparison(DONE._replace(judging=0.002))
        == "a and b: judging the rest may narrow the confidence interval of this difference by more than a fifth."
    )


def test_a_stop_says_what_it_does_not_show() -> None:
    said = words.describe_sampled_pool([DONE, SMALL])
    assert said.startswith("You may stop: ")
    assert (
        "between a third and nearly all of them were already significant when judging stopped"
        in said
    )


@pytest.mark.parametrize("said", everything())
def test_no_result_is_called_final(said: str) -> None:
    assert not any(
        word in said.lower() for word in ("final", "certain that", "proven", "must stop", "is over")
    )

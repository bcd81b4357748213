"""Sentences of stopping advice: decisions and what more judging would change. They never call a
result final."""

from __future__ import annotations

from collections.abc import Sequence

from assay.number_words import format_count, format_part
from assay.sampling.stopping import (
    NEGLIGIBLE_DIFFERENCE,
    TIE_WIDTH,
    PairDecision,
    PairOrder,
    RemainingRelevant,
    SampledComparison,
    can_stop,
)

NOT_SEEN_NOTE = (
    "Full judging may show more significant differences. In tests, between a third and "
    "nearly all of them were already significant when judging stopped, fewest if systems are "
    "nearly equal."
)


def describe_decision(decision: PairDecision) -> str:
    if decision.order is PairOrder.BEFORE:
        return f"{decision.a} before {decision.b}"
    if decision.order is PairOrder.EQUAL:
        return f"{decision.a} and {decision.b} equal within {TIE_WIDTH}"
    return f"{decision.a} and {decision.b} not decided"


def describe_ordered_pool(decisions: Sequence[PairDecision]) -> str:
    if not decisions:
        return "There are fewer than two systems, so there is nothing to decide."
    n_open = sum(decision.order is PairOrder.OPEN for decision in decisions)
    if can_stop(decisions):
        all_pairs = (
            "The only pair of the best systems is"
            if len(decisions) == 1
            else f"All {len(decisions)} pairs of the best systems are"
        )
        return (
            f"{all_pairs} decided or equal within {TIE_WIDTH}: you may stop if you only need "
            "their order. For the size of the differences, use a sampled pool. Judging the "
            "rest would not add topics."
        )
    left = format_part(n_open, len(decisions), "pair")
    return (
        f"{left} of the best systems {'is' if n_open == 1 else 'are'} not decided. More "
        f"judging may decide {'it' if n_open == 1 else 'them'}; nearly equal systems need "
        "nearly all judgements."
    )


def describe_comparison(comparison: SampledComparison) -> str:
    pair = f"{comparison.best} and {comparison.other}"
    if comparison.why is not None:
        return f"{pair}: {comparison.why}."
    if comparison.is_equal_so_far:
        return f"{pair}: equal so far."
    if comparison.judging == 0:
        return f"{pair}: every pair that counts here is judged. More judging would not add topics."
    if comparison.is_barely_narrowed:
        narrows = (
            "judging the rest would narrow the confidence interval of this difference by at "
            "most a fifth (with 95% confidence)"
        )
        return f"{pair}: {narrows}. It would not add topics."
    if comparison.is_done:
        moves = f"judging the rest would move this difference by at most {NEGLIGIBLE_DIFFERENCE} (with 95% confidence)"
        return f"{pair}: {moves}. A smaller difference may still become significant."
    return f"{pair}: judging the rest may narrow the confidence interval of this difference by more than a fifth."


def describe_sampled_pool(comparisons: Sequence[SampledComparison]) -> str:
    if not comparisons:
        return "There are fewer than two systems, so there is nothing to compare."
    n_unknown = sum(comparison.why is not None for comparison in comparisons)
    n_open = sum(not comparison.is_done for comparison in comparisons) - n_unknown
    if not n_open and not n_unknown:
        return (
            "You may stop: judging the rest would hardly change the differences of the best "
            f"systems. It would not add topics. {NOT_SEEN_NOTE}"
        )
    gain = f"{format_part(n_open, len(comparisons), 'comparison')} with the best system may become more precise with more judging"
    return f"{gain}; {n_unknown} cannot be assessed yet." if n_unknown else f"{gain}."


def describe_remaining_relevant(
    left: RemainingRelevant,
    n_found: int,
    n_audit: int,
    *,
    recall: float,
    reached: bool,
    n_checks: int = 1,
) -> str:
    """Describe the estimated number of relevant pairs left. n_checks: number of interim checks for
    which the bound holds simultaneously."""
    certain = (
        "95% confidence, Clopper-Pearson"
        if n_checks == 1
        else f"95% confidence over {n_checks} interim checks together, Clopper-Pearson"
    )
    relevant_pairs = format_count(n_found, "relevant pair", "is", "are")
    text = (
        f"{relevant_pairs} found. By {n_audit} audit pairs, about {left.estimate:,.0f} are "
        f"left, and at most {left.upper:,.0f} ({certain})"
    )
    share = f"{100 * recall:.4g}% of the relevant documents"
    return (
        f"{text}: at least {share} are found."
        if reached
        else f"{text}: it is not yet shown that {share} have been found."
    )

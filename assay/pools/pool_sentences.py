"""Sentences that describe, before a pool is created, what can be concluded when half of it is
judged."""

from __future__ import annotations

from collections.abc import Sequence

from assay.number_words import format_count

MIN_PER_TOPIC = {"nDCG@10 and P@10": 10, "average precision": 40}
"""Minimum judged pairs per topic for which the confidence interval of a sampled pool's estimate has
its nominal coverage."""
NAIVE_NOTE = (
    "Deeper scores count unjudged documents as not relevant. In tests, confidence intervals "
    "of differences computed early were too narrow: they covered the true difference in only "
    "30% to 60% of cases. To compare systems early, use a sampled pool."
)
CHANCE_NOTE = "Scores are estimates with a 95% confidence interval for the mean of new topics."
COST_NOTES = (
    (
        0.35,
        "In tests with 50% judged, confidence intervals of differences were 1.03 to 1.6 times as wide as with everything judged.",
    ),
    (
        0.0,
        "In tests with 20% judged, confidence intervals of differences were 1.5 to 2.9 times as wide as with everything judged.",
    ),
)


def describe_half_judged_depth_pool(by_depth: dict[int, int]) -> list[str]:
    """Describe what can be concluded when half of a depth-k pool is judged. by_depth: depth ->
    number of pairs in the pool of that depth."""
    half = max(by_depth.values(), default=0) / 2
    complete = max((depth for depth, n in by_depth.items() if n <= half), default=0)
    if complete:
        first = (
            f"When half is judged, every pair down to rank {complete} is judged. Scores down "
            "to that rank no longer change."
        )
    else:
        first = "When half is judged, rank 1 is not complete."
    return [first, NAIVE_NOTE]


def describe_half_judged_prioritised_pool(*, pairs: int, batch: int, audit: float) -> list[str]:
    """Describe what can be concluded when half of a prioritised pool is judged. pairs: in the pool.
    batch: pairs per batch. audit: share of each batch sampled at random."""
    words = [
        "Finds about half more relevant documents for the same work: in tests, the first "
        "half of the judgements found 72% to 89% of the relevant documents, by rank 55% to "
        "73%.",
        (
            "Scores computed from such an incomplete pool are not comparable with complete "
            "ones. To compare systems early, use a sampled pool."
        ),
    ]
    if audit:
        n = round(audit * min(batch, pairs))
        words.append(
            f"In each batch, {n} pairs are drawn at random. They show how many relevant "
            "documents are left at most, for the decision to stop."
        )
    return words


def describe_half_judged_sampled_pool(
    drawn: Sequence[int], *, pairs: int, topics: int
) -> list[str]:
    """Describe what can be concluded when half of a sampled pool is judged. drawn: pairs sampled by
    the end of each stage. pairs: in the whole pool."""
    whole = [n for n in drawn if n <= drawn[-1] / 2]
    if not whole:
        stage = "the only stage" if len(drawn) == 1 else f"the first of {len(drawn)} stages"
        earlier = "Draw more stages" if len(drawn) == 1 else "Use a smaller first stage"
        return [
            (
                f"No scores until {stage} ({format_count(drawn[0], 'pair')}) is complete. "
                f"{earlier} to see results sooner."
            ),
            f"Then {_format_share(drawn[0], pairs)} of the pool is judged, drawn at random with known probabilities. {CHANCE_NOTE}",
            *_describe_sample(drawn[0], pairs, topics),
        ]
    n = whole[-1]
    first = (
        f"When half is judged, {len(whole)} of {len(drawn)} stages are complete: "
        f"{_format_share(n, pairs)} of the pool, drawn at random with known probabilities."
    )
    return [f"{first} {CHANCE_NOTE}", *_describe_sample(n, pairs, topics)]


def _format_share(n: int, pairs: int) -> str:
    return f"{100 * n / max(pairs, 1):.0f}%"


def _describe_sample(n: int, pairs: int, topics: int) -> list[str]:
    each = n / max(topics, 1)
    shown = [name for name, least in MIN_PER_TOPIC.items() if each >= least]
    missing = [f"{name} (from {least})" for name, least in MIN_PER_TOPIC.items() if each < least]
    text = f"That is {each:.0f} judged pairs per topic"
    text += (
        f": confidence intervals are shown for {' and '.join(shown)}"
        if shown
        else ", too few for confidence intervals"
    )
    text += f", not yet for {' and '.join(missing)}." if missing else "."
    return [text, next(words for least, words in COST_NOTES if n / max(pairs, 1) >= least)]

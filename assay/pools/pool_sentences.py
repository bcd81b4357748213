"""Sentences that describe, before a pool is created, what can be concluded when half of it is
judged."""

from __future__ import annotations

from collections.abc import Sequence

from assay.number_words import format_count

MIN_PER_TOPIC = {"nDCG@10 and P@10": 10, "average precision": 40}
"""Minimum judged pairs per topic for which the confidence interval of a sampled pool's estimate has
its nominal coverage."""
NAIVE_NOTE = (
    "Scores deeper than that count what is unjudged as not relevant. On four of five real sets "
    "the ranges of differences then held the truth in "
    "30 to 60 % of cases in place of 95: to compare systems early, use a sampled pool."
)
CHANCE_NOTE = (
    "Scores are estimates; each comes with the range in which the mean of new topics would lie "
    "with 95 % certainty."
)
COST_NOTES = (
    (
        0.35,
        "At 50 % judged the ranges of differences were 1.03 to 1.6 times as wide as with everything judged.",
    ),
    (
        0.0,
        "At 20 % judged the ranges of differences were 1.5 to 2.9 times as wide as with everything judged.",
    ),
)


def describe_half_way_depth(by_depth: dict[int, int]) -> list[str]:
    """Describe a depth-k pool. by_depth: depth -> number of pairs in the pool of that depth."""
    half = max(by_depth.values(), default=0) / 2
    complete = max((depth for depth, n in by_depth.items() if n <= half), default=0)
    if complete:
        first = (
            f"When half is judged, every pair down to rank {complete} is: scores down to that "
            f"rank hold, whatever comes later."
        )
    else:
        first = "When half is judged, not even the first rank is complete."
    return [first, NAIVE_NOTE]


def describe_half_way_ordered(*, pairs: int, batch: int, audit: float) -> list[str]:
    """Describe a prioritised pool. pairs: in the pool. batch: pairs per batch. audit: share of each
    batch sampled at random."""
    words = [
        "Relevant first finds about half more relevant documents for the same work: on five real "
        "sets the first half of the judgements found 72 to "
        "89 % of the relevant, level by level 55 to 73 %.",
        (
            "Scores of systems computed from such a half-finished pool are not comparable with "
            "finished ones; to compare systems early, use a sampled pool."
        ),
    ]
    if audit:
        n = round(audit * min(batch, pairs))
        words.append(
            f"In each batch {n} pairs are drawn at random: they tell how many relevant documents "
            f"are left, at most, when you think of stopping."
        )
    return words


def describe_half_way_sampled(drawn: Sequence[int], *, pairs: int, topics: int) -> list[str]:
    """Describe a sampled pool. drawn: pairs sampled by the end of each stage. pairs: in the whole
    pool."""
    whole = [n for n in drawn if n <= drawn[-1] / 2]
    if not whole:
        stage = "One stage" if len(drawn) == 1 else f"The first of {len(drawn)} stages"
        earlier = "Draw in more stages" if len(drawn) == 1 else "Begin with a smaller one"
        return [
            (
                f"{stage} of {format_count(drawn[0], 'pair')}: before it is complete nothing can be said "
                f"of the scores. {earlier} to look earlier."
            ),
            f"Then {_format_share(drawn[0], pairs)} of the pool is judged, drawn at random with known chances. {CHANCE_NOTE}",
            *_describe_sample(drawn[0], pairs, topics),
        ]
    n = whole[-1]
    first = (
        f"When half is judged, {len(whole)} of {len(drawn)} stages are complete: "
        f"{_format_share(n, pairs)} of the pool, drawn at random with known chances."
    )
    return [f"{first} {CHANCE_NOTE}", *_describe_sample(n, pairs, topics)]


def _format_share(n: int, pairs: int) -> str:
    return f"{100 * n / max(pairs, 1):.0f} %"


def _describe_sample(n: int, pairs: int, topics: int) -> list[str]:
    each = n / max(topics, 1)
    shown = [name for name, least in MIN_PER_TOPIC.items() if each >= least]
    missing = [f"{name} (from {least} on)" for name, least in MIN_PER_TOPIC.items() if each < least]
    text = f"That is {each:.0f} judged pairs a topic"
    text += (
        f": ranges are shown for {' and '.join(shown)}"
        if shown
        else ": too few for the range of any score"
    )
    text += f", not yet for {' and '.join(missing)}." if missing else "."
    return [text, next(words for least, words in COST_NOTES if n / max(pairs, 1) >= least)]

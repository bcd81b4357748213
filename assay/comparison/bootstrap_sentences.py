"""Sentences and tables for the results of a bootstrap, shared by the page and the command."""

from __future__ import annotations

from typing import Any

from assay.comparison.mean_intervals import MIN_TOPICS
from assay.number_words import format_count

MAX_NAMED = 3
"""Maximum runs listed by name. Further runs are counted."""


def sort_by_expected_rank(condition: dict[str, Any]) -> list[str]:
    """Return the tags, best first, by expected rank or, without ranks, by score."""
    if condition.get("no_verdict"):
        return sorted(condition["observed"], key=lambda tag: (-condition["observed"][tag], tag))
    return sorted(condition["observed"], key=lambda tag: (condition["expected_rank"][tag], tag))


def format_beaten_by(condition: dict[str, Any], tag: str, *, most: int | None = MAX_NAMED) -> str:
    """Format the runs that are significantly better than `tag`, each with the share of trials in
    which `tag` beats it."""
    worse = condition["significantly_worse"].get(tag, [])
    named = [
        f"{other} ({100 * condition['beats'][tag][other]:.1f}%)"
        for other in (worse if most is None else worse[:most])
    ]
    rest = len(worse) - len(named)
    return ", ".join(named) + (f" and {rest} more" if rest else "") or "-"


CAVEAT = (
    "Judgements are resampled within their pair. This understates label noise with two "
    "judgements per pair (by a factor of 0.8 if annotators are right in 80%) and overstates "
    "it with five (1.2), ten (1.7) or better annotators."
)
"""Caveat shown with all results of `label_noise`."""
LABEL_NOISE_CAVEAT = (
    "With label noise: judgements are resampled within their pairs, for fixed topics and "
    "together with topics. The spread over topics already includes this noise, as far as "
    "errors of labels are independent between topics. The last columns are therefore "
    "conservative. " + CAVEAT
)


def label_noise_rows(condition: dict[str, Any], tags: list[str]) -> list[list[Any]]:
    """Return one row per run: tag, three ranks under resampled labels, four with topics."""
    drawn = condition["labels"]
    return [
        [
            tag,
            *(drawn["by_labels"][key][tag] for key in ("expected_rank", "best_rank", "worst_rank")),
            drawn["with_topics"]["expected_rank"][tag],
            *drawn["with_topics"]["interval"][tag],
            format_possible_ranks(drawn, tag),
        ]
        for tag in tags
    ]


def format_possible_ranks(condition: dict[str, Any], tag: str) -> str:
    """Format the confidence interval of a run's true rank, or a dash for reports of older
    versions."""
    if tag not in condition.get("rank_interval", {}):
        return "-"
    low, high = condition["rank_interval"][tag]
    if low is None or low != low:
        return "-"
    return f"{low}" if low == high else f"{low} to {high}"


def multiple_comparisons_note(condition: dict[str, Any]) -> str:
    """Explain "significantly worse" and how many equal pairs are expected to be called so by
    chance."""
    n = condition.get("comparisons", 0)
    if not n:
        return ""
    if condition.get("no_verdict"):
        return f"No ranks are reported. No verdict: {condition['no_verdict']}."
    called = f"{0.05 * n:.{2 if n < 20 else 1 if n < 200 else 0}f}"
    return (
        "Significantly worse: by the paired t-test over topics at .05; in brackets the share "
        "of samples won nevertheless. P-values are not corrected for multiple comparisons: "
        f"of {format_count(n, 'pair')} of equal runs, about {called} would be called "
        "significant. May be: the ranks left by tests against all other runs (95% CI, Holm); "
        f"with fewer than {MIN_TOPICS} topics, every rank. Best, worst and percentiles are of "
        "the samples, and miss the true rank more often."
    )

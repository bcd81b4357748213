"""Determine and describe which system leads by a measure, with what certainty, and what unjudged
documents could change.

    ranking = rank_systems(values, tags)           systems best first, tests, intervals
    text = describe_leader(ranking, "nDCG@10")     the verdict as sentences
    text = describe_score_bounds(systems)           effect of unjudged documents

Every pair of systems is compared with a paired t-test (Student 1908; Smucker, Allan and Carterette
2007), corrected by Holm's method (1979). If all differences of a pair are equal, the permutation
test (Fisher 1935) is used. A test supports a direction only if the signed ranks do not point to the
other one. See docs/reference/methods/systems.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.comparison.mean_intervals import mean_interval
from assay.comparison.rankings import list_leaders
from assay.comparison.significance import (
    adjust_p_values,
    no_verdict_reason,
    rounded_differences,
    signed_rank_direction,
    verdict_p_value,
)
from assay.comparison.system_comparison import list_pairs
from assay.labels.intervals import Interval
from assay.significant_digits import format_p_equals

Floats = NDArray[np.float64]
ALPHA = 0.05
MAX_NAMED = 3
"""Maximum runs listed by name in a sentence. Further runs are counted."""
DECIMALS = 10
"""Decimals to which means are rounded before they are compared for ties, as in rankings of systems.
"""


def rank_systems(
    values: Floats,
    tags: Sequence[str],
    *,
    interval: Callable[[Floats], Interval] = mean_interval,
    untested: str = "",
) -> dict[str, Any]:
    """Rank systems by their means and test the differences of all pairs.

    values: float64 (n_topics, n_systems). Rows with NaN are left out. untested: reason for not
    testing, or empty.

    Returns a dictionary:
    - topics: number of topics that count
    - systems: best first, ties by tag, each with tag, mean, low, high (NaN without an interval) and
      reason
    - p, holm: for each system but the last, the p-values against those below it, raw and corrected
      over all pairs, NaN without a test
    - opposed: in the same shape, whether the signed ranks and the mean disagree in direction
    - untested: reason for the missing tests, or empty
    - wins: topics on which the leader is ahead of, tied with and behind the first run with a lower
      mean, or None without such a run
    """
    values = values[~np.isnan(values).any(axis=1)]
    n_topics, n = values.shape
    means = np.array(
        [math.fsum(column) / n_topics for column in values.T.tolist()]
        if n_topics
        else [math.nan] * n
    )
    order = sorted(
        range(n), key=lambda i: (-round(float(means[i]), DECIMALS) if n_topics else 0.0, tags[i])
    )
    values, means = values[:, order], means[order]
    systems = []
    for k, i in enumerate(order):
        one = interval(values[:, k])
        systems.append(
            {
                "tag": tags[i],
                "mean": float(means[k]),
                "low": one.low,
                "high": one.high,
                "reason": one.reason,
            }
        )
    pairs = list_pairs(n)
    p, opposed = np.full(len(pairs), math.nan), np.zeros(len(pairs), bool)
    untested = untested or no_verdict_reason(n_topics)
    if not untested and pairs:
        first, second = (np.array([pair[side] for pair in pairs]) for side in (0, 1))
        ahead = rounded_differences(values[:, second].T, values[:, first].T)
        p, opposed = verdict_p_value(ahead), signed_rank_direction(ahead) < 0
    held = adjust_p_values(p, "holm")
    rows = [[k for k, (a, _) in enumerate(pairs) if a == i] for i in range(n - 1)]
    return {
        "topics": n_topics,
        "systems": systems,
        "p": [p[row].tolist() for row in rows],
        "holm": [held[row].tolist() for row in rows],
        "opposed": [opposed[row].tolist() for row in rows],
        "untested": untested,
        "wins": _count_wins(values, means),
    }


def _count_wins(values: Floats, means: Floats) -> list[int] | None:
    """Return the numbers of topics on which the leader is ahead of, tied with and behind the first
    run with a lower mean, or None without one. values: (n_topics, n_systems), means: (n_systems),
    best first."""
    if not len(values) or not len(means):
        return None
    behind = np.flatnonzero(np.round(means, DECIMALS) < round(float(means[0]), DECIMALS))
    if not len(behind):
        return None
    ahead = rounded_differences(values[:, behind[0]], values[:, 0])
    return [int((ahead > 0).sum()), int((ahead == 0).sum()), int((ahead < 0).sum())]


class RivalSystem(NamedTuple):
    """A run that is not a leader. p: largest corrected p-value against any leader. is_opposed: the
    mean and the signed ranks disagree in direction against a leader, so that there is no verdict.
    """

    tag: str
    p: float
    is_opposed: bool


CORRECTION_SENTENCES = {
    "none": "Without correction for multiple comparisons",
    "bonferroni": "After Bonferroni correction",
    "holm": "After Holm correction",
    "max": "By randomised Tukey HSD",
}


def describe_verdict(
    measure: str,
    means: Mapping[str, float],
    rivals: Sequence[RivalSystem],
    *,
    topics: int,
    correction: str,
    alpha: float = ALPHA,
    estimated: bool = False,
    no_verdict: str = "",
    wins: tuple[int, int, int] | None = None,
) -> str:
    """Describe which run leads by a measure and from which runs it differs significantly. Page,
    API, reports, studies, commands and library all use this text.

    means: by tag. rivals: all runs except the leaders, best first, or empty if runs are not
    compared. no_verdict: reason for giving no verdict, or empty. wins: number of topics on which
    the first leader is ahead of, tied with and behind the next run.
    """
    leaders = list_leaders(means)
    is_one, named = len(leaders) == 1, join_names(leaders)
    over = f"{means[leaders[0]]:.4f}, {topics:,} topic{'s' if topics != 1 else ''}"
    if len(means) == 1:
        return f"{named} is the only run: mean {measure} {means[leaders[0]]:.4f}."
    won = (
        f" Topics of {leaders[0]} against {rivals[0].tag}: {wins[0]:,} won, {wins[1]:,} tied, {wins[2]:,} lost."
        if wins and rivals
        else ""
    )
    if no_verdict:
        highest = "the highest estimated mean" if estimated else "the highest mean"
        return f"{named} {'has' if is_one else 'have'} {highest} {measure} ({over}). No verdict: {no_verdict}.{won}"
    verb = (
        ("is estimated to lead" if is_one else "are estimated to lead together")
        if estimated
        else "leads"
        if is_one
        else "lead together"
    )
    parts = [f"{named} {verb} by {measure} ({over})."]
    opposed = [one.tag for one in rivals if one.p < alpha and one.is_opposed]
    alike = [one for one in rivals if not one.p < alpha]
    different = [one for one in rivals if one.p < alpha and not one.is_opposed]
    does_not, differs = ("it does not", "it differs") if is_one else ("they do not", "they differ")
    if alike:
        parts.append(
            f"{CORRECTION_SENTENCES[correction]} {does_not} differ significantly from {_list_with_p(alike)}."
        )
    elif different:
        others = (
            different[0].tag
            if len(rivals) == 1
            else f"all {len(rivals)} other runs"
            if not opposed
            else f"{len(different)} other runs"
        )
        largest = f"{'largest ' if len(different) > 1 else ''}{format_p_equals(max(one.p for one in different))}"
        parts.append(
            f"{CORRECTION_SENTENCES[correction]} {differs} significantly from {others} ({largest})."
        )
    if opposed:
        parts.append(
            f"No verdict for {join_names(opposed)}: the mean and the signed ranks point in different directions."
        )
    return " ".join(parts) + won


def _list_with_p(rivals: Sequence[RivalSystem]) -> str:
    named = [
        f"{one.tag} ({format_p_equals(one.p)})" if not math.isnan(one.p) else one.tag
        for one in rivals[:MAX_NAMED]
    ]
    return join_names([*named, *(one.tag for one in rivals[MAX_NAMED:])], MAX_NAMED)


def split_leaders_and_rivals(ranking: Mapping[str, Any]) -> tuple[list[str], list[RivalSystem]]:
    """Return the leaders of a result of `rank_systems`, and the other runs, best first."""
    systems = ranking["systems"]
    leaders = list_leaders({one["tag"]: one["mean"] for one in systems})
    n_leaders, rivals = len(leaders), []
    for k, one in enumerate(systems[n_leaders:], n_leaders):
        p = [ranking["holm"][i][k - i - 1] for i in range(n_leaders)]
        opposed = [ranking["opposed"][i][k - i - 1] for i in range(n_leaders)]
        known = [value for value in p if value is not None]
        rivals.append(
            RivalSystem(one["tag"], max(known) if len(known) == len(p) else math.nan, any(opposed))
        )
    return leaders, rivals


def describe_leader(ranking: Mapping[str, Any], measure: str, *, estimated: bool = False) -> str:
    """Describe which system leads by a measure, from a result of `rank_systems`."""
    systems = ranking["systems"]
    if not systems or not ranking["topics"]:
        return "No system leads yet: no topic has a label."
    return describe_verdict(
        measure,
        {one["tag"]: one["mean"] for one in systems},
        split_leaders_and_rivals(ranking)[1],
        topics=ranking["topics"],
        correction="holm",
        estimated=estimated,
        no_verdict=ranking["untested"],
        wins=ranking["wins"],
    )


def describe_comparison(
    measure: str,
    measure_result: Mapping[str, Any],
    *,
    against: str,
    correction: str,
    alpha: float,
    estimated: bool = False,
    no_verdict: str = "",
) -> str:
    """Describe which system leads by one measure of `compare systems`. measure_result: means,
    topics, no_verdict, and pairs with a, b, p, opposed, wins, ties, losses."""
    means, why = measure_result["means"], measure_result["no_verdict"] or no_verdict
    if not measure_result["topics"]:
        return f"No verdict: {why or 'no topic counts for all runs'}."
    leaders = list_leaders(means)
    rest = sorted(
        (tag for tag in means if tag not in leaders),
        key=lambda tag: (-round(means[tag], DECIMALS), tag),
    )
    rows = {frozenset((row["a"], row["b"])): row for row in measure_result["pairs"]}
    against_leaders = {
        tag: [rows.get(frozenset((leader, tag))) for leader in leaders] for tag in rest
    }
    known = (
        {tag: [row for row in pairs if row is not None] for tag, pairs in against_leaders.items()}
        if against == "all"
        else {}
    )
    rivals = [
        RivalSystem(tag, max(row["p"] for row in pairs), any(row["opposed"] for row in pairs))
        for tag, pairs in known.items()
        if pairs
    ]
    wins = None
    if rivals:
        row = known[rivals[0].tag][0]
        wins = (row["wins"], row["ties"], row["losses"])
        wins = wins if row["b"] == leaders[0] else wins[::-1]
    return describe_verdict(
        measure,
        means,
        rivals,
        topics=measure_result["topics"],
        correction=correction,
        alpha=alpha,
        estimated=estimated,
        no_verdict=why,
        wins=wins,
    )


def describe_score_bounds(systems: Sequence[Mapping[str, Any]]) -> str:
    """Describe what the unjudged documents of the top ranks could change, from each system's score
    bounds (None if unknown).

    The bounds consider the unjudged documents of all systems, because some only lower the leader's
    score through its recall base. The same grades need not reach both bounds, so the text does not
    call every outcome within them possible.
    """
    leader, rest = systems[0], systems[1:]
    if leader.get("least") is None or not rest:
        return ""
    if all(one["most"] - one["least"] < 1e-12 for one in systems):
        return "Every document that affects these scores is judged."
    could = [one["tag"] for one in rest if one["most"] > leader["least"] + 1e-12]
    if not could:
        is_alone = all(one["most"] < leader["least"] - 1e-12 for one in rest)
        stays = f"{leader['tag']} leads" if is_alone else f"no run is ahead of {leader['tag']}"
        return f"Whatever the grades of the unjudged documents at the top of the runs, {stays}."
    shown = join_names(could, MAX_NAMED)
    return f"Judging the remaining documents could still change the leader: {shown} could lead."


def join_names(names: Sequence[str], most: int | None = None) -> str:
    """Join names. Those after the first `most` are counted."""
    if most is not None and len(names) > most:
        names = [*names[:most], f"{len(names) - most} more"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
